import type { AttributeValue } from '../attributes.ts'
import type { QualityLog } from '../quality.ts'
import { SPAN_STATUSES, type SpanKind } from '../span-traces.ts'
import { alignClocks, type TraceStarts } from './event-clocks.ts'
import { type EventColumns, type FatherColumns, NO_FATHER } from './event-columns.ts'
import { findFathers, ROOT } from './event-fathers.ts'
import { COPY, type EventParts, nestEvents } from './event-parts.ts'
import type { ReadSink } from './trace-reader.ts'

/** A parent id that no event has: span ids are line numbers. */
const NOWHERE = 'missing'

interface EventTarget {
  readonly sink: ReadSink
  readonly eventFile: string
  readonly edgeFile: string
  readonly starts: TraceStarts
  /** What `starts` count from. */
  readonly startsEpochNs: bigint | undefined
}

/** Hands the events over as spans, each under its parent and all of a trace on one clock. */
export function addEventSpans(
  events: EventColumns,
  edges: FatherColumns,
  { sink, eventFile, edgeFile, starts, startsEpochNs }: EventTarget,
): void {
  const parts = nestEvents(events)
  const fathers = findFathers(events, edges, { parts, quality: sink.quality, file: edgeFile })
  noteLooseGroups(events, edges, { parts, quality: sink.quality, file: edgeFile })
  const shiftUs = alignClocks(events, { parts, fathers, starts })
  const epochNs = starts === undefined ? events.clock.epochNs : startsEpochNs
  const epochUs = sink.spans.clock.offsetOfNanos(String(epochNs))
  const calls = callsToOtherHosts(events, parts, fathers)
  const attributes = events.finishAttributes()
  for (let event = 0; event < events.size; event++) {
    const group = events.group.values[event] as number
    const line = events.line.values[event] as number
    const place = { file: eventFile, line }
    const around = parts.around[event] as number
    if (around === COPY) {
      noteCopy(events, event, sink.quality, place)
      continue
    }
    const father = fathers[group] as number
    const parent = around >= 0 ? around : father
    sink.spans.add(
      {
        traceId: events.traceId(group),
        spanId: spanId(events, event),
        parentId: parent >= 0 ? spanId(events, parent) : parent === ROOT ? null : NOWHERE,
        service: events.services.value(events.service.values[event] as number),
        operation: events.operations.value(events.operation.values[event] as number),
        host: events.hosts.value(events.host.values[event] as number),
        kind: kindOf(events, { event, father: around >= 0 ? ROOT : father, calls }),
        status: SPAN_STATUSES[events.status.values[event] as number] ?? 'unset',
        startUs:
          epochUs +
          (events.startUs.values[event] as number) +
          (shiftUs[parts.partOf[event] as number] as number),
        durationUs: events.durationUs.values[event] as number,
        followsFrom: false,
        attributes: named(events, attributes.entries(event)),
      },
      place,
    )
  }
}

/** The line of its row, in hexadecimal. */
function spanId(events: EventColumns, event: number): string {
  return (events.line.values[event] as number).toString(16)
}

/** Which events are fathers of a group on another host. */
function callsToOtherHosts(
  events: EventColumns,
  { order, offsets, ofGroup }: EventParts,
  fathers: Int32Array,
): Uint8Array {
  const calls = new Uint8Array(events.size)
  fathers.forEach((father, group) => {
    const child = order[offsets[ofGroup[group] as number] as number]
    if (father < 0 || child === undefined) return
    if (events.host.values[father] !== events.host.values[child]) calls[father] = 1
  })
  return calls
}

/** An event started from another host is a server, one that starts work on another a client. */
function kindOf(
  events: EventColumns,
  { event, father, calls }: { event: number; father: number; calls: Uint8Array },
): SpanKind {
  if (father >= 0 && events.host.values[father] !== events.host.values[event]) return 'server'
  return calls[event] === 1 ? 'client' : 'internal'
}

/** Parameters in which the address of a known host is its name. */
function* named(
  events: EventColumns,
  entries: Iterable<[key: string, value: AttributeValue]>,
): Generator<[key: string, value: AttributeValue]> {
  for (const [key, value] of entries) {
    yield [key, (typeof value === 'string' ? events.hostByAddress.get(value) : undefined) ?? value]
  }
}

/** Notes groups that have an edge and no events, or events and no edge where roots have one. */
function noteLooseGroups(
  events: EventColumns,
  edges: FatherColumns,
  { parts, quality, file }: { parts: EventParts; quality: QualityLog; file: string },
): void {
  const rootsHaveEdges = edges.group.includes(NO_FATHER)
  for (let group = 0; group < events.groupCount; group++) {
    const isEmpty = parts.ofGroup[group] === parts.ofGroup[group + 1]
    const name = events.groupName(group)
    const trace = events.traceId(group)
    if (isEmpty && edges.hasEdge(group)) {
      const place = { file, line: edges.line[group], trace }
      const message = `An edge leads to ${name}, of which there are no events`
      quality.note({ code: 'edge-to-nothing', effect: 'kept', place, message }, '')
    } else if (!isEmpty && !edges.hasEdge(group) && rootsHaveEdges) {
      const message = `No edge leads to ${name}; it is treated as a request of its own`
      quality.note({ code: 'no-edge', effect: 'kept', place: { file, trace }, message }, '')
    }
  }
}

function noteCopy(
  events: EventColumns,
  event: number,
  quality: QualityLog,
  place: { readonly file: string; readonly line: number },
): void {
  const group = events.group.values[event] as number
  quality.note(
    {
      code: 'duplicate-span',
      effect: 'span skipped',
      place: { ...place, trace: events.traceId(group) },
      message: `Event ${events.operations.value(events.operation.values[event] as number)} of ${events.groupName(group)} is there twice; the later one is left out`,
    },
    'Remove the copy, or load without `strict`',
  )
}
