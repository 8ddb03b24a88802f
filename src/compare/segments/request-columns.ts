// Runs once an attribute of a span: the loops index with `!`.

import { sum } from 'd3-array'
import {
  type AttributeColumn,
  AttributeReader,
  binOf,
  countsUnits,
  isOfPlace,
  numbersOf,
  reasonOfNames,
} from '../../calls/attribute-columns.ts'
import { calleesWithoutSpans } from '../../calls/unrecorded-callees.ts'
import { allVisits } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { naturally } from '../../core/words.ts'
import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { type LeftOutReason, namesResource } from '../../traces/attribute-names.ts'
import { TEXT, TRUTH } from '../../traces/attributes.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { finishColumns, growingColumns } from '../../traces/growing-columns.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import { MAX_CODES, MAX_CUTS, MAX_VALUES, MIN_KNOWN } from '../thresholds.ts'

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
const MAX_CACHED = 2 ** 25

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
    if (oldest !== undefined && kept > MAX_CACHED) this.#known.delete(oldest)
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
        const known = getOrInsert(entries, service, () => new Map<number, number>())
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

/** Code of requests in which something was not recorded. */
export const MISSING = 0
/** Code of requests with a value that few have. */
export const RARE = 1
export const FIRST_VALUE = 2

/** A column that divides requests or spans: one code each. */
export interface RequestColumn {
  /** Name of the attribute, `host`, `version`, or of a service that is called. */
  readonly attribute: string
  readonly kind: 'values' | 'numbers' | 'called'
  /** Service whose spans it is recorded with; `null` for roots of requests. */
  readonly service: string | null
  /** Code of each request, in the order of the flows; or of each span of a list. */
  readonly codes: Uint16Array
  /** Text of each code; of numbers, those of one code lie from this one up to the next code's. */
  readonly values: readonly string[]
  /** Whether some requests have the code `MISSING`, and some the code `RARE`. */
  readonly hasMissing: boolean
  readonly hasRare: boolean
}

/** Codes of the measured rows. */
export interface CodedRows {
  readonly column: RequestColumn
  readonly codes: Uint16Array
}

/** An attribute that requests are not divided by, and why. */
export interface LeftOutAttribute {
  readonly attribute: string
  readonly service: string | null
  readonly reason: LeftOutReason
  /** The only value of a constant one. */
  readonly value?: string
}

/** Columns of the spans of one service, of roots, or of a list of spans. */
export interface ColumnsOf {
  /** `null` for roots; of a list, its key. */
  readonly service: string | null
  /** Present for a list of spans: the request that each belongs to. */
  readonly requests?: Uint32Array
  readonly columns: readonly RequestColumn[]
  readonly leftOut: readonly LeftOutAttribute[]
}

export interface Units {
  readonly service: string | null
  /** Number of requests, or of spans. */
  readonly size: number
  readonly requestOf: (unit: number) => number
  readonly spanOf: (unit: number) => number | undefined
  /** Span to read for attributes that the first did not record. */
  readonly otherOf?: (unit: number) => number
  /** For spans, the service's span that tells its place; for requests, `spanOf` returns it. */
  readonly places?: { readonly service: string; readonly spanOf: (unit: number) => number | null }
}

/** Reads attributes and host of a span of each unit, in codes. */
function readColumns(flows: FlowSet, units: Units): ColumnsOf {
  const { service, size, requestOf, spanOf, otherOf, places } = units
  const { spanRows, spanOffsets, period } = flows
  const reader = new AttributeReader(size, { dropsUseless: true })
  let recorded = 0
  for (let unit = 0; unit < size; unit++) {
    const [span, request] = [spanOf(unit), requestOf(unit)]
    if (span === undefined) continue
    recorded++
    const traces = flows.tracesOf(request)
    if (traces?.kind !== 'spans' || !spanRows || !spanOffsets) continue
    const { attributes, spans, hosts, versionNames } = traces
    const first = spanOffsets[request]!
    const at = otherOf === undefined ? span : (places?.spanOf(unit) ?? null)
    if (at !== null) {
      const row = spanRows[first + at]!
      reader.addText(unit, 'host', spans.host[row]!, hosts)
      reader.addText(unit, 'version', spans.version[row]!, versionNames)
    }
    const row = spanRows[first + span]!
    if (otherOf === undefined) {
      reader.read(unit, attributes, row)
      continue
    }
    reader.read(unit, attributes, row, 'own')
    if (otherOf(unit) !== span) {
      reader.read(unit, attributes, spanRows[first + otherOf(unit)]!, 'own')
    }
    if (at !== null) reader.read(unit, attributes, spanRows[first + at]!, 'place')
  }
  const columns: RequestColumn[] = []
  const leftOut: LeftOutAttribute[] = []
  const isBefore = (unit: number) => period[requestOf(unit)] === BEFORE
  for (const column of reader.finish()) {
    const { attribute, values } = column
    const of = isOfPlace(attribute) ? (places?.service ?? service) : service
    const coded = codedColumn(column, { service: of, units: recorded, isBefore })
    if (typeof coded !== 'string') columns.push(coded)
    else {
      const value = coded === 'constant' && { value: String(values[0]) }
      leftOut.push({ attribute, service, reason: coded, ...value })
    }
  }
  return { service, columns, leftOut }
}

interface Coding {
  readonly service: string | null
  /** Number of units that were read. */
  readonly units: number
  readonly isBefore: (unit: number) => boolean
}

/**
 * Returns a column to divide by: numbers of many values in parts, values that few have as one; or why there is none.
 */
function codedColumn(
  column: AttributeColumn,
  { service, units, isBefore }: Coding,
): RequestColumn | LeftOutReason {
  const { attribute, codes, values, known, dropped } = column
  if (dropped !== null) return dropped
  const own = { attribute, service, hasMissing: known < units }
  const numbers = numbersOf(column)
  if (numbers !== null && values.length > MAX_VALUES) {
    const all = new Float64Array(known)
    let [next, before] = [0, 0]
    for (const wanted of [true, false]) {
      codes.forEach((code, unit) => {
        if (code > 0 && isBefore(unit) === wanted) all[next++] = numbers[code - 1]!
      })
      if (wanted) before = next
    }
    if (countsUnits([all.subarray(0, before), all.subarray(before)])) return 'counter'
    const lows = quantiles(all.sort())
    const place = Uint16Array.from(numbers, (number) => FIRST_VALUE + binOf(number, lows))
    const texts = ['', '', ...lows.map(String)]
    return { ...own, kind: 'numbers', hasRare: false, codes: placed(codes, place), values: texts }
  }
  const texts = values.map(String)
  const reason = reasonOfNames(attribute, texts, known)
  if (reason !== null && !(reason === 'constant' && own.hasMissing)) return reason
  const counts = new Uint32Array(values.length)
  for (const code of codes) if (code > 0) counts[code - 1]!++
  const often = [...counts.keys()]
    .filter((value) => counts[value]! >= MIN_KNOWN)
    .sort((a, b) => counts[b]! - counts[a]!)
    .slice(0, MAX_CODES)
    .sort((a, b) => (numbers ? numbers[a]! - numbers[b]! : naturally(texts[a]!, texts[b]!)))
  if (often.length === 0) return 'unique'
  const place = new Uint16Array(values.length).fill(RARE)
  often.forEach((value, i) => {
    place[value] = FIRST_VALUE + i
  })
  return {
    ...own,
    kind: 'values',
    hasRare: often.length < values.length,
    codes: placed(codes, place),
    values: ['', '', ...often.map((value) => texts[value]!)],
  }
}

/** Returns the values at which ascending numbers are cut: each part begins with its own. */
function quantiles(sorted: Float64Array): number[] {
  const { length } = sorted
  return [
    ...new Set(
      Array.from({ length: MAX_CUTS }, (_, i) => sorted[Math.floor((i * length) / MAX_CUTS)]!),
    ),
  ]
}

function placed(codes: Uint32Array, place: Uint16Array): Uint16Array {
  const own = new Uint16Array(codes.length)
  for (let unit = 0; unit < own.length; unit++) {
    const code = codes[unit]!
    own[unit] = code === 0 ? MISSING : place[code - 1]!
  }
  return own
}
