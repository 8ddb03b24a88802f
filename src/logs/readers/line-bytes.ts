// Runs once a byte of files of gigabytes: the loops index with `!`.

import { hashMore } from '../../traces/readers/byte-interner.ts'

const MAX_SHORT = 256
const MAX_KNOWN = 1 << 12
/** Bytes of a text that say where it is kept. */
const HASHED = 24
/** Texts decoded lately, by some of their bytes: most come again and again. */
const known: string[] = Array.from({ length: MAX_KNOWN }, () => '')
const NEWLINE = 10
const MINUS = 45
const POINT = 46
const ZERO = 48
const EXACT_DIGITS = 16
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`))
const decoder = new TextDecoder()
/** Node's own search is five times as fast, for lines as long as they are. */
const search = (typeof Buffer === 'undefined' ? Uint8Array : Buffer).prototype.indexOf

export function endOfLine(bytes: Uint8Array, from: number): number {
  return search.call(bytes, NEWLINE, from)
}

export type Span = readonly [start: number, end: number]

/** One line of a file, as bytes that are ASCII wherever they are read: one object for all lines. */
export class LineBytes {
  bytes: Uint8Array<ArrayBufferLike> = new Uint8Array(0)
  view = new DataView(this.bytes.buffer)
  start = 0
  end = 0
  lineNumber = 0
  isAscii = false

  get length(): number {
    return this.end - this.start
  }

  set(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    }
    this.start = start
    this.end = end
    this.isAscii = false
  }

  text(from: number, to: number): string {
    const { bytes } = this
    const [first, last] = [this.start + from, this.start + to]
    const length = to - from
    if (length >= MAX_SHORT) return decoder.decode(bytes.subarray(first, last))
    let hash = length
    let at = Math.max(first, last - HASHED)
    for (; at + 4 <= last; at += 4) hash = hashMore(hash, this.view.getInt32(at))
    for (; at < last; at++) hash = hashMore(hash, bytes[at]!)
    const place = (hash ^ (hash >>> 12)) & (MAX_KNOWN - 1)
    const text = known[place]!
    if (text.length === length) {
      let same = 0
      while (same < length && bytes[first + same] === text.charCodeAt(same)) same++
      if (same === length) return text
    }
    known[place] = String.fromCharCode.apply(
      null,
      bytes.subarray(first, last) as unknown as number[],
    )
    return known[place]!
  }

  has(given: DataView, from: number): boolean {
    const first = this.start + from
    const { byteLength } = given
    let at = 0
    for (; at + 4 <= byteLength; at += 4) {
      if (this.view.getInt32(first + at) !== given.getInt32(at)) return false
    }
    for (; at < byteLength; at++) if (this.bytes[first + at] !== given.getUint8(at)) return false
    return true
  }

  number(from: number, to: number): number {
    const { bytes, start } = this
    const isNegative = bytes[start + from] === MINUS
    let digits = 0
    let decimals = -1
    const first = start + from + Number(isNegative)
    const last = start + to
    for (let at = first; at < last; at++) {
      const digit = bytes[at]! - ZERO
      if (digit >= 0 && digit <= 9) {
        digits = digits * 10 + digit
        if (decimals >= 0) decimals++
      } else if (digit === POINT - ZERO && decimals < 0 && at > first) decimals = 0
      else return Number(this.text(from, to))
    }
    const isLong = last - first > EXACT_DIGITS || digits > Number.MAX_SAFE_INTEGER
    if (isLong || decimals === 0 || last === first) return Number(this.text(from, to))
    const value = decimals > 0 ? digits / POWERS[decimals]! : digits
    return isNegative ? -value : value
  }
}
