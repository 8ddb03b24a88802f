import { max } from 'd3-array'
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../compare/comparison.ts'
import { restoreComparison } from '../../../compare/snapshot.ts'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent, signedDuration } from '../../../core/words.ts'
import { StateCode } from '../../drawing/controls.tsx'
import { Caption, StillTable } from '../../drawing/figure.tsx'
import { useInk } from '../../drawing/ink.ts'
import { exploreCode, type ViewProps } from '../define-widget.ts'
import { tableData } from '../table/table-columns.ts'
import { FilterRow, HeadCell } from '../table/table-head.tsx'
import { KeptCount, SearchField, StartOver } from '../table/table-view.tsx'
import { useTable } from '../table/use-table.ts'
import { RankingDetails } from './ranking-details.tsx'
import {
  type RankingData,
  type RankingEntry,
  rankingEntries,
  type ThresholdState,
  thresholdCode,
  thresholdCurve,
  thresholdState,
} from './ranking-model.ts'
import { RANKING_WIDGET_OPTIONS, type RankingWidgetOptions } from './ranking-options.ts'
import { ThresholdPane } from './threshold-pane.tsx'
import { medianUs, TimesCurves, TimesPlot } from './times-plot.tsx'

export const RANKING_STYLE = `
.fd-open > td { padding: 4px 12px 12px; border-left: 3px solid var(--fd-focus); }
.fd-fit { container-type: inline-size; }
.fd-mutation { position: sticky; left: 12px; width: calc(100cqw - 30px); }
.fd-mutation h3 { font-size: 13px; margin: 10px 0 4px; }
.fd-side { display: flex; flex-wrap: wrap; gap: 0 32px; align-items: flex-start; }
.fd-side > div { flex: 1 1 320px; min-width: 0; max-width: 520px; }
.fd-few { max-height: 170px; }
.fd-changed td { font-weight: 600; }
.fd-changed td:first-child { box-shadow: inset 3px 0 var(--fd-change); }
.fd-more { margin-top: 6px; }
.fd-key { display: inline-block; width: 14px; height: 3px; vertical-align: middle; margin: 0 2px 2px 6px; }
.fd-key-before { background: var(--fd-before); }
.fd-key-after { background: var(--fd-after); }
.fd-exemplars ul { margin: 2px 0 6px; padding-left: 20px; }
.fd-exemplars code, .fd-mutation p code { font: 12px/1.4 ui-monospace, monospace; color: inherit; background: none; }
.fd-threshold { border: 1px solid var(--fd-line); border-radius: 4px; padding: 6px 10px; margin-bottom: 8px; }
.fd-threshold-field { display: inline-flex; gap: 6px; align-items: center; }
a { color: var(--fd-focus); }
`

/** Columns of `ranking.table()` that are shown, searched and filtered. */
const COLUMNS = ['rank', 'kind', 'category', 'root', 'direction', 'requests', 'contributionUs']
const PAGE_SIZE = 100
const BAR = 90
const STILL_BAR = 60
const CURVES = { width: 90, height: 26 }
const MAX_NAME_LENGTH = 48

/** Shows mutations to sort, to filter and to open, and the threshold that makes them. */
export function RankingView({ data, options, call }: ViewProps<RankingData, RankingWidgetOptions>) {
  const comparison = useMemo(() => restoreComparison(data.snapshot), [data])
  const initial = useMemo(() => thresholdState(comparison), [comparison])
  const curve = useMemo(() => thresholdCurve(comparison), [comparison])
  const [threshold, setThreshold] = useState<ThresholdState>(initial)
  const [isThresholdOpen, setThresholdOpen] = useState(options.threshold)
  const current = useMemo(() => comparison.with(threshold), [comparison, threshold])
  const entries = useMemo(() => rankingEntries(current, options.limit), [current])
  const [opened, setOpened] = useState(() => keyOf(entries[(options.opened ?? 0) - 1]))
  const name = thresholdCode(call.name, initial, threshold)
  const rows = useMemo(() => tableOf(current, name, options.limit), [current, name])
  const table = useTable(rows)
  const open = entries.find((entry) => keyOf(entry) === opened)
  const code =
    open === undefined || !table.isUntouched
      ? table.code
      : exploreCode(
          RANKING_WIDGET_OPTIONS,
          { ...options, opened: open.rank, threshold: isThresholdOpen },
          { name, kind: null },
        )
  const { totalRows } = rows
  return (
    <section aria-label="Ranking browser">
      <div class="fd-bar">
        <SearchField table={table} label="Only mutations with" />
        <KeptCount
          kept={table.kept.length}
          rows={rows.rows}
          all={
            rows.rows < totalRows
              ? `the first ${grouped(rows.rows)} of ${counted(totalRows, 'mutation')}`
              : counted(totalRows, 'mutation')
          }
        />
        <span class="fd-soft">
          <span class="fd-key fd-key-before" /> before <span class="fd-key fd-key-after" /> after
        </span>
        <button
          type="button"
          aria-pressed={isThresholdOpen}
          onClick={() => setThresholdOpen(!isThresholdOpen)}
        >
          Threshold and level
        </button>
        <StartOver table={table} />
      </div>
      {isThresholdOpen ? (
        <ThresholdPane
          curve={curve}
          initial={initial}
          state={threshold}
          onChange={(changes) => setThreshold({ ...threshold, ...changes })}
        />
      ) : null}
      <div aria-live="polite">
        <Caption text={summaryOf(current)} />
      </div>
      {entries.length === 0 ? (
        <Caption text="Nothing is ranked. Lower the threshold or raise α." />
      ) : (
        <RankingTable entries={entries} max={15}>
          <div class="fd-scroll fd-fit">
            <table aria-label="Ranked mutations">
              <thead>
                <tr>
                  {COLUMNS.map((column, at) => (
                    <HeadCell key={column} table={table} at={at} />
                  ))}
                  <th scope="col" title="share of requests finished by each time; the medians">
                    response times, medians
                  </th>
                  <th scope="col">likeliest precursor</th>
                </tr>
                <FilterRow table={table} shown={COLUMNS.map((_, at) => at)} others={2} />
              </thead>
              <tbody>
                {Array.from(table.sorted, (row) => entries[row]).map((entry) =>
                  entry === undefined ? null : (
                    <Row
                      key={keyOf(entry)}
                      entry={entry}
                      comparison={current}
                      largestUs={max(entries, contribution) ?? 0}
                      isOpen={entry === open}
                      onToggle={() => setOpened(entry === open ? undefined : keyOf(entry))}
                    >
                      <RankingDetails
                        entry={entry}
                        comparison={current}
                        details={data.details.find(
                          ({ category, kind }) =>
                            category === entry.category && kind === entry.kind,
                        )}
                        name={name}
                      />
                    </Row>
                  ),
                )}
              </tbody>
            </table>
          </div>
        </RankingTable>
      )}
      {entries.length > 0 && table.sorted.length === 0 ? (
        <p class="fd-soft">No mutation fits.</p>
      ) : null}
      <StateCode code={code} />
    </section>
  )
}

function tableOf({ ranking }: Comparison, name: string, limit: number) {
  return tableData(ranking.table().select(...COLUMNS), {
    name: `${name}.ranking.table()`,
    title: 'Ranked mutations',
    pageSize: PAGE_SIZE,
    limit,
  })
}

function keyOf(entry: RankingEntry | undefined): string | undefined {
  return entry === undefined ? undefined : `${entry.kind} ${entry.category}`
}

function contribution({ contributionUs }: RankingEntry): number {
  return Math.abs(contributionUs)
}

function summaryOf({ structural, responseTime }: Comparison): string {
  const [came, changed] = [structural.mutations.length, responseTime.mutations.length]
  return (
    `${counted(came + changed, 'mutation')}: ${grouped(came)} structural, ` +
    `${grouped(changed)} response-time · ${counted(structural.precursors.length, 'precursor')}`
  )
}

function requestsText({ kind, requests }: RankingEntry): string {
  return `${kind === 'structural' ? '+' : ''}${grouped(requests)}`
}

function mediansText({ before, after }: RankingEntry): string {
  return [before, after]
    .map((sketch) => (sketch.count === 0 ? '–' : formatDuration(medianUs(sketch))))
    .join(' → ')
}

function precursorText({ kind, precursors: [first, ...others] }: RankingEntry): string {
  if (kind === 'response-time') return 'same work as before'
  if (first === undefined) return 'none'
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  return `${first.category} (${percent(first.weight)})${more}`
}

/** Shows the ranking: its children in a page, its first rows in a still. */
function RankingTable({
  entries,
  max: most,
  children,
}: {
  readonly entries: readonly RankingEntry[]
  readonly max: number
  readonly children: ComponentChildren
}) {
  const ink = useInk()
  const largestUs = max(entries, contribution) ?? 0
  return (
    <StillTable
      columns={[
        { title: '', align: 'end' },
        { title: 'kind of request (category)' },
        { title: 'kind' },
        { title: 'requests', align: 'end' },
        { title: 'adds in all', align: 'end' },
        { title: '' },
        { title: 'response times' },
      ]}
      rows={entries.map((entry) => [
        String(entry.rank),
        `${entry.name} (${entry.category})`,
        entry.kind,
        requestsText(entry),
        signedDuration(entry.contributionUs),
        {
          width: STILL_BAR,
          drawing: <Bar {...{ entry, largestUs, ink, y: 5, length: STILL_BAR }} />,
        },
        {
          width: CURVES.width,
          drawing: <TimesCurves entry={entry} width={CURVES.width} height={20} />,
        },
      ])}
      max={most}
    >
      {children}
    </StillTable>
  )
}

interface BarProps {
  readonly entry: RankingEntry
  /** Contribution with the longest bar. */
  readonly largestUs: number
  readonly ink: ReturnType<typeof useInk>
  readonly y?: number
  /** Length of the longest bar. */
  readonly length?: number
}

function Bar({ entry: { contributionUs }, largestUs, ink, y = 0, length = BAR }: BarProps) {
  const width = largestUs > 0 ? (length * Math.abs(contributionUs)) / largestUs : 0
  const color = contributionUs < 0 ? ink.before : ink.after
  return <rect y={y} width={Math.max(1, width)} height="10" style={`fill:${color}`} />
}

interface RowProps {
  readonly entry: RankingEntry
  readonly comparison: Comparison
  readonly largestUs: number
  readonly isOpen: boolean
  readonly onToggle: () => void
  /** Content of the row below it when it is open. */
  readonly children: ComponentChildren
}

/** Shows a mutation, which opens by its button or by a click anywhere on it. */
function Row({ entry, comparison, largestUs, isOpen, onToggle, children }: RowProps) {
  const ink = useInk()
  const { rank, kind, category, contributionUs } = entry
  const root = comparison.categories.root(category)
  const { direction } = comparison.responseTime.test(category)
  const onClick = (event: MouseEvent) => {
    const isButton = (event.target as Element).closest('button, a') !== null
    const isSelecting = getSelection()?.isCollapsed === false
    if (!isButton && !isSelecting) onToggle()
  }
  return (
    <>
      <tr class="fd-openable" aria-selected={isOpen} onClick={onClick}>
        <td class="fd-amount">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`Mutation ${rank}`}
            onClick={onToggle}
          >
            <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {rank}
          </button>
        </td>
        <td class="fd-name">{kind}</td>
        <td class="fd-amount">{category}</td>
        <td class="fd-name" title={tooltipText(root)}>
          {shortText(root, MAX_NAME_LENGTH)}
        </td>
        <td class="fd-name">{kind === 'structural' ? '–' : direction}</td>
        <td class="fd-amount">{requestsText(entry)}</td>
        <td>
          <div class="fd-with-bar">
            <span>{signedDuration(contributionUs)}</span>
            <svg width={BAR} height="10" aria-hidden="true">
              <Bar entry={entry} largestUs={largestUs} ink={ink} />
            </svg>
          </div>
        </td>
        <td>
          <div class="fd-with-bar">
            <span>{mediansText(entry)}</span>
            <TimesPlot entry={entry} {...CURVES} />
          </div>
        </td>
        <td class="fd-name">{precursorText(entry)}</td>
      </tr>
      {isOpen ? (
        <tr class="fd-open">
          <td colSpan={COLUMNS.length + 2}>{children}</td>
        </tr>
      ) : null}
    </>
  )
}
