// Runs once a span of a request: the loops index with `!`.
import type { FlowSet } from '../../flows/flow-set.ts'
import { NS, readTimesNs } from '../../flows/span-tree.ts'
import { Dictionary } from '../../traces/dictionary.ts'
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

type Row = Record<'request' | 'kind' | 'startNs' | 'endNs' | 'askedNs' | 'answeredNs', number>

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
  const columns = new Map<Shared, ReturnType<typeof newColumns>>()
  const visits = allVisits(flows)
  const shapes = new Map(
    [...visits].map(([shape, one]) => [
      shape,
      staysOf(flows, { shape, visits: one, kinds, places }),
    ]),
  )
  let times = new Float64Array(64)
  let use = 0
  for (let request = 0; request < flows.size; request++) {
    if (chosen[request] === 0) continue
    const shape = flows.shapeOf[request]!
    const { tree, visits: own, visitOf } = visits.get(shape)!
    const latencies = flows.latencies(request)
    // A snapshot may carry the latencies of some requests only.
    if (latencies.length < tree.from.length) continue
    if (2 * tree.size > times.length) times = new Float64Array(4 * tree.size)
    readTimesNs(tree, latencies, times)
    const stays = shapes.get(shape)!
    for (const { kind, span, atCaller, service, host } of stays) {
      const [startNs, endNs] = [times[2 * span]!, times[2 * span + 1]!]
      const [askedNs, answeredNs] = [times[2 * atCaller]!, times[2 * atCaller + 1]!]
      const row = { request, kind, startNs, endNs, askedNs, answeredNs }
      add('service', service, row)
      if (host !== null) add('host', host, row)
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
      const startNs = Math.min(...spans.map((one) => times[2 * one]!))
      const endNs = Math.max(...spans.map((one) => times[2 * one + 1]!))
      const [askedNs, answeredNs] = [startNs, endNs]
      add(shared, place, { request, kind, startNs, endNs, askedNs, answeredNs })
    }
  }
  return { kinds, of: new Map([...columns].map(([shared, own]) => [shared, finishColumns(own)])) }

  function add(shared: Shared, place: number, row: Row): void {
    const own = columns.get(shared) ?? newColumns()
    columns.set(shared, own)
    const { request, kind, startNs, endNs, askedNs, answeredNs } = row
    const requestUs = flows.startUs[request]!
    own.request.push(request)
    own.place.push(place * flows.epochsUs.length + flows.recordedIn[request]!)
    own.kind.push(kind)
    own.startUs.push(requestUs + startNs / NS)
    own.endUs.push(requestUs + endNs / NS)
    own.askedUs.push(requestUs + askedNs / NS)
    own.answeredUs.push(requestUs + answeredNs / NS)
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
