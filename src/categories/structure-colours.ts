import { InternalError } from '../errors.ts'
import { type Neighbours, ShapeGraph } from '../traces/shape-graph.ts'
import type { ShapeTable } from '../traces/shape-table.ts'
import { PairInterner } from './pair-interner.ts'

/** What colour refinement says of one shape. Colours are comparable between shapes. */
export interface ColouredShape {
  readonly shape: number
  readonly colours: Uint32Array
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
  readonly #graph = new ShapeGraph()

  /** @param labelOf the label to compare by, for each label code of `shapes` */
  constructor(shapes: ShapeTable, labelOf: Uint32Array) {
    this.#shapes = shapes
    this.#labelOf = labelOf
  }

  colour(shape: number): ColouredShape {
    const graph = this.#graph.load(this.#shapes, shape)
    if (!graph.acyclic) throw new InternalError(`shape ${shape} has a cycle`)
    let colours: Uint32Array = this.#shapes.labels(shape).slice()
    for (let node = 0; node < colours.length; node++) {
      const label = this.#labelOf[colours[node] as number] as number
      colours[node] = this.#interner.intern(LABEL, label)
    }
    let found = distinct(colours)
    let before = 0
    let sweeps = 0
    while (found > before) {
      const down = this.#sweepDown(graph, colours)
      colours = this.#sweepUp(graph, down)
      before = found
      found = distinct(colours)
      sweeps++
      if (found === colours.length) break
    }
    const discrete = found === colours.length
    return { shape, colours, key: this.#key(sweeps, colours, shape), discrete }
  }

  #sweepDown({ order, below }: ShapeGraph, colours: Uint32Array): Uint32Array {
    const swept = new Uint32Array(colours.length)
    for (let at = colours.length - 1; at >= 0; at--) {
      const node = order[at] as number
      swept[node] = this.#recolour(DOWN, node, { colours, swept, next: below })
    }
    return swept
  }

  #sweepUp({ order, above }: ShapeGraph, colours: Uint32Array): Uint32Array {
    const swept = new Uint32Array(colours.length)
    for (let at = 0; at < colours.length; at++) {
      const node = order[at] as number
      swept[node] = this.#recolour(UP, node, { colours, swept, next: above })
    }
    return swept
  }

  /** A node's colour together with the new colours of its neighbours on one side, sorted. */
  #recolour(
    side: number,
    node: number,
    { colours, swept, next }: { colours: Uint32Array; swept: Uint32Array; next: Neighbours },
  ): number {
    const start = next.offsets[node] as number
    const end = next.offsets[node + 1] as number
    let colour = this.#interner.intern(side, colours[node] as number)
    if (end - start <= 1) {
      if (end === start) return colour
      return this.#interner.intern(colour, swept[next.nodes[start] as number] as number)
    }
    const seen = next.nodes.slice(start, end)
    for (let i = 0; i < seen.length; i++) seen[i] = swept[seen[i] as number] as number
    seen.sort()
    for (let i = 0; i < seen.length; i++) colour = this.#interner.intern(colour, seen[i] as number)
    return colour
  }

  /** The sorted colours of nodes and of edges as one number. */
  #key(sweeps: number, colours: Uint32Array, shape: number): number {
    let key = this.#interner.intern(KEY, sweeps)
    key = this.#interner.intern(key, colours.length)
    key = this.#chain(key, colours.slice().sort())
    const to = this.#shapes.to(shape)
    const edges = this.#shapes.from(shape).slice()
    for (let edge = 0; edge < edges.length; edge++) {
      edges[edge] = this.#interner.intern(
        colours[edges[edge] as number] as number,
        colours[to[edge] as number] as number,
      )
    }
    return this.#chain(key, edges.sort())
  }

  #chain(start: number, numbers: Uint32Array): number {
    let key = start
    for (let i = 0; i < numbers.length; i++) key = this.#interner.intern(key, numbers[i] as number)
    return key
  }
}

function distinct(colours: Uint32Array): number {
  const sorted = colours.slice().sort()
  let count = sorted.length > 0 ? 1 : 0
  for (let i = 1; i < sorted.length; i++) if (sorted[i] !== sorted[i - 1]) count++
  return count
}
