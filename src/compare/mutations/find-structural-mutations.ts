import { range, rollups, sum } from 'd3-array'
import { at, getOrInsert } from '../../core/entries.ts'
import { requireStage } from '../../core/errors.ts'
import { defineOptions, number, type OptionsOf, readOptions } from '../../core/options.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, FLOW_OPTIONS, type Period } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { normalP, normalQuantile } from '../../stats/distributions.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { Categories } from '../categories/categories.ts'
import { RESPONSE_TIME_OPTIONS } from './find-response-time-mutations.ts'

/**
 * Finds the categories that hold many more requests than before (structural mutations) or many fewer (precursors:
 * categories that the mutations may have been in before).
 *
 * @param options.smPThreshold more requests than this must have come or gone; default 50. `'auto'` tests each
 *   category's share of the requests of its type instead (Fisher's exact test, corrected): right for short periods, for
 *   long ones, and for unequal load. Changes are then counted from the number of the type's requests after at the
 *   category's share before
 * @param options.counts default: as flows were built, whose `'weighted'` also weights times. `'raw'` compares counts as
 *   they are, which is right when both periods carried the same load; `'scaled'` scales after to as many requests as
 *   before; `'weighted'` counts each request's sampling weight, if one was recorded: a change
 *   must then exceed the threshold by more than the sampling error, and tests count the worth of the sample (Kish 1965,
 *   "Survey Sampling", §8.2). With several runs before, the count is their mean
 * @param options.alpha level of the tests of `'auto'`; default 0.05
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Source: Sambasivan 2013, §2.6.3.
 *
 * @example
 * findStructuralMutations(categories, { smPThreshold: 10 }).mutations
 */
export function findStructuralMutations(
  categories: Categories,
  given: Partial<StructuralOptions> = {},
): StructuralMutations {
  requireStage('findStructuralMutations(categories)', categories, Categories)
  const { flows } = categories
  const read = readOptions(STRUCTURAL_OPTIONS, { counts: flows.counting(), ...given })
  const options = { ...read, counts: flows.counting(read.counts) }
  const { before, after } = comparedCounts(categories, options)
  const changes = after.map((count, category) => count - at(before, category))
  return new StructuralMutations({ categories, options, changes })
}

/** Numbers of requests by category, scaled so that only changes differ between periods. */
export interface ComparedCounts {
  readonly before: Float64Array
  readonly after: Float64Array
  /** Change of each by chance alone: its standard deviation, for Poisson counts. */
  readonly deviation: Float64Array
}

/**
 * Counts the requests of each category as `options` say: with `smPThreshold: 'auto'` those before
 * as many of each type as after.
 */
export function comparedCounts(
  categories: Categories,
  { smPThreshold, counts }: Pick<StructuralOptions, 'smPThreshold' | 'counts'>,
  count = counterOf(categories, counts),
): ComparedCounts {
  const { size } = categories
  const runs = Math.max(1, categories.flows.runs.length)
  const ofAfter = smPThreshold !== 'auto' && counts === 'scaled' ? loadRatio(categories) / runs : 1
  const types = smPThreshold === 'auto' ? countTypes(categories, count) : []
  const ofBefore = Float64Array.from({ length: size }, (_, category) => {
    const { before, after } = types[category] ?? { before: runs, after: 1 }
    return before > 0 ? after / before : 1
  })
  const squares = squareCounterOf(categories, counts)
  return {
    before: ofBefore.map((scale, category) => scale * count(category, BEFORE)),
    after: ofBefore.map((_, category) => ofAfter * count(category, AFTER)),
    deviation: ofBefore.map((scale, category) =>
      Math.sqrt(scale ** 2 * squares(category, BEFORE) + ofAfter ** 2 * squares(category, AFTER)),
    ),
  }
}

function loadRatio({ flows }: Categories): number {
  const after = flows.count(AFTER)
  return after > 0 ? flows.count(BEFORE) / after : 1
}

/** Returns what counts the requests of a category: as many as there are, or as they stand for. */
export function counterOf(
  categories: Categories,
  counts: Counts,
): (category: number, period: Period) => number {
  if (counts !== 'weighted' || categories.flows.weight === undefined) {
    return categories.count.bind(categories)
  }
  return sumOfWeights(categories, (weight) => weight)
}

/** Returns a function that sums the squared weights of a category's requests. */
function squareCounterOf(categories: Categories, counts: Counts) {
  const isWeighted = counts === 'weighted' && categories.flows.weight !== undefined
  return isWeighted
    ? sumOfWeights(categories, (weight) => weight ** 2)
    : categories.count.bind(categories)
}

/** Returns a function that sums the weights of requests, or the results of `of` for each weight. */
function sumOfWeights(categories: Categories, of: (weight: number) => number) {
  const { flows } = categories
  return (category: number, period: Period) =>
    categories
      .members(category, period)
      .reduce((all, request) => all + of(flows.weightOf(request)), 0)
}

export const STRUCTURAL_OPTIONS = defineOptions({
  smPThreshold: number({
    default: 50,
    min: 0,
    or: 'auto',
    unit: 'requests',
    sentence:
      "Requests that a category must gain or lose to count as changed; 'auto' tests its share of the requests of its type",
  }),
  counts: FLOW_OPTIONS.counts,
  alpha: RESPONSE_TIME_OPTIONS.alpha,
})

export type StructuralOptions = OptionsOf<typeof STRUCTURAL_OPTIONS>

export type Counts = StructuralOptions['counts']

/** Kind of change of a category's number of requests. */
export type StructuralLabel = 'structural-mutation' | 'precursor' | 'unchanged'

interface StructuralColumns {
  readonly categories: Categories
  readonly options: StructuralOptions
  /** Change of each category's number of requests, after − before, scaled if so chosen. */
  readonly changes: Float64Array
}

/** Every category's change in its number of requests. */
export class StructuralMutations extends columnarStage<StructuralColumns>() {
  static readonly madeBy: string = 'what findStructuralMutations returns, or comparison.structural'
  #tests: readonly StructuralTest[] | undefined
  #margins: Float64Array | undefined

  /** Returns the test of one category's share of the requests of its type. */
  test(category: number): StructuralTest {
    this.categories.root(category)
    this.#tests ??= testStructures(this.categories, this.options)
    return this.#tests[category] as StructuralTest
  }

  /** Tests requests that moved between categories, separately from other gains and losses of these. */
  testMoves(moves: readonly MovedRequests[]): MovesTest {
    return testMoves(this, moves)
  }

  /** Suggested threshold: by chance, counts change by more in only 5 % of comparisons; see its source. */
  get suggestedThreshold(): number {
    return suggestThreshold(this.categories)
  }

  label(category: number): StructuralLabel {
    const { smPThreshold } = this.options
    if (smPThreshold === 'auto') return this.#testedLabel(category)
    const change = this.changes[category] as number
    this.#margins ??= samplingMargins(this.categories, this.options)
    const least = smPThreshold + (this.#margins[category] as number)
    if (change > least) return 'structural-mutation'
    return -change > least ? 'precursor' : 'unchanged'
  }

  /** Categories that gained more requests than the threshold. */
  get mutations(): number[] {
    return this.#withLabel('structural-mutation')
  }

  /** Categories that lost more requests than the threshold: what mutations may have been. */
  get precursors(): number[] {
    return this.#withLabel('precursor')
  }

  /** Returns one row per category: counts, change, label, and the test of its share of its type. */
  table(): StageTable {
    const { categories } = this
    const count = counterOf(categories, this.options.counts)
    const tests = range(categories.size).map((category) => this.test(category))
    return rowTable(tests, {
      category: (_, category) => category,
      root: (_, category) => categories.root(category),
      before: (_, category) => count(category, BEFORE),
      after: (_, category) => count(category, AFTER),
      change: (_, category) => this.changes[category],
      label: (_, category) => this.label(category),
      ...own('beforeShare afterShare p q'),
    })
  }

  #testedLabel(category: number): StructuralLabel {
    const { rejected, beforeShare, afterShare } = this.test(category)
    if (!rejected) return 'unchanged'
    return afterShare > beforeShare ? 'structural-mutation' : 'precursor'
  }

  #withLabel(label: StructuralLabel): number[] {
    return range(this.categories.size).filter((category) => this.label(category) === label)
  }
}

/** Whether a category holds another share of the requests of its type than before. */
export interface StructuralTest {
  /** Share of the requests of the category's kind, before. */
  readonly beforeShare: number
  readonly afterShare: number
  /** Fisher's exact test of the two shares. */
  readonly p: number
  /** p corrected over the testable categories; `NaN` where this one is not. */
  readonly q: number
  /** Whether even the most uneven split of its requests could have been significant. */
  readonly testable: boolean
  readonly rejected: boolean
}

/** Requests that may have belonged to one category and now belong to another. */
export interface MovedRequests {
  readonly from: number
  readonly to: number
  readonly requests: number
}

/** Whether more requests moved than chance moves. */
export interface MovesTest {
  /** Fisher's exact test of the shares that the moved requests make different, the smaller p of both sides. */
  readonly p: number
  /** p corrected as one more test of the categories. */
  readonly q: number
  /** Whether a category that changed by as many requests would count as changed. */
  readonly isChange: boolean
}

function testMoves(structural: StructuralMutations, moves: readonly MovedRequests[]): MovesTest {
  const { categories, options } = structural
  const { alpha, smPThreshold, counts } = options
  const { sides, tests } = sharesBy(categories)(counts)
  const requests = sum(moves, (move) => move.requests)
  const scale = smPThreshold !== 'auto' && counts === 'scaled' ? loadRatio(categories) : 1
  const p = Math.min(
    ...(['from', 'to'] as const).map((side) => {
      // Requests that come from nowhere leave no category.
      if (side === 'from' && moves.every(({ from, to }) => from === to)) return 1
      const ids = [...new Set(moves.map((move) => move[side]))]
      const types = new Map(ids.map((id) => [categories.root(id), id]))
      const [was, is] = [BEFORE, AFTER].map((period) => ({
        requests: sum(ids, (id) => sides(id, period).requests),
        squares: sum(ids, (id) => sides(id, period).squares),
        all: sum(types.values(), (id) => sides(id, period).all),
        allSquares: sum(types.values(), (id) => sides(id, period).allSquares),
      })) as [ShareOfType, ShareOfType]
      const usual = was.all > 0 ? (is.all / was.all) * was.requests : was.requests
      const moved = ((side === 'to' ? 1 : -1) * requests) / scale
      const own = Math.min(is.all, Math.max(0, usual + moved))
      const squares = is.requests > 0 ? (own * is.squares) / is.requests : own
      return compareShares(was, { ...is, requests: own, squares }).p
    }),
  )
  const testable = tests.map((test) => (test.least < alpha ? test.p : Number.NaN))
  const q = benjaminiHochberg([...testable, p]).at(-1) as number
  return { p, q, isChange: smPThreshold === 'auto' ? q < alpha : requests > smPThreshold }
}

/**
 * Tests every category's share of the requests of its kind, so changes of load or mix do not count as changes of
 * structure. Benjamini-Hochberg over categories that could be significant. Sources: Fisher 1922; Benjamini and Hochberg
 * 1995; Tarone 1990 for leaving out tests that cannot reject.
 */
function testStructures(categories: Categories, { alpha, counts }: StructuralOptions) {
  const { tests } = sharesBy(categories)(counts)
  const q = benjaminiHochberg(tests.map(({ p, least }) => (least < alpha ? p : Number.NaN)))
  return tests.map(({ beforeShare, afterShare, p, least }, category) => ({
    beforeShare,
    afterShare,
    p,
    q: q[category] as number,
    testable: least < alpha,
    rejected: least < alpha && (q[category] as number) < alpha,
  }))
}

const sharesBy = remembered((categories: Categories) =>
  memoized((counts: Counts) => testShares(categories, counts)),
)

/** Requests of some categories, and of their types, in one period. */
interface ShareOfType {
  readonly requests: number
  readonly squares: number
  readonly all: number
  readonly allSquares: number
}

/** Tests each category's share of its type, whatever the level, with the smallest p it could have. */
function testShares(categories: Categories, counts: Counts) {
  const count = counterOf(categories, counts)
  const squares = squareCounterOf(categories, counts)
  const [types, typeSquares] = [countTypes(categories, count), countTypes(categories, squares)]
  const ofPeriod = ({ before, after }: TypeCount, period: Period) =>
    period === BEFORE ? before : after
  const sides = (category: number, period: Period): ShareOfType => ({
    requests: count(category, period),
    squares: squares(category, period),
    all: ofPeriod(types[category] as TypeCount, period),
    allSquares: ofPeriod(typeSquares[category] as TypeCount, period),
  })
  const leastOf = new Map<string, number>()
  const tests = range(categories.size).map((category) => {
    const { counted, ...test } = compareShares(sides(category, BEFORE), sides(category, AFTER))
    const [before, ofBefore, after, ofAfter] = counted
    const least = getOrInsert(leastOf, `${before + after} ${ofBefore} ${ofAfter}`, () =>
      leastP(before + after, ofBefore, ofAfter),
    )
    return { ...test, least }
  })
  return { sides, tests }
}

/** Compares shares of both periods; weighted requests count as as many as the sample is worth. */
function compareShares(was: ShareOfType, is: ShareOfType) {
  const share = (was.requests + is.requests) / (was.all + is.all)
  // Worth of one request in the category and outside it; a side without requests uses the other's.
  const inside = (was.squares + is.squares) / (was.requests + is.requests)
  const worthOf = ({ requests, squares, all, allSquares }: ShareOfType) => {
    const within = requests > 0 ? squares / requests : inside
    const without = all > requests ? (allSquares - squares) / (all - requests) : within
    return 1 / ((1 - share) * within + share * without)
  }
  const counted = [was, is].flatMap((side) => {
    const worth = worthOf(side)
    return [Math.round(side.requests * worth), Math.round(side.all * worth)]
  }) as [before: number, ofBefore: number, after: number, ofAfter: number]
  return {
    beforeShare: was.requests / was.all,
    afterShare: is.requests / is.all,
    counted,
    p: fisherExact(...counted).p,
  }
}

/**
 * Returns the margins of weighted changes for sampling error: it exceeds them in a share `alpha` of comparisons. The
 * margin is 0 if every request was recorded. Requests are recorded independently, each with the inverse of its weight
 * as probability.
 */
function samplingMargins(categories: Categories, { counts, alpha }: StructuralOptions) {
  const margins = new Float64Array(categories.size)
  if (counts !== 'weighted' || categories.flows.weight === undefined) return margins
  const variance = sumOfWeights(categories, (weight) => weight * Math.max(weight - 1, 0))
  const z = normalQuantile(1 - alpha / (2 * categories.size))
  const runs = Math.max(1, categories.flows.runs.length)
  return margins.map(
    (_, one) => z * Math.sqrt(variance(one, BEFORE) / runs ** 2 + variance(one, AFTER)),
  )
}

/** Returns the smallest p that `total` requests could give, if as many as can be fell into one period. */
function leastP(total: number, ofBefore: number, ofAfter: number): number {
  if (ofBefore === 0 || ofAfter === 0) return 1
  const inBefore = Math.min(total, ofBefore)
  const inAfter = Math.min(total, ofAfter)
  return Math.min(
    fisherExact(inBefore, ofBefore, total - inBefore, ofAfter).p,
    fisherExact(total - inAfter, ofBefore, inAfter, ofAfter).p,
  )
}

export interface TypeCount {
  before: number
  after: number
}

function countTypes(categories: Categories, count = categories.count.bind(categories)) {
  const types = new Map<string, TypeCount>()
  return Array.from({ length: categories.size }, (_, category) => {
    const type = getOrInsert(types, categories.requestKind(category), () => ({
      before: 0,
      after: 0,
    }))
    type.before += count(category, BEFORE)
    type.after += count(category, AFTER)
    return type
  })
}

/**
 * Returns the SM_P_THRESHOLD at which a share `alpha` of comparisons without any change find a mutation.
 * Counts are Poisson, so their change has twice the standard deviation of a binomial count; chances
 * of all categories add up to `alpha`. Blunt: `'auto'` tests each category instead.
 */
export function suggestThreshold(categories: Categories, alpha = 0.05): number {
  const before = categories.flows.count(BEFORE)
  const all = before + categories.flows.count(AFTER)
  const afterShare = (all - before) / all
  const totals = range(categories.size).map(
    (category) => categories.count(category, BEFORE) + categories.count(category, AFTER),
  )
  const deviations = rollups(
    totals,
    (alike) => alike.length,
    (total) => 2 * Math.sqrt(total * afterShare * (1 - afterShare)),
  ).filter(([sd]) => sd > 0)
  const chance = (threshold: number) =>
    sum(deviations, ([sd, alike]) => alike * normalP(threshold / sd, 'two-sided'))
  let low = 0
  let high = 1
  while (chance(high) > alpha) high *= 2
  while (high - low > 0.5) {
    const middle = (low + high) / 2
    if (chance(middle) > alpha) low = middle
    else high = middle
  }
  return Math.ceil(high)
}
