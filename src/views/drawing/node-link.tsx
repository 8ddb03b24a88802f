import type { JSX } from 'preact'
import { textWidth } from '../charts/text-width.ts'
import { type Ink, Text, useInk } from './figure.tsx'
import { type FlowLayout, flowLayout, type PlacedBox } from './flow-layout.ts'
import { smoothPath, tenth } from './path.ts'
import { fittedText } from './text.ts'

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
