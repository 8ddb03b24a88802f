import { hexOf } from '../../core/base64.ts'
import { TraceFormatError } from '../../core/errors.ts'
import { type QualityLog, TRUNCATED_FILE } from '../quality.ts'
import { isJsonObject, type JsonObject, parsedJson, withNanosAsText } from './json-values.ts'
import { isZstd } from './zstd.ts'

type Kind = 'text' | 'hex' | 'integer' | 'boolean' | 'nanos' | 'double'
type Field = readonly [name: string, kind: Kind | Message, isList?: boolean]
type Message = Record<number, Field>

// opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto, named as in OTLP JSON.
const ANY_VALUE: Message = {
  1: ['stringValue', 'text'],
  2: ['boolValue', 'boolean'],
  3: ['intValue', 'integer'],
  4: ['doubleValue', 'double'],
  7: ['bytesValue', 'hex'],
}
const KEY_VALUE: Message = { 1: ['key', 'text'], 2: ['value', ANY_VALUE] }
ANY_VALUE[5] = ['arrayValue', { 1: ['values', ANY_VALUE, true] }]
ANY_VALUE[6] = ['kvlistValue', { 1: ['values', KEY_VALUE, true] }]
const ATTRIBUTES: Field = ['attributes', KEY_VALUE, true]
const SPAN: Message = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  3: ['traceState', 'text'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'text'],
  6: ['kind', 'integer'],
  7: ['startTimeUnixNano', 'nanos'],
  8: ['endTimeUnixNano', 'nanos'],
  9: ATTRIBUTES,
  11: ['events', { 2: ['name', 'text'], 3: ATTRIBUTES }, true],
  13: ['links', { 1: ['traceId', 'hex'], 2: ['spanId', 'hex'], 4: ATTRIBUTES }, true],
  15: ['status', { 2: ['message', 'text'], 3: ['code', 'integer'] }],
}
const SCOPE_SPANS: Field = ['scopeSpans', { 2: ['spans', SPAN, true] }, true]
const RESOURCE_SPANS: Message = {
  1: ['resource', { 1: ATTRIBUTES }],
  2: SCOPE_SPANS,
  1000: SCOPE_SPANS,
}
const REQUEST: Message = { 1: ['resourceSpans', RESOURCE_SPANS, true] }

/** Kinds of fields by wire type: varint, 64 bits, bytes. */
const WIRE: Readonly<Record<Kind, number>> = {
  integer: 0,
  boolean: 0,
  nanos: 1,
  double: 1,
  text: 2,
  hex: 2,
}

const MAX_MESSAGE = 1 << 28
const LINE_FEED = 0x0a

/**
 * Whether a file has OTLP messages as the collector's exporter writes them: four bytes of length before each, which is
 * protobuf, zstd or JSON.
 */
export function isOtlpMessages(head: Uint8Array): boolean {
  if (head.length < 6) return false
  const length = new DataView(head.buffer, head.byteOffset).getUint32(0)
  if (length === 0 || length >= MAX_MESSAGE || head[0] === LINE_FEED) return false
  const first = head.subarray(4)
  if (isZstd(first) || first[0] === 0x7b) return true
  // A request begins with a field 1, in which a resource or a scope comes first.
  const inner = first[first.findIndex((byte, at) => at > 0 && byte < 128) + 1]
  return first[0] === LINE_FEED && (inner === LINE_FEED || inner === 0x12)
}

/** Reads messages as `JSON.parse` would give them; a cut one is noted. Throws for damage. */
export async function* otlpMessages(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  quality: QualityLog,
): AsyncGenerator<JsonObject> {
  let rest = new Uint8Array()
  let number = 0
  for await (const chunk of chunks) {
    const bytes = new Uint8Array(rest.length + chunk.length)
    bytes.set(rest)
    bytes.set(chunk, rest.length)
    let at = 0
    while (at + 4 <= bytes.length) {
      const end = at + 4 + new DataView(bytes.buffer).getUint32(at)
      if (end - at - 4 >= MAX_MESSAGE) throw damaged(file, number + 1, 'is longer than 256 MB')
      if (end > bytes.length) break
      number++
      const content = await unpacked(bytes.subarray(at + 4, end), file, number)
      at = end
      if (content[0] === 0x7b) {
        const value = parsedJson(withNanosAsText(new TextDecoder().decode(content)))
        if (!isJsonObject(value)) throw damaged(file, number, 'is not JSON, or is cut')
        yield value
      } else yield decoded(content, file, number)
    }
    rest = bytes.slice(at)
  }
  if (rest.length === 0) return
  quality.skip({
    code: TRUNCATED_FILE,
    effect: 'span skipped',
    place: { file },
    message: `The file ends within message ${number + 1}`,
    next: 'Copy it again, or load without `strict` to leave the message out',
  })
}

async function unpacked(bytes: Uint8Array, file: string, number: number): Promise<Uint8Array> {
  if (!isZstd(bytes)) return bytes
  const { decompress } = await import('fzstd')
  try {
    return decompress(bytes)
  } catch (error) {
    throw damaged(file, number, `cannot be decompressed (${(error as Error).message})`)
  }
}

function decoded(bytes: Uint8Array, file: string, number: number): JsonObject {
  try {
    return new Decoder(bytes).message(bytes.length, REQUEST)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw damaged(file, number, 'is not OTLP with spans: logs or metrics, or damaged')
  }
}

function damaged(file: string, number: number, problem: string): TraceFormatError {
  const next = 'Give the file of the traces pipeline, as its exporter wrote it'
  return new TraceFormatError(`Message ${number} ${problem}`, { file }, next)
}

/** Texts of fewer bytes take a decoder longer than writing them sign by sign does. */
const SHORT = 32
const isAscii = (byte: number) => byte < 128

/** Decodes protobuf; whatever does not fit is a `RangeError`. */
class Decoder {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #text = new TextDecoder()
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  message(end: number, fields: Message): JsonObject {
    const object: Record<string, unknown> = {}
    while (this.#at < end) {
      const tag = this.#number()
      const field = fields[tag >>> 3]
      const wire = tag & 7
      if (field === undefined) {
        this.#skip(wire)
        continue
      }
      const [name, kind, isList] = field
      if (wire !== (typeof kind === 'string' ? WIRE[kind] : 2)) throw new RangeError(name)
      const value = this.#value(kind)
      if (!isList) object[name] = value
      else if (object[name] === undefined) object[name] = [value]
      else (object[name] as unknown[]).push(value)
    }
    if (this.#at > end) throw new RangeError('length')
    return object
  }

  #value(kind: Kind | Message): unknown {
    if (kind === 'boolean') return this.#number() !== 0
    if (kind === 'integer') return this.#integer()
    if (kind === 'nanos') return String(this.#view.getBigUint64(this.#moved(8), true))
    if (kind === 'double') return this.#view.getFloat64(this.#moved(8), true)
    const length = this.#number()
    const from = this.#at
    if (from + length > this.#bytes.length) throw new RangeError('length')
    if (typeof kind !== 'string') return this.message(from + length, kind)
    const bytes = this.#bytes.subarray(from, this.#moved(length) + length)
    if (kind === 'hex') return hexOf(bytes)
    const isShort = length < SHORT && bytes.every(isAscii)
    return isShort ? String.fromCharCode(...bytes) : this.#text.decode(bytes)
  }

  #moved(bytes: number): number {
    this.#at += bytes
    return this.#at - bytes
  }

  #number(): number {
    let value = 0
    for (let unit = 1; unit < 2 ** 49; unit *= 128) {
      const byte = this.#view.getUint8(this.#moved(1))
      value += (byte & 127) * unit
      if (byte < 128) return value
    }
    throw new RangeError('varint')
  }

  /** Returns a varint of 64 bits with a sign; a text where a number cannot hold it. */
  #integer(): number | string {
    const first = this.#bytes[this.#at] ?? 128
    if (first < 128) return this.#number()
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#view.getUint8(this.#moved(1))
      value |= BigInt(byte & 127) << shift
      if (byte >= 128) continue
      const signed = BigInt.asIntN(64, value)
      const number = Number(signed)
      return Number.isSafeInteger(number) ? number : String(signed)
    }
    throw new RangeError('varint')
  }

  #skip(wire: number): void {
    if (wire === 0) this.#integer()
    else if (wire === 1) this.#moved(8)
    else if (wire === 2) this.#moved(this.#number())
    else if (wire === 5) this.#moved(4)
    else throw new RangeError('wire type')
  }
}
