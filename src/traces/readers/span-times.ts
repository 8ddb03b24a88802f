import { memoized } from '../../core/remembered.ts'
import { readDuration } from '../../core/words.ts'
import type { EpochClock } from '../epoch-clock.ts'

export type TimeUnit = 'ns' | 'us' | 'ms' | 's'

/** Decimal places from a unit down to nanoseconds, and the unit in microseconds. */
const UNITS: Readonly<Record<TimeUnit, readonly [toNanos: number, inUs: number]>> = {
  ns: [0, 1e-3],
  us: [3, 1],
  ms: [6, 1e3],
  s: [9, 1e6],
}

export function isTimeUnit(text: string): text is TimeUnit {
  return Object.hasOwn(UNITS, text)
}

/** Returns a time in digits as nanoseconds, which a double would not hold; `''` for anything else. */
export function nanosOfDigits(text: string, unit: TimeUnit): string {
  const [, whole, fraction = ''] = /^\s*(\d+)(?:\.(\d*))?\s*$/.exec(text) ?? []
  if (whole === undefined) return ''
  const [places] = UNITS[unit]
  return whole + fraction.slice(0, places).padEnd(places, '0')
}

/** Words at the end of names that say a unit. */
const UNIT_WORDS: Readonly<Record<string, TimeUnit>> = {
  ...unitWords('ns', 'ns nano nanos nanosec nanosecond nanoseconds'),
  ...unitWords('us', 'us µs micro micros microsec microsecond microseconds usec'),
  ...unitWords('ms', 'ms milli millis millisec millisecond milliseconds msec'),
  ...unitWords('s', 's sec secs second seconds'),
}

function unitWords(unit: TimeUnit, words: string): Record<string, TimeUnit> {
  return Object.fromEntries(words.split(' ').map((word) => [word, unit]))
}

/** A name small, without separators, and without the unit that it ends with. */
export const plainName = memoized(
  (name: string): { readonly plain: string; readonly unit?: TimeUnit } => {
    const words = name
      .replace(/([a-zµ\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-zµ\d]+/)
      .filter((word) => word !== '' && word !== 'utc')
    const unit = words.length > 1 ? UNIT_WORDS[words.at(-1) ?? ''] : undefined
    if (unit === undefined) return { plain: words.join('') }
    const named = words.slice(0, words.at(-2) === 'unix' && words.length > 2 ? -2 : -1)
    return { plain: named.join(''), unit }
  },
)

const DATE =
  /^\s*(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?\s*(Z|UTC|[+-]\d\d:?\d\d)?\s*$/i
const AMERICAN_DATE = /^\s*(\d\d?\/\d\d?\/\d{4}),?\s+(\d\d?:\d\d:\d\d)(?:\.(\d+))?\s*(AM|PM)?\s*$/i

/** Returns the whole seconds since 1970 of a date as text, and the remaining nanoseconds. */
export function momentOf(text: string): readonly [seconds: number, nanos: number] | undefined {
  const at = (date: string, fraction = '') =>
    [Date.parse(date) / 1e3, Number(fraction.slice(0, 9).padEnd(9, '0'))] as const
  const [, day, minute, second = ':00', fraction, zone = 'Z'] = DATE.exec(text) ?? []
  if (day !== undefined) {
    return at(`${day}T${minute}${second}${/^(z|utc)$/i.test(zone) ? 'Z' : zone}`, fraction)
  }
  const [, american, time, rest, half = ''] = AMERICAN_DATE.exec(text) ?? []
  if (american === undefined) return undefined
  // Some write hours up to 23 and the half of the day, too.
  return at(`${american} ${time} ${Number.parseInt(time ?? '', 10) > 12 ? '' : half} UTC`, rest)
}

export function isDate(value: unknown): boolean {
  return typeof value === 'string' && momentOf(value) !== undefined
}

/** Returns the offset of a moment: a date, seconds and nanoseconds, or a number in `unit` since 1970. */
export function offsetOf(value: unknown, unit: TimeUnit, clock: EpochClock): number {
  if (typeof value === 'number') {
    return unit === 'us'
      ? clock.offsetOfMicros(value)
      : clock.offsetOfNanos(nanosOfDigits(String(value), unit))
  }
  if (typeof value === 'string') {
    const nanos = unit === 'ns' && /^\d+$/.test(value) ? value : nanosOfDigits(value, unit)
    if (nanos !== '') return clock.offsetOfNanos(nanos)
    if (/^\s*-\d/.test(value)) return clock.offsetOfMicros(Number(value) * UNITS[unit][1])
    const moment = momentOf(value)
    return moment === undefined ? Number.NaN : clock.offset(moment[0], moment[1] / 1e3)
  }
  if (Array.isArray(value) && value.length === 2)
    return clock.offset(Number(value[0]), Number(value[1]) / 1e3)
  return Number.NaN
}

const CLOCK_TIME = /^(?:(\d+)\.)?(\d+):(\d\d):(\d\d(?:\.\d+)?)$/

/** Returns a duration in µs: a number in `unit`, `00:00:00.027`, `27.7ms`, or seconds and nanoseconds. */
export function microsOf(value: unknown, unit: TimeUnit): number {
  const [places, inUs] = UNITS[unit]
  if (typeof value === 'number') return places === 0 ? value / 1e3 : value * inUs
  if (typeof value === 'string') {
    const count = value.trim() === '' ? Number.NaN : Number(value)
    if (!Number.isNaN(count)) return places === 0 ? count / 1e3 : count * inUs
    const [, days = '0', hours, minutes, seconds] = CLOCK_TIME.exec(value.trim()) ?? []
    if (hours === undefined) return readDuration(value)
    const whole = (Number(days) * 24 + Number(hours)) * 3600 + Number(minutes) * 60
    return Math.round((whole + Number(seconds)) * 1e9) / 1e3
  }
  if (Array.isArray(value) && value.length === 2)
    return Number(value[0]) * 1e6 + Number(value[1]) / 1e3
  return Number.NaN
}

/** Times since 1970 that are larger are in ns, else in µs, else in ms: each is after 1973. */
const SMALLEST: readonly (readonly [above: number, unit: TimeUnit])[] = [
  [1e17, 'ns'],
  [1e14, 'us'],
  [1e11, 'ms'],
]

/** Returns the unit of a time since 1970, by its size. */
export function unitBySize(time: number): TimeUnit {
  return SMALLEST.find(([above]) => time > above)?.[1] ?? 's'
}

/** Whether a time since 1970 is after 2001 and before 2128, in this unit. */
export function isPlausible(time: number, unit: TimeUnit): boolean {
  const us = time * UNITS[unit][1]
  return us > 1e15 && us < 5e15
}

export function inNanos(unit: TimeUnit): bigint {
  return 10n ** BigInt(UNITS[unit][0])
}

export function inMicros(unit: TimeUnit): number {
  return UNITS[unit][1]
}
