// Runs once a span, node or edge: the loops index with `!`.
import { ascending } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
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
 * Relation of an edge to one repetition that it touches.
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
  /** Number of lanes. */
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
    labels,
    from,
    to,
    repetitions: [],
    inside: new Array<readonly number[]>(labels.length).fill(NOWHERE),
    notes: new Array<readonly EdgeNote[]>(from.length).fill(NOTHING),
    loops: new Uint8Array(from.length),
  }
}

/** Returns the edges as logical edges are numbered: those of the acyclic graph, then loops. */
export function logicalOrder({ loops }: FoldedGraph): number[] {
  const edges = Array.from(loops, (_, edge) => edge)
  return [
    ...edges.filter((edge) => loops[edge] === 0),
    ...edges.filter((edge) => loops[edge] === 1),
  ]
}

/** Returns the relations of an edge to repetitions as text, without naming the repetitions. */
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

/** Returns the nodes in an order in which every edge of the acyclic graph leads forward; `undefined` on a cycle. */
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

/** Nodes that may stand for each other in lanes, and the order of their kinds. */
export interface NodeKinds {
  readonly of: Uint32Array
  readonly sizes: Uint32Array
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

export function refineKinds(
  kinds: Pick<NodeKinds, 'of' | 'rank'>,
  keyOf: (node: number) => string,
): NodeKinds {
  const numbers = new Map<string | number, number>()
  const met: { rank: number; key: string }[] = []
  const of = kinds.of.map((kind, node) => {
    const key = keyOf(node)
    const name = key === '' ? kind : `${kind} ${key}`
    return getOrInsert(numbers, name, () => met.push({ rank: kinds.rank[kind]!, key }) - 1)
  })
  const sizes = new Uint32Array(met.length)
  for (const kind of of) sizes[kind]!++
  const order = [...met.keys()].sort(
    (a, b) => met[a]!.rank - met[b]!.rank || ascending(met[a]!.key, met[b]!.key),
  )
  return { of, sizes, rank: placesIn(order) }
}

/** Hashes the relations of each edge to repetitions, without naming the repetitions. */
function hashNotes(graph: FoldedGraph): Float64Array {
  return Float64Array.from(graph.loops, (_, edge) => hashText(noteCode(graph, edge)))
}

/** Returns colors of nodes from the known properties of nodes and edges (`said`, `null` without repetitions). */
function foldedColors(graph: FoldedGraph, start: Float64Array, said: Float64Array | null) {
  const { from, to, loops, labels } = graph
  const below = edgeRows(from, labels.length, loops)
  const above = edgeRows(to, labels.length, loops)
  const order = forwardOrder(graph, below) ?? new Uint32Array()
  const colors = start.slice()
  for (let edge = 0; edge < from.length; edge++) {
    if (said === null || loops[edge] === 0) continue
    // A loop counts where it starts and where it ends, and by which kinds of node it joins.
    const [a, b] = [from[edge]!, to[edge]!]
    const loop = mix(mix(start[a]!, start[b]!), said[edge]!)
    colors[a] = addMod(colors[a]!, mix(loop, 1))
    colors[b] = addMod(colors[b]!, mix(loop, 2))
  }
  return sweepColors({ from, to, order, below, above }, colors, said ?? undefined)
}

/** Colors of a graph's nodes, worked out when first asked for: most graphs fold without. */
export class LazyColors {
  readonly #graph: FoldedGraph
  readonly #kinds: NodeKinds
  #known: Float64Array | undefined

  constructor(graph: FoldedGraph, kinds: NodeKinds) {
    this.#graph = graph
    this.#kinds = kinds
  }

  /** Returns one number for a set of nodes: the same for sets that play the same part. */
  ofSet(nodes: Iterable<number>): number {
    this.#known ??= this.#colors()
    let sum = 0
    for (const node of nodes) sum = addMod(sum, this.#known[node]!)
    return sum
  }

  #colors(): Float64Array {
    const { of, rank } = this.#kinds
    const start = Float64Array.from(of, (kind) => rank[kind]!)
    return foldedColors(this.#graph, start, hashNotes(this.#graph))
  }
}

interface SweptGraph {
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly order: Uint32Array
  readonly below: EdgeRows
  readonly above: EdgeRows
}

const END = 2 ** 53

/**
 * Returns colors that reflect the predecessors and successors of each node: refined along edges and against them until
 * no more appear. Hashed below 2^53, the same in every graph. Source: color refinement (1-dimensional
 * Weisfeiler-Leman).
 */
function sweepColors(graph: SweptGraph, start: Float64Array, said?: Float64Array): Float64Array {
  let colors = start
  let swept: Float64Array = new Float64Array(start.length)
  let distinct = 0
  for (let now = countDistinct(colors); now > distinct; now = countDistinct(colors)) {
    distinct = now
    for (const side of [0, 1]) {
      sweep(graph, side, { colors, swept, said })
      ;[colors, swept] = [swept, colors === start ? new Float64Array(start.length) : colors]
    }
    if (distinct === colors.length) break
  }
  return colors
}

/** Returns each node's color with those of its neighbors on one side, which are swept before it. */
function sweep(
  { from, to, order, below, above }: SweptGraph,
  side: number,
  {
    colors,
    swept,
    said,
  }: { colors: Float64Array; swept: Float64Array; said: Float64Array | undefined },
): void {
  const { offsets, edges } = side === 0 ? below : above
  const far = side === 0 ? to : from
  for (let at = 0; at < order.length; at++) {
    const node = order[side === 0 ? order.length - 1 - at : at]!
    const end = offsets[node + 1]!
    let around = side
    for (let entry = offsets[node]!; entry < end; entry++) {
      const edge = edges[entry]!
      const color = swept[far[edge]!]!
      around = addMod(around, mix(color, said === undefined ? side : said[edge]!))
    }
    swept[node] = mix(colors[node]!, around)
  }
}

function addMod(a: number, b: number): number {
  return a < END - b ? a + b : a - (END - b)
}

function mix(a: number, b: number): number {
  const [first, second] = [b | 0, (b / 2 ** 32) | 0]
  let low = (a ^ 0x9e3779b9) | 0
  let high = ((a / 2 ** 32) ^ 0x85ebca6b) | 0
  low = Math.imul(low ^ first, 0x9e3779b1)
  high = Math.imul(high ^ first, 0x5f356495)
  low ^= high >>> 15
  high ^= low >>> 13
  low = Math.imul(low ^ second, 0x9e3779b1)
  high = Math.imul(high ^ second, 0x5f356495)
  low ^= high >>> 15
  high ^= low >>> 13
  low = Math.imul(low ^ (low >>> 16), 0x85ebca77)
  high = Math.imul(high ^ (high >>> 15), 0xc2b2ae3d)
  return (low >>> 0) + ((high ^ (low >>> 11)) & 0x1fffff) * 2 ** 32
}

function hashText(text: string): number {
  let hash = text.length
  for (let at = 0; at < text.length; at++) hash = mix(hash, text.charCodeAt(at))
  return hash
}

function countDistinct(colors: Float64Array): number {
  const sorted = colors.slice().sort()
  let distinct = sorted.length > 0 ? 1 : 0
  for (let i = 1; i < sorted.length; i++) if (sorted[i] !== sorted[i - 1]) distinct++
  return distinct
}

export interface KeyOptions {
  readonly textOf: (label: number) => string
  /** Formats a number of repetitions; `null` omits which repetitions were folded, and how. */
  readonly timesOf: ((times: number) => string) | null
}

/** Returns a 53-bit hash of a folded structure, the same in whatever order of nodes and edges. */
export function structureKey(graph: FoldedGraph, { textOf, timesOf }: KeyOptions): string {
  const { labels, from, to, inside, loops, repetitions } = graph
  const start = Float64Array.from(labels, (label, node) => {
    const stack = inside[node]!
    const times = timesOf && stack.map((number) => timesOf(repetitions[number]?.times ?? 1))
    return hashText(`${textOf(label)}\n${times?.join() ?? ''}`)
  })
  const said = timesOf === null ? null : hashNotes(graph)
  const colors = foldedColors(graph, start, said)
  let key = colors.reduce(addMod, labels.length)
  for (let edge = 0; edge < from.length; edge++) {
    if (said === null && loops[edge] === 1) continue
    const ends = mix(colors[from[edge]!]!, colors[to[edge]!]!)
    key = addMod(key, mix(ends, said?.[edge] ?? 0))
  }
  return key.toString(36)
}
