// Runs once a row and call: the loops index with `!`.
import { max } from 'd3-array'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { groupRows } from '../../traces/group-rows.ts'

/** Shorter overlaps are none: they come from rounding. */
const MIN_US = 1

export interface Calls {
  readonly place: Uint32Array
  readonly startUs: Float64Array
  readonly endUs: Float64Array
  /** Rows in the order of places and starts, and of places and ends; of activity, only rows at places of calls. */
  readonly byStart: Uint32Array
  readonly byEnd: Uint32Array
}

/** Activity of which each row is over at a time, no earlier than it started. */
export interface SortedActivity extends Omit<Calls, 'byEnd'> {
  readonly request: Uint32Array
  /** `null` where two requests of a group at once count once. */
  readonly byEnd: Uint32Array | null
}

export function sortCalls({ place, startUs, endUs }: Omit<Calls, 'byStart' | 'byEnd'>): Calls {
  const [byStart, byEnd] = [placesInOrder(place, startUs), placesInOrder(place, endUs)]
  return { place, startUs, endUs, byStart, byEnd }
}

/** Returns rows, by default all, in the order of places and of times. */
export function placesInOrder(
  place: Uint32Array,
  us: Float64Array,
  rows?: Uint32Array,
): Uint32Array {
  const order = ascendingOrder(us, rows)
  const places = order.map((row) => place[row]!)
  return groupRows(places, (max(places) ?? 0) + 1).rows.map((at) => order[at]!)
}

/** Starts and ends of activity, each ascending. */
interface UnderWay {
  readonly begun: Float64Array
  readonly ended: Float64Array
}

/** Activity under way at the places of calls, by place and group. */
export type GroupsUnderWay = ReadonlyMap<number, ReadonlyMap<number, UnderWay>>

export function groupsUnderWay(
  activity: SortedActivity,
  groupOf: ArrayLike<number>,
): GroupsUnderWay {
  const { byStart, byEnd, startUs, endUs } = activity
  const found = new Map<number, ReadonlyMap<number, UnderWay>>()
  for (const [place, from, to] of stretchesByPlace(activity)) {
    const starts = timesByGroup(byStart.subarray(from, to), startUs, { ...activity, groupOf })
    const inOrder = (byEnd ?? byStart).subarray(from, to)
    const ends = timesByGroup(inOrder, endUs, { ...activity, groupOf })
    const under = starts.flatMap((begun, group) => {
      const ended = ends[group]!
      if (begun.length === 0) return []
      return [[group, byEnd ? { begun, ended } : merged(begun, ended)] as const]
    })
    found.set(place, new Map(under))
  }
  return found
}

/** Returns the places of rows in order, with the begin and end of each in that order. */
function stretchesByPlace({ place, byStart }: Pick<Calls, 'place' | 'byStart'>) {
  const stretches: [place: number, from: number, to: number][] = []
  byStart.forEach((row, at) => {
    const last = stretches.at(-1)
    if (last !== undefined && last[0] === place[row]) last[2] = at + 1
    else stretches.push([place[row]!, at, at + 1])
  })
  return stretches
}

/** Returns how long activity under way overlapped each call, one row per group, in µs: a sweep over sorted times. */
export function overlapsOf(under: GroupsUnderWay, calls: Calls, groups: number): Float64Array {
  const size = calls.startUs.length
  const overlaps = new Float64Array(groups * size)
  for (const [place, from, to] of stretchesByPlace(calls)) {
    for (const [group, own] of under.get(place) ?? []) {
      const into = overlaps.subarray(group * size, (group + 1) * size)
      // Time under way up to the end of a call, less that up to its start.
      addUnderWay(calls.byEnd.subarray(from, to), calls.endUs, { ...own, into, sign: 1 })
      addUnderWay(calls.byStart.subarray(from, to), calls.startUs, { ...own, into, sign: -1 })
    }
  }
  return overlaps.map((us) => (us < MIN_US ? 0 : us))
}

/** Times of rows in their order, by group. */
function timesByGroup(
  rows: Uint32Array,
  us: Float64Array,
  { request, groupOf }: Pick<SortedActivity, 'request'> & { groupOf: ArrayLike<number> },
): Float64Array[] {
  const groups = new Int32Array(rows.length)
  let most = -1
  for (let i = 0; i < groups.length; i++) {
    groups[i] = groupOf[request[rows[i]!]!]!
    most = Math.max(most, groups[i]!)
  }
  const { offsets, rows: order } = groupRows(groups, most + 1)
  const times = new Float64Array(order.length)
  for (let i = 0; i < times.length; i++) times[i] = us[rows[order[i]!]!]!
  return Array.from({ length: most + 1 }, (_, group) =>
    times.subarray(offsets[group], offsets[group + 1]),
  )
}

/** Merges simultaneous activity into one; overwrites the given arrays. */
function merged(starts: Float64Array, ends: Float64Array): UnderWay {
  let size = 0
  for (let i = 0; i < starts.length; i++) {
    if (size > 0 && starts[i]! <= ends[size - 1]!)
      ends[size - 1] = Math.max(ends[size - 1]!, ends[i]!)
    else {
      starts[size] = starts[i]!
      ends[size++] = ends[i]!
    }
  }
  return { begun: starts.subarray(0, size), ended: ends.subarray(0, size) }
}

/** Adds, for each moment, the time that was under way before it: since starts, less since ends. */
function addUnderWay(
  order: Uint32Array,
  us: Float64Array,
  { begun, ended, into, sign }: UnderWay & { readonly into: Float64Array; readonly sign: 1 | -1 },
): void {
  const base = begun[0]!
  let [starts, ends, sum] = [0, 0, 0]
  for (const at of order) {
    const now = us[at]!
    for (; starts < begun.length && begun[starts]! <= now; starts++) sum -= begun[starts]! - base
    for (; ends < ended.length && ended[ends]! <= now; ends++) sum += ended[ends]! - base
    into[at]! += sign * ((starts - ends) * (now - base) + sum)
  }
}
