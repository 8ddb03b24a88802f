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
  #view: DataView = new DataView(new ArrayBuffer(0))
  size = 0

  /** Forgets the last graph; ids are now ranges of `view`. */
  reset(view: DataView): void {
    this.#view = view
    this.size = 0
    this.#stamp++
  }

  /** The node whose id is bytes `start` to `end`, or -1. */
  find(start: number, end: number): number {
    const hash = this.#hash(start, end)
    const mask = this.#slots.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    while (this.#stamps[slot] === this.#stamp) {
      const node = (this.#slots[slot] as number) - 1
      if (this.#hashes[node] === hash && this.#isSame(node, start, end)) return node
      slot = (slot + 1) & mask
    }
    return -1
  }

  /** The node whose id is bytes `start` to `end`; a new id gets the next number. */
  findOrAdd(start: number, end: number): number {
    const known = this.find(start, end)
    if (known >= 0) return known
    if (this.size === this.#starts.length) this.#grow()
    const node = this.size++
    const hash = this.#hash(start, end)
    this.#starts[node] = start
    this.#ends[node] = end
    this.#hashes[node] = hash
    this.#occupy(node, hash)
    return node
  }

  /** Where the id of `node` begins and ends. */
  range(node: number): readonly [start: number, end: number] {
    return [this.#starts[node] as number, this.#ends[node] as number]
  }

  /** The id of `node` as text, for messages. */
  text(node: number): string {
    const start = this.#starts[node] as number
    const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + start)
    return new TextDecoder().decode(bytes.subarray(0, (this.#ends[node] as number) - start))
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
    const view = this.#view
    const length = end - start
    let known = this.#starts[node] as number
    if ((this.#ends[node] as number) - known !== length) return false
    let at = start
    for (; at + 4 <= end; at += 4, known += 4) {
      if (view.getInt32(at) !== view.getInt32(known)) return false
    }
    for (; at < end; at++, known++) if (view.getUint8(at) !== view.getUint8(known)) return false
    return true
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
    for (let node = 0; node < this.size; node++) this.#occupy(node, this.#hashes[node] as number)
  }
}

function copyInto<A extends Uint32Array | Int32Array>(values: A, larger: A): A {
  larger.set(values)
  return larger
}
