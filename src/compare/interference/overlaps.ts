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
  /** In the order of places and of starts, and in that of ends; of activity, only where calls are. */
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

/** Rows, by default all, in the order of places and of times. */
export function placesInOrder(
  place: Uint32Array,
  us: Float64Array,
  rows?: Uint32Array,
): Uint32Array {
  const order = ascendingOrder(us, rows)
  const places = order.map((row) => place[row]!)
  return groupRows(places, (max(places) ?? 0) + 1).rows.map((at) => order[at]!)
}

/**
 * How long what was under way overlapped each call, a row a group, in µs: a sweep over sorted
 * times.
 */
export function overlapsOf(
  activity: SortedActivity,
  calls: Calls,
  { groupOf, groups }: { readonly groupOf: ArrayLike<number>; readonly groups: number },
): Float64Array {
  const size = calls.startUs.length
  const { byEnd } = activity
  const overlaps = new Float64Array(groups * size)
  let [row, call] = [0, 0]
  while (call < size) {
    const place = calls.place[calls.byStart[call]!]!
    const isBefore = (rows: Pick<Calls, 'place' | 'byStart'>, at: number, limit: number) =>
      at < rows.byStart.length && rows.place[rows.byStart[at]!]! < limit
    while (isBefore(activity, row, place)) row++
    let [nextRow, nextCall] = [row, call]
    while (isBefore(activity, nextRow, place + 1)) nextRow++
    while (isBefore(calls, nextCall, place + 1)) nextCall++
    const starts = rowsByGroup(activity.byStart.subarray(row, nextRow), activity, groupOf)
    const ends = byEnd ? rowsByGroup(byEnd.subarray(row, nextRow), activity, groupOf) : starts
    for (const [group, rows] of starts) {
      const begun = rows.map((one) => activity.startUs[one]!)
      const ended = ends.get(group)!.map((one) => activity.endUs[one]!)
      const under = byEnd ? { begun, ended } : merged(begun, ended)
      const into = overlaps.subarray(group * size, (group + 1) * size)
      // Time under way up to the end of a call, less that up to its start.
      addUnderWay(calls.byEnd.subarray(call, nextCall), calls.endUs, { ...under, into, sign: 1 })
      addUnderWay(calls.byStart.subarray(call, nextCall), calls.startUs, {
        ...under,
        into,
        sign: -1,
      })
    }
    call = nextCall
    row = nextRow
  }
  return overlaps.map((us) => (us < MIN_US ? 0 : us))
}

function rowsByGroup(rows: Uint32Array, { request }: SortedActivity, groupOf: ArrayLike<number>) {
  const groups = new Map<number, number[]>()
  for (const row of rows) {
    const group = groupOf[request[row]!]!
    if (group < 0) continue
    const own = groups.get(group)
    if (own === undefined) groups.set(group, [row])
    else own.push(row)
  }
  return groups
}

function merged(starts: readonly number[], ends: readonly number[]) {
  const [begun, ended]: [number[], number[]] = [[], []]
  starts.forEach((start, i) => {
    const last = ended.length - 1
    if (last >= 0 && start <= ended[last]!) ended[last] = Math.max(ended[last]!, ends[i]!)
    else {
      begun.push(start)
      ended.push(ends[i]!)
    }
  })
  return { begun, ended }
}

/** Adds, for each moment, the time that was under way before it: since starts, less since ends. */
function addUnderWay(
  order: Uint32Array,
  us: Float64Array,
  {
    begun,
    ended,
    into,
    sign,
  }: {
    readonly begun: readonly number[]
    readonly ended: readonly number[]
    readonly into: Float64Array
    readonly sign: 1 | -1
  },
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
