// Runs once an attribute of a span: the loops index with `!`.
import {
  type AttributeColumn,
  AttributeReader,
  binOf,
  countsUnits,
  isOfPlace,
  numbersOf,
  reasonOfNames,
} from '../../calls/attribute-columns.ts'
import { naturally } from '../../core/words.ts'
import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { LeftOutReason } from '../../traces/attribute-names.ts'

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

/** Values that fewer requests have are no segment, in each of both periods together. */
export const MIN_REQUESTS = 10
/** Numbers of more values than this are cut. */
const MAX_VALUES = 16
/** Evenly spread places where numbers may be cut; the question decides which one is used. */
const MAX_CUTS = 64
const MAX_CODES = 4_000

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
export function readColumns(flows: FlowSet, units: Units): ColumnsOf {
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
    .filter((value) => counts[value]! >= MIN_REQUESTS)
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
