import { formatDuration, percent, shortNumber } from './words.ts'

/** A quantity and its unit; `null` for durations, which have several. */
export interface Quantity {
  readonly name: string
  readonly unit: string | null
}

/** The quantity compared by default. */
export const TIME: Quantity = { name: 'time', unit: null }

export function formatAmount(amount: number, { unit }: Quantity): string {
  if (unit === null) return formatDuration(amount)
  return Number.isFinite(amount) ? `${shortNumber(amount)} ${unit}` : String(amount)
}

/** Returns an amount before and after: `1.04 ms → 2 s`, `512 → 1,024 tokens`; a dash where there is none. */
export function fromToText(before: number, after: number, { unit }: Quantity): string {
  const text = (amount: number) =>
    !Number.isFinite(amount) ? '–' : unit === null ? formatDuration(amount) : shortNumber(amount)
  return `${text(before)} → ${text(after)}${unit === null ? '' : ` ${unit}`}`
}

/** Returns a difference of amounts with its sign: `+1.04 ms`, `−3 tokens`. */
export function signedAmount(difference: number, quantity: Quantity): string {
  return `${difference > 0 ? '+' : ''}${formatAmount(difference, quantity).replace('-', '−')}`
}

/** Writes a difference in words: `1.04 ms longer`, `512 tokens less`. */
export function moreText(difference: number, quantity: Quantity): string {
  const more = quantity.unit === null ? 'longer' : 'more'
  return `${formatAmount(Math.abs(difference), quantity)} ${difference < 0 ? 'less' : more}`
}

/**
 * Returns the words for a change of a quantity: `slower` or `more`; `slowdown` or `increase`; `time saved` or
 * `decrease`.
 */
export function changeWords({ unit }: Quantity, isMore: boolean) {
  const isTime = unit === null
  if (isMore) return { how: isTime ? 'slower' : 'more', change: isTime ? 'slowdown' : 'increase' }
  return { how: isTime ? 'faster' : 'less', change: isTime ? 'time saved' : 'decrease' }
}

/** Above this share, a part is more than the whole; parallel parts may add up to a little more than 1. */
const MOSTLY_ALL = 1.1

/** Writes a part of a change: `72 % of the slowdown`. */
export function partText(part: number, whole: number, quantity: Quantity): string {
  const { change } = changeWords(quantity, whole >= 0)
  return part / whole <= MOSTLY_ALL
    ? `${percent(Math.min(1, part / whole))} of the ${change}`
    : `more than the whole ${change}`
}

/** Writes the same; if it is more than the whole change, also the rest. */
export function partAndRestText(part: number, whole: number, quantity: Quantity): string {
  const own = partText(part, whole, quantity)
  if (part / whole <= MOSTLY_ALL) return own
  return `${own}; all else takes ${moreText(whole - part, quantity)}`
}

/** Returns the place of time that the caller waits and the called service does not work: ` in transit`. */
export function callerSide({ unit }: Quantity): string {
  return unit === null ? ' in transit' : ' at the caller'
}

export function amountsName({ name, unit }: Quantity): string {
  return unit === null ? 'response time' : name
}
