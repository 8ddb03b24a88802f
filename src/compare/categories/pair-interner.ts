/** Numbers below this are left for the caller to begin chains with. */
export const FIRST_NUMBER = 16

/**
 * Numbers pairs of numbers: equal pairs get the same number, different ones never do. Chained, it
 * numbers sequences of any length, as `intern(intern(intern(0, a), b), c)`, where 0 to 15 say what a chain is about.
 */
export class PairInterner {
  #first = new Uint32Array(4096)
  #second = new Uint32Array(4096)
  /** Open addressing: row of the pair + 1, 0 where free. */
  #slots = new Uint32Array(16384)
  #size = 0

  /** All numbers given out are below this. */
  get end(): number {
    return this.#size + FIRST_NUMBER
  }

  /** The number of a pair of numbers below 2³²; new pairs get the next number, from 16. */
  intern(first: number, second: number): number {
    const mask = this.#slots.length - 1
    let slot = hashPair(first, second) & mask
    for (;;) {
      const found = this.#slots[slot] as number
      if (found === 0) return this.#add(first, second, slot)
      const row = found - 1
      if (this.#first[row] === first && this.#second[row] === second) return row + FIRST_NUMBER
      slot = (slot + 1) & mask
    }
  }

  #add(first: number, second: number, slot: number): number {
    const row = this.#size++
    if (row === this.#first.length) this.#grow()
    this.#first[row] = first
    this.#second[row] = second
    if (this.#size * 2 > this.#slots.length) this.#rehash()
    else this.#slots[slot] = row + 1
    return row + FIRST_NUMBER
  }

  #grow(): void {
    const first = new Uint32Array(this.#first.length * 2)
    const second = new Uint32Array(this.#first.length * 2)
    first.set(this.#first)
    second.set(this.#second)
    this.#first = first
    this.#second = second
  }

  #rehash(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let row = 0; row < this.#size; row++) {
      let slot = hashPair(this.#first[row] as number, this.#second[row] as number) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = row + 1
    }
    this.#slots = slots
  }
}

function hashPair(first: number, second: number): number {
  const mixed = Math.imul(first ^ (first >>> 16), 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
