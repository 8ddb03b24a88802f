// Runs once an entry of sorted samples: the loops index with `!`.
import { requireNumbers } from '../core/errors.ts'

export interface DipResult {
  /** Largest distance from the closest distribution with one mode: 1/(2n) to 1/4. */
  readonly statistic: number
  readonly p: number
  /** Number of finite values. */
  readonly count: number
  /** Values that are NaN or infinite, which are left out. */
  readonly ignored: number
}

/**
 * Tests whether values have more than one mode (Hartigan's dip test).
 *
 * Null hypothesis: they come from a distribution with one mode. The dip is the largest distance between their
 * cumulative shares and those of the closest such distribution. Its p-value is that of uniform values, the one-mode
 * distribution with the largest dips. For others, such as long tails of latencies, the test is conservative.
 * Interpolated between simulated quantiles of √n · dip; below 0.0001 extrapolated.
 *
 * Ties are spread evenly over the smallest distance between two values, so that rounding does not
 * look like modes. Values need not be sorted; NaN and infinite ones are left out and counted. Fewer
 * than four values, or equal ones, have one mode (p = 1).
 *
 * Limits: values must be independent. A mode of few values next to a wide one is not found.
 *
 * Source: Hartigan and Hartigan 1985, "The dip test of unimodality", Annals of Statistics
 * 13(1):70-84.
 *
 * @example
 * dipTest([1, 2, 3, 4, 5, 6, 7, 8]).p // 1
 * dipTest([10, 11, 12, 13, 50, 51, 52, 53]).statistic // 0.23125
 */
export function dipTest(values: ArrayLike<number>): DipResult {
  requireNumbers({ values })
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort()
  const count = sorted.length
  const ignored = values.length - count
  if (count < 4 || sorted[0] === sorted[count - 1]) {
    return { statistic: count === 0 ? Number.NaN : 1 / (2 * count), p: 1, count, ignored }
  }
  const statistic = dipOf(withoutTies(sorted))
  return { statistic, p: dipP(statistic, count), count, ignored }
}

function withoutTies(sorted: Float64Array): Float64Array {
  let least = Number.POSITIVE_INFINITY
  for (let i = 1; i < sorted.length; i++) {
    const step = sorted[i]! - sorted[i - 1]!
    if (step > 0 && step < least) least = step
  }
  const spread = sorted.slice()
  for (let first = 0; first < sorted.length; ) {
    let end = first + 1
    while (sorted[end] === sorted[first]) end++
    const ties = end - first
    for (let i = first; i < end; i++) spread[i]! += least * ((i - first + 0.5) / ties - 0.5)
    first = end
  }
  return spread
}

/**
 * Returns the dip: narrows the modal interval until the gap between the curves within it is no larger than the error of
 * the curves beside it, the convex minorant on the left and the concave majorant on the right.
 */
function dipOf(x: Float64Array): number {
  const n = x.length
  const left = convexBefore(x)
  const right = concaveAfter(x)
  let [low, high] = [0, n - 1]
  // In units of 1 / (2n).
  let dip = 1
  for (;;) {
    const minorant = knots(left, high, low).reverse()
    const majorant = knots(right, low, high)
    const gap = largestGap(x, minorant, majorant)
    if (gap.size < dip) break
    const below = minorant.filter((knot) => knot <= gap.low)
    const above = majorant.filter((knot) => knot >= gap.high)
    dip = Math.max(dip, largestRise(x, below, 1), largestRise(x, above, -1))
    if (gap.low === low && gap.high === high) break
    low = gap.low
    high = gap.high
  }
  return dip / (2 * n)
}

/** Returns, for each point, the knot before it on the greatest convex minorant of the points up to it. */
function convexBefore(x: Float64Array): Uint32Array {
  const before = new Uint32Array(x.length)
  for (let j = 1; j < x.length; j++) {
    let knot = j - 1
    while (knot > 0) {
      const next = before[knot]!
      if ((x[j]! - x[knot]!) * (knot - next) < (x[knot]! - x[next]!) * (j - knot)) break
      knot = next
    }
    before[j] = knot
  }
  return before
}

/** Returns, for each point, the knot after it on the least concave majorant of the points from it on, by reflection. */
function concaveAfter(x: Float64Array): Uint32Array {
  const last = x.length - 1
  const before = convexBefore(x.map((_, i) => -x[last - i]!))
  return before.map((_, i) => last - before[last - i]!)
}

function knots(next: Uint32Array, from: number, to: number): number[] {
  const found = [from]
  for (let knot = from; knot !== to; ) {
    knot = next[knot]!
    found.push(knot)
  }
  return found
}

/** Returns the place where the majorant lies furthest above the minorant, at a knot of either; both ascend. */
function largestGap(x: Float64Array, minorant: readonly number[], majorant: readonly number[]) {
  const [low, high] = [minorant[0]!, minorant.at(-1)!]
  const gap = { size: minorant.length === 2 && majorant.length === 2 ? 1 : 0, low, high }
  const offer = (size: number, from: number, to: number) => {
    if (size > gap.size) Object.assign(gap, { size, low: from, high: to })
  }
  let at = 1
  for (const knot of majorant.slice(1, -1)) {
    while (minorant[at]! <= knot) at++
    offer(knot + 1 - heightAt(x, minorant[at - 1]!, minorant[at]!, knot), minorant[at - 1]!, knot)
  }
  at = 1
  for (const knot of minorant.slice(1, -1)) {
    while (majorant[at]! < knot) at++
    offer(heightAt(x, majorant[at - 1]!, majorant[at]!, knot) + 1 - knot, knot, majorant[at]!)
  }
  return gap
}

/** Returns the height at a point of the line between two knots, in points. */
function heightAt(x: Float64Array, from: number, to: number, point: number): number {
  return from + ((x[point]! - x[from]!) * (to - from)) / (x[to]! - x[from]!)
}

/** Returns the largest distance of points above the line between knots, plus one; with −1, below it. */
function largestRise(x: Float64Array, hull: readonly number[], sign: 1 | -1): number {
  let most = 1
  for (let i = 1; i < hull.length; i++) {
    const [from, to] = [hull[i - 1]!, hull[i]!]
    for (let point = from; point <= to; point++) {
      most = Math.max(most, 1 + sign * (point - heightAt(x, from, to, point)))
    }
  }
  return most
}

/** Chances that √n · dip of uniform values is larger than the quantiles below. */
const CHANCES = [0.9, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001]

/** Quantiles by number of values, from 100,000 to 500,000 simulated samples each. */
// biome-ignore format: a row a number of values
const QUANTILES: readonly (readonly [count: number, quantiles: readonly number[]])[] = [
  [4, [0.25, 0.25, 0.315, 0.375, 0.414, 0.447, 0.463, 0.474, 0.484, 0.489, 0.492, 0.495, 0.496]],
  [6, [0.204, 0.301, 0.366, 0.39, 0.404, 0.438, 0.47, 0.496, 0.522, 0.537, 0.55, 0.561, 0.569]],
  [8, [0.232, 0.314, 0.355, 0.401, 0.435, 0.47, 0.49, 0.506, 0.528, 0.551, 0.571, 0.592, 0.605]],
  [10, [0.246, 0.309, 0.376, 0.413, 0.442, 0.476, 0.504, 0.527, 0.554, 0.569, 0.584, 0.605, 0.624]],
  [15, [0.249, 0.324, 0.386, 0.426, 0.459, 0.499, 0.527, 0.551, 0.581, 0.601, 0.622, 0.648, 0.664]],
  [20, [0.254, 0.328, 0.395, 0.435, 0.47, 0.511, 0.54, 0.566, 0.597, 0.619, 0.639, 0.664, 0.68]],
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: a quantile, by chance ln 2
  [30, [0.26, 0.337, 0.405, 0.447, 0.483, 0.527, 0.556, 0.584, 0.616, 0.641, 0.665, 0.6931, 0.719]],
  [50, [0.267, 0.346, 0.416, 0.459, 0.497, 0.542, 0.574, 0.602, 0.637, 0.664, 0.69, 0.72, 0.744]],
  [100, [0.274, 0.355, 0.427, 0.471, 0.511, 0.558, 0.59, 0.62, 0.658, 0.684, 0.71, 0.742, 0.771]],
  [200, [0.28, 0.362, 0.435, 0.481, 0.522, 0.57, 0.604, 0.636, 0.674, 0.704, 0.729, 0.758, 0.775]],
  [500, [0.285, 0.368, 0.443, 0.488, 0.529, 0.579, 0.613, 0.646, 0.685, 0.714, 0.742, 0.78, 0.8]],
  [2000, [0.29, 0.373, 0.45, 0.497, 0.539, 0.591, 0.625, 0.661, 0.706, 0.736, 0.762, 0.792, 0.806]],
]

/**
 * Returns p of a dip. Between sizes, quantiles lie on a line over √n; between quantiles, ln p on one over their
 * squares.
 */
function dipP(dip: number, count: number): number {
  const size = Math.min(count, QUANTILES.at(-1)![0])
  const to = Math.max(
    1,
    QUANTILES.findIndex(([n]) => n >= size),
  )
  const [[n0, low], [n1, high]] = [QUANTILES[to - 1]!, QUANTILES[to]!]
  const share = (Math.sqrt(size) - Math.sqrt(n0)) / (Math.sqrt(n1) - Math.sqrt(n0))
  const quantile = (i: number) => low[i]! + share * (high[i]! - low[i]!)
  const scaled = Math.sqrt(count) * dip
  if (scaled <= quantile(0)) return 1
  let i = 1
  while (i < CHANCES.length - 1 && quantile(i) < scaled) i++
  const [from, until] = [quantile(i - 1) ** 2, quantile(i) ** 2]
  const part = until > from ? (scaled ** 2 - from) / (until - from) : 1
  return CHANCES[i - 1]! * (CHANCES[i]! / CHANCES[i - 1]!) ** part
}
