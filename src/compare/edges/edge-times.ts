// Runs once an edge of a request: the loops index with `!`.

import { CriticalPathFinder } from '../../calls/critical-path.ts'
import { getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { type NodeLabel, place } from '../../flows/node-labels.ts'
import { sortAscending } from '../../stats/ascending-order.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample, equalRows, worthOf } from '../../stats/weighted-sample.ts'
import { type GroupedRows, groupRows } from '../../traces/group-rows.ts'
import { finishColumns, growingColumns } from '../../traces/growing-columns.ts'
import type { Categories } from '../categories/categories.ts'
import { ClassTimes } from '../categories/class-times.ts'
import { PairInterner } from '../categories/structure-colours.ts'
import { SLOWEST } from '../thresholds.ts'

/**
 * One pooled edge in one category: a value a request, in µs, ascending; where weights of requests
 * differ, as many as they are worth (`equalRows`).
 */
export interface EdgeStratum {
  readonly before: Float64Array
  readonly after: Float64Array
}

/** Data of each pooled edge in one period, over all its categories. */
interface EdgeTotals {
  readonly requests: Float64Array
  /** Number of times it lies on a critical path. */
  readonly criticalCalls: Float64Array
  /** The part of all response times that is spent on it, each as often as its request counts. */
  readonly criticalUs: Float64Array
  /** Weighted number of requests that have it. */
  readonly counted: Float64Array
  /** Sum of their response times, the slowest hundredth cut. */
  readonly responseTimeUs: Float64Array
}

const PERIODS: readonly Period[] = [BEFORE, AFTER]

/**
 * The latencies of every edge, pooled over the categories by the labels at its ends. A request
 * gives one value: the mean over the edge's calls on its critical path, else over all of its calls
 * but those into joins that did not wait for them. One pass over all requests.
 */
export class EdgeTimes {
  /** Data of each edge, by period. */
  readonly totals: readonly [before: EdgeTotals, after: EdgeTotals]
  readonly #pool: EdgePool
  /** There is a row for each edge in each category that has it; these are the rows by edge. */
  readonly #rows: GroupedRows
  readonly #categoryOf: Uint32Array
  readonly #values: readonly [before: RowValues, after: RowValues]

  constructor(categories: Categories) {
    const { flows } = categories
    const pool = new EdgePool(categories)
    const { edgeOf, categoryOf, offsets, sumOf } = edgeRows(categories, pool)
    const finder = new CriticalPathFinder(recordedFlows(flows))
    const [before, after] = PERIODS.map((period) => ({
      totals: emptyTotals(pool.size),
      values: emptyValues(categories, period, categoryOf),
      timeOf: cappedTimes(flows, period),
      counted: flows.counted,
    })) as [PeriodTimes, PeriodTimes]
    for (let category = 0; category < categories.size; category++) {
      const first = offsets[category]!
      const edges = edgeOf.subarray(first, offsets[category + 1])
      const times = new ClassTimes(categories, category, { sumOf: sumOf[category], finder })
      for (const period of PERIODS) {
        const sums = period === BEFORE ? before : after
        for (const request of categories.members(category, period)) {
          times.read(request)
          addRequest(sums, times, { request, first, edges })
        }
      }
    }
    this.totals = [before.totals, after.totals]
    this.#values = [before.values, after.values]
    this.#pool = pool
    this.#categoryOf = categoryOf
    this.#rows = groupRows(edgeOf, pool.size)
  }

  get size(): number {
    return this.#pool.size
  }

  edge(number: number): PooledEdge {
    return this.#pool.edge(number)
  }

  categories(edge: number): readonly number[] {
    return Array.from(this.#rowsOf(edge), (row) => this.#categoryOf[row]!)
  }

  /** Categories in which the edge has values in both periods, on or off the critical path. */
  strata(edge: number): readonly EdgeStratum[] {
    const [before, after] = this.#values
    const strata: EdgeStratum[] = []
    for (const row of this.#rowsOf(edge)) {
      if (!this.#isCompared(row)) continue
      strata.push({ before: sortedRow(before, row), after: sortedRow(after, row) })
    }
    return strata
  }

  /** Returns all times of an edge as one stratum, whatever the category. */
  pooled(edge: number): EdgeStratum {
    const rows = Array.from(this.#rowsOf(edge))
    const [before, after] = PERIODS.map((period) =>
      Float64Array.from(rows.flatMap((row) => [...sortedRow(this.#values[period], row)])).sort(),
    ) as [Float64Array, Float64Array]
    return { before, after }
  }

  /** Returns the number of values in the strata of an edge. */
  comparedCounts(edge: number): [before: number, after: number] {
    const counts: [number, number] = [0, 0]
    for (const row of this.#rowsOf(edge)) {
      if (!this.#isCompared(row)) continue
      for (const period of PERIODS) counts[period] += worthOfRow(this.#values[period], row)
    }
    return counts
  }

  #isCompared(row: number): boolean {
    const [before, after] = this.#values
    return before.counts[row]! > 0 && after.counts[row]! > 0
  }

  #rowsOf(edge: number): Uint32Array {
    const { offsets, rows } = this.#rows
    return rows.subarray(offsets[edge], offsets[edge + 1])
  }
}

export const edgeTimes = remembered((categories: Categories) => new EdgeTimes(categories))

interface EdgeRows {
  readonly edgeOf: Uint32Array
  readonly categoryOf: Uint32Array
  readonly offsets: Uint32Array
  /** Row of each edge class by category, counted from the first of the category. */
  readonly sumOf: readonly Uint32Array[]
}

function edgeRows(categories: Categories, pool: EdgePool): EdgeRows {
  const rows = growingColumns({ edgeOf: 'u32', categoryOf: 'u32' })
  const offsets = new Uint32Array(categories.size + 1)
  const sumOf: Uint32Array[] = []
  for (let category = 0; category < categories.size; category++) {
    const sums = pool.ofClasses(category)
    const known = new Map<number, number>()
    for (let number = 0; number < sums.length; number++) {
      sums[number] = getOrInsert(known, sums[number]!, (edge) => {
        rows.edgeOf.push(edge)
        rows.categoryOf.push(category)
        return known.size
      })
    }
    sumOf.push(sums)
    offsets[category + 1] = rows.edgeOf.length
  }
  return { ...finishColumns(rows), offsets, sumOf }
}

interface RowValues {
  readonly latencyUs: Float64Array
  /** Weight of each request; undefined where each counts once. */
  readonly weights: Float64Array | undefined
  /** The latencies of row `r` begin at entry `starts[r]` and are `counts[r]`. */
  readonly starts: Uint32Array
  readonly counts: Uint32Array
}

function emptyValues(categories: Categories, period: Period, categoryOf: Uint32Array): RowValues {
  const size = categoryOf.length
  const requests = categoryOf.map((category) => categories.count(category, period))
  const starts = new Uint32Array(size)
  for (let row = 1; row < size; row++) starts[row] = starts[row - 1]! + requests[row - 1]!
  const length = size === 0 ? 0 : starts[size - 1]! + requests[size - 1]!
  return {
    latencyUs: new Float64Array(length),
    weights: categories.flows.counted && new Float64Array(length),
    starts,
    counts: new Uint32Array(size),
  }
}

function emptyTotals(edges: number): EdgeTotals {
  const zeros = () => new Float64Array(edges)
  return {
    requests: zeros(),
    criticalCalls: zeros(),
    counted: zeros(),
    criticalUs: zeros(),
    responseTimeUs: zeros(),
  }
}

interface PeriodTimes {
  readonly totals: EdgeTotals
  readonly values: RowValues
  readonly timeOf: (request: number) => number
  readonly counted: Float64Array | undefined
}

/** Adds the request that `times` read last, given the edges of its category's rows from `first`. */
function addRequest(
  { totals, values, timeOf, counted }: PeriodTimes,
  times: ClassTimes,
  { request, first, edges }: { request: number; first: number; edges: Uint32Array },
): void {
  const { requests, criticalCalls, criticalUs, responseTimeUs } = totals
  const { latencyUs, weights, starts, counts } = values
  const weight = counted === undefined ? 1 : counted[request]!
  const timeUs = timeOf(request)
  for (let sum = 0; sum < edges.length; sum++) {
    const edge = edges[sum]!
    const calls = times.criticalCount[sum]!
    requests[edge]!++
    criticalCalls[edge]! += calls
    criticalUs[edge]! += weight * times.criticalUs[sum]!
    totals.counted[edge]! += weight
    responseTimeUs[edge]! += weight * timeUs
    const row = first + sum
    if (calls === 0 && times.otherCount[sum] === 0) continue
    const at = starts[row]! + counts[row]!++
    latencyUs[at] = times.latencyUs(sum)
    if (weights !== undefined) weights[at] = weight
  }
}

function worthOfRow({ latencyUs: values, weights, starts, counts }: RowValues, row: number) {
  if (weights === undefined) return counts[row]!
  const own = [starts[row]!, starts[row]! + counts[row]!] as const
  return worthOf(values.subarray(...own), weights.subarray(...own))
}

function sortedRow({ latencyUs, weights, starts, counts }: RowValues, row: number): Float64Array {
  const start = starts[row]!
  const end = start + counts[row]!
  const values = latencyUs.subarray(start, end)
  if (weights !== undefined) {
    const sample = ascendingSample(values, weights.subarray(start, end))
    return Float64Array.from(equalRows(sample), (at) => sample.values[at]!)
  }
  return sortAscending(values)
}

export function cappedTimes(
  flows: FlowSet,
  period: Period,
  mostUs = longestTimes(flows)[period],
  timesUs = flows.responseTimeUs,
): (request: number) => number {
  return (request) => Math.min(mostUs, timesUs[request]!)
}

const longestTimes = remembered((flows: FlowSet): readonly [before: number, after: number] => {
  const { before, after, beforeWeights, afterWeights } = flows.responseTimes
  return [longestTime(before, beforeWeights), longestTime(after, afterWeights)]
})

/** Returns the longest time that is no slowest hundredth's. */
export function longestTime(times: Float64Array, weights: ArrayLike<number> | undefined): number {
  const sample = ascendingSample(times, weights)
  if (sample.weights) return quantile(sample.values, 1 - SLOWEST, sample.weights)
  const cut = Math.max(1, Math.floor(SLOWEST * times.length))
  return sample.values[Math.max(0, times.length - 1 - cut)] ?? 0
}

export const usualMeanUs = remembered((flows: FlowSet): number => {
  const timeOf = cappedTimes(flows, BEFORE)
  const { counted } = flows
  let [sum, count] = [0, 0]
  for (let request = 0; request < flows.count(BEFORE); request++) {
    if (flows.isPart(request)) continue
    const weight = counted === undefined ? 1 : counted[request]!
    sum += weight * timeOf(request)
    count += weight
  }
  return count === 0 ? 0 : sum / count
})

/**
 * Kind of an edge: work within one service (`'self'`), or the way between two services with all waiting on it, such as
 * network, queues and connections (`'network'`).
 */
export type EdgeKind = 'self' | 'network'

/** An edge by the labels at its ends, without sizes and attributes, in whatever category it occurs. */
export interface PooledEdge {
  readonly from: string
  readonly to: string
  readonly kind: EdgeKind
  readonly fromNode: NodeLabel
  readonly toNode: NodeLabel
  /** True if the edge of folded flows leads from one round to the next; see `EdgeClass`. */
  readonly fromRoundBefore?: true
}

class EdgePool {
  readonly #categories: Categories
  readonly #pairs = new PairInterner()
  /** First edge class and category of each edge. */
  readonly #found = growingColumns({ category: 'u32', number: 'u32' })

  constructor(categories: Categories) {
    this.#categories = categories
  }

  get size(): number {
    return this.#found.number.length
  }

  ofClasses(category: number): Uint32Array {
    const { kindCodes, classFrom, classTo, loops } = this.#categories.structure(category)
    const pooled = new Uint32Array(classFrom.length)
    for (let number = 0; number < pooled.length; number++) {
      const loop = number < pooled.length - loops ? 0 : 1
      const [source, target] = [kindCodes[classFrom[number]!]!, kindCodes[classTo[number]!]!]
      pooled[number] = this.#pairs.intern(2 * source + loop, target)
      if (pooled[number]! < this.size) continue
      this.#found.category.push(category)
      this.#found.number.push(number)
    }
    return pooled
  }

  edge(pooled: number): PooledEdge {
    const category = this.#found.category.values[pooled]!
    const number = this.#found.number.values[pooled]!
    const { kinds, classFrom, classTo, loops } = this.#categories.structure(category)
    const [from, to] = [kinds[classFrom[number]!]!, kinds[classTo[number]!]!]
    const isLoop = number >= classFrom.length - loops
    const ends = [classFrom[number]!, classTo[number]!] as const
    const [start, end] = ends.map((node) => place(this.#categories.nodeLabel(category, node)))
    const kind = start === end ? 'self' : 'network'
    const fromNode = this.#categories.shownNode(category, ends[0])
    const toNode = this.#categories.shownNode(category, ends[1])
    return { from, to, kind, fromNode, toNode, ...(isLoop && { fromRoundBefore: true }) }
  }
}

/** Returns the called end of a way between services, or the answering end of a reply. */
export function calledPlace({ fromNode, toNode }: PooledEdge): string {
  return fromNode.phase === 'reply' && toNode.phase === 'reply' ? place(fromNode) : place(toNode)
}
