import type { Categories } from '../../compare/categories/categories.ts'
import { ClassTimes } from '../../compare/categories/class-times.ts'
import type { Period } from '../../flows/flow-set.ts'

/** What one request says of the edge classes of its category; the arrays are used again for the next. */
export interface RequestEdges {
  readonly responseTimeUs: number
  /** Time of each class on the critical path of the request, in µs; 0 where it is off it. */
  readonly criticalUs: Float64Array
  /** Edges of each class on the critical path. */
  readonly criticalCount: Uint32Array
  /**
   * Latency of each class, in µs: of the branch on the critical path, else the mean over identical
   * branches; over repetitions that were folded likewise. NaN for an edge into a join that did not wait for it, which is waiting for another.
   */
  readonly latencyUs: Float64Array
}

/** The edges of the requests of a category in one period, request by request. */
export function* requestEdges(
  categories: Categories,
  category: number,
  period: Period,
): Generator<RequestEdges> {
  const times = new ClassTimes(categories, category)
  const { criticalUs, criticalCount } = times
  const latencyUs = new Float64Array(criticalUs.length)
  for (const request of categories.members(category, period)) {
    times.read(request)
    for (let number = 0; number < latencyUs.length; number++) {
      latencyUs[number] = times.latencyUs(number)
    }
    const responseTimeUs = categories.flows.responseTimeUs[request] as number
    yield { responseTimeUs, criticalUs, criticalCount, latencyUs }
  }
}
