import { graphlib, layout } from '@dagrejs/dagre'
import type { BoxLine } from './flow-chains.ts'

/** Something with a place from left to right and room on both sides of its middle. */
export interface ColumnSize {
  readonly left: number
  readonly right: number
}

/** Dagre's time grows faster than the graph: larger ones are ordered in one pass. */
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
 * graphs one pass of the barycentre method (Sugiyama et al. 1981), from top to bottom.
 */
export function wishedColumns(
  nodes: readonly ColumnSize[],
  edges: readonly (BoxLine & ColumnSize)[],
): WishedColumns {
  return nodes.length + edges.length > MOST_FOR_DAGRE
    ? rankedColumns(nodes, edges)
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
    // Dagre gives labels without any size no place.
    const label = { width: Math.max(1, left + right), height: 1, labelpos: 'c' }
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

/** Layer by layer, each node near the middle of what leads to it. */
function rankedColumns(
  nodes: readonly ColumnSize[],
  edges: readonly (BoxLine & ColumnSize)[],
): WishedColumns {
  const above: number[][] = nodes.map(() => [])
  for (const { from, to } of edges) above[to]?.push(from)
  const middles = new Float64Array(nodes.length)
  for (const layer of layersOf(nodes.length, edges)) {
    const wished = layer
      .map((node) => ({ node, wish: meanOf(above[node] as readonly number[], middles) }))
      .sort((a, b) => a.wish - b.wish || a.node - b.node)
    const width = wished.reduce((sum, { node }) => sum + widthOf(nodes[node]), 0)
    let edge = wished.reduce((sum, { wish }) => sum + wish, 0) / wished.length - width / 2
    for (const { node } of wished) {
      middles[node] = edge + (nodes[node]?.left ?? 0)
      edge += widthOf(nodes[node])
    }
  }
  return {
    nodes: Array.from(middles),
    edges: edges.map(({ from, to }) => meanOf([from, to], middles)),
  }
}

/** Nodes by how many edges are on the longest way to them. */
function layersOf(size: number, edges: readonly BoxLine[]): number[][] {
  const depths = new Uint32Array(size)
  for (const { from, to } of edges.toSorted((a, b) => a.from - b.from)) {
    depths[to] = Math.max(depths[to] as number, (depths[from] as number) + 1)
  }
  const layers: number[][] = []
  depths.forEach((depth, node) => {
    layers[depth] = [...(layers[depth] ?? []), node]
  })
  return layers
}

function widthOf(size: ColumnSize | undefined): number {
  return (size?.left ?? 0) + (size?.right ?? 0) + GAP
}

function meanOf(nodes: readonly number[], middles: Float64Array): number {
  if (nodes.length === 0) return 0
  return nodes.reduce((sum, node) => sum + (middles[node] as number), 0) / nodes.length
}
