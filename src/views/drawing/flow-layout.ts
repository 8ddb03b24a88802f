import { graphlib, layout } from '@dagrejs/dagre'
import type { Point } from './path.ts'

/** A rectangle by its centre, in pixels. */
export interface PlacedBox extends Point {
  readonly width: number
  readonly height: number
}

export type FlowLayout = ReturnType<typeof flowLayout>

interface LayoutInput {
  readonly nodes: readonly { readonly width: number; readonly height: number }[]
  readonly edges: readonly { from: number; to: number; labelWidth: number; labelHeight: number }[]
}

const MARGINS = { marginx: 8, marginy: 8 }
const ARROW = 8
const CORNER = 14

/**
 * Lays a flow out in layers, time running down, with room for labels right of their edges. Source:
 * Gansner et al. 1993, "A technique for drawing directed graphs", as in dagre.
 */
export function flowLayout({ nodes, edges }: LayoutInput) {
  const labels = edges.map(({ from, to, labelWidth: width, labelHeight: height }) => ({
    from,
    to,
    width,
    height,
    labelpos: 'r',
    labeloffset: 6,
  }))
  const settings = { rankdir: 'TB', nodesep: 24, edgesep: 14, ranksep: 24, ...MARGINS }
  const layered = layeredGraph(nodes, labels, settings)
  return {
    ...layered,
    edges: edges.map(({ from, to, labelWidth, labelHeight }, i) => {
      const { points, x, y } = layered.edges[i] as LaidOutEdge
      const ends = [layered.nodes[from] as PlacedBox, layered.nodes[to] as PlacedBox] as const
      return {
        points: upright(points, ends, { y, height: labelHeight }),
        label: { x: x - labelWidth / 2, y },
      }
    }),
  }
}

interface LaidOutEdge extends Point {
  readonly points: readonly Point[]
}

export function layeredGraph(
  boxes: LayoutInput['nodes'],
  edges: readonly { readonly from: number; readonly to: number }[],
  settings: Readonly<Record<string, unknown>>,
) {
  const graph = new graphlib.Graph({ multigraph: true })
  graph.setGraph({ ...settings })
  boxes.forEach(({ width, height }, number) => {
    graph.setNode(String(number), { width, height })
  })
  edges.forEach(({ from, to, ...label }, number) => {
    graph.setEdge(String(from), String(to), label, String(number))
  })
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return {
    width,
    height,
    nodes: boxes.map((_, number): PlacedBox => {
      const { x, y, ...size } = graph.node(String(number)) as PlacedBox
      return { x, y, width: size.width, height: size.height }
    }),
    edges: edges.map(
      ({ from, to }, i) =>
        graph.edge(String(from), String(to), String(i)) as unknown as LaidOutEdge,
    ),
  }
}

/** Makes an edge leave, arrive and pass its label straight downwards, so it does not cross it. */
function upright(
  points: readonly Point[],
  [source, target]: readonly [PlacedBox, PlacedBox],
  label: { readonly y: number; readonly height: number },
): Point[] {
  const aside = label.height / 2 + 1
  const between = points
    .slice(1, -1)
    .flatMap(({ x, y }) =>
      Math.abs(y - label.y) > 0.5 ? { x, y } : [-aside, aside].map((by) => ({ x, y: y + by })),
    )
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

function within({ x: centre, width }: PlacedBox, x: number): number {
  const room = Math.max(0, width / 2 - CORNER)
  return Math.min(centre + room, Math.max(centre - room, x))
}
