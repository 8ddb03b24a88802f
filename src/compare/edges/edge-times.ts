import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { ClassTimes } from '../categories/class-times.ts'
import { EdgePool, type PooledEdge } from './edge-pool.ts'

/** One pooled edge in one category: a value a request, in µs, ascending. */
export interface EdgeStratum {
  readonly category: number
  readonly before: Float64Array
  readonly after: Float64Array
}

/** What one period says of a pooled edge, over all its categories. */
export interface EdgeTotals {
  /** Requests whose flow has the edge. */
  requests: number
  /** How often it lies on a critical path. */
  criticalCalls: number
  /** The part of all response times that is spent on it. */
  criticalUs: number
  /** Time spent on it while another branch was waited for; part of no response time. */
  waitingUs: number
  /** Sum of the response times of the requests that have it, the slowest hundredth cut. */
  responseTimeUs: number
}

/** All times of one pooled edge. */
export interface EdgeTimes extends PooledEdge {
  /** All categories that have it. */
  readonly categories: readonly number[]
  /** Categories with requests in both periods, in which it is often critical. */
  readonly strata: readonly EdgeStratum[]
  readonly before: EdgeTotals
  readonly after: EdgeTotals
}

/** An edge is compared in a category when it is critical in this share of a period's requests. */
const OFTEN_CRITICAL = 0.5

/**
 * Collects the latencies of every edge, pooled over the categories by the labels at its ends. A
 * request gives one value: the mean over the edge's calls on its critical path, else over all of
 * its calls but those into joins that did not wait for them. One pass over all requests.
 */
export function edgeTimes(categories: Categories): readonly EdgeTimes[] {
  const known = CACHE.get(categories) ?? collectEdgeTimes(categories)
  CACHE.set(categories, known)
  return known
}

const CACHE = new WeakMap<Categories, readonly EdgeTimes[]>()

function collectEdgeTimes(categories: Categories): EdgeTimes[] {
  const pool = new EdgePool(categories)
  const strata: EdgeStratum[][] = []
  const having: number[][] = []
  const totals: [EdgeTotals[], EdgeTotals[]] = [[], []]
  const timeOf = [
    cappedTimes(categories.flows, BEFORE),
    cappedTimes(categories.flows, AFTER),
  ] as const
  for (let category = 0; category < categories.size; category++) {
    const pooledOf = pool.ofClasses(category)
    while (strata.length < pool.edges.length) {
      strata.push([])
      having.push([])
      totals[BEFORE].push(noTotals())
      totals[AFTER].push(noTotals())
    }
    const local = localNumbers(pooledOf)
    for (const pooled of local.pooled) (having[pooled] as number[]).push(category)
    const times = new ClassTimes(categories, category)
    const [before, after] = [BEFORE, AFTER].map((period) =>
      collectCategory(categories, {
        ...{ category, times, local, period: period as Period },
        ...{ totals: totals[period as Period], timeOf: timeOf[period as Period] },
      }),
    ) as [LocalSamples, LocalSamples]
    if (before.requests === 0 || after.requests === 0) continue
    local.pooled.forEach((pooled, i) => {
      const critical = Math.max(
        (before.critical[i] as number) / before.requests,
        (after.critical[i] as number) / after.requests,
      )
      const stratum = { category, before: before.sample(i), after: after.sample(i) }
      if (critical < OFTEN_CRITICAL) return
      if (stratum.before.length === 0 || stratum.after.length === 0) return
      ;(strata[pooled] as EdgeStratum[]).push(stratum)
    })
  }
  return pool.edges.map((edge, pooled) => ({
    ...edge,
    categories: having[pooled] as number[],
    strata: strata[pooled] as EdgeStratum[],
    before: totals[BEFORE][pooled] as EdgeTotals,
    after: totals[AFTER][pooled] as EdgeTotals,
  }))
}

function noTotals(): EdgeTotals {
  return { requests: 0, criticalCalls: 0, criticalUs: 0, waitingUs: 0, responseTimeUs: 0 }
}

/** The pooled edges of one category, numbered from 0, so that a request's sums are small. */
interface LocalNumbers {
  readonly pooled: readonly number[]
  /** Local number of each edge class. */
  readonly ofClass: Uint32Array
}

function localNumbers(pooledOf: Uint32Array): LocalNumbers {
  const numbers = new Map<number, number>()
  const ofClass = pooledOf.map((pooled) => {
    const known = numbers.get(pooled) ?? numbers.size
    numbers.set(pooled, known)
    return known
  })
  return { pooled: [...numbers.keys()], ofClass }
}

interface CategoryPass {
  readonly category: number
  readonly period: Period
  readonly times: ClassTimes
  readonly local: LocalNumbers
  readonly totals: readonly EdgeTotals[]
  readonly timeOf: (request: number) => number
}

function collectCategory(categories: Categories, pass: CategoryPass): LocalSamples {
  const { category, period, times, local, totals, timeOf } = pass
  const members = categories.members(category, period)
  const samples = new LocalSamples(local.pooled.length, members.length)
  const sums = new RequestSums(local.pooled.length)
  let responseTimeUs = 0
  for (const request of members) {
    times.read(request)
    sums.fill(times, local.ofClass)
    samples.add(sums)
    responseTimeUs += timeOf(request)
  }
  local.pooled.forEach((pooled, i) => {
    const total = totals[pooled] as EdgeTotals
    total.requests += members.length
    total.criticalCalls += samples.criticalCalls[i] as number
    total.criticalUs += samples.criticalUs[i] as number
    total.waitingUs += samples.waitingUs[i] as number
    total.responseTimeUs += responseTimeUs
  })
  return samples
}

/** The edges of one request, added up by pooled edge. */
class RequestSums {
  readonly criticalUs: Float64Array
  readonly criticalCalls: Uint32Array
  readonly otherUs: Float64Array
  readonly otherCalls: Uint32Array
  readonly waitingUs: Float64Array

  constructor(size: number) {
    this.criticalUs = new Float64Array(size)
    this.criticalCalls = new Uint32Array(size)
    this.otherUs = new Float64Array(size)
    this.otherCalls = new Uint32Array(size)
    this.waitingUs = new Float64Array(size)
  }

  fill(times: ClassTimes, local: Uint32Array): void {
    this.criticalUs.fill(0)
    this.criticalCalls.fill(0)
    this.otherUs.fill(0)
    this.otherCalls.fill(0)
    this.waitingUs.fill(0)
    local.forEach((at, number) => {
      add(this.criticalUs, at, times.criticalUs[number] as number)
      add(this.criticalCalls, at, times.criticalCount[number] as number)
      add(this.otherUs, at, times.otherUs[number] as number)
      add(this.otherCalls, at, times.otherCount[number] as number)
      add(this.waitingUs, at, times.waitingUs[number] as number)
    })
  }

  /** One value for the request, or NaN where it says nothing of the edge. */
  value(at: number): number {
    const critical = this.criticalCalls[at] as number
    if (critical > 0) return (this.criticalUs[at] as number) / critical
    return (this.otherUs[at] as number) / (this.otherCalls[at] as number)
  }
}

function add(sums: Float64Array | Uint32Array, at: number, value: number): void {
  sums[at] = (sums[at] as number) + value
}

/** The requests of one category in one period. */
class LocalSamples {
  requests = 0
  /** Requests in which each edge is critical. */
  readonly critical: Uint32Array
  readonly criticalCalls: Float64Array
  readonly criticalUs: Float64Array
  readonly waitingUs: Float64Array
  /** Values of each edge, room for one a request. */
  readonly #values: Float64Array
  readonly #room: number
  readonly #lengths: Uint32Array

  constructor(size: number, requests: number) {
    this.critical = new Uint32Array(size)
    this.criticalCalls = new Float64Array(size)
    this.criticalUs = new Float64Array(size)
    this.waitingUs = new Float64Array(size)
    this.#values = new Float64Array(size * requests)
    this.#room = requests
    this.#lengths = new Uint32Array(size)
  }

  add(sums: RequestSums): void {
    this.requests++
    for (let at = 0; at < this.critical.length; at++) {
      const calls = sums.criticalCalls[at] as number
      if (calls > 0) this.critical[at] = (this.critical[at] as number) + 1
      this.criticalCalls[at] = (this.criticalCalls[at] as number) + calls
      this.criticalUs[at] = (this.criticalUs[at] as number) + (sums.criticalUs[at] as number)
      this.waitingUs[at] = (this.waitingUs[at] as number) + (sums.waitingUs[at] as number)
      const value = sums.value(at)
      if (Number.isNaN(value)) continue
      const length = this.#lengths[at] as number
      this.#values[at * this.#room + length] = value
      this.#lengths[at] = length + 1
    }
  }

  sample(at: number): Float64Array {
    const start = at * this.#room
    return this.#values.subarray(start, start + (this.#lengths[at] as number)).sort()
  }
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
