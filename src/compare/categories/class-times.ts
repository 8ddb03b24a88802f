import { CriticalPathFinder } from '../../flows/critical-path.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import type { Categories } from './categories.ts'

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
  readonly #categories: Categories
  /** The flows as they were recorded. */
  readonly #flows: Categories['flows']
  readonly #whole: boolean
  readonly #finder: CriticalPathFinder
  /** By recorded shape. */
  readonly #plans = new Map<number, Plan>()
  #onPath = new Uint8Array(64)

  /** @param options.whole read folded flows as they are folded instead; default `false` */
  constructor(categories: Categories, category: number, { whole = false } = {}) {
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
