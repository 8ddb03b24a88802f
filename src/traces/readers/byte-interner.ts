// Runs once a span, node or edge: the loops index with `!`.
/** Numbers byte strings: of millions of equal labels only the first becomes a string. */
export class ByteInterner {
  /** Each begins at a multiple of 8, so that it can be compared as words. */
  #bytes: Uint8Array = new Uint8Array(4096)
  #ints = new Int32Array(this.#bytes.buffer)
  #words = new Float64Array(this.#bytes.buffer)
  #used = 0
  size = 0
  /** Start of each, in words; room for half as many as there are slots. */
  #starts: Uint32Array = new Uint32Array(128)
  #lengths: Uint32Array = new Uint32Array(128)
  #hashes: Uint32Array = new Uint32Array(128)
  /** Open addressing: number + 1 by hash, 0 where free. */
  #slots = new Uint32Array(256)

  /** Length of all that it keeps. */
  get bytesUsed(): number {
    return this.#used
  }

  /** Forgets all of them. */
  clear(): void {
    this.#used = 0
    this.size = 0
    this.#slots.fill(0)
  }

  /** The number of bytes `start` to `end` with this hash; new bytes get the next number. */
  intern(
    source: DataView,
    start: number,
    end: number,
    hash = hashBytes(source, start, end),
  ): number {
    const spread = (hash ^ (hash >>> 15)) >>> 0
    const slot = this.#slot(source, start, end, spread)
    const known = this.#slots[slot]! - 1
    return known < 0 ? this.#add(source, [start, end], { slot, spread }) : known
  }

  /** Returns the number of bytes `start` to `end` of `source`, -1 where they are not known. */
  find(source: DataView, start: number, end: number, hash = hashBytes(source, start, end)): number {
    return this.#slots[this.#slot(source, start, end, (hash ^ (hash >>> 15)) >>> 0)]! - 1
  }

  #slot(source: DataView, start: number, end: number, spread: number): number {
    const mask = this.#slots.length - 1
    for (let slot = spread & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]! - 1
      if (number < 0) return slot
      if (this.#hashes[number] !== spread) continue
      if (this.#lengths[number] !== end - start) continue
      if (this.endOf(number, source, start) >= 0) return slot
    }
  }

  /** Returns the end of a number's bytes at `start`, -1 if others stand there. */
  endOf(number: number, source: DataView, start: number): number {
    const end = start + this.#lengths[number]!
    if (end > source.byteLength) return -1
    let word = this.#starts[number]!
    let at = start
    for (; at + 8 <= end; at += 8, word++) {
      const eight = source.getFloat64(at, true)
      if (eight === this.#words[word] && eight !== 0) continue
      // Zeros of either sign are equal, and NaN is not: neither says whether their bytes are.
      if (source.getInt32(at, true) !== this.#ints[2 * word]) return -1
      if (source.getInt32(at + 4, true) !== this.#ints[2 * word + 1]) return -1
    }
    for (let byte = 8 * word; at < end; at++, byte++) {
      if (source.getUint8(at) !== this.#bytes[byte]) return -1
    }
    return end
  }

  bytes(number: number): Uint8Array {
    const start = 8 * this.#starts[number]!
    return this.#bytes.subarray(start, start + this.#lengths[number]!)
  }

  #add(
    source: DataView,
    [start, end]: readonly [number, number],
    { slot, spread }: { slot: number; spread: number },
  ): number {
    const number = this.size
    this.#slots[slot] = number + 1
    const words = Math.ceil((end - start) / 8)
    if (this.#used + 8 * words > this.#bytes.length) this.#grow(this.#used + 8 * words)
    let at = start
    for (let int = this.#used / 4; at + 4 <= end; at += 4, int++) {
      this.#ints[int] = source.getInt32(at, true)
    }
    for (; at < end; at++) this.#bytes[this.#used + at - start] = source.getUint8(at)
    this.#starts[number] = this.#used / 8
    this.#lengths[number] = end - start
    this.#hashes[number] = spread
    this.#used += 8 * words
    if (++this.size * 2 === this.#slots.length) this.#rehash()
    return number
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(needed * 2)
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#ints = new Int32Array(larger.buffer)
    this.#words = new Float64Array(larger.buffer)
  }

  #rehash(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < this.size; number++) {
      let slot = this.#hashes[number]! & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
    this.#slots = slots
    this.#starts = larger(this.#starts)
    this.#lengths = larger(this.#lengths)
    this.#hashes = larger(this.#hashes)
  }
}

/** Copies values into twice the room. */
export function larger(values: Uint32Array): Uint32Array {
  const copy = new Uint32Array(values.length * 2)
  copy.set(values)
  return copy
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

/** Returns a hash of bytes: of four at a time, then of the one to three that are left. */
function hashBytes(source: DataView, start: number, end: number): number {
  let hash = 0
  let at = start
  for (; at + 4 <= end; at += 4) hash = hashMore(hash, source.getInt32(at))
  for (; at < end; at++) hash = hashMore(hash, source.getUint8(at))
  return hash
}

export function hashMore(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x9e3779b1) ^ (hash >>> 13)
}
