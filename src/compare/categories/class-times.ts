// Runs once an edge of a request: the loops index with `!`.

import { CriticalPathFinder } from '../../calls/critical-path.ts'
import { getOrInsert } from '../../core/entries.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import type { SamplePair } from '../../stats/two-sample.ts'
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
  readonly criticalCount: Float64Array
  readonly otherUs: Float64Array
  readonly otherCount: Float64Array
  /** Into joins that waited for another edge, in µs; part of no response time. */
  readonly waitingUs: Float64Array
  readonly waitingCount: Float64Array
  readonly #categories: ClassSource
  readonly #flows: FlowSet
  readonly #whole: boolean
  readonly #sumOf: Uint32Array
  readonly #finder: CriticalPathFinder
  readonly #classes = new Map<number, Uint32Array>()
  /** All of the above, one behind the other, to be emptied at once. */
  readonly #sums: Float64Array
  #onPath = new Uint8Array(64)

  constructor(
    categories: ClassSource,
    category: number,
    { whole = false, sumOf, finder }: ClassTimesOptions = {},
  ) {
    const { flows } = categories
    const classes = categories.structure(category).classFrom.length
    this.#categories = categories
    this.#flows = whole ? flows : recordedFlows(flows)
    this.#whole = whole
    this.#sumOf = sumOf ?? Uint32Array.from({ length: classes }, (_, number) => number)
    this.#finder = finder ?? new CriticalPathFinder(this.#flows)
    const length = this.#sumOf.reduce((most, sum) => Math.max(most, sum + 1), 0)
    this.#sums = new Float64Array(6 * length)
    const column = (nth: number) => this.#sums.subarray(nth * length, (nth + 1) * length)
    this.criticalUs = column(0)
    this.criticalCount = column(1)
    this.otherUs = column(2)
    this.otherCount = column(3)
    this.waitingUs = column(4)
    this.waitingCount = column(5)
  }

  read(request: number): void {
    const { criticalUs, criticalCount, otherUs, otherCount, waitingUs, waitingCount } = this
    this.#sums.fill(0)
    const sumOf = this.#sumOf
    const shape = this.#flows.shapeOf[request]!
    const classes = this.#classesOf(request, shape)
    const latencyUs = this.#flows.latencies(request)
    const { to, entries } = this.#finder.plan(shape)
    if (classes.length > this.#onPath.length) this.#onPath = new Uint8Array(2 * classes.length)
    const onPath = this.#onPath
    const waitedUs = this.#finder.mark(request, onPath)
    for (let edge = 0; edge < classes.length; edge++) {
      const sum = sumOf[classes[edge]!]!
      const latency = latencyUs[edge]!
      if (onPath[edge] === 1) {
        criticalUs[sum]! += waitedUs[edge]!
        criticalCount[sum]!++
      } else if (entries[to[edge]!]! > 1) {
        waitingUs[sum]! += latency
        waitingCount[sum]!++
      } else {
        otherUs[sum]! += latency
        otherCount[sum]!++
      }
    }
  }

  /** Returns one latency of a class: the mean on the critical path, else off it except for joins; or NaN. */
  latencyUs(sum: number): number {
    const critical = this.criticalCount[sum]!
    return critical > 0
      ? this.criticalUs[sum]! / critical
      : this.otherUs[sum]! / this.otherCount[sum]!
  }

  #classesOf(request: number, shape: number): Uint32Array {
    return getOrInsert(this.#classes, shape, () =>
      this.#whole ? this.#categories.edgeClassOf(shape) : this.#categories.recordedClassOf(request),
    )
  }
}

/** Latencies in µs, and how many requests each counts as; undefined where each counts once. */
export interface Latencies {
  readonly latencyUs: Float64Array
  readonly weights?: Float64Array | undefined
}

/** Latencies of an edge class in one period, one per request; see `collectEdgeSamples`. */
export interface EdgeSample extends Latencies {
  /** Share of the period's requests with the edge on the critical path. */
  readonly onCriticalPath: number
}

export interface EdgeSamples {
  readonly before: EdgeSample
  readonly after: EdgeSample
}

/** Returns the latencies of both periods, with their weights. */
export function pairOf({ before, after }: Record<'before' | 'after', Latencies>): SamplePair {
  return {
    before: before.latencyUs,
    after: after.latencyUs,
    beforeWeights: before.weights,
    afterWeights: after.weights,
  }
}

/**
 * Returns the latencies of every edge class, one value a request so that samples stay independent: that of the branch
 * on the critical path, else the mean of identical branches. An edge into a join counts only where the join waited for
 * it; else it would accuse the wrong branch.
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
  const { counted } = categories.flows
  const samples = new ClassSamples(edgeClasses.length, members.length, counted !== undefined)
  for (const request of members) {
    times.read(request)
    samples.add(times, counted === undefined ? 1 : counted[request]!)
  }
  return edgeClasses.map((_, number) => samples.sample(number))
}

class ClassSamples {
  /** Requests, and those in which each class is critical, as many as they count as. */
  requests = 0
  readonly critical: Float64Array
  readonly #lengths: Uint32Array
  readonly #values: Float64Array
  readonly #weights: Float64Array | undefined
  readonly #room: number

  constructor(size: number, requests: number, isWeighted: boolean) {
    this.critical = new Float64Array(size)
    this.#lengths = new Uint32Array(size)
    this.#values = new Float64Array(size * requests)
    this.#weights = isWeighted ? new Float64Array(size * requests) : undefined
    this.#room = requests
  }

  add(times: ClassTimes, weight: number): void {
    this.requests += weight
    for (let number = 0; number < this.critical.length; number++) {
      const isCritical = times.criticalCount[number]! > 0
      if (isCritical) this.critical[number]! += weight
      else if (times.otherCount[number]! === 0) continue
      const at = number * this.#room + this.#lengths[number]!++
      this.#values[at] = times.latencyUs(number)
      if (this.#weights !== undefined) this.#weights[at] = weight
    }
  }

  sample(number: number): EdgeSample {
    const start = number * this.#room
    const own = [start, start + this.#lengths[number]!] as const
    return {
      latencyUs: this.#values.subarray(...own),
      weights: this.#weights?.subarray(...own),
      onCriticalPath: this.requests === 0 ? 0 : this.critical[number]! / this.requests,
    }
  }
}
