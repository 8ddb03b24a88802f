import { extent, max, median, min } from 'd3-array'
import { scaleLinear, scaleLog } from 'd3-scale'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { counted, grouped } from '../../../core/words.ts'
import type { NumberColumn, TableColumn, WordColumn } from './table-columns.ts'

/** What the rows that are left have in one column. */
export type ColumnSummary = NumberSummary | WordSummary

export interface NumberSummary {
  readonly kind: 'number'
  /** Rows in each of equally wide bins. */
  readonly bins: readonly RowCount[]
  readonly isLog: boolean
  /** Of the rows that are left; `NaN` when none has a number. */
  readonly min: number
  readonly median: number
  readonly max: number
  readonly missing: number
}

/** Rows of the whole table, and those of them that are left. */
export interface RowCount {
  readonly all: number
  readonly kept: number
}

export interface WordSummary {
  readonly kind: 'words'
  /** Words that most rows have, by all rows. */
  readonly top: readonly (RowCount & { readonly word: string })[]
  /** Number of different words left. */
  readonly distinct: number
  readonly missing: number
}

const BINS = 20
const TOP_WORDS = 3
/** Bins are equally wide on a log scale when the largest number is so many times the smallest. */
const MIN_LOG_RATIO = 100

/** Prepares summaries of one column: counts all of its rows once, those left as often as asked. */
export function columnSummarizer(column: TableColumn): (kept: Uint32Array) => ColumnSummary {
  return 'words' in column ? wordSummarizer(column) : numberSummarizer(column)
}

function numberSummarizer({ numbers }: NumberColumn) {
  const [low = Number.NaN, high = Number.NaN] = extent(numbers.filter(Number.isFinite))
  const isLog = low > 0 && high / low > MIN_LOG_RATIO
  const size = Number.isNaN(low) ? 0 : low < high ? BINS : 1
  const scale = (isLog ? scaleLog : scaleLinear)().domain([low, high]).range([0, size])
  const binOf = (value: number) => (size === 1 ? 0 : Math.min(size - 1, Math.floor(scale(value))))
  const bins = Int8Array.from(numbers, (value) => (Number.isFinite(value) ? binOf(value) : -1))
  const all = countEach(bins, size)
  return (kept: Uint32Array): NumberSummary => {
    const left = countEach(kept, size, (row) => bins[row] as number)
    const values = Array.from(kept, (row) => numbers[row] as number)
    return {
      kind: 'number',
      isLog,
      missing: values.filter(Number.isNaN).length,
      bins: Array.from(all, (rows, bin) => ({ all: rows, kept: left[bin] ?? 0 })),
      min: min(values) ?? Number.NaN,
      median: median(values) ?? Number.NaN,
      max: max(values) ?? Number.NaN,
    }
  }
}

function wordSummarizer({ words, codes }: WordColumn) {
  const all = countEach(codes, words.length)
  const count = (code: number) => all[code] as number
  const top = [...words.keys()].sort((a, b) => count(b) - count(a) || a - b).slice(0, TOP_WORDS)
  return (kept: Uint32Array): WordSummary => {
    const left = countEach(kept, words.length, (row) => codes[row] as number)
    return {
      kind: 'words',
      missing: kept.length - left.reduce((sum, rows) => sum + rows, 0),
      top: top.map((code) => ({
        word: words[code] as string,
        all: count(code),
        kept: left[code] as number,
      })),
      distinct: left.filter((rows) => rows > 0).length,
    }
  }
}

/** Counts how often each code from 0 on occurs; -1 stands for none. */
function countEach(
  items: Int8Array | Int32Array | Uint32Array,
  size: number,
  codeOf = (item: number) => item,
): Uint32Array {
  const counts = new Uint32Array(size)
  for (const item of items) {
    const code = codeOf(item)
    if (code >= 0) counts[code] = (counts[code] as number) + 1
  }
  return counts
}

interface CellProps<Summary> {
  readonly column: TableColumn
  readonly summary: Summary
  /** Writes a filter for the column. */
  readonly onFilter: (text: string) => void
}

const WIDTH = 96
const HEIGHT = 26
const MAX_WORD_LENGTH = 28

/** Shows what a column holds: a small histogram, or its most frequent words. */
export function SummaryCell({ column, summary, onFilter }: CellProps<ColumnSummary>) {
  return (
    <td class={column.format.numeric ? 'fd-sum fd-sum-number' : 'fd-sum'}>
      {summary.kind === 'number' ? (
        <Numbers column={column} summary={summary} />
      ) : (
        <Words column={column} summary={summary} onFilter={onFilter} />
      )}
      {summary.missing > 0 ? <div class="fd-soft">{grouped(summary.missing)} missing</div> : null}
    </td>
  )
}

function Numbers({ column, summary }: Omit<CellProps<NumberSummary>, 'onFilter'>) {
  const { bins, min: low, median: middle, max: high, isLog } = summary
  const text = (value: number) =>
    column.kind === 'date' ? new Date(value).toISOString().slice(0, 10) : column.format.text(value)
  if (Number.isNaN(middle)) return null
  const facts = low === high ? `all ${text(low)}` : `${text(low)} to ${text(high)}`
  const scale = isLog ? ' (log scale)' : ''
  return (
    <>
      <Histogram bins={bins} label={`${column.name}: ${facts}, median ${text(middle)}${scale}`} />
      <div class="fd-soft">{facts}</div>
      {low === high ? null : <div class="fd-soft">median {text(middle)}</div>}
    </>
  )
}

/** Draws all rows pale and those left in full; a single row is seen too. */
function Histogram({
  bins,
  label,
}: {
  readonly bins: readonly RowCount[]
  readonly label: string
}) {
  const most = Math.max(...bins.map(({ all }) => all), 1)
  const step = WIDTH / Math.max(bins.length, 1)
  const bars = (rowsOf: (bin: RowCount) => number) =>
    bins
      .map((bin, i) => {
        const rows = rowsOf(bin)
        const height = Math.max(1.5, (HEIGHT * rows) / most)
        return rows === 0 ? '' : `M${i * step},${HEIGHT}v${-height}h${step - 1}v${height}z`
      })
      .join('')
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <path d={bars(({ all }) => all)} style="fill:var(--fd-line)" />
      <path d={bars(({ kept }) => kept)} style="fill:var(--fd-soft)" />
    </svg>
  )
}

/** Shows the most frequent words; those that each row has its own of say nothing. */
function Words({ column, summary: { top, distinct }, onFilter }: CellProps<WordSummary>) {
  const most = Math.max(...top.map(({ all }) => all), 1)
  if (most === 1 && top.length > 1) {
    return <div class="fd-soft">{counted(distinct, 'value')}, all different</div>
  }
  return (
    <>
      {top.map(({ word, all, kept }) => (
        <button
          key={word}
          type="button"
          class="fd-top"
          disabled={column.kind === 'other'}
          style={`--fd-share:${(100 * kept) / most}%;--fd-all:${(100 * all) / most}%`}
          title={`${tooltipText(word)}: ${grouped(kept)} of ${counted(all, 'row')}`}
          onClick={() => onFilter(column.kind === 'boolean' ? word : `=${word}`)}
        >
          <span>{shortText(word, MAX_WORD_LENGTH) || '(empty)'}</span>
          <span>{grouped(kept)}</span>
        </button>
      ))}
      {distinct > top.length ? <div class="fd-soft">{counted(distinct, 'value')}</div> : null}
    </>
  )
}
