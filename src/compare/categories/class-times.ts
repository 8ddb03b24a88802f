import { CriticalPathFinder } from '../../flows/critical-path.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { growingFloat64 } from '../../traces/growing-columns.ts'
import type { CategoryStructure } from './category-structure.ts'

/** What times of edge classes are read from: categories. */
interface ClassSource {
  readonly flows: FlowSet
  structure(category: number): CategoryStructure
  members(category: number, period: Period): Uint32Array
  edgeClassOf(shape: number): Uint32Array
  recordedClassOf(request: number): Uint32Array
}

/**
 * The edges of one request, added up by the edge classes of its category. One object serves for
 * request after request of a category.
 *
 * Folded flows are read as they were recorded: of an edge that was repeated, every repetition counts,
 * on the critical path or beside it, and steps from one round to the next count as such, not as
 * part of the edge that leads to the first round. So a folded request says of its edges what the
 * recorded one says.
 */
export class ClassTimes {
  /** Time of each class on the critical path of the request, in µs, and how many edges that is. */
  readonly criticalUs: Float64Array
  readonly criticalCount: Uint32Array
  /** Off the critical path, but not into joins. */
  readonly otherUs: Float64Array
  readonly otherCount: Uint32Array
  /** Into joins that waited for another edge, in µs; part of no response time. */
  readonly waitingUs: Float64Array
  readonly #categories: ClassSource
  /** The flows as they were recorded. */
  readonly #flows: FlowSet
  readonly #whole: boolean
  readonly #finder: CriticalPathFinder
  /** By recorded shape. */
  readonly #plans = new Map<number, Plan>()
  #onPath = new Uint8Array(64)

  /** @param options.whole read folded flows as they are folded instead; default `false` */
  constructor(categories: ClassSource, category: number, { whole = false } = {}) {
    const { length } = categories.structure(category).edgeClasses
    const { flows } = categories
    this.#categories = categories
    this.#flows = whole ? flows : recordedFlows(flows)
    this.#whole = whole
    this.#finder = new CriticalPathFinder(this.#flows)
    this.criticalUs = new Float64Array(length)
    this.criticalCount = new Uint32Array(length)
    this.otherUs = new Float64Array(length)
    this.otherCount = new Uint32Array(length)
    this.waitingUs = new Float64Array(length)
  }

  /** Adds up the edges of a request of the category, by its row. */
  read(request: number): void {
    const { classOf, intoJoin } = this.#plan(request)
    const { criticalUs, criticalCount, otherUs, otherCount, waitingUs } = this
    for (const sums of [criticalUs, criticalCount, otherUs, otherCount, waitingUs]) sums.fill(0)
    const onPath = this.#onPath
    this.#finder.mark(request, onPath)
    const latencyUs = this.#flows.latencies(request)
    for (let edge = 0; edge < classOf.length; edge++) {
      const number = classOf[edge] as number
      const latency = latencyUs[edge] as number
      if (onPath[edge] === 1) {
        criticalUs[number] = (criticalUs[number] as number) + latency
        criticalCount[number] = (criticalCount[number] as number) + 1
      } else if (intoJoin[edge] === 1) {
        waitingUs[number] = (waitingUs[number] as number) + latency
      } else {
        otherUs[number] = (otherUs[number] as number) + latency
        otherCount[number] = (otherCount[number] as number) + 1
      }
    }
  }

  /**
   * One latency of a class for the request, in µs: the mean over its edges on the critical path, else
   * over the others but those into joins. NaN where there are none.
   */
  latencyUs(number: number): number {
    const critical = this.criticalCount[number] as number
    return critical > 0
      ? (this.criticalUs[number] as number) / critical
      : (this.otherUs[number] as number) / (this.otherCount[number] as number)
  }

  #plan(request: number): Plan {
    const shape = this.#flows.shapeOf[request] as number
    const known = this.#plans.get(shape)
    if (known !== undefined) return known
    const to = this.#flows.shapes.to(shape)
    const entries = new Uint32Array(this.#flows.shapes.nodeCount(shape))
    for (const node of to) entries[node] = (entries[node] as number) + 1
    const intoJoin = Uint8Array.from(to, (node) => ((entries[node] as number) > 1 ? 1 : 0))
    const classOf = this.#whole
      ? this.#categories.edgeClassOf(shape)
      : this.#categories.recordedClassOf(request)
    const plan = { classOf, intoJoin }
    this.#plans.set(shape, plan)
    if (to.length > this.#onPath.length) this.#onPath = new Uint8Array(2 * to.length)
    return plan
  }
}

/** What is the same for all requests of a recorded shape. */
interface Plan {
  /** The class of each recorded edge. */
  readonly classOf: Uint32Array
  /** 1 for edges into nodes that wait for other edges as well. */
  readonly intoJoin: Uint8Array
}

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
 * Repetitions that were folded are as identical branches: see `ClassTimes`.
 */
export function collectEdgeSamples(
  categories: ClassSource,
  category: number,
  times: ClassTimes,
): EdgeSamples[] {
  const before = collectPeriod(categories, { category, period: BEFORE, times })
  const after = collectPeriod(categories, { category, period: AFTER, times })
  return before.map((sample, i) => ({ before: sample, after: after[i] as EdgeSample }))
}

function collectPeriod(
  categories: ClassSource,
  { category, period, times }: { category: number; period: Period; times: ClassTimes },
): EdgeSample[] {
  const { edgeClasses } = categories.structure(category)
  const members = categories.members(category, period)
  const latencies = edgeClasses.map(() => growingFloat64())
  const criticalRequests = new Uint32Array(edgeClasses.length)
  for (const request of members) {
    times.read(request)
    latencies.forEach((column, number) => {
      const isCritical = (times.criticalCount[number] as number) > 0
      if (isCritical) criticalRequests[number] = (criticalRequests[number] as number) + 1
      const counts = isCritical || (times.otherCount[number] as number) > 0
      if (counts) column.push(times.latencyUs(number))
    })
  }
  return latencies.map((column, number) => ({
    latencyUs: column.finish(),
    onCriticalPath:
      members.length === 0 ? 0 : (criticalRequests[number] as number) / members.length,
  }))
}
