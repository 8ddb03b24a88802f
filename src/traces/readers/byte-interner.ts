// Runs once a span, node or edge: the loops index with `!`.
import { growingUint32 } from '../growing-columns.ts'

/** Numbers byte strings: of millions of equal labels only the first becomes a string. */
export class ByteInterner {
  #bytes: Uint8Array = new Uint8Array(4096)
  #view: DataView = new DataView(this.#bytes.buffer)
  #used = 0
  readonly #offsets = growingUint32()
  readonly #hashes = growingUint32()
  /** Open addressing: number + 1 by hash, 0 where free. */
  #slots = new Uint32Array(256)

  constructor() {
    this.#offsets.push(0)
  }

  get size(): number {
    return this.#hashes.length
  }

  /** Length of all that it keeps. */
  get bytesUsed(): number {
    return this.#used
  }

  /** The number of bytes `start` to `end` with this hash; new bytes get the next number. */
  intern(source: DataView, [start, end]: readonly [number, number], hash: number): number {
    const spread = (hash ^ (hash >>> 15)) >>> 0
    const slot = this.#slot(source, start, end, spread)
    const known = this.#slots[slot]! - 1
    return known < 0 ? this.#add(source, [start, end], { slot, spread }) : known
  }

  /** Returns the number of bytes `start` to `end` of `source`, -1 where they are not known. */
  find(source: DataView, [start, end]: readonly [number, number], hash: number): number {
    return this.#slots[this.#slot(source, start, end, (hash ^ (hash >>> 15)) >>> 0)]! - 1
  }

  #slot(source: DataView, start: number, end: number, spread: number): number {
    const mask = this.#slots.length - 1
    for (let slot = spread & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]! - 1
      if (number < 0) return slot
      if (this.#hashes.values[number] !== spread) continue
      const known = this.#offsets.values[number]!
      const isAsLong = this.#offsets.values[number + 1]! - known === end - start
      if (isAsLong && sameBytes(source, start, end, this.#view, known)) return slot
    }
  }

  /** Where the bytes of a number that stand at `start` end, -1 where others stand. */
  endOf(number: number, source: DataView, start: number): number {
    const known = this.#offsets.values[number]!
    const end = start + this.#offsets.values[number + 1]! - known
    return end <= source.byteLength && sameBytes(source, start, end, this.#view, known) ? end : -1
  }

  bytes(number: number): Uint8Array {
    return this.#bytes.subarray(this.#offsets.values[number], this.#offsets.values[number + 1])
  }

  #add(
    source: DataView,
    [start, end]: readonly [number, number],
    { slot, spread }: { slot: number; spread: number },
  ): number {
    const number = this.size
    this.#slots[slot] = number + 1
    if (this.#used + end - start > this.#bytes.length) this.#grow(this.#used + end - start)
    this.#bytes.set(
      new Uint8Array(source.buffer, source.byteOffset + start, end - start),
      this.#used,
    )
    this.#used += end - start
    this.#offsets.push(this.#used)
    this.#hashes.push(spread)
    if (this.size * 2 > this.#slots.length) this.#rehash()
    return number
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(needed * 2)
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }

  #rehash(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < this.size; number++) {
      let slot = this.#hashes.values[number]! & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
    this.#slots = slots
  }
}

export function sameBytes(
  view: DataView,
  start: number,
  end: number,
  other: DataView,
  otherStart: number,
): boolean {
  let at = start
  let place = otherStart
  for (; at + 8 <= end; at += 8, place += 8) {
    const eight = view.getFloat64(at, true)
    if (eight === other.getFloat64(place, true) && eight !== 0) continue
    // Zeros of either sign are equal, and NaN is not: neither says whether their bytes are.
    if (view.getInt32(at) !== other.getInt32(place)) return false
    if (view.getInt32(at + 4) !== other.getInt32(place + 4)) return false
  }
  for (; at < end; at++, place++) {
    if (view.getUint8(at) !== other.getUint8(place)) return false
  }
  return true
}

/** A hash of bytes: of four at a time, then of the one to three that are left. */
export function hashBytes(source: DataView, start: number, end: number): number {
  let hash = 0
  let at = start
  for (; at + 4 <= end; at += 4) hash = hashMore(hash, source.getInt32(at))
  for (; at < end; at++) hash = hashMore(hash, source.getUint8(at))
  return hash
}

export function hashMore(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x9e3779b1) ^ (hash >>> 13)
}
