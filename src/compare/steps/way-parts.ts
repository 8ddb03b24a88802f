// Runs once a call of a request: the loops index with `!`.
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, type ShapeVisits } from '../../calls/visits.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { NS } from '../../flows/span-tree.ts'
import { median } from '../../stats/quantile.ts'
import type { Step } from './step-times.ts'

/** Changes of the way to a called service and of the way back, in µs a call. */
export interface WayParts {
  readonly thereUs: number
  readonly backUs: number
}

type Way = Pick<Step, 'service' | 'caller'>
type Times = readonly [there: number[], back: number[]]

/**
 * Divides the change of time in transit: from the start at the caller to that at the called service,
 * and from the end there to that at the caller; medians within operations, weighted by their calls
 * after. `null` where a side was not recorded, or where clocks were corrected, which takes both ways
 * for equally long.
 */
export function wayParts(
  flows: FlowSet,
  ways: readonly Way[],
  requests: readonly number[],
): WayParts | null {
  if ((flows.clocks?.applied.length ?? 0) > 0) return null
  const visits = allVisits(flows)
  const known = new Map<number, ReturnType<typeof callsOf>>()
  const times = new Map<string, readonly [before: Times, after: Times]>()
  for (const request of requests) {
    const shape = flows.shapeOf[request]!
    const spans = visits.get(shape)!
    const calls = known.get(shape) ?? callsOf(spans, ways)
    known.set(shape, calls)
    const moments = spanTimes(flows).of(request)
    // A snapshot may carry the latencies of some requests only.
    if (calls.length === 0 || moments.length === 0) continue
    for (const { span, called, key } of calls) {
      const own = times.get(key) ?? [newTimes(), newTimes()]
      times.set(key, own)
      const [there, back] = own[flows.period[request] as Period]
      const starts = called.map((one) => moments[2 * one]!)
      const ends = called.map((one) => moments[2 * one + 1]!)
      there.push((Math.min(...starts) - moments[2 * span]!) / NS)
      back.push((moments[2 * span + 1]! - Math.max(...ends)) / NS)
    }
  }
  let [thereUs, backUs, all] = [0, 0, 0]
  for (const { [BEFORE]: before, [AFTER]: after } of times.values()) {
    const calls = after[0].length
    if (calls === 0 || before[0].length === 0) continue
    thereUs += calls * (median(after[0]) - median(before[0]))
    backUs += calls * (median(after[1]) - median(before[1]))
    all += calls
  }
  return all === 0 ? null : { thereUs: thereUs / all, backUs: backUs / all }
}

function newTimes(): Times {
  return [[], []]
}

/** Calls on the ways, of which both sides were recorded. */
function callsOf({ visits, operations }: ShapeVisits, ways: readonly Way[]) {
  return visits.flatMap(({ service: caller, calls, entry }) =>
    calls
      .filter(({ span, called }) => called.length > 0 && called[0] !== span)
      .filter((call) => ways.some((way) => way.service === call.service && way.caller === caller))
      .map(({ span, called, service }) => ({
        span,
        called,
        key: JSON.stringify([caller, operations[entry], service, operations[called[0]!]]),
      })),
  )
}
