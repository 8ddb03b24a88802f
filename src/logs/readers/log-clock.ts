import { OptionError } from '../../core/errors.ts'
import { inMicros, unitBySize } from '../../traces/readers/span-times.ts'
import type { LineBytes } from './line-bytes.ts'

export const TIME_UNITS = ['auto', 's', 'ms', 'us', 'ns'] as const
export type TimeUnit = (typeof TIME_UNITS)[number]

const NUMBER = /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i
const UPTIME = /^\d{1,8}\.\d{3}(?:\d{3})?$/
const US_PER_DAY = 86_400_000_000
/** For dates without a year: a leap year, so that February 29 is a day. */
const YEAR = 2000

export interface ClockOptions {
  readonly timeZone: string
  readonly dateFormat: string
  readonly timeUnit: TimeUnit
}

/**
 * Reads the times of one file, in microseconds since 1970 or since whatever its numbers count from.
 *
 * The unit of numbers is known by their size: where the first is below 10⁸ they are no times since 1970 and taken for
 * microseconds; else they are seconds, from 10¹¹ milliseconds, from 10¹⁴ microseconds, from 10¹⁷ nanoseconds. Text with
 * a point and three or six digits behind it, below 10⁸, is seconds (`12.345678`, as the kernel writes them). Dates
 * without a year begin in 2000, and times without a date on 1970-01-01; when they run backwards by more than half a
 * year or half a day, the next year or day has begun.
 */
export class LogClock {
  readonly #patterns: readonly DatePattern[]
  readonly #offset: number
  #usPerUnit: number
  #pattern: DatePattern
  readonly #months = new Rollover(12, -1)
  readonly #days = new Rollover(US_PER_DAY, 0)
  /** The second of the last time on a line, and what stands before its fraction and after it. */
  #second = { head: bytesOf(''), tail: bytesOf(''), us: Number.NaN }

  constructor({ timeZone, dateFormat, timeUnit }: ClockOptions) {
    this.#patterns = dateFormat === 'auto' ? KNOWN_PATTERNS : [datePattern(dateFormat)]
    this.#pattern = this.#patterns[0] as DatePattern
    this.#offset = zoneOffset(timeZone)
    if (Number.isNaN(this.#offset)) {
      throw new OptionError('timeZone', timeZone, "'UTC', an offset as '+02:00', or 'CET'")
    }
    this.#usPerUnit = timeUnit === 'auto' ? Number.NaN : inMicros(timeUnit)
  }

  number(time: number): number {
    if (!Number.isNaN(this.#usPerUnit)) return time * this.#usPerUnit
    const size = Math.abs(time)
    if (!(size < LEAST_EPOCH)) return time * inMicros(unitBySize(size))
    // Times since a start may grow past what would be seconds since 1970.
    this.#usPerUnit = 1
    return time
  }

  /** Returns the microseconds of a time as text: a number or a date. NaN for other text. */
  text(text: string): number {
    const trimmed = text.trim()
    if (NUMBER.test(trimmed)) {
      if (Number.isNaN(this.#usPerUnit) && UPTIME.test(trimmed)) this.#usPerUnit = 1e6
      return this.number(Number(trimmed))
    }
    for (const pattern of [this.#pattern, ...this.#patterns]) {
      const found = pattern.read(trimmed)
      if (found === undefined) continue
      this.#pattern = pattern
      return this.#usOf(found)
    }
    return Number.NaN
  }

  /** Works as `text`, for a time on a line. If it lies in the same second as the last, only the fraction is read. */
  onLine(line: LineBytes, from: number, to: number): number {
    const { head, tail, us } = this.#second
    const first = from + head.byteLength
    const last = to - tail.byteLength
    if (first > from && first < last && line.has(head, from) && line.has(tail, last)) {
      const fractionUs = line.number(first, last) * (FRACTION_US[last - first] ?? Number.NaN)
      if (fractionUs >= 0) return us + fractionUs
    }
    const text = line.text(from, to)
    const [, own = '', rest = ''] = ISO_TIME.exec(text) ?? []
    const secondUs = this.text(own.slice(0, -1) + rest)
    this.#second = { head: bytesOf(own), tail: bytesOf(rest), us: secondUs }
    return this.text(text)
  }

  #usOf(fields: DateFields): number {
    const { year, month, day, hour, minute, second, us, zone } = fields
    if (hour > 23 || minute > 59 || second > 60) return Number.NaN
    const ofDay = ((hour * 60 + minute) * 60 + second) * 1e6 + us
    if (month === undefined || day === undefined) {
      return this.#days.roundsTo(ofDay) * US_PER_DAY + ofDay
    }
    const midnight = Date.UTC(year ?? YEAR + this.#months.roundsTo(month), month - 1, day)
    const date = new Date(midnight)
    if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return Number.NaN
    const offset = zone === undefined ? this.#offset : zoneOffset(zone)
    return (midnight - offset) * 1000 + ofDay
  }
}

/** Counts how often values that go round, such as months, began anew. */
class Rollover {
  #rounds = 0
  #last = Number.NaN

  constructor(
    readonly size: number,
    readonly leastRounds: number,
  ) {}

  roundsTo(value: number): number {
    const isLate = value - this.#last > this.size / 2 && this.#rounds > this.leastRounds
    // What is late must not count the round twice.
    if (isLate) return this.#rounds - 1
    if (this.#last - value > this.size / 2) this.#rounds++
    this.#last = value
    return this.#rounds
  }
}

function bytesOf(ascii: string): DataView {
  return new DataView(Uint8Array.from(ascii, (char) => char.charCodeAt(0)).buffer)
}

/** Microseconds of a digit at the end of a fraction, by its length. */
const FRACTION_US = [1e6, 1e5, 1e4, 1e3, 100, 10, 1, 0.1, 0.01, 0.001]
/** ISO time up to the fraction, and the text after it. */
const ISO_TIME = /^([\d-]{10}.[\d:]{8}[.,])\d+(.*)$/

const LEAST_EPOCH = 1e8

const MS_PER_HOUR = 3_600_000
const OFFSET = /^([+-])(\d\d):?(\d\d)?$/

/** `Z`, `UTC`, `CET` or `+02:00` in milliseconds ahead of UTC; NaN for anything else. */
function zoneOffset(zone: string): number {
  const named = ZONE_HOURS[zone]
  if (named !== undefined) return named * MS_PER_HOUR
  const [, sign, hours, minutes = '0'] = OFFSET.exec(zone) ?? []
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? -ms : ms
}

export type DateFields = NonNullable<ReturnType<typeof fieldsOf>>

export interface DatePattern {
  readonly source: string
  readonly hasZone: boolean
  read(text: string): DateFields | undefined
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
export const ZONE_HOURS: Readonly<Record<string, number>> = Object.fromEntries(
  'Z=0 UTC=0 GMT=0 WET=0 WEST=1 BST=1 CET=1 CEST=2 EET=2 EEST=3 MSK=3 JST=9 EST=-5 EDT=-4 CST=-6 CDT=-5 MST=-7 MDT=-6 PST=-8 PDT=-7'
    .split(' ')
    .map((pair) => [pair.replace(/=.*/, ''), Number(pair.replace(/.*=/, ''))]),
)
const ZONE_NAMES = Object.keys(ZONE_HOURS).join('|')
const ZONE = `(?:${ZONE_NAMES}|[+-]\\d\\d:?(?:\\d\\d)?)`
/** Apart from the time, two digits with a sign may as well be the beginning of the text. */
const LONE_ZONE = `(?:${ZONE_NAMES}|[+-]\\d\\d:?\\d\\d)`
/** All of the digits or none: half a fraction would leave the rest of it to the text. */
const FRACTION = '(?:[.,](?<fraction>\\d+)(?!\\d)|(?![.,]\\d))'

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
  hh: ['hour', '\\d\\d'],
  h: ['hour', '\\d\\d?'],
  a: ['half', '[AaPp][Mm]'],
  mm: ['minute', '\\d\\d'],
  ss: ['second', '\\d\\d'],
  Z: ['zone', ZONE],
}

/** Letter run, quoted text, fraction with the character before it, white space, or the rest. */
const PARTS = /'([^']*)'|[.,]S+|([yMdEHhamsSZ])\2*|\s+|[\s\S]/g

const KITCHEN = 'h:mma'

/**
 * Compiles a date pattern of Java's letters (see `LETTERS`). A fraction, `.SSS` or `,SSS`, may have either sign, or
 * be missing; white space stands for any, text between single quotes for itself.
 */
export function datePattern(pattern: string): DatePattern {
  const groups: string[] = []
  let named = ''
  for (const [part, quoted] of pattern.matchAll(PARTS)) {
    if (/^[.,]S/.test(part)) {
      groups.push('fraction')
      named += FRACTION
    } else if (/^[A-Za-z]/.test(part)) {
      const [group, source] = LETTERS[part] ?? []
      if (group === undefined || source === undefined) {
        const known = `${Object.keys(LETTERS).join(', ')} and .SSS`
        throw new OptionError(
          'dateFormat',
          pattern,
          `a pattern of ${known}: ${part} is none of them`,
        )
      }
      named += group === '' ? source : `(?<${group}>${source})`
      groups.push(group)
    } else if (/^\s/.test(part)) named += '\\s+'
    else named += (quoted ?? part).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  }
  const needed = pattern === KITCHEN ? ['hour', 'minute'] : ['hour', 'minute', 'second']
  if (!needed.every((group) => groups.includes(group))) {
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

function fieldsOf(found: Readonly<Record<string, string>>) {
  const number = (name: string) => (found[name] === undefined ? undefined : Number(found[name]))
  const short = number('shortYear')
  const monthName = found['monthName']?.toLowerCase()
  const month = monthName === undefined ? number('month') : MONTHS.indexOf(monthName) + 1
  if (month === 0) return undefined
  const { half } = found
  const hour = number('hour') ?? 0
  return {
    year: short === undefined ? number('year') : short + (short < 70 ? 2000 : 1900),
    month,
    day: number('day'),
    hour: half === undefined ? hour : (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0),
    minute: number('minute') ?? 0,
    second: number('second') ?? 0,
    us: Number((found['fraction'] ?? '').padEnd(6, '0').replace(/^.{6}/, '$&.')),
    /** As it was written: `Z`, `+02:00`, `-0500`. */
    zone: found['zone'],
  }
}

/** Ways to write times that are known, those of one kind on a line; of several that fit the first counts. */
const KNOWN_PATTERNS: readonly DatePattern[] = `
yyyy-MM-dd HH:mm:ss,SSS | yyyy-MM-dd HH:mm:ss,SSSZ | yyyy-MM-dd HH:mm:ss,SSS Z
yyyy-MM-dd'T'HH:mm:ss.SSS | yyyy-MM-dd'T'HH:mm:ss.SSSZ | yyyy-MM-dd'T'HH:mm:ss.SSS Z
yyyy-MM-dd, HH:mm:ss,SSS Z
yyyy/MM/dd HH:mm:ss.SSS | yyyy.MM.dd HH:mm:ss.SSS | yyyy/MM/dd HH:mm:ss.SSSZ | yyyy/MM/dd HH:mm:ss.SSS Z
yyyy-MM-dd-HH.mm.ss.SSSSSS | yyyy-MM-dd-HH:mm:ss.SSS | yyyy-MM-dd:HH:mm:ss.SSS | yyyy-MM-dd_HH:mm:ss.SSS
yyyy/MM/dd '-' HH:mm:ss
dd/MMM/yyyy:HH:mm:ss Z | dd/MMM/yyyy:HH:mm:ss.SSS | dd/MMM/yyyy HH:mm:ss
EEE, dd MMM yyyy HH:mm:ss Z | dd MMM yyyy HH:mm:ss,SSS | dd MMM HH:mm:ss.SSS
dd-MMM-yyyy HH:mm:ss.SSS | dd-MMM-yyyy HH:mm:ss Z | dd.MM.yyyy HH:mm:ss,SSS
MMM d, yyyy h:mm:ss a | MMM d, yyyy, h:mm:ss a
M/d/yyyy h:mm:ss.SSS a | M/d/yyyy, h:mm:ss.SSS a | yyyy-MM-dd h:mm:ss a
EEE MMM d HH:mm:ss.SSS yyyy | EEE MMM d HH:mm:ss Z yyyy | MMM d HH:mm:ss.SSS
yy/MM/dd HH:mm:ss | MM-dd HH:mm:ss.SSS
yyyyMMdd HH:mm:ss.SSS | yyMMdd HH:mm:ss.SSS | MMdd HH:mm:ss.SSS | yyMMdd HHmmss
h:mm:ss a | ${KITCHEN} | HH:mm:ss.SSS
`
  .trim()
  .split(/ \| |\n/)
  .map(datePattern)

/** Number of the first known patterns that one expression covers. */
const ISO_PATTERNS = 6
const ISO_SOURCE = `\\d{4}-\\d\\d-\\d\\d(?:T|\\s+)\\d\\d:\\d\\d:\\d\\d${FRACTION.replace('?<fraction>', '?:')}(?:${ZONE}|\\s+${LONE_ZONE})?(?!\\s+[AaPp][Mm]\\b)`

/** Matches a time written in one of the known ways, with its zone where it has one; no groups. */
export const KNOWN_TIMES = `(?:${ISO_SOURCE}|${KNOWN_PATTERNS.slice(ISO_PATTERNS)
  .toSorted((a, b) => Number(b.hasZone) - Number(a.hasZone))
  .map(({ source }) => source.replace(`\\s+(?:${ZONE})`, `\\s+${LONE_ZONE}`))
  .join('|')})`
