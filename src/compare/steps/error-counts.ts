// Runs once a failing span: the loops index with `!`.

import { allVisits, type ShapeVisits, type Visit } from '../../calls/visits.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import type { Outcome, Outcomes } from '../../traces/outcomes.ts'
import type { Operation } from './call-order.ts'
import { slowSample } from './slow-sample.ts'
import { StretchCounts, type TimeBlocks } from './time-blocks.ts'

/**
 * Place of failures: a service's own work (`'work'`), or calls to a service whose own side did not fail or was not
 * recorded (`'call'`).
 */
export interface Place {
  readonly kind: 'work' | 'call'
  readonly service: string
}

export interface Failure {
  readonly request: number
  readonly operation: string
  /** Operation that called it; empty for a root. */
  readonly context: string
  /** Service that called; `null` but for calls. */
  readonly caller: string | null
  readonly outcome: Outcome
  /** Span of the call that fails: the caller's side of it, where that was recorded. */
  readonly call: number
  /** Operation of the span that fails within that operation; `null` where it is the operation. */
  readonly within: string | null
  /** Callers that failed along with it, the nearest first, each with its span in the request. */
  readonly passedOn: readonly { readonly of: Operation; readonly span: number }[]
  readonly reachesRoot: boolean
}

export interface Calls {
  readonly operation: string
  readonly context: string
  readonly calls: StretchCounts
  readonly requests: StretchCounts
  /** Number of calls in a request of each shape. */
  readonly ofShape: Map<number, number>
}

export interface PlaceCounts extends Place {
  readonly calls: Map<string, Calls>
  readonly failures: Failure[]
}

/** Counts calls, and those that failed though nothing that they called did, of all places. */
export function countErrors(flows: FlowSet, outcomes: Outcomes, blocks: TimeBlocks): PlaceCounts[] {
  const places = new Map<string, PlaceCounts>()
  const placeOf = (kind: Place['kind'], service: string) => {
    const key = JSON.stringify([kind, service])
    const known: PlaceCounts = places.get(key) ?? {
      kind,
      service,
      calls: new Map<string, Calls>(),
      failures: [],
    }
    places.set(key, known)
    return known
  }
  const size = blocks.perRun * (blocks.runs + 1)
  const requestsOf = new Map<number, StretchCounts>()
  // If failing requests were kept preferentially, they are compared with slow ones, which were, too.
  const sample = slowSample(flows)
  const isLeftOut = (request: number) =>
    sample?.chanceFails === false && sample.keptFor(request) === 'chance'
  flows.shapeOf.forEach((shape, request) => {
    const own = requestsOf.get(shape) ?? new StretchCounts(flows, size)
    requestsOf.set(shape, own)
    if (!isLeftOut(request)) own.add(request, blocks.of[request]!)
  })
  const visits = allVisits(flows)
  for (const [shape, spans] of visits) {
    const requests = requestsOf.get(shape)!
    const seen = new Set<Calls>()
    for (const visit of spans.visits) {
      for (const site of sitesOf(spans, visit)) {
        const { calls } = placeOf(site.kind, site.service)
        const key = JSON.stringify([site.operation, site.context])
        const { operation, context } = site
        const known = calls.get(key) ?? {
          operation,
          context,
          calls: new StretchCounts(flows, size),
          requests: new StretchCounts(flows, size),
          ofShape: new Map<number, number>(),
        }
        calls.set(key, known)
        known.ofShape.set(shape, (known.ofShape.get(shape) ?? 0) + 1)
        known.calls.addAll(requests)
        if (!seen.has(known)) known.requests.addAll(requests)
        seen.add(known)
      }
    }
  }
  flows.shapeOf.forEach((shape, request) => {
    const failing = outcomes.failing(request)
    if (failing.length === 0) return
    const spans = visits.get(shape)!
    for (const { site, span, ...rest } of originsOf(spans, new Set(failing))) {
      const { kind, operation, context, caller } = site
      const outcome = outcomes.of(request, span)
      const isEntry = kind === 'call' || spans.visitOf[span]!.entry === span
      const within = isEntry ? null : spans.operations[span]!
      const failure = { request, operation, context, caller, outcome, within, ...rest }
      placeOf(site.kind, site.service).failures.push(failure)
    }
  })
  return [...places.values()]
}

interface Site extends Place, Pick<Failure, 'operation' | 'context' | 'caller'> {}

/** Returns a visit's own work, and its calls to services that have another side. */
function sitesOf({ operations }: ShapeVisits, visit: Visit): Site[] {
  const { service, operation, callingOperation: context, calls } = visit
  return [
    { kind: 'work', service, operation, context, caller: null },
    ...calls
      .filter(({ isWay }) => isWay)
      .map(({ span, service: callee }): Site => {
        const name = operations[span]!
        const by = JSON.stringify([service, operation])
        return { kind: 'call', service: callee, operation: name, context: by, caller: service }
      }),
  ]
}

/** Returns the failures of a request that no other one explains, each of a call once. */
function originsOf(spans: ShapeVisits, failing: ReadonlySet<number>) {
  const { tree, visitOf, services } = spans
  const found = new Map<
    string,
    Pick<Failure, 'call' | 'passedOn' | 'reachesRoot'> & { site: Site; span: number }
  >()
  for (const span of failing) {
    let isPassedOn = false
    for (let child = tree.firstChild[span]!; child < tree.firstChild[span + 1]!; child++) {
      if (failing.has(child)) isPassedOn = true
    }
    if (isPassedOn) continue
    const visit = visitOf[span]!
    const at = visit.calls.filter(({ isWay }) => isWay)
    // A relay fails on the way of a call.
    let own = span
    while (services[own] !== visit.service && !at.some((one) => one.span === own)) {
      own = tree.parent[own]!
    }
    const number = at.findIndex((one) => one.span === own)
    const isCall = number >= 0
    const site = sitesOf(spans, visit)[number + 1]!
    const key = isCall ? `call ${span}` : `visit ${visit.entry}`
    const call = isCall ? own : visit.atCaller
    found.set(key, { site, span, call, ...wayUp(spans, failing, { span, isCall }) })
  }
  return found.values()
}

function wayUp(
  { tree, visitOf }: ShapeVisits,
  failing: ReadonlySet<number>,
  { span, isCall }: { span: number; isCall: boolean },
): Pick<Failure, 'passedOn' | 'reachesRoot'> {
  const seen = new Set<Visit>(isCall ? [] : [visitOf[span]!])
  let above = span
  while (above >= 0 && failing.has(above)) {
    const visit = visitOf[above]!
    if (above === visit.entry) seen.add(visit)
    above = tree.parent[above]!
  }
  const passedOn = [...seen]
    .filter((visit) => isCall || visit !== visitOf[span])
    .map(({ service, operation, entry }) => ({ of: { service, operation }, span: entry }))
  return { passedOn, reachesRoot: above < 0 }
}
