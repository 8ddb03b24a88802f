import { ByteInterner, hashBytes } from './readers/byte-interner.ts'

/** Stands between the parts of a key; no id holds it. */
const SEPARATOR = '\0'
const HEX = /^[0-9a-f]+$/i
const DECODER = new TextDecoder()

/** The key of a trace point: its node id alone, or within the trace it is named with. */
export function nodeKey(node: string, trace?: string): string {
  return trace === undefined ? node : `${trace}${SEPARATOR}${node}`
}

/** The key of a span, alone or within the trace it is named with. */
export function spanKey(span: string, trace = ''): string {
  return `${SEPARATOR}${plainId(trace)}${SEPARATOR}${plainId(span)}`
}

/** A key as people say it: `node 25.1`, `span b7 of trace a`. */
export function keyWords(key: string): string {
  const [first = '', second, third] = key.split(SEPARATOR)
  if (second === undefined) return `node ${first}`
  if (third === undefined) return `node ${second} of trace ${first}`
  return second === '' ? `span ${third}` : `span ${third} of trace ${second}`
}

/** Tools disagree on capitals and leading zeros of hex ids. */
function plainId(id: string): string {
  return HEX.test(id) ? id.toLowerCase().replace(/^0+(?=.)/, '') : id
}

/** Numbers keys in order of first appearance; millions of them stay bytes, never strings. */
export class ParameterKeys {
  readonly #known = new ByteInterner()
  readonly #encoder = new TextEncoder()
  #scratch = new Uint8Array(1024)
  #view = new DataView(this.#scratch.buffer)

  get size(): number {
    return this.#known.size
  }

  /** The number of `key`, which is added if it is new. */
  code(key: string): number {
    const end = this.#encode(key)
    return this.#known.intern(this.#view, [0, end], hashBytes(this.#view, 0, end))
  }

  /** The number of `key`, or -1. */
  find(key: string): number {
    return this.findBytes(this.#view, 0, this.#encode(key))
  }

  /** The number of the key that is bytes `start` to `end` of `source`, or -1. */
  findBytes(source: DataView, start: number, end: number): number {
    return this.#known.find(source, [start, end], hashBytes(source, start, end))
  }

  text(code: number): string {
    return DECODER.decode(this.#known.bytes(code))
  }

  #encode(key: string): number {
    // No character takes more than three bytes.
    if (key.length * 3 > this.#scratch.length) {
      this.#scratch = new Uint8Array(key.length * 6)
      this.#view = new DataView(this.#scratch.buffer)
    }
    return this.#encoder.encodeInto(key, this.#scratch).written
  }
}
