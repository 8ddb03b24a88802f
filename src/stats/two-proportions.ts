import { OptionError } from '../core/errors.ts'
import { normalP, normalQuantile } from './distributions.ts'

export interface TwoProportionsResult {
  /** z: the difference over its standard error under one pooled proportion. */
  readonly statistic: number
  /** Two-sided. */
  readonly p: number
  /** The second proportion less the first. */
  readonly difference: number
  /** 95 % confidence interval of the difference. */
  readonly interval: readonly [low: number, high: number]
}

/** Normal quantile of a 95 % interval. */
const Z = normalQuantile(0.975)

/**
 * Tests whether two groups succeed equally often (two-proportions z-test).
 *
 * Null hypothesis: both groups have one probability of success. Alternative: they differ
 * (two-sided). The statistic is positive when the second group succeeds more often.
 *
 * When all of both groups succeed, or none, there is nothing to tell them apart: statistic 0,
 * p 1. When a group is empty, every field is NaN.
 *
 * Limits: a normal approximation without continuity correction; trust it from about 5 expected
 * successes and 5 expected failures in each group; the interval holds for fewer. Trials must be
 * independent.
 *
 * Sources: Fleiss, Levin and Paik 2003, "Statistical methods for rates and proportions", 3rd ed.,
 * §3.3 (without the correction); Newcombe 1998, "Interval estimation for the difference between
 * independent proportions: comparison of eleven methods", method 10 (the interval).
 *
 * @throws OptionError for a size below 0, or successes outside 0 to the group's size.
 *
 * @example
 * twoProportionsTest(50, 100, 75, 100).difference // 0.25
 */
export function twoProportionsTest(
  successes1: number,
  n1: number,
  successes2: number,
  n2: number,
): TwoProportionsResult {
  requireGroup(1, successes1, n1)
  requireGroup(2, successes2, n2)
  const difference = successes2 / n2 - successes1 / n1
  const pooled = (successes1 + successes2) / (n1 + n2)
  const statistic =
    difference === 0 ? 0 : difference / Math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
  return {
    statistic,
    p: normalP(statistic, 'two-sided'),
    difference,
    interval: differenceInterval(
      { share: successes1 / n1, interval: scoreInterval(successes1, n1) },
      { share: successes2 / n2, interval: scoreInterval(successes2, n2) },
    ),
  }
}

/** A share and its confidence interval. */
interface KnownShare {
  readonly share: number
  readonly interval: readonly [low: number, high: number]
}

/** Returns Newcombe's interval of the second share less the first, from intervals of each. */
export function differenceInterval(
  { share: first, interval: [firstLow, firstHigh] }: KnownShare,
  { share: second, interval: [secondLow, secondHigh] }: KnownShare,
): readonly [low: number, high: number] {
  const difference = second - first
  return [
    difference - Math.hypot(second - secondLow, firstHigh - first),
    difference + Math.hypot(secondHigh - second, first - firstLow),
  ]
}

function scoreInterval(successes: number, n: number): readonly [low: number, high: number] {
  const centre = successes + Z ** 2 / 2
  const width = Z * Math.sqrt((successes * (n - successes)) / n + Z ** 2 / 4)
  return [(centre - width) / (n + Z ** 2), (centre + width) / (n + Z ** 2)]
}

function requireGroup(group: 1 | 2, successes: number, size: number): void {
  if (!(size >= 0 && Number.isFinite(size))) {
    throw new OptionError(`n${group}`, size, 'a number of trials, 0 or more')
  }
  if (!(successes >= 0 && successes <= size)) {
    throw new OptionError(`successes${group}`, successes, `a number from 0 to n${group} (${size})`)
  }
}
