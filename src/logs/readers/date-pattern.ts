import { OptionError } from '../../core/errors.ts'

/** A date and time of day as they were written; what was not written is missing. */
export interface DateFields {
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

export interface DatePattern {
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

export const KNOWN_PATTERNS: readonly DatePattern[] = [
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
