import { sum, transpose } from 'd3-array'
import { alignedLines } from './table-display.ts'
import { grouped, shortTexts } from './words.ts'

/** Widest line of prose, and of everything without a terminal. */
export const MAX_WIDTH = 100
/** Columns of numbers are not wider than this, and stay whole. */
const MAX_WHOLE = 20
const MIN_COLUMN = 12
/** Smallest width of columns of numbers, if nothing else makes a table fit. */
const MIN_NUMBERS = 6
/** Indentation of the further lines of a cell. */
const INDENT = '  '

/** Characters of a line of prose, which a wide terminal does not stretch. */
export function proseWidth(width: number): number {
  return Math.min(MAX_WIDTH, width)
}

/** Places where a cell may be broken: after a part of a name; within it before a capital; or else anywhere. */
const BREAKS = [/[\s/.:·_-]/g, /[\s/.:·_-]|[\p{Ll}\d](?=\p{Lu})/gu, /./gsu] as const

/**
 * Returns rows as text with aligned columns: the first to the left, the others to the right. If they do not fit, the
 * widest columns become narrower, and their cells get several lines, aligned to the left; parts of names stay whole
 * while there is room.
 */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width = MAX_WIDTH,
): string {
  const all = [head, ...rows].map((row) => row.map((cell) => cell.replace(AMOUNT, GLUE)))
  const [heading = [], ...cells] = all
  const natural = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const widths = [...natural]
  const total = () => sum(widths) + 2 * (widths.length - 1)
  const longestIn = (some: typeof all, column: number, breaks: RegExp) =>
    Math.max(0, ...some.map((row) => longestPart(row[column] ?? '', breaks)))
  const shrink = (min: number, leastOf: (column: number) => number) => {
    const least = natural.map((_, column) => leastOf(column))
    const room = () => widths.map((one, column) => (one > (least[column] ?? 0) ? one : 0))
    for (let widest = Math.max(...room()); total() > width && widest > min; ) {
      widths[room().indexOf(widest)] = widest - 1
      widest = Math.max(...room())
    }
  }
  const isOfNumbers = (column: number) => (natural[column] ?? 0) <= MAX_WHOLE
  for (const breaks of BREAKS) {
    shrink(MIN_COLUMN, (column) =>
      isOfNumbers(column)
        ? Math.max(
            longestIn([heading], column, / /g),
            ...cells.map((row) => row[column]?.length ?? 0),
          )
        : longestIn(all, column, breaks),
    )
  }
  // As a last resort, several numbers of a cell stand below each other.
  shrink(MIN_NUMBERS, (column) =>
    isOfNumbers(column) ? longestIn(all, column, / /g) : Math.min(widths[column] ?? 0, MIN_COLUMN),
  )
  const lines = all.flatMap((row) => {
    const cells = row.map((cell, column) => brokenLines(cell, widths[column] ?? cell.length))
    const height = Math.max(...cells.map(({ length }) => length))
    return Array.from({ length: height }, (_, line) => cells.map((cell) => cell[line] ?? ''))
  })
  const isRight = (column: number) =>
    column > 0 && (isOfNumbers(column) || widths[column] === natural[column])
  return alignedLines(lines, isRight).join('\n').replaceAll(GLUE, ' ')
}

/** Columns of a table: under each title, what it says of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row, i: number) => string>>

/** `longest` limits the characters of a cell; longer ones differ where they did. Default: any number. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  { width = MAX_WIDTH, longest }: { readonly width?: number; readonly longest?: number } = {},
): string {
  const cells = Object.values(columns).map((cell) => {
    const texts = rows.map(cell)
    return longest === undefined ? texts : shortTexts(texts, longest)
  })
  return textTable(Object.keys(columns), transpose<string>(cells), width)
}

/** The space between a number and its unit, which stays on one line, and the sign that stands for it. */
const AMOUNT = /(?<=\d) (?=(?:[nµm]?s|min|h|%)(?!\p{L}))/gu
const GLUE = '\u00a0'

/** Breaks a line between words; a word that is too long stays whole. */
export function wrapped(line: string, indent = '', width = MAX_WIDTH): string[] {
  return brokenAt(line.replace(AMOUNT, GLUE), indent, width).map((one) => one.replaceAll(GLUE, ' '))
}

function brokenAt(line: string, indent: string, width: number): string[] {
  if (line.length <= width || indent.length >= width) return [line]
  const first = indent.length + /^ */.exec(line.slice(indent.length))![0].length
  const near = line.lastIndexOf(' ', width)
  const end = near > first ? near : line.indexOf(' ', Math.max(first, width))
  if (end < 0) return [line]
  return [line.slice(0, end), ...brokenAt(indent + line.slice(end + 1), indent, width)]
}

/** Breaks a cell at spaces, a name where one of its parts ends, or else anywhere. */
function brokenLines(cell: string, width: number): string[] {
  const lines: string[] = []
  let rest = cell
  for (let room = width; rest.length > room; room = width - INDENT.length) {
    const near = rest.slice(0, room + 1)
    const space = near.lastIndexOf(' ')
    const ends = BREAKS.map((breaks) => endsOf(near, breaks).findLast((end) => end <= room) ?? 0)
    const word = rest.slice(space + 1).split(' ', 1)[0] ?? ''
    const fits = space > 0 && word.length <= width - INDENT.length
    const end = fits || space > room / 3 ? space : (ends.find((one) => one > 0) ?? room)
    lines.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  return [...lines, rest].map((line, i) => (i === 0 ? line : INDENT + line))
}

/** Returns the ends of a text's parts. */
function endsOf(text: string, breaks: RegExp): number[] {
  return Array.from(text.matchAll(breaks), ({ index, 0: { length } }) => index + length)
}

/** Characters of a line that has the longest part of a cell. */
function longestPart(cell: string, breaks: RegExp): number {
  const ends = [...endsOf(cell, breaks), cell.length]
  const parts = ends.map((end, i) => cell.slice(ends[i - 1] ?? 0, end).trimEnd().length)
  return Math.max(...parts.map((length, i) => (i === 0 ? 0 : INDENT.length) + length))
}

/** Least share of the room that whole parts of a line take; else it is cut at a word. */
const MIN_PARTS = 1 / 3

/** Cuts a line after a part, such as one of several kinds of request; never within an amount. */
export function cutAtPart(line: string, width: number): string {
  if (line.length <= width) return line
  const end = line.lastIndexOf(' ', width - 2)
  const parts = line.slice(0, end + 1).replace(/[,;:.] (?!.*[,;:.] ).*$/, '')
  if (parts.length <= end && parts.length >= MIN_PARTS * width) return `${parts} …`
  const words = line.slice(0, end).replace(/( [^\p{L}\s]+)+$/u, '')
  return `${words} …`
}
/** Says how many more things `--limit` left out. */
export function leftOutLines(left: number): string[] {
  return left > 0 ? [`… and ${grouped(left)} more; raise --limit to see them.`] : []
}

/** Rows of a table: breaking these would break their columns. */
const ALIGNED = /\S {2,}\S.*\S {2,}\S/

/** Breaks lines of a text that are too long between words; rows of tables stay whole. */
export function fittedLines(text: string, width: number): string {
  const fit = (line: string) => {
    const [head = ''] = /^ *(?:#\d+ +|! )?/.exec(line) ?? []
    if (ALIGNED.test(line.slice(head.length))) return [line]
    return wrapped(line, ' '.repeat(head.length), width)
  }
  return text.split('\n').flatMap(fit).join('\n')
}
