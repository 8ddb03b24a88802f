// Runs once a call of a request: the loops index with `!`.
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, type ShapeVisits } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
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
  const { applied = [], moved = null } = flows.clocks ?? {}
  if (applied.length > 0 || moved !== null) return null
  const visits = allVisits(flows)
  const callsOfShape = memoized((shape: number) => callsOf(visits.get(shape)!, ways))
  const times = new Map<string, readonly [before: Times, after: Times]>()
  for (const request of requests) {
    const calls = callsOfShape(flows.shapeOf[request]!)
    // A snapshot may carry the latencies of some requests only.
    if (calls.length === 0 || spanTimes(flows).of(request).length === 0) continue
    for (const { call, key } of calls) {
      const own = getOrInsert(times, key, () => [newTimes(), newTimes()] as const)
      const [there, back] = own[flows.period[request] as Period]
      const [thereNs, backNs] = spanTimes(flows).waysNs(request, call)
      there.push(thereNs / NS)
      back.push(backNs / NS)
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
function callsOf({ visits }: ShapeVisits, ways: readonly Way[]) {
  return visits.flatMap(({ service: caller, calls, operation }) =>
    calls
      .filter(({ isWay, called }) => isWay && called.length > 0)
      .filter((call) => ways.some((way) => way.service === call.service && way.caller === caller))
      .map((call) => {
        const key = [caller, operation, call.service, call.operation]
        return { call, key: JSON.stringify(key) }
      }),
  )
}
