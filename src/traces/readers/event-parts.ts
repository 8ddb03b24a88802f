import type { EventColumns } from './event-columns.ts'

/** `EventParts.around` of an event that no other of its group is around. */
export const OUTERMOST = -1
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
  /** The part of each event. */
  readonly partOf: Uint32Array
  /** The event around each event, in time and part, or `OUTERMOST`, or `COPY`. */
  readonly around: Int32Array
}

/** Nests the events of each part in time. Two that overlap without one being within the other are siblings. */
export function nestEvents(events: EventColumns): EventParts {
  const { size, groupCount } = events
  const group = events.group.values
  const host = events.host.values
  const start = events.startUs.values
  const end = events.endUs.values
  const order = Uint32Array.from({ length: size }, (_, i) => i).sort(
    (a, b) =>
      (group[a] as number) - (group[b] as number) ||
      (host[a] as number) - (host[b] as number) ||
      (start[a] as number) - (start[b] as number) ||
      (end[b] as number) - (end[a] as number) ||
      a - b,
  )
  const offsets: number[] = []
  const ofGroup = new Uint32Array(groupCount + 1)
  const partOf = new Uint32Array(size)
  const around = new Int32Array(size).fill(OUTERMOST)
  let open: number[] = []
  for (let at = 0; at < size; at++) {
    const event = order[at] as number
    const last = at === 0 ? undefined : (order[at - 1] as number)
    if (last === undefined || group[event] !== group[last] || host[event] !== host[last]) {
      offsets.push(at)
      const own = group[event] as number
      ofGroup[own + 1] = (ofGroup[own + 1] as number) + 1
      open = []
    } else if (isCopy(events, event, last)) {
      around[event] = COPY
    }
    partOf[event] = offsets.length - 1
    if (around[event] === COPY) continue
    while (open.length > 0 && !holds(open[open.length - 1] as number, event)) open.pop()
    around[event] = open.at(-1) ?? OUTERMOST
    open.push(event)
  }
  offsets.push(size)
  for (let i = 0; i < groupCount; i++) {
    ofGroup[i + 1] = (ofGroup[i + 1] as number) + (ofGroup[i] as number)
  }
  return { order, offsets, ofGroup, partOf, around }

  /** Whether `inner`, which does not begin earlier, is within `outer`. */
  function holds(outer: number, inner: number): boolean {
    const over = (end[outer] as number) <= (start[inner] as number)
    return (
      (end[inner] as number) <= (end[outer] as number) && (!over || start[outer] === end[outer])
    )
  }
}

/** Reports get lost, and are sent again. */
function isCopy(events: EventColumns, event: number, last: number): boolean {
  const columns = [events.startUs, events.endUs, events.operation, events.service, events.status]
  return columns.every(({ values }) => values[event] === values[last])
}
