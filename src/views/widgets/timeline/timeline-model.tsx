import { cumsum, extent, group, mean, median, min, range, sort } from 'd3-array'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { RequestColumns } from '../../../compare/segments/request-columns.ts'
import { Comparison } from '../../../comparison/comparison.ts'
import { traceKey } from '../../../comparison/comparison-options.ts'
import { restoreComparison, takeSnapshot } from '../../../comparison/snapshot.ts'
import { textLiteral } from '../../../core/code-literals.ts'
import { getOrInsert } from '../../../core/entries.ts'
import { defineOptions, type OptionsOf, optionalNumber } from '../../../core/options.ts'
import { remembered } from '../../../core/remembered.ts'
import { counted, grouped, spoken } from '../../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import { recordedFlows } from '../../../flows/fold/folded-flows.ts'
import {
  type RangeUs,
  type RequestRanges,
  requestsBetween,
  type Selection,
  selectRequests,
} from '../../../flows/select-requests.ts'
import { PERIOD_NAMES } from '../../charts/chart-frame.ts'
import { rootName } from '../../charts/node-names.ts'
import { ribbonIsClear } from '../../charts/ribbon.ts'
import { marksOfPeriod, timeMarks } from '../../charts/time-marks.ts'
import { roundUp } from '../../drawing/axes.tsx'
import { rangeOption } from '../../drawing/time-range.tsx'
import { STAGE_NAME, TRACE_URL } from '../define-widget.ts'
import { type ShownChange, shownFindings } from '../findings/findings-list.tsx'

function rangeOf(period: string) {
  const sentence = `Range selected ${period}, since its start, widened to whole µs; null for all of it`
  return rangeOption(sentence, { mayBeEmpty: true })
}

export const TIMELINE_OPTIONS = defineOptions({
  beforeUs: rangeOf('before'),
  afterUs: rangeOf('after'),
  category: optionalNumber('Category whose requests are shown; null for all requests'),
  traceUrl: TRACE_URL,
  name: STAGE_NAME,
})

export type TimelineOptions = OptionsOf<typeof TIMELINE_OPTIONS>

export type TimelineData = ReturnType<typeof timelineData>

export interface TimelineFilter {
  readonly category: number | null
  readonly root: number | null
}

export interface TimelineRequest {
  /** Start in whole µs, rounded down, so that ranges of whole µs hold the same requests as unrounded. */
  readonly startUs: number
  readonly timeUs: number
  readonly category: number
}

export type TimelineModel = ReturnType<typeof timelineModel>

/** Significant digits of response times: more than can be seen. */
const DIGITS = 5
/** Places where a range can begin or end, about. */
const PLACES = 1000
const STEPS_PER_BIN = 10
const MAX_NAME_LENGTH = 60

export function timelineData(comparison: Comparison) {
  const { flows, categories } = comparison
  const marks = timeMarks(comparison)
  const ofCategory = Array.from({ length: categories.size }, (_, of) => categories.root(of))
  const roots = [...new Set(ofCategory)]
  const numberOf = new Map(roots.map((root, i) => [root, i]))
  return {
    roots,
    categories: ofCategory.map(
      (root, category) =>
        [numberOf.get(root) as number, rootName(categories, category, MAX_NAME_LENGTH)] as const,
    ),
    packed: [
      packRequests(flows, BEFORE, categories.categoryOf),
      packRequests(flows, AFTER, categories.categoryOf),
    ] as const,
    /** Onsets of findings, and other events, from the start of each period. */
    marks: [marksOfPeriod(marks, flows, BEFORE), marksOfPeriod(marks, flows, AFTER)] as const,
  }
}

/** Packs requests by arrival, in whole µs since the one before. */
function packRequests(flows: FlowSet, period: Period, categoryOf: Uint32Array) {
  const start = (request: number) => Math.floor(flows.startUs[request] as number)
  const time = (request: number) => flows.responseTimeUs[request] as number
  const known = range(flows.size).filter(
    (row) => flows.period[row] === period && Number.isFinite(start(row) + time(row)),
  )
  const rows = sort(known, start)
  return {
    gapsUs: rows.map((row, i) => start(row) - (i === 0 ? 0 : start(rows[i - 1] as number))),
    timesUs: rows.map((row) => Number(time(row).toPrecision(DIGITS))),
    categories: rows.map((row) => categoryOf[row] as number),
  }
}

export function timelineModel({ packed, marks }: Pick<TimelineData, 'packed' | 'marks'>) {
  const unpack = (period: (typeof packed)[0]): readonly TimelineRequest[] =>
    Array.from(cumsum(period.gapsUs), (startUs, i) => ({
      startUs,
      timeUs: period.timesUs[i] as number,
      category: period.categories[i] as number,
    }))
  const requests = [unpack(packed[0]), unpack(packed[1])] as const
  const starts = requests.flatMap((arrived) => arrived.map(({ startUs }) => startUs))
  const [earliest = 0, latest = 0] = extent([0, ...starts])
  const stepUs = Math.max(1, roundUp((latest - earliest + 1) / PLACES))
  const times = packed.flatMap(({ timesUs }) => timesUs)
  const [least = 1, high = 0] = extent(times)
  const spanUs: RangeUs = [
    Math.floor(earliest / stepUs) * stepUs,
    // A range does not contain its end; the last request must be inside.
    (Math.floor(latest / stepUs) + 1) * stepUs,
  ]
  const smallest = min(times.filter((time) => time > 0)) ?? high
  return {
    requests,
    marks,
    stepUs,
    binUs: STEPS_PER_BIN * stepUs,
    /** Range from the first arrival, or 0 if that is earlier, to beyond the last. */
    spanUs,
    extentUs: high > 0 ? ([smallest, high] as const) : ([1, 10] as const),
    /** Smallest response time if it is 0 or less, which a logarithmic axis cannot show. */
    zeroUs: least <= 0 ? least : null,
  }
}

export function filteredRequests(
  requests: readonly TimelineRequest[],
  named: TimelineData['categories'],
  filter: TimelineFilter,
): readonly TimelineRequest[] {
  if (filter.category === null && filter.root === null) return requests
  return requests.filter(({ category }) =>
    filter.root === null ? category === filter.category : named[category]?.[0] === filter.root,
  )
}

/** Counts and averages the requests in a range, or all; rates may be `NaN`. */
export function summarizeRange(
  requests: readonly TimelineRequest[],
  range: RangeUs | null,
  arrived: readonly TimelineRequest[],
) {
  const [firstUs, lastUs] = [arrived[0]?.startUs ?? 0, arrived.at(-1)?.startUs ?? 0]
  const [fromUs, toUs] = range ?? [firstUs, lastUs]
  const within = requests.filter(
    ({ startUs }) => range === null || (startUs >= fromUs && startUs < toUs),
  )
  // Time before the first and after the last arrival says nothing about the rate.
  const coveredUs = Math.min(toUs, lastUs) - Math.max(fromUs, firstUs)
  const times = within.map(({ timeUs }) => timeUs)
  return {
    requests: times.length,
    all: requests.length,
    perSecond: coveredUs > 0 ? (times.length / coveredUs) * 1e6 : Number.NaN,
    meanUs: mean(times) ?? Number.NaN,
    medianUs: median(times) ?? Number.NaN,
  }
}

/** Writes a rate in the unit a person would use: `118 a second`, `2.5 a minute`. */
export function rateText(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '–'
  const said = (rate: number) => Number(rate.toPrecision(3)).toLocaleString('en-US')
  if (perSecond >= 1 || perSecond === 0) return `${said(perSecond)} a second`
  const perMinute = 60 * perSecond
  return perMinute >= 1 ? `${said(perMinute)} a minute` : `${said(60 * perMinute)} an hour`
}

type Span = Pick<TimelineModel, 'spanUs' | 'stepUs'>

export function rangeBetween(
  { spanUs: [first, last], stepUs }: Span,
  oneUs: number,
  otherUs: number,
): RangeUs | null {
  const rounded = (timeUs: number) => Math.round(timeUs / stepUs) * stepUs
  const from = Math.max(first, rounded(Math.min(oneUs, otherUs)))
  const to = Math.min(last, rounded(Math.max(oneUs, otherUs)))
  const start = Math.min(from, last - stepUs)
  const end = Math.max(to, start + stepUs)
  return start <= first && end >= last ? null : [start, end]
}

export function withEnd(
  span: Span,
  range: RangeUs | null,
  { end, timeUs }: { readonly end: 0 | 1; readonly timeUs: number },
): RangeUs | null {
  const [from, to] = range ?? span.spanUs
  return end === 0
    ? rangeBetween(span, Math.min(timeUs, to - span.stepUs), to)
    : rangeBetween(span, from, Math.max(timeUs, from + span.stepUs))
}

const MAX_LITERAL_LENGTH = 80

/** Returns the code that selects a state: `selectRequests(comparison.flows, requestsBetween(…))`. */
export function timelineCode(
  data: TimelineData,
  { beforeUs, afterUs, category, root }: Partial<TimelineOptions & TimelineFilter>,
  name: string,
): string {
  const of = `${name}.categories.categoryOf[request]`
  const rangeCode = (range: RangeUs) => `[${range.map(numberCode).join(', ')}]`
  const parts = spoken([
    beforeUs && `beforeUs: ${rangeCode(beforeUs)}`,
    afterUs && `afterUs: ${rangeCode(afterUs)}`,
    typeof category === 'number' && `where: (request) => ${of} === ${category}`,
    typeof root === 'number' &&
      `where: (request) => ${name}.categories.root(${of}) === ${rootCode(data, root, name)}`,
  ])
  return parts.length === 0
    ? `${name}.flows`
    : `selectRequests(${name}.flows, requestsBetween(${name}.flows, { ${parts.join(', ')} }))`
}

function rootCode({ roots, categories }: TimelineData, root: number, name: string): string {
  const literal = textLiteral(roots[root] ?? '')
  if (literal.length <= MAX_LITERAL_LENGTH) return literal
  return `${name}.categories.root(${categories.findIndex(([of]) => of === root)})`
}

/** Writes a number as short as it can be read: `12.3e6`, `250_500`. */
export function numberCode(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) < 10_000) return String(value)
  const power = Math.abs(value) >= 1e6 ? 6 : 3
  const short = `${Number((value / 10 ** power).toPrecision(6))}e${power}`
  return Number(short) === value ? short : String(value).replace(/\B(?=(\d{3})+$)/g, '_')
}

/** Most times of steps that a page carries: that many are compared again within seconds. */
const MAX_TIMES = 36_000
/** Spreads what comes in order evenly between 0 and 1, whatever rhythm it has. */
const GOLDEN = 0.618_033_988_749_895

type CarriedRequests = ReturnType<typeof carriedRequests>

/** Takes all requests of a comparison, or one in `every`, spread evenly over both periods. */
export const carriedRequests = remembered((comparison: Comparison) => {
  const { flows, categories } = comparison
  const every = Math.max(1, Math.ceil(recordedFlows(flows).latencyUs.length / MAX_TIMES))
  const rows = every === 1 ? requestsBetween(flows) : oneOf(every, flows)
  // With the claims, everything that findings are reported from has been read.
  void comparison.claims
  const carried = every === 1 ? comparison : ofRequests(comparison, rows)
  return {
    every,
    snapshot: takeSnapshot(carried, { ids: true, latenciesOf: () => true, claims: false }),
    /** Category in the whole comparison, by row. */
    categories: rowsOf(rows).map((row) => categories.categoryOf[row] as number),
  }
})

/** Chooses one in `every` traces of each period; requests of one trace stay together. */
function oneOf(every: number, flows: FlowSet): Selection {
  const places = [new Map<string, number>(), new Map<string, number>()]
  const placeOf = (row: number) => {
    const own = places[flows.period[row] as number] as Map<string, number>
    return getOrInsert(own, traceKey(flows, row), () => own.size)
  }
  for (const row of sort(range(flows.size), (one) => flows.startUs[one])) placeOf(row)
  return requestsBetween(flows, { where: (row) => (placeOf(row) * GOLDEN) % 1 < 1 / every })
}

function rowsOf({ before, after }: Selection): number[] {
  return [...Array.from(before), ...Array.from(after)]
}

/** Compares some of the requests that a page carries; a text where a period has none of them. */
export function comparedStretch(carried: Comparison, ranges: RequestRanges): Comparison | string {
  const rows = requestsBetween(carried.flows, ranges)
  const empty = PERIOD_NAMES.find((period) => rows[period].length === 0)
  if (empty) return `No request ${empty} is selected, so there is nothing to compare.`
  return ofRequests(carried, rows)
}

function ofRequests(comparison: Comparison, selection: Selection): Comparison {
  const { runs, after, options, seen } = comparison
  const flows = selectRequests(comparison.flows, selection)
  const columns = columnsOf(comparison, rowsOf(selection), flows)
  return new Comparison({ runs, after }, options, { flows, columns, seen })
}

function columnsOf({ columns }: Comparison, rows: readonly number[], flows: FlowSet) {
  const placeOf = new Map(rows.map((row, i) => [row, i]))
  const { request, span, attribute, value, names } = columns.resources()
  const kept = range(request.length).filter((use) => placeOf.has(request[use] as number))
  const pick = (column: Uint32Array) => Uint32Array.from(kept, (use) => column[use] as number)
  return new RequestColumns(
    recordedFlows(flows),
    columns.all().map((own) => {
      const spansOf = own.requests && group(own.requests.keys(), (at) => own.requests?.[at])
      const units = spansOf ? rows.flatMap((row) => spansOf.get(row) ?? []) : rows
      const requestOf = (unit: number) => placeOf.get(own.requests?.[unit] ?? unit) as number
      return {
        ...own,
        ...(own.requests && { requests: Uint32Array.from(units, requestOf) }),
        columns: own.columns.map((column) => ({
          ...column,
          codes: Uint16Array.from(units, (unit) => column.codes[unit] as number),
        })),
      }
    }),
    {
      request: pick(request).map((row) => placeOf.get(row) as number),
      span: pick(span),
      attribute: pick(attribute),
      value: pick(value),
      names,
    },
  )
}

/** Data that a page needs to compare a stretch of time. */
export interface StretchData {
  readonly carried: CarriedRequests
}

interface Selected {
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly filter: TimelineFilter
}

/** A stretch that was compared, or is being; `null` while everything is selected. */
type Stretch =
  | { readonly state: 'comparing' }
  | { readonly state: 'refused'; readonly why: string }
  | (ShownChange & { readonly state: 'compared'; readonly every: number })
  | null

/** Pause between the last move of a stretch and its comparison, in ms: keys move it step by step. */
const PAUSE = 250

/** Restores the data that a page carries, once it is needed. */
export function useCarried({ carried }: StretchData): () => Comparison {
  return useMemo(() => {
    let known: Comparison | undefined
    return () => {
      known ??= restoreComparison(carried.snapshot)
      return known
    }
  }, [carried])
}

/** Compares the selected stretch of both periods as soon as it no longer moves. */
export function useStretch(
  data: StretchData & Pick<TimelineData, 'categories'>,
  { ranges, filter }: Selected,
): Stretch {
  const restored = useCarried(data)
  const [done, setDone] = useState<{ readonly key: string; readonly stretch: Stretch } | null>(null)
  const isAll = [...ranges, filter.category, filter.root].every((part) => part === null)
  const key = JSON.stringify([ranges, filter])
  useEffect(() => {
    if (isAll) return
    const later = setTimeout(
      () => setDone({ key, stretch: stretchOf(restored(), data, { ranges, filter }) }),
      PAUSE,
    )
    return () => clearTimeout(later)
  }, [key])
  if (isAll) return null
  return done?.key === key ? done.stretch : { state: 'comparing' }
}

function stretchOf(
  restored: Comparison,
  { carried, categories }: StretchData & Pick<TimelineData, 'categories'>,
  { ranges: [beforeUs, afterUs], filter: { category, root } }: Selected,
): Stretch {
  const isWanted = (row: number) => {
    const own = carried.categories[row] as number
    return (
      (category === null || own === category) && (root === null || categories[own]?.[0] === root)
    )
  }
  const comparison = comparedStretch(restored, { beforeUs, afterUs, where: isWanted })
  if (typeof comparison === 'string') return { state: 'refused', why: comparison }
  return {
    state: 'compared',
    every: carried.every,
    comparison,
    findings: shownFindings(comparison),
    none: comparison.findings.nothingText(),
    isClear: ribbonIsClear(comparison),
    carried: () => comparison,
  }
}

/** Says what of a stretch is compared. */
export function stretchText(stretch: NonNullable<Stretch>): string {
  if (stretch.state === 'comparing') return 'Comparing the selected requests …'
  if (stretch.state === 'refused') return stretch.why
  const { flows } = stretch.comparison
  const sizes = `${grouped(flows.count(AFTER))} selected requests after are compared with ${counted(flows.count(BEFORE), 'request')} before`
  return stretch.every === 1
    ? `${sizes}.`
    : `${sizes}: one of ${stretch.every}, as the page carries no more.`
}
