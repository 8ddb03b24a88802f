import type {
  EdgeComparison,
  ResponseTimeMutations,
} from '../../compare/mutations/response-time-mutations.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, pValue } from '../../core/words.ts'
import { NARROWEST_CHART } from './chart-frame.ts'
import { drawnFlow } from './drawn-flow.ts'
import { type FlowLayout, flowLayout, type Point } from './flow-layout.ts'
import { type FlowPart, flowPart } from './flow-part.ts'
import { drawnName, type NodeName } from './node-names.ts'
import { textWidth } from './text-width.ts'

/** What edges are told apart by, in the words of the legend. */
export const EDGE_KINDS = {
  changed: 'latency changed significantly',
  unchanged: 'no significant change',
  untested: 'not tested (off the critical path, or few requests)',
  gap: 'nodes in between are left out',
} as const

/** A node as a row of the chart's data; pixels, y down. */
export interface DrawnNode extends Point, NodeName {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  /** The whole label. */
  readonly full: string
  /** Where each line of text stands. */
  readonly nameY: number
  readonly whereY: number
}

/** An edge: its line, and the row of its label. */
export interface DrawnEdge {
  readonly kind: string
  readonly points: readonly Point[]
  readonly label: {
    readonly x: number
    readonly y: number
    readonly text: string
    readonly from: string
    readonly to: string
    readonly test: string
  }
}

/** A flow with everything in its place. */
export interface FlowDrawing {
  readonly width: number
  readonly height: number
  readonly nodes: readonly DrawnNode[]
  readonly edges: readonly DrawnEdge[]
  readonly nodesInAll: number
  /** Edge classes that changed, the largest shift first. */
  readonly changed: readonly EdgeComparison[]
}

/** Sizes of letters: names of nodes, where they are, and latencies. */
export const FONT_SIZES = { name: 12, where: 10, latency: 11 } as const

const LONGEST_NAME = 34
const PADDING = 16

/** An edge before it has a place. */
interface EdgeSketch {
  readonly from: number
  readonly to: number
  readonly kind: string
  readonly text: string
  readonly test: string
}

/**
 * Lays out the flow of a category; of one with more than `limit` nodes only `keep`, those at the
 * ends of changed edges first.
 */
export function flowDrawing(
  responseTime: ResponseTimeMutations,
  category: number,
  { limit, keep }: { limit: number; keep: number },
): FlowDrawing {
  const { categories } = responseTime
  const flow = drawnFlow(categories.structure(category))
  const { labels, from, to, classOf } = flow
  const comparisons = responseTime.edges(category)
  const comparisonOf = (edge: number) => comparisons[classOf[edge] as number] as EdgeComparison
  const order = edgesByWeight(Array.from(from, (_, edge) => comparisonOf(edge)))
  const part = flowPart(
    { size: labels.length, from, to },
    { order, limit: labels.length > limit ? Math.min(limit, keep) : limit },
  )
  const names = part.nodes.map((node) =>
    drawnName(categories, flow, { category, node, longest: LONGEST_NAME }),
  )
  const edges = [
    ...part.edges.map((edge) => {
      return sketch(comparisonOf(edge), from[edge] as number, to[edge] as number)
    }),
    ...part.gaps.map(gapSketch),
  ]
  return {
    ...placed({ names, edges, labels, part }),
    nodesInAll: flow.nextRound,
    changed: comparisons.filter(isChanged).sort((a, b) => shiftUs(b) - shiftUs(a)),
  }
}

/** Edges by how much they tell: those that changed by their shift, then the rest by latency. */
function edgesByWeight(comparisons: readonly EdgeComparison[]): number[] {
  const latencyOf = ({ beforeMeanUs, afterMeanUs }: EdgeComparison) =>
    Math.max(beforeMeanUs || 0, afterMeanUs || 0)
  const weights = comparisons.map((each) => (isChanged(each) ? shiftUs(each) : latencyOf(each)))
  return comparisons
    .map((_, edge) => edge)
    .sort(
      (a, b) =>
        Number(isChanged(comparisons[b] as EdgeComparison)) -
          Number(isChanged(comparisons[a] as EdgeComparison)) ||
        (weights[b] as number) - (weights[a] as number) ||
        a - b,
    )
}

function placed({
  names,
  edges,
  labels,
  part,
}: {
  names: readonly NodeName[]
  edges: readonly EdgeSketch[]
  labels: readonly string[]
  part: FlowPart
}): Pick<FlowDrawing, 'width' | 'height' | 'nodes' | 'edges'> {
  const layout = layoutOf(names, edges, part)
  const width = Math.max(layout.width, NARROWEST_CHART)
  const shift = (width - layout.width) / 2
  const fullOf = (node: number) => tooltipText(labels[node] as string)
  return {
    ...{ width, height: layout.height },
    nodes: layout.nodes.map(({ x, y, width: boxed, height }, place) => ({
      ...{ x: x + shift, left: x + shift - boxed / 2, right: x + shift + boxed / 2 },
      ...{ y, top: y - height / 2, bottom: y + height / 2 },
      ...{ nameY: names[place]?.where === '' ? y : y - 7, whereY: y + 8 },
      ...(names[place] as NodeName),
      full: fullOf(part.nodes[place] as number),
    })),
    edges: layout.edges.map(({ points, label }, i) => {
      const { kind, text, test, from, to } = edges[i] as EdgeSketch
      return {
        kind,
        points: points.map(({ x, y }) => ({ x: x + shift, y })),
        label: { x: label.x + shift, y: label.y, text, test, from: fullOf(from), to: fullOf(to) },
      }
    }),
  }
}

function layoutOf(
  names: readonly NodeName[],
  edges: readonly EdgeSketch[],
  { nodes }: FlowPart,
): FlowLayout {
  const placeOf = new Map(nodes.map((node, place) => [node, place]))
  return flowLayout({
    nodes: names.map(({ name, where }) => ({
      width:
        PADDING + Math.max(textWidth(name, FONT_SIZES.name), textWidth(where, FONT_SIZES.where)),
      height: where === '' ? 24 : 36,
    })),
    edges: edges.map(({ from, to, text }) => ({
      from: placeOf.get(from) as number,
      to: placeOf.get(to) as number,
      labelWidth: textWidth(text, FONT_SIZES.latency),
      labelHeight: 14,
    })),
  })
}

function sketch(comparison: EdgeComparison, from: number, to: number): EdgeSketch {
  const text = latencies(comparison)
  return { from, to, text, kind: kindOf(comparison), test: testWords(comparison) }
}

function gapSketch({ from, to, nodes }: FlowPart['gaps'][number]): EdgeSketch {
  return { from, to, text: `… ${counted(nodes, 'node')}`, kind: EDGE_KINDS.gap, test: '–' }
}

/** Means before → after. An edge into a join has none where the join never waited for it. */
function latencies({ beforeMeanUs, afterMeanUs, edge }: EdgeComparison): string {
  const isUnknown = Number.isNaN(beforeMeanUs) && Number.isNaN(afterMeanUs)
  if (isUnknown && edge.intoJoin) return 'never waited for'
  return `${latency(beforeMeanUs)} → ${latency(afterMeanUs)}`
}

/** A mean latency; a dash for a period without a request. */
function latency(meanUs: number): string {
  return Number.isFinite(meanUs) ? formatDuration(meanUs) : '–'
}

function isChanged({ test }: EdgeComparison): boolean {
  return test?.rejected === true
}

/** By how much the mean latency of an edge changed, whichever way. */
function shiftUs({ beforeMeanUs, afterMeanUs }: EdgeComparison): number {
  return Math.abs(afterMeanUs - beforeMeanUs) || 0
}

function kindOf({ test }: EdgeComparison): string {
  if (test === null || !test.testable) return EDGE_KINDS.untested
  return test.rejected ? EDGE_KINDS.changed : EDGE_KINDS.unchanged
}

function testWords({ test }: EdgeComparison): string {
  if (test === null) return 'not tested: off the critical path'
  const sizes = `${counted(test.beforeCount, 'request')} before, ${test.afterCount} after`
  if (!test.testable) return `not tested: ${sizes}`
  return `D = ${test.statistic.toFixed(2)}, ${pValue(test.p)}; ${sizes}`
}
