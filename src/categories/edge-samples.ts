import { CriticalPathFinder } from '../flows/critical-path.ts'
import { AFTER, BEFORE, type Period } from '../flows/flow-set.ts'
import { type GrowingFloat64, growingFloat64 } from '../traces/growing-columns.ts'
import type { Categories } from './categories.ts'

/** What one period says of an edge class. */
export interface EdgeSample {
  /** One latency a request, in µs; see `collectEdgeSamples`. */
  readonly latencyUs: Float64Array
  /** In what share of the period's requests the edge is on the critical path. */
  readonly onCriticalPath: number
}

/** Latencies of one edge class, by period. */
export interface EdgeSamples {
  readonly before: EdgeSample
  readonly after: EdgeSample
}

/**
 * The latencies of every edge class of a category, one value a request so that samples stay
 * independent: where branches are identical, that of the branch on the critical path, else the
 * mean of the branches. An edge into a join counts only in the requests where the join waited for
 * it; elsewhere its latency is mostly waiting for another branch, and would accuse the wrong one.
 */
export function collectEdgeSamples(
  categories: Categories,
  category: number,
  classOfEdges: (shape: number) => Uint32Array,
): EdgeSamples[] {
  const finder = new CriticalPathFinder(categories.flows)
  const collect = (period: Period) =>
    collectPeriod(categories, { category, period, finder, classOfEdges })
  const before = collect(BEFORE)
  const after = collect(AFTER)
  return before.map((sample, i) => ({ before: sample, after: after[i] as EdgeSample }))
}

function collectPeriod(
  categories: Categories,
  {
    category,
    period,
    finder,
    classOfEdges,
  }: {
    category: number
    period: Period
    finder: CriticalPathFinder
    classOfEdges: (shape: number) => Uint32Array
  },
): EdgeSample[] {
  const { flows } = categories
  const { edgeClasses, from } = categories.structure(category)
  const members = categories.members(category, period)
  const latencies = edgeClasses.map(() => growingFloat64())
  const onPath = new Uint8Array(from.length)
  const tally = new ClassTally(edgeClasses.length)
  const criticalRequests = new Uint32Array(edgeClasses.length)
  for (const request of members) {
    finder.mark(request, onPath)
    tally.fill(flows.latencies(request), onPath, classOfEdges(flows.shapeOf[request] as number))
    edgeClasses.forEach(({ intoJoin }, number) => {
      const critical = tally.isCritical(number)
      if (critical) criticalRequests[number] = (criticalRequests[number] as number) + 1
      if (critical || !intoJoin) (latencies[number] as GrowingFloat64).push(tally.value(number))
    })
  }
  return latencies.map((column, number) => ({
    latencyUs: column.finish(),
    onCriticalPath:
      members.length === 0 ? 0 : (criticalRequests[number] as number) / members.length,
  }))
}

/** The edge classes of one request: sums over all members, and over those on the critical path. */
class ClassTally {
  readonly #sum: Float64Array
  readonly #count: Uint32Array
  readonly #criticalSum: Float64Array
  readonly #criticalCount: Uint32Array

  constructor(classes: number) {
    this.#sum = new Float64Array(classes)
    this.#count = new Uint32Array(classes)
    this.#criticalSum = new Float64Array(classes)
    this.#criticalCount = new Uint32Array(classes)
  }

  fill(latencyUs: Float64Array, onPath: Uint8Array, classOf: Uint32Array): void {
    this.#sum.fill(0)
    this.#count.fill(0)
    this.#criticalSum.fill(0)
    this.#criticalCount.fill(0)
    for (let edge = 0; edge < classOf.length; edge++) {
      const number = classOf[edge] as number
      const latency = latencyUs[edge] as number
      this.#sum[number] = (this.#sum[number] as number) + latency
      this.#count[number] = (this.#count[number] as number) + 1
      if (onPath[edge] === 0) continue
      this.#criticalSum[number] = (this.#criticalSum[number] as number) + latency
      this.#criticalCount[number] = (this.#criticalCount[number] as number) + 1
    }
  }

  isCritical(number: number): boolean {
    return (this.#criticalCount[number] as number) > 0
  }

  value(number: number): number {
    return this.isCritical(number)
      ? (this.#criticalSum[number] as number) / (this.#criticalCount[number] as number)
      : (this.#sum[number] as number) / (this.#count[number] as number)
  }
}
