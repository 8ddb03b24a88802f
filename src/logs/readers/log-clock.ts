// Runs once a line of files of gigabytes: the loops index with `!`.
import { getOrInsert } from '../../core/entries.ts'
import { OptionError } from '../../core/errors.ts'
import {
  type DateFields,
  type DatePattern,
  datePattern,
  KNOWN_PATTERNS,
  ZONE_HOURS,
} from './date-patterns.ts'
import type { LineBytes } from './line-bytes.ts'

/** The unit of times that are numbers. */
export const TIME_UNITS = ['auto', 's', 'ms', 'us', 'ns'] as const
export type TimeUnit = (typeof TIME_UNITS)[number]

const US_PER: Readonly<Record<Exclude<TimeUnit, 'auto'>, number>> = {
  s: 1e6,
  ms: 1e3,
  us: 1,
  ns: 1e-3,
}
const NUMBER = /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i
/** As the kernel and Java's garbage collector write seconds since a start. */
const UPTIME = /^\d{1,8}\.\d{3}(?:\d{3})?$/
const MS_PER_DAY = 86_400_000
const US_PER_DAY = MS_PER_DAY * 1000
/** For dates without a year: a leap year, so that February 29 is a day. */
const YEAR = 2000
/** `2015-10-17 21:47:48.`, any byte between date and time. */
const HEAD_LENGTH = 20

export interface ClockOptions {
  readonly timeZone: string
  readonly dateFormat: string
  readonly timeUnit: TimeUnit
}

/**
 * Reads the times of one file, in microseconds since 1970 or since whatever its numbers count from.
 *
 * The unit of numbers is told by their size: where the first is below 10⁸ they are no times since 1970
 * and taken for microseconds; else they are seconds, from 10¹¹ milliseconds, from 10¹⁴ microseconds,
 * from 10¹⁷ nanoseconds. Text with a point and three or six digits behind it, below 10⁸, is seconds
 * (`12.345678`, as the kernel writes them). Dates without a year begin in 2000, and times without a date on 1970-01-01; when
 * they run backwards by more than half a year or half a day, the next year or day has begun.
 */
export class LogClock {
  readonly #patterns: readonly DatePattern[]
  readonly #offset: ZoneOffset
  #usPerUnit: number
  /** The pattern of the time before. */
  #pattern: DatePattern
  #year = YEAR
  #month = 0
  #day = 0
  #lastOfDay = 0
  /** Of the last time on a line: its bytes up to the fraction and behind it, and what these say, in µs. */
  readonly #head = new Uint8Array(HEAD_LENGTH)
  #tail: readonly number[] = []
  #headUs = Number.NaN

  constructor({ timeZone, dateFormat, timeUnit }: ClockOptions) {
    this.#patterns = dateFormat === 'auto' ? KNOWN_PATTERNS : [datePattern(dateFormat)]
    this.#pattern = this.#patterns[0] as DatePattern
    this.#offset = zoneOffset(timeZone)
    this.#usPerUnit = timeUnit === 'auto' ? Number.NaN : US_PER[timeUnit]
  }

  /** Microseconds of a time that is a number. */
  number(time: number): number {
    if (!Number.isNaN(this.#usPerUnit)) return time * this.#usPerUnit
    const unit = unitOf(Math.abs(time))
    // Times since a start may grow past what would be seconds since 1970.
    if (Math.abs(time) < LEAST_EPOCH) this.#usPerUnit = unit
    return time * unit
  }

  /** Microseconds of a whole number of nanoseconds, which may have more digits than a double. */
  nanos(digits: string): number {
    return Number(digits.slice(0, -3)) + Number(digits.slice(-3)) / 1000
  }

  /** Microseconds of a time that is text: a number or a date. NaN for what is neither. */
  text(text: string): number {
    const trimmed = text.trim()
    if (NUMBER.test(trimmed)) {
      if (Number.isNaN(this.#usPerUnit) && UPTIME.test(trimmed)) this.#usPerUnit = US_PER.s
      return this.number(Number(trimmed))
    }
    const fields = this.#pattern.read(trimmed)
    if (fields !== undefined) return this.#usOf(fields)
    for (const pattern of this.#patterns) {
      const found = pattern.read(trimmed)
      if (found === undefined) continue
      this.#pattern = pattern
      return this.#usOf(found)
    }
    return Number.NaN
  }

  /** As `text`, of a time on a line. Of one in the same second as the last, only the fraction is read. */
  onLine(line: LineBytes, from: number, to: number): number {
    const us = this.#headUs + this.#fraction(line.bytes, line.start + from, line.start + to)
    if (!Number.isNaN(us)) return us
    const text = line.text(from, to)
    const [, head = '', tail = ''] = FRACTION.exec(text) ?? []
    this.#headUs = this.text(head.slice(0, -1) + tail)
    this.#head.set(bytesOf(head))
    this.#tail = bytesOf(tail)
    return this.text(text)
  }

  /** What stands between the head and the tail of the time before, in µs; NaN where they differ. */
  #fraction(bytes: Uint8Array, start: number, end: number): number {
    const head = this.#head
    const tail = this.#tail
    const last = end - tail.length
    if (last <= start + head.length) return Number.NaN
    for (let i = 0; i < head.length; i++) if (bytes[start + i] !== head[i]) return Number.NaN
    for (let i = 0; i < tail.length; i++) if (bytes[last + i] !== tail[i]) return Number.NaN
    let us = 0
    let weight = 1e5
    for (let at = start + head.length; at < last; at++, weight /= 10) {
      const digit = bytes[at]! - 48
      if (digit < 0 || digit > 9) return Number.NaN
      us += digit * weight
    }
    return us
  }

  #usOf(fields: DateFields): number {
    const { year, month, day, hour, minute, second, us, zone } = fields
    if (hour > 23 || minute > 59 || second > 60) return Number.NaN
    const ofDay = ((hour * 60 + minute) * 60 + second) * 1e6 + us
    if (month === undefined || day === undefined) return this.#dayOf(ofDay) * US_PER_DAY + ofDay
    const midnight = dayMs(year ?? this.#yearOf(month), month, day)
    const wallMs = midnight + Math.floor(ofDay / 1000)
    const offset = zone === undefined ? this.#offset(wallMs) : (fixedOffset(zone) ?? Number.NaN)
    return (midnight - offset) * 1000 + ofDay
  }

  #yearOf(month: number): number {
    if (this.#month - month > 6) this.#year++
    // A line that is late by a month or two must not count the year twice.
    else if (month - this.#month > 6 && this.#month > 0) return this.#year - 1
    this.#month = month
    return this.#year
  }

  #dayOf(ofDay: number): number {
    if (this.#lastOfDay - ofDay > US_PER_DAY / 2) this.#day++
    else if (ofDay - this.#lastOfDay > US_PER_DAY / 2 && this.#day > 0) return this.#day - 1
    this.#lastOfDay = ofDay
    return this.#day
  }
}

/** An ISO time up to the fraction, and what stands behind it. */
const FRACTION = /^([\d-]{10}.[\d:]{8}[.,])\d+(.*)$/

function bytesOf(ascii: string): number[] {
  return Array.from(ascii, (char) => char.charCodeAt(0))
}

const LEAST_EPOCH = 1e8

function unitOf(time: number): number {
  if (time < LEAST_EPOCH) return US_PER.us
  if (time < 1e11) return US_PER.s
  if (time < 1e14) return US_PER.ms
  return time < 1e17 ? US_PER.us : US_PER.ns
}

/** Midnight of a day in UTC; NaN for days that are not in the calendar. */
function dayMs(year: number, month: number, day: number): number {
  const ms = Date.UTC(year, month - 1, day)
  const date = new Date(ms)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? ms : Number.NaN
}

const MS_PER_HOUR = 3_600_000
const OFFSET = /^([+-])(\d\d):?(\d\d)?$/
/** How far a clock on the wall is ahead of UTC, in milliseconds, when it shows `wallMs`. */
type ZoneOffset = (wallMs: number) => number

/** `Z`, `UTC`, `CET` or `+02:00` in milliseconds ahead of UTC; `undefined` for anything else. */
function fixedOffset(zone: string): number | undefined {
  const named = ZONE_HOURS[zone]
  if (named !== undefined) return named * MS_PER_HOUR
  const [, sign, hours, minutes = '0'] = OFFSET.exec(zone) ?? []
  if (sign === undefined) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

/**
 * The offset of a time zone: fixed, or by name (`Europe/Berlin`), for which it is asked once an hour
 * that occurs. In the hour that a change of clocks repeats, the earlier reading is taken.
 *
 * @throws OptionError for a zone that is not known
 */
function zoneOffset(zone: string): ZoneOffset {
  const fixed = fixedOffset(zone)
  if (fixed !== undefined) return () => fixed
  const offsetAt = namedZone(zone)
  const known = new Map<number, number>()
  return (wallMs) =>
    // Two steps reach the offset that holds at the instant itself, not at its reading in UTC.
    getOrInsert(known, Math.floor(wallMs / MS_PER_HOUR), () => offsetAt(wallMs - offsetAt(wallMs)))
}

function namedZone(zone: string): (ms: number) => number {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    throw new OptionError(
      'timeZone',
      zone,
      "'UTC', an offset as '+02:00', or a name as 'Europe/Berlin'",
    )
  }
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    const wall = Date.UTC(
      ...([part('year'), part('month') - 1, part('day')] as const),
      ...([part('hour'), part('minute'), part('second')] as const),
    )
    return wall - Math.floor(ms / 1000) * 1000
  }
}
