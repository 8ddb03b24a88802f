// Families have tens of thousands of tests: the loops index with `!`.
import { bisectLeft } from 'd3-array'
import { OptionError, requireNumbers } from '../core/errors.ts'

/**
 * Returns the Benjamini-Hochberg q-values of a family of p-values, in the given order.
 *
 * Rejecting the hypotheses with q < α keeps the expected share of false ones among the rejected
 * (the false discovery rate) below α. With m tests and p ascending, q_(i) = min over j ≥ i of
 * p_(j)·m/j. Equal p have equal q; q ≥ p; an empty family gives an empty result.
 *
 * A NaN p stands for a test that was not performed: its q is NaN and it does not count in m.
 *
 * Limits: valid for independent tests and for tests that are positively dependent.
 *
 * Source: Benjamini and Hochberg 1995, "Controlling the false discovery rate: a practical and
 * powerful approach to multiple testing", J. Royal Statistical Society B 57(1):289-300.
 *
 * @throws OptionError for a p below 0 or above 1.
 *
 * @example
 * benjaminiHochberg([0.01, 0.04, NaN, 0.02]) // Float64Array(4) [ 0.03, 0.04, NaN, 0.03 ]
 */
export function benjaminiHochberg(p: ArrayLike<number>): Float64Array {
  requireNumbers({ p })
  const values = Float64Array.from(p)
  const wrong = values.findIndex((value) => value < 0 || value > 1)
  if (wrong >= 0) {
    const expected = 'a probability, or NaN for a test not performed'
    throw new OptionError(`p[${wrong}]`, values[wrong], expected)
  }
  const ascending = values.filter((value) => !Number.isNaN(value)).sort()
  const m = ascending.length
  const corrected = new Float64Array(m)
  let smallest = 1
  for (let at = m - 1; at >= 0; at--) {
    smallest = Math.min(smallest, ascending[at]! * (m / (at + 1)))
    corrected[at] = smallest
  }
  return values.map((value) =>
    Number.isNaN(value) ? value : corrected[bisectLeft(ascending, value)]!,
  )
}
