// Runs once a span of a request: the loops index with `!`.
import { greatest, group } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, type ShapeVisits } from '../../calls/visits.ts'
import { remembered } from '../../core/remembered.ts'
import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { NS } from '../../flows/span-tree.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Deadline } from './evidence.ts'
import { placeTitle } from './names.ts'

/** Fewest abandoned calls that show a deadline. */
const MIN_CALLS = 5
/** Calls that one deadline ends take times that differ by no more than this share, but for a tenth at either end. */
const MAX_SPREAD = 0.05
/** Requests are given up in the same call from this share on. */
const NEARLY_ALL = 0.9
/** Deadlines that differ by less than this share are the same. */
const MIN_OTHER = 0.1

/**
 * Finds the call that requests of after give up, all of them at one time: another than before, or one
 * that calls before took longer than. `null` for none.
 */
export function deadlineOf(flows: FlowSet, requests: readonly number[]): Deadline | null {
  if (flows.outcomes === undefined || requests.length < MIN_CALLS) return null
  const given = requests.flatMap((request) => timesOf(flows, request).filter(isGivenUp))
  const [name = '', own = []] =
    greatest(
      group(given, (call) => call.name),
      ([, some]) => some.length,
    ) ?? []
  const us = deadlineIn(own)
  const services = own[0]?.services ?? []
  const giving = new Set(own.map(({ request }) => request)).size
  if (us === null || giving < NEARLY_ALL * requests.length) return null
  const before = [...flows.period.keys()]
    .filter((request) => flows.period[request] === BEFORE)
    .flatMap((request) => timesOf(flows, request, name))
  const beforeUs = deadlineIn(before.filter(isGivenUp))
  const longer = before.filter((call) => call.us > us)
  const isOther =
    beforeUs === null
      ? longer.filter((call) => call.us > (1 + MAX_SPREAD) * us).length >= MIN_CALLS
      : Math.abs(us / beforeUs - 1) >= MIN_OTHER
  return isOther ? { name, services, us, beforeUs, longer: longer.length / before.length } : null
}

interface CallTime extends Pick<Deadline, 'name' | 'services'> {
  readonly request: number
  readonly us: number
  /** Whether it says that it took too long, and nothing that it called does. */
  readonly isGivenUp: boolean
}

function isGivenUp(call: CallTime): boolean {
  return call.isGivenUp
}

/** Returns the one time that calls take until they are given up; `null` where they are few, or end at any time. */
function deadlineIn(calls: readonly CallTime[]): number | null {
  const sorted = Float64Array.from(calls, ({ us }) => us).sort()
  if (sorted.length < MIN_CALLS) return null
  const middle = quantile(sorted, 0.5)
  const spread = quantile(sorted, 0.9) - quantile(sorted, 0.1)
  return spread <= MAX_SPREAD * middle ? middle : null
}

/** Returns the durations of a request's spans, or of those with a name. */
function timesOf(flows: FlowSet, request: number, wanted?: string): CallTime[] {
  const { outcomes, shapeOf } = flows
  const { tree, calls } = callsOf(flows).get(shapeOf[request]!)!
  const times = spanTimes(flows).of(request)
  const spans = [...calls.keys()].filter(
    (one) => one > 0 && (wanted === undefined || calls[one]!.name === wanted),
  )
  // A snapshot may carry the latencies of some requests only.
  if (spans.length === 0 || times.length === 0) return []
  const isCut = (span: number) =>
    outcomes!.failed(request, span) && outcomes!.wasCutShort(request, span)
  return spans.map((span) => {
    const [first, end] = [tree.firstChild[span]!, tree.firstChild[span + 1]!]
    const called = Array.from({ length: end - first }, (_, i) => first + i)
    const us = (times[2 * span + 1]! - times[2 * span]!) / NS
    return { ...calls[span]!, request, us, isGivenUp: isCut(span) && !called.some(isCut) }
  })
}

/** Returns the name of each span's call or operation, by shape. */
const callsOf = remembered(
  (flows: FlowSet) =>
    new Map(
      Array.from(allVisits(flows), ([shape, visits]) => [
        shape,
        { tree: visits.tree, calls: visits.operations.map((_, span) => callOf(visits, span)) },
      ]),
    ),
)

function callOf({ visitOf, operations }: ShapeVisits, span: number) {
  const visit = visitOf[span]!
  const call = visit.calls.find((one) => one.span === span)
  const caller = call ? visit.service : span === visit.entry ? visit.caller?.service : undefined
  const { service } = call ?? visit
  const operation = call?.operation ?? operations[span]!
  return {
    name: placeTitle({ kind: 'call', service, caller: caller ?? null }, operation),
    services: caller === undefined ? [service] : [caller, service],
  }
}
