import { extent, max, median, min, rollup, sort } from 'd3-array'
import { scaleLinear, scaleLog } from 'd3-scale'
import { counted, grouped, shortText, tooltipText } from '../../../core/words.ts'
import { Button } from '../../drawing/controls.tsx'
import { numberAt, type TableColumn } from './table-columns.ts'

type NumberSummary = ReturnType<ReturnType<typeof numberSummarizer>>
type WordSummary = ReturnType<ReturnType<typeof wordSummarizer>>

export type ColumnSummary = NumberSummary | WordSummary

const BINS = 20
const TOP_WORDS = 3
/** Bins are equally wide on a log scale when the largest number is so many times the smallest. */
const MIN_LOG_RATIO = 100

/** Prepares summaries of one column: counts all of its rows once, those left as often as asked. */
export function columnSummarizer(column: TableColumn): (kept: Uint32Array) => ColumnSummary {
  return column.isNumber ? numberSummarizer(column) : wordSummarizer(column)
}

function numberSummarizer(column: TableColumn) {
  const numbers = Float64Array.from(column.values, (_, row) => numberAt(column, row))
  const [low = Number.NaN, high = Number.NaN] = extent(numbers.filter(Number.isFinite))
  const isLog = low > 0 && high / low > MIN_LOG_RATIO
  const size = Number.isNaN(low) ? 0 : low < high ? BINS : 1
  const scale = (isLog ? scaleLog : scaleLinear)([low, high], [0, size])
  const countBins = (values: Float64Array) => {
    const counts = new Uint32Array(size)
    for (const value of values.filter(Number.isFinite)) {
      const bin = size === 1 ? 0 : Math.min(size - 1, Math.floor(scale(value)))
      counts[bin] = (counts[bin] as number) + 1
    }
    return counts
  }
  const all = countBins(numbers)
  return (kept: Uint32Array) => {
    const values = Float64Array.from(kept, (row) => numbers[row] as number)
    const left = countBins(values)
    return {
      kind: 'number' as const,
      isLog,
      missing: values.filter(Number.isNaN).length,
      bins: Array.from(all, (rows, bin) => ({ all: rows, kept: left[bin] as number })),
      // Of the rows that are left; NaN when none has a number.
      min: min(values) ?? Number.NaN,
      median: median(values) ?? Number.NaN,
      max: max(values) ?? Number.NaN,
    }
  }
}

function wordSummarizer({ values }: TableColumn) {
  const countWords = (rows: Iterable<number>) => {
    const counts = rollup(
      rows,
      ({ length }) => length,
      (row) => values[row] ?? null,
    )
    const missing = counts.get(null) ?? 0
    counts.delete(null)
    return { counts, missing }
  }
  const top = sort(countWords(values.keys()).counts, ([, rows]) => -rows).slice(0, TOP_WORDS)
  return (kept: Uint32Array) => {
    const { counts, missing } = countWords(kept)
    return {
      kind: 'words' as const,
      missing,
      top: top.map(([word, all]) => ({ word: String(word), all, kept: counts.get(word) ?? 0 })),
      distinct: counts.size,
    }
  }
}

interface CellProps<Summary> {
  readonly column: TableColumn
  readonly summary: Summary
  readonly onFilter: (text: string) => void
}

const WIDTH = 96
const HEIGHT = 26
const MAX_WORD_LENGTH = 28

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
  const label = `${column.name}: ${facts}, median ${text(middle)}${isLog ? ' (log scale)' : ''}`
  const most = Math.max(...bins.map(({ all }) => all), 1)
  const step = WIDTH / bins.length
  // All rows pale and those left in full; a single row is seen too.
  const bars = (rowsOf: (bin: { readonly all: number; readonly kept: number }) => number) =>
    bins
      .map((bin, i) => {
        const rows = rowsOf(bin)
        const height = Math.max(1.5, (HEIGHT * rows) / most)
        return rows === 0 ? '' : `M${i * step},${HEIGHT}v${-height}h${step - 1}v${height}z`
      })
      .join('')
  return (
    <>
      <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
        <title>{label}</title>
        <path d={bars(({ all }) => all)} style="fill:var(--fd-line)" />
        <path d={bars(({ kept }) => kept)} style="fill:var(--fd-soft)" />
      </svg>
      <div class="fd-soft">{facts}</div>
      {low === high ? null : <div class="fd-soft">median {text(middle)}</div>}
    </>
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
        <Button
          key={word}
          class="fd-top"
          disabled={column.kind === 'other'}
          style={`--fd-share:${(100 * kept) / most}%;--fd-all:${(100 * all) / most}%`}
          title={`${tooltipText(word)}: ${grouped(kept)} of ${counted(all, 'row')}`}
          onClick={() => onFilter(column.kind === 'boolean' ? word : `=${word}`)}
        >
          <span>{shortText(word, MAX_WORD_LENGTH) || '(empty)'}</span>
          <span>{grouped(kept)}</span>
        </Button>
      ))}
      {distinct > top.length ? <div class="fd-soft">{counted(distinct, 'value')}</div> : null}
    </>
  )
}
