import type { NumberColumn, TableColumn, WordColumn } from './table-columns.ts'

/** What the rows that stay have in one column. */
export type ColumnSummary = NumberSummary | WordSummary

export interface NumberSummary {
  readonly kind: 'number'
  /** How many of all rows, and of those that stay, are in each of equally wide classes. */
  readonly bins: readonly ClassCount[]
  readonly isLog: boolean
  /** Of the rows that stay; `NaN` when none has a number. */
  readonly min: number
  readonly median: number
  readonly max: number
  readonly missing: number
}

export interface ClassCount {
  readonly all: number
  readonly kept: number
}

export interface WordSummary {
  readonly kind: 'words'
  /** The words of most rows, by all rows. */
  readonly top: readonly (ClassCount & { readonly word: string })[]
  /** How many different words stay. */
  readonly distinct: number
  readonly missing: number
}

const BINS = 20
const TOP = 3
/** Classes are as wide on a log scale when the largest is more than this many times the smallest. */
const WIDE = 100

/** Summaries of one column: all of its rows are counted once, those that stay as often as asked. */
export function columnSummarizer(column: TableColumn): (kept: Uint32Array) => ColumnSummary {
  return 'words' in column ? wordSummarizer(column) : numberSummarizer(column)
}

function numberSummarizer({ numbers }: NumberColumn) {
  const finite = numbers.filter(Number.isFinite)
  const low = finite.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY)
  const high = finite.reduce((most, number) => Math.max(most, number), Number.NEGATIVE_INFINITY)
  const isLog = low > 0 && high / low > WIDE
  const scale = isLog ? Math.log : (value: number) => value
  const [from, span] = [scale(low), scale(high) - scale(low)]
  const binOf = (value: number) =>
    span > 0 ? Math.min(BINS - 1, Math.floor((BINS * (scale(value) - from)) / span)) : 0
  const places = Int8Array.from(numbers, (value) => (Number.isFinite(value) ? binOf(value) : -1))
  const count = finite.length === 0 ? 0 : span > 0 ? BINS : 1
  const all = counts(places, count)
  return (kept: Uint32Array): NumberSummary => {
    const stay = counts(
      Int8Array.from(kept, (row) => places[row] as number),
      count,
    )
    const values = Float64Array.from(kept, (row) => numbers[row] as number)
    const present = values.filter((value) => !Number.isNaN(value)).sort()
    return {
      ...{ kind: 'number', isLog, missing: values.length - present.length },
      bins: Array.from(all, (rows, bin) => ({ all: rows, kept: stay[bin] as number })),
      min: present[0] ?? Number.NaN,
      median: middle(present),
      max: present.at(-1) ?? Number.NaN,
    }
  }
}

function wordSummarizer({ words, codes }: WordColumn) {
  const all = counts(codes, words.length)
  const order = words
    .map((_, code) => code)
    .sort((a, b) => (all[b] as number) - (all[a] as number) || a - b)
  return (kept: Uint32Array): WordSummary => {
    const stay = counts(
      Int32Array.from(kept, (row) => codes[row] as number),
      words.length,
    )
    const known = stay.reduce((sum, count) => sum + count, 0)
    return {
      ...{ kind: 'words', missing: kept.length - known },
      top: order.slice(0, TOP).map((code) => ({
        ...{ word: words[code] as string, all: all[code] as number, kept: stay[code] as number },
      })),
      distinct: stay.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0),
    }
  }
}

/** How often each of the numbers from 0 on occurs; -1 stands for none. */
function counts(classes: ArrayLike<number>, size: number): Uint32Array {
  const found = new Uint32Array(size)
  for (let i = 0; i < classes.length; i++) {
    const at = classes[i] as number
    if (at >= 0) found[at] = (found[at] as number) + 1
  }
  return found
}

function middle(ascending: Float64Array): number {
  const half = ascending.length >> 1
  const upper = ascending[half] ?? Number.NaN
  return ascending.length % 2 === 1 ? upper : ((ascending[half - 1] ?? Number.NaN) + upper) / 2
}
