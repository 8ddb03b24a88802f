import type {
  EdgeComparison,
  ResponseTimeMutations,
} from '../../compare/mutations/response-time-mutations.ts'
import { OptionError } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { EDGE_KINDS, type FlowDrawing, FONT_SIZES, flowDrawing } from './flow-drawing.ts'
import { rootName } from './node-names.ts'
import { PALETTE } from './palette.ts'

/** What {@link plotFlow} can be told. */
export interface FlowChartOptions {
  /** Flows of up to this many nodes are drawn whole. Default 60. */
  readonly limit?: number
  /**
   * How many nodes of a larger flow to draw: the root and the ends of changed edges, those with
   * the largest change first, then those of the slowest edges. Default 30.
   */
  readonly keep?: number
}

const X = { field: 'x', type: 'quantitative' } as const
const Y = { field: 'y', type: 'quantitative' } as const

/**
 * Draws the flow that the requests of a category share, time running down, each edge with its
 * mean latency before → after. Edges whose latency changed significantly are red; concurrent
 * branches stand side by side and meet again where the request waits for all of them.
 *
 * @param responseTime a stage of `findResponseTimeMutations`
 * @param category number of the category
 * @param options see {@link FlowChartOptions}
 * @throws RangeError when there is no such category
 * @throws OptionError for a limit or a number of nodes to keep below 1
 *
 * Source: Sambasivan 2013, §2.3 (request-flow graphs) and §4.3 (what marks a change).
 *
 * @example
 * plotFlow(comparison.responseTime, comparison.ranking.mutations[0].category)
 */
export function plotFlow(
  responseTime: ResponseTimeMutations,
  category: number,
  { limit = 60, keep = 30 }: FlowChartOptions = {},
): Chart {
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of nodes, 1 or more')
  if (!(keep >= 1)) throw new OptionError('keep', keep, 'a number of nodes, 1 or more')
  const { categories } = responseTime
  const drawing = flowDrawing(responseTime, category, { limit, keep })
  return framedChart(
    {
      title: `Flow of ${rootName(categories, category, 60)} (category ${category})`,
      subtitle: [
        'Time runs down. Beside each edge stands its mean latency, before → after.',
        whole(responseTime, category),
        changes(drawing, responseTime.edges(category)),
      ],
      omissions: omissions(drawing),
      width: drawing.width,
    },
    {
      ...{ width: Math.ceil(drawing.width), height: Math.ceil(drawing.height) },
      layer: [lines(drawing), arrowheads(drawing), boxes(drawing), ...latencies(drawing)],
    },
  )
}

/** What the requests took as a whole. */
function whole({ categories }: ResponseTimeMutations, category: number): string {
  const times = [BEFORE, AFTER].map((period) => categories.responseTimeMoments(category, period))
  const [before, after] = times.map(({ count, mean }, period) => {
    const when = period === BEFORE ? 'before' : 'after'
    return count === 0
      ? `No request took this way ${when}`
      : `${formatDuration(mean)} on average over ${counted(count, 'request')} ${when}`
  })
  if (times.every(({ count }) => count > 0)) return `The whole took ${before}, ${after}.`
  return `${before}; ${after?.replace(/^No/, 'no')}.`
}

function changes({ changed }: FlowDrawing, all: readonly EdgeComparison[]): string {
  const tested = all.some(({ test }) => test?.testable === true)
  const [first] = changed
  if (first === undefined) {
    return tested ? 'No latency changed significantly.' : 'No latency could be tested.'
  }
  const shiftUs = first.afterMeanUs - first.beforeMeanUs
  const way = shiftUs < 0 ? 'less' : 'more'
  const count = counted(changed.length, 'latency', 'latencies')
  const ends = `${shortText(first.edge.from, 60)} to ${shortText(first.edge.to, 60)}`
  return `${count} changed significantly${changed.length > 1 ? ', most' : ':'} from ${ends}: ${formatDuration(Math.abs(shiftUs))} ${way}.`
}

function omissions({ nodes, nodesInAll }: FlowDrawing): string[] {
  if (nodes.length === nodesInAll) return []
  return [
    `${grouped(nodes.length)} of ${counted(nodesInAll, 'node')} are drawn: the root, and the ends of the edges that changed most or take longest.`,
  ]
}

/** Pixels as they are, from the top left corner. */
function pixels(length: number, { down = false } = {}): SpecPart {
  const scale = { domain: [0, Math.ceil(length)], nice: false, zero: false, reverse: down }
  return { scale, axis: null }
}

const KIND = { field: 'kind', type: 'ordinal' } as const
const LEGEND = { title: null, symbolType: 'stroke', symbolSize: 400, columns: 1 }
const LOOKS = [
  { kind: EDGE_KINDS.changed, color: PALETTE.change, width: 3.5, dash: [1, 0] },
  { kind: EDGE_KINDS.unchanged, color: PALETTE.rest, width: 1.5, dash: [1, 0] },
  { kind: EDGE_KINDS.untested, color: PALETTE.faint, width: 1.2, dash: [5, 3] },
  { kind: EDGE_KINDS.gap, color: PALETTE.rest, width: 2, dash: [1.5, 4] },
]

function lines({ edges, width, height }: FlowDrawing): SpecPart {
  const values = edges.flatMap(({ kind, points }, edge) =>
    points.map(({ x, y }, order) => ({ edge, kind, order, x: rounded(x), y: rounded(y) })),
  )
  const looks = LOOKS.filter(({ kind }) => edges.some((edge) => edge.kind === kind))
  const domain = looks.map(({ kind }) => kind)
  const styled = (range: unknown[]) => ({
    ...KIND,
    scale: { type: 'ordinal', domain, range },
    legend: LEGEND,
  })
  return {
    data: { values },
    mark: {
      ...{ type: 'line', interpolate: 'monotone', orient: 'horizontal', tooltip: false },
      aria: false,
    },
    encoding: {
      x: { ...X, ...pixels(width) },
      y: { ...Y, ...pixels(height, { down: true }) },
      order: { field: 'order', type: 'quantitative' },
      detail: { field: 'edge', type: 'nominal' },
      color: styled(looks.map(({ color }) => color)),
      strokeWidth: styled(looks.map((look) => look.width)),
      strokeDash: styled(looks.map(({ dash }) => dash)),
    },
  }
}

function arrowheads({ edges }: FlowDrawing): SpecPart {
  const values = edges.flatMap(({ kind, points }) => {
    const end = points.at(-1)
    return end === undefined ? [] : [{ kind, x: rounded(end.x), y: rounded(end.y) }]
  })
  const mark = { type: 'point', shape: 'triangle-down', filled: true, size: 55, opacity: 1 }
  return {
    data: { values },
    mark: { ...mark, yOffset: -4, aria: false, tooltip: false },
    encoding: { x: X, y: Y, color: KIND },
  }
}

function boxes({ nodes }: FlowDrawing): SpecPart {
  const pixelsOf = (each: FlowDrawing['nodes'][number]) =>
    Object.fromEntries(
      Object.entries(each).map(([name, value]) => [
        name,
        typeof value === 'number' ? rounded(value) : value,
      ]),
    )
  const text = (field: string, at: string, mark: SpecPart) => ({
    mark: { type: 'text', baseline: 'middle', ...mark },
    encoding: { x: X, y: { field: at, type: 'quantitative' }, text: { field, type: 'nominal' } },
  })
  return {
    data: { values: nodes.map(pixelsOf) },
    layer: [
      {
        mark: { type: 'rect', fill: 'white', stroke: '#888888', strokeWidth: 1, cornerRadius: 4 },
        encoding: {
          ...{ x: { field: 'left', type: 'quantitative' }, x2: { field: 'right' } },
          ...{ y: { field: 'top', type: 'quantitative' }, y2: { field: 'bottom' } },
          tooltip: [
            { field: 'full', type: 'nominal', title: 'node' },
            { field: 'where', type: 'nominal', title: 'where' },
          ],
        },
      },
      text('name', 'nameY', { fontSize: FONT_SIZES.name, color: '#111111' }),
      text('where', 'whereY', { fontSize: FONT_SIZES.where, color: PALETTE.softText }),
    ],
  }
}

/** Latencies beside their edges; those that changed in red and bold. */
function latencies({ edges }: FlowDrawing): SpecPart[] {
  return [true, false].map((changed) => ({
    data: {
      values: edges
        .filter(({ kind }) => (kind === EDGE_KINDS.changed) === changed)
        .map(({ label }) => ({ ...label, x: rounded(label.x), y: rounded(label.y) })),
    },
    mark: {
      ...{ type: 'text', align: 'left', baseline: 'middle', fontSize: FONT_SIZES.latency },
      ...(changed
        ? { color: PALETTE.change, fontWeight: 'bold' }
        : { color: PALETTE.softText, fontWeight: 'normal' }),
    },
    encoding: {
      ...{ x: X, y: Y, text: { field: 'text', type: 'nominal' } },
      tooltip: [
        { field: 'from', type: 'nominal', title: 'from' },
        { field: 'to', type: 'nominal', title: 'to' },
        { field: 'text', type: 'nominal', title: 'mean latency, before → after' },
        { field: 'test', type: 'nominal', title: 'KS test' },
      ],
    },
  }))
}

function rounded(pixel: number): number {
  return Math.round(pixel * 10) / 10
}
