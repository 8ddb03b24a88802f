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
  /** How often a kind stands next to the lane that is looked at. */
  readonly #times: Uint32Array
  /** In how many lanes a kind stands exactly once. */
  readonly #once: Uint32Array

  constructor(graph: FoldedGraph, kinds: NodeKinds, rows: { below: EdgeRows; above: EdgeRows }) {
    this.#kinds = kinds
    this.#sides = [
      { rows: rows.below, far: graph.to },
      { rows: rows.above, far: graph.from },
    ]
    this.#roleOf = new Int32Array(graph.labels.length).fill(-1)
    this.#laneOf = new Int32Array(graph.labels.length).fill(-1)
    this.#times = new Uint32Array(kinds.count)
    this.#once = new Uint32Array(kinds.count)
  }

  /** @param anchors one node a lane */
  grow(anchors: Uint32Array): Lanes {
    for (const nodes of this.#roles) {
      for (const node of nodes) {
        this.#roleOf[node] = -1
        this.#laneOf[node] = -1
      }
    }
    this.#roles = []
    this.#add(anchors)
    for (let role = 0; role < this.#roles.length; role++) {
      const nodes = this.#roles[role] as Uint32Array
      for (const side of [0, 1]) {
        for (const kind of this.#sharedKinds(nodes, side)) this.#take(nodes, side, kind)
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
    nodes.forEach((node, lane) => {
      this.#roleOf[node] = role
      this.#laneOf[node] = lane
    })
  }

  /** Kinds that stand next to every one of `nodes` exactly once, free of a lane, in their order. */
  #sharedKinds(nodes: Uint32Array, side: number): number[] {
    const met: number[] = []
    for (const node of nodes) {
      for (const other of this.#freeBeside(node, side)) {
        const kind = this.#kinds.of[other] as number
        if (this.#times[kind] === 0 && this.#once[kind] === 0) met.push(kind)
        this.#times[kind] = (this.#times[kind] as number) + 1
      }
      for (const other of this.#freeBeside(node, side)) {
        const kind = this.#kinds.of[other] as number
        if (this.#times[kind] === 1) this.#once[kind] = (this.#once[kind] as number) + 1
        this.#times[kind] = 0
      }
    }
    const shared = met.filter((kind) => this.#once[kind] === nodes.length)
    for (const kind of met) this.#once[kind] = 0
    const { rank } = this.#kinds
    return [...new Set(shared)].sort((a, b) => (rank[a] as number) - (rank[b] as number))
  }

  /** Makes the neighbours of this kind the next role, unless two lanes would share one. */
  #take(nodes: Uint32Array, side: number, kind: number): void {
    const found = new Uint32Array(nodes.length)
    for (let lane = 0; lane < nodes.length; lane++) {
      for (const other of this.#freeBeside(nodes[lane] as number, side)) {
        if (this.#kinds.of[other] === kind) found[lane] = other
      }
    }
    if (new Set(found).size === found.length) this.#add(found)
  }

  #freeBeside(node: number, side: number): number[] {
    const { rows, far } = this.#sides[side] as Side
    const free: number[] = []
    const end = rows.offsets[node + 1] as number
    for (let entry = rows.offsets[node] as number; entry < end; entry++) {
      const other = far[rows.edges[entry] as number] as number
      if (this.#roleOf[other] === -1) free.push(other)
    }
    return free
  }
}
