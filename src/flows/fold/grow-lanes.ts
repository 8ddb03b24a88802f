import type { EdgeRows, FoldedGraph } from './folded-graph.ts'
import type { NodeKinds } from './node-kinds.ts'

/** Lanes that look alike so far: `roles[r][i]` is the node that plays role r in lane i. */
export interface Lanes {
  readonly count: number
  readonly roles: readonly Uint32Array[]
  /** Role of each node, -1 for nodes in no lane. */
  readonly roleOf: Int32Array
  readonly laneOf: Int32Array
}

/** The edges at each node on one side, and the nodes at their other ends. */
interface Side {
  readonly rows: EdgeRows
  readonly far: Uint32Array
}

/**
 * Grows lanes around nodes that may be the same step of each: whatever kind of neighbour every
 * lane has exactly once, each its own, becomes the next step. A label may so come several times
 * in a lane, told apart by where it stands.
 *
 * The lanes that `grow` gives are overwritten by its next call.
 */
export class LaneGrower {
  readonly #kinds: NodeKinds
  readonly #sides: readonly Side[]
  readonly #roleOf: Int32Array
  readonly #laneOf: Int32Array
  #roles: Uint32Array[] = []
  /** The attempt in which a lane last claimed each node, so that no two claim one. */
  readonly #claimed: Uint32Array
  #attempt = 0

  constructor(graph: FoldedGraph, kinds: NodeKinds, rows: { below: EdgeRows; above: EdgeRows }) {
    this.#kinds = kinds
    this.#sides = [
      { rows: rows.below, far: graph.to },
      { rows: rows.above, far: graph.from },
    ]
    this.#roleOf = new Int32Array(graph.labels.length).fill(-1)
    this.#laneOf = new Int32Array(graph.labels.length).fill(-1)
    this.#claimed = new Uint32Array(graph.labels.length)
  }

  /** @param anchors one node a lane */
  grow(anchors: Uint32Array): Lanes {
    for (const nodes of this.#roles) {
      for (let lane = 0; lane < nodes.length; lane++) {
        this.#roleOf[nodes[lane] as number] = -1
        this.#laneOf[nodes[lane] as number] = -1
      }
    }
    this.#roles = []
    this.#add(anchors)
    for (let role = 0; role < this.#roles.length; role++) {
      const nodes = this.#roles[role] as Uint32Array
      for (const side of this.#sides) {
        for (const kind of this.#kindsBeside(nodes[0] as number, side)) {
          const next = this.#neighbours(nodes, side, kind)
          if (next !== undefined) this.#add(next)
        }
      }
    }
    return {
      count: anchors.length,
      roles: this.#roles,
      roleOf: this.#roleOf,
      laneOf: this.#laneOf,
    }
  }

  #add(nodes: Uint32Array): void {
    const role = this.#roles.push(nodes) - 1
    for (let lane = 0; lane < nodes.length; lane++) {
      this.#roleOf[nodes[lane] as number] = role
      this.#laneOf[nodes[lane] as number] = lane
    }
  }

  /** Kinds of the nodes beside a node that are free of a lane, in their order. */
  #kindsBeside(node: number, { rows, far }: Side): number[] {
    const met = new Set<number>()
    const end = rows.offsets[node + 1] as number
    for (let entry = rows.offsets[node] as number; entry < end; entry++) {
      const other = far[rows.edges[entry] as number] as number
      if (this.#roleOf[other] === -1) met.add(this.#kinds.of[other] as number)
    }
    const { rank } = this.#kinds
    return [...met].sort((a, b) => (rank[a] as number) - (rank[b] as number))
  }

  /** The one free node of a kind beside each of `nodes`, unless one has none, several, or another's. */
  #neighbours(nodes: Uint32Array, { rows, far }: Side, kind: number): Uint32Array | undefined {
    const { offsets, edges } = rows
    const { of } = this.#kinds
    const roleOf = this.#roleOf
    const claimed = this.#claimed
    const attempt = ++this.#attempt
    const found = new Uint32Array(nodes.length)
    for (let lane = 0; lane < nodes.length; lane++) {
      const node = nodes[lane] as number
      const end = offsets[node + 1] as number
      let own = -1
      for (let entry = offsets[node] as number; entry < end; entry++) {
        const other = far[edges[entry] as number] as number
        if (of[other] !== kind || roleOf[other] !== -1) continue
        if (own !== -1 || claimed[other] === attempt) return undefined
        own = other
      }
      if (own === -1) return undefined
      claimed[own] = attempt
      found[lane] = own
    }
    return found
  }
}
