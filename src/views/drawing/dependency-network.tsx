import { group, rollup } from 'd3-array'
import type { ComponentChildren, JSX } from 'preact'
import { counted, grouped, percent, shortText, tooltipText } from '../../core/words.ts'
import { tText } from '../../explain/logs/log-words.ts'
import {
  type AttentionGraph,
  type AttentionNode,
  attentionTree,
} from '../../logs/attention/focus-attention.ts'
import { featureText } from '../../logs/features/log-set.ts'
import { textWidth } from '../charts/text-width.ts'
import { useInk } from './figure.tsx'
import { layeredGraph, type PlacedBox } from './node-link.tsx'
import { type Point, smoothPath, tenth } from './path.ts'

export interface Picture {
  readonly title: string
  /** Sentences on how to read the picture and what it shows; `false` for none. */
  readonly subtitle: readonly (string | false)[]
  readonly omissions: readonly (string | false)[]
  readonly width: number
  readonly height: number
  readonly drawing: ComponentChildren
}

type DependencyLayout = ReturnType<typeof dependencyLayout>

const FONT = { min: 11, max: 19 }
const BOLD = 1.1
const STROKE = { min: 1.2, max: 5.5 }
const MAX_LABEL_LENGTH = 44
export const MAX_NAME_LENGTH = 60
const HEIGHT = 28
const MARGIN = 12
/** Room between a name and the lines that reach it. */
const NEAR = 6
const ARROW = 10

interface NetworkProps {
  readonly graph: AttentionGraph
  readonly layout: DependencyLayout
  readonly open?: string | null
  readonly handsOf?: (name: string) => JSX.SVGAttributes<SVGGElement>
}

/** Draws dependencies with the metric at the right: letters by difference, lines by strength. */
export function DependencyNetwork({ graph, layout, open = null, handsOf }: NetworkProps) {
  const { variables, dependencies } = layout
  return (
    <>
      {dependencies.map((dependency) => (
        <Dependency key={`${dependency.edge.from}\n${dependency.edge.to}`} {...dependency} />
      ))}
      {variables.map((variable) => (
        <g key={variable.node.name} {...handsOf?.(variable.node.name)}>
          <Variable
            {...variable}
            isMetric={variable.node.name === graph.metric}
            isOpen={variable.node.name === open}
          />
        </g>
      ))}
    </>
  )
}

function Dependency({ edge, points, strokeWidth }: DependencyLayout['dependencies'][number]) {
  const ink = useInk()
  const ends = [edge.from, edge.to].map((name) => shortText(name, MAX_NAME_LENGTH))
  const way = ends.join(edge.directed ? ' before ' : ' with ')
  const opacity = edge.inTree ? 0.75 : 0.32
  const [start, end] = [points[0], points.at(-1)] as [Point, Point]
  const half = 4 + strokeWidth / 2
  const back = start.x <= end.x ? -ARROW : ARROW
  const tip = { x: end.x + back, y: end.y }
  const isBefore = ({ x }: Point) => (back < 0 ? x <= tip.x : x >= tip.x)
  const line = edge.directed ? [...points.filter(isBefore), tip] : points
  return (
    <g stroke-opacity={opacity} fill-opacity={opacity} data-in-tree={edge.inTree}>
      <title>{`${way}, ${percent(edge.weight)}, R² = ${edge.r2.toFixed(2)}`}</title>
      <path
        d={smoothPath(line, 'x')}
        fill="none"
        stroke-width={tenth(strokeWidth)}
        stroke-linejoin="round"
        style={`stroke:${ink.soft}`}
      />
      {edge.directed ? (
        <path
          d={`M${tenth(end.x)},${tenth(end.y)}l${back},${-half}v${2 * half}Z`}
          style={`fill:${ink.soft}`}
        />
      ) : null}
    </g>
  )
}

type VariableProps = DependencyLayout['variables'][number] & { isMetric: boolean; isOpen: boolean }

function Variable({ node, label, fontSize, width, x, y, isMetric, isOpen }: VariableProps) {
  const ink = useInk()
  const color = isMetric ? ink.changeText : node.significant ? ink.text : ink.soft
  return (
    <g transform={`translate(${tenth(x)} ${tenth(y)})`}>
      <title>
        {tooltipText(node.name)}: {isMetric ? 'performance; ' : ''}
        {differenceText(node)}
      </title>
      <rect
        class="fd-logs-name"
        rx={4}
        x={tenth(-width / 2) - 4}
        y={-HEIGHT / 2}
        width={tenth(width + 8)}
        height={HEIGHT}
        fill="transparent"
      />
      <text
        font-size={tenth(fontSize)}
        text-anchor="middle"
        dominant-baseline="central"
        font-weight={isMetric ? 700 : 400}
        style={`fill:${color}`}
      >
        {label}
      </text>
      {isOpen ? (
        <path
          d={`M${tenth(-width / 2)} ${tenth(fontSize / 2 + 3)}h${tenth(width)}`}
          stroke-width={2}
          style={`stroke:${ink.text}`}
        />
      ) : null}
    </g>
  )
}

export function dependencyLayout(graph: AttentionGraph, limit: number) {
  const kept = tellingVariables(graph, limit)
  const nodes = graph.nodes.filter(({ name }) => kept.has(name))
  const edges = graph.edges
    .filter(({ from, to }) => kept.has(from) && kept.has(to))
    .sort((a, b) => Number(a.inTree) - Number(b.inTree))
  const { depth } = attentionTree({ ...graph, nodes, edges })
  const placeOf = new Map(nodes.map(({ name }, place) => [name, place]))
  const links = edges.map((edge) => {
    const isTowardsMetric = (depth.get(edge.from) ?? 0) >= (depth.get(edge.to) ?? 0)
    const [from, to] = isTowardsMetric ? [edge.from, edge.to] : [edge.to, edge.from]
    return { edge, from: placeOf.get(from) ?? 0, to: placeOf.get(to) ?? 0, isTowardsMetric }
  })
  const variables = nodes.map((node) => {
    const fontSize = FONT.min + (FONT.max - FONT.min) * Math.min(1, node.divergence)
    const label = shortText(node.name, MAX_LABEL_LENGTH)
    const boldness = node.name === graph.metric ? BOLD : 1
    return { node, fontSize, label, width: boldness * textWidth(label, fontSize) }
  })
  const layered = layeredGraph(
    variables.map(({ width }) => ({ width: width + 2 * NEAR, height: HEIGHT })),
    links.map(({ edge, from, to }) => ({ from, to, weight: edge.inTree ? 8 : 1 })),
    { rankdir: 'LR', ranksep: 64, nodesep: 8, edgesep: 8, marginx: MARGIN, marginy: MARGIN },
  )
  const strongest = Math.max(...edges.map(({ weight }) => weight))
  // Range of the names of a column, by the middle of the column.
  const columns = rollup(
    layered.nodes,
    (boxes): Extent => [
      Math.min(...boxes.map(({ x, width }) => x - width / 2)),
      Math.max(...boxes.map(({ x, width }) => x + width / 2)),
    ],
    ({ x }) => x,
  )
  return {
    width: layered.width,
    height: layered.height,
    variables: variables.map((variable, i) => {
      const { x, y } = layered.nodes[i] as PlacedBox
      return { ...variable, x, y }
    }),
    dependencies: links.map(({ edge, from, to, isTowardsMetric }, i) => {
      const between = layered.edges[i]?.points.slice(1, -1) ?? []
      const ends = [layered.nodes[from], layered.nodes[to]] as [PlacedBox, PlacedBox]
      const way = wayBetween(ends, between, columns)
      return {
        edge,
        points: isTowardsMetric ? way : way.toReversed(),
        strokeWidth: STROKE.min + ((STROKE.max - STROKE.min) * edge.weight) / strongest,
      }
    }),
  }
}

type Extent = readonly [left: number, right: number]

/** Returns a line that passes every column straight, between its names, and bends only between columns. */
function wayBetween(
  [start, end]: readonly [PlacedBox, PlacedBox],
  between: readonly Point[],
  columns: ReadonlyMap<number, Extent>,
): readonly Point[] {
  return [
    { x: start.x + start.width / 2, y: start.y },
    { x: columns.get(start.x)?.[1] ?? start.x, y: start.y },
    ...between.flatMap(({ x, y }) => (columns.get(x) ?? []).map((side) => ({ x: side, y }))),
    { x: columns.get(end.x)?.[0] ?? end.x, y: end.y },
    { x: end.x - end.width / 2, y: end.y },
  ]
}

/** Returns the metric, and the variables that add most to the score with all that lead from them to it. */
export function tellingVariables(graph: AttentionGraph, limit: number): ReadonlySet<string> {
  const kept = new Set(graph.nodes.map(({ name }) => name))
  const links = graph.edges.filter(({ inTree }) => inTree)
  const ends = links.flatMap(({ from, to }) => [
    { name: from, other: to },
    { name: to, other: from },
  ])
  const near = group(ends, ({ name }) => name)
  const isLeaf = (name: string) =>
    (near.get(name) ?? []).filter(({ other }) => kept.has(other)).length < 2
  // Smallest contributions first; the metric, which stands first in a graph, always stays.
  const rising = graph.nodes.slice(1).toReversed()
  while (kept.size > limit) {
    const leaf = rising.find(({ name }) => kept.has(name) && isLeaf(name))
    if (leaf === undefined) break
    kept.delete(leaf.name)
  }
  return kept
}

export function dependencyPicture(graph: AttentionGraph, limit: number): Picture {
  const drawn = dependencyLayout(graph, limit)
  const left = graph.nodes.length - drawn.variables.length
  return {
    title: dependencyTitle(graph),
    subtitle:
      graph.nodes.length < 2
        ? [`In the ${graph.class} period it depends on no other logged variable.`]
        : [`Learned from the ${graph.class} period.`, ...readingSentences(graph)],
    omissions: [
      left > 0 &&
        `${grouped(drawn.variables.length)} of ${counted(graph.nodes.length, 'variable')} are drawn, those that add most to the score.`,
    ],
    width: drawn.width,
    height: drawn.height,
    drawing: <DependencyNetwork graph={graph} layout={drawn} />,
  }
}

export function dependencyTitle({ metric, kind, featureType }: AttentionGraph): string {
  return `What ${shortText(metric, MAX_NAME_LENGTH)} depends on: ${kind}s by ${featureText(featureType)}`
}

/** Explains how to read the letters, lines and arrows of the drawing. */
export function readingSentences({ nodes, edges }: Pick<AttentionGraph, 'nodes' | 'edges'>) {
  return [
    'Larger letters: differs more between before and after. Thicker lines: depends more strongly.',
    edges.some(({ directed }) => directed) && 'Arrows: always in this order.',
    edges.some(({ inTree }) => !inTree) && 'Faint lines do not count in the score.',
    nodes.some(({ significant }) => !significant) && 'Gray letters: no significant difference.',
  ]
}

export function differenceText({ t, significant }: Pick<AttentionNode, 't' | 'significant'>) {
  if (Number.isNaN(t)) return 'not tested'
  return significant ? `t = ${tText(t)}` : `t = ${tText(t)}, not significant`
}
