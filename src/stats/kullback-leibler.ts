// Once for every scenario that is tried: the loop indexes with `!`.
import { OptionError, rejectUnknownOptions, requireNumbers } from '../core/errors.ts'

/**
 * Returns the Kullback-Leibler divergence D(p‖q) = Σ p·ln(p/q) of two histograms over the same
 * bins, in nats.
 *
 * `p` and `q` are counts or weights and need not have the same sum. To keep it finite for bins that only `p` has, `q`
 * is padded: q̃ = (q + `padding`) / (Σq + `padding`·bins). Empty bins of `p` add nothing (0·ln 0 = 0).
 *
 * 0 for equal shares without padding; with padding a little more, or below 0 by less than rounding. Not symmetric. NaN
 * if either is all 0.
 *
 * Source: Kullback and Leibler 1951, "On information and sufficiency", The Annals of Mathematical
 * Statistics 22(1):79-86; Ostrowski, Mann and Sandler 2011, §4.
 *
 * @param options `padding` (default 0.5): amount added to every bin of `q`, from 0 up
 * @throws OptionError for histograms of different lengths, negative counts, a negative padding.
 *
 * @example
 * kullbackLeibler([5, 5, 0, 0], [5, 4, 1, 0]) // 0.18734672472070538
 */
export function kullbackLeibler(
  p: ArrayLike<number>,
  q: ArrayLike<number>,
  options: { readonly padding?: number } = {},
): number {
  requireNumbers({ p, q })
  rejectUnknownOptions(options, ['padding'])
  const { padding = 0.5 } = options
  if (p.length !== q.length) {
    throw new OptionError('q', `${q.length} bins`, `${p.length} bins, as many as p has`)
  }
  if (!(padding >= 0)) throw new OptionError('padding', padding, 'a number from 0 up')
  const pTotal = total('p', p)
  const qTotal = total('q', q) + padding * q.length
  if (pTotal === 0 || qTotal === padding * q.length) return Number.NaN
  let sum = 0
  for (let bin = 0; bin < p.length; bin++) {
    if (p[bin]! === 0) continue
    const share = p[bin]! / pTotal
    sum += share * Math.log(share / ((q[bin]! + padding) / qTotal))
  }
  return sum
}

function total(name: string, counts: ArrayLike<number>): number {
  let sum = 0
  for (let bin = 0; bin < counts.length; bin++) {
    if (!(counts[bin]! >= 0)) throw new OptionError(`${name}[${bin}]`, counts[bin], 'a count')
    sum += counts[bin]!
  }
  return sum
}
