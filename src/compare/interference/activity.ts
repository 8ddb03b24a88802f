// Runs once a span of a request: the loops index with `!`.
import { sum } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, type ShapeVisits } from '../../calls/visits.ts'
import { memoized } from '../../core/remembered.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { NS } from '../../flows/span-tree.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { rowsWhere } from '../../traces/group-rows.ts'
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

export interface Activities {
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
