import type { ShapeTable } from './shape-table.ts'

/** The nodes next to each node, in compressed rows; arrays may be longer than needed. */
export interface Neighbours {
  /** Neighbours of node `n` are `nodes[offsets[n]]` to `nodes[offsets[n + 1]]`. */
  readonly offsets: Uint32Array
  readonly nodes: Uint32Array
}

/** The neighbours of one node. */
export function neighboursOf({ offsets, nodes }: Neighbours, node: number): Uint32Array {
  return nodes.subarray(offsets[node], offsets[node + 1])
}

/**
 * A shape as a graph to walk. One object serves for shape after shape, as allocating arrays would
 * take longer than filling them.
 */
export class ShapeGraph {
  nodes = 0
  edges = 0
  /** The nodes such that every edge leads forward (Kahn's algorithm); the first `nodes` count. */
  order: Uint32Array = new Uint32Array(64)
  /** Whether there is such an order. */
  acyclic = true
  below: Neighbours = { offsets: new Uint32Array(65), nodes: new Uint32Array(64) }
  above: Neighbours = { offsets: new Uint32Array(65), nodes: new Uint32Array(64) }
  #waiting: Uint32Array = new Uint32Array(64)

  /** Becomes the graph of `shape`; gives itself. */
  load(shapes: ShapeTable, shape: number): this {
    this.nodes = shapes.nodeCount(shape)
    this.edges = shapes.edgeCount(shape)
    const from = shapes.from(shape)
    const to = shapes.to(shape)
    if (this.nodes > this.order.length) this.#growNodes(this.nodes * 2)
    if (this.edges > this.below.nodes.length) this.#growEdges(this.edges * 2)
    this.#list(this.below, from, to)
    this.#list(this.above, to, from)
    this.#sort()
    return this
  }

  /** Fills compressed rows: counts, sums, then sets entries from the last edge to the first. */
  #list({ offsets, nodes }: Neighbours, near: Uint32Array, far: Uint32Array): void {
    offsets.fill(0, 0, this.nodes + 1)
    for (let edge = 0; edge < this.edges; edge++) {
      const node = near[edge] as number
      offsets[node] = (offsets[node] as number) + 1
    }
    let sum = 0
    for (let node = 0; node <= this.nodes; node++) {
      sum += offsets[node] as number
      offsets[node] = sum
    }
    for (let edge = this.edges - 1; edge >= 0; edge--) {
      const node = near[edge] as number
      const at = (offsets[node] as number) - 1
      offsets[node] = at
      nodes[at] = far[edge] as number
    }
  }

  #sort(): void {
    const { below, above, order } = this
    const waiting = this.#waiting
    let found = 0
    for (let node = 0; node < this.nodes; node++) {
      waiting[node] = (above.offsets[node + 1] as number) - (above.offsets[node] as number)
      if (waiting[node] === 0) order[found++] = node
    }
    for (let at = 0; at < found; at++) {
      const node = order[at] as number
      const end = below.offsets[node + 1] as number
      for (let entry = below.offsets[node] as number; entry < end; entry++) {
        const target = below.nodes[entry] as number
        waiting[target] = (waiting[target] as number) - 1
        if (waiting[target] === 0) order[found++] = target
      }
    }
    this.acyclic = found === this.nodes
  }

  #growNodes(capacity: number): void {
    this.order = new Uint32Array(capacity)
    this.#waiting = new Uint32Array(capacity)
    this.below = { offsets: new Uint32Array(capacity + 1), nodes: this.below.nodes }
    this.above = { offsets: new Uint32Array(capacity + 1), nodes: this.above.nodes }
  }

  #growEdges(capacity: number): void {
    this.below = { offsets: this.below.offsets, nodes: new Uint32Array(capacity) }
    this.above = { offsets: this.above.offsets, nodes: new Uint32Array(capacity) }
  }
}
