import { at } from '../../src/core/entries.ts'
import type { SpanColumns } from '../../src/traces/span-columns.ts'

/** A call that a visit makes to another service, as the caller sees it. */
export interface OutgoingCall {
  /** The caller's span around the call, or the callee's where the caller has none of its own. */
  readonly span: number
  readonly startUs: number
  readonly endUs: number
  /** The callee's longest span of this call. */
  readonly callee: number
}

/** What one service does from being called to its reply, with all spans of its own. */
export interface Visit {
  /** Row of the span that entered the service. */
  readonly entry: number
  readonly calls: readonly OutgoingCall[]
}

/** The visits of a set of traces, straight from the spans, without flows. */
export interface Visits {
  readonly visits: readonly Visit[]
  /** The visit that a span belongs to. */
  of(span: number): Visit
  /** Whether a span only wraps a call: within its service, with children in other services alone. */
  isCaller(span: number): boolean
}

/** Finds the visits of all spans. */
export function findVisits(spans: SpanColumns): Visits {
  const { parent, service } = spans
  const size = parent.length
  const isEntry = (span: number) => {
    const caller = at(parent, span)
    return caller < 0 || at(service, caller) !== at(service, span)
  }
  const children = new Uint32Array(size)
  const elsewhere = new Uint32Array(size)
  const longest = new Int32Array(size).fill(-1)
  for (let span = 0; span < size; span++) {
    const caller = at(parent, span)
    if (caller < 0) continue
    children[caller] = at(children, caller) + 1
    if (!isEntry(span)) continue
    elsewhere[caller] = at(elsewhere, caller) + 1
    const known = at(longest, caller)
    if (known < 0 || at(spans.durationUs, span) > at(spans.durationUs, known)) {
      longest[caller] = span
    }
  }
  const isCaller = (span: number) =>
    !isEntry(span) && at(children, span) > 0 && at(children, span) === at(elsewhere, span)
  const entryOf = (span: number) => {
    let entry = span
    while (!isEntry(entry)) entry = at(parent, entry)
    return entry
  }
  const visits = new Map<number, { entry: number; calls: OutgoingCall[] }>()
  for (let span = 0; span < size; span++) {
    if (isEntry(span)) visits.set(span, { entry: span, calls: [] })
  }
  const of = (span: number) => visits.get(entryOf(span)) as { entry: number; calls: OutgoingCall[] }
  for (let span = 0; span < size; span++) {
    const startUs = at(spans.startUs, span)
    const call = { span, startUs, endUs: endUs(spans, span) }
    const caller = at(parent, span)
    if (isCaller(span)) of(span).calls.push({ ...call, callee: at(longest, span) })
    else if (caller >= 0 && isEntry(span) && !isCaller(caller)) {
      of(caller).calls.push({ ...call, callee: span })
    }
  }
  return { visits: [...visits.values()], of, isCaller }
}

/** When a span ended, in µs. */
export function endUs({ startUs, durationUs }: SpanColumns, span: number): number {
  return at(startUs, span) + at(durationUs, span)
}

/** Returns how much of a range of time intervals cover together, in µs. */
export function coveredUs(
  intervals: readonly { readonly startUs: number; readonly endUs: number }[],
  [fromUs, toUs]: readonly [fromUs: number, toUs: number],
): number {
  let covered = 0
  let doneUs = fromUs
  for (const { startUs, endUs } of intervals.toSorted((a, b) => a.startUs - b.startUs)) {
    const beginUs = Math.max(doneUs, startUs)
    const stopUs = Math.min(toUs, endUs)
    if (stopUs <= beginUs) continue
    covered += stopUs - beginUs
    doneUs = stopUs
  }
  return covered
}
