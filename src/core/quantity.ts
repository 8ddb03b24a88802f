import { formatDuration, percent, shortNumber } from './words.ts'

/** What amounts are of, and the unit they are written in; `null` for durations, which have several. */
export interface Quantity {
  readonly name: string
  readonly unit: string | null
}

/** What requests are compared by if nothing else is said. */
export const TIME: Quantity = { name: 'time', unit: null }

export function formatAmount(amount: number, { unit }: Quantity): string {
  if (unit === null) return formatDuration(amount)
  return Number.isFinite(amount) ? `${shortNumber(amount)} ${unit}` : String(amount)
}

/** An amount before and after: `1.04 ms → 2 s`, `512 → 1,024 tokens`; a dash where there is none. */
export function fromToText(before: number, after: number, { unit }: Quantity): string {
  const text = (amount: number) =>
    !Number.isFinite(amount) ? '–' : unit === null ? formatDuration(amount) : shortNumber(amount)
  return `${text(before)} → ${text(after)}${unit === null ? '' : ` ${unit}`}`
}

/** A difference of amounts with its sign: `+1.04 ms`, `−3 tokens`. */
export function signedAmount(difference: number, quantity: Quantity): string {
  return `${difference > 0 ? '+' : ''}${formatAmount(difference, quantity).replace('-', '−')}`
}

/** How much more, or less: `1.04 ms longer`, `512 tokens less`. */
export function moreText(difference: number, quantity: Quantity): string {
  const more = quantity.unit === null ? 'longer' : 'more'
  return `${formatAmount(Math.abs(difference), quantity)} ${difference < 0 ? 'less' : more}`
}

/** What becomes of amounts, in words of the field: `slower`, or `more`; `slowdown`, or `increase`; `time saved`, or `decrease`. */
export function changeWords({ unit }: Quantity, isMore: boolean) {
  const isTime = unit === null
  if (isMore) return { how: isTime ? 'slower' : 'more', change: isTime ? 'slowdown' : 'increase' }
  return { how: isTime ? 'faster' : 'less', change: isTime ? 'time saved' : 'decrease' }
}

/** More is said to be more than all of a change; parts that run at the same time may add up to a little more. */
const MOSTLY_ALL = 1.1

/** What part of a change something is: `72 % of the slowdown`. */
export function partText(part: number, whole: number, quantity: Quantity): string {
  const { change } = changeWords(quantity, whole >= 0)
  return part / whole <= MOSTLY_ALL
    ? `${percent(part / whole)} of the ${change}`
    : `more than the whole ${change}`
}

/** The same; where it is more than all of the change, also what all else does. */
export function partAndRestText(part: number, whole: number, quantity: Quantity): string {
  const own = partText(part, whole, quantity)
  if (part / whole <= MOSTLY_ALL) return own
  return `${own}; all else takes ${moreText(whole - part, quantity)}`
}

/** Where the caller's side of a call takes what the called service does not: ` in transit`. */
export function callerSide({ unit }: Quantity): string {
  return unit === null ? ' in transit' : ' at the caller'
}

export function amountsName({ name, unit }: Quantity): string {
  return unit === null ? 'response time' : name
}
