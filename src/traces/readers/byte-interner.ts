import { growingUint8, growingUint32 } from '../growing-columns.ts'

/**
 * Numbers byte strings without decoding them: equal bytes get the same number. What makes reading
 * millions of equal labels cheap is that only the first of each is ever turned into a string.
 */
export class ByteInterner {
  readonly #bytes = growingUint8()
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

  /**
   * The number of bytes `start` to `end` of `source`; new bytes get the next number.
   *
   * @param hash of those bytes, by `hashByte` from 0, byte by byte
   */
  intern(source: Uint8Array, [start, end]: readonly [number, number], hash: number): number {
    const mask = this.#slots.length - 1
    const spread = (hash ^ (hash >>> 15)) >>> 0
    let slot = spread & mask
    for (;;) {
      const found = this.#slots[slot] as number
      if (found === 0) return this.#add(source.subarray(start, end), slot, spread)
      const known = found - 1
      if (this.#hashes.values[known] === spread && this.#isSame(known, source, start, end)) {
        return known
      }
      slot = (slot + 1) & mask
    }
  }

  #add(value: Uint8Array, slot: number, spread: number): number {
    const number = this.size
    this.#slots[slot] = number + 1
    this.#bytes.append(value)
    this.#offsets.push(this.#bytes.length)
    this.#hashes.push(spread)
    if (this.size * 2 > this.#slots.length) this.#rehash()
    return number
  }

  #isSame(number: number, source: Uint8Array, start: number, end: number): boolean {
    const bytes = this.#bytes.values
    const offset = this.#offsets.values[number] as number
    if ((this.#offsets.values[number + 1] as number) - offset !== end - start) return false
    for (let at = start, known = offset; at < end; at++, known++) {
      if (bytes[known] !== source[at]) return false
    }
    return true
  }

  #rehash(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < this.size; number++) {
      let slot = (this.#hashes.values[number] as number) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
    this.#slots = slots
  }
}

/** Takes one more byte into a hash. */
export function hashByte(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0
}
