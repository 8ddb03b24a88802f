import { InvalidArgumentError } from 'commander'
import type { WishTarget } from '../whatif/diagnosis/latency-target.ts'

const WISH = /^p(\d+(?:\.\d+)?)\s*<=?\s*(\d+(?:\.\d+)?)\s*(us|µs|ms|s)$/i
const UNITS: Readonly<Record<string, number>> = { us: 1, µs: 1, ms: 1e3, s: 1e6 }

/** Reads a wish, `p99<300ms`; commander adds the option's name to the message. */
export function wishOption(text: string): WishTarget {
  const [, percents, amount, unit = ''] = WISH.exec(text.trim()) ?? []
  const quantile = Number((Number(percents) / 100).toPrecision(12))
  if (quantile > 0 && quantile < 1) {
    return { quantile, belowUs: Number(amount) * (UNITS[unit.toLowerCase()] as number) }
  }
  throw new InvalidArgumentError(
    "Give a quantile and a time, as 'p99<300ms'; units are us, ms and s.",
  )
}
