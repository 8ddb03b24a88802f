// Runs once a span of a request: the loops index with `!`.
import { sum } from 'd3-array'
import type { FlowSet } from '../../flows/flow-set.ts'
import { NS, readTimesNs } from '../../flows/span-tree.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { rowsWhere } from '../../traces/group-rows.ts'
import { finishColumns, growingColumns } from '../../traces/growing-columns.ts'
import type { ResourceUses } from '../segments/request-columns.ts'
import { allVisits, type ShapeVisits } from '../steps/visits.ts'

/** What requests may share: `'service'`, `'host'`, or an attribute such as `lock.name`. */
export type Shared = string

export interface Activity {
  readonly request: Uint32Array
  /** Which service, host or resource, of which recording. */
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
  readonly kinds: Dictionary
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
  readonly host: number | null
}

/**
 * Reads where requests were when: at services, on hosts, and with what they share by name, from the
 * first span of the visit that names it to the last, as of a lock.
 */
export function activitiesOf(
  flows: FlowSet,
  { resources, chosen }: { readonly resources: ResourceUses; readonly chosen: Uint8Array },
): Activities {
  const kinds = new Dictionary()
  const places = new Dictionary()
  const visits = allVisits(flows)
  const shapes = new Map(
    [...visits].map(([shape, one]) => [
      shape,
      staysOf(flows, { shape, visits: one, kinds, places }),
    ]),
  )
  const isRead = (request: number) => {
    // A snapshot may carry the latencies of some requests only.
    const { from } = visits.get(flows.shapeOf[request]!)!.tree
    return chosen[request] !== 0 && flows.latencies(request).length >= from.length
  }
  const requests = rowsWhere(flows.size, isRead)
  const ofServices = newActivity(sum(requests, (one) => shapes.get(flows.shapeOf[one]!)!.length))
  const hosts = new Uint32Array(ofServices.place.length)
  const ofResources = new Map<Shared, ReturnType<typeof newColumns>>()
  let times = new Float64Array(64)
  let [row, use] = [0, 0]
  for (const request of requests) {
    const shape = flows.shapeOf[request]!
    const { tree, visits: own, visitOf } = visits.get(shape)!
    if (2 * tree.size > times.length) times = new Float64Array(4 * tree.size)
    readTimesNs(tree, flows.latencies(request), times)
    const recording = flows.recordedIn[request]!
    const requestUs = flows.startUs[request]!
    const placeIn = (place: number) => place * flows.epochsUs.length + recording
    const stays = shapes.get(shape)!
    for (let i = 0; i < stays.length; i++) {
      const { kind, span, atCaller, service, host } = stays[i]!
      ofServices.request[row] = request
      ofServices.place[row] = placeIn(service)
      hosts[row] = host === null ? NO_HOST : placeIn(host)
      ofServices.kind[row] = kind
      ofServices.startUs[row] = requestUs + times[2 * span]! / NS
      ofServices.endUs[row] = requestUs + times[2 * span + 1]! / NS
      ofServices.askedUs[row] = requestUs + times[2 * atCaller]! / NS
      ofServices.answeredUs[row++] = requestUs + times[2 * atCaller + 1]! / NS
    }
    const used = new Map<string, { shared: string; place: number; kind: number; spans: number[] }>()
    while (use < resources.request.length && resources.request[use]! < request) use++
    for (; resources.request[use] === request; use++) {
      const span = resources.span[use]!
      const visit = own.indexOf(visitOf[span]!)
      const shared = resources.names[resources.attribute[use]!]!
      const place = places.code(`${shared} ${resources.names[resources.value[use]!]}`)
      const key = `${visit} ${place}`
      const known = used.get(key) ?? { shared, place, kind: stays[visit]!.kind, spans: [] }
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
  const ofHosts = withPlaces(ofServices, hosts)
  return {
    kinds,
    of: new Map<Shared, Activity>([
      ...(ofServices.place.length === 0 ? [] : ([['service', ofServices]] as const)),
      ...(ofHosts.place.length === 0 ? [] : ([['host', ofHosts]] as const)),
      ...[...ofResources].map(([shared, columns]) => [shared, finishColumns(columns)] as const),
    ]),
  }
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

/** The same at other places, without rows that have none. */
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

function staysOf(
  { labels, shapes }: FlowSet,
  {
    shape,
    visits: { visits, operations },
    kinds,
    places,
  }: { shape: number; visits: ShapeVisits; kinds: Dictionary; places: Dictionary },
): Stay[] {
  const codes = shapes.labels(shape)
  const recorded = visits.map(({ service, entry, caller }): Stay => {
    const { host } = labels.get(codes[2 * entry]!)
    const calling = caller === null ? '' : operations[caller.entry]!
    const call = caller?.calls.find(({ called }) => called.includes(entry))
    return {
      span: entry,
      atCaller: call?.span ?? entry,
      service: places.code(`service ${service}`),
      kind: kinds.code(kindOf(service, operations[entry]!, calling)),
      host: host === '' ? null : places.code(`host ${host}`),
    }
  })
  const unrecorded = visits.flatMap(({ entry, calls }) =>
    calls
      .filter(({ called }) => called.length === 0)
      .map(({ span, service }) => ({
        span,
        atCaller: span,
        host: null,
        service: places.code(`service ${service}`),
        kind: kinds.code(kindOf(service, operations[span]!, operations[entry]!)),
      })),
  )
  return [...recorded, ...unrecorded]
}
