import { range } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { requireStage } from '../../core/errors.ts'
import { defineOptions, level, type OptionsOf, oneOf, readOptions } from '../../core/options.ts'
import { own, rowTable, Stage, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { bootstrapInterval } from '../../stats/bootstrap-interval.ts'
import { detectableShift } from '../../stats/detectable-shift.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import type { Measure } from '../../stats/measure.ts'
import { moments } from '../../stats/moments.ts'
import { equalPair, equalSamples, type SamplePair, sortedPair } from '../../stats/two-sample.ts'
import { wassersteinDistance } from '../../stats/wasserstein.ts'
import { Categories } from '../categories/categories.ts'
import type { EdgeClass } from '../categories/category-structure.ts'
import { type EdgeSample, pairOf } from '../categories/class-times.ts'
import { MOST, NEGLIGIBLE } from '../thresholds.ts'
import { compareSamples, SAMPLE_TESTS, type SampleComparison } from './compare-samples.ts'

/**
 * Finds the categories whose requests take another time than before, though their structure is
 * the same, with the two-sample Kolmogorov-Smirnov test on response times, or another one.
 *
 * Null hypothesis: both periods' response times come from one distribution. A category with
 * n₁ · n₂ / (n₁ + n₂) ≤ 4 has too few requests to test and is never a mutation. Which edges are
 * responsible is worked out by `edges(category)`, on the critical path only.
 *
 * @param options.alpha significance level; default 0.05
 * @param options.alternative `'two-sided'` (default), `'slower'` or `'faster'` (after, that is)
 * @param options.correction `'none'` (default, as in the paper) or `'bh'`: Benjamini-Hochberg over
 *   the testable categories, and over the edges of each selected one
 * @param options.method p-values: `'stephens'` (default; asymptotic with Stephens' correction),
 *   `'exact'`, or `'auto'` (exact while n₁ · n₂ ≤ 10⁷)
 * @param options.test how two samples are compared, see `SampleTest`; default `'ks'`, as in the paper
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Source: Sambasivan 2013, §2.6.2.
 *
 * @example
 * findResponseTimeMutations(categories, { alternative: 'slower' }).mutations
 */
export function findResponseTimeMutations(
  categories: Categories,
  given: Partial<ResponseTimeOptions> = {},
): ResponseTimeMutations {
  requireStage('findResponseTimeMutations(categories)', categories, Categories)
  const options = readOptions(RESPONSE_TIME_OPTIONS, given)
  const pairs = range(categories.size).map((category) => categories.samples(category))
  return new ResponseTimeMutations(categories, options, testFamily(pairs, options))
}

export const RESPONSE_TIME_OPTIONS = defineOptions({
  alpha: level({ default: 0.05, sentence: 'Significance level of the tests' }),
  alternative: oneOf(['two-sided', 'slower', 'faster'], {
    default: 'two-sided',
    sentence: 'Direction of the time changes to look for',
    flag: 'alternative <direction>',
  }),
  correction: oneOf(['none', 'bh'], {
    default: 'none',
    sentence: "Correction for the number of tests; 'bh' is Benjamini-Hochberg",
    flag: 'correction <method>',
  }),
  method: oneOf(['stephens', 'exact', 'auto'], {
    default: 'stephens',
    sentence: "How p-values of 'ks' are computed",
    flag: null,
  }),
  test: oneOf(SAMPLE_TESTS, {
    default: 'ks',
    sentence: 'Test that compares response times',
    flag: 'test <name>',
  }),
})

export type ResponseTimeOptions = OptionsOf<typeof RESPONSE_TIME_OPTIONS>

/** Correction of p-values for the number of tests: none, or Benjamini-Hochberg. */
export type Correction = ResponseTimeOptions['correction']

/** A test in the context of the others of its family. */
export interface FamilyTest extends SampleComparison {
  /** p corrected over the testable members of the family; `NaN` where this one is not. */
  readonly q: number
  readonly rejected: boolean
}

/** One edge class of a category, compared between the periods. */
export interface EdgeComparison extends Verdict {
  readonly edge: EdgeClass
  readonly number: number
  /** On the critical path in at least half of the requests of either period. */
  readonly onCriticalPath: boolean
  readonly beforeMeanUs: number
  readonly afterMeanUs: number
  readonly beforeSdUs: number
  readonly afterSdUs: number
  readonly test: FamilyTest
}

/** Returns the smallest shift of an edge that matters: a share of the whole, or an edge's even part of it. */
export function largeShiftUs(wholeUs: number, edges: number, share = NEGLIGIBLE): number {
  return wholeUs * Math.min(share, 1 / Math.max(1, edges))
}

/** Tells whether an edge's latencies differ though all edges of its flow are tested. */
export function isSure(test: FamilyTest | null, alpha: number): boolean {
  return test?.rejected === true && test.q < alpha
}

/** Explains why an edge of one period only is not compared. */
const onlyIn = (beforeUs: number, afterUs: number) =>
  Number.isNaN(beforeUs) ? 'only after' : Number.isNaN(afterUs) ? 'only before' : null

/**
 * In words, where the mean went the other way: KS compares distributions where these lie farthest
 * apart, and with `alternative: 'slower'` only where after is slower, so that a part of the requests
 * may be slower although all are faster on average. What is not significant then has no direction.
 */
const directionOf = ({ direction, rejected }: FamilyTest, meanShiftUs: number) => {
  const isAgainst = direction === 'slower' ? meanShiftUs < 0 : meanShiftUs > 0
  if (direction === 'none' || !isAgainst) return direction
  return rejected ? `${direction} in part` : 'none'
}

/** The response times of every category, compared between the periods. */
export class ResponseTimeMutations extends Stage {
  static readonly madeBy: string =
    'what findResponseTimeMutations returns, or comparison.responseTime'
  readonly categories: Categories
  readonly options: ResponseTimeOptions
  readonly #tests: readonly FamilyTest[]
  readonly #edges = new Map<number, readonly EdgeComparison[]>()

  constructor(categories: Categories, options: ResponseTimeOptions, tests: readonly FamilyTest[]) {
    super()
    this.categories = categories
    this.options = options
    this.#tests = tests
  }

  test(category: number): FamilyTest {
    this.categories.root(category)
    return this.#tests[category] as FamilyTest
  }

  /** Returns the same tests, judged at another level or with another correction. */
  judged({ alpha, correction }: Pick<ResponseTimeOptions, 'alpha' | 'correction'>) {
    const options = { ...this.options, alpha, correction }
    return new ResponseTimeMutations(this.categories, options, decideFamily(this.#tests, options))
  }

  /** Returns the size of the change of one category's response times, whatever its p. */
  effect(category: number): EffectSize {
    return effectSize(this.categories.samples(category))
  }

  /**
   * Returns the shift of the category's median; quick to compute. `origin` is the category of these requests before, if
   * it was another. If that had no requests before, its times after stand in.
   */
  medianEffect(category: number, origin = category): MedianEffect {
    const { categories } = this
    const period = categories.count(origin, BEFORE) > 0 ? BEFORE : AFTER
    return medianEffect(categories.samples(category, { category: origin, period }))
  }

  /** Returns the size of the change of one edge class of a category; see `edges` for its number. */
  edgeEffect(category: number, edge: number): EffectSize {
    return effectSize(this.#latencies(category, edge))
  }

  /** Returns the shift of the edge's median; quick to compute. */
  edgeMedianEffect(category: number, edge: number): MedianEffect {
    return medianEffect(this.#latencies(category, edge))
  }

  /** The categories whose response times changed. */
  get mutations(): number[] {
    return this.#tests.flatMap(({ rejected }, category) => (rejected ? [category] : []))
  }

  /**
   * Returns the edges of one category, those on the critical path tested. With a correction, the family is the
   * category's testable edges, at level α · R / m when R of m categories were selected.
   */
  edges(category: number): readonly EdgeComparison[] {
    return getOrInsert(this.#edges, category, () => this.#testEdges(category))
  }

  #testEdges(category: number): readonly EdgeComparison[] {
    const testable = this.#tests.filter((test) => test.testable).length
    const selected = Math.max(1, this.mutations.length)
    const alpha =
      this.options.correction === 'bh'
        ? (this.options.alpha * selected) / Math.max(1, testable)
        : this.options.alpha
    const edges = testEdges(this.categories, category, { ...this.options, alpha })
    const { from, loops } = this.categories.structure(category)
    const [before, after] = [BEFORE, AFTER].map(
      (period) => this.categories.responseTimeMoments(category, period).mean,
    ) as [number, number]
    const largeUs = largeShiftUs(Number.isNaN(before) ? after : before, from.length + loops)
    return edges.map((edge) => {
      const shiftUs = Math.abs(edge.afterMeanUs - edge.beforeMeanUs)
      const isLarge = shiftUs > 0 && shiftUs >= largeUs
      const { testable, q: corrected } = edge.test
      const q = isSure(edge.test, this.options.alpha) ? corrected : testable ? 1 : Number.NaN
      return { ...edge, ...verdictOf(q, this.options, () => [!isLarge && 'too small']) }
    })
  }

  /**
   * Returns one row per category: counts, means, statistic, p, q, and whether it is a mutation. `direction` is that of
   * the test: `slower in part` where the mean went the other way.
   */
  table(): StageTable {
    const { categories } = this
    const mean = (period: Period) => (_: unknown, category: number) =>
      categories.responseTimeMoments(category, period).mean
    return rowTable(
      this.#tests,
      {
        category: (_, category) => category,
        root: (_, category) => categories.root(category),
        before: 'beforeCount',
        after: 'afterCount',
        beforeMeanUs: mean(BEFORE),
        afterMeanUs: mean(AFTER),
        ...own('statistic p q'),
        tested: 'testable',
        direction: (test, category) =>
          directionOf(test, mean(AFTER)(null, category) - mean(BEFORE)(null, category)),
        mutation: 'rejected',
      },
      categories.flows.quantity,
    )
  }

  /**
   * Returns one row per edge class of a category: changed ones first, the largest shift of means first. `rejected` is
   * the result of the test; `changed` is whether it holds after correction for all edges and is at least 1 % of the
   * response time, as pictures mark it, and `why` says why others are not. `beforeSdUs` and `afterSdUs` are standard deviations. For a class of one period
   * only, `direction` says so and comparisons are `NaN`. If the mean moved against the test's result, it says `slower
   * in part` (or `faster in part`).
   */
  edgeTable(category: number): StageTable {
    const shiftUs = ({ beforeMeanUs, afterMeanUs }: EdgeComparison) => afterMeanUs - beforeMeanUs
    const edges = [...this.edges(category)].sort(
      (a, b) =>
        Number(b.changed) - Number(a.changed) ||
        (Math.abs(shiftUs(b)) || 0) - (Math.abs(shiftUs(a)) || 0),
    )
    return rowTable(
      edges,
      {
        from: ({ edge }) => edge.from,
        to: ({ edge }) => edge.to,
        occurrence: ({ edge }) => edge.occurrence,
        ...own('changed why beforeMeanUs afterMeanUs'),
        shiftUs,
        ...own('beforeSdUs afterSdUs'),
        direction: ({ test, beforeMeanUs, afterMeanUs }) =>
          onlyIn(beforeMeanUs, afterMeanUs) ?? directionOf(test, afterMeanUs - beforeMeanUs),
        statistic: ({ test }) => test.statistic ?? Number.NaN,
        p: ({ test }) => test.p ?? Number.NaN,
        tested: ({ test }) => test.testable ?? false,
        rejected: ({ test }) => test.rejected ?? false,
        onCriticalPath: 'onCriticalPath',
      },
      this.categories.flows.quantity,
    )
  }

  /** Returns one row per testable category: how large its change is, with intervals at 95 %. */
  effectTable(): StageTable {
    const ids = this.#tests.flatMap(({ testable }, category) => (testable ? [category] : []))
    const rows = ids.map((category) => ({
      category,
      ...this.test(category),
      ...this.effect(category),
    }))
    return rowTable(
      rows,
      {
        category: 'category',
        root: ({ category }) => this.categories.root(category),
        medianShiftUs: 'medianShiftUs',
        medianLowUs: ({ interval }) => interval[0],
        medianHighUs: ({ interval }) => interval[1],
        meanShiftUs: 'meanShiftUs',
        meanLowUs: ({ meanInterval }) => meanInterval[0],
        meanHighUs: ({ meanInterval }) => meanInterval[1],
        p95ShiftUs: 'p95ShiftUs',
        p95LowUs: ({ p95Interval }) => p95Interval[0],
        p95HighUs: ({ p95Interval }) => p95Interval[1],
        p99ShiftUs: 'p99ShiftUs',
        p99LowUs: ({ p99Interval }) => p99Interval[0],
        p99HighUs: ({ p99Interval }) => p99Interval[1],
        ...own('probabilitySlower wassersteinUs detectableShiftUs p q'),
      },
      this.categories.flows.quantity,
    )
  }

  #latencies(category: number, edge: number) {
    const samples = this.categories.edgeSamples(category)[edge]
    if (samples === undefined) {
      throw new RangeError(`Category ${category} has no edge class ${edge}.`)
    }
    return pairOf(samples)
  }
}

/** Tests the edge classes of one category, on and off the critical path. */
function testEdges(categories: Categories, category: number, options: ResponseTimeOptions) {
  const { edgeClasses } = categories.structure(category)
  const samples = categories.edgeSamples(category)
  const tests = testFamily(samples.map(pairOf), options)
  return samples.map(({ before, after }, number) => ({
    edge: edgeClasses[number] as EdgeComparison['edge'],
    number,
    onCriticalPath: Math.max(before.onCriticalPath, after.onCriticalPath) >= MOST,
    ...spread('before', before),
    ...spread('after', after),
    test: tests[number],
  })) as Omit<EdgeComparison, 'changed' | 'why'>[]
}

function spread(period: 'before' | 'after', { latencyUs, weights }: EdgeSample) {
  const { mean, sd } = moments(latencyUs, weights)
  return { [`${period}MeanUs`]: mean, [`${period}SdUs`]: sd }
}

/** Tests pairs and corrects over the testable; too few samples are tested but never rejected. */
export function testFamily(
  pairs: readonly SamplePair[],
  { alpha, alternative, correction, method, test }: ResponseTimeOptions,
): FamilyTest[] {
  const results = pairs.map((pair) => compareSamples(pair, { test, alternative, method }))
  const q = benjaminiHochberg(results.map(({ p, testable }) => (testable ? p : Number.NaN)))
  const tests = results.map((result, i) => ({ ...result, q: q[i] as number, rejected: false }))
  return decideFamily(tests, { alpha, correction })
}

function decideFamily(
  tests: readonly FamilyTest[],
  { alpha, correction }: Pick<ResponseTimeOptions, 'alpha' | 'correction'>,
): FamilyTest[] {
  return tests.map((test) => {
    const decisive = correction === 'bh' ? test.q : test.p
    return { ...test, rejected: test.testable && decisive < alpha }
  })
}

/**
 * Why a difference does not count as a change. `'not tested'`: too few requests have it, or they do not differ. `'may be chance'`: it is not
 * significant. `'too small'`: for the requests that have it. `'too small in all'`: for all requests together. `'not
 * borne out'`: the order or the times of calls do not bear it out. `'lost spans'`: spans that were lost explain it.
 */
export type Unchanged =
  | 'not tested'
  | 'may be chance'
  | 'too small'
  | 'too small in all'
  | 'not borne out'
  | 'lost spans'

/** Whether a difference counts as a change. */
export interface Verdict {
  /** Whether it is significant, and large enough to matter: what tables, texts and pictures mark. */
  readonly changed: boolean
  /** Why it does not count as changed; `null` if it does. */
  readonly why: Unchanged | null
}

/** Judges a difference by its corrected p, and then by what else speaks against it. */
export function verdictOf(
  q: number,
  { alpha }: { readonly alpha: number },
  against: () => readonly (Unchanged | false)[],
): Verdict {
  const unsure = Number.isNaN(q) ? 'not tested' : q < alpha ? null : 'may be chance'
  const why = unsure ?? against().find((one) => one !== false) ?? null
  return { changed: why === null, why }
}

/** Size of a difference, whatever its p. */
export interface MedianEffect {
  /** Median after − median before, in µs. */
  readonly medianShiftUs: number
  /** Bootstrap confidence interval of that shift at 95 %. */
  readonly interval: readonly [low: number, high: number]
  /** Chance that a random request after is slower than a random one before; ½ for no difference. */
  readonly probabilitySlower: number
}

/** A median effect, with measures that take longer to compute. */
export interface EffectSize extends MedianEffect {
  /** Mean after − mean before, in µs. */
  readonly meanShiftUs: number
  readonly meanInterval: readonly [low: number, high: number]
  /** 95th percentile after − before, in µs: the change for the slowest requests. */
  readonly p95ShiftUs: number
  readonly p95Interval: readonly [low: number, high: number]
  /** 99th percentile after − before, in µs; of fewer than some 300 requests its interval is vague. */
  readonly p99ShiftUs: number
  readonly p99Interval: readonly [low: number, high: number]
  /** Mean difference of a request's time between the periods, in any direction, in µs. */
  readonly wassersteinUs: number
  /**
   * The smallest shift that one rank test at 5 %, not corrected for others, sees in four of five samples of this size,
   * in µs.
   */
  readonly detectableShiftUs: number
}

function medianEffect({ before, after, ...weights }: SamplePair): MedianEffect {
  const given = sortedPair(before, after, false, weights)
  const [beforeWeights, afterWeights] = given.weights ?? []
  const { estimate, low, high } = bootstrapInterval(given.first, given.second, {
    sorted: true,
    beforeWeights,
    afterWeights,
  })
  const { first, second } = given.isUneven ? equalPair(given) : given
  const { probabilitySlower } = mannWhitney(first, second, { sorted: true })
  return { medianShiftUs: estimate, interval: [low, high], probabilitySlower }
}

function effectSize(samples: SamplePair): EffectSize {
  const { before, after, ...weights } = samples
  const shift = (measure: Measure) => {
    const { estimate, low, high } = bootstrapInterval(before, after, { measure, ...weights })
    return { estimate, interval: [low, high] as const }
  }
  const mean = shift('mean')
  const p95 = shift({ quantile: 0.95 })
  const p99 = shift({ quantile: 0.99 })
  const equal = equalSamples(samples)
  return {
    ...medianEffect(samples),
    meanShiftUs: mean.estimate,
    meanInterval: mean.interval,
    p95ShiftUs: p95.estimate,
    p95Interval: p95.interval,
    p99ShiftUs: p99.estimate,
    p99Interval: p99.interval,
    wassersteinUs: wassersteinDistance(equal.before, equal.after).distance,
    detectableShiftUs: detectableShift(equal.before, equal.after.length).shift,
  }
}
