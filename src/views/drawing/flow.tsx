import { greatest, range, sort } from 'd3-array'
import type { VNode } from 'preact'
import type { Categories } from '../../compare/categories/categories.ts'
import { type SampleTest, testText } from '../../compare/mutations/compare-samples.ts'
import {
  type EdgeComparison,
  LARGE_SHIFT,
  type ResponseTimeMutations,
} from '../../compare/mutations/find-response-time-mutations.ts'
import { defineOptions, most, type OptionsOf, oneOf, readOptions } from '../../core/options.ts'
import { formatAmount, fromToText, type Quantity, TIME } from '../../core/quantity.ts'
import { counted, grouped, percent, shortText, spoken, tooltipText } from '../../core/words.ts'
import { CORRECTED } from '../../explain/flow-pair/flow-comparison.ts'
import { failedSteps } from '../../explain/flow-pair/union-graph.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { drawnFlow, drawnName, rootName } from '../charts/node-names.ts'
import type { FlowLayout } from './flow-layout.ts'
import { LegendRows, layOutLegend } from './legend.tsx'
import {
  type GraphBox,
  type GraphLine,
  type LineLook,
  layOutGraph,
  NodeLink,
} from './node-link.tsx'
import type { Picture } from './picture.ts'

export const FLOW_DRAWING_OPTIONS = defineOptions({
  limit: most(60, 'nodes', 'Nodes up to which a flow is drawn whole'),
  keep: most(
    30,
    'nodes',
    'Nodes that are drawn of a larger flow: its root and the ends of changed edges, then those of the slowest edges',
  ),
  mark: oneOf(['large', 'rejected'], {
    default: 'large',
    sentence:
      "Edges marked as changed: 'large' ones, as in `edgeTable`, or all that the test rejects, as in the thesis",
  }),
})

export interface FlowPicture extends Picture {
  readonly boxes: readonly GraphBox[]
  readonly lines: readonly FlowLine[]
  readonly layout: FlowLayout
  readonly drawing: VNode
}

interface FlowLine extends GraphLine {
  readonly kind: LineKind
}

const KINDS = {
  changed: {
    text: `latency changed significantly, by ${percent(LARGE_SHIFT)} of the whole or more`,
    look: { color: 'change', width: 3.5 },
  },
  unchanged: {
    text: 'no significant change, or a smaller one',
    look: { color: 'soft', width: 1.5 },
  },
  untested: {
    text: 'not tested (few requests)',
    look: { color: 'soft', width: 1.2, dash: '5 3', opacity: 0.7 },
  },
  gap: { text: 'nodes in between are left out', look: { color: 'soft', width: 2, dash: '1.5 4' } },
} as const satisfies Record<string, { text: string; look: LineLook }>
type LineKind = keyof typeof KINDS

/** Meaning of lines if all edges that the test rejects are marked. */
const REJECTED: { readonly [kind in LineKind]?: { readonly text: string } } = {
  changed: { text: 'latency changed significantly, by however little' },
  unchanged: { text: 'no significant change' },
}

const MAX_NAME_LENGTH = 34
const MIN_WIDTH = 440

/**
 * Draws the flow of a category, time running down, with mean latencies before → after; significant
 * changes that are large are red. Source: Sambasivan 2013, §2.3 and §4.2.2.
 */
export function flowPicture(
  responseTime: ResponseTimeMutations,
  category: number,
  given: Partial<OptionsOf<typeof FLOW_DRAWING_OPTIONS>> = {},
): FlowPicture {
  const { limit, keep, mark } = readOptions(FLOW_DRAWING_OPTIONS, given)
  const { categories } = responseTime
  const { test } = responseTime.options
  const of = categories.flows.quantity
  const flow = drawnFlow(categories.structure(category))
  const { labels, classOf } = flow
  const [from, to] = [Array.from(flow.from), Array.from(flow.to)]
  const comparisons = responseTime.edges(category)
  const isChanged = mark === 'large' ? (edge: EdgeComparison) => edge.changed : isRejected
  const known = Array.from(classOf, (number) => comparisons[number]).filter(
    (each) => each !== undefined,
  )
  const part = flowPart(
    { size: labels.length, from: flow.from, to: flow.to },
    {
      order: edgesByWeight(known, isChanged),
      limit: labels.length > limit ? Math.min(limit, keep) : limit,
    },
  )
  const placeOf = new Map(part.nodes.map((node, place) => [node, place]))
  const place = (node: number | undefined) => placeOf.get(node ?? 0) ?? 0
  const full = (node: number | undefined) => tooltipText(labels[node ?? 0] ?? '')
  const failures = failureTexts(categories, category)
  const boxes = part.nodes.map((node): GraphBox => {
    const { name, where } = drawnName(categories, flow, {
      category,
      node,
      longest: MAX_NAME_LENGTH,
    })
    const failed = failures(node)
    if (failed === '') return { name, detail: where, tooltip: full(node) }
    const detail = spoken([where, failed]).join(' · ')
    return { name, detail, tooltip: `${full(node)}\n${failed}`, look: { stroke: 'text', width: 2 } }
  })
  const kindOf = (edge: EdgeComparison): LineKind =>
    isChanged(edge) ? 'changed' : edge.test.testable ? 'unchanged' : 'untested'
  const lines = [
    ...part.edges.flatMap((edge): FlowLine[] => {
      const comparison = known[edge]
      if (comparison === undefined) return []
      const ends = `${full(from[edge])} → ${full(to[edge])}`
      const text = latenciesText(comparison, of)
      const tooltip = `${ends}\nmean ${of === TIME ? 'latency' : of.name}, before → after: ${text}\n${testedText(comparison, test)}`
      const kind = kindOf(comparison)
      const { look } = KINDS[kind]
      const drawn = { kind, text, tooltip, look, isChanged: kind === 'changed' }
      return [{ from: place(from[edge]), to: place(to[edge]), ...drawn }]
    }),
    ...part.gaps.map(({ nodes, ...gap }): FlowLine => {
      const ends = { from: place(gap.from), to: place(gap.to) }
      return { ...ends, kind: 'gap', text: `… ${counted(nodes, 'node')}`, look: KINDS.gap.look }
    }),
  ]
  const layout = layOutGraph(boxes, lines)
  const entries = (Object.keys(KINDS) as LineKind[])
    .filter((kind) => lines.some((line) => line.kind === kind))
    .map((kind) => {
      const { look, text } = { ...KINDS[kind], ...(mark === 'rejected' && REJECTED[kind]) }
      return { look, text: of === TIME ? text : text.replace('latency changed', 'changed') }
    })
  const width = Math.ceil(Math.max(layout.width, MIN_WIDTH))
  const legend = layOutLegend(entries, width).height
  return {
    title: `Flow of ${rootName(categories, category, 100)} (category ${category})`,
    subtitle: [
      of === TIME
        ? 'Time runs down. Beside each edge stands its mean latency, before → after.'
        : `Calls run down. Beside each edge stands its mean of ${of.name}, before → after.`,
      wholeText(responseTime, category),
      changesText(comparisons, { isMarked: isChanged, isRejected, of }),
    ],
    omissions: [
      part.nodes.length < flow.nextRound &&
        `${grouped(part.nodes.length)} of ${counted(flow.nextRound, 'node')} are drawn: the root, and the ends of the edges that changed most or take longest.`,
    ],
    width,
    height: Math.ceil(layout.height) + legend,
    boxes,
    lines,
    layout,
    drawing: (
      <>
        <LegendRows entries={entries} width={width} />
        <g transform={`translate(${(width - layout.width) / 2} ${legend})`}>
          <NodeLink boxes={boxes} lines={lines} layout={layout} />
        </g>
      </>
    ),
  }
}

function failureTexts(categories: Categories, category: number): (node: number) => string {
  const periods = [BEFORE, AFTER].filter((period) => categories.count(category, period) > 0)
  const failed = periods.map((period) => failedSteps(categories, category, period))
  return (node) => {
    if (!failed.some((counts) => (counts[node] ?? 0) > 0)) return ''
    const texts = periods.map(
      (period, i) =>
        `${grouped(failed[i]?.[node] ?? 0)} of ${grouped(categories.count(category, period))}`,
    )
    return `failed: ${texts.join(' → ')}`
  }
}

/** Numbers of edges by how much they tell: those that changed by their shift, the rest by latency. */
function edgesByWeight(
  comparisons: readonly EdgeComparison[],
  isChanged: (edge: EdgeComparison) => boolean,
): number[] {
  const weight = (edge: EdgeComparison) =>
    isChanged(edge) ? shiftUs(edge) : Math.max(edge.beforeMeanUs || 0, edge.afterMeanUs || 0)
  return sort(
    comparisons.map((comparison, edge) => ({ comparison, edge })),
    ({ comparison }) => (isChanged(comparison) ? 0 : 1),
    ({ comparison }) => -weight(comparison),
  ).map(({ edge }) => edge)
}

/** Means before → after. An edge into a join has none where the join never waited for it. */
function latenciesText({ beforeMeanUs, afterMeanUs, edge }: EdgeComparison, of: Quantity): string {
  const isUnknown = Number.isNaN(beforeMeanUs) && Number.isNaN(afterMeanUs)
  if (isUnknown && edge.intoJoin) return 'never waited for'
  return fromToText(beforeMeanUs, afterMeanUs, of)
}

type EdgeFilter = (edge: EdgeComparison) => boolean

function isRejected({ test }: EdgeComparison): boolean {
  return test.rejected === true
}

function shiftUs({ beforeMeanUs, afterMeanUs }: EdgeComparison): number {
  return Math.abs(afterMeanUs - beforeMeanUs) || 0
}

function testedText({ test }: EdgeComparison, kind: SampleTest): string {
  const sizes = `${counted(test.beforeCount, 'request')} before, ${test.afterCount} after`
  if (!test.testable) return `not tested: ${sizes}`
  return `${testText(kind, { ...test, p: test.q })}, ${CORRECTED}; ${sizes}`
}

function wholeText({ categories }: ResponseTimeMutations, category: number): string {
  const [before, after] = [BEFORE, AFTER].map((period) => {
    const { count, mean } = categories.responseTimeMoments(category, period)
    const when = period === BEFORE ? 'before' : 'after'
    if (count === 0) return `no request ${when}`
    return `${formatAmount(mean, categories.flows.quantity)} on average over ${counted(count, 'request')} ${when}`
  })
  const { quantity } = categories.flows
  return `${quantity === TIME ? 'Response time' : quantity.name}: ${before}, ${after}.`
}

function changesText(
  all: readonly EdgeComparison[],
  { isMarked, isRejected, of }: Record<'isMarked' | 'isRejected', EdgeFilter> & { of: Quantity },
): string {
  const [one, several] = of === TIME ? ['latency', 'latencies'] : ['edge', 'edges']
  const marked = all.filter(isMarked)
  const rejected = all.filter(isRejected).length
  const smaller = rejected - marked.length
  const enough = isMarked === isRejected ? 'changed significantly' : 'changed enough to matter'
  const first = greatest(marked, shiftUs)
  if (first === undefined) {
    if (!all.some(({ test }) => test.testable === true)) return `No ${one} could be tested.`
    const but = smaller > 0 ? `, though ${grouped(smaller)} changed significantly` : ''
    return `No ${one} ${enough}${but}.`
  }
  const { edge, beforeMeanUs, afterMeanUs } = first
  const way = afterMeanUs < beforeMeanUs ? 'less' : 'more'
  const count =
    smaller > 0
      ? `${grouped(marked.length)} of the ${grouped(rejected)} ${several} that changed significantly also`
      : counted(marked.length, one, several)
  const ends = `${shortText(edge.from, 60)} to ${shortText(edge.to, 60)}`
  return `${count} ${enough}${marked.length > 1 ? ', most' : ':'} from ${ends}: ${formatAmount(shiftUs(first), of)} ${way}.`
}

interface FlowGap {
  readonly from: number
  readonly to: number
  /** Number of nodes on the ways between the two that meet no other drawn node. */
  readonly nodes: number
}

interface Flow {
  readonly size: number
  readonly from: Uint32Array
  readonly to: Uint32Array
}

interface PartOptions {
  readonly order: readonly number[]
  readonly limit: number
}

/** Returns at most `limit` nodes: the root and the ends of edges in `order`; gaps join the rest. */
export function flowPart(flow: Flow, { order, limit }: PartOptions) {
  const nodes = flow.size <= limit ? range(flow.size) : endsOf(flow, { order, limit })
  const drawn = new Set(nodes)
  const edges = [...flow.from.keys()].filter(
    (edge) => drawn.has(flow.from[edge] as number) && drawn.has(flow.to[edge] as number),
  )
  return { nodes, edges, gaps: nodes.length === flow.size ? [] : gapsOf(flow, { drawn, edges }) }
}

function endsOf({ from, to }: Flow, { order, limit }: PartOptions): number[] {
  const drawn = new Set([0])
  for (const edge of order) {
    const added = [from[edge] as number, to[edge] as number].filter((node) => !drawn.has(node))
    if (drawn.size + added.length > limit) break
    for (const node of added) drawn.add(node)
  }
  return [...drawn].sort((a, b) => a - b)
}

function gapsOf(
  { size, from, to }: Flow,
  { drawn, edges }: { drawn: ReadonlySet<number>; edges: readonly number[] },
): FlowGap[] {
  const neighbors = (near: Uint32Array, far: Uint32Array) => {
    const lists: number[][] = Array.from({ length: size }, () => [])
    near.forEach((node, edge) => {
      lists[node]?.push(far[edge] as number)
    })
    return (node: number) => lists[node] as readonly number[]
  }
  const [below, above] = [neighbors(from, to), neighbors(to, from)]
  const leftOut = (start: number, nextOf: (node: number) => readonly number[]) => {
    const next = (node: number) => nextOf(node).filter((each) => !drawn.has(each))
    return reachable(next(start), next)
  }
  const next = new Map<number, Set<number>>([...drawn].map((node) => [node, new Set<number>()]))
  for (const edge of edges) next.get(from[edge] as number)?.add(to[edge] as number)
  const gaps = [...drawn].flatMap((source) => {
    const passed = leftOut(source, below)
    const ends = new Set([...passed].flatMap(below).filter((end) => drawn.has(end)))
    return Array.from(ends, (end): FlowGap => {
      const back = leftOut(end, above)
      return { from: source, to: end, nodes: [...passed].filter((node) => back.has(node)).length }
    })
  })
  for (const gap of gaps) next.get(gap.from)?.add(gap.to)
  const followers = (node: number) => [...(next.get(node) ?? [])]
  // If another way leads from one end of a gap to the other, the gap tells nothing new.
  return gaps.filter((gap) => {
    const others = followers(gap.from).filter((node) => node !== gap.to)
    return !reachable(others, followers).has(gap.to)
  })
}

function reachable(start: readonly number[], nextOf: (node: number) => readonly number[]) {
  const found = new Set(start)
  // Nodes added on the way are visited, too.
  for (const node of found) for (const next of nextOf(node)) found.add(next)
  return found
}
