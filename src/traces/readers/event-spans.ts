// Runs once a span, node or edge: the loops index with `!`.
import type { Microseconds } from '../../core/units.ts'
import type { AttributeValue } from '../attributes.ts'
import type { QualityLog } from '../quality.ts'
import { SPAN_STATUSES, type SpanKind } from '../span-traces.ts'
import {
  COPY,
  type EventColumns,
  type EventParts,
  type FatherColumns,
  findFathers,
  NO_FATHER,
  nestEvents,
  ROOT,
} from './event-forest.ts'
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
  const attributes = events.attributes.finish(events.size)
  for (let event = 0; event < events.size; event++) {
    const group = events.group.values[event]!
    const line = events.line.values[event]!
    const place = { file: eventFile, line }
    const around = parts.around[event]!
    if (around === COPY) {
      noteCopy(events, event, sink.quality, place)
      continue
    }
    const father = fathers[group]!
    const parent = around >= 0 ? around : father
    sink.spans.add(
      {
        traceId: events.traceId(group),
        spanId: spanId(events, event),
        parentId: parent >= 0 ? spanId(events, parent) : parent === ROOT ? null : NOWHERE,
        service: events.services.value(events.service.values[event]!),
        operation: events.operations.value(events.operation.values[event]!),
        host: events.hosts.value(events.host.values[event]!),
        kind: kindOf(events, { event, father: around >= 0 ? ROOT : father, calls }),
        status: SPAN_STATUSES[events.status.values[event]!] ?? 'unset',
        startUs: epochUs + events.startUs.values[event]! + shiftUs[parts.partOf[event]!]!,
        durationUs: events.durationUs.values[event]!,
        followsFrom: false,
        attributes: named(events, attributes.entries(event)),
      },
      place,
    )
  }
}

/** The line of its row, in hexadecimal. */
function spanId(events: EventColumns, event: number): string {
  return events.line.values[event]!.toString(16)
}

/** Which events are fathers of a group on another host. */
function callsToOtherHosts(
  events: EventColumns,
  { order, offsets, ofGroup }: EventParts,
  fathers: Int32Array,
): Uint8Array {
  const calls = new Uint8Array(events.size)
  fathers.forEach((father, group) => {
    const child = order[offsets[ofGroup[group]!]!]
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
      quality.note('edge-to-nothing', place, message)
    } else if (!isEmpty && !edges.hasEdge(group) && rootsHaveEdges) {
      const message = `No edge leads to ${name}; it is treated as a request of its own`
      quality.note('no-edge', { file, trace }, message)
    }
  }
}

function noteCopy(
  events: EventColumns,
  event: number,
  quality: QualityLog,
  place: { readonly file: string; readonly line: number },
): void {
  const group = events.group.values[event]!
  quality.skip({
    code: 'duplicate-span',
    effect: 'span skipped',
    place: { ...place, trace: events.traceId(group) },
    message: `Event ${events.operations.value(events.operation.values[event]!)} of ${events.groupName(group)} is there twice; the later one is left out`,
    next: 'Remove the copy, or load without `strict`',
  })
}

/**
 * How far beyond its father's end a part may reach, of the father's duration, and still be awaited.
 */
const NEAR = 0.25

/**
 * When the request of each trace began by one clock for all, in µs; `NaN` where that is not known.
 */
type TraceStarts = ArrayLike<number> | undefined

/**
 * What to add to the times of each part of events so that all of a trace are on one clock: that of
 * its root. Each host has a clock of its own, so nothing is read from the difference between two
 * hosts' times; only durations count.
 *
 * A part on the host of its father keeps its place. On another host it is what the father waited
 * for, and the time that is not the part's is taken to be the same before and behind it, as for a
 * message there and one back (the estimate of Cristian 1989). Where a part goes on after the father
 * is over, the father waited for the events in it that are over by then, and those are centered.
 * Where none would be over, or the part is longer by less than a quarter of the father's duration,
 * it had begun already when the father began to wait, and both end together.
 */
function alignClocks(
  events: EventColumns,
  { parts, fathers, starts }: { parts: EventParts; fathers: Int32Array; starts: TraceStarts },
): Float64Array {
  const count = parts.offsets.length - 1
  const shiftUs = new Float64Array(count).fill(Number.NaN)
  const fatherOf = (part: number) => fathers[events.group.values[firstOf(parts, part)]!]!
  const traceStartUs = placeRoots(events, { parts, starts, shiftUs, fatherOf })
  const chain: number[] = []
  for (let part = 0; part < count; part++) {
    let at = part
    // A chain longer than all parts is a circle: its trace is left out when parents are resolved.
    while (Number.isNaN(shiftUs[at]) && fatherOf(at) >= 0 && chain.length <= count) {
      chain.push(at)
      at = parts.partOf[fatherOf(at)]!
    }
    if (Number.isNaN(shiftUs[at])) shiftUs[at] = orphanShift(events, parts, at, traceStartUs)
    for (let next = chain.pop(); next !== undefined; next = chain.pop()) {
      shiftUs[next] = shiftBelow(events, parts, { part: next, father: fatherOf(next), shiftUs })
    }
  }
  return shiftUs
}

/** Puts the roots where `starts` says, else on their own clocks; gives when each trace begins. */
function placeRoots(
  events: EventColumns,
  run: {
    parts: EventParts
    starts: TraceStarts
    shiftUs: Float64Array
    fatherOf: (part: number) => number
  },
): Float64Array {
  const { parts, starts, shiftUs, fatherOf } = run
  const beginUs = new Float64Array(events.traces.size).fill(Number.POSITIVE_INFINITY)
  const aheadUs = starts === undefined ? undefined : clocksOfHosts(events, run, starts)
  for (let part = 0; part < shiftUs.length; part++) {
    if (fatherOf(part) !== ROOT) continue
    const event = firstOf(parts, part)
    const trace = events.traceOfGroup.values[events.group.values[event]!]!
    const startUs = events.startUs.values[event]!
    const host = events.host.values[event]!
    // Of a host without any time of day, the request is put at the collector's beginning.
    const shift = aheadUs === undefined ? 0 : (aheadUs[host] ?? -startUs)
    shiftUs[part] = shift
    beginUs[trace] = Math.min(beginUs[trace]!, startUs + shift)
  }
  return beginUs
}

/**
 * By host: what to add to its times to have the collector's, the median over the roots on it, so
 * that requests of one host keep their distances although the collector's clock has whole seconds.
 */
function clocksOfHosts(
  events: EventColumns,
  { parts, fatherOf }: { parts: EventParts; fatherOf: (part: number) => number },
  starts: ArrayLike<number>,
): number[] {
  const seen: number[][] = []
  for (let part = 0; part + 1 < parts.offsets.length; part++) {
    if (fatherOf(part) !== ROOT) continue
    const event = firstOf(parts, part)
    const trace = events.traceOfGroup.values[events.group.values[event]!]!
    const aheadUs = (starts[trace] ?? Number.NaN) - events.startUs.values[event]!
    if (Number.isNaN(aheadUs)) continue
    const host = events.host.values[event]!
    const own = seen[host]
    if (own === undefined) seen[host] = [aheadUs]
    else own.push(aheadUs)
  }
  return seen.map((values) => values.sort((a, b) => a - b)[values.length >> 1] as number)
}

/** An event whose father is lost began at a time not known: it is put where its trace begins. */
function orphanShift(
  events: EventColumns,
  parts: EventParts,
  part: number,
  traceStartUs: Float64Array,
): Microseconds {
  const event = firstOf(parts, part)
  const trace = events.traceOfGroup.values[events.group.values[event]!]!
  const beginUs = traceStartUs[trace]!
  return Number.isFinite(beginUs) ? beginUs - events.startUs.values[event]! : 0
}

function shiftBelow(
  events: EventColumns,
  parts: EventParts,
  { part, father, shiftUs }: { part: number; father: number; shiftUs: Float64Array },
): Microseconds {
  const event = firstOf(parts, part)
  const fatherShiftUs = shiftUs[parts.partOf[father]!]!
  if (events.host.values[event] === events.host.values[father]) return fatherShiftUs
  const startUs = events.startUs.values[event]!
  const fatherStartUs = events.startUs.values[father]!
  return fatherStartUs + fatherShiftUs + leadUs(events, parts, { part, father }) - startUs
}

/** How long after its father a part on another host begins. */
function leadUs(
  events: EventColumns,
  { order, offsets, partOf }: EventParts,
  { part, father }: { part: number; father: number },
): Microseconds {
  const waitedUs = Math.max(events.durationUs.values[father]!, 0)
  const startUs = events.startUs.values[order[offsets[part]!]!]!
  let within = -1
  let beyond = Number.POSITIVE_INFINITY
  for (let at = offsets[part]!; partOf[order[at]!] === part; at++) {
    const tookUs = events.endUs.values[order[at]!]! - startUs
    if (tookUs <= waitedUs) within = Math.max(within, tookUs)
    else beyond = Math.min(beyond, tookUs)
  }
  const overUs = beyond - waitedUs
  const near = overUs <= waitedUs * NEAR && overUs < waitedUs - within
  return within >= 0 && !near ? (waitedUs - within) / 2 : -overUs
}

function firstOf({ order, offsets }: EventParts, part: number): number {
  return order[offsets[part]!]!
}
