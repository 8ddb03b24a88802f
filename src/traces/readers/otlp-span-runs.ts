// Runs once a span: the loops index with `!`.
import type { KnownAttribute } from '../attributes.ts'
import { KnownText } from '../dictionary.ts'
import { traceStateProbability } from '../sampling.ts'
import { SPAN_KINDS, SPAN_STATUSES } from '../span-columns.ts'
import { ByteInterner, hashBytes } from './byte-interner.ts'
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
import { knownAttribute, Repeats, UsualAttributes } from './otlp-usual-attributes.ts'
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
/** In place of a key: the span ends. */
export const CLOSED = 31
/** What every usual span has: both ids, name and times. */
export const NEEDED = (1 << TRACE_ID) | (1 << SPAN_ID) | (1 << NAME) | (1 << START) | (1 << END)
/** From so many runs on it is judged whether they repeat. */
const MIN_RUNS = 4096

/** All between two values of a span that vary, and what it says: of a span like others, most. */
export class Run {
  /** The key of the value that it ends before. */
  key = CLOSED
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

function statusIn(value: unknown) {
  const described = isJsonObject(value) ? textOf(value['message']) : ''
  return {
    code: SPAN_STATUSES.indexOf(otlpStatus(value)),
    described: described === '' ? undefined : knownAttribute([STATUS_DESCRIPTION, described]),
  }
}

/** Reads what is between the ids, names and times of spans, where it repeats by its bytes alone. */
export class SpanRuns {
  /** A bit for each key whose values vary. */
  #varied = NEEDED | (1 << PARENT_ID) | (1 << EVENTS)
  readonly #texts = new ByteInterner()
  readonly #runs: Run[] = []
  readonly #repeats = Array.from({ length: KEY_COUNT + 1 }, () => new Repeats())
  readonly #attributes: UsualAttributes
  readonly #kinds: Remembered<{ readonly code: number }>
  readonly #statuses: Remembered<ReturnType<typeof statusIn>>
  readonly #states: Remembered<{ readonly probability: number | undefined }>
  /** Values that say nothing of interest, but have to be JSON. */
  readonly #others: Remembered<true>

  /** `prepare` mends the text of a value before it is parsed. */
  constructor(prepare: (json: string) => string) {
    this.#attributes = new UsualAttributes(prepare)
    this.#kinds = new Remembered(prepare, (value) => ({
      code: SPAN_KINDS.indexOf(otlpKind(value)),
    }))
    this.#statuses = new Remembered(prepare, statusIn)
    this.#states = new Remembered(prepare, (value) => ({
      probability: traceStateProbability(value),
    }))
    this.#others = new Remembered(prepare, () => true)
  }

  /**
   * Goes from `{`, or from behind the value of key `last`, to the next value that varies; `undefined`
   * where something is unusual. `name` is that of the span, once known.
   */
  read(cursor: JsonCursor, name: SpanName, last: number): Run | undefined {
    const expected = name.runs[last + 1]
    if (expected === undefined) return this.#readAnew(cursor, name, last)
    const end = this.#texts.endOf(expected.text, cursor.view, cursor.at)
    const isThere = end >= 0 && (expected.key === CLOSED || cursor.bytes[end]! > 32)
    if (!isThere) return this.#readAnew(cursor, name, last)
    this.#repeats[last + 1]!.known++
    cursor.at = end
    return expected
  }

  /** Reads the value of a key into `run`; whether it is usual. */
  readValue(cursor: JsonCursor, key: number, run: Run): boolean {
    switch (key) {
      case KIND: {
        const kind = cursor.value(this.#kinds)
        run.kind = kind?.code ?? 0
        return kind !== undefined
      }
      case STATUS: {
        const status = cursor.value(this.#statuses)
        run.status = status?.code ?? 0
        run.described = status?.described
        return status !== undefined
      }
      case TRACE_STATE: {
        const state = cursor.value(this.#states)
        run.probability = state?.probability
        return state !== undefined
      }
      case ATTRIBUTES:
        return this.#attributes.read(cursor, run.attributes)
      case LINKS:
        return cursor.list(NONE)
      default:
        return cursor.value(this.#others) !== undefined
    }
  }

  #readAnew(cursor: JsonCursor, name: SpanName, last: number): Run | undefined {
    const start = cursor.at
    const run = new Run()
    let key = last
    do {
      const byte = cursor.next()
      cursor.at++
      if (byte === CLOSE_OBJECT && key >= 0) {
        run.key = CLOSED
        break
      }
      if (byte !== (key < 0 ? OPEN_OBJECT : COMMA)) return undefined
      key = cursor.key(SPAN, key)
      if (key < 0 || (run.seen & (1 << key)) !== 0) return undefined
      run.seen |= 1 << key
      run.key = key
    } while ((this.#varied & (1 << key)) === 0 && this.readValue(cursor, key, run))
    const isWhole = run.key === CLOSED || (this.#varied & (1 << key)) !== 0
    return isWhole ? this.#remembered(run, cursor, { start, name, last }) : undefined
  }

  /** The run with the same bytes that was read before, else `run`. */
  #remembered(
    run: Run,
    { bytes, view, at, inLine }: JsonCursor,
    { start, name, last }: { start: number; name: SpanName; last: number },
  ): Run {
    // Where lines matter, their ends have to be seen.
    const isOneLine = inLine || !bytes.subarray(start, at).includes(NEWLINE)
    if (!isOneLine || this.#texts.bytesUsed > MAX_REMEMBERED_BYTES) return run
    run.text = this.#texts.intern(view, [start, at], hashBytes(view, start, at))
    const known = this.#runs[run.text]
    const repeats = this.#repeats[last + 1]!
    if (known === undefined) {
      this.#runs.push(run)
      repeats.new++
      if (repeats.vary(MIN_RUNS)) this.#varied |= run.seen & (1 << ATTRIBUTES) || run.seen
    } else repeats.known++
    name.runs[last + 1] = known ?? run
    return known ?? run
  }
}
