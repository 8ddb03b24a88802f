import type { EdgeComparison, ResponseTimeMutations } from '../mutations/response-time-mutations.ts'
import { formatDuration } from '../units.ts'
import { NARROWEST_CHART } from './chart-frame.ts'
import { edgeClassNumbers } from './edge-class-numbers.ts'
import { flowLayout } from './flow-layout.ts'
import { flowPart } from './flow-part.ts'
import { nodeName } from './node-names.ts'
import { tooltipText } from './shown-text.ts'
import { textWidth } from './text-width.ts'
import { pValue } from './wording.ts'

/** What edges are told apart by, in the words of the legend. */
export const EDGE_KINDS = {
  changed: 'latency changed significantly',
  unchanged: 'no significant change',
  untested: 'not tested (off the critical path, or few requests)',
} as const

/** A node as a row of the chart's data; pixels, y down. */
export interface DrawnNode {
  readonly x: number
  readonly y: number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly name: string
  readonly where: string
  readonly full: string
  /** Where each line of text stands. */
  readonly nameY: number
  readonly whereY: number
}

/** An edge as rows of the chart's data. */
export interface DrawnEdge {
  readonly edge: number
  readonly kind: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
  readonly labelX: number
  readonly labelY: number
  readonly label: string
  readonly from: string
  readonly to: string
  readonly test: string
}

/** A flow with everything in its place. */
export interface FlowDrawing {
  readonly width: number
  readonly height: number
  readonly nodes: readonly DrawnNode[]
  readonly edges: readonly DrawnEdge[]
  readonly nodesInAll: number
  /** Edge classes that changed, worst first. */
  readonly changed: readonly EdgeComparison[]
}

const LONGEST_NAME = 34
/** Sizes of letters: names of nodes, where they are, and latencies. */
export const FONT_SIZES = { name: 12, where: 10, latency: 11 } as const
const PADDING = 16

/** Lays out the flow of a category: at most `limit` nodes, those around changes first. */
export function flowDrawing(
  responseTime: ResponseTimeMutations,
  category: number,
  limit: number,
): FlowDrawing {
  const { categories } = responseTime
  const { labels, from, to } = categories.structure(category)
  const comparisons = responseTime.edges(category)
  const classOf = edgeClassNumbers(categories, category)
  const comparisonOf = (edge: number) => comparisons[classOf[edge] as number] as EdgeComparison
  const isChanged = (edge: number) => comparisonOf(edge).test?.rejected === true
  const changedEdges = Array.from(from, (_, edge) => edge).filter(isChanged)
  const part = flowPart({ size: labels.length, from, to }, { changed: changedEdges, limit })
  const names = part.nodes.map((node) =>
    nodeName(categories, { category, node, longest: LONGEST_NAME }),
  )
  const placeOf = new Map(part.nodes.map((node, place) => [node, place]))
  const texts = part.edges.map((edge) => latencies(comparisonOf(edge)))
  const layout = flowLayout({
    nodes: names.map(({ name, where }) => ({
      width: boxWidth(name, where),
      height: where === '' ? 24 : 36,
    })),
    edges: part.edges.map((edge, i) => ({
      from: placeOf.get(from[edge] as number) as number,
      to: placeOf.get(to[edge] as number) as number,
      labelWidth: textWidth(texts[i] as string, FONT_SIZES.latency),
      labelHeight: 14,
    })),
  })
  const width = Math.max(layout.width, NARROWEST_CHART)
  const shift = (width - layout.width) / 2
  return {
    ...{ width, height: layout.height, nodesInAll: labels.length },
    nodes: layout.nodes.map(({ x, y, width: boxed, height }, place) => ({
      ...{ x: x + shift, left: x + shift - boxed / 2, right: x + shift + boxed / 2 },
      ...{ y, top: y - height / 2, bottom: y + height / 2 },
      ...{ nameY: names[place]?.where === '' ? y : y - 7, whereY: y + 8 },
      ...(names[place] as { name: string; where: string }),
      full: tooltipText(labels[part.nodes[place] as number] as string),
    })),
    edges: layout.edges.map(({ points, label }, i) => {
      const edge = part.edges[i] as number
      const comparison = comparisonOf(edge)
      return {
        ...{ edge, kind: kindOf(comparison), label: texts[i] as string },
        points: points.map(({ x, y }) => ({ x: x + shift, y })),
        ...{ labelX: label.x + shift, labelY: label.y, test: testWords(comparison) },
        from: tooltipText(labels[from[edge] as number] as string),
        to: tooltipText(labels[to[edge] as number] as string),
      }
    }),
    changed: comparisons
      .filter(({ test }) => test?.rejected === true)
      .sort((a, b) => shiftUs(b) - shiftUs(a)),
  }
}

function boxWidth(name: string, where: string): number {
  return PADDING + Math.max(textWidth(name, FONT_SIZES.name), textWidth(where, FONT_SIZES.where))
}

/** By how much the mean latency of an edge changed, whichever way. */
function shiftUs({ beforeMeanUs, afterMeanUs }: EdgeComparison): number {
  return Math.abs(afterMeanUs - beforeMeanUs) || 0
}

/** Mean latency before → after; a dash for a period without a request. */
function latencies({ beforeMeanUs, afterMeanUs }: EdgeComparison): string {
  return `${latency(beforeMeanUs)} → ${latency(afterMeanUs)}`
}

function latency(meanUs: number): string {
  return Number.isFinite(meanUs) ? formatDuration(meanUs) : '–'
}

function kindOf({ test }: EdgeComparison): string {
  if (test === null || !test.testable) return EDGE_KINDS.untested
  return test.rejected ? EDGE_KINDS.changed : EDGE_KINDS.unchanged
}

function testWords({ test, onCriticalPath }: EdgeComparison): string {
  if (test === null) return onCriticalPath ? 'not tested' : 'not tested: off the critical path'
  if (!test.testable)
    return `not tested: ${test.beforeCount} requests before, ${test.afterCount} after`
  return (
    `D = ${test.statistic.toFixed(2)}, ${pValue(test.p)}; ` +
    `${test.beforeCount} requests before, ${test.afterCount} after`
  )
}
