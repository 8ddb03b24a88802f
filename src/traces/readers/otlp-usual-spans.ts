// Runs once a byte or span: the loops index with `!`.

import type { KnownAttribute } from '../attributes.ts'
import { KnownText } from '../dictionary.ts'
import { traceStateProbability } from '../sampling.ts'
import { SPAN_KINDS, SPAN_STATUSES } from '../span-columns.ts'
import type { KnownReporter, UsualSpan } from '../span-traces-builder.ts'
import { sameBytes } from './byte-interner.ts'
import {
  CLOSE_OBJECT,
  COMMA,
  JsonCursor,
  Keys,
  OPEN_OBJECT,
  QUOTE,
  Remembered,
  textAt,
} from './json-cursor.ts'
import {
  type AttributeEntry,
  isJsonObject,
  type JsonObject,
  parsedJson,
  textOf,
} from './json-values.ts'
import { knownAttribute, UsualAttributes } from './otlp-usual-attributes.ts'
import {
  otlpAttributes,
  otlpEvents,
  otlpKind,
  otlpStatus,
  type Reporter,
  reporterOf,
} from './otlp-values.ts'

/** By byte: the value of a small hex digit, -1 for any other byte. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) =>
  byte >= 48 && byte <= 57 ? byte - 48 : byte >= 97 && byte <= 102 ? byte - 87 : -1,
)

const REQUEST = new Keys('resourceSpans')
const RESOURCE_SPANS = new Keys('resource', 'scopeSpans', 'schemaUrl')
const [RESOURCE, SCOPE_SPANS] = [0, 1]
const SCOPE = new Keys('spans', 'scope', 'schemaUrl')
const SPANS = 0
const SPAN = new Keys(
  ...['traceId', 'spanId', 'parentSpanId', 'name', 'startTimeUnixNano', 'endTimeUnixNano'],
  ...['kind', 'attributes', 'status', 'events', 'links', 'traceState'],
  ...['flags', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'],
)
const [TRACE_ID, SPAN_ID, PARENT_ID, NAME, START, END] = [0, 1, 2, 3, 4, 5]
const [KIND, ATTRIBUTES, STATUS, EVENTS, LINKS, TRACE_STATE] = [6, 7, 8, 9, 10, 11]
/** What every usual span has: both ids, name and times. */
const NEEDED = (1 << TRACE_ID) | (1 << SPAN_ID) | (1 << NAME) | (1 << START) | (1 << END)

/** A double cannot hold nanoseconds since 1970: times written as numbers are read as text. */
const NUMERIC_NANOS = /((?:UnixNano|_unix_nano)"\s*:\s*)(\d+)/g

export function withNanosAsText(json: string): string {
  return json.replace(NUMERIC_NANOS, '$1"$2"')
}

/** As exporters to other formats call it. */
export const STATUS_DESCRIPTION = 'otel.status_description'

function kindIn(value: unknown): { readonly code: number } {
  return { code: SPAN_KINDS.indexOf(otlpKind(value)) }
}

function statusIn(value: unknown) {
  const described = isJsonObject(value) ? textOf(value['message']) : ''
  return {
    code: SPAN_STATUSES.indexOf(otlpStatus(value)),
    described: described === '' ? undefined : knownAttribute([STATUS_DESCRIPTION, described]),
  }
}

function stateIn(value: unknown): { readonly probability: number | undefined } {
  return { probability: traceStateProbability(value) }
}

interface KnownResource {
  readonly reporter: Reporter
  readonly known: KnownReporter
}

/** Takes the spans of a text once all of it was read: usual ones, and others as they were parsed. */
export interface SpanTaker {
  usual(span: UsualSpan): void
  unusual(span: JsonObject, reporter: Reporter): void
}

/**
 * Reads OTLP JSON as exporters write it straight from its bytes, in a fraction of the time that
 * `JSON.parse` and a walk through its objects take. A span with something unusual (links, ids
 * in base64) is parsed by itself; a text with something unusual around its spans is left to the
 * caller. The result is the same either way: the same functions read values, once for equal bytes.
 */
export class UsualSpans extends JsonCursor {
  readonly #taker: SpanTaker
  readonly #resources: Remembered<KnownResource>
  readonly #names = new Remembered(withNanosAsText, (value) => new KnownText(textOf(value)))
  readonly #attributes = new UsualAttributes(withNanosAsText)
  readonly #kinds = new Remembered(withNanosAsText, kindIn)
  readonly #statuses = new Remembered(withNanosAsText, statusIn)
  readonly #states = new Remembered(withNanosAsText, stateIn)
  /** Values that say nothing of interest, but have to be JSON. */
  readonly #others = new Remembered(withNanosAsText, () => true)
  #found: (UsualSpan | { readonly unusual: JsonObject; readonly reporter: Reporter })[] = []
  #resource: KnownResource | undefined
  /** The last trace id, and where its digits are. */
  #traceId = ''
  #traceAt = -1
  /** Halves of the id of a span, or seconds and nanoseconds, as read last. */
  #high = 0
  #low = 0

  /** `keep`: whether all attributes of resources become attributes of their spans. */
  constructor(taker: SpanTaker, keep: boolean | undefined) {
    super()
    this.#taker = taker
    this.#resources = new Remembered(withNanosAsText, (value) => {
      const described = isJsonObject(value) ? value['attributes'] : undefined
      const reporter = reporterOf(otlpAttributes(described), { keep })
      return { reporter, known: knownReporter(reporter) }
    })
  }

  /** Reads all of `bytes`, or nothing of them: whether it did. */
  read(bytes: Uint8Array): boolean {
    this.begin(bytes)
    this.#traceAt = -1
    this.#found = []
    this.next()
    if (!this.object(REQUEST, this.#inRequest)) return false
    this.next()
    if (this.at < this.end) return false
    for (const span of this.#found) {
      if ('unusual' in span) this.#taker.unusual(span.unusual, span.reporter)
      else this.#taker.usual(span)
    }
    return true
  }

  readonly #inRequest = (): boolean => this.list(this.#resourceSpans)

  readonly #resourceSpans = (): boolean => {
    this.#resource = undefined
    return this.object(RESOURCE_SPANS, this.#inResourceSpans)
  }

  readonly #inResourceSpans = (key: number): boolean => {
    if (key === RESOURCE) {
      this.#resource = this.value(this.#resources)
      return this.#resource !== undefined
    }
    if (key !== SCOPE_SPANS) return this.value(this.#others) !== undefined
    return this.#resource !== undefined && this.list(this.#scopeSpans)
  }

  readonly #scopeSpans = (): boolean => this.object(SCOPE, this.#inScopeSpans)

  readonly #inScopeSpans = (key: number): boolean =>
    key === SPANS ? this.list(this.#span) : this.value(this.#others) !== undefined

  readonly #span = (): boolean => {
    const start = this.at
    if (this.bytes[start] !== OPEN_OBJECT) return false
    const usual = this.#usualSpan()
    if (usual !== undefined) {
      this.#found.push(usual)
      return true
    }
    this.at = start
    if (!this.skip()) return false
    const unusual = parsedJson(withNanosAsText(textAt(this.view, start, this.at)))
    if (!isJsonObject(unusual)) return false
    this.#found.push({ unusual, reporter: this.#resource!.reporter })
    return true
  }

  #usualSpan(): UsualSpan | undefined {
    const span: UsualSpan = {
      traceId: '',
      idHigh: 0,
      idLow: 0,
      parentHigh: 0,
      parentLow: 0,
      startSeconds: 0,
      startNanos: 0,
      endSeconds: 0,
      endNanos: 0,
      name: UNNAMED,
      kind: 0,
      status: 0,
      attributes: [],
      probability: undefined,
      reporter: this.#resource!.known,
    }
    let described: KnownAttribute | undefined
    let events: readonly AttributeEntry[] | undefined = []
    let seen = 0
    let key = -1
    do {
      this.at++
      key = this.key(SPAN, key)
      if (key < 0 || (seen & (1 << key)) !== 0) return undefined
      seen |= 1 << key
      switch (key) {
        case TRACE_ID:
          if (!this.#readTraceId()) return undefined
          span.traceId = this.#traceId
          break
        case SPAN_ID:
          if (!this.#readSpanId()) return undefined
          span.idHigh = this.#high
          span.idLow = this.#low
          break
        case PARENT_ID:
          if (!this.#isEmptyText() && !this.#readSpanId()) return undefined
          span.parentHigh = this.#high
          span.parentLow = this.#low
          break
        case START:
          if (!this.#readTime()) return undefined
          span.startSeconds = this.#high
          span.startNanos = this.#low
          break
        case END:
          if (!this.#readTime()) return undefined
          span.endSeconds = this.#high
          span.endNanos = this.#low
          break
        case NAME: {
          const name = this.value(this.#names)
          if (name === undefined) return undefined
          span.name = name
          break
        }
        case KIND: {
          const kind = this.value(this.#kinds)
          if (kind === undefined) return undefined
          span.kind = kind.code
          break
        }
        case STATUS: {
          const status = this.value(this.#statuses)
          if (status === undefined) return undefined
          span.status = status.code
          described = status.described
          break
        }
        case TRACE_STATE: {
          const state = this.value(this.#states)
          if (state === undefined) return undefined
          span.probability = state.probability
          break
        }
        case ATTRIBUTES:
          if (!this.#attributes.read(this, span.attributes)) return undefined
          break
        case EVENTS:
          events = this.#readEvents()
          if (events === undefined) return undefined
          break
        case LINKS:
          if (!this.list(NONE)) return undefined
          break
        default:
          if (this.value(this.#others) === undefined) return undefined
      }
    } while (this.next() === COMMA)
    if (this.next() !== CLOSE_OBJECT || (seen & NEEDED) !== NEEDED) return undefined
    this.at++
    if (described !== undefined) span.attributes.push(described)
    for (const entry of events) span.attributes.push(knownAttribute(entry))
    const seconds = span.endSeconds - span.startSeconds
    return seconds > 0 || (seconds === 0 && span.endNanos >= span.startNanos) ? span : undefined
  }

  /** Events have times of their own, so each is parsed. */
  #readEvents(): readonly AttributeEntry[] | undefined {
    const start = this.at
    if (this.list(NONE)) return []
    this.at = start
    if (!this.skip()) return undefined
    const events = parsedJson(withNanosAsText(textAt(this.view, start, this.at)))
    return events === undefined ? undefined : otlpEvents(events)
  }

  #isEmptyText(): boolean {
    if (this.bytes[this.at] !== QUOTE || this.bytes[this.at + 1] !== QUOTE) return false
    this.at += 2
    this.#high = 0
    this.#low = 0
    return true
  }

  /** 32 small hex digits; spans of one trace mostly come one after the other. */
  #readTraceId(): boolean {
    const bytes = this.bytes
    const start = this.at + 1
    const end = start + 32
    if (bytes[start - 1] !== QUOTE || bytes[end] !== QUOTE) return false
    this.at = end + 1
    if (this.#traceAt >= 0 && sameBytes(this.view, start, end, this.view, this.#traceAt))
      return true
    for (let at = start; at < end; at++) if (HEX[bytes[at]!]! < 0) return false
    this.#traceId = textAt(this.view, start, end)
    this.#traceAt = start
    return true
  }

  /** 16 small hex digits, as two 32-bit integers: no other numbers are as cheap to keep. */
  #readSpanId(): boolean {
    const bytes = this.bytes
    const start = this.at + 1
    if (bytes[start - 1] !== QUOTE || bytes[start + 16] !== QUOTE) return false
    let [high, low, problems] = [0, 0, 0]
    for (let at = start; at < start + 8; at++) {
      const [first, second] = [HEX[bytes[at]!]!, HEX[bytes[at + 8]!]!]
      high = (high << 4) | first
      low = (low << 4) | second
      problems |= first | second
    }
    this.#high = high
    this.#low = low
    this.at += 18
    return problems >= 0
  }

  /** Nanoseconds since 1970, of 10 to 19 digits, in quotes or without. */
  #readTime(): boolean {
    const bytes = this.bytes
    const isText = bytes[this.at] === QUOTE
    const start = isText ? this.at + 1 : this.at
    let end = start
    while (end < this.end && bytes[end]! >= 48 && bytes[end]! <= 57) end++
    if (end - start < 10 || end - start > 19 || (isText && bytes[end] !== QUOTE)) return false
    let seconds = 0
    for (let at = start; at < end - 9; at++) seconds = seconds * 10 + bytes[at]! - 48
    let nanos = 0
    for (let at = end - 9; at < end; at++) nanos = nanos * 10 + bytes[at]! - 48
    this.#high = seconds
    this.#low = nanos
    this.at = isText ? end + 1 : end
    return true
  }
}

const UNNAMED = new KnownText('')
const NONE = () => false

function knownReporter({ service, host, version, attributes }: Reporter): KnownReporter {
  return {
    service: new KnownText(service),
    host: new KnownText(host),
    version: new KnownText(version),
    attributes: attributes.map(knownAttribute),
  }
}
