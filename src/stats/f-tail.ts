import { OptionError } from '../core/errors.ts'
import { erfc } from './erfc.ts'
import { incompleteBeta } from './incomplete-beta.ts'

/**
 * The probability that an F variable with `d1` and `d2` degrees of freedom exceeds `f`: the p-value
 * of a ratio of variances, or of the share of variance that a model explains.
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

// Beyond so many degrees of freedom d2 / (d2 + f) has lost digits of f, and Hill's series all its error.
const NEARLY_NORMAL = 50_000

/** The two-sided tail of t = √f, as that of a normal variable z. */
function nearlyNormalTail(f: number, df: number): number {
  if (!(df < Number.POSITIVE_INFINITY)) throw new OptionError('d2', df, 'a finite number above 0')
  const a = df - 0.5
  const b = 48 * a * a
  const y = a * Math.log1p(f / df)
  const rest = (((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b)
  const z = ((rest + y + 3) / b + 1) * Math.sqrt(y)
  return erfc(z * Math.SQRT1_2)
}
