import { OptionError } from '../core/errors.ts'

/**
 * Benjamini-Hochberg q-values of a family of p-values, in the order given.
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
  const values = Float64Array.from(p)
  const descending = performedTests(values).sort((i, j) => at(values, j) - at(values, i))
  const q = new Float64Array(values.length).fill(Number.NaN)
  const m = descending.length
  let smallest = 1
  for (const [place, index] of descending.entries()) {
    smallest = Math.min(smallest, at(values, index) * (m / (m - place)))
    q[index] = smallest
  }
  return q
}

function performedTests(p: Float64Array): number[] {
  const performed: number[] = []
  for (const [index, value] of p.entries()) {
    if (Number.isNaN(value)) continue
    if (value < 0 || value > 1) {
      throw new OptionError(`p[${index}]`, value, 'a probability, or NaN for a test not performed')
    }
    performed.push(index)
  }
  return performed
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? Number.NaN
}
