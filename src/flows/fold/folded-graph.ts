// Runs once a span, node or edge: the loops index with `!`.
import { ascending } from 'd3-array'
import { groupRows, placesIn } from '../../traces/group-rows.ts'

/** A flow's structure: labels of nodes, and edges between node positions. */
export interface FlowGraph {
  /** Label code of each node; node 0 is the root. */
  readonly labels: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
}

/** Lanes of a repetition: every one, the first alone, or the last alone. */
export type WhichLanes = 'all' | 'first' | 'last'

/**
 * What one repetition says of an edge that touches it.
 *
 * `inside`: from lane i to lane i + `offset`, for every i that has such a lane; 0 within a lane,
 * 1 from each lane to the next, as pipelines do. `from` and `to`: only that end is in the
 * repetition, in the lanes named.
 */
export type EdgeNote =
  | { readonly repetition: number; readonly side: 'inside'; readonly offset: number }
  | { readonly repetition: number; readonly side: 'from' | 'to'; readonly lanes: WhichLanes }

/** Lanes of equal structure that were folded into one. */
export interface Repetition {
  /** How many lanes there were. */
  readonly times: number
  /** Repetitions folded before, one in each lane: all of this one's lanes have their own. */
  readonly within: readonly number[]
}

/**
 * A flow in which repetitions are folded, with all it takes to unfold it. Without repetitions it
 * is any flow.
 */
export interface FoldedGraph extends FlowGraph {
  /** In the order in which they were folded; unfolding goes from the last to the first. */
  readonly repetitions: readonly Repetition[]
  /** For each node the repetitions it was folded in, first to last. */
  readonly inside: readonly (readonly number[])[]
  /** For each edge what repetitions say of it, first to last. */
  readonly notes: readonly (readonly EdgeNote[])[]
  /**
   * 1 for an edge that would lead back to where it comes from, as from a lane's acknowledgement to
   * the next lane's start: structure, but no edge of the acyclic graph.
   */
  readonly loops: Uint8Array
}

const NOWHERE: readonly number[] = []
const NOTHING: readonly EdgeNote[] = []

export function unfolded({ labels, from, to }: FlowGraph): FoldedGraph {
  return {
    ...{ labels, from, to, repetitions: [] },
    inside: new Array<readonly number[]>(labels.length).fill(NOWHERE),
    notes: new Array<readonly EdgeNote[]>(from.length).fill(NOTHING),
    loops: new Uint8Array(from.length),
  }
}

/** The edges as logical edges are numbered: those of the acyclic graph, then loops. */
export function logicalOrder({ loops }: FoldedGraph): number[] {
  const edges = Array.from(loops, (_, edge) => edge)
  return [
    ...edges.filter((edge) => loops[edge] === 0),
    ...edges.filter((edge) => loops[edge] === 1),
  ]
}

/** What was said of an edge, apart from which repetition says it. */
export function noteCode({ notes, loops }: FoldedGraph, edge: number): string {
  const said = notes[edge]!
  if (said.length === 0) return ''
  const texts = said.map((note) =>
    note.side === 'inside' ? `+${note.offset}` : `${note.side} ${note.lanes}`,
  )
  return `${loops[edge]} ${texts}`
}

/** Edges by the node at one of their ends, in compressed rows. */
export interface EdgeRows {
  /** Edges at node `n` are `edges[offsets[n]]` to `edges[offsets[n + 1]]`. */
  readonly offsets: Uint32Array
  readonly edges: Uint32Array
}

/** Returns the edges of the acyclic graph by one of their ends, in ascending order. */
export function edgeRows(near: Uint32Array, nodes: number, loops: Uint8Array): EdgeRows {
  const groups = Int32Array.from(near, (node, edge) => (loops[edge] === 1 ? -1 : node))
  const { offsets, rows } = groupRows(groups, nodes)
  return { offsets, edges: rows }
}

/** The nodes such that every edge of the acyclic graph leads forward; `undefined` on a cycle. */
export function forwardOrder(graph: FoldedGraph, below: EdgeRows): Uint32Array | undefined {
  const { to, loops } = graph
  const nodes = graph.labels.length
  const waiting = new Uint32Array(nodes)
  for (let edge = 0; edge < to.length; edge++) {
    const node = to[edge]!
    if (loops[edge] === 0) waiting[node] = waiting[node]! + 1
  }
  const order = new Uint32Array(nodes)
  let found = 0
  for (let node = 0; node < nodes; node++) if (waiting[node] === 0) order[found++] = node
  for (let at = 0; at < found; at++) {
    const node = order[at]!
    const end = below.offsets[node + 1]!
    for (let entry = below.offsets[node]!; entry < end; entry++) {
      const target = to[below.edges[entry]!]!
      waiting[target]!--
      if (waiting[target] === 0) order[found++] = target
    }
  }
  return found === nodes ? order : undefined
}

/** Which nodes may stand for each other in lanes, and which kinds come first. */
export interface NodeKinds {
  readonly of: Uint32Array
  readonly sizes: Uint32Array
  /** The order of kinds, which must not hang on the order of nodes. */
  readonly rank: Uint32Array
}

/** Nodes with equal labels, folded equally often, are of one kind. */
export function nodeKinds(
  { labels, inside, repetitions }: FoldedGraph,
  labelRank: Uint32Array,
): NodeKinds {
  return refineKinds({ of: labels, rank: labelRank }, (node) =>
    inside[node]!.map((number) => repetitions[number]?.times).join(' '),
  )
}

/** Kinds told apart further by a key a node, which also orders kinds of equal rank. */
export function refineKinds(
  kinds: Pick<NodeKinds, 'of' | 'rank'>,
  keyOf: (node: number) => string,
): NodeKinds {
  const numbers = new Map<string | number, number>()
  const met: { rank: number; key: string }[] = []
  const of = kinds.of.map((kind, node) => {
    const key = keyOf(node)
    const name = key === '' ? kind : `${kind} ${key}`
    const known = numbers.get(name)
    if (known !== undefined) return known
    numbers.set(name, met.length)
    return met.push({ rank: kinds.rank[kind]!, key }) - 1
  })
  const sizes = new Uint32Array(met.length)
  for (const kind of of) sizes[kind]!++
  const order = [...met.keys()].sort(
    (a, b) => met[a]!.rank - met[b]!.rank || ascending(met[a]!.key, met[b]!.key),
  )
  return { of, sizes, rank: placesIn(order) }
}
