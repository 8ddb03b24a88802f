// Runs once a span of a request: the loops index with `!`.
import { max, sum } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, type ShapeVisits } from '../../calls/visits.ts'
import { memoized } from '../../core/remembered.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { NS } from '../../flows/span-tree.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { groupRows, rowsWhere } from '../../traces/group-rows.ts'
import { finishColumns, growingColumns } from '../../traces/growing-columns.ts'
import type { ResourceUses } from '../segments/request-columns.ts'

/** Something that requests may share: `'service'`, `'host'`, or an attribute such as `lock.name`. */
export type Shared = string

export interface Activity {
  readonly request: Uint32Array
  /** Service, host or resource, with its recording. */
  readonly place: Uint32Array
  readonly kind: Uint32Array
  readonly startUs: Float64Array
  readonly endUs: Float64Array
  /** When the visit was asked for and answered, as its caller saw it. */
  readonly askedUs: Float64Array
  readonly answeredUs: Float64Array
}

interface Activities {
  readonly of: ReadonlyMap<Shared, Activity>
  /** Service and host of every visit, whether or not its times were read; no hosts where one has none. */
  readonly services: Uint32Array
  readonly hosts: Uint32Array
}

/** Names a kind of visit: equal for the same operation of a service, called by the same one. */
export function kindOf(service: string, operation: string, callingOperation: string): string {
  return JSON.stringify([service, operation, callingOperation])
}

interface Stay {
  readonly kind: number
  readonly span: number
  readonly atCaller: number
  readonly service: number
  /** `NO_HOST` for none. */
  readonly host: number
}

/**
 * Reads where requests were, and when: at services, on hosts, and with shared things that attributes name, from the
 * first span of the visit that names it to the last (a lock, for example). For services and hosts, reads only kinds of
 * visits that occur where calls of `called` kinds are.
 */
export function activitiesOf(
  flows: FlowSet,
  {
    resources,
    chosen,
    kinds,
    called,
  }: {
    readonly resources: ResourceUses
    readonly chosen: Uint8Array
    readonly kinds: Dictionary
    readonly called: ReadonlySet<number>
  },
): Activities {
  const places = new Dictionary()
  const visits = allVisits(flows)
  const shapes = staysByShape(flows, { kinds, places, called })
  const spans = spanTimes(flows)
  // A snapshot may carry the latencies of some requests only.
  const isRead = (request: number) => chosen[request] !== 0 && spans.of(request).length > 0
  const requests = rowsWhere(flows.size, isRead)
  const sizeOf = (which: 'all' | 'near') =>
    sum(requests, (one) => shapes.get(flows.shapeOf[one]!)![which].length)
  const services = new Uint32Array(sizeOf('all'))
  const hosts = new Uint32Array(services.length)
  const near = newActivity(sizeOf('near'))
  const nearHosts = new Uint32Array(near.place.length)
  const ofResources = new Map<Shared, ReturnType<typeof newColumns>>()
  let [visit, row, use] = [0, 0, 0]
  for (const request of requests) {
    const shape = flows.shapeOf[request]!
    const { visits: own, visitOf } = visits.get(shape)!
    const stays = shapes.get(shape)!
    const recording = flows.recordedIn[request]!
    const requestUs = flows.startUs[request]!
    const placeIn = (place: number) =>
      place === NO_HOST ? NO_HOST : place * flows.epochsUs.length + recording
    for (let i = 0; i < stays.all.length; i++) {
      services[visit] = placeIn(stays.all[i]!.service)
      hosts[visit++] = placeIn(stays.all[i]!.host)
    }
    while (use < resources.request.length && resources.request[use]! < request) use++
    if (stays.near.length === 0 && resources.request[use] !== request) continue
    const times = spans.of(request)
    for (let i = 0; i < stays.near.length; i++) {
      const { kind, span, atCaller, service, host } = stays.near[i]!
      near.request[row] = request
      near.place[row] = placeIn(service)
      nearHosts[row] = placeIn(host)
      near.kind[row] = kind
      near.startUs[row] = requestUs + times[2 * span]! / NS
      near.endUs[row] = requestUs + times[2 * span + 1]! / NS
      near.askedUs[row] = requestUs + times[2 * atCaller]! / NS
      near.answeredUs[row++] = requestUs + times[2 * atCaller + 1]! / NS
    }
    const used = new Map<string, { shared: string; place: number; kind: number; spans: number[] }>()
    for (; resources.request[use] === request; use++) {
      const span = resources.span[use]!
      const number = own.indexOf(visitOf[span]!)
      const shared = resources.names[resources.attribute[use]!]!
      const place = places.code(`${shared} ${resources.names[resources.value[use]!]}`)
      const key = `${number} ${place}`
      const known = used.get(key) ?? { shared, place, kind: stays.all[number]!.kind, spans: [] }
      used.set(key, known)
      known.spans.push(span)
    }
    for (const { shared, place, kind, spans } of used.values()) {
      const columns = ofResources.get(shared) ?? newColumns()
      ofResources.set(shared, columns)
      const startUs = requestUs + Math.min(...spans.map((one) => times[2 * one]!)) / NS
      const endUs = requestUs + Math.max(...spans.map((one) => times[2 * one + 1]!)) / NS
      columns.request.push(request)
      columns.place.push(placeIn(place))
      columns.kind.push(kind)
      columns.startUs.push(startUs)
      columns.endUs.push(endUs)
      columns.askedUs.push(startUs)
      columns.answeredUs.push(endUs)
    }
  }
  return {
    services,
    hosts: hosts.includes(NO_HOST) ? new Uint32Array() : hosts,
    of: new Map<Shared, Activity>([
      ['service', near],
      ['host', withPlaces(near, nearHosts)],
      ...[...ofResources].map(([shared, columns]) => [shared, finishColumns(columns)] as const),
    ]),
  }
}

/** Returns the visits of each shape whose kind occurs at places of calls of `called` kinds. */
function staysByShape(
  flows: FlowSet,
  { kinds, places, called }: { kinds: Dictionary; places: Dictionary; called: ReadonlySet<number> },
) {
  const serviceOf = memoized((service: string) => places.code(`service ${service}`))
  const hostOf = memoized((host: string) => (host === '' ? NO_HOST : places.code(`host ${host}`)))
  const kindsOf = memoized((service: string) =>
    memoized((operation: string) =>
      memoized((calling: string) => kinds.code(kindOf(service, operation, calling))),
    ),
  )
  const codes = { serviceOf, hostOf, kindsOf }
  const shapes = Array.from(
    allVisits(flows),
    ([shape, visits]) => [shape, staysOf(flows, { shape, visits, codes })] as const,
  )
  const stays = shapes.flatMap(([, own]) => own)
  const ofCalls = stays.filter(({ kind }) => called.has(kind))
  const where = new Set(ofCalls.flatMap(({ service, host }) => [service, host]))
  where.delete(NO_HOST)
  const met = stays.filter(({ service, host }) => where.has(service) || where.has(host))
  const near = new Set(met.map(({ kind }) => kind))
  return new Map(
    shapes.map(([shape, all]) => [shape, { all, near: all.filter(({ kind }) => near.has(kind)) }]),
  )
}

const NO_HOST = 2 ** 32 - 1

function newActivity(size: number): Activity {
  const codes = () => new Uint32Array(size)
  const times = () => new Float64Array(size)
  return {
    ...{ request: codes(), place: codes(), kind: codes() },
    ...{ startUs: times(), endUs: times(), askedUs: times(), answeredUs: times() },
  }
}

/** Returns the same activity at other places, without rows that have none. */
function withPlaces(activity: Activity, place: Uint32Array): Activity {
  if (!place.includes(NO_HOST)) return { ...activity, place }
  const rows = rowsWhere(place.length, (row) => place[row] !== NO_HOST)
  const codes = (values: Uint32Array) => rows.map((row) => values[row]!)
  const times = (values: Float64Array) => {
    const own = new Float64Array(rows.length)
    for (let i = 0; i < own.length; i++) own[i] = values[rows[i]!]!
    return own
  }
  const { request, kind, startUs, endUs, askedUs, answeredUs } = activity
  return {
    ...{ request: codes(request), place: codes(place), kind: codes(kind) },
    ...{ startUs: times(startUs), endUs: times(endUs) },
    ...{ askedUs: times(askedUs), answeredUs: times(answeredUs) },
  }
}

function newColumns() {
  return growingColumns({
    request: 'u32',
    place: 'u32',
    kind: 'u32',
    startUs: 'f64',
    endUs: 'f64',
    askedUs: 'f64',
    answeredUs: 'f64',
  } as const)
}

interface Codes {
  readonly serviceOf: (service: string) => number
  readonly hostOf: (host: string) => number
  readonly kindsOf: (service: string) => (operation: string) => (calling: string) => number
}

function staysOf(
  { labels, shapes }: FlowSet,
  {
    shape,
    visits: { visits },
    codes: { serviceOf, hostOf, kindsOf },
  }: { shape: number; visits: ShapeVisits; codes: Codes },
): Stay[] {
  const codes = shapes.labels(shape)
  const recorded = visits.map((visit): Stay => {
    const { service, operation, callingOperation, entry, atCaller } = visit
    return {
      span: entry,
      atCaller,
      service: serviceOf(service),
      kind: kindsOf(service)(operation)(callingOperation),
      host: hostOf(labels.get(codes[2 * entry]!).host),
    }
  })
  const unrecorded = visits.flatMap(({ operation: calling, calls }) =>
    calls
      .filter(({ called }) => called.length === 0)
      .map(({ span, service, operation }) => ({
        span,
        atCaller: span,
        host: NO_HOST,
        service: serviceOf(service),
        kind: kindsOf(service)(operation)(calling),
      })),
  )
  return [...recorded, ...unrecorded]
}

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
type GroupsUnderWay = ReadonlyMap<number, ReadonlyMap<number, UnderWay>>

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
