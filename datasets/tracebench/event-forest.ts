// Runs once a span, node or edge: the loops index with `!`.
import { AttributesBuilder, type AttributeValue } from '../../src/traces/attributes.ts'
import { Dictionary } from '../../src/traces/dictionary.ts'
import { EpochClock } from '../../src/traces/epoch-clock.ts'
import { groupRows } from '../../src/traces/group-rows.ts'
import { growingFloat64, growingUint8, growingUint32 } from '../../src/traces/growing-columns.ts'
import type { QualityLog } from '../../src/traces/quality.ts'

/** `FatherColumns.group` of an edge that makes its child a root. */
export const NO_FATHER = 0xffffffff

export class EventColumns {
  /** The clocks of all hosts as one: offsets of different hosts have nothing in common. */
  readonly clock = new EpochClock()
  readonly traces = new Dictionary()
  readonly operations = new Dictionary()
  readonly services = new Dictionary()
  readonly hosts = new Dictionary()
  readonly group = growingUint32()
  readonly operation = growingUint32()
  readonly service = growingUint32()
  readonly host = growingUint32()
  readonly status = growingUint8()
  readonly startUs = growingFloat64()
  readonly endUs = growingFloat64()
  /** To the nanosecond, which starts and ends days from the first are not. */
  readonly durationUs = growingFloat64()
  readonly line = growingUint32()
  readonly hostByAddress = new Map<string, string>()
  readonly traceOfGroup = growingUint32()
  readonly #groups = new Dictionary()
  readonly attributes = new AttributesBuilder()

  get size(): number {
    return this.group.length
  }

  get groupCount(): number {
    return this.#groups.size
  }

  groupCode(traceId: string, name: string): number {
    const code = this.#groups.code(`${traceId}\n${name}`)
    if (code === this.traceOfGroup.length) this.traceOfGroup.push(this.traces.code(traceId))
    return code
  }

  groupName(code: number): string {
    const name = this.#groups.value(code)
    return name.slice(name.indexOf('\n') + 1)
  }

  traceId(group: number): string {
    return this.traces.value(this.traceOfGroup.values[group]!)
  }

  addAttribute(key: string, value: AttributeValue): void {
    this.attributes.add(this.size, key, value)
  }
}

export class FatherColumns {
  /** By group: the father's group, `NO_FATHER`, or undefined where no edge leads to the group. */
  readonly group: number[] = []
  /** By group: when the father began, by its own clock; `NaN` for the first event of its group. */
  readonly startUs: number[] = []
  readonly line: number[] = []

  hasEdge(child: number): boolean {
    return this.group[child] !== undefined
  }

  add(
    child: number,
    father: number,
    { startUs, line }: { startUs: number; line: number },
  ): boolean {
    if (this.hasEdge(child)) return false
    this.group[child] = father
    this.startUs[child] = startUs
    this.line[child] = line
    return true
  }
}

/** `EventParts.around` of an event that no other of its group is around. */
const OUTERMOST = -1
/** `EventParts.around` of an event that is a copy of the one before it. */
export const COPY = -2

/** Groups of events sorted by time, cut into parts: those of one group on one host. */
export interface EventParts {
  /** Events by group, host and time: of two that begin together, the longer first. */
  readonly order: Uint32Array
  /** The events of part `i` are entries `offsets[i]` to `offsets[i + 1]` of `order`. */
  readonly offsets: readonly number[]
  /** The parts of group `i` are `ofGroup[i]` to `ofGroup[i + 1]`. */
  readonly ofGroup: Uint32Array
  readonly partOf: Uint32Array
  /** The event around each event, in time and part, or `OUTERMOST`, or `COPY`. */
  readonly around: Int32Array
}

/** Nests the events of each part in time; those that overlap without nesting are siblings. */
export function nestEvents(events: EventColumns): EventParts {
  const { size, groupCount } = events
  const group = events.group.values
  const host = events.host.values
  const start = events.startUs.values
  const end = events.endUs.values
  const order = Uint32Array.from({ length: size }, (_, i) => i).sort(
    (a, b) =>
      group[a]! - group[b]! ||
      host[a]! - host[b]! ||
      start[a]! - start[b]! ||
      end[b]! - end[a]! ||
      a - b,
  )
  const offsets: number[] = []
  const groupOfPart: number[] = []
  const partOf = new Uint32Array(size)
  const around = new Int32Array(size).fill(OUTERMOST)
  let open: number[] = []
  for (let at = 0; at < size; at++) {
    const event = order[at]!
    const last = at === 0 ? undefined : order[at - 1]!
    if (last === undefined || group[event] !== group[last] || host[event] !== host[last]) {
      offsets.push(at)
      groupOfPart.push(group[event]!)
      open = []
    } else if (isCopy(events, event, last)) {
      around[event] = COPY
    }
    partOf[event] = offsets.length - 1
    if (around[event] === COPY) continue
    while (open.length > 0 && !holds(open[open.length - 1]!, event)) open.pop()
    around[event] = open.at(-1) ?? OUTERMOST
    open.push(event)
  }
  offsets.push(size)
  const { offsets: ofGroup } = groupRows(groupOfPart, groupCount)
  return { order, offsets, ofGroup, partOf, around }

  function holds(outer: number, inner: number): boolean {
    const over = end[outer]! <= start[inner]!
    return end[inner]! <= end[outer]! && (!over || start[outer] === end[outer])
  }
}

/** Reports get lost, and are sent again. */
function isCopy(events: EventColumns, event: number, last: number): boolean {
  const columns = [events.startUs, events.endUs, events.operation, events.service, events.status]
  return columns.every(({ values }) => values[event] === values[last])
}

export const ROOT = -1
const FATHER_MISSING = -2

/**
 * The father event of each group, or `ROOT`, or `FATHER_MISSING`. Of several that begin alike, that
 * whose operation most often is father of such a group, else the innermost, which is noted.
 */
export function findFathers(
  events: EventColumns,
  edges: FatherColumns,
  { parts, quality, file }: { parts: EventParts; quality: QualityLog; file: string },
): Int32Array {
  const fathers = new Int32Array(events.groupCount).fill(ROOT)
  const usual = new Map<string, number>()
  const unsure: [group: number, candidates: readonly number[]][] = []
  for (let group = 0; group < events.groupCount; group++) {
    const fatherGroup = edges.group[group]
    if (fatherGroup === undefined || fatherGroup === NO_FATHER) continue
    const candidates = eventsAt(events, parts, fatherGroup, edges.startUs[group]!)
    const [only] = candidates
    fathers[group] = only ?? FATHER_MISSING
    if (only === undefined) continue
    if (candidates.length > 1) unsure.push([group, candidates])
    else {
      const kind = pairOf(events, parts, only, group)
      usual.set(kind, (usual.get(kind) ?? 0) + 1)
    }
  }
  for (const [group, candidates] of unsure) {
    const known = (event: number) => usual.get(pairOf(events, parts, event, group)) ?? 0
    const father = candidates.reduce((best, event) => (known(event) >= known(best) ? event : best))
    fathers[group] = father
    quality.note(
      'ambiguous-father',
      { file, line: edges.line[group], trace: events.traceId(group) },
      `${candidates.length} events match the father of ${events.groupName(group)} that an edge names; ${events.operations.value(events.operation.values[father]!)} is taken`,
    )
  }
  return fathers
}

/** The events of a group that begin at `startUs`, outermost first; its first for `NaN`. */
function eventsAt(
  events: EventColumns,
  { order, offsets, ofGroup, around }: EventParts,
  group: number,
  startUs: number,
): number[] {
  const start = events.startUs.values
  const found: number[] = []
  const lastPart = ofGroup[group + 1]!
  for (let part = ofGroup[group]!; part < lastPart; part++) {
    const end = offsets[part + 1]!
    let at = offsets[part]!
    if (Number.isNaN(startUs)) return [order[at]!]
    for (let beyond = end; at < beyond; ) {
      const middle = (at + beyond) >>> 1
      if (start[order[middle]!]! < startUs) at = middle + 1
      else beyond = middle
    }
    for (; at < end && start[order[at]!] === startUs; at++) {
      const event = order[at]!
      if (around[event] !== COPY) found.push(event)
    }
  }
  return found
}

function pairOf(events: EventColumns, parts: EventParts, father: number, group: number): string {
  const child = firstOfGroup(parts, group)
  const operation = events.operation.values
  return `${operation[father]} ${child === undefined ? '' : operation[child]}`
}

export function firstOfGroup(
  { order, offsets, ofGroup }: EventParts,
  group: number,
): number | undefined {
  return order[offsets[ofGroup[group]!]!]
}
