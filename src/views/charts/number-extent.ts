/** A stretch of numbers to draw, with a margin on both sides. */
export interface NumberExtent {
  readonly low: number
  readonly high: number
  /** Whether equal ratios are equally long. */
  readonly isLog: boolean
  /** Whether there is nothing between whole numbers. */
  readonly isWhole: boolean
}

/** Logarithmic when the largest number is more than this many times the smallest. */
const WIDE = 100
/** Share of the stretch on either side that is margin. */
const MARGIN = 0.03

/** What numbers span; 0 to 1 without any. */
export function numberExtent(values: readonly number[]): NumberExtent {
  const least = values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY)
  const most = values.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY)
  const isWhole = values.every((value) => Number.isInteger(value))
  if (values.length === 0) return { low: 0, high: 1, isLog: false, isWhole: true }
  if (least > 0 && most / least > WIDE) {
    const margin = (most / least) ** MARGIN
    return { low: least / margin, high: most * margin, isLog: true, isWhole }
  }
  const margin = most > least ? (most - least) * MARGIN : Math.max(1, Math.abs(least) * 0.1)
  return { low: least - margin, high: most + margin, isLog: false, isWhole }
}

/** The number that lies `share` of the stretch further. */
export function movedAlong(
  { low, high, isLog }: NumberExtent,
  value: number,
  share: number,
): number {
  return isLog ? value * (high / low) ** share : value + share * (high - low)
}

/** Where a number lies in the stretch, from 0 to 1. */
export function shareAlong({ low, high, isLog }: NumberExtent, value: number): number {
  return isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)
}

/**
 * Where to draw the line between numbers up to `threshold` and those above: just beyond the dots of
 * the threshold itself, and not beyond those of the next number.
 */
export function betweenNumbers(
  extent: NumberExtent,
  threshold: number,
  values: readonly number[],
): number {
  const next = values.reduce(
    (least, value) => (value > threshold ? Math.min(least, value) : least),
    Number.POSITIVE_INFINITY,
  )
  const gap = Number.isFinite(next)
    ? shareAlong(extent, next) - shareAlong(extent, threshold)
    : BESIDE
  return movedAlong(extent, threshold, Math.min(BESIDE, gap / 2))
}

/** A little more than dots of one value are spread. */
const BESIDE = 0.028
