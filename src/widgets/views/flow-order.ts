import { graphlib, layout } from '@dagrejs/dagre'
import type { BoxLine } from './flow-chains.ts'

/** Something with a place from left to right and room on both sides of its middle. */
export interface ColumnSize {
  readonly left: number
  readonly right: number
}

/** Dagre's time grows faster than the graph: larger ones are ordered as trees. */
const MOST_FOR_DAGRE = 250

const GAP = 18

/** Wished-for middles, in pixels. */
export interface WishedColumns {
  readonly nodes: readonly number[]
  readonly edges: readonly number[]
}

/**
 * Where nodes and edges would like to stand from left to right, so that few edges cross.
 *
 * Source: Gansner et al. 1993, "A technique for drawing directed graphs", as in dagre; for large
 * graphs, their order as trees: each below the first that leads to it.
 */
export function wishedColumns(
  nodes: readonly ColumnSize[],
  edges: readonly (BoxLine & ColumnSize)[],
): WishedColumns {
  return nodes.length + edges.length > MOST_FOR_DAGRE
    ? treeColumns(nodes, edges)
    : layeredColumns(nodes, edges)
}

function layeredColumns(
  nodes: readonly ColumnSize[],
  edges: readonly (BoxLine & ColumnSize)[],
): WishedColumns {
  const graph = new graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'TB', nodesep: GAP, edgesep: GAP, ranksep: 20 })
  nodes.forEach(({ left, right }, node) => {
    graph.setNode(String(node), { width: 2 * Math.max(left, right), height: 20 })
  })
  edges.forEach(({ from, to, left, right }, edge) => {
    const label = { width: left + right, height: 1, labelpos: 'c' }
    graph.setEdge(String(from), String(to), label, String(edge))
  })
  layout(graph)
  return {
    nodes: nodes.map((_, node) => (graph.node(String(node)) as { x: number }).x),
    edges: edges.map(({ from, to, left, right }, edge) => {
      const { x } = graph.edge(String(from), String(to), String(edge)) as unknown as { x: number }
      return x - (left + right) / 2 + left
    }),
  }
}

/** Leaves from left to right in the order of a walk, every other node over the middle of its own. */
function treeColumns(
  nodes: readonly ColumnSize[],
  edges: readonly (BoxLine & ColumnSize)[],
): WishedColumns {
  const below: number[][] = nodes.map(() => [])
  const parent = new Int32Array(nodes.length).fill(-1)
  for (const { from, to } of edges) {
    if ((parent[to] as number) >= 0) continue
    parent[to] = from
    below[from]?.push(to)
  }
  const middles = new Float64Array(nodes.length)
  let edge = 0
  const pending = nodes.flatMap((_, node) => ((parent[node] as number) < 0 ? [node] : [])).reverse()
  const order: number[] = []
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    order.push(node)
    const inner = below[node] as readonly number[]
    pending.push(...inner.toReversed())
    if (inner.length > 0) continue
    const { left, right } = nodes[node] as ColumnSize
    middles[node] = edge + left
    edge += left + right + GAP
  }
  for (const node of order.toReversed()) {
    const inner = below[node] as readonly number[]
    if (inner.length === 0) continue
    const [first, last] = [inner[0] as number, inner.at(-1) as number]
    middles[node] = ((middles[first] as number) + (middles[last] as number)) / 2
  }
  return {
    nodes: Array.from(middles),
    edges: edges.map(({ from, to }) => ((middles[from] as number) + (middles[to] as number)) / 2),
  }
}
