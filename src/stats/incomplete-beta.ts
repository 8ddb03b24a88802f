import { OptionError } from '../core/errors.ts'
import { awayFromZero } from './away-from-zero.ts'
import { excessLessLog } from './excess-less-log.ts'
import { stirlingError } from './stirling-error.ts'

/**
 * The regularised incomplete beta function I_x(a, b) = 1/B(a, b) · ∫ from 0 to x of
 * t^(a−1)·(1 − t)^(b−1) dt, to about 1e-11 of its value for a and b up to 50,000.
 *
 * The probability that an F variable with d1 and d2 degrees of freedom exceeds f is
 * I_x(d2/2, d1/2) at x = d2/(d2 + d1·f); that of |t| with d degrees of freedom exceeding t is
 * I_x(d/2, ½) at x = d/(d + t²).
 *
 * @param complement 1 − x, for callers that know it to more digits than the subtraction leaves
 *
 * Sources: continued fraction of Press, Teukolsky, Vetterling and Flannery 2007, "Numerical
 * recipes", 3rd ed., §6.4 (Lentz's method); the common factor as Loader 2000, "Fast and accurate
 * computation of binomial probabilities".
 *
 * @throws OptionError for an a or b not above 0, or an x outside 0 to 1.
 *
 * @example
 * Math.abs(incompleteBeta(2, 1, 0.5) - 0.25) < 1e-15 // true
 */
export function incompleteBeta(a: number, b: number, x: number, complement = 1 - x): number {
  if (!(a > 0 && a < Number.POSITIVE_INFINITY)) throw new OptionError('a', a, 'a number above 0')
  if (!(b > 0 && b < Number.POSITIVE_INFINITY)) throw new OptionError('b', b, 'a number above 0')
  if (!(x >= 0 && x <= 1)) throw new OptionError('x', x, 'a number from 0 to 1')
  if (x === 0) return 0
  if (complement === 0) return 1
  const front = factor(a, b, x, complement)
  return x < (a + 1) / (a + b + 2)
    ? (front * continuedFraction(a, b, x)) / a
    : 1 - (front * continuedFraction(b, a, complement)) / b
}

const PRECISION = 1e-16
const MOST_TERMS = 100_000

function continuedFraction(a: number, b: number, x: number): number {
  let c = 1
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m < MOST_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / awayFromZero(1 + even * d)
    c = awayFromZero(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / awayFromZero(1 + odd * d)
    c = awayFromZero(1 + odd / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < PRECISION * 4) break
  }
  return fraction
}

/**
 * x^a·(1 − x)^b / B(a, b). Both powers and the beta function are taken relative to where the
 * density is largest, so that huge logarithms cancel before they lose digits.
 */
function factor(a: number, b: number, x: number, complement: number): number {
  const n = a + b
  const scale = Math.sqrt((a * b) / (2 * Math.PI * n))
  const rest = stirlingError(a) + stirlingError(b) - stirlingError(n)
  return scale * Math.exp(-deviance(a, n * x) - deviance(b, n * complement) - rest)
}

/** observed·log(observed/expected) + expected − observed, without cancellation near equality. */
function deviance(observed: number, expected: number): number {
  const u = (expected - observed) / observed
  // Where little is expected, 1 + u has lost the digits that the quotient still has.
  return u < -0.1 ? observed * (u - Math.log(expected / observed)) : observed * excessLessLog(u)
}
