import { fisherExact } from '../fisher-exact.ts'
import { gammaQ } from '../gamma-q.ts'
import type { BinaryCut } from './binary-cut.ts'
import type { CodedColumn } from './coded-column.ts'

/**
 * How likely chance alone would separate the rows of a node as well by the best cut of one column.
 *
 * Null hypothesis: the values of the column are dealt to the rows at random. `gap` is the difference
 * of the two sides' means, one degree of freedom for a cut that was fixed before; see
 * `standardisedGap`. As the best of many cuts was taken, p is the smaller of two
 * bounds. Both: p of one cut times the number of cuts (Bonferroni). Thresholds: the tail of the
 * maximum over all of them (Miller and Siegmund). Sets: the tail of all k levels together, k − 1
 * degrees of freedom, as no division in two separates better than all levels apart (Scheffé).
 *
 * Where scores are labels, 0 and 1, p is raised by as much as Fisher's exact p of the cut exceeds
 * that of the normal distribution.
 *
 * Limits: otherwise asymptotic. Rows with missing values count by their weight as if they were whole rows.
 *
 * Sources: Strasser and Weber 1999, "On the asymptotic theory of permutation statistics",
 * Mathematical Methods of Statistics 8:220-250; Miller and Siegmund 1982, "Maximally selected chi
 * square statistics", Biometrics 38(4):1011-1016; Scheffé 1953, "A method for judging all contrasts
 * in the analysis of variance", Biometrika 40:87-104; as the stopping rule of trees, Hothorn, Hornik
 * and Zeileis 2006, "Unbiased recursive partitioning", Journal of Computational and Graphical
 * Statistics 15(3):651-674.
 */
export function selectedCutP(
  gap: Gap,
  { log2Cuts, present, range, sets }: Pick<BinaryCut, 'log2Cuts' | 'present' | 'range' | 'sets'>,
  labels: boolean,
): number {
  const { statistic } = gap
  const single = gammaQ(0.5, statistic / 2)
  const bonferroni = single * 2 ** log2Cuts
  const joint =
    sets === undefined
      ? maximumP(Math.sqrt(statistic), range)
      : gammaQ((present - 1) / 2, statistic / 2)
  // 0 · ∞: so many levels that the number of sets overflows.
  const selected = Math.min(1, joint, Number.isNaN(bonferroni) ? 1 : bonferroni)
  if (!labels || single === 0) return selected
  return Math.min(1, Math.max(selected, (exactP(gap) * selected) / single))
}

/** P of one cut, for scores 0 and 1: two mutations among two rows are no rarity for a normal tail. */
function exactP({ sizes, sums }: Gap): number {
  const cells = [0, 1].map((side) => {
    const hits = wholeRows(Number(sums[side]))
    return { hits, size: hits + wholeRows(Number(sizes[side]) - Number(sums[side])) }
  })
  const [one, other] = cells
  if (one === undefined || other === undefined || one.size === 0 || other.size === 0) return 1
  return fisherExact(one.hits, one.size, other.hits, other.size).p
}

/** Halves go down, also those that the order of adding made a little more or less. */
function wholeRows(weight: number): number {
  return Math.max(0, Math.round(weight - 1e-6))
}

/** P of the largest of all standardised differences for cuts with shares in `range` on their left. */
function maximumP(largest: number, [low, high]: readonly [number, number]): number {
  // The approximation is one of the tail.
  if (largest < 1.5) return 1
  const density = Math.exp((-largest * largest) / 2) / Math.sqrt(2 * Math.PI)
  const width = Math.log((high * (1 - low)) / ((1 - high) * low))
  return density * ((largest - 1 / largest) * width + 4 / largest)
}

/** How far apart the two sides of a cut are. */
export interface Gap {
  /** Square of the standardised difference of means. */
  readonly statistic: number
  /** Of each side the weight of the rows, and of their scores. */
  readonly sizes: readonly [number, number]
  readonly sums: readonly [number, number]
}

/**
 * Square of the difference between the means of `scores` in a node's two sides, in units of the
 * standard deviation that it has when values are dealt to rows at random; 0 where all are the same.
 */
export function standardisedGap(
  { codes }: CodedColumn,
  childOf: (code: number) => number,
  rows: Int32Array,
  weights: Float64Array | undefined,
  scores: ArrayLike<number>,
): Gap {
  const sizes: [number, number] = [0, 0]
  const sums: [number, number] = [0, 0]
  let squares = 0
  for (const [i, row] of rows.entries()) {
    const code = Number(codes[row])
    if (code < 0) continue
    const weight = weights === undefined ? 1 : Number(weights[i])
    const score = Number(scores[row])
    const side = childOf(code) === 0 ? 0 : 1
    sizes[side] += weight
    sums[side] += weight * score
    squares += weight * score * score
  }
  const count = sizes[0] + sizes[1]
  const sum = sums[0] + sums[1]
  const total = squares - (sum * sum) / count
  const apart = sums[0] * sizes[1] - sums[1] * sizes[0]
  const between = (apart * apart) / (sizes[0] * sizes[1] * count)
  const statistic = total > 1e-12 * squares ? ((count - 1) * between) / total : 0
  return { statistic, sizes, sums }
}
