// Runs once an edge of a request: the loops index with `!`.
import { CriticalPathFinder, CriticalWalk, type WalkPlan } from '../../flows/critical-path.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import type { CategoryStructure } from './category-structure.ts'

interface ClassSource {
  readonly flows: FlowSet
  structure(category: number): CategoryStructure
  members(category: number, period: Period): Uint32Array
  edgeClassOf(shape: number): Uint32Array
  recordedClassOf(request: number): Uint32Array
}

interface ClassTimesOptions {
  /** Read folded flows as they are folded. Default `false`. */
  readonly whole?: boolean
  readonly sumOf?: Uint32Array | undefined
  readonly finder?: CriticalPathFinder
}

/**
 * Adds up the edges of a request by edge class, one object for request after request of a category.
 * Folded flows are read as recorded: every repetition counts, and steps from one round to the next
 * are an edge of their own.
 */
export class ClassTimes {
  readonly criticalUs: Float64Array
  readonly criticalCount: Uint32Array
  readonly otherUs: Float64Array
  readonly otherCount: Uint32Array
  /** Into joins that waited for another edge, in µs; part of no response time. */
  readonly waitingUs: Float64Array
  readonly #categories: ClassSource
  readonly #flows: FlowSet
  readonly #whole: boolean
  readonly #sumOf: Uint32Array
  readonly #finder: CriticalPathFinder
  readonly #walk = new CriticalWalk()
  readonly #classes = new Map<number, Uint32Array>()
  /** The plan of all shapes, edges numbered as their classes, if no two edges share a class. */
  readonly #commonPlan: WalkPlan | undefined
  readonly #classUs: Float64Array
  #onPath = new Uint8Array(64)

  constructor(
    categories: ClassSource,
    category: number,
    { whole = false, sumOf, finder }: ClassTimesOptions = {},
  ) {
    const { flows } = categories
    const structure = categories.structure(category)
    const classes = structure.classFrom.length
    this.#categories = categories
    this.#flows = whole ? flows : recordedFlows(flows)
    this.#whole = whole
    this.#sumOf = sumOf ?? Uint32Array.from({ length: classes }, (_, number) => number)
    this.#finder = finder ?? new CriticalPathFinder(this.#flows)
    const isPlain = this.#flows === flows && classes === structure.from.length
    this.#commonPlan = isPlain ? planOfClasses(this.#finder, structure) : undefined
    this.#classUs = new Float64Array(classes)
    const length = this.#sumOf.reduce((most, sum) => Math.max(most, sum + 1), 0)
    this.criticalUs = new Float64Array(length)
    this.criticalCount = new Uint32Array(length)
    this.otherUs = new Float64Array(length)
    this.otherCount = new Uint32Array(length)
    this.waitingUs = new Float64Array(length)
  }

  read(request: number): void {
    const { criticalUs, criticalCount, otherUs, otherCount, waitingUs } = this
    criticalUs.fill(0)
    criticalCount.fill(0)
    otherUs.fill(0)
    otherCount.fill(0)
    waitingUs.fill(0)
    const sumOf = this.#sumOf
    const shape = this.#flows.shapeOf[request]!
    const classes = this.#classesOf(request, shape)
    const latencyUs = this.#flows.latencies(request)
    const common = this.#commonPlan
    const { to, entries } = common ?? this.#finder.plan(shape)
    const onPath = this.#markPath(request, classes, latencyUs)
    for (let edge = 0; edge < classes.length; edge++) {
      const number = classes[edge]!
      const planned = common === undefined ? edge : number
      const sum = sumOf[number]!
      const latency = latencyUs[edge]!
      if (onPath[planned] === 1) {
        criticalUs[sum]! += latency
        criticalCount[sum]!++
      } else if (entries[to[planned]!]! > 1) {
        waitingUs[sum]! += latency
      } else {
        otherUs[sum]! += latency
        otherCount[sum]!++
      }
    }
  }

  /** Marks the edges on the critical path of a request with 1, numbered as in the plan. */
  #markPath(request: number, classes: Uint32Array, latencyUs: Float64Array): Uint8Array {
    if (classes.length > this.#onPath.length) this.#onPath = new Uint8Array(2 * classes.length)
    const onPath = this.#onPath
    if (this.#commonPlan === undefined) {
      this.#finder.mark(request, onPath)
      return onPath
    }
    const classUs = this.#classUs
    for (let edge = 0; edge < classes.length; edge++) classUs[classes[edge]!] = latencyUs[edge]!
    onPath.fill(0)
    const responseTimeUs = this.#flows.responseTimeUs[request]!
    const path = this.#walk.follow(this.#commonPlan, classUs, responseTimeUs)
    for (let at = 0; at < path.length; at++) onPath[path[at]!] = 1
    return onPath
  }

  /** One latency of a class: the mean on the critical path, else off it but for joins; or NaN. */
  latencyUs(sum: number): number {
    const critical = this.criticalCount[sum]!
    return critical > 0
      ? this.criticalUs[sum]! / critical
      : this.otherUs[sum]! / this.otherCount[sum]!
  }

  #classesOf(request: number, shape: number): Uint32Array {
    const known = this.#classes.get(shape)
    if (known !== undefined) return known
    const classes = this.#whole
      ? this.#categories.edgeClassOf(shape)
      : this.#categories.recordedClassOf(request)
    this.#classes.set(shape, classes)
    return classes
  }
}

function planOfClasses(
  finder: CriticalPathFinder,
  { shape, classOf, classFrom: from, classTo: to }: CategoryStructure,
): WalkPlan {
  const plan = finder.plan(shape)
  return { ...plan, from, to, edgesByTarget: plan.edgesByTarget.map((edge) => classOf[edge]!) }
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
 * The latencies of every edge class, one value a request so that samples stay independent: that of
 * the branch on the critical path, else the mean of identical branches. An edge into a join counts
 * only where the join waited for it; else it would accuse the wrong branch.
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
  const samples = new ClassSamples(edgeClasses.length, members.length)
  for (let i = 0; i < members.length; i++) {
    times.read(members[i]!)
    samples.add(times)
  }
  return edgeClasses.map((_, number) => ({
    latencyUs: samples.values(number),
    onCriticalPath: members.length === 0 ? 0 : samples.critical[number]! / members.length,
  }))
}

export class ClassSamples {
  requests = 0
  readonly critical: Uint32Array
  readonly lengths: Uint32Array
  readonly #values: Float64Array
  readonly #room: number

  constructor(size: number, requests: number) {
    this.critical = new Uint32Array(size)
    this.lengths = new Uint32Array(size)
    this.#values = new Float64Array(size * requests)
    this.#room = requests
  }

  add(times: ClassTimes): void {
    this.requests++
    for (let at = 0; at < this.lengths.length; at++) {
      const isCritical = times.criticalCount[at]! > 0
      if (isCritical) this.critical[at]!++
      else if (times.otherCount[at]! === 0) continue
      this.#values[at * this.#room + this.lengths[at]!++] = times.latencyUs(at)
    }
  }

  values(at: number): Float64Array {
    const start = at * this.#room
    return this.#values.subarray(start, start + this.lengths[at]!)
  }
}
