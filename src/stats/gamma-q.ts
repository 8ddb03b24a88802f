import { OptionError } from '../core/errors.ts'
import { awayFromZero } from './away-from-zero.ts'
import { excessLessLog } from './excess-less-log.ts'
import { stirlingError } from './stirling-error.ts'

/**
 * The regularised upper incomplete gamma function Q(a, x) = 1/Γ(a) · ∫ from x to ∞ of
 * t^(a−1)·e^(−t) dt, to about 1e-13 of its value for a from ½ to 10,000; for
 * smaller a to about 1e-13 absolute.
 *
 * The probability that a χ² variable with d degrees of freedom exceeds x is gammaQ(d/2, x/2). 1 at
 * x = 0, 0 at ∞.
 *
 * Sources: series and continued fraction of Press, Teukolsky, Vetterling and Flannery 2007,
 * "Numerical recipes", 3rd ed., §6.2 (Lentz's method); the common factor as Loader 2000, "Fast and
 * accurate computation of binomial probabilities".
 *
 * @throws OptionError for an a not above 0, or an x below 0.
 *
 * @example
 * gammaQ(1, 2) === Math.exp(-2) // true
 */
export function gammaQ(a: number, x: number): number {
  if (!(a > 0 && a < Number.POSITIVE_INFINITY)) throw new OptionError('a', a, 'a number above 0')
  if (!(x >= 0)) throw new OptionError('x', x, 'a number, 0 or more')
  if (x === 0) return 1
  if (x === Number.POSITIVE_INFINITY) return 0
  if (a === 1) return Math.exp(-x)
  return x < a + 1 ? 1 - lowerSeries(a, x) : upperFraction(a, x)
}

const PRECISION = 1e-16
const TINY = 1e-300
const MOST_TERMS = 1_000_000

function lowerSeries(a: number, x: number): number {
  let term = 1
  let sum = 1
  for (let n = 1; n < MOST_TERMS && term > sum * PRECISION; n++) {
    term *= x / (a + n)
    sum += term
  }
  return sum * density(a, x)
}

function upperFraction(a: number, x: number): number {
  let b = x + 1 - a
  let c = 1 / TINY
  let d = 1 / b
  let fraction = d
  for (let n = 1; n < MOST_TERMS; n++) {
    const numerator = n * (a - n)
    b += 2
    d = 1 / awayFromZero(numerator * d + b)
    c = awayFromZero(b + numerator / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < PRECISION * 4) break
  }
  return fraction * a * density(a, x)
}

/** x^a·e^(−x) / Γ(a + 1), whose large powers cancel before they are taken. */
function density(a: number, x: number): number {
  const excess = (x - a) / a
  const scale = Math.sqrt(2 * Math.PI * a)
  return Math.exp(-a * excessLessLog(excess) - stirlingError(a)) / scale
}
