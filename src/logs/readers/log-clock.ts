import { OptionError } from '../../core/errors.ts'

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
/** As `dmesg` and `uptime` write seconds since a start. */
const UPTIME = /^\d{1,8}\.\d{6}$/
const MS_PER_DAY = 86_400_000
const US_PER_DAY = MS_PER_DAY * 1000
/** For dates without a year: a leap year, so that February 29 is a day. */
const YEAR = 2000
/** `2015-10-17 21:47:48`, any byte between date and time. */
const ISO_LENGTH = 19

export interface ClockOptions {
  readonly timeZone: string
  readonly dateFormat: string
  readonly timeUnit: TimeUnit
}

/**
 * Reads the times of one file, in microseconds since 1970 or since whatever its numbers count from.
 *
 * The unit of numbers is told by the first one: below 10⁸ they are no time since 1970 and taken for
 * microseconds; from there they are seconds, from 10¹¹ milliseconds, from 10¹⁴ microseconds, from
 * 10¹⁷ nanoseconds. Text with a point and six digits behind it, below 10⁸, is seconds (`12.345678`, as
 * the kernel writes them). Dates without a year begin in 2000, and times without a date on 1970-01-01; when
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
  /** The date of the ISO time before, and its midnight in UTC. */
  #date = ''
  #midnightMs = Number.NaN

  constructor({ timeZone, dateFormat, timeUnit }: ClockOptions) {
    this.#patterns = dateFormat === 'auto' ? KNOWN_PATTERNS : [datePattern(dateFormat)]
    this.#pattern = this.#patterns[0] as DatePattern
    this.#offset = zoneOffset(timeZone)
    this.#usPerUnit = timeUnit === 'auto' ? Number.NaN : US_PER[timeUnit]
  }

  /** Microseconds of a time that is a number. */
  number(time: number): number {
    if (Number.isNaN(this.#usPerUnit)) this.#usPerUnit = unitOf(Math.abs(time))
    return time * this.#usPerUnit
  }

  /** Microseconds of a whole number of nanoseconds, which may have more digits than a double. */
  nanos(digits: string): number {
    return Number(digits.slice(0, -3)) + Number(digits.slice(-3)) / 1000
  }

  /** Microseconds of a time that is text: a number or a date. NaN for what is neither. */
  text(text: string): number {
    const iso = this.#iso(text)
    if (!Number.isNaN(iso)) return iso
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

  /** Nearly all times are `yyyy-MM-dd HH:mm:ss`, with a fraction, on the day of the one before. */
  #iso(text: string): number {
    if (this.#patterns !== KNOWN_PATTERNS || text.length < ISO_LENGTH) return Number.NaN
    if (text.charCodeAt(4) !== 45 || text.charCodeAt(13) !== 58) return Number.NaN
    if (!text.startsWith(this.#date) || this.#date === '') {
      const date = text.slice(0, 10)
      const ms = dayMs(Number(date.slice(0, 4)), Number(date.slice(5, 7)), Number(date.slice(8)))
      if (Number.isNaN(ms)) return Number.NaN
      this.#date = ` ${date}`.slice(1)
      this.#midnightMs = ms
    }
    const seconds = pair(text, 11, 24) * 3600 + pair(text, 14, 60) * 60 + pair(text, 17, 61)
    let at = ISO_LENGTH
    let us = 0
    const point = text.charCodeAt(at)
    if (point === 44 || point === 46) {
      let weight = 1e5
      for (at++; at < text.length; at++, weight /= 10) {
        const digit = text.charCodeAt(at) - 48
        if (digit < 0 || digit > 9) break
        us += digit * weight
      }
    }
    const offset = at === text.length ? undefined : fixedOffset(text.slice(at).trim())
    if (at < text.length && offset === undefined) return Number.NaN
    const wallMs = this.#midnightMs + seconds * 1000
    return (wallMs - (offset ?? this.#offset(wallMs))) * 1000 + us
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

function unitOf(time: number): number {
  if (time < 1e8) return US_PER.us
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

/** Two digits at `at`, NaN where they are none or not below `limit`. */
function pair(text: string, at: number, limit: number): number {
  const tens = text.charCodeAt(at) - 48
  const ones = text.charCodeAt(at + 1) - 48
  if (tens < 0 || tens > 9 || ones < 0 || ones > 9) return Number.NaN
  const value = tens * 10 + ones
  return value < limit ? value : Number.NaN
}

const MS_PER_HOUR = 3_600_000
const OFFSET = /^([+-])(\d\d):?(\d\d)?$/

/** How far a clock on the wall is ahead of UTC, in milliseconds, when it shows `wallMs`. */
type ZoneOffset = (wallMs: number) => number

/** `Z`, `UTC`, `GMT` or `+02:00` in milliseconds ahead of UTC; `undefined` for anything else. */
function fixedOffset(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'UTC' || zone === 'GMT') return 0
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
  return (wallMs) => {
    const hour = Math.floor(wallMs / MS_PER_HOUR)
    // Two steps reach the offset that holds at the instant itself, not at its reading in UTC.
    const offset = known.get(hour) ?? offsetAt(wallMs - offsetAt(wallMs))
    known.set(hour, offset)
    return offset
  }
}

function namedZone(zone: string): (ms: number) => number {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
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

/** A date and time of day as they were written; what was not written is missing. */
interface DateFields {
  readonly year?: number | undefined
  /** 1 to 12. */
  readonly month?: number | undefined
  readonly day?: number | undefined
  readonly hour: number
  readonly minute: number
  readonly second: number
  /** Microseconds within the second. */
  readonly us: number
  /** As it was written: `Z`, `+02:00`, `-0500`. */
  readonly zone?: string | undefined
}

interface DatePattern {
  /** A regular expression without groups. */
  readonly source: string
  readonly hasZone: boolean
  /** What `text` says, `undefined` if it is not written this way. */
  read(text: string): DateFields | undefined
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const ZONE = '(?:Z|UTC|GMT|[+-]\\d\\d:?(?:\\d\\d)?)'
/** Apart from the time, two digits with a sign may as well be the beginning of the text. */
const LONE_ZONE = '(?:Z|UTC|GMT|[+-]\\d\\d:?\\d\\d)'
/** All of the digits or none: half a fraction would leave the rest of it to the text. */
const FRACTION = '(?:[.,](?<fraction>\\d{1,9})(?!\\d)|(?![.,]\\d))'

/** The letters of Java's date patterns, as log4j and logback have them. */
const LETTERS: Readonly<Record<string, readonly [group: string, source: string]>> = {
  yyyy: ['year', '\\d{4}'],
  yy: ['shortYear', '\\d\\d'],
  MMM: ['monthName', '[A-Za-z]{3}'],
  MM: ['month', '\\d\\d'],
  M: ['month', '\\d\\d?'],
  dd: ['day', '\\d\\d'],
  d: ['day', '\\d\\d?'],
  EEE: ['', '[A-Za-z]{3}'],
  HH: ['hour', '\\d\\d'],
  H: ['hour', '\\d\\d?'],
  mm: ['minute', '\\d\\d'],
  ss: ['second', '\\d\\d'],
  Z: ['zone', ZONE],
}

/** A letter run, a quoted text, the fraction with what stands before it, white space, or the rest. */
const PARTS = /'([^']*)'|[.,]S+|([yMdEHmsSZ])\2*|\s+|[\s\S]/g

/**
 * Compiles a date pattern of the letters that log4j, logback and Java have: `yyyy yy MMM MM M dd d
 * EEE HH H mm ss SSS Z`. A fraction (`.SSS` or `,SSS`) may have a point or a comma, one to nine
 * digits, and be missing; white space stands for any; text between single quotes for itself.
 *
 * @throws OptionError for letters that mean nothing here, or no hour, minute or second
 */
export function datePattern(pattern: string): DatePattern {
  const groups: string[] = []
  let named = ''
  for (const [part, quoted] of pattern.matchAll(PARTS)) {
    if (/^[.,]S/.test(part)) {
      groups.push('fraction')
      named += FRACTION
    } else if (/^[A-Za-z]/.test(part)) {
      const [group, source] = LETTERS[part] ?? unknownLetters(pattern, part)
      named += group === '' ? source : `(?<${group}>${source})`
      groups.push(group)
    } else if (/^\s/.test(part)) named += '\\s+'
    else named += (quoted ?? part).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  }
  if (!['hour', 'minute', 'second'].every((group) => groups.includes(group))) {
    throw new OptionError('dateFormat', pattern, 'a pattern with HH, mm and ss')
  }
  const whole = new RegExp(`^${named}$`)
  return {
    source: named.replace(/\(\?<\w+>/g, '(?:'),
    hasZone: groups.includes('zone'),
    read(text) {
      const found = whole.exec(text)?.groups
      return found === undefined ? undefined : fieldsOf(found)
    },
  }
}

function unknownLetters(pattern: string, letters: string): never {
  throw new OptionError(
    'dateFormat',
    pattern,
    `a pattern of ${Object.keys(LETTERS).join(', ')} and .SSS: ${letters} is none of them`,
  )
}

function fieldsOf(found: Readonly<Record<string, string>>): DateFields | undefined {
  const number = (name: string) => (found[name] === undefined ? undefined : Number(found[name]))
  const short = number('shortYear')
  const monthName = found['monthName']?.toLowerCase()
  const month = monthName === undefined ? number('month') : MONTHS.indexOf(monthName) + 1
  if (month === 0) return undefined
  return {
    year: short === undefined ? number('year') : short + (short < 70 ? 2000 : 1900),
    ...{ month, day: number('day') },
    hour: number('hour') ?? 0,
    minute: number('minute') ?? 0,
    second: number('second') ?? 0,
    us: found['fraction'] === undefined ? 0 : Number(`0.${found['fraction']}`) * 1e6,
    zone: found['zone'],
  }
}

const KNOWN_PATTERNS: readonly DatePattern[] = [
  'yyyy-MM-dd HH:mm:ss,SSS',
  'yyyy-MM-dd HH:mm:ss,SSSZ',
  'yyyy-MM-dd HH:mm:ss,SSS Z',
  "yyyy-MM-dd'T'HH:mm:ss.SSS",
  "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
  "yyyy-MM-dd'T'HH:mm:ss.SSS Z",
  'yyyy/MM/dd HH:mm:ss.SSS',
  'yyyy/MM/dd HH:mm:ss.SSSZ',
  'yyyy/MM/dd HH:mm:ss.SSS Z',
  'yyyy-MM-dd-HH.mm.ss.SSSSSS',
  'dd/MMM/yyyy:HH:mm:ss Z',
  'dd MMM yyyy HH:mm:ss,SSS',
  'EEE MMM d HH:mm:ss.SSS yyyy',
  'MMM d HH:mm:ss.SSS',
  'yy/MM/dd HH:mm:ss',
  'MM-dd HH:mm:ss.SSS',
  'yyMMdd HHmmss',
  'HH:mm:ss.SSS',
].map(datePattern)

/** Matches a time written in one of the known ways, with its zone where it has one; no groups. */
export const KNOWN_TIMES = `(?:${KNOWN_PATTERNS.toSorted(
  (a, b) => Number(b.hasZone) - Number(a.hasZone),
)
  .map(({ source }) => source.replace(`\\s+(?:${ZONE})`, `\\s+${LONE_ZONE}`))
  .join('|')})`
