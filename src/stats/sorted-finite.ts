// Samples hold up to a million values and are sorted thousands of times: the loops index with `!`.
import { OptionError } from '../core/errors.ts'

/** A sample in ascending order without its NaN and infinite values. */
export interface SortedFinite {
  readonly values: ArrayLike<number>
  /** How many values were NaN or infinite. */
  readonly dropped: number
}

/**
 * Sorts a sample and leaves out what is not finite, counting it.
 *
 * With `sorted: true` the sample is used as it stands, without a copy; infinite values may then
 * stand at either end and NaN at the end, where a typed array's `sort()` puts them.
 *
 * @throws OptionError when `sorted` is true and the sample is not ascending.
 */
export function sortedFinite(sample: ArrayLike<number>, { sorted = false } = {}): SortedFinite {
  const ordered = sorted ? sample : new Float64Array(sample).sort()
  let start = 0
  let end = ordered.length
  while (end > start && !Number.isFinite(ordered[end - 1])) end--
  while (start < end && !Number.isFinite(ordered[start])) start++
  const values = end - start === ordered.length ? ordered : cut(ordered, start, end)
  if (sorted) requireAscending(values)
  return { values, dropped: ordered.length - values.length }
}

function cut(ordered: ArrayLike<number>, start: number, end: number): ArrayLike<number> {
  return ordered instanceof Float64Array
    ? ordered.subarray(start, end)
    : Float64Array.from({ length: end - start }, (_, i) => ordered[start + i]!)
}

function requireAscending(values: ArrayLike<number>): void {
  for (let i = 1; i < values.length; i++) {
    if (values[i]! >= values[i - 1]!) continue
    const found = `${values[i]} follows ${values[i - 1]} at index ${i}`
    throw new OptionError('sorted', true, `false, or ascending samples: ${found}`)
  }
}
