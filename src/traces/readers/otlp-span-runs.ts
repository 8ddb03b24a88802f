// Runs once a span: the loops index with `!`.
import type { KnownAttribute } from '../attributes.ts'
import { KnownText } from '../dictionary.ts'
import { traceStateProbability } from '../sampling.ts'
import { SPAN_KINDS, SPAN_STATUSES } from '../span-columns.ts'
import { ByteInterner } from './byte-interner.ts'
import {
  CLOSE_OBJECT,
  COMMA,
  type JsonCursor,
  Keys,
  MAX_REMEMBERED_BYTES,
  NEWLINE,
  OPEN_OBJECT,
  Remembered,
} from './json-cursor.ts'
import { isJsonObject, textOf } from './json-values.ts'
import { knownAttribute, UsualAttributes } from './otlp-usual-attributes.ts'
import { otlpKind, otlpStatus, STATUS_DESCRIPTION } from './otlp-values.ts'

const SPAN = new Keys(
  ...['traceId', 'spanId', 'parentSpanId', 'name', 'startTimeUnixNano', 'endTimeUnixNano'],
  ...['kind', 'attributes', 'status', 'events', 'links', 'traceState'],
  ...['flags', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'],
)
const KEY_COUNT = 16
export const [TRACE_ID, SPAN_ID, PARENT_ID, NAME, START, END] = [0, 1, 2, 3, 4, 5]
const [KIND, ATTRIBUTES, STATUS, LINKS, TRACE_STATE] = [6, 7, 8, 10, 11]
export const EVENTS = 9
/** Placeholders for a key: the span ends, or nothing was read. */
export const CLOSED = 31
const NOTHING = -1
/** Fields of every usual span: both ids, name and times. */
export const NEEDED = (1 << TRACE_ID) | (1 << SPAN_ID) | (1 << NAME) | (1 << START) | (1 << END)
/** Fields that hardly two spans share. */
const VARIED = NEEDED | (1 << PARENT_ID) | (1 << EVENTS)

/** Bytes between two varying values of a span, with their meaning; most of these bytes repeat in similar spans. */
export class Run {
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
export class SpanName extends KnownText {
  readonly runs: (Run | undefined)[] = new Array(KEY_COUNT + 1).fill(undefined)
}

const NONE = () => false

/** Functions that read facts about a span from the value of a key; any value must be JSON. */
const SAID: { readonly [key: number]: (value: unknown) => Partial<Run> } = {
  [KIND]: (value) => ({ kind: SPAN_KINDS.indexOf(otlpKind(value)) }),
  [TRACE_STATE]: (value) => ({ probability: traceStateProbability(value) }),
  [STATUS]: (value) => {
    const described = isJsonObject(value) ? textOf(value['message']) : ''
    return {
      status: SPAN_STATUSES.indexOf(otlpStatus(value)),
      described: described === '' ? undefined : knownAttribute([STATUS_DESCRIPTION, described]),
    }
  },
}

/** Reads the bytes between the ids, names and times of spans by comparison, if they repeat. */
export class SpanRuns {
  readonly #texts = new ByteInterner()
  readonly #attributes: UsualAttributes
  readonly #said: readonly Remembered<Partial<Run>>[]

  /** `prepare` mends the text of a value before it is parsed. */
  constructor(prepare: (json: string) => string) {
    this.#attributes = new UsualAttributes(prepare)
    const says = (_: unknown, key: number) => new Remembered(prepare, SAID[key] ?? (() => ({})))
    this.#said = Array.from({ length: KEY_COUNT }, says)
  }

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
    if (key === ATTRIBUTES) return this.#attributes.read(cursor, run.attributes)
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
