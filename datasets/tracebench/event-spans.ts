// Runs once a span, node or edge: the loops index with `!`.

import type { Microseconds } from '../../src/core/words.ts'
import type { AttributeValue } from '../../src/traces/attributes.ts'
import { DUPLICATE_SPAN, type QualityLog } from '../../src/traces/quality.ts'
import type { ReadSink } from '../../src/traces/readers/trace-reader.ts'
import { SPAN_STATUSES, type SpanKind } from '../../src/traces/span-columns.ts'
import {
  COPY,
  type EventColumns,
  type EventParts,
  type FatherColumns,
  findFathers,
  firstOfGroup,
  NO_FATHER,
  nestEvents,
  ROOT,
} from './event-forest.ts'

/** A parent id that no event has: span ids are line numbers. */
const NOWHERE = 'missing'

interface EventTarget {
  readonly sink: ReadSink
  readonly eventFile: string
  readonly edgeFile: string
  readonly starts: TraceStarts
  readonly startsEpochNs: bigint | undefined
}

export function addEventSpans(
  events: EventColumns,
  edges: FatherColumns,
  { sink, eventFile, edgeFile, starts, startsEpochNs }: EventTarget,
): void {
  const { quality, spans } = sink
  const parts = nestEvents(events)
  const fathers = findFathers(events, edges, { parts, quality, file: edgeFile })
  noteLooseGroups(events, edges, { parts, quality, file: edgeFile })
  const shiftUs = new HostClocks(events, { parts, fathers, starts }).align()
  const epochNs = starts === undefined ? events.clock.epochNs : startsEpochNs
  const epochUs = spans.clock.offsetOfNanos(String(epochNs))
  const calls = callsToOtherHosts(events, parts, fathers)
  const attributes = events.attributes.finish(events.size)
  const host = events.host.values
  // Span ids are lines of rows, in hexadecimal.
  const spanId = (event: number) => events.line.values[event]!.toString(16)
  for (let event = 0; event < events.size; event++) {
    const group = events.group.values[event]!
    const traceId = events.traceId(group)
    const operation = events.operations.value(events.operation.values[event]!)
    const place = { file: eventFile, line: events.line.values[event]! }
    const around = parts.around[event]!
    if (around === COPY) {
      quality.skip({
        code: DUPLICATE_SPAN,
        effect: 'span skipped',
        place: { ...place, trace: traceId },
        message: `Event ${operation} of ${events.groupName(group)} is there twice; the later one is left out`,
        next: 'Remove the copy, or load without `strict`',
      })
      continue
    }
    const father = fathers[group]!
    const parent = around >= 0 ? around : father
    const isStarted = around < 0 && father >= 0 && host[father] !== host[event]
    const kind = isStarted ? 'server' : calls[event] === 1 ? 'client' : 'internal'
    const span = {
      traceId,
      spanId: spanId(event),
      operation,
      kind: kind as SpanKind,
      followsFrom: false,
      parentId: parent >= 0 ? spanId(parent) : parent === ROOT ? null : NOWHERE,
      service: events.services.value(events.service.values[event]!),
      host: events.hosts.value(host[event]!),
      status: SPAN_STATUSES[events.status.values[event]!] ?? 'unset',
      startUs: epochUs + events.startUs.values[event]! + shiftUs[parts.partOf[event]!]!,
      durationUs: events.durationUs.values[event]!,
      attributes: named(events, attributes.entries(event)),
    }
    spans.add(span, place)
  }
}

/** Which events are fathers of a group on another host: clients, what they start servers. */
function callsToOtherHosts(
  events: EventColumns,
  parts: EventParts,
  fathers: Int32Array,
): Uint8Array {
  const host = events.host.values
  const calls = new Uint8Array(events.size)
  fathers.forEach((father, group) => {
    const child = firstOfGroup(parts, group)
    if (father >= 0 && child !== undefined && host[father] !== host[child]) calls[father] = 1
  })
  return calls
}

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

/** How far beyond its awaiting father a part may reach, in shares of that. */
const NEAR = 0.25

/** When each trace's request began by one clock, in µs; `NaN` where not known. */
type TraceStarts = ArrayLike<number> | undefined

/**
 * Finds what to add to times so that a trace is on its root's clock, from durations alone. A part
 * on another host is what its father waited for, centered in it as a message there and one back
 * (Cristian 1989); where a part goes on after its father, the events that are over by then are
 * centered. Where none would be, or the part is longer by less than a quarter of the father, both
 * end together.
 */
class HostClocks {
  readonly #events: EventColumns
  readonly #parts: EventParts
  readonly #fathers: Int32Array
  readonly #starts: TraceStarts
  readonly #shiftUs: Float64Array

  constructor(
    events: EventColumns,
    { parts, fathers, starts }: { parts: EventParts; fathers: Int32Array; starts: TraceStarts },
  ) {
    this.#events = events
    this.#parts = parts
    this.#fathers = fathers
    this.#starts = starts
    this.#shiftUs = new Float64Array(parts.offsets.length - 1).fill(Number.NaN)
  }

  align(): Float64Array {
    const shiftUs = this.#shiftUs
    const beginUs = this.#placeRoots()
    const chain: number[] = []
    for (let part = 0; part < shiftUs.length; part++) {
      let at = part
      // A chain longer than all parts is a circle: its trace is left out when parents are resolved.
      while (
        Number.isNaN(shiftUs[at]) &&
        this.#fatherOf(at) >= 0 &&
        chain.length <= shiftUs.length
      ) {
        chain.push(at)
        at = this.#parts.partOf[this.#fatherOf(at)]!
      }
      if (Number.isNaN(shiftUs[at])) {
        // An event whose father is lost began at a time not known: it is put where its trace begins.
        const traceUs = beginUs[this.#traceOf(at)]!
        shiftUs[at] = Number.isFinite(traceUs) ? traceUs - this.#startUs(at) : 0
      }
      for (let next = chain.pop(); next !== undefined; next = chain.pop()) {
        shiftUs[next] = this.#shiftBelow(next)
      }
    }
    return shiftUs
  }

  /** Puts the roots where `starts` says, else on their own clocks; gives when each trace begins. */
  #placeRoots(): Float64Array {
    const beginUs = new Float64Array(this.#events.traces.size).fill(Number.POSITIVE_INFINITY)
    const aheadUs = this.#starts === undefined ? undefined : this.#aheadOfHosts(this.#starts)
    this.#shiftUs.forEach((_, part) => {
      if (this.#fatherOf(part) !== ROOT) return
      const startUs = this.#startUs(part)
      const trace = this.#traceOf(part)
      // Of a host without any time of day, the request is put at the collector's beginning.
      const shift = aheadUs === undefined ? 0 : (aheadUs[this.#hostOf(part)] ?? -startUs)
      this.#shiftUs[part] = shift
      beginUs[trace] = Math.min(beginUs[trace]!, startUs + shift)
    })
    return beginUs
  }

  /** By host, what to add for the collector's time: a median, as that has whole seconds. */
  #aheadOfHosts(starts: ArrayLike<number>): number[] {
    const seen: number[][] = []
    this.#shiftUs.forEach((_, part) => {
      if (this.#fatherOf(part) !== ROOT) return
      const aheadUs = (starts[this.#traceOf(part)] ?? Number.NaN) - this.#startUs(part)
      const host = this.#hostOf(part)
      if (Number.isNaN(aheadUs)) return
      const own = seen[host] ?? []
      own.push(aheadUs)
      seen[host] = own
    })
    return seen.map((values) => values.sort((a, b) => a - b)[values.length >> 1]!)
  }

  #shiftBelow(part: number): Microseconds {
    const father = this.#fatherOf(part)
    const fatherShiftUs = this.#shiftUs[this.#parts.partOf[father]!]!
    if (this.#hostOf(part) === this.#events.host.values[father]) return fatherShiftUs
    const fatherStartUs = this.#events.startUs.values[father]!
    return fatherStartUs + fatherShiftUs + this.#leadUs(part) - this.#startUs(part)
  }

  /** How long after its father a part on another host begins. */
  #leadUs(part: number): Microseconds {
    const { order, offsets } = this.#parts
    const waitedUs = Math.max(this.#events.durationUs.values[this.#fatherOf(part)]!, 0)
    const startUs = this.#startUs(part)
    let within = -1
    let beyond = Number.POSITIVE_INFINITY
    for (const event of order.subarray(offsets[part], offsets[part + 1])) {
      const tookUs = this.#events.endUs.values[event]! - startUs
      if (tookUs <= waitedUs) within = Math.max(within, tookUs)
      else beyond = Math.min(beyond, tookUs)
    }
    const overUs = beyond - waitedUs
    const near = overUs <= waitedUs * NEAR && overUs < waitedUs - within
    return within >= 0 && !near ? (waitedUs - within) / 2 : -overUs
  }

  #first(part: number): number {
    return this.#parts.order[this.#parts.offsets[part]!]!
  }

  #fatherOf(part: number): number {
    return this.#fathers[this.#events.group.values[this.#first(part)]!]!
  }

  #traceOf(part: number): number {
    return this.#events.traceOfGroup.values[this.#events.group.values[this.#first(part)]!]!
  }

  #hostOf(part: number): number {
    return this.#events.host.values[this.#first(part)]!
  }

  #startUs(part: number): Microseconds {
    return this.#events.startUs.values[this.#first(part)]!
  }
}
