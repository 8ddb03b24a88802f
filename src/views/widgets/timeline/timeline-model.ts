import { mean, median } from 'd3-array'
import { defineOptions, type OptionsOf, optionalNumber } from '../../../core/options.ts'
import { spoken } from '../../../core/words.ts'
import type { RangeUs } from '../../../flows/select-requests.ts'
import type { ArrivalsModel, ArrivedRequest } from '../../charts/arrivals.ts'
import { rangeOption } from '../../drawing/time-range.tsx'
import { STAGE_NAME, TRACE_URL } from '../define-widget.ts'

function range(period: string) {
  const sentence = `Range selected ${period}, since its start, widened to whole µs; null for all of it`
  return rangeOption(sentence, { mayBeEmpty: true })
}

export const TIMELINE_OPTIONS = defineOptions({
  beforeUs: range('before'),
  afterUs: range('after'),
  category: optionalNumber('Category whose requests are shown; null for all requests'),
  traceUrl: TRACE_URL,
  name: STAGE_NAME,
})

export type TimelineOptions = OptionsOf<typeof TIMELINE_OPTIONS>

/** Counts and averages the requests in a range, or all; rates may be `NaN`. */
export function summarizeRange(
  requests: readonly ArrivedRequest[],
  range: RangeUs | null,
  arrived: readonly ArrivedRequest[],
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

type Span = Pick<ArrivalsModel, 'spanUs' | 'stepUs'>

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

function rounded(timeUs: number, stepUs: number): number {
  return Math.round(timeUs / stepUs) * stepUs
}

/** Returns the code that selects a state: `selectRequests(comparison.flows, requestsBetween(…))`. */
export function timelineCode(
  { beforeUs, afterUs, category }: Partial<TimelineOptions>,
  name: string,
): string {
  const rangeCode = (range: RangeUs) => `[${range.map(numberCode).join(', ')}]`
  const parts = spoken([
    beforeUs && `beforeUs: ${rangeCode(beforeUs)}`,
    afterUs && `afterUs: ${rangeCode(afterUs)}`,
    typeof category === 'number' &&
      `where: (request) => ${name}.categories.categoryOf[request] === ${category}`,
  ])
  return parts.length === 0
    ? `${name}.flows`
    : `selectRequests(${name}.flows, requestsBetween(${name}.flows, { ${parts.join(', ')} }))`
}

/** Writes a number as short as it can be read: `12.3e6`, `250_500`. */
export function numberCode(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) < 10_000) return String(value)
  const power = Math.abs(value) >= 1e6 ? 6 : 3
  const short = `${Number((value / 10 ** power).toPrecision(6))}e${power}`
  return Number(short) === value ? short : String(value).replace(/\B(?=(\d{3})+$)/g, '_')
}
