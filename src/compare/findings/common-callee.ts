// Runs once a span of a few requests: the loops index with `!`.
import { greatest, sum } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { listed, MAX_NAMED, printable } from '../../core/words.ts'
import { targetsOf } from '../../flows/call-targets.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { NS } from '../../flows/span-tree.ts'
import { CLIENT } from '../../traces/span-traces.ts'
import { MIN_WITHIN } from './common-step.ts'

/** A callee of several services that records no spans, such as a database. */
export interface Callee {
  /** `calls to postgresql by booking and quote`. */
  readonly name: string
  readonly services: readonly string[]
  /** Least time that each request waited for it beyond its usual response time, in µs. */
  readonly heldUs: ReadonlyMap<number, number>
}

/**
 * Finds a callee of several services in which requests spent most of their excess time, though each service alone may
 * hold too little of it. Returns `null` for none. A request's whole usual time is subtracted first, as if it had all
 * been spent there.
 *
 * @param excess time of a request beyond the usual, in µs
 */
export function commonCallee(
  flows: FlowSet,
  requests: Iterable<number>,
  excess: (request: number) => number,
): Callee | null {
  const found = new Map<string, Held>()
  let allUs = 0
  for (const request of requests) {
    const overUs = excess(request)
    allUs += overUs
    const calls = unansweredCalls(flows, request)
    if (calls.size === 0) continue
    for (const [target, { spans, services }] of calls) {
      const us = overUs - spanTimes(flows).uncoveredNs(request, 0, spans) / NS
      if (!(us > 0)) continue
      const own = getOrInsert(
        found,
        target,
        (): Held => ({ services: new Set(), heldUs: new Map() }),
      )
      own.heldUs.set(request, us)
      for (const service of services) own.services.add(service)
    }
  }
  const sumOf = ({ heldUs }: Pick<Callee, 'heldUs'>) => sum(heldUs.values())
  const [target, most] = greatest(found, ([, own]) => sumOf(own)) ?? []
  if (most === undefined || most.services.size < 2 || sumOf(most) < MIN_WITHIN * allUs) return null
  const services = [...most.services].sort()
  const by = listed(services.map(printable), MAX_NAMED)
  return { name: `calls to ${printable(target!)} by ${by}`, services, heldUs: most.heldUs }
}

interface Held {
  readonly services: Set<string>
  readonly heldUs: Map<number, number>
}

interface Calls {
  readonly spans: number[]
  readonly services: Set<string>
}

/** Returns the spans that call a service without a record, by the callee that they name, the narrowest first. */
function unansweredCalls(flows: FlowSet, request: number): ReadonlyMap<string, Calls> {
  const calls = new Map<string, Calls>()
  const { spanRows, spanOffsets, periods, recordedIn, shapeOf } = flows
  const traces = periods[recordedIn[request]!]
  if (traces?.kind !== 'spans' || spanRows === undefined) return calls
  const { tree, services } = allVisits(flows).get(shapeOf[request]!)!
  // A snapshot may carry the latencies of some requests only.
  if (flows.latencies(request).length < tree.from.length) return calls
  for (let span = 1; span < tree.size; span++) {
    const row = spanRows[spanOffsets![request]! + span]!
    const isAnswered = tree.firstChild[span]! < tree.firstChild[span + 1]!
    if (isAnswered || traces.spans.kind[row] !== CLIENT) continue
    for (const target of targetsOf(traces, row)) {
      const own = getOrInsert(calls, target, (): Calls => ({ spans: [], services: new Set() }))
      own.spans.push(span)
      own.services.add(services[span]!)
    }
  }
  return calls
}
