import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted } from '../../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../../explain/variance/category-variance.ts'
import { varianceShare } from '../../charts/flow-order.ts'
import { drawnFlow, drawnName } from '../../charts/node-names.ts'
import { textWidth } from '../../charts/text-width.ts'
import {
  type FlowLayout,
  flowLayout,
  type PlacedBox,
  type Point,
} from '../../drawing/flow-layout.ts'
import { flowPart } from '../../drawing/flow-part.ts'

/** The flow of a category with everything in its place, in pixels from the top left corner. */
export interface VarianceGraph {
  readonly width: number
  readonly height: number
  readonly nodes: readonly GraphNode[]
  readonly links: readonly GraphLink[]
  /** Nodes in all, of which those are drawn. */
  readonly nodesInAll: number
}

/** A step. */
export interface GraphNode extends PlacedBox {
  readonly name: string
  readonly where: string
  /** The whole label. */
  readonly full: string
}

/** An edge. */
export interface GraphLink {
  /** Number of its class; `null` where nodes in between are left out. */
  readonly edge: number | null
  readonly points: readonly Point[]
  readonly label: Point
  readonly text: string
  /** Its share of the variance; `null` off the critical path, and where there are no shares. */
  readonly share: number | null
  readonly onPath: boolean
}

const MAX_NODES = 60
const MAX_NODE_LENGTH = 34
const PADDING = 16
/** Two lines: the share with the latency, and what it is marked as. */
const LABEL_HEIGHT = 28

/** Sizes of letters: names of nodes, where they are, and what stands beside edges. */
export const GRAPH_SIZES = { name: 12, where: 10, label: 11 } as const

/** A link before it has a place. */
type Sketch = Pick<GraphLink, 'edge' | 'text' | 'share' | 'onPath'> & {
  readonly from: number
  readonly to: number
}

/**
 * Lays out the flow of a category, each edge of the critical path with its share of the variance; of
 * a flow of more than 60 nodes those at the ends of the edges with the largest shares.
 */
export function varianceGraph(found: CategoryVariance): VarianceGraph {
  const { categories, category } = found
  const flow = drawnFlow(categories.structure(category))
  const { labels, from, to, classOf } = flow
  const known = new Map(found.edges.map((edge) => [edge.edge, edge]))
  const weight = (edge: number) => Math.abs(known.get(classOf[edge] as number)?.share || 0)
  const order = Array.from(from, (_, edge) => edge).sort((a, b) => weight(b) - weight(a) || a - b)
  const part = flowPart({ size: labels.length, from, to }, { order, limit: MAX_NODES })
  const sketches: Sketch[] = [
    ...part.edges.map((edge) => ({
      ...sketch(known.get(classOf[edge] as number), classOf[edge] as number),
      from: from[edge] as number,
      to: to[edge] as number,
    })),
    ...part.gaps.map((gap) => ({
      from: gap.from,
      to: gap.to,
      edge: null,
      share: null,
      onPath: false,
      text: `… ${counted(gap.nodes, 'node')}`,
    })),
  ]
  const names = part.nodes.map((node) =>
    drawnName(categories, flow, { category, node, longest: MAX_NODE_LENGTH }),
  )
  const layout = layoutOf(names, sketches, part.nodes)
  return {
    width: Math.ceil(layout.width),
    height: Math.ceil(layout.height),
    nodesInAll: flow.nextRound,
    nodes: layout.nodes.map((box, place) => ({
      ...rounded(box),
      ...(names[place] as (typeof names)[number]),
      full: tooltipText(labels[part.nodes[place] as number] as string),
    })),
    links: layout.edges.map(({ points, label }, i) => {
      const { edge, text, share, onPath } = sketches[i] as Sketch
      const places = { points: points.map(roundedPoint), label: roundedPoint(label) }
      return { edge, text, share, onPath, ...places }
    }),
  }
}

function sketch(edge: EdgeVariance | undefined, number: number) {
  if (edge === undefined) return { edge: number, text: '', share: null, onPath: false }
  const share = Number.isNaN(edge.share) ? null : edge.share
  return { edge: number, text: linkText(edge), share, onPath: true }
}

/** `37 % · 120 µs ± 80 µs`: its share of the variance, and how long it takes. */
function linkText({ share, meanUs, varianceUs2 }: EdgeVariance): string {
  const sd = Number.isNaN(varianceUs2) ? '' : ` ± ${formatDuration(Math.sqrt(varianceUs2))}`
  const latency = `${formatDuration(meanUs)}${sd}`
  return Number.isNaN(share) ? latency : `${varianceShare(share)} · ${latency}`
}

function layoutOf(
  names: readonly { readonly name: string; readonly where: string }[],
  sketches: readonly Sketch[],
  nodes: readonly number[],
): FlowLayout {
  const placeOf = new Map(nodes.map((node, place) => [node, place]))
  const { name: nameSize, where: whereSize, label: labelSize } = GRAPH_SIZES
  return flowLayout({
    nodes: names.map(({ name, where }) => ({
      width: PADDING + Math.max(textWidth(name, nameSize), textWidth(where, whereSize)),
      height: where === '' ? 24 : 36,
    })),
    edges: sketches.map(({ from, to, text, onPath }) => ({
      from: placeOf.get(from) as number,
      to: placeOf.get(to) as number,
      // A little wider: labels stand clear of thick edges.
      labelWidth: textWidth(text, labelSize) + 4,
      labelHeight: onPath ? LABEL_HEIGHT : LABEL_HEIGHT / 2,
    })),
  })
}

function rounded({ x, y, width, height }: PlacedBox): PlacedBox {
  return { ...roundedPoint({ x, y }), width: Math.round(width), height }
}

function roundedPoint({ x, y }: Point): Point {
  return { x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 }
}
