import { growingUint8, growingUint32 } from '../growing-columns.ts'

/**
 * Numbers byte strings without decoding them: equal bytes get the same number. What makes reading
 * millions of equal labels cheap is that only the first of each is ever turned into a string.
 */
export class ByteInterner {
  readonly #bytes = growingUint8()
  readonly #offsets = growingUint32()
  /** Open addressing: number + 1 by hash, 0 where free. */
  #slots = new Uint32Array(256)

  constructor() {
    this.#offsets.push(0)
  }

  get size(): number {
    return this.#offsets.length - 1
  }

  /** The number of bytes `start` to `end` of `source`; new bytes get the next number. */
  intern(source: Uint8Array, start: number, end: number): number {
    let hash = end - start
    for (let i = start; i < end; i++) hash = Math.imul(hash, 31) + (source[i] as number)
    const mask = this.#slots.length - 1
    let slot = spread(hash) & mask
    for (;;) {
      const found = this.#slots[slot] as number
      if (found === 0) return this.#add(source.subarray(start, end), slot)
      if (this.#equals(found - 1, source, start, end)) return found - 1
      slot = (slot + 1) & mask
    }
  }

  #add(value: Uint8Array, slot: number): number {
    const number = this.size
    this.#slots[slot] = number + 1
    this.#bytes.append(value)
    this.#offsets.push(this.#bytes.length)
    if (this.size * 2 > this.#slots.length) this.#rehash()
    return number
  }

  #equals(number: number, source: Uint8Array, start: number, end: number): boolean {
    const bytes = this.#bytes.values
    const offset = this.#offsets.values[number] as number
    const length = (this.#offsets.values[number + 1] as number) - offset
    if (length !== end - start) return false
    for (let i = 0; i < length; i++) if (bytes[offset + i] !== source[start + i]) return false
    return true
  }

  #rehash(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let number = 0; number < this.size; number++) {
      const start = this.#offsets.values[number] as number
      const end = this.#offsets.values[number + 1] as number
      let hash = end - start
      for (let i = start; i < end; i++) {
        hash = Math.imul(hash, 31) + (this.#bytes.values[i] as number)
      }
      let slot = spread(hash) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
    this.#slots = slots
  }
}

/** Brings the high bits of a multiplicative hash down to where slots are taken from. */
function spread(hash: number): number {
  return hash ^ (hash >>> 15)
}
