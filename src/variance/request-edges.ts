import type { Categories } from '../categories/categories.ts'
import { CriticalPathFinder } from '../flows/critical-path.ts'
import type { Period } from '../flows/flow-set.ts'

/** What one request says of the edge classes of its category; the arrays are used again for the next. */
export interface RequestEdges {
  readonly responseTimeUs: number
  /** Time of each class on the critical path of the request, in µs; 0 where it is off it. */
  readonly criticalUs: Float64Array
  /** Edges of each class on the critical path. */
  readonly criticalCount: Uint32Array
  /**
   * Latency of each class, in µs: of the branch on the critical path, else the mean over identical
   * branches. NaN for an edge into a join that did not wait for it, which is waiting for another.
   */
  readonly latencyUs: Float64Array
}

/** The edges of the requests of a category in one period, request by request. */
export function* requestEdges(
  categories: Categories,
  category: number,
  period: Period,
): Generator<RequestEdges> {
  const { flows } = categories
  const { edgeClasses, from } = categories.structure(category)
  const finder = new CriticalPathFinder(flows)
  const onPath = new Uint8Array(from.length)
  const criticalUs = new Float64Array(edgeClasses.length)
  const criticalCount = new Uint32Array(edgeClasses.length)
  const sumUs = new Float64Array(edgeClasses.length)
  const count = new Uint32Array(edgeClasses.length)
  const latencyUs = new Float64Array(edgeClasses.length)
  for (const request of categories.members(category, period)) {
    finder.mark(request, onPath)
    for (const column of [criticalUs, criticalCount, sumUs, count]) column.fill(0)
    const latencies = flows.latencies(request)
    categories.edgeClassOf(flows.shapeOf[request] as number).forEach((number, edge) => {
      const latency = latencies[edge] as number
      sumUs[number] = (sumUs[number] as number) + latency
      count[number] = (count[number] as number) + 1
      if (onPath[edge] === 0) return
      criticalUs[number] = (criticalUs[number] as number) + latency
      criticalCount[number] = (criticalCount[number] as number) + 1
    })
    edgeClasses.forEach(({ intoJoin }, number) => {
      const critical = criticalCount[number] as number
      if (critical > 0) latencyUs[number] = (criticalUs[number] as number) / critical
      else if (intoJoin) latencyUs[number] = Number.NaN
      else latencyUs[number] = (sumUs[number] as number) / (count[number] as number)
    })
    const responseTimeUs = flows.responseTimeUs[request] as number
    yield { responseTimeUs, criticalUs, criticalCount, latencyUs }
  }
}
