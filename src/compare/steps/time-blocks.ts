// Runs once a request of a step: the loops index with `!`.

import { sum } from 'd3-array'
import { remembered } from '../../core/remembered.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { periodOverlap } from '../../flows/overlap.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { cauchyCombination } from '../../stats/cauchy-combination.ts'
import { clusteredCountsTest } from '../../stats/clustered-counts.ts'
import { twoSidedTP } from '../../stats/distributions.ts'
import { stratifiedFisherP } from '../../stats/fisher-exact.ts'
import {
  type BlockedSample,
  type BlockedStratum,
  designEffects,
  type Lasting,
  logOf,
  type ModeratedShift,
  moderatedShifts,
  type Pairing,
  type StretchOptions,
  StretchSums,
} from '../../stats/moderated-shifts.ts'
import { largerP, RunSums, runMeasure, runShifts, shareMeasure } from '../../stats/run-shifts.ts'
import {
  BLOCKS,
  LARGE,
  MAX_KEPT,
  MIN_SEEN,
  NOTABLE,
  SHORT_STRETCHES,
  SURE,
  WHOLE_LEVEL,
} from '../thresholds.ts'

export interface TimeBlocks {
  /** Number of each request's stretch: those of one run after the other, after last. */
  readonly of: Uint8Array
  /** Stretches that each run has; after has as many. */
  readonly perRun: number
  readonly runs: number
  /** Stretches of both periods that are compared in pairs: a common change is no difference. */
  readonly pairs: Pairing
}

/**
 * Divides after and every run into ten stretches of equally many requests, to measure the drift of levels. Periods of
 * the same time, such as a canary, are divided at the same moments. Separate periods, such as this morning and
 * yesterday's, may both warm up as they begin, or cover the same hours: they are compared phase by phase.
 */
export const timeBlocks = remembered((flows: FlowSet): TimeBlocks => divided(flows, BLOCKS))

/** Divides time into shorter stretches, to find bursts. */
export const shortStretches = remembered((flows: FlowSet) => divided(flows, SHORT_STRETCHES))

function divided(flows: FlowSet, most: number): TimeBlocks {
  const { period, runs, size } = flows
  const of = new Uint8Array(size)
  const perRun = Math.min(most, Math.floor(MAX_KEPT / Math.max(1, runs.length)))
  const pairs = runs.length === 1 ? pairingOf(flows) : null
  const isOfOneTime = pairs === 'time'
  const members = isOfOneTime
    ? [Array.from(period.keys())]
    : [...flows.requestsOfRuns(), flows.requestsOf(AFTER)]
  members.forEach((requests, number) => {
    const arrivalUs = Float64Array.from(requests, (request) => flows.arrivalUs(request))
    const stretches = divideTimes(arrivalUs, perRun)
    requests.forEach((request, i) => {
      const offset = isOfOneTime ? (period[request] as number) : number
      of[request] = perRun * offset + (stretches[i] as number)
    })
  })
  return { of, perRun, runs: runs.length, pairs }
}

/**
 * Returns how stretches of both periods are paired. Adjoining periods are no phases of each other: a level that falls
 * in both simply goes on falling. So phases require a gap as long as the shorter period.
 */
function pairingOf(flows: FlowSet): Pairing {
  const overlap = periodOverlap(flows)
  if (overlap === null) return null
  if (overlap.share >= LARGE) return 'time'
  return overlap.gapUs >= overlap.shorterUs ? 'phase' : null
}

/** Number of chances of an operation to do something, and how often it did, by stretch of time; see `TimeBlocks`. */
export interface ChoiceCounts {
  readonly chances: Float64Array
  readonly made: Float64Array
  /** `undefined` where each counts once. */
  readonly spread?: { readonly chances: WeightSpread; readonly made: WeightSpread } | undefined
}

/** Number of recorded values, and the sum of their squared weights. */
export interface WeightSpread {
  readonly recorded: Float64Array
  readonly squares: Float64Array
}

/** Number of times something was done, by stretch of time and by weight of its request. */
export class StretchCounts {
  readonly counts: Float64Array
  /** `undefined` where each counts once. */
  readonly spread: WeightSpread | undefined
  readonly #counted: Float64Array | undefined

  constructor({ counted }: Pick<FlowSet, 'counted'>, size: number) {
    this.counts = new Float64Array(size)
    this.spread = counted && { recorded: new Float64Array(size), squares: new Float64Array(size) }
    this.#counted = counted
  }

  add(request: number, stretch: number): void {
    const own = this.#counted?.[request] ?? 1
    this.counts[stretch]! += own
    if (this.spread === undefined) return
    this.spread.recorded[stretch]! += 1
    this.spread.squares[stretch]! += own ** 2
  }

  addAll({ counts, spread }: StretchCounts): void {
    for (let i = 0; i < counts.length; i++) {
      this.counts[i]! += counts[i]!
      if (this.spread === undefined) continue
      this.spread.recorded[i]! += spread!.recorded[i]!
      this.spread.squares[i]! += spread!.squares[i]!
    }
  }

  /** Returns these chances together with how often they were taken. */
  choices(made = new StretchCounts({ counted: this.#counted }, this.counts.length)): ChoiceCounts {
    const { counts: chances, spread } = this
    return {
      chances,
      made: made.counts,
      spread: spread && made.spread && { chances: spread, made: made.spread },
    }
  }

  /** Returns a copy, to which other counts can be added. */
  copy(): StretchCounts {
    const copy = new StretchCounts({ counted: this.#counted }, this.counts.length)
    copy.addAll(this)
    return copy
  }
}

/** Divides times into `parts` stretches of as many; gives the number of the stretch that each lies in. */
export function divideTimes(timeUs: Float64Array, parts: number): Uint8Array {
  const stretches = new Uint8Array(timeUs.length)
  ascendingOrder(timeUs).forEach((number, at) => {
    stretches[number] = Math.floor((parts * at) / timeUs.length)
  })
  return stretches
}

/**
 * Tests all steps within runs (`moderatedShifts`) and, of several runs before, against their
 * differences (`runShifts`): p is the larger one.
 */
export function compareTimes(
  measures: readonly (readonly BlockedStratum[])[],
  blocks: TimeBlocks,
): ModeratedShift[] {
  const { perRun, runs, pairs } = blocks
  const tests = testPartsOfAfter(blocks, (part) =>
    moderatedShifts(timesWithin(measures, part), {
      perRun,
      ...(part === null ? { pairs } : { steady: true }),
    }),
  )
  if (runs < 2) return tests
  const between = runShifts(
    measures.map((strata, i) => {
      const measure = runMeasure(strata.map((stratum) => sumsByRun(stratum, perRun, runs)))
      return { ...measure, variance: measure.variance * (tests[i] as ModeratedShift).designEffect }
    }),
  )
  return tests.map((test, i) => ({ ...test, p: largerP(test.p, between[i]) }))
}

function sumsByRun({ before, after }: BlockedStratum, perRun: number, runs: number): RunSums {
  const sums = new RunSums(runs + 1)
  const add = ({ values, blocks }: BlockedSample, runOf: (block: number) => number) => {
    for (let i = 0; i < values.length; i++) {
      sums.add(runOf(blocks[i] as number), logOf(values[i] as number))
    }
  }
  add(before, (block) => Math.floor(block / perRun))
  add(after, () => runs)
  return sums
}

/**
 * Tests shares of choices: `compareCounts`, then between runs. Weighted counts are tested by their worth and reported
 * as they are.
 */
export function compareChoices(
  counted: readonly { readonly strata: readonly ChoiceCounts[] }[],
  blocks: Omit<TimeBlocks, 'of'>,
  { lasts = false }: Pick<CountsOptions, 'lasts'> = {},
): CountsTest[] {
  const { perRun, runs, pairs } = blocks
  const isWeighted = counted.some(({ strata }) => strata.some(({ spread }) => spread))
  if (isWeighted) {
    const worth = counted.map(({ strata }) => ({
      strata: strata.map((stratum) => unweighted(stratum, perRun)),
    }))
    return compareChoices(worth, blocks, { lasts }).map((test, i) => ({
      ...test,
      made: inPeriods(counted[i]!.strata, 'made', perRun),
      chances: inPeriods(counted[i]!.strata, 'chances', perRun),
    }))
  }
  const test = (part: PartOfAfter | null) =>
    compareCounts(
      counted.map(({ strata }) => countsWithin(strata, part)),
      { perRun, lasts, ...(part === null ? { pairs } : { steady: true }) },
    )
  const tests = testPartsOfAfter(blocks, test)
  if (runs < 2) return tests
  const byRun = (counts: Float64Array) =>
    Array.from({ length: runs + 1 }, (_, run) => total(counts, [run * perRun, (run + 1) * perRun]))
  const between = runShifts(
    counted.map(({ strata }) =>
      shareMeasure(
        strata.map(({ made, chances }) => ({ made: byRun(made), chances: byRun(chances) })),
      ),
    ),
  )
  return tests.map((test, i) => ({ ...test, p: largerP(test.p, between[i]) }))
}

/**
 * Tests how often things are done: `compareChoices`, of one run before together with `compareRare` for rare ones, of
 * which the ratio of rates tells more than their difference.
 */
export function compareActions(
  counted: readonly { readonly strata: readonly ChoiceCounts[] }[],
  blocks: Omit<TimeBlocks, 'of'>,
): CountsTest[] {
  const tests = compareChoices(counted, blocks)
  if (blocks.runs > 1) return tests
  const isRare = ({ made, chances, p }: CountsTest) =>
    !Number.isNaN(p) && sum(made) <= NOTABLE * sum(chances)
  const rare = compareRare(
    tests.map((test, i) =>
      isRare(test) ? counted[i]!.strata.map((one) => unweighted(one, blocks.perRun)) : [],
    ),
    blocks,
  )
  return tests.map((test, i) => ({ ...test, p: cauchyCombination([test.p, rare[i]!.p]) }))
}

/** Calls, or spans, that may do something, and the requests that have any. */
export interface CountedBoth {
  readonly strata: readonly ChoiceCounts[]
  readonly ofRequests: readonly ChoiceCounts[]
}

/** Tests how often things are done in calls and in requests, as calls of one request go together: p is the larger one. */
export function compareBoth(counted: readonly CountedBoth[], blocks: TimeBlocks): CountsTest[] {
  const byRequest = compareActions(
    counted.map(({ ofRequests: strata }) => ({ strata })),
    blocks,
  )
  return compareActions(counted, blocks).map((test, i) => {
    return { ...test, p: Math.max(test.p, byRequest[i]!.p) }
  })
}

/** Tests rare events that may come in bursts, with one run before (`clusteredCountsTest`). */
export function compareRare(
  counted: readonly (readonly ChoiceCounts[])[],
  blocks: Omit<TimeBlocks, 'of'>,
): { readonly p: number }[] {
  return testPartsOfAfter(blocks, (part) =>
    counted.map((strata) => clusteredCountsTest(countsWithin(strata, part), blocks.perRun)),
  )
}

/** Parts of after tested by themselves, and their parts of the level: its end, its beginning. */
const PARTS = [
  { from: 0.3, to: 1, level: 0.02 },
  { from: 0.6, to: 1, level: 0.02 },
  { from: 0, to: 0.7, level: 0.02 },
  { from: 0, to: 0.4, level: 0.02 },
]

export interface PartOfAfter {
  readonly after: number
  readonly from: number
  readonly to: number
}

/**
 * Tests all of after, and parts of it, with the drift learned from before: a change within after would otherwise count
 * as drift and make the test unsure. The smallest p counts, each by its part of the level. If all services drift
 * together, before shows too little drift: of 100 simulated pairs drifting by 10 %, half of which stays, 13 have a
 * finding, 6 without parts.
 */
export function testPartsOfAfter<Test extends { readonly p: number }>(
  { perRun, runs, pairs }: Omit<TimeBlocks, 'of'>,
  test: (part: PartOfAfter | null) => readonly Test[],
): Test[] {
  const whole = test(null)
  // If both periods run at the same time, an event affects both, so parts of after are not tested.
  if (pairs === 'time') return [...whole]
  const after = runs * perRun
  const stretch = (share: number) => after + Math.round(share * perRun)
  const parts = PARTS.map(({ from, to, level }) => ({
    tests: test({ after, from: stretch(from), to: stretch(to) }),
    level,
  }))
  return whole.map((one, i) => {
    if (Number.isNaN(one.p)) return one
    const ofParts = parts.map(({ tests, level }) => (tests[i]?.p ?? Number.NaN) / level)
    const p = Math.min(1, one.p / WHOLE_LEVEL, ...ofParts.filter((p) => !Number.isNaN(p)))
    return { ...one, p }
  })
}

function timesWithin(measures: readonly (readonly BlockedStratum[])[], part: PartOfAfter | null) {
  if (part === null) return measures
  const cut = remembered((stratum: BlockedStratum) => ({
    before: stratum.before,
    after: sampleWithin(stratum.after, part),
  }))
  return measures.map(remembered((strata: readonly BlockedStratum[]) => strata.map(cut)))
}

function countsWithin(strata: readonly ChoiceCounts[], part: PartOfAfter | null) {
  if (part === null) return strata
  const { after, from, to } = part
  const isLeft = (stretch: number) => stretch >= after && (stretch < from || stretch >= to)
  const within = (counts: Float64Array) => counts.map((count, i) => (isLeft(i) ? 0 : count))
  return strata.map(({ chances, made }) => ({ chances: within(chances), made: within(made) }))
}

function sampleWithin({ values, blocks }: BlockedSample, { from, to }: PartOfAfter): BlockedSample {
  const rows: number[] = []
  for (let i = 0; i < values.length; i++) {
    const block = blocks[i] as number
    if (block >= from && block < to) rows.push(i)
  }
  return {
    values: Float64Array.from(rows, (i) => values[i] as number),
    blocks: Float64Array.from(rows, (i) => blocks[i] as number),
  }
}

/** Test of how often a possible event happened, in both periods. */
export interface CountsTest {
  readonly made: readonly [before: number, after: number]
  readonly chances: readonly [before: number, after: number]
  /** Number of equally weighted chances that these are worth; the same number unless weighted. */
  readonly worth: readonly [before: number, after: number]
  /** Difference of the shares of chances taken, after − before, within strata. */
  readonly difference: number
  /** `NaN` where no stratum has chances in both periods, or all or none of them are taken. */
  readonly p: number
}

export interface CountsOptions extends StretchOptions {
  /** Duration of levels; default `false`: none lasts longer than a stretch. */
  readonly lasts?: Lasting
}

/**
 * Tests of many things whether a larger or smaller share of their chances is taken. Null hypothesis: within strata the
 * share is that of before, and drifts as it does within periods. Fisher's exact test for few chances, else Mantel and
 * Haenszel's with continuity correction; if shares vary more than independent calls would (`designEffects`), the larger
 * p with that variance. As R's `fisher.test` and `mantelhaen.test`, but p = 1 below half a call. `runShifts` tests the
 * differences between runs. Sources: Fisher 1922; Mantel and Haenszel 1959; Mantel and Fleiss 1980 (which are too few);
 * Rao and Scott 1992 (design effect of counts).
 */
export function compareCounts(
  all: readonly (readonly ChoiceCounts[])[],
  { perRun = BLOCKS, pairs = null, steady = false, lasts = false }: CountsOptions = {},
): CountsTest[] {
  const sums = all.map((strata) => sumCounts(strata, { perRun, pairs, steady }))
  const design = designEffects(sums, { lasts, ...(steady && { maxShared: 1 }) })
  return sums.map(({ made, chances, weight, excess, ...rest }, i): CountsTest => {
    const effect = design.effects[i] as number
    const df = effect ** 2 / ((effect - 1) ** 2 / (design.df[i] as number))
    const p = pOf({ ...rest, excess }, effect, df)
    return { made, chances, worth: chances, difference: weight === 0 ? 0 : excess / weight, p }
  })
}

/** Counts of as many chances as weighted ones are worth in each period, of the pooled share (`countWorth`). */
export function unweighted(counts: ChoiceCounts, perRun: number): ChoiceCounts {
  const { chances, made, spread } = counts
  if (spread === undefined) return counts
  const split = chances.length - perRun
  const share = Math.min(1, sum(made) / sum(chances))
  const scales = [[0, split] as const, [split, chances.length] as const].map((range) => {
    const momentsOf = (weights: Float64Array, { recorded, squares }: WeightSpread) =>
      [recorded, weights, squares].map((sums) => total(sums, range)) as WeightMoments
    return countWorth(momentsOf(chances, spread.chances), momentsOf(made, spread.made), share)
  })
  const scaled = (all: Float64Array) =>
    all.map((count, stretch) => count * (scales[stretch < split ? 0 : 1] as number))
  return { chances: scaled(chances), made: scaled(made) }
}

/** Number of recorded values, the sum of their weights, and the sum of the squared weights. */
export type WeightMoments = [recorded: number, sum: number, squares: number]

/**
 * Returns the worth of a weighted count as a factor: the share of that many unweighted values varies as much as Σwy /
 * Σw. If the weights of taken values clearly differ from the others (for example because all failures are kept), uses
 * the linearized variance Σw²(y − p)² of the share p. Otherwise weights tell nothing about taken values, and Kish's
 * size is used, which a few values do not sway.
 *
 * Sources: Kish 1965, "Survey Sampling", §8.2; Rao and Scott 1992 (ratios of weighted counts);
 * DuMouchel and Duncan 1983, "Using sample survey weights in multiple regression" (whether they tell).
 */
export function countWorth(all: WeightMoments, taken: WeightMoments, share: number): number {
  const left = all.map((sum, i) => sum - (taken[i] as number)) as [number, number, number]
  const weightOf = ([, sum, squares]: WeightMoments) => squares / sum
  const design = tellApart(all, taken, left)
    ? (1 - share) * weightOf(taken) + share * weightOf(left)
    : weightOf(all)
  return 1 / design || 1
}

function tellApart(
  [count, sum, squares]: WeightMoments,
  [n1, sum1]: WeightMoments,
  [n2, sum2]: WeightMoments,
): boolean {
  const variance = squares / count - (sum / count) ** 2
  const differ = Math.abs(sum1 / n1 - sum2 / n2)
  return differ > SURE * Math.sqrt(variance * (1 / n1 + 1 / n2))
}

/** Sums of both periods, in whole numbers. */
export function inPeriods(
  strata: readonly ChoiceCounts[],
  of: 'made' | 'chances',
  perRun: number,
): [before: number, after: number] {
  const sumOf = (from: number, to?: number) =>
    Math.round(sum(strata, ({ [of]: counts }) => total(counts, [from, to ?? counts.length])))
  const split = (strata[0]?.chances.length ?? perRun) - perRun
  return [sumOf(0, split), sumOf(split)]
}

type Table = readonly [made1: number, n1: number, made2: number, n2: number]

function sumCounts(
  strata: readonly ChoiceCounts[],
  { perRun, pairs, steady }: Required<StretchOptions>,
) {
  const made: [number, number] = [0, 0]
  const chances: [number, number] = [0, 0]
  const used: Table[] = []
  const size = strata[0]?.chances.length ?? 0
  const split = size - perRun
  const runs = Array.from({ length: size / perRun }, () => new StretchSums())
  const both = new StretchSums()
  let [excess, variance, allWeight] = [0, 0, 0]
  for (const stratum of strata) {
    const [x1, x2] = [total(stratum.made, [0, split]), total(stratum.made, [split, size])]
    const [n1, n2] = [total(stratum.chances, [0, split]), total(stratum.chances, [split, size])]
    made[0] += x1
    made[1] += x2
    chances[0] += n1
    chances[1] += n2
    if (n1 === 0 || n2 === 0) continue
    // Weighted counts are no whole numbers, as exact tests want them.
    used.push([Math.round(x1), Math.round(n1), Math.round(x2), Math.round(n2)])
    const share = (x1 + x2) / (n1 + n2)
    const weight = (n1 * n2) / (n1 + n2)
    allWeight += weight
    excess += weight * (x2 / n2 - x1 / n1)
    variance += (weight * (n1 + n2) * share * (1 - share)) / (n1 + n2 - 1)
    for (const [run, sums] of runs.entries()) {
      const range = [run * perRun, (run + 1) * perRun] as const
      const share = total(stratum.made, range) / total(stratum.chances, range)
      const scale = weight / (range[0] < split ? n1 : n2)
      addStretches(pairs ? both : sums, stratum, {
        range,
        share,
        scale: pairs && range[0] < split ? -scale : scale,
        numberOf: (stretch) => (pairs ? stretch % perRun : stretch),
      })
    }
  }
  const share = (made[0] + made[1]) / (chances[0] + chances[1])
  const kurtosis = 1 / (share * (1 - share)) - 6
  return {
    made,
    chances,
    used,
    weight: allWeight,
    excess,
    variance,
    periods: pairs ? [both] : steady ? runs.slice(0, -1) : runs,
    kurtosis,
  }
}

function addStretches(
  sums: StretchSums,
  { made, chances }: ChoiceCounts,
  {
    range: [from, to],
    share,
    scale,
    numberOf,
  }: {
    range: readonly [number, number]
    share: number
    scale: number
    numberOf: (stretch: number) => number
  },
): void {
  for (let stretch = from; stretch < to; stretch++) {
    const [own, count] = [made[stretch] as number, chances[stretch] as number]
    if (count === 0) continue
    const squares = own * (1 - share) ** 2 + (count - own) * share ** 2
    sums.add(numberOf(stretch), scale * (own - count * share), count, scale ** 2 * squares)
  }
}

function pOf(
  { used, excess, variance }: { used: readonly Table[]; excess: number; variance: number },
  designEffect: number,
  df: number,
): number {
  if (used.length === 0 || variance === 0) return Number.NaN
  const corrected = Math.max(0, Math.abs(excess) - 0.5)
  const isExact = used.length === 1 || areFew(used)
  const independent = isExact ? stratifiedFisherP(used) : 0
  if (isExact && designEffect === 1) return independent
  return Math.max(independent, twoSidedTP(corrected / Math.sqrt(variance * designEffect), df))
}

/** Whether the normal distribution of the second counts' sum would be cut off nearby. */
function areFew(used: readonly Table[]): boolean {
  let [below, above] = [0, 0]
  for (const [x1, n1, x2, n2] of used) {
    const expected = ((x1 + x2) * n2) / (n1 + n2)
    below += expected - Math.max(0, x1 + x2 - n1)
    above += Math.min(n2, x1 + x2) - expected
  }
  return Math.min(below, above) < MIN_SEEN
}

function total(counts: Float64Array, [from, to]: readonly [number, number]): number {
  let sum = 0
  for (let stretch = from; stretch < to; stretch++) sum += counts[stretch] as number
  return sum
}
