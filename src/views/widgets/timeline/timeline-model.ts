import { bisectLeft, mean } from 'd3-array'
import type { Comparison } from '../../../compare/comparison.ts'
import { textLiteral } from '../../../core/code-literals.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import { quantile } from '../../../stats/quantile.ts'
import { rootName } from '../../charts/node-names.ts'
import { roundUp } from '../../drawing/axis-scale.ts'

/** Requests of one period as a page gets them: by arrival, in whole µs since the one before. */
interface PackedRequests {
  readonly gapsUs: readonly number[]
  readonly responseTimeUs: readonly number[]
  readonly categories: readonly number[]
}

/** Data of the timeline in a page. */
export interface TimelineData {
  readonly packed: readonly [PackedRequests, PackedRequests]
  /** Whole labels of the nodes that requests begin with. */
  readonly roots: readonly string[]
  /** Number in `roots`, and a short name, of each category. */
  readonly categories: readonly (readonly [root: number, name: string])[]
  /** Name of the comparison in code. */
  readonly name: string
  readonly initial: TimelineState
}

/** Requests that are looked at. */
export type TimelineFilter =
  | { readonly kind: 'all' }
  | { readonly kind: 'root' | 'category'; readonly of: number }

/** State that the reader has set. */
export interface TimelineState {
  readonly ranges: readonly [RangeUs | null, RangeUs | null]
  readonly filter: TimelineFilter
}

/** Requests of one period by arrival. */
export interface TimelineRequests {
  /** In whole µs, rounded down, so that ranges of whole µs hold the same requests as unrounded. */
  readonly startUs: Float64Array
  readonly responseTimeUs: Float64Array
  readonly categories: Uint32Array
}

/** Both periods on one scale of time. */
export interface TimelineModel {
  readonly requests: readonly [TimelineRequests, TimelineRequests]
  /** From the first arrival, or 0 where that is earlier, to beyond the last. */
  readonly spanUs: RangeUs
  /** Unit that ranges are rounded to. */
  readonly stepUs: number
  /** Length of the bins in which arrivals are counted. */
  readonly binUs: number
  /** Smallest and largest response time above 0. */
  readonly extentUs: readonly [number, number]
  /** Smallest response time where it is 0 or less, which a logarithmic axis lacks; else `null`. */
  readonly zeroUs: number | null
}

/** Significant digits of response times: more than can be seen. */
const DIGITS = 5
/** Places where a range can begin or end, about. */
const PLACES = 1000
const STEPS_PER_BIN = 10
const MAX_NAME_LENGTH = 60

/** Takes arrivals, response times and categories out of a comparison. */
export function timelineData(
  { flows, categories }: Comparison,
  { name, initial }: Pick<TimelineData, 'name' | 'initial'>,
): TimelineData {
  const roots = new Map<string, number>()
  const named = Array.from({ length: categories.size }, (_, category) => {
    const text = categories.root(category)
    const root = roots.get(text) ?? roots.size
    roots.set(text, root)
    return [root, rootName(categories, category, MAX_NAME_LENGTH)] as const
  })
  return {
    name,
    initial,
    roots: [...roots.keys()],
    categories: named,
    packed: [
      packRequests(flows, BEFORE, categories.categoryOf),
      packRequests(flows, AFTER, categories.categoryOf),
    ],
  }
}

/** Leaves out requests whose times are not numbers: they cannot be drawn. */
function packRequests(flows: FlowSet, period: Period, categoryOf: Uint32Array): PackedRequests {
  const first = period === BEFORE ? 0 : flows.count(BEFORE)
  const start = (request: number) => Math.floor(flows.startUs[request] as number)
  const time = (request: number) => flows.responseTimeUs[request] as number
  const rows = Array.from({ length: flows.count(period) }, (_, i) => first + i)
    .filter((request) => Number.isFinite(start(request)) && Number.isFinite(time(request)))
    .sort((a, b) => start(a) - start(b) || a - b)
  return {
    gapsUs: rows.map((request, i) => start(request) - (i === 0 ? 0 : start(rows[i - 1] as number))),
    responseTimeUs: rows.map((request) => Number(time(request).toPrecision(DIGITS))),
    categories: rows.map((request) => categoryOf[request] as number),
  }
}

/** Unpacks the data of a page. */
export function timelineModel({ packed }: TimelineData): TimelineModel {
  const requests = [unpackRequests(packed[0]), unpackRequests(packed[1])] as const
  const earliest = Math.min(0, ...requests.map(({ startUs }) => startUs[0] ?? 0))
  const latest = Math.max(0, ...requests.map(({ startUs }) => startUs.at(-1) ?? 0))
  const stepUs = Math.max(1, roundUp((latest - earliest + 1) / PLACES))
  const times = requests.flatMap(({ responseTimeUs }) => Array.from(responseTimeUs)).sort(ascending)
  const [least = 1, high = 0] = [times[0], times.at(-1)]
  return {
    requests,
    stepUs,
    binUs: STEPS_PER_BIN * stepUs,
    spanUs: [
      Math.floor(earliest / stepUs) * stepUs,
      // A range does not contain its end; the last request must be inside.
      (Math.floor(latest / stepUs) + 1) * stepUs,
    ],
    extentUs: high > 0 ? [times.find((time) => time > 0) ?? high, high] : [1, 10],
    zeroUs: least <= 0 ? least : null,
  }
}

function ascending(a: number, b: number): number {
  return a - b
}

function unpackRequests({ gapsUs, responseTimeUs, categories }: PackedRequests): TimelineRequests {
  let nowUs = 0
  return {
    startUs: Float64Array.from(gapsUs, (gap) => {
      nowUs += gap
      return nowUs
    }),
    responseTimeUs: Float64Array.from(responseTimeUs),
    categories: Uint32Array.from(categories),
  }
}

/** Returns only the requests that a filter keeps, of one period. */
export function filteredRequests(
  { startUs, responseTimeUs, categories }: TimelineRequests,
  named: TimelineData['categories'],
  filter: TimelineFilter,
): TimelineRequests {
  if (filter.kind === 'all') return { startUs, responseTimeUs, categories }
  const { kind, of } = filter
  const isKept = (_: number, i: number) => {
    const category = categories[i] as number
    return of === (kind === 'root' ? named[category]?.[0] : category)
  }
  return {
    startUs: startUs.filter(isKept),
    responseTimeUs: responseTimeUs.filter(isKept),
    categories: categories.filter(isKept),
  }
}

/** Facts about the requests in a range. */
export interface TimelineSummary {
  readonly requests: number
  /** Requests of the period, in and outside of the range. */
  readonly all: number
  /** `NaN` where the range covers no time of the period. */
  readonly perSecond: number
  /** `NaN` without requests, as is the median. */
  readonly meanUs: number
  readonly medianUs: number
}

/**
 * Counts and averages the requests in a range of one period; `null` is all of it.
 *
 * @param span first and last arrival of the period, filtered or not
 */
export function summarizeRange(
  { startUs, responseTimeUs }: TimelineRequests,
  range: RangeUs | null,
  [firstUs, lastUs]: RangeUs,
): TimelineSummary {
  const [fromUs, toUs] = range ?? [firstUs, lastUs]
  const times = (
    range === null
      ? responseTimeUs.slice()
      : responseTimeUs.slice(bisectLeft(startUs, fromUs), bisectLeft(startUs, toUs))
  ).sort()
  // Time before the first and after the last arrival says nothing about the rate.
  const coveredUs = Math.min(toUs, lastUs) - Math.max(fromUs, firstUs)
  return {
    requests: times.length,
    all: startUs.length,
    perSecond: coveredUs > 0 ? (times.length / coveredUs) * 1e6 : Number.NaN,
    meanUs: mean(times) ?? Number.NaN,
    medianUs: quantile(times, 0.5),
  }
}

/** Returns the first and last arrival of a period, filtered or not. */
export function arrivalSpan({ requests }: TimelineModel, period: Period): RangeUs {
  const { startUs } = requests[period]
  return [startUs[0] ?? 0, startUs.at(-1) ?? 0]
}

/** Writes a rate in the unit a person would use: `118 a second`, `2.5 a minute`. */
export function rateText(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '–'
  const [factor, unit] =
    perSecond >= 1 || perSecond === 0
      ? [1, 'a second']
      : perSecond * 60 >= 1
        ? [60, 'a minute']
        : [3600, 'an hour']
  return `${Number((perSecond * factor).toPrecision(3)).toLocaleString('en-US')} ${unit}`
}

/** End of a range. */
export type RangeEnd = 0 | 1

type Span = Pick<TimelineModel, 'spanUs' | 'stepUs'>

/** Returns the range between two times, rounded to steps; `null` where it is all of the time. */
export function rangeBetween(
  { spanUs: [first, last], stepUs }: Span,
  oneUs: number,
  otherUs: number,
): RangeUs | null {
  const from = Math.max(first, rounded(Math.min(oneUs, otherUs), stepUs))
  const to = Math.min(last, rounded(Math.max(oneUs, otherUs), stepUs))
  const start = Math.min(from, last - stepUs)
  const end = Math.max(to, start + stepUs)
  return start <= first && end >= last ? null : [start, end]
}

/** Moves a range along, as far as there is room. */
export function movedRange({ spanUs, stepUs }: Span, [from, to]: RangeUs, byUs: number): RangeUs {
  const [first, last] = spanUs
  const by = Math.min(last - to, Math.max(first - from, rounded(byUs, stepUs)))
  return [from + by, to + by]
}

/** Moves one end of a range; the ends do not cross. */
export function withEnd(
  span: Span,
  range: RangeUs | null,
  { end, timeUs }: { readonly end: RangeEnd; readonly timeUs: number },
): RangeUs | null {
  const [from, to] = range ?? span.spanUs
  return end === 0
    ? rangeBetween(span, Math.min(timeUs, to - span.stepUs), to)
    : rangeBetween(span, from, Math.max(timeUs, from + span.stepUs))
}

function rounded(timeUs: number, stepUs: number): number {
  return Math.round(timeUs / stepUs) * stepUs
}

/** Longer names are not written out in code. */
const MAX_LITERAL_LENGTH = 80

/**
 * Returns the code that selects the requests of a state:
 * `selectRequests(comparison.flows, requestsBetween(comparison.flows, { beforeUs: [0, 2e6] }))`.
 */
export function timelineCode(data: TimelineData, { ranges, filter }: TimelineState): string {
  const { name } = data
  const [before, after] = ranges
  const of = `${name}.categories.categoryOf[request]`
  const parts = [
    ...(before === null ? [] : [`beforeUs: ${rangeCode(before)}`]),
    ...(after === null ? [] : [`afterUs: ${rangeCode(after)}`]),
    ...(filter.kind === 'category' ? [`where: (request) => ${of} === ${filter.of}`] : []),
    ...(filter.kind === 'root'
      ? [`where: (request) => ${name}.categories.root(${of}) === ${rootCode(data, filter.of)}`]
      : []),
  ]
  return parts.length === 0
    ? `${name}.flows`
    : `selectRequests(${name}.flows, requestsBetween(${name}.flows, { ${parts.join(', ')} }))`
}

/** Writes a name from a trace as a literal, or where to find it if it is long. */
function rootCode({ name, roots, categories }: TimelineData, root: number): string {
  const literal = textLiteral(roots[root] as string)
  if (literal.length <= MAX_LITERAL_LENGTH) return literal
  return `${name}.categories.root(${categories.findIndex(([of]) => of === root)})`
}

function rangeCode([fromUs, toUs]: RangeUs): string {
  return `[${numberCode(fromUs)}, ${numberCode(toUs)}]`
}

/** Writes a number as short as it can be read: `12.3e6`, `250_500`. */
export function numberCode(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) < 10_000) return String(value)
  const power = Math.abs(value) >= 1e6 ? 6 : 3
  const short = `${Number((value / 10 ** power).toPrecision(6))}e${power}`
  return Number(short) === value ? short : String(value).replace(/\B(?=(\d{3})+$)/g, '_')
}
