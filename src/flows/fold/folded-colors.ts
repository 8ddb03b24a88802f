// Runs once a span, node or edge: the loops index with `!`.
import {
  type EdgeRows,
  edgeRows,
  type FoldedGraph,
  forwardOrder,
  type NodeKinds,
  noteCode,
} from './folded-graph.ts'

/** What was said of each edge, as numbers: which repetition says it is left out. */
function hashNotes(graph: FoldedGraph): Float64Array {
  return Float64Array.from(graph.loops, (_, edge) => hashText(noteCode(graph, edge)))
}

/** Colors of nodes by what is known of nodes and edges (`said`, `null` without repetitions). */
function foldedColors(
  graph: FoldedGraph,
  start: Float64Array,
  said: Float64Array | null,
): Float64Array {
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

  /** One number for a set of nodes: the same for sets that play the same part. */
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
  /** The nodes such that every edge leads forward. */
  readonly order: Uint32Array
  readonly below: EdgeRows
  readonly above: EdgeRows
}

const END = 2 ** 53

/**
 * Colors that say what leads to each node and what follows: refined along edges and against them
 * until no more appear. Hashed below 2^53, the same in every graph. Source: color refinement
 * (1-dimensional Weisfeiler-Leman).
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

/** Each node's color with those of its neighbors on one side, which are swept before it. */
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
  /** Label of a node, by label code. */
  readonly textOf: (label: number) => string
  /** How a number of repetitions is told; `null` to leave out what was folded, and how. */
  readonly timesOf: ((times: number) => string) | null
}

/** A 53-bit hash of a folded structure, the same in whatever order of nodes and edges. */
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
