// Runs over every pair of values of every reshuffled history: the loops index with `!`.
import { OptionError, rejectUnknownOptions, requireList, requireNumbers } from '../core/errors.ts'
import { randomSource } from './random.ts'
import { requireCount, requireShare } from './require-option.ts'

export interface EDivisiveOptions {
  /** Chance of any change point where there is none. Default 0.05. */
  readonly alpha?: number
  /** Orders drawn for each test. Default 399. */
  readonly permutations?: number
  /** Default 1. */
  readonly seed?: number
}

/** Fewest values on either side of a change. */
const MIN_SIZE = 3

export interface SeriesChange {
  /** Number of values before the change: the first value at the new level. */
  readonly at: number
  /** The series that changed there, by index, each with its p over all series. */
  readonly series: readonly { readonly index: number; readonly p: number }[]
}

/**
 * Finds where series of values, taken together run by run, change in distribution: E-divisive.
 *
 * Null hypothesis: all orders of the runs are equally likely. The statistic is the largest scaled
 * energy distance between the values before and after any position, of any series over its mean
 * distance of two values; p is its share among reshuffled histories (Westfall and Young's max-T), so
 * that alpha holds for all series together, however they depend on each other. Where a history
 * divides, both parts are tested in the same way at half the level.
 *
 * Series that drift, or lean on the value before, are no random order, and are divided too often.
 * Fewer than six values give no change.
 *
 * Sources: Matteson and James 2014, "A nonparametric approach for multiple change point analysis of
 * multivariate data", Journal of the American Statistical Association 109(505):334-345; Westfall and
 * Young 1993, "Resampling-based multiple testing".
 *
 * @param series of equally many finite values, in the order of runs
 * @throws OptionError for series of several lengths, and values of options that cannot be
 *
 * @example
 * eDivisive([[5, 6, 5, 6, 5, 6, 9, 8, 9, 8, 9, 8]])[0].at // 6
 */
export function eDivisive(
  series: readonly (readonly number[])[],
  options: EDivisiveOptions = {},
): SeriesChange[] {
  requireList('series', series)
  rejectUnknownOptions(options, ['alpha', 'permutations', 'seed'])
  const { alpha = 0.05, permutations = 399, seed = 1 } = options
  requireShare('alpha', alpha)
  requireCount('permutations', permutations)
  const count = series[0]?.length ?? 0
  for (const values of series) {
    requireNumbers({ values })
    if (values.length === count && values.every(Number.isFinite)) continue
    throw new OptionError('series', values, `${count} finite values in each`)
  }
  const random = randomSource(seed)
  const changes: SeriesChange[] = []
  const divide = (from: number, to: number, level: number) => {
    if (to - from < 2 * MIN_SIZE) return
    const distances = series.map((values) => distancesOf(values.slice(from, to)))
    const order = Array.from({ length: to - from }, (_, i) => i)
    const found = distances.map((each) => bestCut(each, order))
    const exceeded = found.map(() => 1)
    for (let draw = 0; draw < permutations; draw++) {
      const shuffled = random.shuffle(order)
      const most = Math.max(...distances.map((each) => bestCut(each, shuffled).statistic))
      for (const [i, { statistic }] of found.entries()) if (most >= statistic) exceeded[i]!++
    }
    const tested = found.map((cut, index) => {
      return { ...cut, index, p: exceeded[index]! / (permutations + 1) }
    })
    const first = tested.reduce((a, b) => (b.statistic > a.statistic ? b : a))
    if (first.p > level) return
    const same = tested.filter(({ at, p }) => p <= level && Math.abs(at - first.at) < MIN_SIZE)
    const told = same.map(({ index, p }) => ({ index, p }))
    changes.push({ at: from + first.at, series: told })
    divide(from, from + first.at, level / 2)
    divide(from + first.at, to, level / 2)
  }
  if (series.length > 0) divide(0, count, alpha)
  return changes.sort((a, b) => a.at - b.at)
}

/** Distances of all pairs over their mean; zeros where all values are equal. */
function distancesOf(values: readonly number[]): Float64Array[] {
  const rows = values.map((a) => Float64Array.from(values, (b) => Math.abs(a - b)))
  const total = rows.reduce((sum, row) => sum + row.reduce((own, each) => own + each, 0), 0)
  const mean = total / (values.length * (values.length - 1))
  return mean > 0 ? rows.map((row) => row.map((each) => each / mean)) : rows
}

/** Returns the position that divides values best, in an order, by the scaled energy distance of the two parts. */
function bestCut(distances: readonly Float64Array[], order: readonly number[]) {
  const count = order.length
  let [across, left, right] = [0, 0, 0]
  for (let i = 0; i < count; i++) for (let j = 0; j < i; j++) right += distances[i]![j]!
  let best = { at: 0, statistic: 0 }
  for (let at = 1; at <= count - MIN_SIZE; at++) {
    const row = distances[order[at - 1]!]!
    let [toLeft, toRight] = [0, 0]
    for (let i = 0; i < at - 1; i++) toLeft += row[order[i]!]!
    for (let i = at; i < count; i++) toRight += row[order[i]!]!
    across += toRight - toLeft
    left += toLeft
    right -= toRight
    if (at < MIN_SIZE) continue
    const [m, n] = [at, count - at]
    const energy = (2 * across) / (m * n) - (2 * left) / (m * (m - 1)) - (2 * right) / (n * (n - 1))
    const statistic = ((m * n) / count) * energy
    if (statistic > best.statistic * (1 + 1e-9)) best = { at, statistic }
  }
  return best
}
