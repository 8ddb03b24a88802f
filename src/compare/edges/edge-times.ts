// Runs once an edge of a request: the loops index with `!`.
import { CriticalPathFinder } from '../../flows/critical-path.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { type GroupedRows, groupRows } from '../../traces/group-rows.ts'
import { finishColumns, growingColumns } from '../../traces/growing-columns.ts'
import type { Categories } from '../categories/categories.ts'
import { ClassSamples, ClassTimes } from '../categories/class-times.ts'
import { EdgePool, type PooledEdge } from './edge-pool.ts'

/** One pooled edge in one category: a value a request, in µs, ascending. */
export interface EdgeStratum {
  readonly category: number
  readonly before: Float64Array
  readonly after: Float64Array
}

/** What one period says of each pooled edge, over all its categories. */
export interface EdgeTotals {
  /** Requests whose flow has the edge. */
  readonly requests: Float64Array
  /** How often it lies on a critical path. */
  readonly criticalCalls: Float64Array
  /** The part of all response times that is spent on it. */
  readonly criticalUs: Float64Array
  /** Time spent on it while another branch was waited for; part of no response time. */
  readonly waitingUs: Float64Array
  /** Sum of the response times of the requests that have it, the slowest hundredth cut. */
  readonly responseTimeUs: Float64Array
}

/** An edge is compared in a category when it is critical in this share of a period's requests. */
const OFTEN_CRITICAL = 0.5

const PERIODS: readonly Period[] = [BEFORE, AFTER]

/** Collects the latencies of every edge; once for the same categories. */
export function edgeTimes(categories: Categories): EdgeTimes {
  const known = CACHE.get(categories) ?? new EdgeTimes(categories)
  CACHE.set(categories, known)
  return known
}

const CACHE = new WeakMap<Categories, EdgeTimes>()

/**
 * The latencies of every edge, pooled over the categories by the labels at its ends. A request
 * gives one value: the mean over the edge's calls on its critical path, else over all of its calls
 * but those into joins that did not wait for them. One pass over all requests.
 */
export class EdgeTimes {
  readonly edges: readonly PooledEdge[]
  /** What each period says of each edge. */
  readonly totals: readonly [before: EdgeTotals, after: EdgeTotals]
  /** Each edge in each category that has it: its number there, and whether it is compared there. */
  readonly #category: Uint32Array
  readonly #local: Uint32Array
  readonly #compared: Uint8Array
  /** Rows of those columns by edge. */
  readonly #rows: GroupedRows
  /** By category. */
  readonly #samples: readonly (readonly [before: ClassSamples, after: ClassSamples])[]

  constructor(categories: Categories) {
    const pool = new EdgePool(categories)
    const columns = growingColumns({ edge: 'u32', category: 'u32', local: 'u32', compared: 'u8' })
    const samples: (readonly [ClassSamples, ClassSamples])[] = []
    const totals = [new GrowingTotals(), new GrowingTotals()] as const
    const timeOf = PERIODS.map((period) => cappedTimes(categories.flows, period))
    const finder = new CriticalPathFinder(recordedFlows(categories.flows))
    for (let category = 0; category < categories.size; category++) {
      const { pooled, sumOf } = localNumbers(pool.ofClasses(category))
      const times = new ClassTimes(categories, category, { sumOf, finder })
      const [before, after] = PERIODS.map((period) => {
        const members = categories.members(category, period)
        const collected = new ClassSamples(pooled.length, members.length)
        totals[period].reach(pool.edges.length)
        for (let i = 0; i < members.length; i++) {
          times.read(members[i]!)
          collected.add(times)
          totals[period].add(pooled, times, timeOf[period]!(members[i]!))
        }
        return collected
      }) as [ClassSamples, ClassSamples]
      samples.push([before, after])
      for (let local = 0; local < pooled.length; local++) {
        const compared = isOftenCritical(before, local) || isOftenCritical(after, local)
        columns.edge.push(pooled[local]!)
        columns.category.push(category)
        columns.local.push(local)
        columns.compared.push(
          compared && before.lengths[local]! > 0 && after.lengths[local]! > 0 ? 1 : 0,
        )
      }
    }
    const { edge, category, local, compared } = finishColumns(columns)
    this.edges = pool.edges
    this.totals = [totals[0].finish(), totals[1].finish()]
    this.#category = category
    this.#local = local
    this.#compared = compared
    this.#rows = groupRows(edge, pool.edges.length)
    this.#samples = samples
  }

  /** All categories that have the edge. */
  categories(edge: number): readonly number[] {
    return Array.from(this.#rowsOf(edge), (row) => this.#category[row]!)
  }

  /** Categories with requests in both periods, in which the edge is often critical. */
  strata(edge: number): readonly EdgeStratum[] {
    const strata: EdgeStratum[] = []
    for (const row of this.#rowsOf(edge)) {
      if (this.#compared[row] === 0) continue
      const category = this.#category[row]!
      const [before, after] = this.#samples[category]!
      const local = this.#local[row]!
      strata.push({
        category,
        before: sortSample(before.values(local)),
        after: sortSample(after.values(local)),
      })
    }
    return strata
  }

  #rowsOf(edge: number): Uint32Array {
    const { offsets, rows } = this.#rows
    return rows.subarray(offsets[edge], offsets[edge + 1])
  }
}

function isOftenCritical({ critical, requests }: ClassSamples, at: number): boolean {
  return critical[at]! >= OFTEN_CRITICAL * requests
}

/** Sorts a sample in place; insertion beats the general sort for the usual dozen. */
function sortSample(values: Float64Array): Float64Array {
  if (values.length > 32) return values.sort()
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!
    let at = i - 1
    for (; at >= 0 && values[at]! > value; at--) values[at + 1] = values[at]!
    values[at + 1] = value
  }
  return values
}

/** The totals of a period while they are added up. */
class GrowingTotals {
  readonly #columns = growingColumns({
    requests: 'f64',
    criticalCalls: 'f64',
    criticalUs: 'f64',
    waitingUs: 'f64',
    responseTimeUs: 'f64',
  })

  /** Adds the request of a category that was read last, given the edge of each of its sums. */
  add(pooled: readonly number[], times: ClassTimes, responseTime: number): void {
    const { requests, criticalCalls, criticalUs, waitingUs, responseTimeUs } = this.#columns
    for (let local = 0; local < pooled.length; local++) {
      const edge = pooled[local]!
      requests.values[edge]!++
      criticalCalls.values[edge]! += times.criticalCount[local]!
      criticalUs.values[edge]! += times.criticalUs[local]!
      waitingUs.values[edge]! += times.waitingUs[local]!
      responseTimeUs.values[edge]! += responseTime
    }
  }

  /** Makes room for this many edges. */
  reach(edges: number): void {
    for (const column of Object.values(this.#columns)) {
      while (column.length < edges) column.push(0)
    }
  }

  finish(): EdgeTotals {
    return finishColumns(this.#columns)
  }
}

/** The pooled edges of one category, numbered from 0, so that a request's sums are small. */
interface LocalNumbers {
  readonly pooled: readonly number[]
  /** Local number of each edge class. */
  readonly sumOf: Uint32Array
}

function localNumbers(pooledOf: Uint32Array): LocalNumbers {
  const numbers = new Map<number, number>()
  const sumOf = pooledOf.map((pooled) => {
    const known = numbers.get(pooled) ?? numbers.size
    numbers.set(pooled, known)
    return known
  })
  return { pooled: [...numbers.keys()], sumOf }
}

/** The slowest hundredth of the requests, one at least, is taken to be no slower than the next. */
export const SLOWEST = 0.01

/**
 * Response times of a period in which the slowest are cut to what the next slowest took: one
 * request of an hour must not make every other change look negligible.
 */
export function cappedTimes(flows: FlowSet, period: Period): (request: number) => number {
  const { responseTimeUs } = flows
  const times = responseTimeUs.filter((_, request) => flows.period[request] === period).sort()
  const cut = Math.max(1, Math.floor(SLOWEST * times.length))
  const mostUs = times[Math.max(0, times.length - 1 - cut)] ?? 0
  return (request) => Math.min(mostUs, responseTimeUs[request] as number)
}
