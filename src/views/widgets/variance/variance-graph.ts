import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted } from '../../../core/words.ts'
import type { CategoryVariance, EdgeVariance } from '../../../explain/variance/category-variance.ts'
import { varianceShare } from '../../charts/flow-order.ts'
import { drawnFlow, drawnName } from '../../charts/node-names.ts'
import { flowPart } from '../../drawing/flow-part.ts'
import type { GraphBox, GraphLine } from '../../drawing/node-link.tsx'

/** The flow of a category as boxes and lines. */
export interface VarianceGraph {
  readonly nodes: readonly GraphBox[]
  readonly links: readonly VarianceLink[]
  /** Nodes in all, of which those are drawn. */
  readonly nodesInAll: number
}

/** An edge. */
export interface VarianceLink extends Pick<GraphLine, 'from' | 'to' | 'text'> {
  /** Number of its class; `null` where nodes in between are left out. */
  readonly edge: number | null
  /** Its share of the variance; `null` off the critical path, and where there are no shares. */
  readonly share: number | null
  readonly onPath: boolean
}

const MAX_NODES = 60
const MAX_NODE_LENGTH = 34

/**
 * Returns the flow of a category, each edge of the critical path with its share of the variance; of
 * a flow of more than 60 nodes those at the ends of the edges with the largest shares.
 */
export function varianceGraph(found: CategoryVariance): VarianceGraph {
  const { categories, category } = found
  const flow = drawnFlow(categories.structure(category))
  const { labels, from, to, classOf } = flow
  const known = new Map(found.edges.map((edge) => [edge.edge, edge]))
  const edgeOf = (edge: number) => known.get(classOf[edge] as number)
  const weight = (edge: number) => Math.abs(edgeOf(edge)?.share || 0)
  const order = [...from.keys()].sort((a, b) => weight(b) - weight(a) || a - b)
  const part = flowPart({ size: labels.length, from, to }, { order, limit: MAX_NODES })
  const ends = (start: number | undefined, end: number | undefined) => ({
    from: part.nodes.indexOf(start as number),
    to: part.nodes.indexOf(end as number),
  })
  return {
    nodesInAll: flow.nextRound,
    nodes: part.nodes.map((node) => {
      const { name, where } = drawnName(categories, flow, {
        ...{ category, node, longest: MAX_NODE_LENGTH },
      })
      return { name, detail: where, tooltip: tooltipText(labels[node] ?? '') }
    }),
    links: [
      ...part.edges.map((edge) => ({
        ...ends(from[edge], to[edge]),
        ...lineOf(edgeOf(edge)),
        edge: classOf[edge] as number,
      })),
      ...part.gaps.map((gap) => ({
        ...ends(gap.from, gap.to),
        ...{ edge: null, share: null, onPath: false, text: `… ${counted(gap.nodes, 'node')}` },
      })),
    ],
  }
}

/** `37 % · 120 µs ± 80 µs`: its share of the variance, and how long it takes. */
function lineOf(edge: EdgeVariance | undefined) {
  if (edge === undefined) return { text: '', share: null, onPath: false }
  const { share, meanUs, varianceUs2 } = edge
  const sd = Number.isNaN(varianceUs2) ? '' : ` ± ${formatDuration(Math.sqrt(varianceUs2))}`
  const latency = `${formatDuration(meanUs)}${sd}`
  return Number.isNaN(share)
    ? { text: latency, share: null, onPath: true }
    : { text: `${varianceShare(share)} · ${latency}`, share, onPath: true }
}
