import type { RangeUs } from '../../../flows/select-requests.ts'
import type { TimelineModel } from './timeline-model.ts'

/** Which end of a range. */
export type RangeEnd = 0 | 1

type Span = Pick<TimelineModel, 'spanUs' | 'stepUs'>

/** The range between two times, rounded to steps; `null` where it is all of the time. */
export function rangeBetween(
  { spanUs, stepUs }: Span,
  oneUs: number,
  otherUs: number,
): RangeUs | null {
  const [first, last] = spanUs
  const from = Math.max(first, rounded(Math.min(oneUs, otherUs), stepUs))
  const to = Math.min(last, rounded(Math.max(oneUs, otherUs), stepUs))
  const start = Math.min(from, last - stepUs)
  const end = Math.max(to, start + stepUs)
  return start <= first && end >= last ? null : [start, end]
}

/** A range moved along, as far as there is room. */
export function movedRange({ spanUs, stepUs }: Span, [from, to]: RangeUs, byUs: number): RangeUs {
  const [first, last] = spanUs
  const by = Math.min(last - to, Math.max(first - from, rounded(byUs, stepUs)))
  return [from + by, to + by]
}

/** A range with one end elsewhere; the ends do not cross. */
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
