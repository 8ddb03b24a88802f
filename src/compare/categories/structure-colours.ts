import { InternalError } from '../../core/errors.ts'
import { type Neighbors, ShapeGraph, type ShapeTable } from '../../traces/shape-table.ts'

export interface ColouredShape {
  readonly shape: number
  readonly colours: Uint32Array
}

export interface ShapeKey {
  /** Equal for two shapes if, and nearly only if, they are the same structure. */
  readonly key: number
  /** Whether all nodes have different colors; then an equal key proves the same structure. */
  readonly discrete: boolean
}

// The two highest bits of a color tell what it is interned with: the nodes that follow, or those that lead to it.
const DOWN = 1 << 30
const UP = 1 << 31
/** Placeholder for missing neighbors: labels and interned pairs have higher numbers. */
const NO_NEIGHBOURS = 0
// First elements of chains of interned pairs: they tell what the chain describes.
const KEY = 1
const DISCRETE = 2
const FIRST_LABEL = 3

/**
 * Colours the nodes of flows so that nodes which play different parts get different colours,
 * whatever order they were recorded in: a node's colour says its label, all that follows it and
 * all that leads to it.
 *
 * Sweeps go against the edges (what follows), then along them (what leads here), until no more
 * colours appear; for acyclic graphs one or two sweeps do. Iterative, O((V + E) log degree) a
 * sweep. Colours are interned, so they never collide.
 *
 * Source: color refinement (1-dimensional Weisfeiler-Leman).
 */
export class StructureColours {
  readonly #shapes: ShapeTable
  readonly #labelOf: Uint32Array
  readonly #interner: PairInterner
  /** Colours of the nodes of all shapes that have a key. */
  readonly #known: Uint32Array
  // Reused for every shape: allocating would take longer than coloring.
  readonly #graph = new ShapeGraph()
  #colours: Uint32Array = new Uint32Array(64)
  #swept: Uint32Array = new Uint32Array(64)
  #list: Uint32Array = new Uint32Array(64)
  /** Colours met since the last count carry the current stamp. */
  #seen: Uint32Array = new Uint32Array(1024)
  #stamp = 0
  #distinct = 0

  /** @param labelOf the label to compare by, for each label code of `shapes` */
  constructor(shapes: ShapeTable, labelOf: Uint32Array) {
    this.#shapes = shapes
    this.#labelOf = labelOf.map((label) => FIRST_LABEL + label)
    this.#interner = new PairInterner(
      this.#labelOf.reduce((a, b) => Math.max(a, b), FIRST_LABEL) + 1,
    )
    this.#known = new Uint32Array(shapes.nodesBefore(shapes.size))
  }

  /** Returns the key of a shape: one number for its structure. */
  key(shape: number): ShapeKey {
    const sweeps = this.#refine(shape)
    const { nodes } = this.#graph
    const known = this.#known
    const before = this.#shapes.nodesBefore(shape)
    for (let node = 0; node < nodes; node++) known[before + node] = this.#colours[node] as number
    const discrete = this.#distinct === nodes
    const kind = this.#interner.intern(discrete ? DISCRETE : KEY, sweeps)
    const start = this.#interner.intern(kind, nodes)
    const colours = this.#colours
    // A colour says which colours lead to it. Where no two nodes share one, those of the last nodes
    // say it all.
    if (discrete) return { key: this.#chain(start, this.#list, this.#listLastColours()), discrete }
    const pairs = this.edgeKeys(colours, this.#shapes.from(shape), this.#shapes.to(shape))
    const key = this.#chain(this.#chain(start, colours, nodes), pairs, pairs.length)
    return { key, discrete }
  }

  /** Returns each edge's class: a number for the colors at its two ends. */
  edgeKeys(colours: Uint32Array, from: ArrayLike<number>, to: ArrayLike<number>): Uint32Array {
    const keys = new Uint32Array(from.length)
    for (let edge = 0; edge < keys.length; edge++) {
      const source = colours[from[edge] as number] as number
      keys[edge] = this.#interner.intern(source, colours[to[edge] as number] as number)
    }
    return keys
  }

  /** Lists the colours of the nodes that nothing follows; gives how many there are. */
  #listLastColours(): number {
    const { nodes, below } = this.#graph
    let count = 0
    for (let node = 0; node < nodes; node++) {
      if (below.offsets[node] !== below.offsets[node + 1]) continue
      this.#list[count++] = this.#colours[node] as number
    }
    return count
  }

  /** Returns a shape that has a key with the colours of its nodes, which are comparable between shapes. */
  colour(shape: number): ColouredShape {
    const [start, end] = [this.#shapes.nodesBefore(shape), this.#shapes.nodesBefore(shape + 1)]
    return { shape, colours: this.#known.subarray(start, end) }
  }

  /** Colours a shape into `#colours`; gives the number of sweeps it took. */
  #refine(shape: number): number {
    const graph = this.#graph.load(this.#shapes, shape)
    if (!graph.acyclic) throw new InternalError(`shape ${shape} has a cycle`)
    this.#reserve(Math.max(graph.nodes, graph.edges))
    const labels = this.#shapes.labels(shape)
    for (let node = 0; node < graph.nodes; node++) {
      this.#colours[node] = this.#labelOf[labels[node] as number] as number
    }
    let before = 0
    let sweeps = 0
    this.#countDistinct(graph.nodes)
    if (this.#distinct === graph.nodes) {
      // Every label comes once: what leads to it is all there is to add.
      this.#sweepUp(graph)
      return 0
    }
    while (this.#distinct > before && (sweeps === 0 || this.#distinct < graph.nodes)) {
      before = this.#distinct
      this.#sweepDown(graph)
      this.#sweepUp(graph)
      this.#countDistinct(graph.nodes)
      sweeps++
    }
    return sweeps
  }

  /** Recolors each node by itself and the nodes that follow it. */
  #sweepDown({ order, nodes, below }: ShapeGraph): void {
    for (let at = nodes - 1; at >= 0; at--) this.#recolour(DOWN, order[at] as number, below)
    this.#swap()
  }

  /** Recolors each node by itself and the nodes that lead to it. */
  #sweepUp({ order, nodes, above }: ShapeGraph): void {
    for (let at = 0; at < nodes; at++) this.#recolour(UP, order[at] as number, above)
    this.#swap()
  }

  /** Recolors a node by its color together with the new colors of its neighbors on one side, sorted. */
  #recolour(side: number, node: number, { offsets, nodes }: Neighbors): void {
    const start = offsets[node] as number
    const count = (offsets[node + 1] as number) - start
    const swept = this.#swept
    const colour = (this.#colours[node] as number) | side
    if (count < 2) {
      const next = count === 0 ? NO_NEIGHBOURS : (swept[nodes[start] as number] as number)
      swept[node] = this.#interner.intern(colour, next)
      return
    }
    for (let i = 0; i < count; i++) this.#list[i] = swept[nodes[start + i] as number] as number
    swept[node] = this.#chain(colour, this.#list, count)
  }

  /** Interns the first `count` numbers, sorted in place, behind `start`. */
  #chain(start: number, numbers: Uint32Array, count: number): number {
    const sorted = numbers === this.#colours ? this.#list : numbers
    if (sorted !== numbers) sorted.set(numbers)
    sorted.subarray(0, count).sort()
    let chain = start
    for (let i = 0; i < count; i++) chain = this.#interner.intern(chain, sorted[i] as number)
    return chain
  }

  #countDistinct(nodes: number): void {
    if (this.#seen.length < this.#interner.end) {
      this.#seen = new Uint32Array(this.#interner.end * 2)
      this.#stamp = 0
    }
    this.#stamp++
    this.#distinct = 0
    for (let node = 0; node < nodes; node++) {
      const colour = this.#colours[node] as number
      if (this.#seen[colour] === this.#stamp) continue
      this.#seen[colour] = this.#stamp
      this.#distinct++
    }
  }

  #swap(): void {
    const colours = this.#swept
    this.#swept = this.#colours
    this.#colours = colours
  }

  #reserve(count: number): void {
    if (this.#colours.length >= count) return
    this.#colours = new Uint32Array(count * 2)
    this.#swept = new Uint32Array(count * 2)
    this.#list = new Uint32Array(count * 2)
  }
}

/**
 * Numbers pairs of numbers. Chained, it numbers sequences: `intern(intern(intern(0, a), b), c)`, where numbers below
 * its first result mark the kind of a chain.
 */
export class PairInterner {
  readonly #firstNumber: number
  #first = new Int32Array(4096)
  #second = new Int32Array(4096)
  /** Open addressing: row of the pair + 1, 0 where free. */
  #slots = new Uint32Array(16384)
  #size = 0

  constructor(firstNumber = 0) {
    this.#firstNumber = firstNumber
  }

  get end(): number {
    return this.#size + this.#firstNumber
  }

  intern(first: number, second: number): number {
    const mask = this.#slots.length - 1
    let slot = hashPair(first, second) & mask
    for (;;) {
      const found = this.#slots[slot] as number
      if (found === 0) return this.#add(first, second, slot)
      const row = found - 1
      if (this.#first[row] === first && this.#second[row] === second) return row + this.#firstNumber
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
    return row + this.#firstNumber
  }

  #grow(): void {
    const first = new Int32Array(this.#first.length * 2)
    const second = new Int32Array(this.#first.length * 2)
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
