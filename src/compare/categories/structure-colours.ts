import { InternalError } from '../../core/errors.ts'
import { type Neighbors, ShapeGraph, type ShapeTable } from '../../traces/shape-table.ts'
import { PairInterner } from './pair-interner.ts'

/** A shape with the colour of each of its nodes. */
export interface ColouredShape {
  readonly shape: number
  readonly colours: Uint32Array
}

/** What colour refinement says of one shape. */
export interface ShapeKey {
  /** Equal for two shapes if, and nearly only if, they are the same structure. */
  readonly key: number
  /** No two nodes have the same colour; then an equal key proves the same structure. */
  readonly discrete: boolean
}

// What a chain of interned pairs is about; the first element of each.
const LABEL = 0
const DOWN = 1
const UP = 2
const KEY = 3

/**
 * Colours the nodes of flows so that nodes which play different parts get different colours,
 * whatever order they were recorded in: a node's colour says its label, all that follows it and
 * all that leads to it.
 *
 * Sweeps go against the edges (what follows), then along them (what leads here), until no more
 * colours appear; for acyclic graphs one or two sweeps do. Iterative, O((V + E) log degree) a
 * sweep. Colours are interned, so they never collide.
 *
 * Source: `spec.md` §6; colour refinement (1-dimensional Weisfeiler-Leman).
 */
export class StructureColours {
  readonly #shapes: ShapeTable
  readonly #labelOf: Uint32Array
  readonly #interner = new PairInterner()
  // What follows serves for shape after shape: allocating would take longer than colouring.
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
    this.#labelOf = labelOf
  }

  /** The key of a shape: one number for its structure. */
  key(shape: number): ShapeKey {
    const sweeps = this.#refine(shape)
    const { nodes, edges } = this.#graph
    const colours = this.#colours
    const to = this.#shapes.to(shape)
    const from = this.#shapes.from(shape)
    const pairs = this.#swept
    for (let edge = 0; edge < edges; edge++) {
      const source = colours[from[edge] as number] as number
      pairs[edge] = this.#interner.intern(source, colours[to[edge] as number] as number)
    }
    const start = this.#interner.intern(this.#interner.intern(KEY, sweeps), nodes)
    const key = this.#chain(this.#chain(start, colours, nodes), pairs, edges)
    return { key, discrete: this.#distinct === nodes }
  }

  /** A shape with the colours of its nodes, which are comparable between shapes. */
  colour(shape: number): ColouredShape {
    this.#refine(shape)
    return { shape, colours: this.#colours.slice(0, this.#graph.nodes) }
  }

  /** Colours a shape into `#colours`; gives the number of sweeps it took. */
  #refine(shape: number): number {
    const graph = this.#graph.load(this.#shapes, shape)
    if (!graph.acyclic) throw new InternalError(`shape ${shape} has a cycle`)
    this.#reserve(Math.max(graph.nodes, graph.edges))
    const labels = this.#shapes.labels(shape)
    for (let node = 0; node < graph.nodes; node++) {
      const label = this.#labelOf[labels[node] as number] as number
      this.#colours[node] = this.#interner.intern(LABEL, label)
    }
    let before = 0
    let sweeps = 0
    this.#countDistinct(graph.nodes)
    while (this.#distinct > before && (sweeps === 0 || this.#distinct < graph.nodes)) {
      before = this.#distinct
      this.#sweepDown(graph)
      this.#sweepUp(graph)
      this.#countDistinct(graph.nodes)
      sweeps++
    }
    return sweeps
  }

  /** Recolours each node by itself and what follows it. */
  #sweepDown({ order, nodes, below }: ShapeGraph): void {
    for (let at = nodes - 1; at >= 0; at--) this.#recolour(DOWN, order[at] as number, below)
    this.#swap()
  }

  /** Recolours each node by itself and what leads to it. */
  #sweepUp({ order, nodes, above }: ShapeGraph): void {
    for (let at = 0; at < nodes; at++) this.#recolour(UP, order[at] as number, above)
    this.#swap()
  }

  /** A node's colour together with the new colours of its neighbours on one side, sorted. */
  #recolour(side: number, node: number, { offsets, nodes }: Neighbors): void {
    const start = offsets[node] as number
    const count = (offsets[node + 1] as number) - start
    const swept = this.#swept
    const colour = this.#interner.intern(side, this.#colours[node] as number)
    if (count === 1) {
      swept[node] = this.#interner.intern(colour, swept[nodes[start] as number] as number)
      return
    }
    for (let i = 0; i < count; i++) this.#list[i] = swept[nodes[start + i] as number] as number
    swept[node] = this.#chain(colour, this.#list, count)
  }

  /** Interns the first `count` numbers, sorted in place, behind `start`. */
  #chain(start: number, numbers: Uint32Array, count: number): number {
    const sorted = numbers === this.#colours ? this.#list : numbers
    if (sorted !== numbers) sorted.set(numbers)
    sortFirst(sorted, count)
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

/** Sorts the first `count` numbers; insertion beats the general sort for the usual handful. */
function sortFirst(numbers: Uint32Array, count: number): void {
  if (count > 48) {
    numbers.subarray(0, count).sort()
    return
  }
  for (let i = 1; i < count; i++) {
    const number = numbers[i] as number
    let at = i - 1
    for (; at >= 0 && (numbers[at] as number) > number; at--) {
      numbers[at + 1] = numbers[at] as number
    }
    numbers[at + 1] = number
  }
}
