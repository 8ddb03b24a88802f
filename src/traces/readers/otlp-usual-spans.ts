// Runs once a byte or attribute: the loops index with `!`.
import { KnownAttribute } from '../attributes.ts'
import { KnownText } from '../dictionary.ts'
import { traceStateProbability } from '../sampling.ts'
import { SPAN_KINDS, SPAN_STATUSES } from '../span-columns.ts'
import { type KnownReporter, UsualSpan } from '../span-traces-builder.ts'
import { ByteInterner, sameBytes } from './byte-interner.ts'
import {
  BACKSLASH,
  CLOSE_OBJECT,
  COMMA,
  JsonCursor,
  Keys,
  MAX_REMEMBERED_BYTES,
  NEWLINE,
  OPEN_OBJECT,
  parsedNanos,
  QUOTE,
  rememberedBytes,
  textAt,
} from './json-cursor.ts'
import {
  type AttributeEntry,
  isJsonObject,
  type JsonObject,
  parsedJson,
  textOf,
} from './json-values.ts'
import {
  otlpAttributes,
  otlpEvents,
  type Reporter,
  reporterOf,
  STATUS_DESCRIPTION,
} from './otlp-values.ts'
import { kindNamed, statusNamed } from './span-formats.ts'

function knownAttribute([key, value]: AttributeEntry): KnownAttribute {
  return new KnownAttribute(new KnownText(key), value)
}

const ATTRIBUTE = new Keys('key', 'value')
const [KEY, VALUE] = [0, 1]
const ANY_VALUE = new Keys('stringValue', 'intValue', 'doubleValue')
const STRING_VALUE = 0
const INT_VALUE = 1
/** Longer numbers may be more than a double holds. */
const SAFE_DIGITS = /^\d{1,15}$/

/** Reads the attributes of spans; names are remembered. */
class UsualAttributes {
  readonly #names = rememberedBytes((value) => new KnownText(textOf(value)))

  /** Reads the attribute that the cursor is at; whether it is JSON. */
  read(cursor: JsonCursor, into: KnownAttribute[]): boolean {
    const start = cursor.at
    const plain = this.#plain(cursor)
    if (plain !== undefined) {
      into.push(plain)
      return true
    }
    cursor.at = start
    const value = cursor.value(parsedNanos)
    const [entry] = otlpAttributes([value])
    if (entry !== undefined) into.push(knownAttribute(entry))
    return value !== undefined
  }

  /** Reads an attribute whose value is a text or number, behind its key; `undefined` for any other. */
  #plain(cursor: JsonCursor): KnownAttribute | undefined {
    if (!cursor.passes(OPEN_OBJECT) || cursor.key(ATTRIBUTE, -1) !== KEY) return undefined
    const name = cursor.bytes[cursor.at] === QUOTE ? cursor.value(this.#names) : undefined
    if (name === undefined || !cursor.passes(COMMA)) return undefined
    if (cursor.key(ATTRIBUTE, KEY) !== VALUE || !cursor.passes(OPEN_OBJECT)) return undefined
    const type = cursor.key(ANY_VALUE, STRING_VALUE)
    const start = cursor.at
    if (type < 0 || !cursor.skip()) return undefined
    const value = plainValue(cursor, type, [start, cursor.at])
    const isWhole = cursor.passes(CLOSE_OBJECT) && cursor.passes(CLOSE_OBJECT)
    return value !== undefined && isWhole ? new KnownAttribute(name, value) : undefined
  }
}

/** Returns the value of bytes `start` to `end`; `undefined` where it takes another way to read. */
function plainValue(
  { bytes, view }: JsonCursor,
  type: number,
  [start, end]: readonly [number, number],
): string | number | undefined {
  if (bytes[start] === QUOTE) {
    let at = start + 1
    while (bytes[at]! >= 32 && bytes[at] !== BACKSLASH && bytes[at] !== QUOTE) at++
    const text = at === end - 1 ? textAt(view, start + 1, at) : ''
    if (type === INT_VALUE) return SAFE_DIGITS.test(text) ? Number(text) : undefined
    if (type === STRING_VALUE && at === end - 1) return text
  }
  const value = parsedJson(textAt(view, start, end))
  return typeof value === (type === STRING_VALUE ? 'string' : 'number')
    ? (value as string | number)
    : undefined
}

const SPAN = new Keys(
  ...['traceId', 'spanId', 'parentSpanId', 'name', 'startTimeUnixNano', 'endTimeUnixNano'],
  ...['kind', 'attributes', 'status', 'events', 'links', 'traceState'],
  ...['flags', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'],
)
const KEY_COUNT = 16
const [TRACE_ID, SPAN_ID, PARENT_ID, NAME, START, END] = [0, 1, 2, 3, 4, 5]
const [KIND, ATTRIBUTES, STATUS, LINKS, TRACE_STATE] = [6, 7, 8, 10, 11]
const EVENTS = 9
/** Placeholders for a key: the span ends, or nothing was read. */
const CLOSED = 31
const NOTHING = -1
/** Fields of every usual span: both ids, name and times. */
const NEEDED = (1 << TRACE_ID) | (1 << SPAN_ID) | (1 << NAME) | (1 << START) | (1 << END)
/** Fields that hardly two spans share. */
const VARIED = NEEDED | (1 << PARENT_ID) | (1 << EVENTS)

/** Bytes between two varying values of a span, with their meaning; most of these bytes repeat in similar spans. */
class Run {
  /** The key of the value that it ends before. */
  key = NOTHING
  /** A bit for each of its keys. */
  seen = 0
  kind = 0
  status = 0
  described: KnownAttribute | undefined
  probability: number | undefined
  readonly attributes: KnownAttribute[] = []
  /** The number of its bytes. */
  text = -1
}

/** A name of spans, and the runs of the last span with it that are behind it, by the key before each. */
class SpanName extends KnownText {
  readonly runs: (Run | undefined)[] = new Array(KEY_COUNT + 1).fill(undefined)
}

const NONE = () => false

/** Functions that read facts about a span from the value of a key; any value must be JSON. */
const SAID: { readonly [key: number]: (value: unknown) => Partial<Run> } = {
  [KIND]: (value) => ({ kind: SPAN_KINDS.indexOf(kindNamed(value) ?? 'internal') }),
  [TRACE_STATE]: (value) => ({ probability: traceStateProbability(value) }),
  [STATUS]: (value) => {
    const described = isJsonObject(value) ? textOf(value['message']) : ''
    return {
      status: SPAN_STATUSES.indexOf(statusNamed(value)),
      described: described === '' ? undefined : knownAttribute([STATUS_DESCRIPTION, described]),
    }
  },
}

/** Reads the bytes between the ids, names and times of spans by comparison, if they repeat. */
class SpanRuns {
  readonly #texts = new ByteInterner()
  readonly #attributes = new UsualAttributes()
  readonly #said = Array.from({ length: KEY_COUNT }, (_, key) =>
    rememberedBytes(SAID[key] ?? ((): Partial<Run> => ({}))),
  )

  /** Goes on to the next value that varies; `undefined` where something is unusual. */
  read(cursor: JsonCursor, name: SpanName, last: number): Run | undefined {
    const expected = name.runs[last + 1]
    if (expected === undefined) return this.#readAnew(cursor, name, last)
    const end = this.#texts.endOf(expected.text, cursor.view, cursor.at)
    const isThere = end >= 0 && (expected.key === CLOSED || cursor.bytes[end]! > 32)
    if (!isThere) return this.#readAnew(cursor, name, last)
    cursor.at = end
    return expected
  }

  /** Reads the value of a key into `run`; whether it is usual. */
  #readValue(cursor: JsonCursor, key: number, run: Run): boolean {
    if (key === ATTRIBUTES) return cursor.list(() => this.#attributes.read(cursor, run.attributes))
    if (key === LINKS) return cursor.list(NONE)
    const said = cursor.value(this.#said[key]!)
    if (said !== undefined) Object.assign(run, said)
    return said !== undefined
  }

  #readAnew(cursor: JsonCursor, name: SpanName, last: number): Run | undefined {
    const start = cursor.at
    const run = new Run()
    for (let key = last; run.key === NOTHING; ) {
      const byte = cursor.next()
      cursor.at++
      if (byte === CLOSE_OBJECT && key >= 0) run.key = CLOSED
      else if (byte !== (key < 0 ? OPEN_OBJECT : COMMA)) return undefined
      else {
        key = cursor.key(SPAN, key)
        if (key < 0 || (run.seen & (1 << key)) !== 0) return undefined
        run.seen |= 1 << key
        if ((VARIED & (1 << key)) !== 0) run.key = key
        else if (!this.#readValue(cursor, key, run)) return undefined
      }
    }
    const { bytes, view, at, inLine } = cursor
    // If lines matter, their ends have to be seen.
    const isOneLine = inLine || !bytes.subarray(start, at).includes(NEWLINE)
    if (isOneLine && this.#texts.bytesUsed < MAX_REMEMBERED_BYTES) {
      run.text = this.#texts.intern(view, start, at)
      name.runs[last + 1] = run
    }
    return run
  }
}

/** Value of a small hex digit by its byte, -1 for any other byte. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) =>
  byte >= 48 && byte <= 57 ? byte - 48 : byte >= 97 && byte <= 102 ? byte - 87 : -1,
)

const REQUEST = new Keys('resourceSpans')
const RESOURCE_SPANS = new Keys('resource', 'scopeSpans', 'schemaUrl')
const [RESOURCE, SCOPE_SPANS] = [0, 1]
const SCOPE = new Keys('spans', 'scope', 'schemaUrl')
const SPANS = 0

interface KnownResource {
  readonly reporter: Reporter
  readonly known: KnownReporter
}

/** Takes the spans of a text once all of it was read: usual ones, and others as they were parsed. */
interface SpanTaker {
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
  readonly #resources
  readonly #names = rememberedBytes((value) => new SpanName(textOf(value)))
  /** Irrelevant values, which have to be JSON, however. */
  readonly #others = rememberedBytes(() => true)
  readonly #runs = new SpanRuns()
  /** Has the runs that come before names. */
  readonly #unnamed = new SpanName('')
  /** Spans of the current text. */
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
    this.#resources = rememberedBytes((value): KnownResource => {
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
      const unusual = this.value(parsedNanos)
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
    const events = this.value(parsedNanos)
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
