import { max } from 'd3-array'
import { scaleLog } from 'd3-scale'
import { useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../comparison/comparison.ts'
import { restoreComparison } from '../../../comparison/snapshot.ts'
import { fromToText, signedAmount, TIME } from '../../../core/quantity.ts'
import { columnIn } from '../../../core/stage.ts'
import { counted, grouped, shortText, tooltipText } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { logAxis, plainAxis } from '../../charts/axes.ts'
import { curves, ruleAt } from '../../charts/builders.ts'
import { framedChart, PALETTE } from '../../charts/chart-frame.ts'
import {
  actOnKey,
  Button,
  Checkbox,
  isSelectingText,
  Select,
  StateCode,
} from '../../drawing/controls.tsx'
import { type DataColumn, DataTable, numberColumn, rankColumn } from '../../drawing/data-table.tsx'
import { Caption, type Ink, PageOnly, useInk } from '../../drawing/figure.tsx'
import { defineWidget, exploreCode, type ViewProps } from '../define-widget.ts'
import { EXPLANATION_STYLE } from '../explanation/explanation-widget.tsx'
import { ChangePane, FINDINGS_STYLE, RIBBON_STYLE, traceLinks } from '../findings/findings-list.tsx'
import { FLOW_STYLE } from '../flows/flow-view.tsx'
import { tableData } from '../table/table-columns.ts'
import {
  FilterRow,
  HeadCell,
  KeptCount,
  SearchField,
  StartOver,
  TABLE_STYLE,
  type UsedTable,
  useTable,
} from '../table/table-widget.tsx'
import { stretchText, timelineModel, useCarried, useStretch } from '../timeline/timeline-model.tsx'
import { FEW_DOTS, TIMELINE_STYLE, Timeline } from '../timeline/timeline-widget.tsx'
import { VegaChart } from '../vega-chart.tsx'
import { medianUs, RankingDetails, TimesCurves, TimesPlot } from './ranking-details.tsx'
import {
  RANKING_WIDGET_OPTIONS,
  type RankingData,
  type RankingEntry,
  type RankingWidgetOptions,
  rankingData,
  rankingEntries,
  type ThresholdCurve,
  type ThresholdState,
  thresholdCode,
  thresholdCurve,
  thresholdState,
} from './ranking-model.ts'

/** Size of the plot, in pixels: next to it stand its numbers, and half a thumb of the slider on both sides. */
const WIDTH = 560
const LEFT = 32
const RIGHT = 12
const THUMB = 16
const HEIGHT = 110
const SLIDER = 1000
const ALPHAS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]

interface PaneProps {
  readonly curve: ThresholdCurve
  readonly initial: ThresholdState
  readonly state: ThresholdState
  readonly onChange: (changes: Partial<ThresholdState>) => void
}

function ThresholdPane({ curve, initial, state, onChange }: PaneProps) {
  const { thresholds, suggested } = curve
  const { smPThreshold, alpha, correction, oneToN } = state
  const isAuto = smPThreshold === 'auto'
  const value = isAuto ? suggested : smPThreshold
  const spec = useMemo(() => curveChart(curve), [curve])
  const x = scaleLog([1, Math.max(2, thresholds.at(-1) ?? 2)], [0, SLIDER]).clamp(true)
  const go = (to: number | undefined) => to !== undefined && onChange({ smPThreshold: to })
  const up = () => go(thresholds.find((next) => next > value))
  const down = () => go(thresholds.findLast((next) => next < value))
  const keys = { ArrowRight: up, ArrowUp: up, ArrowLeft: down, ArrowDown: down }
  return (
    <div class="fd-threshold">
      <div style={`min-height:${HEIGHT + 130}px`}>
        <VegaChart spec={spec} />
      </div>
      <div>
        <input
          type="range"
          aria-label="SM_P_THRESHOLD"
          aria-valuetext={`${value} requests`}
          style={`margin-left:${LEFT - THUMB / 2}px;width:calc(100% - ${LEFT + RIGHT - THUMB}px)`}
          min={0}
          max={SLIDER}
          value={Math.round(x(Math.max(1, value)))}
          disabled={isAuto}
          onInput={({ currentTarget }) =>
            onChange({ smPThreshold: Math.round(x.invert(currentTarget.valueAsNumber)) })
          }
          onKeyDown={(event) => actOnKey(event, keys)}
        />
      </div>
      <div class="fd-bar">
        <ThresholdField value={value} isDisabled={isAuto} onChange={onChange} />
        <Checkbox
          label="auto: significant changes"
          help="Tests each category’s share of its type instead of using one number for all"
          isChecked={isAuto}
          onChange={(isOn) => onChange({ smPThreshold: isOn ? 'auto' : suggested })}
        />
        <Checkbox
          label="1:N rule"
          help="A precursor must have lost at least the number of requests that the mutation gained"
          isChecked={oneToN}
          onChange={(isOn) => onChange({ oneToN: isOn })}
        />
        <Select
          label="level α"
          value={alpha}
          values={[...new Set([...ALPHAS, initial.alpha])].sort((a, b) => a - b)}
          onChoose={(level) => onChange({ alpha: level })}
        />
        <Checkbox
          label="corrected for the number of tests"
          help="Benjamini-Hochberg: of the changes found, at most a share α is due to chance"
          isChecked={correction === 'bh'}
          onChange={(isOn) => onChange({ correction: isOn ? 'bh' : 'none' })}
        />
      </div>
    </div>
  )
}

function curveChart({ thresholds, mutations, precursors, suggested }: ThresholdCurve) {
  const steps = (counted: readonly number[]) =>
    thresholds.map((value, i) => [value, counted[i] ?? 0] as const)
  const most = Math.max(1, mutations[0] ?? 0, precursors[0] ?? 0)
  return framedChart(
    {
      title: 'Categories at each threshold',
      subtitle: `At a threshold of ${thresholds[0] ?? 1}, ${counted(mutations[0] ?? 0, 'structural mutation')} and ${counted(precursors[0] ?? 0, 'precursor')}; fewer with every larger one. Chance alone reaches ${grouped(suggested)} (dashed).`,
      width: WIDTH,
    },
    {
      ...curves({
        x: logAxis(
          [1, Math.max(2, thresholds.at(-1) ?? 2)],
          'SM_P_THRESHOLD: more requests than this must have come or gone',
        ),
        y: plainAxis([0, most], { title: null, tickMinStep: 1, tickCount: 4 }),
        curves: [
          { name: 'structural mutations', color: PALETTE.after, points: steps(mutations) },
          { name: 'precursors', color: PALETTE.before, points: steps(precursors) },
        ],
        fields: ['kind', 'threshold', 'categories'],
        over: [ruleAt(suggested, { color: PALETTE.softText, strokeDash: [3, 3] })],
      }),
      width: WIDTH,
      height: HEIGHT,
    },
  ).spec
}

type FieldProps = Pick<PaneProps, 'onChange'> & {
  readonly value: number
  readonly isDisabled: boolean
}

/** Takes the threshold as a number; wrong input is marked, and left it shows the number in use. */
function ThresholdField({ value, isDisabled, onChange }: FieldProps) {
  const [refused, setRefused] = useState<string | null>(null)
  const isRefused = refused !== null && !isDisabled
  return (
    <span class="fd-threshold-field">
      <label>
        threshold
        <input
          type="number"
          min={0}
          step={1}
          style="width:6.5em"
          value={isRefused ? refused : value}
          disabled={isDisabled}
          aria-invalid={isRefused}
          onInput={({ currentTarget }) => {
            const typed = currentTarget.valueAsNumber
            setRefused(typed >= 0 ? null : currentTarget.value)
            if (typed >= 0) onChange({ smPThreshold: typed })
          }}
          onBlur={({ currentTarget }) => {
            setRefused(null)
            // A rendering would not see that the field holds something else.
            currentTarget.value = String(value)
          }}
        />
      </label>
      <span aria-live="polite" style="color:var(--fd-change-text)">
        {isRefused ? `not a number of requests; ${grouped(value)} is used` : ''}
      </span>
    </span>
  )
}

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

const COLUMNS = 'rank root contributionUs requests kind category'.split(' ')
/** Number of columns to the left of the bars and curves; a narrow page may cut off the others. */
const COLUMNS_BEFORE_DRAWINGS = 3
const PAGE_SIZE = 100
const BAR = 60
const CURVES = { width: 90, height: 26 }
const MAX_NAME_LENGTH = 48

function RankingView({ data, options, call }: ViewProps<RankingData, RankingWidgetOptions>) {
  const comparison = useMemo(() => restoreComparison(data.snapshot), [data])
  const linkOf = useMemo(() => traceLinks(options.traceUrl), [options.traceUrl])
  const initial = useMemo(() => thresholdState(comparison), [comparison])
  const curve = useMemo(() => thresholdCurve(comparison), [comparison])
  const ink = useInk()
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
  const state = { ...options, opened: open?.rank ?? null, threshold: isThresholdOpen }
  const code =
    open === undefined || !table.isUntouched
      ? table.code
      : exploreCode(RANKING_WIDGET_OPTIONS, state, { name, kind: null })
  const toggle = (entry: RankingEntry) => setOpened(entry === open ? null : keyOf(entry))
  const { totalRows } = rows
  const first = rows.rows < totalRows ? `the first ${grouped(rows.rows)} of ` : ''
  const { timeline, ...whole } = data
  const all = { ...whole, comparison, name: call.name, linkOf, carried: null }
  return (
    <section aria-label="Ranking browser">
      {timeline === null ? <ChangePane {...all} /> : <Stretches {...{ timeline, all }} />}
      <div class="fd-heading">
        <Caption text="Kinds of request" isHeading />
      </div>
      <div class="fd-bar">
        <SearchField table={table} label="Only mutations with" />
        {table.kept.length < totalRows ? (
          <KeptCount
            kept={table.kept.length}
            rows={rows.rows}
            all={first + counted(totalRows, 'mutation')}
          />
        ) : null}
        <span class="fd-soft">
          <span class="fd-key fd-key-before" /> before <span class="fd-key fd-key-after" /> after
        </span>
        <Button aria-pressed={isThresholdOpen} onClick={() => setThresholdOpen(!isThresholdOpen)}>
          Threshold and level
        </Button>
        <StartOver table={table} />
      </div>
      {isThresholdOpen && (
        <ThresholdPane
          {...{ curve, initial, state: threshold }}
          onChange={(changes) => setThreshold({ ...threshold, ...changes })}
        />
      )}
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
          columns={columnsOf({ table, entries, comparison: current, open, onToggle: toggle, ink })}
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
                linkOf={linkOf}
              />
            ) : null
          }
        />
      )}
      {entries.length > 0 && table.sorted.length === 0 && <p class="fd-soft">No mutation fits.</p>}
      <StateCode code={code} />
    </section>
  )
}

interface StretchesProps {
  readonly timeline: NonNullable<RankingData['timeline']>
  readonly all: Parameters<typeof ChangePane>[0]
}

/** Shows all requests, or the stretch of time that is selected, and below its ribbon the timeline. */
function Stretches({ timeline, all }: StretchesProps) {
  const model = useMemo(() => timelineModel(timeline), [timeline])
  const [ranges, setRanges] = useState<readonly [RangeUs | null, RangeUs | null]>([null, null])
  const carried = useCarried(timeline)
  const stretch = useStretch(timeline, { ranges, filter: NO_FILTER })
  return (
    <ChangePane {...all} carried={carried} {...(stretch?.state === 'compared' && stretch)}>
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
    </ChangePane>
  )
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
  const precursors = counted(structural.precursors.length, 'precursor')
  return `${counted(came + changed, 'mutation')}: ${grouped(came)} structural, ${grouped(changed)} response-time · ${precursors}`
}

interface Listed {
  readonly table: UsedTable
  readonly entries: readonly RankingEntry[]
  readonly comparison: Comparison
  readonly open: RankingEntry | undefined
  readonly onToggle: (entry: RankingEntry) => void
  readonly ink: Ink
}

const NO_FILTERS = [null, null, null]

function withDrawn<T>(columns: readonly T[], drawn: readonly T[]): T[] {
  return columns.toSpliced(COLUMNS_BEFORE_DRAWINGS, 0, ...drawn)
}

/** Returns the columns of {@link COLUMNS}, which readers sort and filter, and the drawings among them. */
function columnsOf({ table, entries, comparison, open, onToggle, ink }: Listed) {
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
  ]
  const bar = (entry: RankingEntry) => (
    <rect
      width={Math.max(1, BAR * (contribution(entry) / (largestUs || 1)))}
      height="10"
      style={`fill:${entry.contributionUs < 0 ? ink.less : ink.change}`}
    />
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
    numberColumn(
      'medians',
      ({ before, after }) => fromToText(medianUs(before), medianUs(after), quantity),
      { still: null },
    ),
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
  style: `${TABLE_STYLE}${FLOW_STYLE}${EXPLANATION_STYLE}${TIMELINE_STYLE}${RIBBON_STYLE}${FINDINGS_STYLE}${RANKING_STYLE}`,
  hasCharts: true,
})
