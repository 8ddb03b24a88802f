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
      const whole = [...timesOf(span), ...timesOf(atCaller)] as const
      add('service', { request, place: service, kind, times: whole })
      if (host !== null) add('host', { request, place: host, kind, times: whole })
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
    for (const { shared, spans, ...row } of used.values()) {
      const from = Math.min(...spans.map((one) => timesOf(one)[0]))
      const to = Math.max(...spans.map((one) => timesOf(one)[1]))
      add(shared, { request, ...row, times: [from, to, from, to] })
    }
  }
  return { kinds, of: new Map([...columns].map(([shared, own]) => [shared, finishColumns(own)])) }

  function timesOf(span: number): [start: number, end: number] {
    return [times[2 * span]!, times[2 * span + 1]!]
  }

  function add(
    shared: Shared,
    row: { request: number; place: number; kind: number; times: readonly number[] },
  ): void {
    const own = columns.get(shared) ?? newColumns()
    columns.set(shared, own)
    const { request } = row
    const [start, end, asked, answered] = row.times.map((ns) => flows.startUs[request]! + ns / NS)
    own.request.push(request)
    own.place.push(row.place * flows.epochsUs.length + flows.recordedIn[request]!)
    own.kind.push(row.kind)
    own.startUs.push(start!)
    own.endUs.push(end!)
    own.askedUs.push(asked!)
    own.answeredUs.push(answered!)
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
