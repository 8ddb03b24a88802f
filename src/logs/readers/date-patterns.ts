import { OptionError } from '../../core/errors.ts'

/** A date and time of day as they were written; what was not written is missing. */
export type DateFields = NonNullable<ReturnType<typeof fieldsOf>>

export interface DatePattern {
  /** A regular expression without groups. */
  readonly source: string
  readonly hasZone: boolean
  /** What `text` says, `undefined` if it is not written this way. */
  read(text: string): DateFields | undefined
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** Hours ahead of UTC of zones that logs abbreviate. */
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

/** A letter run, a quoted text, the fraction with what stands before it, white space, or the rest. */
const PARTS = /'([^']*)'|[.,]S+|([yMdEHhamsSZ])\2*|\s+|[\s\S]/g

/** How zerolog writes times to a console. */
const KITCHEN = 'h:mma'

/**
 * Compiles a date pattern of the letters that log4j, logback and Java have: `yyyy yy MMM MM M dd d
 * EEE HH H hh h a mm ss SSS Z`. A fraction (`.SSS` or `,SSS`) may have a point or a comma, and be
 * missing; white space stands for any; text between single quotes for itself.
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

function unknownLetters(pattern: string, letters: string): never {
  throw new OptionError(
    'dateFormat',
    pattern,
    `a pattern of ${Object.keys(LETTERS).join(', ')} and .SSS: ${letters} is none of them`,
  )
}

function fieldsOf(found: Readonly<Record<string, string>>) {
  const number = (name: string) => (found[name] === undefined ? undefined : Number(found[name]))
  const short = number('shortYear')
  const monthName = found['monthName']?.toLowerCase()
  const month = monthName === undefined ? number('month') : MONTHS.indexOf(monthName) + 1
  if (month === 0) return undefined
  return {
    year: short === undefined ? number('year') : short + (short < 70 ? 2000 : 1900),
    /** 1 to 12. */
    month,
    day: number('day'),
    hour: hourOf(number('hour') ?? 0, found['half']),
    minute: number('minute') ?? 0,
    second: number('second') ?? 0,
    /** Microseconds within the second. */
    us: Number((found['fraction'] ?? '').padEnd(6, '0').replace(/^.{6}/, '$&.')),
    /** As it was written: `Z`, `+02:00`, `-0500`. */
    zone: found['zone'],
  }
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour
  return (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
}

export const KNOWN_PATTERNS: readonly DatePattern[] = [
  'yyyy-MM-dd HH:mm:ss,SSS',
  'yyyy-MM-dd HH:mm:ss,SSSZ',
  'yyyy-MM-dd HH:mm:ss,SSS Z',
  "yyyy-MM-dd'T'HH:mm:ss.SSS",
  "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
  "yyyy-MM-dd'T'HH:mm:ss.SSS Z",
  'yyyy-MM-dd, HH:mm:ss,SSS Z',
  'yyyy/MM/dd HH:mm:ss.SSS',
  'yyyy.MM.dd HH:mm:ss.SSS',
  'yyyy/MM/dd HH:mm:ss.SSSZ',
  'yyyy/MM/dd HH:mm:ss.SSS Z',
  'yyyy-MM-dd-HH.mm.ss.SSSSSS',
  'yyyy-MM-dd-HH:mm:ss.SSS',
  'yyyy-MM-dd:HH:mm:ss.SSS',
  'yyyy-MM-dd_HH:mm:ss.SSS',
  "yyyy/MM/dd '-' HH:mm:ss",
  'dd/MMM/yyyy:HH:mm:ss Z',
  'dd/MMM/yyyy:HH:mm:ss.SSS',
  'dd/MMM/yyyy HH:mm:ss',
  'EEE, dd MMM yyyy HH:mm:ss Z',
  'dd MMM yyyy HH:mm:ss,SSS',
  'dd MMM HH:mm:ss.SSS',
  'dd-MMM-yyyy HH:mm:ss.SSS',
  'dd-MMM-yyyy HH:mm:ss Z',
  'dd.MM.yyyy HH:mm:ss,SSS',
  'MMM d, yyyy h:mm:ss a',
  'MMM d, yyyy, h:mm:ss a',
  'M/d/yyyy h:mm:ss.SSS a',
  'M/d/yyyy, h:mm:ss.SSS a',
  'yyyy-MM-dd h:mm:ss a',
  'EEE MMM d HH:mm:ss.SSS yyyy',
  'EEE MMM d HH:mm:ss Z yyyy',
  'MMM d HH:mm:ss.SSS',
  'yy/MM/dd HH:mm:ss',
  'MM-dd HH:mm:ss.SSS',
  'yyyyMMdd HH:mm:ss.SSS',
  'yyMMdd HH:mm:ss.SSS',
  'MMdd HH:mm:ss.SSS',
  'yyMMdd HHmmss',
  'h:mm:ss a',
  KITCHEN,
  'HH:mm:ss.SSS',
].map(datePattern)

/** What the first of the known patterns come to, in one. */
const ISO_PATTERNS = 6
const ISO_SOURCE = `\\d{4}-\\d\\d-\\d\\d(?:T|\\s+)\\d\\d:\\d\\d:\\d\\d${FRACTION.replace('?<fraction>', '?:')}(?:${ZONE}|\\s+${LONE_ZONE})?(?!\\s+[AaPp][Mm]\\b)`

/** Matches a time written in one of the known ways, with its zone where it has one; no groups. */
export const KNOWN_TIMES = `(?:${ISO_SOURCE}|${KNOWN_PATTERNS.slice(ISO_PATTERNS)
  .toSorted((a, b) => Number(b.hasZone) - Number(a.hasZone))
  .map(({ source }) => source.replace(`\\s+(?:${ZONE})`, `\\s+${LONE_ZONE}`))
  .join('|')})`
