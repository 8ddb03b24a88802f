import { gammaQ } from '../gamma-q.ts'
import type { BinaryCut } from './binary-cut.ts'
import type { CodedColumn } from './coded-column.ts'

/**
 * How likely chance alone would separate the rows of a node as well by the best cut of one column.
 *
 * Null hypothesis: the values of the column are dealt to the rows at random. `statistic` is the
 * squared standardised difference of the two sides' means, one degree of freedom for a cut that was
 * fixed before; see `standardisedGap`. As the best of many cuts was taken, p is the smaller of two
 * bounds. Both: p of one cut times the number of cuts (Bonferroni). Thresholds: the tail of the
 * maximum over all of them (Miller and Siegmund). Sets: the tail of all k levels together, k − 1
 * degrees of freedom, as no division in two separates better than all levels apart (Scheffé).
 *
 * Limits: asymptotic. Rows with missing values count by their weight as if they were whole rows.
 *
 * Sources: Strasser and Weber 1999, "On the asymptotic theory of permutation statistics",
 * Mathematical Methods of Statistics 8:220-250; Miller and Siegmund 1982, "Maximally selected chi
 * square statistics", Biometrics 38(4):1011-1016; Scheffé 1953, "A method for judging all contrasts
 * in the analysis of variance", Biometrika 40:87-104; as the stopping rule of trees, Hothorn, Hornik
 * and Zeileis 2006, "Unbiased recursive partitioning", Journal of Computational and Graphical
 * Statistics 15(3):651-674.
 */
export function selectedCutP(
  statistic: number,
  { log2Cuts, present, range, sets }: Pick<BinaryCut, 'log2Cuts' | 'present' | 'range' | 'sets'>,
): number {
  const bonferroni = gammaQ(0.5, statistic / 2) * 2 ** log2Cuts
  const joint =
    sets === undefined
      ? maximumP(Math.sqrt(statistic), range)
      : gammaQ((present - 1) / 2, statistic / 2)
  // 0 · ∞: so many levels that the number of sets overflows.
  return Math.min(1, joint, Number.isNaN(bonferroni) ? 1 : bonferroni)
}

/** P of the largest of all standardised differences for cuts with shares in `range` on their left. */
function maximumP(largest: number, [low, high]: readonly [number, number]): number {
  // The approximation is one of the tail.
  if (largest < 1.5) return 1
  const density = Math.exp((-largest * largest) / 2) / Math.sqrt(2 * Math.PI)
  const width = Math.log((high * (1 - low)) / ((1 - high) * low))
  return density * ((largest - 1 / largest) * width + 4 / largest)
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
): number {
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
  return total > 1e-12 * squares ? ((count - 1) * between) / total : 0
}
