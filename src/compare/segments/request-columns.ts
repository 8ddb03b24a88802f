// Runs once an attribute of a span: the loops index with `!`.
import { sum } from 'd3-array'
import { calleesWithoutSpans } from '../../calls/unrecorded-callees.ts'
import { allVisits } from '../../calls/visits.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { namesResource } from '../../traces/attribute-names.ts'
import { TEXT, TRUTH } from '../../traces/attributes.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { finishColumns, growingColumns } from '../../traces/growing-columns.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import { type ColumnsOf, readColumns } from './read-columns.ts'

/** Spans that name the lock, queue or other shared thing they use: one row a name. */
export interface ResourceUses {
  readonly request: Uint32Array
  /** Number of the span in its request. */
  readonly span: Uint32Array
  /** Attribute and value, as their place in `names`. */
  readonly attribute: Uint32Array
  readonly value: Uint32Array
  readonly names: readonly string[]
}

/** Spans that are divided by their own attributes. */
export interface SpanList {
  /** Service or operation of these spans. */
  readonly key: string
  /** Distance between the requests whose spans it holds: one of that many. */
  readonly every: number
  readonly requests: Uint32Array
  /** Number of each span in its request, and of another span that may know its missing attributes. */
  readonly spans: Uint32Array
  readonly others: Uint32Array
  /** Span that tells the place of each, whose service it is of, or `NO_PLACE`. */
  readonly places: Uint32Array
  readonly service: string
  /** Whether they are the service's entries: their attributes are then reported as the service's. */
  readonly isOfEntries: boolean
}

/** Placeholder for the span that tells a call's place: unknown, or known from the request. */
export const NO_PLACE = 2 ** 32 - 1

/** Codes kept of services. */
const MAX_KEPT = 2 ** 25

/** Columns that divide the requests of flows, read on first use. */
export class RequestColumns {
  readonly #flows: FlowSet
  readonly #known: Map<string | null, ColumnsOf>
  readonly #isWhole: boolean
  readonly #lists = new Set<string>()
  #resources: ResourceUses | null
  #entries: ReadonlyMap<string, ReadonlyMap<number, number>> | undefined

  /** @param known columns read before, and resources, if there are no traces to read them from */
  constructor(
    flows: FlowSet,
    known: readonly ColumnsOf[] = [],
    resources: ResourceUses | null = null,
  ) {
    this.#flows = flows
    this.#known = new Map(known.map((one) => [one.service, one]))
    this.#isWhole = known.length > 0
    this.#resources = resources
  }

  /** Columns of the first span of a service in each request; of roots for `null`. */
  of(service: string | null): ColumnsOf {
    const known = this.#known.get(service)
    if (known !== undefined) return known
    const none = { service, columns: [], leftOut: [] }
    if (this.#isWhole) return none
    const entries = service === null ? null : this.#entriesOf().get(service)
    const isRoot = [...(entries?.values() ?? [])].every((entry) => entry === 0)
    const read =
      entries === null
        ? this.#read(service, () => 0)
        : entries === undefined || isRoot
          ? none
          : this.#read(service, (shape) => entries.get(shape))
    // Keeps only the services read last: there may be many.
    const [oldest] = [...this.#known.keys()].filter((key) => key !== null)
    const kept = sum(this.#known.values(), ({ columns }) => columns.length * this.#flows.size)
    if (oldest !== undefined && kept > MAX_KEPT) this.#known.delete(oldest)
    this.#known.set(service, read)
    return read
  }

  /** Whether requests begin at a service, so that it is the roots that tell its attributes. */
  isOfRoots(service: string): boolean {
    const { columns, leftOut } = this.of(service)
    return columns.length + leftOut.length === 0 && !calleesWithoutSpans(this.#flows).has(service)
  }

  /** Columns of spans of a list, one code a span. */
  ofSpans({
    key: of,
    every,
    requests,
    spans,
    others,
    places,
    service,
    isOfEntries,
  }: SpanList): ColumnsOf {
    const key = `${of} ${every}`
    const none = { service: key, columns: [], leftOut: [] }
    const known = this.#known.get(key)
    // Read for other requests, the columns are of other spans.
    if (known !== undefined) return areEqual(known.requests, requests) ? known : none
    if (this.#isWhole) return none
    const { columns } = readColumns(this.#flows, {
      service: isOfEntries ? service : null,
      size: requests.length,
      requestOf: (unit) => requests[unit]!,
      spanOf: (unit) => spans[unit],
      otherOf: (unit) => others[unit]!,
      places: {
        service,
        spanOf: (unit) => (places[unit] === NO_PLACE ? null : places[unit]!),
      },
    })
    const read = { ...none, columns, ...(columns.length > 0 && { requests }) }
    this.#lists.add(key)
    this.#known.set(key, read)
    return read
  }

  /** Returns which spans of requests use shared resources, in the order of requests. */
  resources(): ResourceUses {
    this.#resources ??= readResources(this.#flows)
    return this.#resources
  }

  /** Columns of roots and of all services that have any, and of lists of spans that were read. */
  all(): ColumnsOf[] {
    const services = [null, ...this.#entriesOf().keys(), ...this.#lists]
    const keys = this.#isWhole ? this.#known.keys() : new Set(services)
    return Array.from(keys, (key) => this.#known.get(key) ?? this.of(key))
  }

  #read(service: string | null, spanOf: (shape: number) => number | undefined): ColumnsOf {
    const { shapeOf, size } = this.#flows
    return readColumns(this.#flows, {
      service,
      size,
      requestOf: (request) => request,
      spanOf: (request) => spanOf(shapeOf[request]!),
    })
  }

  /** Returns the spans at which services are first entered, by shape. */
  #entriesOf(): ReadonlyMap<string, ReadonlyMap<number, number>> {
    if (this.#entries !== undefined) return this.#entries
    const entries = new Map<string, Map<number, number>>()
    for (const [shape, { visits }] of areFromSpans(this.#flows) ? allVisits(this.#flows) : []) {
      for (const { service, entry } of visits) {
        const known = entries.get(service) ?? new Map<number, number>()
        entries.set(service, known)
        if (!known.has(shape)) known.set(shape, entry)
      }
    }
    this.#entries = entries
    return entries
  }
}

function areEqual(one: Uint32Array | undefined, other: Uint32Array): boolean {
  return one?.length === other.length && one.every((request, i) => request === other[i])
}

function readResources(flows: FlowSet): ResourceUses {
  const { spanRows, spanOffsets, size } = flows
  const uses = growingColumns({ request: 'u32', span: 'u32', attribute: 'u32', value: 'u32' })
  const names = new Dictionary()
  const keys = new Map<SpanTraces, boolean[]>()
  for (let request = 0; spanRows && spanOffsets && request < size; request++) {
    const traces = flows.tracesOf(request)
    if (traces?.kind !== 'spans') continue
    const { attributes } = traces
    const isResource = keys.get(traces) ?? attributes.keys.values.map(namesResource)
    keys.set(traces, isResource)
    if (!isResource.includes(true)) continue
    for (let at = spanOffsets[request]!; at < spanOffsets[request + 1]!; at++) {
      attributes.visit(spanRows[at]!, (key, value, type) => {
        if (!isResource[key] || type === TRUTH) return
        uses.request.push(request)
        uses.span.push(at - spanOffsets[request]!)
        uses.attribute.push(names.code(attributes.keys.value(key)))
        uses.value.push(names.code(type === TEXT ? attributes.text(value) : String(value)))
      })
    }
  }
  return { ...finishColumns(uses), names: names.values }
}
