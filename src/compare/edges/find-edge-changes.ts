// Runs for every edge: the loops index with `!`.

import { range } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { requireStage } from '../../core/errors.ts'
import { defineOptions, type OptionsOf, readOptions, share } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { stratifiedShift, type VanElterenResult, vanElteren } from '../../stats/hodges-lehmann.ts'
import { isTestable } from '../../stats/two-sample.ts'
import { Categories } from '../categories/categories.ts'
import {
  RESPONSE_TIME_OPTIONS,
  type Unchanged,
  type Verdict,
  verdictOf,
} from '../mutations/find-response-time-mutations.ts'
import {
  type EdgeStratum,
  type EdgeTimes,
  edgeTimes,
  type PooledEdge,
  usualMeanUs,
} from './edge-times.ts'

/**
 * Compares every edge, pooled over all categories that have it. This finds changes of rarely visited operations, where
 * each category alone has too few requests to test.
 *
 * Requests are compared only with requests of their own category (van Elteren's stratified test),
 * so that a change of mix cannot pass for a change of latency. Benjamini-Hochberg over all edges.
 * The shift is the Hodges-Lehmann estimate over the same strata, so that outliers do not carry it.
 *
 * @param options.alpha level of the tests; default 0.05
 * @param options.minimumEffect smallest reported change, as a share of the mean response time of the requests that have
 *   the edge, the slowest hundredth cut; default 0.03
 * @param options.minimumShare smallest reported contribution, as a share of the time that all requests after would have
 *   taken before, the slowest hundredth cut; default 0.001
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Source: van Elteren 1960; Hodges and Lehmann 1963.
 *
 * @example
 * findEdgeChanges(categories).changes
 */
export function findEdgeChanges(
  categories: Categories,
  given: Partial<EdgeOptions> = {},
): EdgeChanges {
  requireStage('findEdgeChanges(categories)', categories, Categories)
  const options = readOptions(EDGE_OPTIONS, given)
  return new EdgeChanges({
    categories,
    options,
    ...totalTimes(categories, options.minimumShare),
  })
}

interface EdgeTests {
  readonly times: EdgeTimes
  /** Tests of the edges that can be tested. Only the table of all edges needs the others. */
  readonly tests: ReadonlyMap<number, VanElterenResult>
  readonly q: ArrayLike<number>
  /** Sizes of the significant changes. */
  readonly sizes: ReadonlyMap<number, EdgeSize>
}

function testEdges(times: EdgeTimes, { alpha, minimumEffect }: EdgeOptions, negligibleUs: number) {
  const p = new Float64Array(times.size).fill(Number.NaN)
  const tests = new Map<number, VanElterenResult>()
  for (let edge = 0; edge < times.size; edge++) {
    if (!isTestable(...times.comparedCounts(edge))) continue
    const test = testEdge(times, edge)
    p[edge] = test.p
    tests.set(edge, test)
  }
  const q = benjaminiHochberg(p)
  const sizes = new Map<number, EdgeSize>()
  for (const edge of tests.keys()) {
    if (!(q[edge]! < alpha)) continue
    sizes.set(
      edge,
      sizeOf(times, edge, { minimumEffect, negligibleUs, strata: times.strata(edge) }),
    )
  }
  return { times, tests, q, sizes }
}

function testEdge(times: EdgeTimes, edge: number): VanElterenResult {
  return vanElteren(times.strata(edge), { sorted: true })
}

/** Size of a significant change, and whether it is large enough to count. */
type EdgeSize = Pick<EdgeChange, 'shiftUs' | 'interval' | 'effect' | 'contributionUs'> & {
  readonly against: readonly (Unchanged | false)[]
}

function sizeOf(
  times: EdgeTimes,
  edge: number,
  {
    minimumEffect,
    negligibleUs,
    strata,
  }: { minimumEffect: number; negligibleUs: number; strata: readonly EdgeStratum[] },
): EdgeSize {
  const [before, after] = times.totals
  const { shift, low, high } = stratifiedShift(strata, { level: 0.95, sorted: true })
  const calls = after.criticalCalls[edge]! / Math.max(1, after.requests[edge]!)
  const meanUs = before.responseTimeUs[edge]! / Math.max(1, before.counted[edge]!)
  const effect = meanUs > 0 ? (shift * calls) / meanUs : 0
  const contributionUs = shift * after.criticalCalls[edge]!
  const against = [
    !(Math.abs(effect) >= minimumEffect) && ('too small' as const),
    !(Math.abs(contributionUs) >= negligibleUs) && ('too small in all' as const),
  ]
  return { shiftUs: shift, interval: [low, high], effect, against, contributionUs }
}

/** Returns the total time of the requests after at the mean before, and their actual total. */
function totalTimes({ flows }: Categories, minimumShare: number): EdgeTotalTimes {
  const [count, now] = [flows.wholes(BEFORE), flows.wholes(AFTER)]
  const { before: was, after: is, beforeWeights, afterWeights } = flows.responseTimes
  const [before, after] = [totalUs(was, beforeWeights), totalUs(is, afterWeights)]
  const usualUs = count === 0 ? 0 : (before / count) * now
  const negligibleUs = minimumShare * usualMeanUs(flows) * now
  return { usualUs, negligibleUs, observedChangeUs: count === 0 ? 0 : after - usualUs }
}

/** Returns the sum of the times of as many requests as were recorded, at their mean. */
function totalUs(times: Float64Array, weights: ArrayLike<number> | undefined): number {
  let [sum, mass] = [0, 0]
  times.forEach((timeUs, i) => {
    const weight = weights === undefined ? 1 : weights[i]!
    sum += weight * timeUs
    mass += weight
  })
  return times.length === 0 ? 0 : sum * (times.length / mass)
}

export const EDGE_OPTIONS = defineOptions({
  alpha: RESPONSE_TIME_OPTIONS.alpha,
  minimumEffect: share({
    default: 0.03,
    max: Number.POSITIVE_INFINITY,
    sentence:
      'Smallest change of an edge or step, as a share of the mean response time of the requests that have it',
    flag: null,
  }),
  minimumShare: share({
    default: 0.001,
    max: Number.POSITIVE_INFINITY,
    sentence:
      'Smallest contribution of an edge or step, as a share of the time that all requests take',
    flag: null,
  }),
})

export type EdgeOptions = OptionsOf<typeof EDGE_OPTIONS>

/** One pooled edge, compared between the periods. */
export interface EdgeChange extends PooledEdge, Verdict {
  /** Requests that have the edge, whether or not they could be compared. */
  readonly beforeRequests: number
  readonly afterRequests: number
  readonly categories: readonly number[]
  /** Number of them in which it could be compared, and their requests. */
  readonly comparedCategories: number
  readonly beforeCompared: number
  readonly afterCompared: number
  readonly z: number
  readonly p: number
  /** p corrected over all edges that could be tested; `NaN` where this one could not. */
  readonly q: number
  /** Chance that a request after is slower here than one before, of the same category. */
  readonly probabilitySlower: number
  /** Shift of one call in µs, positive if slower; 0 unless significant. */
  readonly shiftUs: number
  /** 95 % confidence interval of `shiftUs`. */
  readonly interval: readonly [low: number, high: number]
  /** Shift of a request's time on this edge, as a share of the mean response time of these requests. */
  readonly effect: number
  readonly significant: boolean
  /**
   * Change of the sum of all response times after, in µs: `shiftUs` times the calls on critical paths. Findings of
   * traces with spans add up the changes of all calls instead, which gives less or more if calls changed by different
   * amounts.
   */
  readonly contributionUs: number
}

const UNCHANGED: EdgeSize = {
  shiftUs: 0,
  interval: [Number.NaN, Number.NaN],
  effect: 0,
  against: [],
  contributionUs: 0,
}

/** Sums over all requests, in µs. */
export interface EdgeTotalTimes {
  /** Total time of the requests after, had they taken the mean before, in µs. */
  readonly usualUs: number
  /** Contributions below this, in µs, are called no change: `minimumShare` of the usual times. */
  readonly negligibleUs: number
  /** Excess of all requests after over that, in µs; unequal load does not count. */
  readonly observedChangeUs: number
}

interface EdgeChangeColumns extends EdgeTotalTimes {
  readonly categories: Categories
  readonly options: EdgeOptions
}

/** Every edge of the requests' flows, pooled over the categories and compared. */
export class EdgeChanges extends columnarStage<EdgeChangeColumns>() {
  /** Made when first asked for: traces with spans are judged by their steps instead. */
  #tests: EdgeTests | undefined
  readonly #described = new Map<number, EdgeChange>()
  #edges: readonly EdgeChange[] | undefined
  /** Changes judged at a less strict level, which these come from. */
  readonly #lenient: EdgeChanges | undefined

  constructor(columns: EdgeChangeColumns, lenient?: EdgeChanges) {
    super(columns)
    this.#lenient = lenient
  }

  get #tested(): EdgeTests {
    this.#tests ??=
      this.#lenient === undefined
        ? testEdges(edgeTimes(this.categories), this.options, this.negligibleUs)
        : this.#lenient.#tested
    return this.#tests
  }

  /** All edges, the largest contribution to the change of response times first. */
  get edges(): readonly EdgeChange[] {
    this.#edges ??= this.#describe(range(this.#tested.times.size))
    return this.#edges
  }

  /** Returns the same tests at a stricter level: edges that no longer reach it count as unchanged. */
  judged(alpha: number): EdgeChanges {
    const { categories, usualUs, negligibleUs, observedChangeUs } = this
    const options = { ...this.options, alpha }
    return new EdgeChanges({ categories, options, usualUs, negligibleUs, observedChangeUs }, this)
  }

  /** The edges of which enough was recorded to test them, ordered as `edges`. */
  get tested(): readonly EdgeChange[] {
    return this.#describe(this.#tested.tests.keys())
  }

  /** The edges that changed significantly, by enough to matter or not. */
  get significant(): EdgeChange[] {
    return this.#describe(this.#tested.sizes.keys()).filter(({ significant }) => significant)
  }

  /** The edges that changed, significantly and by enough to matter. */
  get changes(): EdgeChange[] {
    return this.significant.filter(({ changed }) => changed)
  }

  /** Edges with their own typical shifts, significant or not; of all categories where none can be compared. */
  measured(changes: readonly EdgeChange[]): EdgeChange[] {
    const wanted = new Set(changes)
    const { times } = this.#tested
    const { minimumEffect } = this.options
    return [...this.#described].flatMap(([edge, change]) => {
      if (!wanted.has(change)) return []
      const limits = { minimumEffect, negligibleUs: this.negligibleUs }
      const sized = (strata: readonly EdgeStratum[]) => sizeOf(times, edge, { ...limits, strata })
      const own = sized(times.strata(edge))
      const isKnown = own.interval.every(Number.isFinite)
      return [{ ...change, ...(isKnown ? own : sized([times.pooled(edge)])) }]
    })
  }

  /** Describes edges, the largest contribution first, then by number; returns the same objects on every call. */
  #describe(edges: Iterable<number>): EdgeChange[] {
    return Array.from(edges, (edge) =>
      getOrInsert(this.#described, edge, () => this.#change(edge)),
    ).sort((a, b) => Math.abs(b.contributionUs) - Math.abs(a.contributionUs))
  }

  #change(edge: number): EdgeChange {
    const { times, tests, sizes, q } = this.#tested
    const test = tests.get(edge) ?? testEdge(times, edge)
    const [before, after] = times.totals
    const significant = q[edge]! < this.options.alpha
    const { against, ...size } = (significant ? sizes.get(edge) : undefined) ?? UNCHANGED
    return {
      ...times.edge(edge),
      beforeRequests: before.requests[edge]!,
      afterRequests: after.requests[edge]!,
      categories: times.categories(edge),
      comparedCategories: test.strata,
      beforeCompared: test.beforeCount,
      afterCompared: test.afterCount,
      z: test.z,
      p: test.p,
      q: q[edge]!,
      probabilitySlower: test.probabilitySlower,
      ...size,
      significant,
      ...verdictOf(q[edge]!, this.options, () => against),
    }
  }

  /**
   * Returns one row per edge, changed ones first; `why` says why others do not count. For traces with spans, findings
   * rest on `comparison.steps`, which may
   * have changed although no edge did, and `contributionUs` is that of the typical shift. If `before` or `after` is 0,
   * the edge exists in the other period only, and comparisons are `NaN`.
   */
  table(): StageTable {
    return rowTable(
      this.edges.toSorted((a, b) => Number(b.changed) - Number(a.changed)),
      {
        ...own('from to kind changed why shiftUs'),
        lowUs: ({ interval }) => interval[0],
        highUs: ({ interval }) => interval[1],
        probabilitySlower: 'probabilitySlower',
        before: 'beforeRequests',
        after: 'afterRequests',
        categories: ({ categories }) => categories.length,
        ...own('p q contributionUs'),
      },
      this.categories.flows.quantity,
    )
  }
}
