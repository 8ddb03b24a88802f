import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { counted, grouped } from '../../../core/words.ts'
import type { TableColumn } from './table-columns.ts'
import type { ClassCount, ColumnSummary, NumberSummary, WordSummary } from './table-summary.ts'

interface Shown<Summary> {
  readonly column: TableColumn
  readonly summary: Summary
  /** Writes a filter for the column. */
  readonly onFilter: (text: string) => void
}

const WIDTH = 96
const HEIGHT = 26
const LONGEST_WORD = 28

/** What a column holds at a glance: a tiny histogram, or the words that occur most. */
export function SummaryCell({ column, summary, onFilter }: Shown<ColumnSummary>) {
  const missing = summary.missing > 0 ? `${grouped(summary.missing)} missing` : ''
  return (
    <td class={column.format.numeric ? 'fd-sum fd-sum-number' : 'fd-sum'}>
      {summary.kind === 'number' ? (
        <Numbers {...{ column, summary, onFilter }} />
      ) : (
        <Words {...{ column, summary, onFilter }} />
      )}
      {missing === '' ? null : <div class="fd-soft">{missing}</div>}
    </td>
  )
}

function Numbers({ column, summary }: Shown<NumberSummary>) {
  const { bins, min, median, max, isLog } = summary
  const text = (value: number) =>
    column.kind === 'date' ? dayText(value) : column.format.text(value)
  if (Number.isNaN(median)) return null
  const facts = min === max ? `all ${text(min)}` : `${text(min)} to ${text(max)}`
  const scale = isLog ? ' (log scale)' : ''
  return (
    <>
      <Histogram bins={bins} label={`${column.name}: ${facts}, median ${text(median)}${scale}`} />
      <div class="fd-soft">{facts}</div>
      {min === max ? null : <div class="fd-soft">median {text(median)}</div>}
    </>
  )
}

function dayText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** All rows pale, those that stay in full; a single row is seen too. */
function Histogram({ bins, label }: { bins: readonly ClassCount[]; label: string }) {
  const most = Math.max(...bins.map(({ all }) => all), 1)
  const step = WIDTH / Math.max(bins.length, 1)
  const bar = (count: number, bin: number) => {
    const height = count === 0 ? 0 : Math.max(1.5, (HEIGHT * count) / most)
    return `M${bin * step},${HEIGHT}v${-height}h${step - 1}v${height}z`
  }
  const path = (count: (bin: ClassCount) => number) =>
    bins.map((bin, i) => (count(bin) === 0 ? '' : bar(count(bin), i))).join('')
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <path d={path(({ all }) => all)} style="fill:var(--fd-line)" />
      <path d={path(({ kept }) => kept)} style="fill:var(--fd-soft)" />
    </svg>
  )
}

/** Words of which each row has its own say nothing about the column. */
function Words({ column, summary, onFilter }: Shown<WordSummary>) {
  const { top, distinct } = summary
  const most = Math.max(...top.map(({ all }) => all), 1)
  if (most === 1 && top.length > 1)
    return <div class="fd-soft">{counted(distinct, 'value')}, all different</div>
  const isOffered = column.kind !== 'other'
  return (
    <>
      {top.map(({ word, all, kept }) => {
        const name = shortText(word, LONGEST_WORD)
        const bar = `--fd-share:${(100 * kept) / most}%;--fd-all:${(100 * all) / most}%`
        const title = `${tooltipText(word)}: ${grouped(kept)} of ${counted(all, 'row')}`
        const parts = [
          <span key="word">{name === '' ? '(empty)' : name}</span>,
          <span key="count">{grouped(kept)}</span>,
        ]
        return isOffered ? (
          <button
            {...{ key: word, type: 'button', class: 'fd-top', style: bar }}
            title={`${title}; only these`}
            onClick={() => onFilter(column.kind === 'boolean' ? word : `=${word}`)}
          >
            {parts}
          </button>
        ) : (
          <div {...{ key: word, class: 'fd-top', style: bar, title }}>{parts}</div>
        )
      })}
      {distinct > top.length ? <div class="fd-soft">{counted(distinct, 'value')}</div> : null}
    </>
  )
}
