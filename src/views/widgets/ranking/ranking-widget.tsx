import { max } from 'd3-array'
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../compare/comparison.ts'
import { restoreComparison } from '../../../compare/snapshot.ts'
import { fromToText, signedAmount, TIME } from '../../../core/quantity.ts'
import { columnIn } from '../../../core/stage.ts'
import { counted, grouped, shortText, tooltipText } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { ribbonIsClear } from '../../charts/ribbon.ts'
import { Button, isSelectingText, StateCode } from '../../drawing/controls.tsx'
import { type DataColumn, DataTable, rankColumn } from '../../drawing/data-table.tsx'
import { Caption, PageOnly, useInk } from '../../drawing/figure.tsx'
import { defineWidget, exploreCode, type ViewProps } from '../define-widget.ts'
import { EXPLANATION_STYLE } from '../explanation/explanation-widget.tsx'
import { FINDINGS_STYLE, FindingsList } from '../findings/findings-list.tsx'
import { RIBBON_STYLE, RibbonPane } from '../findings/ribbon-pane.tsx'
import { traceLinks } from '../findings/trace-link.tsx'
import { FLOW_STYLE } from '../flows/flow-view.tsx'
import { tableData } from '../table/table-columns.ts'
import {
  FilterRow,
  HeadCell,
  KeptCount,
  SearchField,
  StartOver,
  TABLE_STYLE,
} from '../table/table-head.tsx'
import { type UsedTable, useTable } from '../table/use-table.ts'
import { TIMELINE_STYLE, Timeline } from '../timeline/timeline.tsx'
import { FEW_DOTS } from '../timeline/timeline-drawing.tsx'
import { timelineModel } from '../timeline/timeline-model.ts'
import { stretchText, useCarried, useStretch } from '../timeline/use-stretch.tsx'
import { RankingDetails } from './ranking-details.tsx'
import {
  RANKING_WIDGET_OPTIONS,
  type RankingData,
  type RankingEntry,
  type RankingWidgetOptions,
  rankingData,
  rankingEntries,
  type ThresholdState,
  thresholdCode,
  thresholdCurve,
  thresholdState,
} from './ranking-model.ts'
import { ThresholdPane } from './threshold-pane.tsx'
import { medianUs, TimesCurves, TimesPlot } from './times-plot.tsx'

const RANKING_STYLE = `
.fd-heading { margin-top: 18px; }
.fd-mutation h3 { font-size: 13px; margin: 10px 0 4px; }
.fd-mutation > .fd-beside > :first-child { flex: 0 1 420px; overflow-x: auto; }
.fd-mutation .fd-beside .fd-beside > div { flex: 1 1 280px; overflow-x: auto; }
.fd-mutation .fd-beside .fd-beside > div:first-child { flex: 1 1 390px; }
.fd-few { max-height: 170px; }
.fd-threshold { border: 1px solid var(--fd-line); border-radius: 4px; padding: 6px 10px; margin-bottom: 8px; }
.fd-threshold-field { display: inline-flex; gap: 6px; align-items: center; }
`

const COLUMNS = 'rank root contributionUs requests kind category meaning'.split(' ')
/** Number of columns to the left of the bars and curves; a narrow page may cut off the others. */
const COLUMNS_BEFORE_DRAWINGS = 3
const PAGE_SIZE = 100
const BAR = 60
const CURVES = { width: 90, height: 26 }
const MAX_NAME_LENGTH = 48

function RankingView({ data, options, call }: ViewProps<RankingData, RankingWidgetOptions>) {
  const comparison = useMemo(() => restoreComparison(data.snapshot), [data])
  const initial = useMemo(() => thresholdState(comparison), [comparison])
  const curve = useMemo(() => thresholdCurve(comparison), [comparison])
  const [threshold, setThreshold] = useState<ThresholdState>(initial)
  const [isThresholdOpen, setThresholdOpen] = useState(options.threshold)
  const current = useMemo(() => comparison.with(threshold), [comparison, threshold])
  const entries = useMemo(() => rankingEntries(current, options.limit), [current])
  const [opened, setOpened] = useState(() => {
    const first = entries.find(({ rank }) => rank === options.opened)
    return first === undefined ? null : keyOf(first)
  })
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
  const toggle = (entry: RankingEntry) => setOpened(entry === open ? null : keyOf(entry))
  const { totalRows } = rows
  const first = rows.rows < totalRows ? `the first ${grouped(rows.rows)} of ` : ''
  const all = first + counted(totalRows, 'mutation')
  return (
    <section aria-label="Ranking browser">
      <Overview data={data} options={options} comparison={comparison} name={call.name} />
      <div class="fd-heading">
        <Caption text="Kinds of request" isHeading />
      </div>
      <div class="fd-bar">
        <SearchField table={table} label="Only mutations with" />
        {table.kept.length < totalRows ? (
          <KeptCount kept={table.kept.length} rows={rows.rows} all={all} />
        ) : null}
        <span class="fd-soft">
          <span class="fd-key fd-key-before" /> before <span class="fd-key fd-key-after" /> after
        </span>
        <Button aria-pressed={isThresholdOpen} onClick={() => setThresholdOpen(!isThresholdOpen)}>
          Threshold and level
        </Button>
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
        <DataTable
          label="Ranked mutations"
          class="fd-fit"
          rows={Array.from(table.sorted).flatMap((row) => entries[row] ?? [])}
          rowKey={keyOf}
          max={15}
          under={
            <FilterRow table={table} shown={withDrawn([...table.columns.keys()], NO_FILTERS)} />
          }
          columns={columnsOf({ table, entries, comparison: current, open, onToggle: toggle })}
          rowProps={(entry) => ({
            class: 'fd-openable',
            'aria-selected': entry === open,
            onClick: ({ target, currentTarget }) => {
              const isButton = (target as Element).closest('button, a') !== null
              if (!isButton && !isSelectingText(currentTarget)) toggle(entry)
            },
          })}
          opened={(entry) =>
            entry === open ? (
              <RankingDetails
                entry={entry}
                comparison={current}
                details={data.details.find((details) => keyOf(details) === opened)}
                name={name}
                linkOf={traceLinks(options.traceUrl)}
              />
            ) : null
          }
        />
      )}
      {entries.length > 0 && table.sorted.length === 0 ? (
        <p class="fd-soft">No mutation fits.</p>
      ) : null}
      <StateCode code={code} />
    </section>
  )
}

interface OverviewProps {
  readonly data: RankingData
  readonly options: RankingWidgetOptions
  readonly comparison: Comparison
  readonly name: string
}

/** Data shown for all requests, or for a stretch of time. */
interface Shown extends Pick<RankingData, 'findings' | 'none' | 'isClear'> {
  readonly comparison: Comparison
  readonly carried: (() => Comparison) | null
}

/** Shows where the time of a mean request went, when, and why. */
function Overview({ data, options, comparison, name }: OverviewProps) {
  const linkOf = useMemo(() => traceLinks(options.traceUrl), [options.traceUrl])
  const { timeline, ...whole } = data
  const view = ({ comparison: shown, carried, findings, none, isClear }: Shown, when: Child) => (
    <>
      <RibbonPane account={shown.account} {...{ isClear, carried, linkOf }} />
      {when}
      <FindingsList
        quantity={shown.flows.quantity}
        {...{ findings, none, name, carried, linkOf }}
      />
    </>
  )
  const all = { ...whole, comparison, carried: null }
  return timeline === null ? view(all, null) : <Stretches {...{ timeline, all, view }} />
}

type Child = ComponentChildren

interface StretchesProps {
  readonly timeline: NonNullable<RankingData['timeline']>
  readonly all: Shown
  readonly view: (shown: Shown, when: Child) => Child
}

/** Shows all requests, or the stretch of time that is selected, and below its ribbon the timeline. */
function Stretches({ timeline, all, view }: StretchesProps) {
  const model = useMemo(() => timelineModel(timeline), [timeline])
  const [ranges, setRanges] = useState<readonly [RangeUs | null, RangeUs | null]>([null, null])
  const carried = useCarried(timeline)
  const stretch = useStretch(timeline, { ranges, filter: NO_FILTER })
  const shown = useMemo((): Shown => {
    if (stretch?.state !== 'compared') return { ...all, carried }
    const { comparison, findings } = stretch
    return {
      comparison,
      findings,
      none: comparison.findings.nothingText(),
      isClear: ribbonIsClear(comparison),
      carried: () => comparison,
    }
  }, [stretch, carried])
  const when = (
    <PageOnly>
      <Timeline
        model={model}
        requests={model.requests}
        ranges={ranges}
        dots={FEW_DOTS}
        onRange={(period, range) =>
          setRanges(([before, after]) => (period === 0 ? [range, after] : [before, range]))
        }
      />
      {stretch === null ? null : (
        <p>
          <Button onClick={() => setRanges([null, null])}>Select everything</Button>{' '}
          <span aria-live="polite">{stretchText(stretch)}</span>
        </p>
      )}
    </PageOnly>
  )
  return <>{view(shown, when)}</>
}

const NO_FILTER = { category: null, root: null }

function tableOf({ ranking, flows }: Comparison, name: string, limit: number) {
  const table = ranking.table()
  const columns = COLUMNS.map((column) => columnIn(column, flows.quantity)).filter((column) =>
    table.columnNames().includes(column),
  )
  return tableData(table.select(...columns), {
    name: `${name}.ranking.table()`,
    title: 'Ranked mutations',
    pageSize: PAGE_SIZE,
    limit,
  })
}

function keyOf({ kind, category }: Pick<RankingEntry, 'kind' | 'category'>): string {
  return `${kind} ${category}`
}

function summaryOf({ structural, responseTime }: Comparison): string {
  const [came, changed] = [structural.mutations.length, responseTime.mutations.length]
  return (
    `${counted(came + changed, 'mutation')}: ${grouped(came)} structural, ` +
    `${grouped(changed)} response-time · ${counted(structural.precursors.length, 'precursor')}`
  )
}

interface Listed {
  readonly table: UsedTable
  readonly entries: readonly RankingEntry[]
  readonly comparison: Comparison
  readonly open: RankingEntry | undefined
  readonly onToggle: (entry: RankingEntry) => void
}

const NO_FILTERS = [null, null, null]

function withDrawn<T>(columns: readonly T[], drawn: readonly T[]): T[] {
  return [
    ...columns.slice(0, COLUMNS_BEFORE_DRAWINGS),
    ...drawn,
    ...columns.slice(COLUMNS_BEFORE_DRAWINGS),
  ]
}

/** Returns the columns of {@link COLUMNS}, which readers sort and filter, and the drawings among them. */
function columnsOf({ table, entries, comparison, open, onToggle }: Listed) {
  const { quantity } = comparison.categories.flows
  const isTime = quantity === TIME
  const contribution = ({ contributionUs }: RankingEntry) => Math.abs(contributionUs)
  const largestUs = max(entries, contribution) ?? 0
  const cells: readonly Omit<DataColumn<RankingEntry>, 'title'>[] = [
    rankColumn('Mutation', (entry) => entry === open, onToggle),
    {
      stillTitle: 'kind of request (category)',
      still: ({ name, category }) => `${name} (${category})`,
      cell: ({ category }) => {
        const root = comparison.categories.root(category)
        return <span title={tooltipText(root)}>{shortText(root, MAX_NAME_LENGTH)}</span>
      },
    },
    {
      // The live title names the unit.
      stillTitle: isTime ? 'adds in total' : `adds in total (${quantity.unit})`,
      isNumber: true,
      cell: ({ contributionUs }) =>
        signedAmount(contributionUs, isTime ? quantity : { ...quantity, unit: '' }).trim(),
    },
    {
      isNumber: true,
      cell: ({ kind, requests }) => `${kind === 'structural' ? '+' : ''}${grouped(requests)}`,
    },
    { cell: ({ kind }) => kind },
    { isNumber: true, still: null, cell: ({ category }) => category },
    // A still names it with the kind of request.
    { still: null, cell: ({ meaning }) => tooltipText(meaning) },
  ]
  const bar = (entry: RankingEntry) => (
    <ContributionBar share={contribution(entry) / (largestUs || 1)} entry={entry} />
  )
  const drawn: readonly DataColumn<RankingEntry>[] = [
    {
      title: '',
      still: (entry) => ({ width: BAR, drawing: <g transform="translate(0 5)">{bar(entry)}</g> }),
      cell: (entry) => (
        <svg width={BAR} height="10" aria-hidden="true">
          {bar(entry)}
        </svg>
      ),
    },
    {
      title: 'medians',
      isNumber: true,
      still: null,
      cell: ({ before, after }) => fromToText(medianUs(before), medianUs(after), quantity),
    },
    {
      title: isTime ? 'response times' : quantity.name,
      hint: isTime ? 'share of requests finished by each time' : 'share of requests up to each',
      still: (entry) => ({
        width: CURVES.width,
        drawing: <TimesCurves entry={entry} width={CURVES.width} height={20} />,
      }),
      cell: (entry) => <TimesPlot entry={entry} {...CURVES} />,
    },
  ]
  const columns = table.columns.map(({ name }, at) => ({
    ...(cells[at] as (typeof cells)[number]),
    title: name,
    th: <HeadCell key={name} table={table} at={at} />,
  }))
  return withDrawn<DataColumn<RankingEntry>>(columns, drawn)
}

function ContributionBar({ share, entry }: { share: number; entry: RankingEntry }) {
  const ink = useInk()
  const color = entry.contributionUs < 0 ? ink.less : ink.change
  return <rect width={Math.max(1, BAR * share)} height="10" style={`fill:${color}`} />
}

/**
 * The ranked mutations to sort and filter; each opens into flows, parameters, edges, precursors and
 * typical requests. A slider shows what `comparison.with(…)` gives, computed in the page.
 */
export const rankingWidget = defineWidget({
  name: 'ranking',
  title: 'Ranking browser',
  description: ({ details }: RankingData) =>
    `${counted(details.length, 'mutation')}; ` +
    'open one for its edges, its precursors and typical requests, or drag the threshold.',
  options: RANKING_WIDGET_OPTIONS,
  data: rankingData,
  view: RankingView,
  style: [
    TABLE_STYLE,
    FLOW_STYLE,
    EXPLANATION_STYLE,
    TIMELINE_STYLE,
    RIBBON_STYLE,
    FINDINGS_STYLE,
    RANKING_STYLE,
  ].join(''),
  hasCharts: true,
})
