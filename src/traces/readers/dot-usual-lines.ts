// Runs once a span, node or edge: the loops index with `!`.
import { hashMore, sameBytes } from './byte-interner.ts'

const NEWLINE = 10
const QUOTE = 34
const BACKSLASH = 92
const ARROW = word(' -> ')
const LIST = word(' [la')
const LABEL = word('bel=')
const LATENCY = word('"R: ')
const UNIT = word(' us"')
const CLOSE = 93
const FOUR_QUOTES = word('""""')

/** Bytes of unquoted names: letters, digits, `_`, `.`, `:`, and everything beyond ASCII. */
const NAME_BYTE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 128 || /[\w.:]/.test(String.fromCharCode(byte)) ? 1 : 0,
)

/** Reads the two usual kinds of lines four bytes at a time, three times as fast as the scanner. */
export class UsualLines {
  readonly #decimal = new DecimalReader()
  readonly #ids: NodeIdTable
  source: Uint8Array = new Uint8Array()
  view: DataView = new DataView(new ArrayBuffer(0))
  idEnd = 0
  labelStart = 0
  labelEnd = 0
  labelHash = 0
  from = 0
  to = 0
  latencyUs = 0

  constructor(ids: NodeIdTable) {
    this.#ids = ids
  }

  /** Reads a node line; gives the position behind it, or -1; `last` is where the last id stands. */
  node(start: number, limit: number, last: { start: number; length: number }): number {
    const { source, view } = this
    const idEnd = this.#idEnd(start, limit, last)
    if (idEnd === start || idEnd + 12 > limit) return -1
    if (view.getInt32(idEnd) !== LIST || view.getInt32(idEnd + 4) !== LABEL) return -1
    if (source[idEnd + 8] !== QUOTE) return -1
    this.idEnd = idEnd
    this.labelStart = idEnd + 9
    const end = this.#labelEnd(idEnd + 9, limit)
    // A quote behind a backslash may or may not end the label.
    if (end < 0 || source[end - 1] === BACKSLASH || end + 3 > limit) return -1
    if (source[end + 1] !== CLOSE || source[end + 2] !== NEWLINE) return -1
    this.labelEnd = end
    return end + 3
  }

  /** Returns the end of the name at `start`. The part shared with the last id needs no second look. */
  #idEnd(start: number, limit: number, last: { start: number; length: number }): number {
    const { source, view } = this
    let at = start
    const lastWord = Math.min(start + last.length, limit) - 4
    for (let known = last.start; at <= lastWord; known += 4, at += 4) {
      if (view.getInt32(at) !== view.getInt32(known)) break
    }
    while (NAME_BYTE[source[at]!] === 1) at++
    return at
  }

  /** Returns the end of the label that begins at `start`, -1 if it does not end; hashes it on the way. */
  #labelEnd(start: number, limit: number): number {
    const { source, view } = this
    let at = start
    let hash = 0
    for (; at + 4 <= limit; at += 4) {
      const four = view.getInt32(at)
      // Whether one of four bytes is zero (Mycroft 1987), here: is a quote.
      const marked = four ^ FOUR_QUOTES
      if (((marked - 0x01010101) & ~marked & 0x80808080) !== 0) break
      hash = hashMore(hash, four)
    }
    for (; at < limit && source[at] !== QUOTE; at++) hash = hashMore(hash, source[at]!)
    this.labelHash = hash
    return at < limit ? at : -1
  }

  /** Reads an edge line between known nodes with ids of this length; returns the position behind it, or -1. */
  edge(start: number, limit: number, idLength: number): number {
    const { source, view } = this
    const fromEnd = start + idLength
    const toEnd = fromEnd + 4 + idLength
    if (toEnd + 16 > limit || view.getInt32(fromEnd) !== ARROW) return -1
    if (view.getInt32(toEnd) !== LIST || view.getInt32(toEnd + 4) !== LABEL) return -1
    if (view.getInt32(toEnd + 8) !== LATENCY) return -1
    const from = this.#ids.find(start, fromEnd)
    const to = this.#ids.find(fromEnd + 4, toEnd)
    if (from < 0 || to < 0) return -1
    if (!this.#decimal.read(source, toEnd + 12, limit)) return -1
    const at = this.#decimal.end
    if (at + 6 > limit) return -1
    if (view.getInt32(at) !== UNIT || source[at + 4] !== CLOSE || source[at + 5] !== NEWLINE) {
      return -1
    }
    this.from = from
    this.to = to
    this.latencyUs = this.#decimal.value
    return at + 6
  }
}

const POINT = 46
const ZERO = 48
const LETTER_E = 101
/** Numbers of up to this many digits are exact, and so is a power of ten to divide them by. */
const EXACT_DIGITS = 15
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, n) => Number(`1e${n}`))

/** Reads plain decimal numbers, `4381.46`, from bytes, rounded as `Number` rounds them. */
class DecimalReader {
  value = 0
  end = 0

  /** Reads a number; `false` for a sign, an exponent, more than 15 digits, or none. */
  read(source: Uint8Array, start: number, limit: number): boolean {
    let at = start
    let digits = 0
    let count = 0
    let point = -1
    for (; at < limit; at++) {
      const byte = source[at]!
      if (byte === POINT && point < 0) point = count
      else if (byte < ZERO || byte > ZERO + 9) break
      else {
        digits = digits * 10 + byte - ZERO
        count++
      }
    }
    this.end = at
    const next = source[at]! | 32
    if (count === 0 || count > EXACT_DIGITS || next === LETTER_E) return false
    this.value = point < 0 ? digits : digits / POWERS_OF_TEN[count - point]!
    return true
  }
}

function word(text: string): number {
  return [0, 1, 2, 3].reduce((value, i) => (value << 8) | text.charCodeAt(i), 0)
}

/** Finds nodes by the bytes of their ids, ranges of the source, which must stay in place. */
export class NodeIdTable {
  #starts = new Uint32Array(256)
  #ends = new Uint32Array(256)
  #hashes = new Int32Array(256)
  /** Open addressing: node + 1, valid where `#stamps` is the current graph's. */
  #slots = new Uint32Array(1024)
  #stamps = new Uint32Array(1024)
  #stamp = 0
  #view: DataView = new DataView(new ArrayBuffer(0))
  size = 0

  reset(view: DataView): void {
    this.#view = view
    this.size = 0
    this.#stamp++
  }

  find(start: number, end: number): number {
    return this.#find(start, end, this.#hash(start, end))
  }

  #find(start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    while (this.#stamps[slot] === this.#stamp) {
      const node = this.#slots[slot]! - 1
      if (this.#hashes[node] === hash && this.#isSame(node, start, end)) return node
      slot = (slot + 1) & mask
    }
    return -1
  }

  findOrAdd(start: number, end: number): number {
    const hash = this.#hash(start, end)
    const known = this.#find(start, end, hash)
    if (known >= 0) return known
    if (this.size === this.#starts.length) this.#grow()
    const node = this.size++
    this.#starts[node] = start
    this.#ends[node] = end
    this.#hashes[node] = hash
    this.#occupy(node, hash)
    return node
  }

  text(node: number): string {
    const start = this.#starts[node]!
    const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + start)
    return new TextDecoder().decode(bytes.subarray(0, this.#ends[node]! - start))
  }

  /** Hashes the first and last eight bytes: what differs between the ids of a graph is there. */
  #hash(start: number, end: number): number {
    const view = this.#view
    if (end - start < 8) {
      let hash = end - start
      for (let at = start; at < end; at++) hash = Math.imul(hash, 31) + view.getUint8(at)
      return hash | 0
    }
    const tail = Math.imul(view.getInt32(end - 8), 0x9e3779b1) ^ view.getInt32(end - 4)
    const head = Math.imul(view.getInt32(start), 0x85ebca6b) ^ view.getInt32(start + 4)
    return Math.imul(tail ^ (tail >>> 15), 0xc2b2ae35) ^ Math.imul(head, 0x27d4eb2f)
  }

  #isSame(node: number, start: number, end: number): boolean {
    const known = this.#starts[node]!
    if (this.#ends[node]! - known !== end - start) return false
    return sameBytes(this.#view, start, end, this.#view, known)
  }

  #occupy(node: number, hash: number): void {
    const mask = this.#slots.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    while (this.#stamps[slot] === this.#stamp) slot = (slot + 1) & mask
    this.#slots[slot] = node + 1
    this.#stamps[slot] = this.#stamp
  }

  #grow(): void {
    this.#starts = copyInto(this.#starts, new Uint32Array(this.#starts.length * 2))
    this.#ends = copyInto(this.#ends, new Uint32Array(this.#ends.length * 2))
    this.#hashes = copyInto(this.#hashes, new Int32Array(this.#hashes.length * 2))
    this.#slots = new Uint32Array(this.#slots.length * 2)
    this.#stamps = new Uint32Array(this.#slots.length)
    for (let node = 0; node < this.size; node++) this.#occupy(node, this.#hashes[node]!)
  }
}

function copyInto<A extends Uint32Array | Int32Array>(values: A, larger: A): A {
  larger.set(values)
  return larger
}
