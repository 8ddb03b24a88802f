import { greatest, group, max, sort } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { useMemo, useState } from 'preact/hooks'
import { callTree, type FlowCall } from '../../../calls/call-tree.ts'
import { CriticalPathFinder } from '../../../calls/critical-path.ts'
import { Comparison } from '../../../compare/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import {
  custom,
  defineOptions,
  type OptionsOf,
  optionalText,
  optionalWord,
  text,
} from '../../../core/options.ts'
import {
  counted,
  formatDuration,
  grouped,
  hasWords,
  percent,
  shortText,
  spoken,
  tooltipText,
} from '../../../core/words.ts'
import { buildFlows } from '../../../flows/build-flows.ts'
import { AFTER, BEFORE, type FlowSet } from '../../../flows/flow-set.ts'
import { type NodeRecord, NodeRecords } from '../../../flows/node-records.ts'
import { GRAVE_LEVELS, logsOfSpan } from '../../../traces/log-records.ts'
import type { PeriodName } from '../../../traces/period.ts'
import { SPAN_KINDS, SPAN_STATUSES } from '../../../traces/span-columns.ts'
import type { TraceSet } from '../../../traces/trace-set.ts'
import {
  Button,
  FoldMark,
  foldKeys,
  Search,
  StateCode,
  useStops,
  useWidth,
} from '../../drawing/controls.tsx'
import { type DataColumn, DataTable, numberColumn } from '../../drawing/data-table.tsx'
import { Caption, useInk, useIsStill } from '../../drawing/figure.tsx'
import { Legend, marked } from '../../drawing/legend.tsx'
import {
  lengthUs,
  roundedRange,
  type StretchUs,
  TIME_RANGE,
  TimeGrid,
  toNanoseconds,
  uncovered,
  WorkBar,
  workLegend,
  ZOOM_STYLE,
  ZoomArea,
} from '../../drawing/time-range.tsx'
import { defineWidget, STAGE_NAME, useWidgetOptions, type ViewProps } from '../define-widget.ts'

export const GANTT_OPTIONS = defineOptions({
  id: optionalText('Id of the trace; null for one of the first finding, else the first'),
  collapsed: custom<readonly number[] | null>({
    default: null,
    sentence:
      'Numbers of the calls whose own calls are folded away, in the order of rows; null for the deepest, so that about 60 rows are left',
    expected: 'a list of numbers of calls, or null',
    accepts: (calls) =>
      calls === null || (Array.isArray(calls) && calls.every((call) => Number.isInteger(call))),
  }),
  range: TIME_RANGE,
  search: text({ default: '', sentence: 'Text to look for in names, hosts and parameters' }),
  period: optionalWord(
    ['before', 'after'],
    'Period in which to look for the trace; null for before, then after',
  ),
  name: STAGE_NAME,
})

export type GanttOptions = OptionsOf<typeof GANTT_OPTIONS>

export type GanttCall = ReturnType<typeof requestCalls>[number]

export type GanttData = ReturnType<typeof ganttOf>

/** A trace that took no time is drawn on an axis of this length. */
const MIN_LENGTH_US = 1

export function ganttData(source: Comparison | TraceSet, options: GanttOptions): GanttData {
  const { collapsed, period } = options
  const isComparison = source instanceof Comparison
  if (period !== null && !isComparison) {
    throw new OptionError('period', period, 'null, as there is one period only')
  }
  const flows = flowsOf(source)
  const traceId = fullId(source, options) ?? ''
  const requests = requestsOf(flows, traceId, period)
  const calls = ganttCalls(flows, requests)
  const wrong = collapsed?.find((call) => call < 0 || call >= calls.length)
  if (wrong !== undefined) {
    throw new OptionError('collapsed', wrong, `numbers of calls, from 0 to ${calls.length - 1}`)
  }
  return { ...ganttOf(flows, requests, calls), traceId, ...(!isComparison && { period: null }) }
}

/** Returns a trace, made of one or several requests, as a page draws it. */
export function ganttOf(
  flows: FlowSet,
  requests: readonly number[],
  calls = ganttCalls(flows, requests),
) {
  const first = requests[0] ?? 0
  const period: PeriodName = flows.period[first] === BEFORE ? 'before' : 'after'
  return {
    traceId: flows.ids[first] ?? '',
    lengthUs: calls.reduce((latest, { endUs }) => Math.max(latest, endUs), MIN_LENGTH_US),
    /** Callers before callees, in order of start among siblings. */
    calls: calls.map(({ facts, ...call }): GanttCall => ({ ...toNanoseconds(call), facts })),
    period: period as PeriodName | null,
    responseTimeUs: flows.responseTimeUs[first] ?? 0,
    usuallyCollapsed: foldedTo(calls, DEFAULT_ROWS),
  }
}

function flowsOf(source: Comparison | TraceSet): FlowSet {
  return source instanceof Comparison ? source.flows : buildFlows(source)
}

/**
 * Returns a trace's id by how it begins, as `06a7fd32…` in findings; without one, that of the first finding, else the
 * first trace's.
 *
 * @throws OptionError for how several ids begin
 */
export function fullId(
  source: Comparison | TraceSet,
  { id, period }: GanttOptions,
): string | undefined {
  const { ids } = flowsOf(source)
  if (id === null) {
    const [first] = source instanceof Comparison ? source.findings.findings : []
    const { before = [], after = [] } = first?.exemplars ?? {}
    return (period === 'before' ? before : [...after, ...before])[0] ?? ids[0]
  }
  if (ids.includes(id)) return id
  const start = id.replace(/(…|\.\.\.)$/, '')
  const [first = id, second] = new Set(ids.filter((one) => one.startsWith(start)))
  if (second === undefined) return first
  throw new OptionError('id', id, `more of it: ids that begin so are '${first}', '${second}'`)
}

function requestsOf(flows: FlowSet, traceId: string, asked: GanttOptions['period']): number[] {
  for (const period of asked === null ? [BEFORE, AFTER] : [asked === 'before' ? BEFORE : AFTER]) {
    const found = [...flows.ids.keys()].filter(
      (request) => flows.ids[request] === traceId && flows.period[request] === period,
    )
    if (found.length > 0) return found
  }
  const some = flows.ids[0] === undefined ? '' : `, such as '${flows.ids[0]}'`
  throw new OptionError('id', traceId, `the id of a trace${some}`)
}

export function ganttCalls(flows: FlowSet, requests: readonly number[]): GanttCall[] {
  const finder = new CriticalPathFinder(flows)
  const beginUs = Math.min(...requests.map((request) => flows.startUs[request] as number))
  const calls: GanttCall[] = []
  for (const request of requests) {
    const first = calls.length
    for (const call of requestCalls(flows, request, { beginUs, finder })) {
      calls.push(call.parent < 0 ? call : { ...call, parent: call.parent + first })
    }
  }
  return calls
}

function requestCalls(
  flows: FlowSet,
  request: number,
  { beginUs, finder }: { readonly beginUs: number; readonly finder: CriticalPathFinder },
) {
  const shape = flows.shapeOf[request] as number
  const { calls, callOfEdge } = callTree(flows, shape)
  const offsetUs = (flows.startUs[request] as number) - beginUs
  const timeUs = finder.nodeTimes(request).map((us) => us + offsetUs)
  const spans = calls.map(({ start, end }): StretchUs => {
    const startUs = timeUs[start] as number
    if (end < 0) return [startUs, startUs + (flows.responseTimeUs[request] as number)]
    return [startUs, Math.max(startUs, timeUs[end] as number)]
  })
  const critical = calls.map((): StretchUs[] => [])
  for (const { edge, startUs, us } of finder.path(request)) {
    const stretch: StretchUs = [offsetUs + startUs, offsetUs + startUs + us]
    if (us > 0) critical[callOfEdge[edge] as number]?.push(stretch)
  }
  const spanOf = (call: number) => spans[call] as StretchUs
  const children = group(calls.keys(), (call) => calls[call]?.parent ?? -1)
  const childrenOf = (call: number) =>
    sort(
      children.get(call) ?? [],
      (child) => spanOf(child)[0],
      (child) => -spanOf(child)[1],
    )
  // Each call followed by those it makes.
  const order: number[] = []
  const pending = [0]
  for (let call = pending.pop(); call !== undefined; call = pending.pop()) {
    order.push(call)
    pending.push(...childrenOf(call).reverse())
  }
  const rowOf = new Map(order.map((call, row) => [call, row]))
  const within = new Uint32Array(calls.length)
  for (const call of order.toReversed()) {
    for (const child of children.get(call) ?? []) {
      within[call] = (within[call] as number) + 1 + (within[child] as number)
    }
  }
  const recorded = factsOf(flows, request)
  return order.map((number) => {
    const call = calls[number] as FlowCall
    const { parent, depth, service, name, host } = call
    const [startUs, endUs] = spanOf(number)
    const callees = children.get(number) ?? []
    const { kind, ...facts } = recorded(call)
    return {
      /** Number of the call it is made by; -1 for the beginning of a request. */
      parent: rowOf.get(parent) ?? -1,
      depth,
      inner: within[number] as number,
      service,
      name,
      host,
      startUs,
      endUs,
      work: uncovered([startUs, endUs], callees.map(spanOf)),
      /** Whether its own time is that of the way to its callee and back: network and queues. */
      isOnTheWay: isOnTheWay(
        call,
        kind,
        callees.map((callee) => calls[callee] as FlowCall),
      ),
      /** When its own work was on the request's critical path. */
      critical: critical[number] as StretchUs[],
      ...facts,
    }
  })
}

/**
 * Whether a call is the caller's side of calls of other services or hosts: its remaining time is no work. Source:
 * Sambasivan 2013, §7.5, on Dapper, which subtracts the server's time from the client's.
 */
function isOnTheWay(caller: FlowCall, kind: string | null, callees: readonly FlowCall[]): boolean {
  const isCallee = ({ service, host, name }: FlowCall) =>
    (service !== caller.service || host !== caller.host) &&
    // Trace points of both sides have one name.
    (kind === 'client' || (kind === null && name === caller.name))
  return callees.length > 0 && callees.every(isCallee)
}

/** Most parameters of one call that are carried along. */
const MAX_FACTS = 40
const MAX_VALUE_LENGTH = 500

/** Returns the facts that traces record for a call, from its first and last node: failure, kind, status, parameters. */
function factsOf(flows: FlowSet, request: number) {
  const traces = flows.tracesOf(request)
  const records = new NodeRecords(flows)
  const short = <T,>(value: T) =>
    typeof value === 'string' ? value.slice(0, MAX_VALUE_LENGTH) : value
  const shortened = (facts: NodeRecord) =>
    facts.slice(0, MAX_FACTS).map(([name, value]) => [short(name), short(value)] as const)
  return ({ start, end }: FlowCall) => {
    if (traces?.kind !== 'spans') {
      const nodes = end < 0 || end === start ? [start] : [start, end]
      const facts = nodes.flatMap((node) => records.of(request, node))
      return { kind: null, isError: false, facts: shortened(facts), logs: [] }
    }
    const row = records.spanRow(request, start)
    if (row === undefined) return { kind: '', isError: false, facts: [], logs: [] }
    const { spans, attributes } = traces
    const logged = traces.logs === undefined ? [] : logsOfSpan(traces.logs, row)
    const logs = logged.map(({ timeUs, level, source, text }) => ({
      afterUs: timeUs - (spans.startUs[row] as number),
      isGrave: GRAVE_LEVELS.has(level),
      said: spoken([level.toUpperCase(), source, text]).join(' '),
    }))
    const status = SPAN_STATUSES[spans.status[row] as number] ?? 'unset'
    const kind: string = SPAN_KINDS[spans.kind[row] as number] ?? 'internal'
    const facts: NodeRecord = [
      ['kind', kind],
      ...(status === 'unset' ? [] : [['status', status] as const]),
      ...logs.map(({ afterUs, said }) => [`logged ${formatDuration(afterUs)} in`, said] as const),
      ...attributes.entries(row),
    ]
    return { kind, isError: status === 'error', facts: shortened(facts), logs }
  }
}

/** Rows that a chart begins with at most, if folding can do it. */
export const DEFAULT_ROWS = 60

/** Returns the calls to fold so that about `rows` rows are left: unfolds level by level, the longest first. */
export function foldedTo(calls: readonly GanttCall[], rows: number): number[] {
  const children = group(calls, ({ parent }) => parent)
  const callAt = (call: number) => calls[call] as GanttCall
  const callers = sort(
    [...calls.keys()].filter((call) => children.has(call)),
    (call) => callAt(call).depth,
    (call) => callAt(call).startUs - callAt(call).endUs,
  )
  const folded: number[] = []
  const unfolded = new Set([-1])
  let left = children.get(-1)?.length ?? 0
  for (const call of callers) {
    const more = children.get(call)?.length ?? 0
    if (!unfolded.has(callAt(call).parent)) continue
    if (left + more > rows) folded.push(call)
    else {
      unfolded.add(call)
      left += more
    }
  }
  return sort(folded)
}

export function uncriticalCalls(calls: readonly GanttCall[]): number[] {
  return [...calls.entries()]
    .filter(([call, { inner }]) => {
      const within = calls.slice(call + 1, call + 1 + inner)
      return inner > 0 && within.every(({ critical }) => critical.length === 0)
    })
    .map(([call]) => call)
}

export type GanttRow = ReturnType<typeof ganttRows>[number]

export function ganttRows(calls: readonly GanttCall[], collapsed: readonly number[]) {
  const folded = new Set(collapsed)
  let next = 0
  return calls.flatMap((call, number) => {
    if (number < next) return []
    const isFolded = call.inner > 0 && folded.has(number)
    next = number + 1 + (isFolded ? call.inner : 0)
    // Critical stretches of the call and of those folded into it.
    const critical = calls.slice(number, next).flatMap((each) => each.critical)
    return [{ number, call, name: nameOf(call, calls[call.parent]), isFolded, critical }]
  })
}

/** Names a call; its service only where that is not its caller's. */
export function nameOf({ service, name }: GanttCall, caller?: GanttCall): string {
  return tooltipText(service === caller?.service && name !== '' ? name : `${service} ${name}`)
}

export function callMatches({ service, name, host, facts }: GanttCall, search: string): boolean {
  return hasWords([service, name, host, ...facts.flat()].join(' '), search)
}

const ROW = 22

type BarProps = { row: GanttRow; range: StretchUs; width: number; color: string }

/** Draws a call in time, with what it logged. */
function Bar({ row, color, ...time }: BarProps) {
  const { call, isFolded, critical } = row
  const { range, width } = time
  const x = scaleLinear(range, [0, width]).clamp(true)
  return (
    <g>
      <TimeGrid {...time} lines={[0, ROW]} />
      <WorkBar {...{ range, x, color }} timed={{ ...call, critical, isFolded }} middle={9} />
      {call.logs.map(({ afterUs, isGrave, said }, i) => {
        const atUs = call.startUs + afterUs
        if (atUs < range[0] || atUs > range[1]) return null
        return <LogMark key={i} x={x(atUs)} isGrave={isGrave} title={said} />
      })}
    </g>
  )
}

function LogMark({ x, isGrave, title = '' }: { x: number; isGrave: boolean; title?: string }) {
  const { change, text, back } = useInk()
  return (
    <circle cx={x.toFixed(2)} cy="4" r="3" fill={isGrave ? change : text} stroke={back}>
      {title === '' ? null : <title>{tooltipText(title)}</title>}
    </circle>
  )
}

export const GANTT_STYLE = `${ZOOM_STYLE}
.fd-gantt-rows { max-height: 640px; }
.fd-gantt-rows table { width: 100%; }
:where(.fd-gantt-rows) th, :where(.fd-gantt-rows) td { padding: 0; border: 0; }
.fd-gantt-rows thead th { font-weight: normal; color: var(--fd-soft); z-index: 1; }
.fd-gantt-row:hover td { background: var(--fd-raised); }
.fd-gantt-row[aria-selected="true"] td { background: var(--fd-selected); }
.fd-gantt-row:focus-visible { outline-offset: -2px; }
.fd-gantt-row.fd-dim { opacity: 0.45; }
.fd-gantt-row.fd-found .fd-gantt-name { font-weight: 600; text-decoration: underline; text-decoration-color: var(--fd-change); text-underline-offset: 2px; }
.fd-gantt-row .fd-amount { color: var(--fd-soft); font-size: 12px; }
.fd-gantt-name { display: flex; gap: 4px; height: 22px; align-items: center; white-space: nowrap; padding-right: 8px; }
.fd-gantt-text { overflow: hidden; text-overflow: ellipsis; }
.fd-gantt-details { min-height: 9em; margin-top: 8px; }
.fd-gantt-details .fd-scroll { display: flex; flex-wrap: wrap; gap: 8px 32px; align-items: flex-start; }
.fd-gantt-details h3, .fd-gantt-details td { overflow-wrap: anywhere; vertical-align: top; }
.fd-gantt-details th { font-weight: normal; position: static; }
`

/** Rows that are drawn at first; a button shows as many more. */
const PAGE = 500
/** A still is no place to look for the two hundredth call. */
const MAX_STILL_ROWS = 100
/** Room for durations and a scroll bar. */
const ASIDE = 80
/** Indentation of a level, if that leaves most of the column to names. */
const MAX_INDENT = 11
const MAX_INDENTED = 0.3
const SPACE = 3.7

export function GanttView(props: ViewProps<GanttData, GanttOptions>) {
  const { data } = props
  const { calls, usuallyCollapsed } = data
  const { options, change, code } = useWidgetOptions(GANTT_OPTIONS, props)
  const { search } = options
  const collapsed = options.collapsed ?? usuallyCollapsed
  const collapse = (numbers: readonly number[]) => {
    const sorted = numbers.toSorted((a, b) => a - b)
    change({ collapsed: String(sorted) === String(usuallyCollapsed) ? null : sorted })
  }
  const fold = (call: number, isFolded: boolean) =>
    collapse(isFolded ? [...collapsed, call] : collapsed.filter((other) => other !== call))
  const zoom = (range: StretchUs | null) => change({ range })
  const [selected, setSelected] = useState(0)
  const [most, setMost] = useState(PAGE)
  const [place, width] = useWidth<HTMLElement>()
  const isStill = useIsStill()
  const ink = useInk()
  const all = useMemo(() => ganttRows(calls, collapsed), [data, collapsed])
  const rows = all.slice(0, most)
  const shown = rows.find(({ number }) => number === selected) ?? rows[0]
  const matches = useMemo(
    () => [...calls.keys()].filter((call) => callMatches(calls[call] as GanttCall, search)),
    [data, search],
  )
  const goTo = (call: number | undefined) => {
    if (call === undefined) return
    const isAround = (other: number) => other < call && call <= other + (calls[other]?.inner ?? 0)
    collapse(collapsed.filter((other) => !isAround(other)))
    setMost(Math.max(most, call + 1))
    setSelected(call)
    // The row may have to be drawn first.
    requestAnimationFrame(() => {
      place.current?.querySelector(`[data-call="${call}"]`)?.scrollIntoView({ block: 'nearest' })
    })
  }
  const goToNext = () => goTo(matches.find((call) => call > selected) ?? matches[0])
  const numbers = rows.map(({ number }) => number)
  const { goTo: focus, stopAt } = useStops(numbers, selected, setSelected)
  const stopAtRow = ({ number, call, isFolded }: GanttRow) => {
    const { startUs, endUs, parent, inner } = call
    const toggle = () => fold(number, !isFolded)
    return stopAt(number, {
      ...foldKeys(inner > 0 ? !isFolded : null, toggle, () => focus(parent)),
      Enter: () => inner > 0 && toggle(),
      z: () => endUs > startUs && zoom(roundedRange([startUs, endUs])),
      Escape: () => zoom(null),
    })
  }
  const range: StretchUs = options.range ?? [0, data.lengthUs]
  const color = data.period === 'before' ? ink.before : ink.after
  const plot = Math.max(100, Math.round(0.65 * width) - ASIDE)
  const naming = Math.max(130, width - plot - ASIDE)
  const deepest = max(all, ({ call }) => call.depth) || 1
  const indent = Math.min(MAX_INDENT, (MAX_INDENTED * naming) / deepest)
  const time = { range, width: plot }
  const bar = (row: GanttRow) => <Bar {...{ row, color, ...time }} />
  const legend = workLegend(color, ink)
  const isFound = (number: number) => search.trim() === '' || matches.includes(number)
  const columns: readonly DataColumn<GanttRow>[] = [
    {
      title: calls.length === 1 ? 'call' : 'calls',
      cell: (row) => (
        <CallName row={row} indent={indent * row.call.depth} width={naming} onFold={fold} />
      ),
      still: ({ number, call, name, isFolded }) => ({
        text:
          '\u00a0'.repeat(Math.round((indent * call.depth) / SPACE)) +
          `${call.isError ? '✕ ' : ''}${name}${isFolded ? ` +${call.inner}` : ''}`,
        color: isFound(number) ? ink.text : ink.soft,
      }),
    },
    {
      title: 'time',
      head: (
        <svg width={plot} height={ROW} class="fd-gantt-axis" aria-hidden="true">
          <title>Drag to go into a part of the time</title>
          <TimeGrid {...time} lines={[17, ROW]} textY={13} />
          <ZoomArea {...time} height={ROW} onRange={zoom} />
        </svg>
      ),
      stillTitle: { width: plot, drawing: <TimeGrid {...time} lines={[17, ROW]} textY={13} /> },
      cell: (row) => (
        <svg width={plot} height={ROW} aria-hidden="true">
          {bar(row)}
        </svg>
      ),
      still: (row) => ({
        width: plot,
        drawing: <g opacity={isFound(row.number) ? 1 : 0.4}>{bar(row)}</g>,
      }),
    },
    numberColumn('takes', ({ call }) => formatDuration(call.endUs - call.startUs)),
  ]
  return (
    <section ref={place} aria-label="Trace in time">
      <Caption text={heading(data)} isHeading />
      <div class="fd-bar">
        <Search
          value={search}
          placeholder="name, host or parameter"
          onSearch={(text) => change({ search: text })}
          onEnter={goToNext}
        />
        {search.trim() === '' ? null : (
          <span aria-live="polite">
            {grouped(matches.length)} of {grouped(calls.length)} match{' '}
            <Button disabled={matches.length === 0} onClick={goToNext}>
              next
            </Button>
          </span>
        )}
        <span class="fd-choice">
          <Button disabled={collapsed.length === 0} onClick={() => collapse([])}>
            unfold all
          </Button>
          <Button onClick={() => collapse(callers(calls))}>fold all</Button>
          <Button
            title="Fold all calls within which nothing is on the critical path"
            onClick={() => collapse(uncriticalCalls(calls))}
          >
            fold uncritical
          </Button>
          <Button disabled={options.range === null} onClick={() => zoom(null)}>
            whole time
          </Button>
        </span>
        <span class="fd-soft">Drag along the axis, or press z on a row, to go into the time.</span>
      </div>
      <Legend
        width={width}
        entries={[
          legend.works,
          legend.waits,
          ...(calls.some(({ isOnTheWay }) => isOnTheWay) ? [legend.onTheWay] : []),
          legend.critical,
          legend.folded,
          ...[false, true]
            .filter((grave) => calls.some(({ logs }) => logs.some((one) => one.isGrave === grave)))
            .map((isGrave) =>
              marked(
                isGrave ? 'logs a warning or an error' : 'logs',
                <g transform="translate(0,4.5)">
                  <LogMark x={12} isGrave={isGrave} />
                </g>,
              ),
            ),
        ]}
      />
      <DataTable
        label="Calls"
        role="treegrid"
        class="fd-gantt-rows"
        columns={columns}
        rows={isStill ? all : rows}
        max={MAX_STILL_ROWS}
        rowKey={({ number }) => number}
        rowProps={(row) => ({
          class: `fd-gantt-row ${search.trim() === '' ? '' : isFound(row.number) ? 'fd-found' : 'fd-dim'}`,
          'aria-level': row.call.depth + 1,
          'aria-selected': row.number === shown?.number,
          ...(row.call.inner > 0 ? { 'aria-expanded': !row.isFolded } : {}),
          'data-call': row.number,
          onMouseEnter: () => setSelected(row.number),
          ...stopAtRow(row),
        })}
      />
      {all.length > rows.length ? (
        <Button onClick={() => setMost(most + PAGE)}>
          Show more of {grouped(all.length - rows.length)} further rows
        </Button>
      ) : null}
      {shown === undefined ? null : <Details data={data} call={shown.call} />}
      <StateCode code={code} />
    </section>
  )
}

function heading({ traceId, period, calls, responseTimeUs }: GanttData): string {
  const where = period === null ? '' : ` (${period})`
  return `Trace ${shortText(traceId, 40)}${where}: ${formatDuration(responseTimeUs)}, ${counted(calls.length, 'call')}`
}

function callers(calls: readonly GanttCall[]): number[] {
  return calls.flatMap(({ parent, inner }, call) => (parent >= 0 && inner > 0 ? [call] : []))
}

type CallNameProps = {
  row: GanttRow
  indent: number
  width: number
  onFold: (call: number, isFolded: boolean) => void
}

function CallName({ row, indent, width, onFold }: CallNameProps) {
  const { number, call, name, isFolded } = row
  const { inner, isError } = call
  const style = `width:${width}px;padding-left:${indent}px`
  return (
    <div class="fd-gantt-name" title={nameOf(call)} style={style}>
      <FoldMark
        isOpen={inner > 0 ? !isFolded : null}
        label={`${isFolded ? 'unfold' : 'fold'} ${counted(inner, 'call')}`}
        onFold={() => onFold(number, !isFolded)}
      />
      {isError ? (
        <span role="img" aria-label="error" style="color:var(--fd-change-text)">
          ✕
        </span>
      ) : null}
      <span class="fd-gantt-text">{name}</span>
      {isFolded ? <span class="fd-soft">+{inner}</span> : null}
    </div>
  )
}

function Details({ data, call }: { data: GanttData; call: GanttCall }) {
  const { startUs, endUs, work, isOnTheWay, critical, facts, host, service, inner } = call
  const criticalUs = lengthUs(critical)
  const times = {
    began: startUs === 0 ? 'with the trace' : `${formatDuration(startUs)} after the trace began`,
    took: formatDuration(endUs - startUs),
    [isOnTheWay ? 'network and queues' : 'worked']: formatDuration(lengthUs(work)),
    'waited for what it called': formatDuration(endUs - startUs - lengthUs(work)),
    'itself on the critical path':
      criticalUs === 0
        ? 'none'
        : `${formatDuration(criticalUs)}, ${percent(criticalUs / data.responseTimeUs)} of the response time`,
    'calls within': counted(inner, 'call'),
    service,
    host,
  }
  return (
    <div class="fd-gantt-details" aria-live="polite">
      <h3>
        {call.isError ? '✕ ' : ''}
        {nameOf(call)}
      </h3>
      <div class="fd-scroll">
        <Facts label="times" rows={Object.entries(times).filter(([, value]) => value !== '')} />
        {facts.length === 0 ? null : <Facts label="recorded" rows={facts} />}
      </div>
    </div>
  )
}

function Facts({ label, rows }: { label: string; rows: GanttCall['facts'] }) {
  return (
    <table aria-label={label}>
      <tbody>
        {rows.map(([name, value], i) => (
          <tr key={i}>
            <th scope="row" class="fd-soft">
              {tooltipText(name)}
            </th>
            <td>{tooltipText(String(value))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/**
 * A trace as a Gantt chart: a row per call, thick where it works, hollow where it is on the way to its callee and back,
 * thin where it waits, underlined on the critical path. In trace-point graphs, a call and its reply make a row, and so
 * does each other step.
 */
export const ganttWidget = defineWidget({
  name: 'gantt',
  title: 'Trace in time',
  description,
  options: GANTT_OPTIONS,
  data: ganttData,
  initial: (source: Comparison | TraceSet, options: GanttOptions) => ({
    ...options,
    id: fullId(source, options) ?? null,
  }),
  view: GanttView,
  style: GANTT_STYLE,
})

function description({ calls, responseTimeUs, traceId }: GanttData): string {
  const longest = greatest(calls, ({ critical }) => lengthUs(critical))
  const share = lengthUs(longest?.critical ?? []) / responseTimeUs
  const said = `Trace ${traceId} took ${formatDuration(responseTimeUs)} in ${counted(calls.length, 'call')}.`
  if (longest === undefined || !(share > 0)) return said
  const name = `${longest.service} ${longest.name}`.trimEnd()
  return `${said} The largest part of its critical path is ${name}, with ${percent(share)} of the time.`
}
