// Runs once a span, node or edge: the loops index with `!`.
import { type GrowingUint32, growingUint32 } from './growing-columns.ts'
import { ByteInterner, larger } from './readers/byte-interner.ts'

/** Columns of a table of shapes. */
export interface ShapeColumns {
  /** Labels of shape `s` are entries `nodeOffsets[s]` to `nodeOffsets[s + 1]`. */
  readonly nodeOffsets: Uint32Array
  readonly edgeOffsets: Uint32Array
  readonly labels: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
}

const NONE = new Uint32Array()
const EMPTY: ShapeColumns = {
  nodeOffsets: new Uint32Array(1),
  edgeOffsets: new Uint32Array(1),
  labels: NONE,
  from: NONE,
  to: NONE,
}

/**
 * The distinct recorded forms of flows. A shape is a list of node labels and of edges between
 * node positions, in the order that the reader gives them. Thousands of requests share one shape, so
 * structure is stored and analyzed once a shape; a request keeps only its latencies, one an edge.
 *
 * Node 0 is the root: the first node that nothing leads to.
 *
 * Two shapes may be the same structure in another order: `categorize` finds that out.
 */
export class ShapeTable {
  readonly #columns: { readonly [name in keyof ShapeColumns]: GrowingUint32 }
  /** Numbers shapes by their bytes: the number of nodes, their labels, and both ends of each edge. */
  readonly #numbers = new ByteInterner()
  #key: Uint32Array = new Uint32Array(256)
  #view = new DataView(this.#key.buffer)

  /** @param columns of another table, which it takes over */
  constructor(columns: ShapeColumns = EMPTY) {
    this.#columns = mapValues(columns, growingUint32)
    const { size } = this
    for (let shape = 0; shape < size; shape++) {
      const edges = { from: this.from(shape), to: this.to(shape), edgeCount: this.edgeCount(shape) }
      this.#number(this.labels(shape), this.nodeCount(shape), edges)
    }
  }

  /** Returns all its columns. */
  columns(): ShapeColumns {
    return mapValues(this.#columns, (column) => column.finish())
  }

  get size(): number {
    return this.#columns.nodeOffsets.length - 1
  }

  nodeCount(shape: number): number {
    return width(this.#columns.nodeOffsets, shape)
  }

  edgeCount(shape: number): number {
    return width(this.#columns.edgeOffsets, shape)
  }

  /** Returns the number of nodes of all shapes before `shape`. */
  nodesBefore(shape: number): number {
    return this.#columns.nodeOffsets.values[shape]!
  }

  /** Returns the label codes of the nodes of `shape`. */
  labels(shape: number): Uint32Array {
    return slice(this.#columns.labels, this.#columns.nodeOffsets, shape)
  }

  /** Returns the start nodes of the edges of `shape`, as positions in `labels(shape)`. */
  from(shape: number): Uint32Array {
    return slice(this.#columns.from, this.#columns.edgeOffsets, shape)
  }

  /** Returns the end nodes of the edges of `shape`, as positions in `labels(shape)`. */
  to(shape: number): Uint32Array {
    return slice(this.#columns.to, this.#columns.edgeOffsets, shape)
  }

  /** Returns the number of a shape, which is added if it is new; see `ShapeEdges` for its edges. */
  intern(labels: Uint32Array, nodeCount: number, edges: ShapeEdges): number {
    const shape = this.#number(labels, nodeCount, edges)
    if (shape < this.size) return shape
    const columns = this.#columns
    columns.labels.append(labels, nodeCount)
    columns.from.append(edges.from, edges.edgeCount)
    columns.to.append(edges.to, edges.edgeCount)
    columns.nodeOffsets.push(columns.labels.length)
    columns.edgeOffsets.push(columns.from.length)
    return shape
  }

  #number(labels: Uint32Array, nodeCount: number, { from, to, edgeCount }: ShapeEdges): number {
    const length = 1 + nodeCount + 2 * edgeCount
    while (length > this.#key.length) {
      this.#key = larger(this.#key)
      this.#view = new DataView(this.#key.buffer)
    }
    const key = this.#key
    let at = 0
    key[at++] = nodeCount
    for (let node = 0; node < nodeCount; node++) key[at++] = labels[node]!
    for (let edge = 0; edge < edgeCount; edge++) {
      key[at++] = from[edge]!
      key[at++] = to[edge]!
    }
    return this.#numbers.intern(this.#view, 0, 4 * length)
  }
}

/** Edges of a recorded form; only the first `edgeCount` of the arrays count. */
interface ShapeEdges {
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly edgeCount: number
}

function mapValues<Name extends string, From, To>(
  record: Readonly<Record<Name, From>>,
  change: (value: From) => To,
): Record<Name, To> {
  const entries = Object.entries<From>(record).map(([name, value]) => [name, change(value)])
  return Object.fromEntries(entries) as Record<Name, To>
}

function width(offsets: GrowingUint32, shape: number): number {
  return offsets.values[shape + 1]! - offsets.values[shape]!
}

function slice(column: GrowingUint32, offsets: GrowingUint32, shape: number): Uint32Array {
  return column.values.subarray(offsets.values[shape], offsets.values[shape + 1])
}

/** The nodes next to each node, in compressed rows; arrays may be longer than needed. */
export interface Neighbors {
  /** Neighbors of node `n` are `nodes[offsets[n]]` to `nodes[offsets[n + 1]]`. */
  readonly offsets: Uint32Array
  readonly nodes: Uint32Array
}

export function neighborsOf({ offsets, nodes }: Neighbors, node: number): Uint32Array {
  return nodes.subarray(offsets[node], offsets[node + 1])
}

/** A shape as a graph to walk; serves shape after shape, as allocating would take longer. */
export class ShapeGraph {
  nodes = 0
  edges = 0
  /** Nodes in an order in which every edge leads forward (Kahn's algorithm); the first `nodes` count. */
  order: Uint32Array = new Uint32Array(64)
  acyclic = true
  below: Neighbors = { offsets: new Uint32Array(65), nodes: new Uint32Array(64) }
  above: Neighbors = { offsets: new Uint32Array(65), nodes: new Uint32Array(64) }
  #waiting: Uint32Array = new Uint32Array(64)

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
  #list({ offsets, nodes }: Neighbors, near: Uint32Array, far: Uint32Array): void {
    offsets.fill(0, 0, this.nodes + 1)
    for (let edge = 0; edge < this.edges; edge++) {
      const node = near[edge]!
      offsets[node]!++
    }
    let sum = 0
    for (let node = 0; node <= this.nodes; node++) {
      sum += offsets[node]!
      offsets[node] = sum
    }
    for (let edge = this.edges - 1; edge >= 0; edge--) {
      const node = near[edge]!
      const at = offsets[node]! - 1
      offsets[node] = at
      nodes[at] = far[edge]!
    }
  }

  #sort(): void {
    const { below, above, order } = this
    const waiting = this.#waiting
    let found = 0
    for (let node = 0; node < this.nodes; node++) {
      waiting[node] = above.offsets[node + 1]! - above.offsets[node]!
      if (waiting[node] === 0) order[found++] = node
    }
    for (let at = 0; at < found; at++) {
      const node = order[at]!
      const end = below.offsets[node + 1]!
      for (let entry = below.offsets[node]!; entry < end; entry++) {
        const target = below.nodes[entry]!
        waiting[target]!--
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
