/**
 * Finds the nodes of one graph by the bytes of their ids. Nothing is copied: an id is a range of
 * the source, which must stay in place while the graph is read.
 */
export class NodeIdTable {
  /** First byte and end of each node's id. */
  #starts = new Uint32Array(256)
  #ends = new Uint32Array(256)
  #hashes = new Int32Array(256)
  /** Open addressing: node + 1, valid where `#stamps` is the current graph's. */
  #slots = new Uint32Array(1024)
  #stamps = new Uint32Array(1024)
  #stamp = 0
  size = 0

  /** Forgets the last graph. */
  reset(): void {
    this.size = 0
    this.#stamp++
  }

  /** The node whose id is bytes `start` to `end` of `source`; a new id gets the next number. */
  node(source: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    while (this.#stamps[slot] === this.#stamp) {
      const node = (this.#slots[slot] as number) - 1
      if (this.#hashes[node] === hash && this.#sameBytes(node, source, start, end)) return node
      slot = (slot + 1) & mask
    }
    if (this.size === this.#starts.length) {
      this.#grow()
      return this.node(source, start, end, hash)
    }
    const node = this.size++
    this.#starts[node] = start
    this.#ends[node] = end
    this.#hashes[node] = hash
    this.#slots[slot] = node + 1
    this.#stamps[slot] = this.#stamp
    return node
  }

  /** The id of `node` as text, for messages. */
  text(node: number, source: Uint8Array): string {
    return new TextDecoder().decode(source.subarray(this.#starts[node], this.#ends[node]))
  }

  #sameBytes(node: number, source: Uint8Array, start: number, end: number): boolean {
    const known = this.#starts[node] as number
    if ((this.#ends[node] as number) - known !== end - start) return false
    // The tail of an id is a timestamp, the head the same for the whole graph: compare backwards.
    for (let i = end - start - 1; i >= 0; i--)
      if (source[known + i] !== source[start + i]) return false
    return true
  }

  #grow(): void {
    this.#starts = doubled(this.#starts, new Uint32Array(this.#starts.length * 2))
    this.#ends = doubled(this.#ends, new Uint32Array(this.#ends.length * 2))
    this.#hashes = doubled(this.#hashes, new Int32Array(this.#hashes.length * 2))
    const slots = new Uint32Array(this.#slots.length * 2)
    const stamps = new Uint32Array(slots.length)
    for (let node = 0; node < this.size; node++) {
      const hash = this.#hashes[node] as number
      let slot = (hash ^ (hash >>> 15)) & (slots.length - 1)
      while (stamps[slot] === this.#stamp) slot = (slot + 1) & (slots.length - 1)
      slots[slot] = node + 1
      stamps[slot] = this.#stamp
    }
    this.#slots = slots
    this.#stamps = stamps
  }
}

function doubled<A extends Uint32Array | Int32Array>(values: A, larger: A): A {
  larger.set(values)
  return larger
}
