import { ascending, group } from 'd3-array'
import { requireArgument } from './errors.ts'

const COLLATOR = new Intl.Collator('en', { numeric: true })

/** Orders texts as people do, numbers in them by their size: `1.9`, `1.10`, `db-2`, `db-10`. */
export function naturally(a: string, b: string): number {
  return COLLATOR.compare(a, b) || ascending(a, b)
}

/** A duration or an offset in microseconds. Fields that hold one end in `Us`. */
export type Microseconds = number

/** Units of durations, the smallest first. */
export const DURATION_UNITS: readonly (readonly [factor: number, unit: string])[] = [
  [1, 'µs'],
  [1e3, 'ms'],
  [1e6, 's'],
  [60e6, 'min'],
  [3600e6, 'h'],
]

/** Length in µs of every unit as it may be written. */
export const UNITS_US: ReadonlyMap<string, number> = new Map([
  ...DURATION_UNITS.map(([us, unit]) => [unit, us] as const),
  ...(['us', 'μs'] as const).map((unit) => [unit, 1] as const),
  ['ns', 1e-3],
])

/** Reads a duration as it is written, `1.5 ms`, in µs; `NaN` for anything else. */
export function readDuration(text: string): Microseconds {
  const [, size, unit = ''] = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-zµμ]+)$/i.exec(text.trim()) ?? []
  return Number((Number(size) * (UNITS_US.get(unit.toLowerCase()) ?? Number.NaN)).toPrecision(15))
}

/**
 * Returns a duration in the unit a person would say it in, to three significant digits.
 *
 * @example
 * formatDuration(1042.4) // '1.04 ms'
 */
export function formatDuration(durationUs: Microseconds): string {
  requireArgument(
    'formatDuration(durationUs)',
    durationUs,
    typeof durationUs === 'number',
    'microseconds',
  )
  if (!Number.isFinite(durationUs)) return String(durationUs)
  const size = Math.abs(durationUs)
  // Less than a picosecond is a rounding error.
  if (size < 1e-6) return '0 µs'
  const step = Math.max(
    0,
    DURATION_UNITS.findLastIndex(([factor]) => size >= factor),
  )
  const inUnit = ([factor]: readonly [number, string]) =>
    Number((durationUs / factor).toPrecision(3))
  const [here, next] = [
    DURATION_UNITS[step] as (typeof DURATION_UNITS)[number],
    DURATION_UNITS[step + 1],
  ]
  // Rounding can reach the next unit: 999.96 µs are 1 ms.
  if (next !== undefined && Math.abs(inUnit(here)) * here[0] >= next[0]) {
    return `${inUnit(next)} ${next[1]}`
  }
  return `${inUnit(here)} ${here[1]}`
}

/** Returns a count with its noun: `1 request`, `1,602 categories`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`
}

/** Returns a noun with its article, or without one where it is a plural: `a diagnosis`, `an edge`, `findings`. */
export function withArticle(noun: string): string {
  if (/[^is]s$/.test(noun)) return noun
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

/** Returns a text as it begins a sentence. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Returns the first of some names, and how many more there are: `a, b and 1,602 more`. */
export function firstOf(names: readonly string[], { most = 4, separator = ', ' } = {}): string {
  const left = names.length - most
  const shown = names.slice(0, most).join(separator)
  return left > 0 ? `${shown} and ${grouped(left)} more` : shown
}

/** Returns the parts of a text that there are: conditions that do not hold leave `false` or `''` among them. */
export function spoken(parts: readonly (string | false | null | undefined)[]): string[] {
  return parts.filter((part) => typeof part === 'string' && part !== '') as string[]
}

/** Whether a text has all words of a search, in any case; no text has those of an empty one. */
export function hasWords(text: string, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const all = text.toLowerCase()
  return words.length > 0 && words.every((word) => all.includes(word))
}

/** Returns a whole number with its thousands set apart. */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Returns a number of any size in three digits: `1,602`, `46.3`, `0.0626`; 0 for a negligible one. */
export function shortNumber(value: number): string {
  if (Math.abs(value) >= 100) return grouped(value)
  return Math.abs(value) < 1e-9 ? '0' : String(Number(value.toPrecision(3)))
}

/** Returns a share as whole per cent; never `0 %` or `100 %` for a share that is only nearly so. */
export function percent(share: number): string {
  if (share > 0 && share < 0.005) return 'under 1 %'
  if (share < 1 && share > 0.995) return 'over 99 %'
  return `${Math.round(share * 100)} %`
}

/** Returns a p-value as text: `p < 0.001`, `p = 0.043`. */
export function pValue(p: number, name: 'p' | 'q' = 'p'): string {
  if (p < 0.001) return `${name} < 0.001`
  if (p > 0.99) return `${name} > 0.99`
  return `${name} = ${Number(p.toPrecision(2))}`
}

/** Returns a p-value corrected for multiple tests, as findings write it: `p < 1e-6`. */
export function certaintyText(q: number): string {
  if (q < 1e-6) return 'p < 1e-6'
  return q < 0.001 ? `p = ${q.toExponential(0)}` : `p = ${Number(q.toPrecision(2))}`
}

/** Returns a difference of durations with its sign: `+1.04 ms`, `−3 µs`. */
export function signedDuration(differenceUs: number): string {
  return `${differenceUs > 0 ? '+' : ''}${formatDuration(differenceUs).replace('-', '−')}`
}

/** Control and formatting characters, line separators and halves of characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu
const MAX_TOOLTIP_LENGTH = 300
const BEGINNING = 60
/** Longer names from traces lose their middle. */
const MAX_NAME_LENGTH = 100

/**
 * Returns text on one line; a long text loses its middle: `recommen…dations`, between words if some end near.
 * Unprintable characters become spaces.
 */
export function shortText(text: string, longest: number): string {
  // Cut before splitting: labels can be megabytes long.
  const near =
    text.length > 8 * longest ? text.slice(0, 4 * longest) + text.slice(-4 * longest) : text
  const characters = [...near.replace(UNPRINTABLE, ' ').trim()]
  if (characters.length <= longest) return characters.join('')
  const head = Math.ceil((longest - 1) / 2)
  const tail = longest - 1 - head
  const start = characters.slice(0, head).join('')
  const end = characters.slice(characters.length - tail).join('')
  const [lastSpace, firstSpace] = [start.lastIndexOf(' '), end.indexOf(' ')]
  const cutStart = lastSpace > (2 / 3) * start.length ? start.slice(0, lastSpace + 1) : start
  const cutEnd = firstSpace >= 0 && firstSpace < end.length / 3 ? end.slice(firstSpace) : end
  return `${cutStart}…${cutEnd}`
}

/**
 * Returns texts to stand below each other, each as `shortText` gives it. If different texts would then look the same,
 * their common parts are shortened instead, to show the difference.
 */
export function shortTexts(texts: readonly string[], longest: number, from = 0): string[] {
  const short = texts.map((text) => shortFrom(text, from, longest))
  for (const rows of group(texts.keys(), (row) => short[row]).values()) {
    const own = rows.map((row) => texts[row] as string)
    const [first = '', ...others] = own
    let shared = 0
    while (shared < first.length && others.every((one) => one[shared] === first[shared])) shared++
    if (shared <= from || new Set(own).size === 1) continue
    shortTexts(own, longest, shared).forEach((text, i) => {
      short[rows[i] as number] = text
    })
  }
  return short
}

/** Returns the beginning of a text, and the surroundings of a place where it differs from others. */
function shortFrom(text: string, from: number, longest: number): string {
  const head = Math.floor(longest / 4)
  if (from <= head) return shortText(text, longest)
  const rest = text.slice(Math.max(head, from - head))
  return `${shortText(text.slice(0, head), head)}…${shortText(rest, longest - head - 1)}`
}

/** Returns the beginning of a file, between quotes and on one line, for a message. */
export function beginning(text: string): string {
  const start = text.slice(0, BEGINNING).replace(/[^\P{C}\s]|\uFFFD/gu, '·')
  return `${JSON.stringify(start.replace(/\s+/g, ' '))}${text.length > BEGINNING ? ' …' : ''}`
}

export function printable(name: string): string {
  return shortText(name, MAX_NAME_LENGTH)
}

/** Returns text from a trace for a tooltip: whole, unless it is very long. */
export function tooltipText(text: string): string {
  return shortText(text, MAX_TOOLTIP_LENGTH)
}

/** Most names in a sentence; the rest are counted. */
export const MAX_NAMED = 3

/** Joins names: `a, b and c`, or the first ones with how many more there are. */
export function listed(names: readonly string[], most = names.length): string {
  if (names.length > most) return firstOf(names, { most })
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** Returns the words of a list, divided by space. */
export function wordsIn(list: string): string[] {
  return list.trim().split(/\s+/)
}
