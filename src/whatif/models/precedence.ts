// Runs for the children of every call: the loops index with `!`.

/** Which of some calls, numbered from 0, come before which. */
export class Precedence {
  readonly nodes: number
  /** Bit a of row b says that a is over before b begins; a row has whole words. */
  readonly bits: Uint32Array
  readonly #words: number

  constructor(nodes: number, bits?: Uint32Array) {
    this.nodes = nodes
    this.#words = (nodes + 31) >>> 5
    this.bits = bits ?? new Uint32Array(nodes * this.#words)
  }

  /**
   * The precedence of calls that are sorted by start, then end, closed under transitivity: one comes
   * before a later one if it is over by the latter's start, give or take `slackUs`. Only later ones in
   * this order can follow, so the slack makes no circles. O(n² + n³/32).
   */
  static observed(
    startUs: ArrayLike<number>,
    endUs: ArrayLike<number>,
    slackUs: number,
  ): Precedence {
    const found = new Precedence(startUs.length)
    for (let b = 1; b < startUs.length; b++) {
      const beginsUs = startUs[b]! + slackUs
      // Latest first: what one of them waited for is known already and need not be looked at.
      for (let a = b - 1; a >= 0; a--) {
        if (endUs[a]! <= beginsUs && !found.has(a, b)) found.#addChain(a, b)
      }
    }
    return found
  }

  /** Returns whether `a` comes before `b`. */
  has(a: number, b: number): boolean {
    return ((this.bits[b * this.#words + (a >>> 5)]! >>> (a & 31)) & 1) === 1
  }

  add(a: number, b: number): void {
    this.bits[b * this.#words + (a >>> 5)]! |= 1 << (a & 31)
  }

  /** Notes that `a`, and all that comes before it, comes before `b`. */
  #addChain(a: number, b: number): void {
    const words = this.#words
    for (let w = 0; w < words; w++) this.bits[b * words + w]! |= this.bits[a * words + w]!
    this.add(a, b)
  }

  /** Returns the same with calls renumbered: call i becomes `placeOf[i]`. */
  renumbered(placeOf: ArrayLike<number>): Precedence {
    const moved = new Precedence(this.nodes)
    for (let b = 0; b < this.nodes; b++) {
      for (let a = 0; a < this.nodes; a++) if (this.has(a, b)) moved.add(placeOf[a]!, placeOf[b]!)
    }
    return moved
  }

  /** Returns Jaccard's distance of the pairs: 0 for the same (two empty ones too), 1 for disjoint. */
  distanceTo({ bits }: Precedence): number {
    let shared = 0
    let either = 0
    for (let w = 0; w < bits.length; w++) {
      shared += ones(this.bits[w]! & bits[w]!)
      either += ones(this.bits[w]! | bits[w]!)
    }
    return either === 0 ? 0 : (either - shared) / either
  }

  /** Returns whether it has every pair of `part`. */
  holds(part: Precedence): boolean {
    return this.bits.every((bits, w) => (part.bits[w]! & ~bits) === 0)
  }

  and(other: Precedence): Precedence {
    return new Precedence(
      this.nodes,
      this.bits.map((bits, w) => bits & other.bits[w]!),
    )
  }

  /**
   * Returns the calls such that each comes after all that come before it; `null` where pairs run in
   * circles. Needs no closure.
   */
  order(): Uint32Array | null {
    const { nodes, bits } = this
    const words = this.#words
    const order = new Uint32Array(nodes)
    const done = new Uint32Array(words)
    for (let placed = 0; placed < nodes; ) {
      const before = placed
      for (let b = 0; b < nodes; b++) {
        if ((done[b >>> 5]! >>> (b & 31)) & 1) continue
        let ready = true
        for (let w = 0; w < words && ready; w++) ready = (bits[b * words + w]! & ~done[w]!) === 0
        if (!ready) continue
        done[b >>> 5]! |= 1 << (b & 31)
        order[placed++] = b
      }
      if (placed === before) return null
    }
    return order
  }

  /** Closes the pairs under transitivity, given an order of them. */
  close(order: Uint32Array): void {
    order.forEach((b, at) => {
      for (let i = at - 1; i >= 0; i--) if (this.has(order[i]!, b)) this.#addChain(order[i]!, b)
    })
  }

  /**
   * Returns the direct predecessors of each call: those that no chain of others implies (the
   * transitive reduction), ascending.
   */
  direct(order: Uint32Array): number[][] {
    const words = this.#words
    const direct: number[][] = Array.from({ length: this.nodes }, () => [])
    order.forEach((b, at) => {
      const implied = new Uint32Array(words)
      for (let i = at - 1; i >= 0; i--) {
        const a = order[i]!
        if (!this.has(a, b) || (implied[a >>> 5]! >>> (a & 31)) & 1) continue
        direct[b]!.push(a)
        for (let w = 0; w < words; w++) implied[w]! |= this.bits[a * words + w]!
      }
      direct[b]!.sort((x, y) => x - y)
    })
    return direct
  }

  /** Returns the calls that no other comes after, ascending. */
  last(): number[] {
    const followed = new Uint32Array(this.#words)
    this.bits.forEach((bits, i) => {
      followed[i % this.#words]! |= bits
    })
    const all = Array.from({ length: this.nodes }, (_, a) => a)
    return all.filter((a) => ((followed[a >>> 5]! >>> (a & 31)) & 1) === 0)
  }
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
