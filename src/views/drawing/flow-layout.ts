import { graphlib, layout } from '@dagrejs/dagre'
import type { Point } from './path.ts'

export type { Point } from './path.ts'

/** A rectangle by its centre, in pixels. */
export interface PlacedBox extends Point {
  readonly width: number
  readonly height: number
}

/** Where everything stands, in pixels from the top left corner. */
export interface FlowLayout {
  readonly width: number
  readonly height: number
  /** One for each node given. */
  readonly nodes: readonly PlacedBox[]
  /** One for each edge given: the way it takes, and where its label begins. */
  readonly edges: readonly { readonly points: readonly Point[]; readonly label: Point }[]
}

/** A graph to be laid out; sizes are those of what is written in nodes and beside edges. */
export interface LayoutInput {
  readonly nodes: readonly { readonly width: number; readonly height: number }[]
  readonly edges: readonly { from: number; to: number; labelWidth: number; labelHeight: number }[]
}

const MARGIN = 8
/** How far an edge runs straight into a box: as long as its arrow. */
const ARROW = 8
/** How far from a box's corners edges stay. */
const CORNER = 14

/**
 * Lays a flow out in layers, time running down: every edge leads downwards, concurrent branches
 * stand side by side, and edge labels have room of their own, to the right of their edge.
 *
 * Source: Gansner et al. 1993, "A technique for drawing directed graphs", as in dagre.
 */
export function flowLayout({ nodes, edges }: LayoutInput): FlowLayout {
  const graph = new graphlib.Graph({ multigraph: true })
  graph.setGraph({
    rankdir: 'TB',
    nodesep: 24,
    edgesep: 14,
    ranksep: 38,
    marginx: MARGIN,
    marginy: MARGIN,
  })
  nodes.forEach((node, number) => {
    graph.setNode(String(number), { ...node })
  })
  edges.forEach(({ from, to, labelWidth, labelHeight }, number) => {
    const label = { width: labelWidth, height: labelHeight, labelpos: 'r', labeloffset: 6 }
    graph.setEdge(String(from), String(to), label, String(number))
  })
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return {
    ...{ width, height },
    nodes: nodes.map((_, number) => placedBox(graph.node(String(number)))),
    edges: edges.map(({ from, to, labelWidth, labelHeight }, number) => {
      const source = placedBox(graph.node(String(from)))
      const target = placedBox(graph.node(String(to)))
      const edge = graph.edge(String(from), String(to), String(number)) as unknown as LaidOutEdge
      const { points, x, y } = edge
      return {
        points: upright(points, { source, target, label: { y, height: labelHeight } }),
        label: { x: x - labelWidth / 2, y },
      }
    }),
  }
}

/**
 * The way of an edge, made to leave and to arrive straight downwards, within the two boxes, and to
 * pass its label straight, so that it does not cross it.
 */
function upright(
  points: readonly Point[],
  { source, target, label }: { source: PlacedBox; target: PlacedBox; label: LabelPlace },
): Point[] {
  const between = points.slice(1, -1).flatMap(({ x, y }) => {
    if (Math.abs(y - label.y) > 0.5) return [{ x, y }]
    return [
      { x, y: y - label.height / 2 - 1 },
      { x, y: y + label.height / 2 + 1 },
    ]
  })
  const startX = within(source, (between[0] ?? target).x)
  const endX = within(target, (between.at(-1) ?? source).x)
  const start = source.y + source.height / 2
  const end = target.y - target.height / 2
  return [
    { x: startX, y: start },
    { x: startX, y: start + 2 },
    ...between,
    { x: endX, y: end - ARROW },
    { x: endX, y: end },
  ]
}

/** Of the places on a box's edge where a line may end, the one nearest to `x`. */
function within({ x: centre, width }: PlacedBox, x: number): number {
  const room = Math.max(0, width / 2 - CORNER)
  return Math.min(centre + room, Math.max(centre - room, x))
}

interface LabelPlace {
  readonly y: number
  readonly height: number
}

/** What dagre adds to an edge. */
interface LaidOutEdge extends Point {
  readonly points: readonly Point[]
}

function placedBox(node: unknown): PlacedBox {
  const { x, y, width, height } = node as PlacedBox
  return { x, y, width, height }
}
