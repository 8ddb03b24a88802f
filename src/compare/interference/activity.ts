// Runs once a span of a request, and once a meeting of two: the loops index with `!`.
import { max } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits } from '../../calls/visits.ts'
import { memoized } from '../../core/remembered.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { NS } from '../../flows/span-tree.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { finishColumns, growingColumns } from '../../traces/growing-columns.ts'
import type { ResourceUses } from '../segments/request-columns.ts'

/** Something that requests may share: `'service'`, `'host'`, or an attribute such as `lock.name`. */
export type Shared = string

/** Stretches of time at places. */
export interface Stretches {
  /** Service, host or resource, with its recording. */
  readonly place: Uint32Array
  readonly startUs: Float64Array
  readonly endUs: Float64Array
}

/** Where requests were, and when: one row a visit. */
export interface Activity extends Stretches {
  readonly request: Uint32Array
  readonly kind: Uint32Array
  /** When the visit was asked for and answered, as its caller saw it. */
  readonly askedUs: Float64Array
  readonly answeredUs: Float64Array
}

/** Names a kind of visit: equal for the same operation of a service, called by the same one. */
export function kindOf(service: string, operation: string, callingOperation: string): string {
  return JSON.stringify([service, operation, callingOperation])
}

/** A visit of a shape; `host` is empty where none is recorded. */
interface Stay {
  readonly kind: number
  readonly span: number
  readonly atCaller: number
  readonly service: string
  readonly host: string
}

/**
 * Reads where the chosen requests were, and when: at services, on hosts, and with shared things that attributes name,
 * from the first span of the visit that names it to the last (a lock, for example). For services and hosts, reads only
 * kinds of visits that occur where calls of `called` kinds are.
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
): ReadonlyMap<Shared, Activity> {
  const spans = spanTimes(flows)
  const visits = allVisits(flows)
  const stays = staysByShape(flows, kinds)
  const isNear = nearKinds(stays, called)
  const places = new Dictionary()
  const columnsOf = memoized((_: Shared) =>
    growingColumns({
      ...({ request: 'u32', place: 'u32', kind: 'u32' } as const),
      ...({ startUs: 'f64', endUs: 'f64', askedUs: 'f64', answeredUs: 'f64' } as const),
    }),
  )
  const found = new Set<Shared>(['service', 'host'])
  let use = 0
  for (let request = 0; request < flows.size; request++) {
    const times = spans.of(request)
    // A snapshot may carry the latencies of some requests only.
    if (chosen[request] === 0 || times.length === 0) continue
    const shape = flows.shapeOf[request]!
    const own = stays.get(shape)!
    const at = (ns: number) => flows.startUs[request]! + ns / NS
    const add = (shared: Shared, name: string, kind: number, us: readonly number[]) => {
      const place = places.code(`${shared} ${name}`)
      const columns = columnsOf(shared)
      columns.request.push(request)
      columns.place.push(place * flows.epochsUs.length + flows.recordedIn[request]!)
      columns.kind.push(kind)
      columns.startUs.push(at(us[0]!))
      columns.endUs.push(at(us[1]!))
      columns.askedUs.push(at(us[2]!))
      columns.answeredUs.push(at(us[3]!))
    }
    for (const { kind, span, atCaller, service, host } of own) {
      if (!isNear.has(kind)) continue
      const us = [span, atCaller].flatMap((one) => [times[2 * one]!, times[2 * one + 1]!])
      add('service', service, kind, us)
      if (host !== '') add('host', host, kind, us)
    }
    while (use < resources.request.length && resources.request[use]! < request) use++
    const used = new Map<string, { shared: string; name: string; kind: number; spans: number[] }>()
    for (; resources.request[use] === request; use++) {
      const span = resources.span[use]!
      const { visits: list, visitOf } = visits.get(shape)!
      const number = list.indexOf(visitOf[span]!)
      const shared = resources.names[resources.attribute[use]!]!
      const name = resources.names[resources.value[use]!]!
      const key = JSON.stringify([number, shared, name])
      const known = used.get(key) ?? { shared, name, kind: own[number]!.kind, spans: [] }
      used.set(key, known)
      known.spans.push(span)
    }
    for (const { shared, name, kind, spans } of used.values()) {
      const first = Math.min(...spans.map((one) => times[2 * one]!))
      const last = Math.max(...spans.map((one) => times[2 * one + 1]!))
      found.add(shared)
      add(shared, name, kind, [first, last, first, last])
    }
  }
  return new Map(Array.from(found, (shared) => [shared, finishColumns(columnsOf(shared))]))
}

/** Returns the visits of each shape in their order, then the calls of callees that record no spans. */
function staysByShape(flows: FlowSet, kinds: Dictionary): ReadonlyMap<number, readonly Stay[]> {
  const { labels, shapes } = flows
  const kind = (...names: Parameters<typeof kindOf>) => kinds.code(kindOf(...names))
  return new Map(
    Array.from(allVisits(flows), ([shape, { visits }]) => {
      const codes = shapes.labels(shape)
      const recorded = visits.map(
        ({ service, operation, callingOperation, entry, atCaller }): Stay => ({
          kind: kind(service, operation, callingOperation),
          span: entry,
          atCaller,
          service,
          host: labels.get(codes[2 * entry]!).host,
        }),
      )
      const unrecorded = visits.flatMap(({ operation: calling, calls }) =>
        calls
          .filter(({ called }) => called.length === 0)
          .map(({ span, service, operation }): Stay => {
            const own = kind(service, operation, calling)
            return { kind: own, span, atCaller: span, service, host: '' }
          }),
      )
      return [shape, [...recorded, ...unrecorded]] as const
    }),
  )
}

/** Returns the kinds of visits that occur at services, or on hosts, of calls of `called` kinds. */
function nearKinds(
  shapes: ReadonlyMap<number, readonly Stay[]>,
  called: ReadonlySet<number>,
): ReadonlySet<number> {
  const stays = [...shapes.values()].flat()
  const calls = stays.filter(({ kind }) => called.has(kind))
  const services = new Set(calls.map(({ service }) => service))
  const hosts = new Set(calls.map(({ host }) => host).filter((host) => host !== ''))
  const near = stays.filter(({ service, host }) => services.has(service) || hosts.has(host))
  return new Set(near.map(({ kind }) => kind))
}

/** How long requests of each group were under way during stretches: group by group, a number each stretch. */
export interface UnderWay {
  /** Each visit by itself, up to its usual end. */
  readonly eachUs: Float64Array
  /** Any of the group: visits at the same time count once. */
  readonly anyUs: Float64Array
}

/** Shorter overlaps are none: they come from rounding. */
const MIN_US = 1

/**
 * Returns, for each division of requests into groups, how long others of each group were under way at the place of
 * each stretch during it; a stretch's own request does not count.
 *
 * @param divisions the group of each request, and their number; -1 for none
 */
export function groupsUnderWay(
  activity: Stretches & Pick<Activity, 'request'>,
  stretches: Stretches & { readonly request?: Uint32Array },
  {
    usualEndUs,
    divisions,
  }: {
    usualEndUs: Float64Array
    divisions: readonly { readonly groupOf: ArrayLike<number>; readonly size: number }[]
  },
): UnderWay[] {
  const { length } = stretches.startUs
  const under = divisions.map(({ groupOf, size }) => ({
    groupOf,
    eachUs: new Float64Array(size * length),
    anyUs: new Float64Array(size * length),
    // Until when the group is known to be under way in the stretch that was met last.
    untilUs: new Float64Array(size),
    last: new Int32Array(size).fill(-1),
  }))
  eachMeeting(activity, stretches, (stretch, row) => {
    const request = activity.request[row]!
    if (request === stretches.request?.[stretch]) return
    const fromUs = Math.max(activity.startUs[row]!, stretches.startUs[stretch]!)
    const toUs = Math.min(activity.endUs[row]!, stretches.endUs[stretch]!)
    if (toUs - fromUs < MIN_US) return
    const usualUs = Math.min(usualEndUs[row]!, toUs) - fromUs
    for (const { groupOf, eachUs, anyUs, untilUs, last } of under) {
      const group = groupOf[request]!
      if (group < 0) continue
      const at = group * length + stretch
      if (usualUs >= MIN_US) eachUs[at]! += usualUs
      if (last[group] !== stretch) untilUs[group] = fromUs
      last[group] = stretch
      if (toUs <= untilUs[group]!) continue
      anyUs[at]! += toUs - Math.max(fromUs, untilUs[group]!)
      untilUs[group] = toUs
    }
  })
  return under
}

/** Calls `meet` for each stretch with each row of activity that overlaps it at its place, in the order of both starts. */
function eachMeeting(
  activity: Stretches,
  stretches: Stretches,
  meet: (stretch: number, row: number) => void,
): void {
  const [rowsAt, stretchesAt] = [inOrderAt(activity), inOrderAt(stretches)]
  for (const [place, own] of stretchesAt) {
    const rows = rowsAt.get(place) ?? new Uint32Array()
    const active: number[] = []
    let next = 0
    for (const stretch of own) {
      const [startUs, endUs] = [stretches.startUs[stretch]!, stretches.endUs[stretch]!]
      while (next < rows.length && activity.startUs[rows[next]!]! <= startUs) {
        active.push(rows[next++]!)
      }
      let left = 0
      for (let i = 0; i < active.length; i++) {
        const row = active[i]!
        if (activity.endUs[row]! <= startUs) continue
        active[left++] = row
        meet(stretch, row)
      }
      active.length = left
      for (let ahead = next; activity.startUs[rows[ahead]!]! < endUs; ahead++) {
        meet(stretch, rows[ahead]!)
      }
    }
  }
}

/** Returns the rows of each place in the order of their starts. */
function inOrderAt({ place, startUs }: Stretches): ReadonlyMap<number, Uint32Array> {
  const order = ascendingOrder(startUs)
  const places = order.map((row) => place[row]!)
  const { offsets, rows } = groupRows(places, (max(places) ?? 0) + 1)
  return new Map(
    Array.from(new Set(places), (one) => [
      one,
      rows.subarray(offsets[one], offsets[one + 1]).map((at) => order[at]!),
    ]),
  )
}
