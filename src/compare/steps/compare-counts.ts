import { sum } from 'd3-array'
import { twoSidedTP } from '../../stats/distributions.ts'
import { stratifiedFisherP } from '../../stats/fisher-exact.ts'
import { designEffects, type StretchOptions, StretchSums } from '../../stats/moderated-shifts.ts'
import { BLOCKS, type ChoiceCounts, type WeightSpread } from './time-blocks.ts'

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

/** Fewest chances taken, or left, for the normal approximation; with fewer, counts are tested exactly. */
const MIN_EXPECTED = 5

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
  { perRun = BLOCKS, pairs = null, steady = false }: StretchOptions = {},
): CountsTest[] {
  const sums = all.map((strata) => sumCounts(strata, { perRun, pairs, steady }))
  const design = designEffects(sums, { lasts: false, ...(steady && { maxShared: 1 }) })
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

/** Standard errors by which weights of taken values must differ from the others to tell how they were sampled. */
const INFORMATIVE = 3

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
  return differ > INFORMATIVE * Math.sqrt(variance * (1 / n1 + 1 / n2))
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
  return Math.min(below, above) < MIN_EXPECTED
}

function total(counts: Float64Array, [from, to]: readonly [number, number]): number {
  let sum = 0
  for (let stretch = from; stretch < to; stretch++) sum += counts[stretch] as number
  return sum
}
