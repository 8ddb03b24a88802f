// Runs once a span: the loops index with `!`.
import { bisectLeft, max, min } from 'd3-array'
import type { AttributeValue } from '../attributes.ts'
import type { Dictionary } from '../dictionary.ts'
import { entriesWithin, pairsOfRows } from '../group-rows.ts'
import { gather } from '../growing-columns.ts'
import { logsWithin, pickLogs } from '../log-records.ts'
import { readOutcomes } from '../outcomes.ts'
import { NO_PARENT, type SpanTraceColumns } from '../span-columns.ts'
import { ANY_SERVICE, type BuiltIn, builtIn, type Subject } from './condition.ts'
import type { Reader } from './selectable-traces.ts'

type SpanReader = (span: number) => AttributeValue | undefined

/** Returns the row of the span that stands for the request of a trace: its first root. */
export function rootOf({ spans, spanOffsets }: SpanTraceColumns, trace: number): number {
  const first = spanOffsets[trace] ?? 0
  const root = spans.parent.subarray(first, spanOffsets[trace + 1] ?? first).indexOf(NO_PARENT)
  return first + Math.max(root, 0)
}

/** Returns a reader of a condition's subject for each trace; `undefined` if nothing recorded has that name. */
export function spanValues(traces: SpanTraceColumns, subject: Subject): Reader | undefined {
  const read = spanReader(traces, subject)
  if (read === undefined) return undefined
  if (subject.service !== null) {
    const service = traces.services.find(subject.service)
    if (service === undefined) return undefined
    const entries = entriesOf(traces, service)
    return (trace) => (entries[trace]! < 0 ? [] : listOf(read(entries[trace]!)))
  }
  const { ids, spanOffsets } = traces
  const roots = Uint32Array.from(ids, (_, trace) => rootOf(traces, trace))
  const ofRoot: Reader = (trace) => listOf(read(roots[trace]!))
  if (roots.some((root) => read(root) !== undefined)) return ofRoot
  return (trace) => {
    const values: AttributeValue[] = []
    for (let span = spanOffsets[trace]!; span < spanOffsets[trace + 1]!; span++) {
      const value = read(span)
      if (value !== undefined) values.push(value)
    }
    return values
  }
}

function listOf(value: AttributeValue | undefined): readonly AttributeValue[] {
  return value === undefined ? [] : [value]
}

function spanReader(traces: SpanTraceColumns, subject: Subject): SpanReader | undefined {
  const ofAttribute = traces.attributes.reader(subject.attribute)
  const name = builtIn(subject)
  if (name === null) return ofAttribute
  const own = BUILT_IN_READERS[name](traces)
  const isSaid = traces.spans.parent.some((_, span) => own(span) !== undefined)
  return isSaid ? own : (ofAttribute ?? own)
}

const BUILT_IN_READERS: Readonly<Record<BuiltIn, (traces: SpanTraceColumns) => SpanReader>> = {
  service: ({ spans, services }) => named(spans.service, services),
  operation: ({ spans, operations }) => named(spans.operation, operations),
  host: ({ spans, hosts }) => named(spans.host, hosts),
  version: ({ spans, versionNames }) => named(spans.version, versionNames),
  duration:
    ({ spans }) =>
    (span) =>
      spans.durationUs[span],
  time: ({ spans, epochNs }) => {
    const epochUs = Number(epochNs) / 1e3
    return (span) => epochUs + spans.startUs[span]!
  },
  outcome: (traces) => {
    const { kinds, ofRows } = readOutcomes([traces])
    return (span) => kinds[ofRows[0]![span]!]!.outcome
  },
}

function named(codes: Uint32Array, names: Dictionary): SpanReader {
  return (span) => names.value(codes[span]!) || undefined
}

/** Returns the first span of each request in a service, of equal ones nearest the root; -1 for none. */
function entriesOf({ ids, spans, spanOffsets }: SpanTraceColumns, service: number): Int32Array {
  const { parent, startUs } = spans
  const depthOf = (span: number) => {
    let depth = 0
    for (let above = parent[span]!; above >= 0; above = parent[above]!) depth++
    return depth
  }
  return Int32Array.from(ids, (_, trace) => {
    let entry = -1
    for (let span = spanOffsets[trace]!; span < spanOffsets[trace + 1]!; span++) {
      if (spans.service[span] !== service || spans.service[parent[span]!] === service) continue
      const later = entry < 0 ? -1 : startUs[span]! - startUs[entry]!
      if (later < 0 || (later === 0 && depthOf(span) < depthOf(entry))) entry = span
    }
    return entry
  })
}

/** Reads which requests call a service, or an operation; `undefined` where none does. */
export function spanCallers(
  { spans, spanOffsets, services, operations }: SpanTraceColumns,
  { service, attribute }: Subject,
): ((trace: number) => boolean) | undefined {
  const isAny = service === ANY_SERVICE
  const of = isAny ? null : services.find(service ?? attribute)
  const operation = service === null ? null : operations.find(attribute)
  if (of === undefined || operation === undefined) return undefined
  const isCalled = (span: number, parent: number) =>
    (isAny || spans.service[span] === of) &&
    (operation === null ? spans.service[parent] !== of : spans.operation[span] === operation)
  return (trace) => {
    for (let span = spanOffsets[trace]!; span < spanOffsets[trace + 1]!; span++) {
      const parent = spans.parent[span]!
      if (parent >= 0 && isCalled(span, parent)) return true
    }
    return false
  }
}

export function pickSpans(traces: SpanTraceColumns, rows: ArrayLike<number>): SpanTraceColumns {
  const { ids, spanOffsets, spans, weight } = traces
  const chosen = Uint32Array.from(rows)
  const { offsets, entries: kept } = entriesWithin(spanOffsets, chosen)
  const parent = new Int32Array(kept.length)
  chosen.forEach((trace, i) => {
    const moved = offsets[i]! - spanOffsets[trace]!
    for (let at = offsets[i]!; at < offsets[i + 1]!; at++) {
      // A negative number tells why there is no parent.
      const own = spans.parent[kept[at]!]!
      parent[at] = own < 0 ? own : own + moved
    }
  })
  return {
    ...spansOnly(traces, kept, parent),
    ids: Array.from(chosen, (trace) => ids[trace]!),
    spanOffsets: offsets,
    weight: weight && gather(weight, chosen),
    serviceLogs:
      traces.serviceLogs &&
      logsWithin(traces.serviceLogs, [
        min(kept, (span) => spans.startUs[span]!) ?? 0,
        max(kept, (span) => spans.startUs[span]! + spans.durationUs[span]!) ?? 0,
      ]),
  }
}

/** Returns all traces without some of their spans: what these call is called by their callers. */
export function withoutSpans(
  traces: SpanTraceColumns,
  isLeftOut: (span: number) => boolean,
): SpanTraceColumns {
  const { spanOffsets, spans } = traces
  const kept = Uint32Array.from(spans.parent.keys()).filter((span) => !isLeftOut(span))
  const placeOf = placesOf(kept, spans.parent.length)
  const parent = Int32Array.from(kept, (span) => {
    let caller = spans.parent[span]!
    while (caller >= 0 && isLeftOut(caller)) caller = spans.parent[caller]!
    return caller < 0 ? caller : placeOf(caller)
  })
  const left = spanOffsets.map((first) => bisectLeft(kept, first))
  return { ...traces, ...spansOnly(traces, kept, parent), spanOffsets: left }
}

/** Columns of some spans, whose callers are given. */
function spansOnly(traces: SpanTraceColumns, kept: Uint32Array, parent: Int32Array) {
  const { epochNs, services, operations, hosts, versionNames, spans, links, logs } = traces
  const columns = Object.entries(spans).map(([name, column]) => [name, gather(column, kept)])
  return {
    ...{ epochNs, services, operations, hosts, versionNames },
    spans: { ...(Object.fromEntries(columns) as SpanTraceColumns['spans']), parent },
    links: links && pairsOfRows(Array.from(links, placesOf(kept, spans.parent.length))),
    attributes: traces.attributes.pick(kept),
    logs: logs && pickLogs(logs, kept),
  }
}

/** Returns the place of each of `size` rows among the kept ones, -1 for none. */
function placesOf(kept: Uint32Array, size: number): (row: number) => number {
  const places = new Int32Array(size).fill(-1)
  kept.forEach((row, place) => {
    places[row] = place
  })
  return (row) => places[row]!
}
