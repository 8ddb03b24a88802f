import { ByteInterner, hashBytes } from '../../traces/readers/byte-interner.ts'
import { roleOf } from './field-roles.ts'
import type { LineReader } from './line-reader.ts'
import type { LogClock } from './log-clock.ts'
import type { ReadSettings } from './log-read-options.ts'
import { type LogFile, type LogLane, type LogSink, SKIPPED } from './log-sink.ts'
import {
  INSTANCE,
  NAME,
  type PlainField,
  PlainJsonLine,
  type PlainRole,
  TIME,
  VALUE,
} from './plain-json-line.ts'

const NEWLINE = 10
const MAX_LINE_LENGTH = 1 << 24

interface JsonLinesOptions {
  readonly settings: ReadSettings
  readonly clock: LogClock
}

/** Reads lines of JSON: those of times, names and values only without decoding them, all others by `reader`. */
export async function readJsonLines(
  file: LogFile,
  reader: LineReader,
  options: JsonLinesOptions,
): Promise<void> {
  const lines = new JsonLines(file.sink, reader, options)
  for await (const chunk of file.chunks) lines.push(chunk)
  lines.end()
  file.sink.countLines(lines.count)
}

class JsonLines {
  count = 0
  readonly #sink: LogSink
  readonly #clock: LogClock
  readonly #reader: LineReader
  readonly #plain: PlainJsonLine
  readonly #decoder = new TextDecoder()
  readonly #events: CodesOfBytes
  readonly #states: CodesOfBytes
  readonly #instances: CodesOfBytes
  #rest: Uint8Array<ArrayBufferLike> = new Uint8Array(0)
  /** Whether the line that goes on is given up. */
  #isTooLong = false

  constructor(sink: LogSink, reader: LineReader, { settings, clock }: JsonLinesOptions) {
    this.#sink = sink
    this.#clock = clock
    this.#reader = reader
    this.#plain = new PlainJsonLine((field) => plainRole(field, settings))
    const { lane } = sink
    this.#events = new CodesOfBytes((name) => lane?.builder.eventCode(name) ?? -1)
    this.#states = new CodesOfBytes((name) => lane?.builder.stateCode(name) ?? -1)
    this.#instances = new CodesOfBytes((id) => lane?.instanceCode(id) ?? -1)
  }

  push(bytes: Uint8Array): void {
    const chunk = this.#isTooLong ? this.#behindLongLine(bytes) : bytes
    const first = chunk.indexOf(NEWLINE) + 1
    if (first === 0) {
      this.#rest = joined(this.#rest, chunk)
      if (this.#rest.length > MAX_LINE_LENGTH) this.#giveUp()
      return
    }
    if (this.#rest.length > 0) this.#lines(joined(this.#rest, chunk.subarray(0, first)))
    const from = this.#rest.length > 0 ? first : 0
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > from) this.#lines(chunk.subarray(from, end))
    this.#rest = chunk.slice(end)
  }

  end(): void {
    if (this.#rest.length > 0) this.#lines(joined(this.#rest, Uint8Array.of(NEWLINE)))
    this.#rest = new Uint8Array(0)
  }

  #giveUp(): void {
    const beginning = this.#decoder.decode(this.#rest.subarray(0, 200))
    this.#sink.skip(SKIPPED.tooLong, ++this.count, beginning)
    this.#rest = new Uint8Array(0)
    this.#isTooLong = true
  }

  #behindLongLine(chunk: Uint8Array): Uint8Array {
    const end = chunk.indexOf(NEWLINE)
    this.#isTooLong = end < 0
    return end < 0 ? new Uint8Array(0) : chunk.subarray(end + 1)
  }

  #lines(bytes: Uint8Array): void {
    const { lane } = this.#sink
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let at = 0; at < bytes.length; ) {
      this.count++
      const next = lane === undefined ? -1 : this.#plain.read(bytes, at)
      if (next >= 0 && this.#log(lane as LogLane, bytes, view)) {
        at = next
        continue
      }
      const end = bytes.indexOf(NEWLINE, at)
      this.#parse(bytes.subarray(at, end))
      at = end + 1
    }
  }

  /** Logs a plain line; false for one that must be looked at more closely. */
  #log(lane: LogLane, bytes: Uint8Array, view: DataView): boolean {
    const { fields } = this.#plain
    const time = fields[TIME]
    const name = fields[NAME]
    const value = fields[VALUE]
    if (!time.isThere || !name.isThere || name.isNumber) return false
    const hasValue = value.isThere
    if (hasValue && !value.isNumber) return false
    const timeUs = time.isNumber
      ? this.#clock.number(time.number)
      : this.#clock.text(latin1(bytes, time.start, time.end))
    if (Number.isNaN(timeUs)) return false
    const id = fields[INSTANCE]
    if (lane.pathInstance < 0 && !id.isThere) return false
    const instance = lane.pathInstance < 0 ? this.#instances.code(view, id) : lane.pathInstance
    const { builder } = lane
    if (hasValue) builder.state(instance, this.#states.code(view, name), timeUs, value.number)
    else builder.event(instance, this.#events.code(view, name), timeUs)
    return true
  }

  #parse(bytes: Uint8Array): void {
    this.#reader.line(this.#decoder.decode(bytes).replace(/\r$/, ''), this.count)
  }
}

/** What a field is for in a line that is read without decoding it; `null` for one that makes it another. */
function plainRole(field: string, settings: ReadSettings): PlainRole | null {
  const { time, name, value, instance } = settings
  if (field === instance) return { role: INSTANCE, rank: 0 }
  if (field === time) return { role: TIME, rank: 0 }
  if (field === name && !settings.isText(field)) return { role: NAME, rank: 0 }
  if (field === value) return { role: VALUE, rank: 0 }
  const { role, rank } = roleOf(field)
  if (role === 'time' && time === null) return { role: TIME, rank }
  if (name !== null || (role !== 'event' && role !== 'name')) return null
  return { role: NAME, rank: rank + (role === 'event' ? 0 : EVENTS) }
}

/** More than there are names of events. */
const EVENTS = 100

/** Codes of byte strings, of which each is decoded once. */
class CodesOfBytes {
  readonly #codeOf: (text: string) => number
  readonly #numbers = new ByteInterner()
  readonly #codes: number[] = []
  /** One for all calls: there is one or more a line. */
  readonly #range: [start: number, end: number] = [0, 0]

  constructor(codeOf: (text: string) => number) {
    this.#codeOf = codeOf
  }

  code(view: DataView, { start, end }: PlainField): number {
    this.#range[0] = start
    this.#range[1] = end
    const number = this.#numbers.intern(view, this.#range, hashBytes(view, start, end))
    const known = this.#codes[number]
    if (known !== undefined) return known
    const code = this.#codeOf(new TextDecoder().decode(this.#numbers.bytes(number)))
    this.#codes[number] = code
    return code
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length)
  whole.set(a)
  whole.set(b, a.length)
  return whole
}

/** Times are ASCII. */
function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] as number)
  return text
}
