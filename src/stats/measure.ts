import { OptionError } from '../core/errors.ts'
import { moments } from './moments.ts'
import { quantile } from './quantile.ts'

/** Measure of a sample to compare: its mean, its median, or another quantile. */
export type Measure = 'mean' | 'median' | { readonly quantile: number }

/** Returns the share a measure is the quantile of, or null for the mean. */
export function quantileOf(measure: Measure): number | null {
  if (measure === 'mean') return null
  if (measure === 'median') return 0.5
  const share = (measure as { quantile?: unknown } | null)?.quantile
  if (typeof share === 'number' && share >= 0 && share <= 1) return share
  const found = typeof share === 'number' ? `{ quantile: ${share} }` : measure
  throw new OptionError('measure', found, `'mean', 'median' or { quantile: 0 to 1 }`)
}

export function measurer(
  measure: Measure,
): (ascending: ArrayLike<number>, weights?: ArrayLike<number>) => number {
  const share = quantileOf(measure)
  return (ascending, weights) =>
    share === null ? moments(ascending, weights).mean : quantile(ascending, share, weights)
}
