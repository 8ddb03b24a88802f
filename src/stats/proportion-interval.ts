import { bisect } from 'simple-statistics'
import { OptionError, rejectUnknownOptions } from '../core/errors.ts'
import { incompleteBeta } from './distributions.ts'

/**
 * Returns the exact confidence interval of a proportion. At its lower end, at least as many successes have the
 * probability (1 − `level`) / 2; at its upper end, at most as many.
 *
 * Conservative: it covers the true share at least as often as `level` says. Without trials, it is
 * from 0 to 1. Same numbers as `binom.test` of R.
 *
 * Source: Clopper and Pearson 1934, "The use of confidence or fiducial limits illustrated in the
 * case of the binomial".
 *
 * @param options.level default 0.95
 * @throws OptionError for successes outside 0 to `trials`
 *
 * @example
 * proportionInterval(7, 20).map((share) => share.toFixed(4)) // [ '0.1539', '0.5922' ]
 */
export function proportionInterval(
  successes: number,
  trials: number,
  options: { readonly level?: number } = {},
): readonly [low: number, high: number] {
  rejectUnknownOptions(options, ['level'])
  const { level = 0.95 } = options
  if (!(successes >= 0 && successes <= trials)) {
    throw new OptionError('successes', successes, `a number from 0 to the trials, ${trials}`)
  }
  const tail = (1 - level) / 2
  const failures = trials - successes
  return [
    successes === 0 ? 0 : betaQuantile(successes, failures + 1, tail),
    failures === 0 ? 1 : betaQuantile(successes + 1, failures, 1 - tail),
  ]
}

function betaQuantile(a: number, b: number, p: number): number {
  return bisect((share) => incompleteBeta(a, b, share) - p, 0, 1, 60, 1e-15)
}
