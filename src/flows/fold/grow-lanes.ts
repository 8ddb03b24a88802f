// Runs once a span, node or edge: the loops index with `!`.
import { graphDepths } from '../../core/graph-depths.ts'
import { groupRows } from '../../traces/group-rows.ts'
import type { EdgeRows, FoldedGraph, LazyColors, NodeKinds } from './folded-graph.ts'

export interface Lanes {
  readonly count: number
  readonly roles: readonly Uint32Array[]
  readonly roleOf: Int32Array
  readonly laneOf: Int32Array
}

interface Side {
  readonly rows: EdgeRows
  readonly far: Uint32Array
}

/**
 * Grows lanes around nodes that may be the same step of each: a kind of neighbor that every lane
 * has exactly once becomes the next step. `grow` overwrites the lanes it gave before.
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

  grow(anchors: Uint32Array): Lanes {
    for (const nodes of this.#roles) {
      for (let lane = 0; lane < nodes.length; lane++) {
        this.#roleOf[nodes[lane]!] = -1
        this.#laneOf[nodes[lane]!] = -1
      }
    }
    this.#roles = []
    this.#add(anchors)
    for (let role = 0; role < this.#roles.length; role++) {
      const nodes = this.#roles[role]!
      for (const side of this.#sides) {
        for (const kind of this.#kindsBeside(nodes[0]!, side)) {
          const next = this.#neighbors(nodes, side, kind)
          if (next !== undefined) this.#add(next)
        }
      }
    }
    return { count: anchors.length, roles: this.#roles, roleOf: this.#roleOf, laneOf: this.#laneOf }
  }

  #add(nodes: Uint32Array): void {
    const role = this.#roles.push(nodes) - 1
    for (let lane = 0; lane < nodes.length; lane++) {
      this.#roleOf[nodes[lane]!] = role
      this.#laneOf[nodes[lane]!] = lane
    }
  }

  #kindsBeside(node: number, { rows, far }: Side): number[] {
    const met = new Set<number>()
    const end = rows.offsets[node + 1]!
    for (let entry = rows.offsets[node]!; entry < end; entry++) {
      const other = far[rows.edges[entry]!]!
      if (this.#roleOf[other] === -1) met.add(this.#kinds.of[other]!)
    }
    const { rank } = this.#kinds
    return [...met].sort((a, b) => rank[a]! - rank[b]!)
  }

  /** The one free node of a kind beside each of `nodes`, or `undefined`. */
  #neighbors(nodes: Uint32Array, { rows, far }: Side, kind: number): Uint32Array | undefined {
    const { offsets, edges } = rows
    const { of } = this.#kinds
    const roleOf = this.#roleOf
    const claimed = this.#claimed
    const attempt = ++this.#attempt
    const found = new Uint32Array(nodes.length)
    for (let lane = 0; lane < nodes.length; lane++) {
      const node = nodes[lane]!
      const end = offsets[node + 1]!
      let own = -1
      for (let entry = offsets[node]!; entry < end; entry++) {
        const other = far[edges[entry]!]!
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

/**
 * The order of lanes along their edges; first what most wait for, then what is entered and not
 * left, then by color. `undefined` where they wait in a circle.
 */
export function orderLanes(
  graph: FoldedGraph,
  lanes: Lanes,
  colors: LazyColors,
): Uint32Array | undefined {
  const { count } = lanes
  const { from, to, entered, left } = laneSteps(graph, lanes)
  const fromEnd = graphDepths(count, to, from)
  const color: (number | undefined)[] = []
  const colorOf = (lane: number) => {
    color[lane] ??= colors.ofSet(lanes.roles.map((nodes) => nodes[lane]!))
    return color[lane]
  }
  const first = (a: number, b: number) =>
    fromEnd[b]! - fromEnd[a]! ||
    entered[b]! - entered[a]! ||
    left[a]! - left[b]! ||
    colorOf(a) - colorOf(b) ||
    a - b
  const waiting = new Uint32Array(count)
  for (const lane of to) waiting[lane]!++
  const { offsets, rows } = groupRows(from, count)
  const order = Array.from(waiting.keys())
    .filter((lane) => waiting[lane] === 0)
    .sort(first)
  for (const lane of order) {
    const steps = rows.subarray(offsets[lane], offsets[lane + 1])
    const ready = Array.from(steps, (step) => to[step]!).filter((next) => --waiting[next]! === 0)
    order.push(...ready.sort(first))
  }
  return order.length === count ? Uint32Array.from(order) : undefined
}

/** The edges from lane to lane, and how many lead into each lane from outside, and out of it. */
function laneSteps({ from, to, loops }: FoldedGraph, { count, laneOf }: Lanes) {
  const steps = { from: [] as number[], to: [] as number[] }
  const entered = new Uint32Array(count)
  const left = new Uint32Array(count)
  for (let edge = 0; edge < from.length; edge++) {
    if (loops[edge] === 1) continue
    const a = laneOf[from[edge]!]!
    const b = laneOf[to[edge]!]!
    if (a === b) continue
    if (a < 0) entered[b]!++
    else if (b < 0) left[a]!++
    else {
      steps.from.push(a)
      steps.to.push(b)
    }
  }
  return { ...steps, entered, left }
}

export type RepetitionMatch = readonly ReadonlyMap<number, number>[]

/**
 * For each lane, the first lane's repetition for each of its own, or `undefined`: each lies wholly
 * within one lane with its like in all, or holds parts of all alike.
 */
export function matchRepetitions(
  graph: FoldedGraph,
  lanes: Lanes,
  order: Uint32Array,
): RepetitionMatch | undefined {
  if (graph.repetitions.length === 0) return Array.from(order, () => new Map())
  const members = new Map<number, number>()
  for (const stack of graph.inside) {
    for (const repetition of stack) members.set(repetition, (members.get(repetition) ?? 0) + 1)
  }
  const first = order[0]!
  const owner = new Map<number, number>()
  const match: Map<number, number>[] = []
  for (const lane of order) {
    const likes = new Map<number, number>()
    const found = new Map<number, number>()
    for (const nodes of lanes.roles) {
      const model = graph.inside[nodes[first]!]!
      const own = graph.inside[nodes[lane]!]!
      for (const [at, repetition] of own.entries()) {
        const like = model[at]!
        if ((likes.get(repetition) ?? like) !== like) return undefined
        likes.set(repetition, like)
        found.set(repetition, (found.get(repetition) ?? 0) + 1)
      }
    }
    if (new Set(likes.values()).size !== likes.size) return undefined
    for (const [repetition, like] of likes) {
      if (lane !== first && repetition === like) continue
      if ((owner.get(repetition) ?? lane) !== lane) return undefined
      owner.set(repetition, lane)
      const whole = found.get(repetition) === members.get(repetition)
      if (!whole && repetition !== like) return undefined
    }
    match.push(likes)
  }
  return withoutShared(match)
}

/** Drops the repetitions that hold parts of several lanes; `undefined` where only some lanes do. */
function withoutShared(match: readonly Map<number, number>[]): RepetitionMatch | undefined {
  for (const repetition of [...(match[0] as Map<number, number>).keys()]) {
    const sharing = match.filter((likes) => likes.get(repetition) === repetition).length
    if (sharing === 1) continue
    if (sharing !== match.length) return undefined
    for (const likes of match) likes.delete(repetition)
  }
  return match
}
