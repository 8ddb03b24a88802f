// Runs once a byte or span: the loops index with `!`.

import type { KnownAttribute } from '../attributes.ts'
import { KnownText } from '../dictionary.ts'
import { type KnownReporter, UsualSpan } from '../span-traces-builder.ts'
import { sameBytes } from './byte-interner.ts'
import { JsonCursor, Keys, OPEN_OBJECT, QUOTE, Remembered, textAt } from './json-cursor.ts'
import {
  type AttributeEntry,
  isJsonObject,
  type JsonObject,
  parsedJson,
  textOf,
} from './json-values.ts'
import {
  CLOSED,
  END,
  EVENTS,
  NAME,
  NEEDED,
  PARENT_ID,
  type Run,
  SPAN_ID,
  SpanName,
  SpanRuns,
  START,
  TRACE_ID,
} from './otlp-span-runs.ts'
import { knownAttribute } from './otlp-usual-attributes.ts'
import { otlpAttributes, otlpEvents, type Reporter, reporterOf } from './otlp-values.ts'

/** Value of a small hex digit by its byte, -1 for any other byte. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) =>
  byte >= 48 && byte <= 57 ? byte - 48 : byte >= 97 && byte <= 102 ? byte - 87 : -1,
)

const REQUEST = new Keys('resourceSpans')
const RESOURCE_SPANS = new Keys('resource', 'scopeSpans', 'schemaUrl')
const [RESOURCE, SCOPE_SPANS] = [0, 1]
const SCOPE = new Keys('spans', 'scope', 'schemaUrl')
const SPANS = 0

/** A double cannot hold nanoseconds since 1970: times written as numbers are read as text. */
const NUMERIC_NANOS = /((?:UnixNano|_unix_nano)"\s*:\s*)(\d+)/g

export function withNanosAsText(json: string): string {
  return json.replace(NUMERIC_NANOS, '$1"$2"')
}

interface KnownResource {
  readonly reporter: Reporter
  readonly known: KnownReporter
}

const NONE = () => false

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
  readonly #names = new Remembered(withNanosAsText, (value) => new SpanName(textOf(value)))
  /** Irrelevant values, which have to be JSON, however. */
  readonly #others = new Remembered(withNanosAsText, () => true)
  readonly #runs = new SpanRuns(withNanosAsText)
  /** Has the runs that come before names. */
  readonly #unnamed = new SpanName('')
  /** Spans of the current text; the objects are reused for the next one. */
  #found: FoundSpan[] = []
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

  /** Reads the rest of `bytes`, or of its line, or nothing; returns its end, -1 for nothing. */
  read(bytes: Uint8Array, from: number, inLine: boolean): number {
    this.begin(bytes, from, inLine)
    this.#traceAt = -1
    this.#found = []
    this.next()
    if (!this.object(REQUEST, this.#inRequest) || !this.ends()) return -1
    for (const span of this.#found) {
      if (span.unusual === undefined) this.#taker.usual(span)
      else this.#taker.unusual(span.unusual, span.resource.reporter)
    }
    return this.at
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
    const span = new FoundSpan(this.#resource!)
    this.#found.push(span)
    if (!this.#isUsual(span)) {
      this.at = start
      if (!this.skip()) return false
      const unusual = parsedJson(withNanosAsText(textAt(this.view, start, this.at)))
      if (!isJsonObject(unusual)) return false
      span.unusual = unusual
    }
    return true
  }

  /** Reads the span here; returns whether it has nothing unusual. */
  #isUsual(span: FoundSpan): boolean {
    let events: readonly AttributeEntry[] | undefined
    let name: SpanName = this.#unnamed
    let seen = 0
    let key = -1
    do {
      const run = this.#runs.read(this, name, key)
      if (run === undefined || (seen & run.seen) !== 0) return false
      seen |= run.seen
      span.take(run)
      key = run.key
      switch (key) {
        case CLOSED:
          break
        case TRACE_ID:
          if (!this.#readTraceId()) return false
          span.traceId = this.#traceId
          break
        case SPAN_ID:
          if (!this.#readSpanId()) return false
          span.idHigh = this.#high
          span.idLow = this.#low
          break
        case PARENT_ID:
          if (!this.#isEmptyText() && !this.#readSpanId()) return false
          span.parentHigh = this.#high
          span.parentLow = this.#low
          break
        case START:
          if (!this.#readTime()) return false
          span.startSeconds = this.#high
          span.startNanos = this.#low
          break
        case END:
          if (!this.#readTime()) return false
          span.endSeconds = this.#high
          span.endNanos = this.#low
          break
        case NAME: {
          const read = this.value(this.#names)
          if (read === undefined) return false
          name = read
          break
        }
        case EVENTS:
          events = this.#readEvents()
          if (events === undefined) return false
          break
      }
    } while (key !== CLOSED)
    if ((seen & NEEDED) !== NEEDED) return false
    span.name = name
    if (span.described !== undefined) span.attributes = [...span.attributes, span.described]
    if (events !== undefined && events.length > 0) {
      span.attributes = [...span.attributes, ...events.map(knownAttribute)]
    }
    const seconds = span.endSeconds - span.startSeconds
    return seconds > 0 || (seconds === 0 && span.endNanos >= span.startNanos)
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

  /** Reads 32 small hex digits; spans of one trace mostly come one after the other. */
  #readTraceId(): boolean {
    const { bytes, view } = this
    const start = this.at + 1
    const end = start + 32
    if (bytes[start - 1] !== QUOTE || bytes[end] !== QUOTE) return false
    this.at = end + 1
    if (this.#traceAt >= 0 && sameBytes(view, start, end, view, this.#traceAt)) return true
    for (let at = start; at < end; at++) if (HEX[bytes[at]!]! < 0) return false
    this.#traceId = textAt(view, start, end)
    this.#traceAt = start
    return true
  }

  /** Reads 16 small hex digits, as two 32-bit integers: no other numbers are as cheap to keep. */
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
    const { bytes } = this
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

/** Buffer that a span is read into. */
class FoundSpan extends UsualSpan {
  described: KnownAttribute | undefined
  readonly resource: KnownResource
  /** All of it, where something is unusual. */
  unusual: JsonObject | undefined

  constructor(resource: KnownResource) {
    super(resource.known)
    this.resource = resource
  }

  take({ kind, status, described, probability, attributes }: Run): void {
    this.kind |= kind
    this.status |= status
    if (described !== undefined) this.described = described
    if (probability !== undefined) this.probability = probability
    if (attributes.length > 0) this.attributes = attributes
  }
}

function knownReporter({ service, host, version, attributes }: Reporter): KnownReporter {
  return {
    service: new KnownText(service),
    host: new KnownText(host),
    version: new KnownText(version),
    attributes: attributes.map(knownAttribute),
  }
}
