import { addMod, hashText, mix, sweepColours } from './colour-sweeps.ts'
import { type EdgeNote, edgeRows, type FoldedGraph, forwardOrder } from './folded-graph.ts'
import type { NodeKinds } from './node-kinds.ts'

/** What was said of each edge, as numbers: which repetition says it is left out. */
export function hashNotes({ notes, loops }: FoldedGraph): Float64Array {
  return Float64Array.from(notes, (said: readonly EdgeNote[], edge) => {
    if (said.length === 0) return 0
    return hashText(`${loops[edge]} ${said.map(noteText).join()}`)
  })
}

/**
 * Colours of a folded flow's nodes, which no order of recording decides.
 *
 * @param start what is known of each node
 * @param said what is known of each edge, `null` to leave repetitions out
 */
export function foldedColours(
  graph: FoldedGraph,
  start: Float64Array,
  said: Float64Array | null,
): Float64Array {
  const { from, to, loops, labels } = graph
  const below = edgeRows(from, labels.length, loops)
  const above = edgeRows(to, labels.length, loops)
  const order = forwardOrder(graph, below) ?? new Uint32Array()
  const colours = start.slice()
  for (let edge = 0; edge < from.length; edge++) {
    if (said === null || loops[edge] === 0) continue
    // A loop counts where it starts and where it ends, and by which kinds of node it joins.
    const [a, b] = [from[edge] as number, to[edge] as number]
    const loop = mix(mix(start[a] as number, start[b] as number), said[edge] as number)
    colours[a] = addMod(colours[a] as number, mix(loop, 1))
    colours[b] = addMod(colours[b] as number, mix(loop, 2))
  }
  return sweepColours({ from, to, order, below, above }, colours, said ?? undefined)
}

/** Colours of a graph's nodes, worked out when first asked for: most graphs fold without. */
export class LazyColours {
  readonly #graph: FoldedGraph
  readonly #kinds: NodeKinds
  #known: Float64Array | undefined

  constructor(graph: FoldedGraph, kinds: NodeKinds) {
    this.#graph = graph
    this.#kinds = kinds
  }

  /** One number for a set of nodes: the same for sets that play the same part. */
  ofSet(nodes: Iterable<number>): number {
    this.#known ??= this.#colours()
    let sum = 0
    for (const node of nodes) sum = addMod(sum, this.#known[node] as number)
    return sum
  }

  #colours(): Float64Array {
    const { of, rank } = this.#kinds
    const start = Float64Array.from(of, (kind) => rank[kind] as number)
    return foldedColours(this.#graph, start, hashNotes(this.#graph))
  }
}

function noteText(note: EdgeNote): string {
  return note.side === 'inside' ? `+${note.offset}` : `${note.side} ${note.lanes}`
}
