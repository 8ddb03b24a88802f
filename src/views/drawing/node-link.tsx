import type { JSX } from 'preact'
import { textWidth } from '../charts/text-width.ts'
import { type FlowLayout, flowLayout, type Point } from './flow-layout.ts'
import { type Ink, useInk } from './ink.ts'
import { tenth } from './path.ts'
import { fittedText } from './text.ts'

/** A box of a graph. */
export interface GraphBox {
  readonly name: string
  /** A smaller second line; empty for none. */
  readonly detail: string
  /** All of it, for tooltips. */
  readonly tooltip: string
}

/** How a line of a graph looks, in terms of the ink. */
export interface LineLook {
  readonly color: keyof Ink
  readonly width: number
  readonly opacity?: number
  readonly dash?: string
}

/** A line of a graph, from the upper box to the lower. */
export interface GraphLine {
  /** Numbers of boxes. */
  readonly from: number
  readonly to: number
  /** Text beside it; empty for none. */
  readonly text: string
  /** A second line below the text, in italics. */
  readonly note?: string
  readonly tooltip?: string
  readonly look: LineLook
  /** Its text is bold and in the color of changes. */
  readonly isChanged?: boolean
  /** What it is laid over, such as a broad faint stroke for what is selected. */
  readonly halo?: LineLook
}

const SIZES = { name: 12, detail: 10, text: 11 } as const
const PADDING = 16
const LINE = 14
/** Room between a line and its text, for thick lines. */
const ASIDE = 3
const MAX_NAME_WIDTH = 280
const ARROW = { half: 4, length: 8 }

/**
 * Places boxes in layers from top to bottom, each line with room for its text.
 *
 * @param options `notes` reserves room for a second line of text beside each line
 */
export function layOutGraph(
  boxes: readonly GraphBox[],
  lines: readonly Pick<GraphLine, 'from' | 'to' | 'text'>[],
  { notes = false }: { readonly notes?: boolean } = {},
): FlowLayout {
  return flowLayout({
    nodes: boxes.map(({ name, detail }) => ({
      width: Math.min(
        MAX_NAME_WIDTH,
        PADDING + Math.max(textWidth(name, SIZES.name), textWidth(detail, SIZES.detail)),
      ),
      height: detail === '' ? 24 : 36,
    })),
    edges: lines.map(({ from, to, text }) => ({
      from,
      to,
      labelWidth: 1.08 * textWidth(text, SIZES.text) + ASIDE,
      labelHeight: notes ? 2 * LINE : LINE,
    })),
  })
}

interface NodeLinkProps {
  readonly boxes: readonly GraphBox[]
  readonly lines: readonly GraphLine[]
  readonly layout: FlowLayout
  /** Make boxes and lines answer to pointer and keyboard, by number. */
  readonly boxHands?: (box: number) => object | undefined
  readonly lineHands?: (line: number) => object | undefined
}

/** Draws a graph that {@link layOutGraph} placed: lines with arrows and text, boxes above them. */
export function NodeLink({ boxes, lines, layout, boxHands, lineHands }: NodeLinkProps) {
  return (
    <g font-size={SIZES.text}>
      {lines.map((line, i) => {
        const placed = layout.edges[i]
        return placed === undefined ? null : (
          <g key={i} {...lineHands?.(i)}>
            <Line line={line} {...placed} />
          </g>
        )
      })}
      {boxes.map((box, i) => {
        const placed = layout.nodes[i]
        return placed === undefined ? null : (
          <g key={i} {...boxHands?.(i)}>
            <Box box={box} {...placed} />
          </g>
        )
      })}
    </g>
  )
}

function Line({
  line: { text, note, tooltip, look, isChanged = false, halo },
  points,
  label,
}: {
  readonly line: GraphLine
  readonly points: readonly Point[]
  readonly label: Point
}) {
  const ink = useInk()
  const path = linePath(points)
  const end = points.at(-1) ?? { x: 0, y: 0 }
  const textY = label.y + (note === undefined ? 4 : -2)
  return (
    <g fill="none" stroke-linejoin="round">
      {tooltip === undefined ? null : <title>{tooltip}</title>}
      {/* The pointer reaches more than the line; with the focus it is a ring around the line. */}
      <path class="fd-line-ring" d={path} stroke="transparent" stroke-width="18" />
      <path class="fd-line-gap" d={path} stroke="transparent" stroke-width="13" />
      {halo === undefined ? null : <path d={path} {...strokeOf(halo, ink)} />}
      <path d={path} {...strokeOf(look, ink)} />
      <path
        d={`M${end.x - ARROW.half} ${tenth(end.y - ARROW.length)}h${2 * ARROW.half}L${tenth(end.x)} ${tenth(end.y)}Z`}
        style={`fill:${ink[look.color]}`}
        fill-opacity={look.opacity}
      />
      <text
        x={tenth(label.x + ASIDE)}
        y={tenth(textY)}
        font-weight={isChanged ? 600 : 400}
        style={`fill:${isChanged ? ink.changeText : ink.text}`}
      >
        {text}
      </text>
      {note === undefined ? null : (
        <text
          x={tenth(label.x + ASIDE)}
          y={tenth(textY + LINE)}
          font-style="italic"
          style={`fill:${ink.soft}`}
        >
          {note}
        </text>
      )}
    </g>
  )
}

function strokeOf(
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

function Box({
  box: { name, detail, tooltip },
  x,
  y,
  width,
  height,
}: {
  readonly box: GraphBox
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}) {
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
        rx={4}
        style={`fill:${ink.raised};stroke:${ink.line}`}
      />
      <text
        x={tenth(x)}
        y={tenth(detail === '' ? y + 4 : y - 2)}
        font-size={SIZES.name}
        style={`fill:${ink.text}`}
      >
        {fittedText(name, room, SIZES.name)}
      </text>
      {detail === '' ? null : (
        <text x={tenth(x)} y={tenth(y + 12)} font-size={SIZES.detail} style={`fill:${ink.soft}`}>
          {fittedText(detail, room, SIZES.detail)}
        </text>
      )}
    </g>
  )
}

/** What a kind of line means. */
export interface LegendEntry {
  readonly text: string
  readonly look: LineLook
}

const SAMPLE = 28
const BETWEEN = 18
const ROW = 20

/** Returns where the entries of a legend stand in rows of a width, and how high it is. */
export function layOutLegend(entries: readonly LegendEntry[], width: number) {
  let [x, y] = [0, 0]
  const places = entries.map(({ text }) => {
    const needed = SAMPLE + 6 + textWidth(text, SIZES.text)
    if (x > 0 && x + needed > width) [x, y] = [0, y + ROW]
    const place = { x, y }
    x += needed + BETWEEN
    return place
  })
  return { places, height: entries.length === 0 ? 0 : y + ROW }
}

/** Explains the lines of a graph. */
export function LineLegend({
  entries,
  width,
}: {
  readonly entries: readonly LegendEntry[]
  readonly width: number
}) {
  const ink = useInk()
  const { places } = layOutLegend(entries, width)
  return (
    <g font-size={SIZES.text}>
      {entries.map(({ text, look }, i) => (
        <g key={text} transform={`translate(${tenth(places[i]?.x ?? 0)} ${places[i]?.y ?? 0})`}>
          <path d={`M0 ${ROW / 2}h${SAMPLE}`} {...strokeOf(look, ink)} />
          <text x={SAMPLE + 6} y={ROW / 2 + 4} style={`fill:${ink.text}`}>
            {text}
          </text>
        </g>
      ))}
    </g>
  )
}

function linePath(points: readonly Point[]): string {
  return smoothed(points)
    .map(([command, ...numbers]) => `${command}${numbers.map((each) => tenth(each)).join(' ')}`)
    .join('')
}

/** A curve through points that is upright at each of them, as lines only lead down. */
function smoothed(points: readonly Point[]): (readonly [string, ...number[]])[] {
  return points.map(({ x, y }, i) => {
    const before = points[i - 1]
    if (before === undefined) return ['M', x, y] as const
    if (before.x === x) return ['L', x, y] as const
    const middle = (before.y + y) / 2
    return ['C', before.x, middle, x, middle, x, y] as const
  })
}
