import type { LazyColours } from './folded-colours.ts'
import type { EdgeRows, FoldedGraph } from './folded-graph.ts'
import { type NodeKinds, refineKinds } from './node-kinds.ts'

/**
 * Sets of nodes that may be one step of each lane, the most promising first:
 * all nodes of a kind; nodes of a kind that follow, or precede, one and the same node; nodes of a
 * kind that follow each other in a chain; and last, nodes of a kind whose predecessors, or
 * successors, are of equal kinds.
 *
 * @param least sets with fewer nodes are left out
 */
export function* laneAnchors(
  graph: FoldedGraph,
  kinds: NodeKinds,
  {
    below,
    above,
    least,
    colours,
  }: { below: EdgeRows; above: EdgeRows; least: number; colours: LazyColours },
): Generator<Uint32Array> {
  yield* wholeKinds(kinds, least)
  const local = [
    ...besideOneNode(graph.to, below, { kinds, least }),
    ...besideOneNode(graph.from, above, { kinds, least }),
    ...chains(graph, kinds, least),
  ]
  const promise = local.map((nodes) => ({
    nodes,
    rank: kinds.rank[kinds.of[nodes[0] as number] as number] as number,
    colour: colours.ofSet(nodes),
  }))
  promise.sort((a, b) => b.nodes.length - a.nodes.length || a.rank - b.rank || a.colour - b.colour)
  for (const { nodes } of promise) yield nodes
  yield* wholeKinds(refineKinds(kinds, kindsBeside(graph.from, above, kinds)), least)
  yield* wholeKinds(refineKinds(kinds, kindsBeside(graph.to, below, kinds)), least)
}

/** The nodes of each kind; kinds first whose sizes, and those of others as large, cover most. */
function wholeKinds({ of, count, sizes, rank }: NodeKinds, least: number): Uint32Array[] {
  const equals = new Map<number, number>()
  for (const size of sizes) equals.set(size, (equals.get(size) ?? 0) + 1)
  const covered = (kind: number) =>
    (sizes[kind] as number) * (equals.get(sizes[kind] as number) as number)
  const sets = Array.from(sizes, (size) => new Uint32Array(size >= least ? size : 0))
  const filled = new Uint32Array(count)
  for (let node = 0; node < of.length; node++) {
    const kind = of[node] as number
    if ((sizes[kind] as number) < least) continue
    const at = filled[kind] as number
    ;(sets[kind] as Uint32Array)[at] = node
    filled[kind] = at + 1
  }
  return sets
    .map((nodes, kind) => ({ nodes, kind }))
    .filter(({ nodes }) => nodes.length >= least && nodes.length > 0)
    .sort(
      (a, b) =>
        covered(b.kind) - covered(a.kind) ||
        b.nodes.length - a.nodes.length ||
        (rank[a.kind] as number) - (rank[b.kind] as number),
    )
    .map(({ nodes }) => nodes)
}

/** Neighbours of one kind on one side of a node, where they are not all there are of that kind. */
function besideOneNode(
  far: Uint32Array,
  rows: EdgeRows,
  { kinds, least }: { kinds: NodeKinds; least: number },
): Uint32Array[] {
  const sets: Uint32Array[] = []
  for (let node = 0; node + 1 < rows.offsets.length; node++) {
    const [start, end] = [rows.offsets[node] as number, rows.offsets[node + 1] as number]
    if (end - start < least) continue
    const byKind = new Map<number, Set<number>>()
    for (let entry = start; entry < end; entry++) {
      const other = far[rows.edges[entry] as number] as number
      const kind = kinds.of[other] as number
      const known = byKind.get(kind)
      if (known === undefined) byKind.set(kind, new Set([other]))
      else known.add(other)
    }
    for (const [kind, nodes] of byKind) {
      if (nodes.size >= least && nodes.size < (kinds.sizes[kind] as number)) {
        sets.push(Uint32Array.from(nodes).sort())
      }
    }
  }
  return sets
}

/** Nodes linked by edges between equal kinds, where they are not all there are of their kind. */
function chains(
  { from, to, loops }: FoldedGraph,
  { of, sizes }: NodeKinds,
  least: number,
): Uint32Array[] {
  const parent = new Map<number, number>()
  const find = (node: number): number => {
    let root = node
    for (let up = parent.get(root); up !== undefined && up !== root; up = parent.get(root)) {
      parent.set(root, parent.get(up) ?? up)
      root = up
    }
    return root
  }
  for (let edge = 0; edge < from.length; edge++) {
    const [a, b] = [from[edge] as number, to[edge] as number]
    if (loops[edge] === 1 || of[a] !== of[b]) continue
    if (!parent.has(a)) parent.set(a, a)
    if (!parent.has(b)) parent.set(b, b)
    parent.set(find(a), find(b))
  }
  const sets = new Map<number, number[]>()
  for (const node of parent.keys()) {
    const root = find(node)
    const known = sets.get(root)
    if (known === undefined) sets.set(root, [node])
    else known.push(node)
  }
  return [...sets.values()]
    .filter((nodes) => {
      const all = sizes[of[nodes[0] as number] as number] as number
      return nodes.length >= least && nodes.length < all
    })
    .map((nodes) => Uint32Array.from(nodes).sort())
}

/** The kinds of a node's neighbours on one side, as text. */
function kindsBeside(far: Uint32Array, rows: EdgeRows, { of, rank }: NodeKinds) {
  return (node: number): string => {
    const edges = rows.edges.subarray(rows.offsets[node], rows.offsets[node + 1])
    const ranks = Array.from(edges, (edge) => rank[of[far[edge] as number] as number] as number)
    return ranks.sort((a, b) => a - b).join(' ')
  }
}
