// Runs once an attribute of a span: the loops index with `!`.
import { naturally } from '../../core/words.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import {
  isNameLike,
  type LeftOutReason,
  NEARLY_UNIQUE,
  namesFew,
  reasonOfName,
  reasonOfTexts,
} from '../../traces/attribute-names.ts'
import { type AttributeType, TEXT, TRUTH } from '../../traces/attributes.ts'
import type { Dictionary } from '../../traces/dictionary.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'

/** Code of requests in which something was not recorded. */
export const MISSING = 0
/** Code of requests with a value that few have. */
export const RARE = 1
export const FIRST_VALUE = 2

/** What requests can be divided by, or spans: one code each. */
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

/** The codes of what is measured, row by row. */
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

/** What was recorded with the spans of one service, with roots, or with the spans of a list. */
export interface ColumnsOf {
  /** `null` for roots; of a list, its key. */
  readonly service: string | null
  readonly columns: readonly RequestColumn[]
  readonly leftOut: readonly LeftOutAttribute[]
}

/** Values that fewer requests have are no segment, in each of both periods together. */
export const MIN_REQUESTS = 10
/** Numbers of more values than this are cut at quantiles into as many bins. */
const BINS = 16
/** Whether a text is another one for each request is decided after this many. */
const MIN_FOR_UNIQUE = 2_000
const MAX_CODES = 4_000
/** Whether an attribute tells where a process runs, or what, which holds for all of its spans. */
export function isOfPlace(attribute: string): boolean {
  return attribute === 'host' || attribute === 'version' || attribute.startsWith('resource.')
}

export interface Units {
  readonly service: string | null
  /** How many there are: requests, or spans. */
  readonly size: number
  readonly requestOf: (unit: number) => number
  readonly spanOf: (unit: number) => number | undefined
  /** Span that is asked for what the first did not record. */
  readonly otherOf?: (unit: number) => number
  /** Of spans, the one of a service that tells its place, if any; of requests, `spanOf` does. */
  readonly places?: { readonly service: string; readonly spanOf: (unit: number) => number | null }
}

/** Reads attributes and host of a span of each unit, in codes. */
export function readColumns(flows: FlowSet, units: Units): ColumnsOf {
  const { service, size, requestOf, spanOf, otherOf, places } = units
  const { spanRows, spanOffsets } = flows
  const columns = new Map<string, GrowingColumn>()
  const named = (attribute: string) => {
    const known = columns.get(attribute) ?? new GrowingColumn(attribute, size)
    columns.set(attribute, known)
    return known
  }
  const recordings = new Map<SpanTraces, Recording>()
  let [recorded, unit] = [0, 0]
  let last: Recording | undefined
  /** What is read of a span: its place, or all but that; `null` for both. */
  let isForPlace: boolean | null = null
  const read = (key: number, value: number, type: AttributeType) => {
    const { traces, ofKey } = last!
    const name = traces.attributes.keys.value(key)
    ofKey[key] ??= { column: named(name), codes: new Map(), isPlace: isOfPlace(name) }
    const { column, codes, isPlace } = ofKey[key]
    if (isForPlace !== null && isForPlace !== isPlace) return
    if (type === TEXT)
      column.addCode(unit, value, { codes, texts: traces.attributes.columns.texts })
    else column.add(unit, type === TRUTH ? String(value === 1) : value)
  }
  for (; unit < size; unit++) {
    const [span, request] = [spanOf(unit), requestOf(unit)]
    if (span === undefined) continue
    recorded++
    const traces = flows.tracesOf(request)
    if (traces?.kind !== 'spans' || !spanRows || !spanOffsets) continue
    if (last?.traces !== traces) {
      const ofPlace = { host: new Map(), version: new Map() }
      last = recordings.get(traces) ?? { traces, ofKey: [], ofPlace }
      recordings.set(traces, last)
    }
    const first = spanOffsets[request]!
    const visit = (of: number | null, forPlace: boolean | null) => {
      if (of === null) return
      isForPlace = forPlace
      traces.attributes.visit(spanRows[first + of]!, read)
    }
    const at = otherOf === undefined ? span : (places?.spanOf(unit) ?? null)
    for (const place of at === null ? [] : (['host', 'version'] as const)) {
      const texts = place === 'host' ? traces.hosts : traces.versionNames
      const code = traces.spans[place][spanRows[first + at!]!]!
      if (texts.value(code) === '') continue
      named(place).addCode(unit, code, { codes: last.ofPlace[place], texts })
    }
    if (otherOf === undefined) visit(span, null)
    else {
      visit(span, false)
      if (otherOf(unit) !== span) visit(otherOf(unit), false)
      visit(at, true)
    }
  }
  const finished = [...columns.values()].map((column) => ({
    column,
    made: column.finish(
      isOfPlace(column.attribute) ? (places?.service ?? service) : service,
      recorded,
    ),
  }))
  return {
    service,
    columns: finished.flatMap(({ made }) => made ?? []),
    leftOut: finished.flatMap(({ column: { attribute, reason, value } }) =>
      reason === null ? [] : [{ attribute, service, reason, ...(value !== null && { value }) }],
    ),
  }
}

/** What is known of one recording: the columns of its attributes, and codes there of its own codes. */
interface Recording {
  readonly traces: SpanTraces
  readonly ofKey: {
    readonly column: GrowingColumn
    readonly codes: Map<number, number>
    readonly isPlace: boolean
  }[]
  readonly ofPlace: Readonly<Record<'host' | 'version', Map<number, number>>>
}

class GrowingColumn {
  readonly attribute: string
  reason: LeftOutReason | null = null
  #codes: Uint32Array
  #known = 0
  readonly #values: (string | number)[] = []
  readonly #codeOf = new Map<string | number, number>()
  readonly #isId: boolean
  #nextCheck = MIN_FOR_UNIQUE

  constructor(attribute: string, size: number) {
    this.attribute = attribute
    this.#codes = new Uint32Array(size)
    const named = reasonOfName(attribute)
    this.#isId = named === 'identifier'
    if (!this.#isId && named !== null) this.#leaveOut(named)
  }

  get value(): string | null {
    return this.reason === 'constant' ? String(this.#values[0]) : null
  }

  /** Adds a text by its code in `texts`; `codes` are those that have a code here. */
  addCode(
    request: number,
    code: number,
    { codes, texts }: { readonly codes: Map<number, number>; readonly texts: Dictionary },
  ): void {
    if (this.reason !== null) return
    let own = codes.get(code)
    if (own === undefined) {
      own = this.#code(texts.value(code))
      codes.set(code, own)
    }
    this.#add(request, own)
  }

  add(request: number, value: string | number): void {
    if (this.reason === null) this.#add(request, this.#code(value))
  }

  finish(service: string | null, requests: number): RequestColumn | null {
    if (this.reason !== null) return null
    const values = this.#values
    const numbers = isNameLike(this.attribute) ? null : numbersOf(values)
    if (numbers !== null && values.length > BINS) return this.#binned(service, requests, numbers)
    const texts = values.map(String)
    const isKind = this.#isId && namesFew(values.length, this.#known)
    const isMixed = this.#known < requests
    const reason = this.#isId && !isKind ? 'identifier' : reasonOfTexts(texts, this.#known)
    if (reason !== null && !(reason === 'constant' && isMixed)) return this.#leaveOut(reason)
    const counts = new Uint32Array(values.length)
    for (const code of this.#codes) if (code > 0) counts[code - 1]!++
    const often = [...counts.keys()]
      .filter((value) => counts[value]! >= MIN_REQUESTS)
      .sort((a, b) => counts[b]! - counts[a]!)
      .slice(0, MAX_CODES)
      .sort((a, b) => (numbers ? numbers[a]! - numbers[b]! : naturally(texts[a]!, texts[b]!)))
    if (often.length === 0) return this.#leaveOut('unique')
    const place = new Uint16Array(values.length).fill(RARE)
    often.forEach((value, i) => {
      place[value] = FIRST_VALUE + i
    })
    return {
      attribute: this.attribute,
      kind: 'values',
      service,
      hasMissing: isMixed,
      hasRare: often.length < values.length,
      codes: placed(this.#codes, place),
      values: ['', '', ...often.map((value) => texts[value]!)],
    }
  }

  #binned(service: string | null, requests: number, numbers: Float64Array): RequestColumn | null {
    if (this.#isId) return this.#leaveOut('identifier')
    const all = Float64Array.from(
      this.#codes.filter((code) => code > 0),
      (c) => numbers[c - 1]!,
    )
    if (isRising(all)) return this.#leaveOut('counter')
    const sorted = all.sort()
    const lows = [
      ...new Set(
        Array.from({ length: BINS }, (_, i) => sorted[Math.floor((i * sorted.length) / BINS)]!),
      ),
    ]
    const place = new Uint16Array(numbers.length)
    numbers.forEach((number, i) => {
      const above = lows.findIndex((low) => low > number)
      place[i] = FIRST_VALUE + (above < 0 ? lows.length : above) - 1
    })
    return {
      attribute: this.attribute,
      kind: 'numbers',
      service,
      hasMissing: this.#known < requests,
      hasRare: false,
      codes: placed(this.#codes, place),
      values: ['', '', ...lows.map(String)],
    }
  }

  #add(request: number, code: number): void {
    if (this.#codes[request] !== 0) return
    this.#codes[request] = code + 1
    this.#known++
    if (this.#known < this.#nextCheck) return
    this.#nextCheck *= 2
    const distinct = this.#values.length
    if (distinct <= NEARLY_UNIQUE * this.#known) return
    if (typeof this.#values[distinct - 1] === 'string' && numbersOf(this.#values) === null) {
      this.#leaveOut(this.#isId ? 'identifier' : 'unique')
    }
  }

  #code(value: string | number): number {
    const known = this.#codeOf.get(value)
    if (known !== undefined) return known
    this.#codeOf.set(value, this.#values.length)
    return this.#values.push(value) - 1
  }

  #leaveOut(reason: LeftOutReason): null {
    this.reason = reason
    this.#codes = new Uint32Array(0)
    this.#codeOf.clear()
    return null
  }
}

function placed(codes: Uint32Array, place: Uint16Array): Uint16Array {
  const own = new Uint16Array(codes.length)
  for (let request = 0; request < own.length; request++) {
    const code = codes[request]!
    own[request] = code === 0 ? MISSING : place[code - 1]!
  }
  return own
}

function numbersOf(values: readonly (string | number)[]): Float64Array | null {
  const numbers = new Float64Array(values.length)
  for (const [i, value] of values.entries()) {
    const number = value === '' ? Number.NaN : Number(value)
    if (!Number.isFinite(number)) return null
    numbers[i] = number
  }
  return numbers
}

/** Numbers that rise with nearly every request count requests. */
function isRising(values: Float64Array): boolean {
  let rises = 0
  for (let i = 1; i < values.length; i++) if (values[i]! > values[i - 1]!) rises++
  return rises >= 0.95 * (values.length - 1)
}
