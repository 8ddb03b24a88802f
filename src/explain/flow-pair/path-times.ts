import type { Categories } from '../../compare/categories/categories.ts'
import { CriticalPathFinder } from '../../flows/critical-path.ts'
import type { Period } from '../../flows/flow-set.ts'

/** What an edge class is on critical paths and beside them, in one period of a category. */
export interface PathTimes {
  /** For each edge class, its part of the mean response time, in µs. */
  readonly criticalUs: Float64Array
  /** For each edge class into a join, its mean latency where the join waited for another edge. */
  readonly waitUs: Float64Array
}

/**
 * How much of the response time each edge class of a category is, and how long those into joins
 * are where something else was waited for: `NaN` where that never was. One pass over the requests.
 */
export function pathTimes(categories: Categories, category: number, period: Period): PathTimes {
  const known = CACHE.get(categories) ?? new Map<number, PathTimes>()
  CACHE.set(categories, known)
  const key = 2 * category + period
  const times = known.get(key) ?? collectPathTimes(categories, category, period)
  known.set(key, times)
  return times
}

const CACHE = new WeakMap<Categories, Map<number, PathTimes>>()

function collectPathTimes(categories: Categories, category: number, period: Period): PathTimes {
  const { flows } = categories
  const { edgeClasses, from } = categories.structure(category)
  const members = categories.members(category, period)
  const finder = new CriticalPathFinder(flows)
  const onPath = new Uint8Array(from.length)
  const criticalUs = new Float64Array(edgeClasses.length)
  const waitUs = new Float64Array(edgeClasses.length)
  const waits = new Uint32Array(edgeClasses.length)
  for (const request of members) {
    finder.mark(request, onPath)
    const latencyUs = flows.latencies(request)
    const classOf = categories.edgeClassOf(flows.shapeOf[request] as number)
    for (let edge = 0; edge < classOf.length; edge++) {
      const number = classOf[edge] as number
      const latency = latencyUs[edge] as number
      if (onPath[edge] === 1) {
        criticalUs[number] = (criticalUs[number] as number) + latency
      } else if (edgeClasses[number]?.intoJoin) {
        waitUs[number] = (waitUs[number] as number) + latency
        waits[number] = (waits[number] as number) + 1
      }
    }
  }
  return {
    criticalUs: criticalUs.map((sum) => sum / Math.max(1, members.length)),
    waitUs: waitUs.map((sum, number) => sum / (waits[number] as number)),
  }
}
