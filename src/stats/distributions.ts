import { bisect } from 'simple-statistics'
import { OptionError, requireNumbers } from '../core/errors.ts'
import type { Alternative } from './two-sample.ts'

const PRECISION = 1e-16
const TINY = 1e-300
const MAX_TERMS = 1_000_000

/** Returns P(Z > z) of a standard normal Z, with nearly full relative precision far into the tail. */
export function normalTail(z: number): number {
  if (Number.isNaN(z)) return z
  const beyond = 0.5 * gammaQ(0.5, (z * z) / 2)
  return z < 0 ? 1 - beyond : beyond
}

/** Returns the p of a z that is positive if after is slower. */
export function normalP(z: number, alternative: Alternative): number {
  if (alternative === 'two-sided') return 2 * normalTail(Math.abs(z))
  return normalTail(alternative === 'slower' ? z : -z)
}

/**
 * Returns the value below which a standard normal lies with probability `p`, to about 1e-15 of its
 * value.
 *
 * −∞ for 0, ∞ for 1. The upper tail beyond z is the lower one below −z: ask for −normalQuantile(p)
 * rather than normalQuantile(1 − p), which loses digits when p is small.
 *
 * Source: Abramowitz and Stegun 1964, "Handbook of mathematical functions", 26.2.23, for the first of Halley's steps.
 *
 * @throws OptionError for a p outside 0 to 1.
 *
 * @example
 * normalQuantile(0.975).toFixed(6) // '1.959964'
 */
export function normalQuantile(p: number): number {
  requireNumbers({ p: [p] })
  if (!(p >= 0 && p <= 1)) throw new OptionError('p', p, 'a probability from 0 to 1')
  const [tail, center] = [Math.min(p, 1 - p), Math.abs(p - 0.5)]
  if (tail === 0) return p === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  if (center === 0) return 0
  const t = Math.sqrt(-2 * Math.log(tail))
  const first = 2.515517 + t * (0.802853 + t * 0.010328)
  let z = t - first / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
  for (let step = 0; step < 3; step++) {
    // Near the center, what lies within ±z has more digits than what lies beyond.
    const x = (z * z) / 2
    const excess =
      tail > 0.25 ? center - (Math.sign(z) * lowerSeries(0.5, x)) / 2 : normalTail(z) - tail
    const apart = excess * Math.sqrt(2 * Math.PI) * Math.exp(x)
    z += apart / (1 - (z * apart) / 2)
  }
  return p < 0.5 ? -z : z
}

/**
 * Returns the probability that an F variable with `d1` and `d2` degrees of freedom exceeds `f`: the
 * p-value of a ratio of variances, or of the share of variance that a model explains.
 *
 * 1 for an `f` of 0 or less, 0 for an infinite one. Degrees of freedom need not be whole.
 *
 * To about 1e-11 of its value for up to 100,000 degrees of freedom, for any number with `d1` = 1:
 * the two-sided p of a t of √f.
 *
 * Sources: Abramowitz and Stegun 1964, "Handbook of mathematical functions", 26.6.2; Hill 1970,
 * "Algorithm 395: Student's t-distribution", Communications of the ACM 13(10):617-619.
 *
 * @throws OptionError for degrees of freedom that are not above 0, or an `f` that is NaN
 *
 * @example
 * Math.abs(fTail(1, 1, 1) - 0.5) < 1e-15 // true
 */
export function fTail(f: number, d1: number, d2: number): number {
  if (Number.isNaN(f)) throw new OptionError('f', f, 'a number')
  if (f <= 0) return 1
  if (f === Number.POSITIVE_INFINITY) return 0
  if (d1 === 1 && d2 > NEARLY_NORMAL) return nearlyNormalTail(f, d2)
  const both = d2 + d1 * f
  return incompleteBeta(d2 / 2, d1 / 2, d2 / both, (d1 * f) / both)
}

/** Returns the two-sided p of a t with given degrees of freedom; from 1e9 on, that of a normal. */
export function twoSidedTP(t: number, df: number): number {
  return df < 1e9 ? fTail(t * t, 1, df) : normalP(t, 'two-sided')
}

// Degrees of freedom beyond which d2 / (d2 + f) has lost digits of f, and Hill's series all its error.
const NEARLY_NORMAL = 50_000

/** Returns the two-sided tail of t = √f, as that of a normal variable z. */
function nearlyNormalTail(f: number, df: number): number {
  if (!(df < Number.POSITIVE_INFINITY)) throw new OptionError('d2', df, 'a finite number above 0')
  const a = df - 0.5
  const b = 48 * a * a
  const y = a * Math.log1p(f / df)
  const rest = (((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b)
  const z = ((rest + y + 3) / b + 1) * Math.sqrt(y)
  return normalP(z, 'two-sided')
}

/**
 * Returns the regularised incomplete beta function I_x(a, b) = 1/B(a, b) · ∫ from 0 to x of
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

function continuedFraction(a: number, b: number, x: number): number {
  let c = 1
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m < MAX_TERMS / 10; m++) {
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

/** Returns x^a·(1 − x)^b / B(a, b), relative to the largest density, so that logarithms cancel first. */
function factor(a: number, b: number, x: number, complement: number): number {
  const n = a + b
  const scale = Math.sqrt((a * b) / (2 * Math.PI * n))
  const rest = stirlingError(a) + stirlingError(b) - stirlingError(n)
  return scale * Math.exp(-deviance(a, n * x) - deviance(b, n * complement) - rest)
}

/** Returns observed·log(observed/expected) + expected − observed, without cancellation near equality. */
function deviance(observed: number, expected: number): number {
  const u = (expected - observed) / observed
  // Where little is expected, 1 + u has lost the digits that the quotient still has.
  return u < -0.1 ? observed * (u - Math.log(expected / observed)) : observed * excessLessLog(u)
}

/**
 * Returns the regularised upper incomplete gamma function Q(a, x) = 1/Γ(a) · ∫ from x to ∞ of
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
  requireNumbers({ 'a, x': [a, x] })
  if (!(a > 0 && a < Number.POSITIVE_INFINITY)) throw new OptionError('a', a, 'a number above 0')
  if (!(x >= 0)) throw new OptionError('x', x, 'a number, 0 or more')
  if (x === 0) return 1
  if (x === Number.POSITIVE_INFINITY) return 0
  if (a === 1) return Math.exp(-x)
  return x < a + 1 ? 1 - lowerSeries(a, x) : upperFraction(a, x)
}

function lowerSeries(a: number, x: number): number {
  let term = 1
  let sum = 1
  for (let n = 1; n < MAX_TERMS && term > sum * PRECISION; n++) {
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
  for (let n = 1; n < MAX_TERMS; n++) {
    const numerator = n * (a - n)
    b += 2
    d = 1 / awayFromZero(numerator * d + b)
    c = awayFromZero(b + numerator / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < PRECISION * 4) break
  }
  return fraction * a * density(a, x)
}

/** Returns x^a·e^(−x) / Γ(a + 1), whose large powers cancel before they are taken. */
function density(a: number, x: number): number {
  const excess = (x - a) / a
  const scale = Math.sqrt(2 * Math.PI * a)
  if (a < 1) return (Math.exp(a - x - stirlingError(a)) * (x / a) ** a) / scale
  return Math.exp(-a * excessLessLog(excess) - stirlingError(a)) / scale
}

/** Terms of Stirling's series in 1/n², lowest first. */
const SERIES = [
  1 / 12,
  -1 / 360,
  1 / 1260,
  -1 / 1680,
  1 / 1188,
  -691 / 360360,
  1 / 156,
  -3617 / 122400,
]

/**
 * Returns log Γ(n + 1) less Stirling's formula ½·log(2πn) + n·log(n) − n. Source: Loader 2000, "Fast and accurate
 * computation of binomial probabilities".
 */
export function stirlingError(n: number): number {
  if (n >= 10) {
    const square = n * n
    return SERIES.reduceRight((sum, term) => sum / square + term, 0) / n
  }
  // From n + 1: Γ(n + 2) = (n + 1)·Γ(n + 1).
  return stirlingError(n + 1) + (n + 0.5) * Math.log1p(1 / n) - 1
}

/** Returns u − log(1 + u), without cancellation near 0. */
function excessLessLog(u: number): number {
  if (Math.abs(u) > 0.1) return u - Math.log1p(u)
  let sum = 0
  let power = u
  for (let n = 2; n < 30; n++) {
    power *= -u
    sum -= power / n
  }
  return sum
}

/** Returns a value that is safe as a divisor: Lentz's method puts a tiny one in the place of 0. */
function awayFromZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value
}

/** Returns the t that is exceeded to either side with probability `p`; `NaN` without degrees of freedom. */
export function tQuantile(p: number, df: number): number {
  if (!(df > 0)) return Number.NaN
  return p < 1
    ? Math.exp(bisect((log) => twoSidedTP(Math.exp(log), df) - p, -30, 700, 80, 1e-12))
    : 0
}
