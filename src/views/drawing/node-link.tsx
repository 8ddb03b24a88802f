import { graphlib, layout } from '@dagrejs/dagre'
import type { JSX } from 'preact'
import { fittedText, textWidth } from '../charts/text-width.ts'
import { type Ink, Text, useInk } from './figure.tsx'
import { type Point, smoothPath, tenth } from './path.ts'

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
const ARROW_LENGTH = 8
const CORNER = 14

/** Lays a flow out in layers, time running down, labels right of edges. Source: Gansner et al. 1993, as in dagre. */
export function flowLayout({ nodes, edges }: LayoutInput) {
  const labels = edges.map(({ from, to, labelWidth: width, labelHeight: height }) => {
    return { from, to, width, height, labelpos: 'r', labeloffset: 6 }
  })
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
    { x: endX, y: end - ARROW_LENGTH },
    { x: endX, y: end },
  ]
}

function within({ x: centre, width }: PlacedBox, x: number): number {
  const room = Math.max(0, width / 2 - CORNER)
  return Math.min(centre + room, Math.max(centre - room, x))
}

export interface GraphBox {
  readonly name: string
  readonly detail: string
  readonly tooltip: string
  readonly look?: BoxLook
}

export interface BoxLook {
  readonly fill?: keyof Ink
  readonly stroke?: keyof Ink
  readonly width?: number
  readonly dash?: string | undefined
}

export interface LineLook {
  readonly color: keyof Ink
  readonly width: number
  readonly opacity?: number
  readonly dash?: string
}

export interface GraphLine {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly note?: string
  readonly tooltip?: string
  readonly look: LineLook
  readonly isChanged?: boolean
}

const SIZES = { name: 12, detail: 10.5, text: 11 } as const
const PADDING = 16
const LINE = 14
const ASIDE = 3
const MAX_WIDTH = 480
const ARROW = { half: 4, length: 8 }

export function boxSize(name: string, detail: string) {
  const widest = Math.max(textWidth(name, SIZES.name), textWidth(detail, SIZES.detail))
  return { width: Math.min(MAX_WIDTH, PADDING + widest), height: detail === '' ? 26 : 36 }
}

/** Places boxes in layers; `notes` reserves room for a second line of text next to lines. */
export function layOutGraph(
  boxes: readonly GraphBox[],
  lines: readonly Pick<GraphLine, 'from' | 'to' | 'text'>[],
  { notes = false }: { readonly notes?: boolean } = {},
): FlowLayout {
  return flowLayout({
    nodes: boxes.map(({ name, detail }) => boxSize(name, detail)),
    edges: lines.map(({ from, to, text }) => ({
      from,
      to,
      labelHeight: notes ? 2 * LINE : LINE,
      labelWidth: 1.08 * textWidth(text, SIZES.text) + ASIDE,
    })),
  })
}

interface NodeLinkProps {
  readonly boxes: readonly GraphBox[]
  readonly lines: readonly GraphLine[]
  readonly layout: FlowLayout
}

export function NodeLink({ boxes, lines, layout }: NodeLinkProps) {
  return (
    <g font-size={SIZES.text}>
      {layout.edges.map((placed, i) => (
        <Line key={i} line={lines[i] as GraphLine} {...placed} />
      ))}
      {layout.nodes.map((placed, i) => (
        <NodeBox key={i} box={boxes[i] as GraphBox} {...placed} />
      ))}
    </g>
  )
}

function Line({ line, points, label }: FlowLayout['edges'][number] & { readonly line: GraphLine }) {
  const { text, note, tooltip, look, isChanged = false } = line
  const ink = useInk()
  const path = smoothPath(points, 'y')
  const end = points.at(-1) ?? { x: 0, y: 0 }
  const textAt = { x: tenth(label.x + ASIDE), y: tenth(label.y + (note === undefined ? 4 : -2)) }
  return (
    <g fill="none" stroke-linejoin="round">
      {tooltip === undefined ? null : <title>{tooltip}</title>}
      {/* The pointer reaches more than the line. */}
      <path d={path} stroke="transparent" stroke-width="18" />
      <path d={path} {...strokeOf(look, ink)} />
      <path
        d={`M${tenth(end.x - ARROW.half)} ${tenth(end.y - ARROW.length)}h${2 * ARROW.half}L${tenth(end.x)} ${tenth(end.y)}Z`}
        style={`fill:${ink[look.color]}`}
        fill-opacity={look.opacity}
      />
      <Text
        {...textAt}
        color={isChanged ? 'changeText' : 'text'}
        font-weight={isChanged ? 600 : 400}
      >
        {text}
      </Text>
      {note === undefined ? null : (
        <Text color="soft" x={textAt.x} y={textAt.y + LINE} font-style="italic">
          {note}
        </Text>
      )}
    </g>
  )
}

export function strokeOf(
  { color, width, opacity, dash }: LineLook,
  ink: Ink,
): JSX.SVGAttributes<SVGPathElement> {
  return {
    'stroke-width': tenth(width),
    'stroke-opacity': opacity,
    'stroke-dasharray': dash,
    style: `stroke:${ink[color]}`,
  }
}

export function NodeBox({ box, x, y, width, height }: PlacedBox & { readonly box: GraphBox }) {
  const { name, detail, tooltip, look = {} } = box
  const { fill = 'raised', stroke = 'line', width: line, dash } = look
  const ink = useInk()
  const room = width - PADDING / 2
  return (
    <g text-anchor="middle">
      <title>{tooltip}</title>
      <rect
        class="fd-node"
        x={tenth(x - width / 2)}
        y={tenth(y - height / 2)}
        width={tenth(width)}
        height={height}
        rx={5}
        fill={ink[fill]}
        stroke={ink[stroke]}
        stroke-width={line}
        stroke-dasharray={dash}
      />
      <Text x={tenth(x)} y={tenth(detail === '' ? y + 4 : y - 2)} size={SIZES.name}>
        {fittedText(name, room, SIZES.name)}
      </Text>
      {detail === '' ? null : (
        <Text color="soft" x={tenth(x)} y={tenth(y + 12)} size={SIZES.detail}>
          {fittedText(detail, room, SIZES.detail)}
        </Text>
      )}
    </g>
  )
}
