import { FlowdeltaError, OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { counted, grouped, percent } from '../../core/words.ts'
import type { AttentionGraph } from '../../logs/attention/attention.ts'
import { featureText } from '../../logs/features/features.ts'
import type { Chart } from './chart.ts'
import { framedChart, NARROWEST_CHART, type SpecPart } from './chart-frame.ts'
import { type DependencyLayout, dependencyLayout } from './dependency-layout.ts'
import { tText } from './log-values.ts'
import { PALETTE } from './palette.ts'
import { tellingVariables } from './telling-variables.ts'

/** What {@link plotDependencies} can be told. */
export interface DependenciesOptions {
  /** How many variables to draw, those that add most to the graph's score. Default 16. */
  readonly limit?: number
}

const X = { field: 'x', type: 'quantitative' } as const
const Y = { field: 'y', type: 'quantitative' } as const

/**
 * Draws a graph of dependencies between variables of logs: the metric at the right end, coloured;
 * letters as large as a variable diverges between the classes; lines as thick as the dependency is
 * strong; an arrow where one happened before the other in every instance.
 *
 * @param graph one of `focusAttention`'s graphs
 * @param options see {@link DependenciesOptions}
 * @throws OptionError for a limit below 1; FlowdeltaError for an unknown option, or no graph
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.3 and figures 3 to 7.
 *
 * @example
 * plotDependencies(logComparison.attention.best('event'))
 */
export function plotDependencies(
  graph: AttentionGraph | undefined,
  options: DependenciesOptions = {},
): Chart {
  rejectUnknownOptions(options, ['limit'])
  // What `attention.best(kind)` gives where the logs have no variables of the kind.
  if (graph === undefined) {
    throw new FlowdeltaError(
      'plotDependencies(graph) got no graph: the logs have no variable of that kind. Look at attention.graphs for those there are.',
    )
  }
  const { limit = 16 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of variables, 1 or more')
  const kept = tellingVariables(graph, limit)
  const drawn = dependencyLayout(graph, kept)
  const layout = { ...drawn, width: Math.max(NARROWEST_CHART, drawn.width) }
  const left = graph.nodes.length - kept.size
  return framedChart(
    {
      title: `What ${shortText(graph.metric, 60)} depends on: ${graph.kind}s by ${featureText(graph.featureType)}`,
      subtitle: subtitle(graph),
      omissions:
        left > 0
          ? [
              `${grouped(kept.size)} of ${counted(graph.nodes.length, 'variable')} are drawn, those that add most to the score.`,
            ]
          : [],
      width: layout.width,
    },
    {
      ...{ width: Math.ceil(layout.width), height: Math.ceil(layout.height) },
      layer: [lines(layout), ...arrows(layout), names(layout, graph)],
    },
  )
}

function subtitle({ nodes, edges, class: logClass }: AttentionGraph): string[] {
  if (nodes.length < 2) {
    return [`In the ${logClass} period it depends on no other logged variable.`]
  }
  return [
    `Learned from the ${logClass} period. Larger letters: differs more between before and after. Thicker lines: depends more strongly.`,
    ...(edges.some(({ directed }) => directed)
      ? ['Arrows: first one, then the other, in every instance.']
      : []),
    ...(nodes.some(({ significant }) => !significant)
      ? ['Grey letters: no significant difference.']
      : []),
    ...(edges.some(({ inTree }) => !inTree)
      ? ['Faint lines: dependencies beside those that the score is taken from.']
      : []),
  ]
}

/** Pixels as they are, from the top left corner. */
function pixels(length: number, down = false): SpecPart {
  const scale = { domain: [0, Math.ceil(length)], nice: false, zero: false, reverse: down }
  return { scale, axis: null }
}

function lines({ dependencies, width, height }: DependencyLayout): SpecPart {
  const values = dependencies.flatMap(({ edge, points, strokeWidth }, number) =>
    points.map(([x, y], order) => ({
      ...{ number, order, x: rounded(x), y: rounded(y), strokeWidth },
      colour: edge.inTree ? PALETTE.rest : PALETTE.faint,
      from: tooltipText(edge.from),
      to: tooltipText(edge.to),
      says: `splits up to ${percent(edge.weight)} of the instances, R² = ${edge.r2.toFixed(2)}`,
      order2: edge.directed ? 'the first before the second, always' : 'not always the same',
    })),
  )
  return {
    data: { values },
    mark: { type: 'line', strokeJoin: 'round' },
    encoding: {
      x: { ...X, ...pixels(width) },
      y: { ...Y, ...pixels(height, true) },
      order: { field: 'order', type: 'quantitative' },
      detail: { field: 'number', type: 'nominal' },
      color: { field: 'colour', type: 'nominal', scale: null },
      strokeWidth: { field: 'strokeWidth', type: 'quantitative', scale: null },
      tooltip: [
        { field: 'from', type: 'nominal', title: 'variable' },
        { field: 'to', type: 'nominal', title: 'and' },
        { field: 'says', type: 'nominal', title: 'dependency' },
        { field: 'order2', type: 'nominal', title: 'order in time' },
      ],
    },
  }
}

function arrows({ dependencies }: DependencyLayout): SpecPart[] {
  return [true, false].map((right) => ({
    data: {
      values: dependencies.flatMap(({ arrow, edge, strokeWidth }) =>
        arrow?.right === right
          ? [
              {
                ...{ x: rounded(arrow.x), y: rounded(arrow.y) },
                colour: edge.inTree ? PALETTE.rest : PALETTE.faint,
                size: Math.round(70 + 14 * strokeWidth),
              },
            ]
          : [],
      ),
    },
    mark: {
      ...{ type: 'point', shape: `triangle-${right ? 'right' : 'left'}`, filled: true },
      ...{ opacity: 1, xOffset: right ? -5 : 5, tooltip: false, aria: false },
    },
    encoding: {
      ...{ x: X, y: Y, color: { field: 'colour', type: 'nominal', scale: null } },
      size: { field: 'size', type: 'quantitative', scale: null },
    },
  }))
}

function names({ variables }: DependencyLayout, graph: AttentionGraph): SpecPart {
  const values = variables.map(({ node, label, fontSize, left, y }) => {
    const isMetric = node.name === graph.metric
    return {
      ...{ label, fontSize, x: rounded(left), y: rounded(y) },
      colour: isMetric ? PALETTE.change : node.significant ? PALETTE.text : PALETTE.rest,
      weight: isMetric ? 'bold' : 'normal',
      name: tooltipText(node.name),
      says: isMetric
        ? 'the performance metric'
        : node.significant
          ? `differs between before and after: t = ${tText(node.t)}`
          : 'no significant difference',
    }
  })
  const at = { x: X, y: Y, text: { field: 'label', type: 'nominal' } }
  const text = (isMetric: boolean) => ({
    transform: [{ filter: { field: 'weight', equal: isMetric ? 'bold' : 'normal' } }],
    mark: {
      ...{ type: 'text', align: 'left', baseline: 'middle' },
      fontWeight: isMetric ? 'bold' : 'normal',
    },
    encoding: {
      ...at,
      size: { field: 'fontSize', type: 'quantitative', scale: null, legend: null },
      color: { field: 'colour', type: 'nominal', scale: null },
      tooltip: [
        { field: 'name', type: 'nominal', title: 'variable' },
        { field: 'says', type: 'nominal', title: 'it' },
      ],
    },
  })
  const halo = {
    mark: {
      ...{ type: 'text', align: 'left', baseline: 'middle', tooltip: false, aria: false },
      ...{ color: 'white', stroke: 'white', strokeWidth: 5 },
    },
    encoding: {
      ...at,
      size: { field: 'fontSize', type: 'quantitative', scale: null, legend: null },
    },
  }
  return { data: { values }, layer: [halo, text(false), text(true)] }
}

function rounded(pixel: number): number {
  return Math.round(pixel * 10) / 10
}
