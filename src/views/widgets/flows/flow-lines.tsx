import type { JSX } from 'preact'
import { useInk } from '../../drawing/figure.tsx'
import { type Point, tenth } from '../../drawing/path.ts'
import { sideLength } from './flow-animation.ts'
import { type DrawnLink, type FlowPart, isLeadingOn, LABEL_SIZE } from './flow-drawing.ts'
import { BEND, LABEL_GAP } from './flow-placement.ts'
import { type SceneLink, SIDES } from './flow-scene.ts'

export type Hands = JSX.SVGAttributes<SVGGElement>

const PIECES = 6

export function flowRoute(start: Point, end: Point, columnX: number): Point[] {
  const room = Math.max(0, end.y - start.y)
  const isBentTwice = columnX !== start.x && columnX !== end.x
  const bend = Math.min(BEND, isBentTwice ? room / 2 : room)
  return [
    ...(columnX === start.x ? [start] : bendBetween(start, { x: columnX, y: start.y + bend })),
    ...(columnX === end.x ? [end] : bendBetween({ x: columnX, y: end.y - bend }, end)),
  ]
}

function bendBetween(start: Point, end: Point): Point[] {
  return Array.from({ length: PIECES + 1 }, (_, piece) => {
    const share = piece / PIECES
    const eased = share * share * (3 - 2 * share)
    return { x: start.x + eased * (end.x - start.x), y: start.y + share * (end.y - start.y) }
  })
}

export function routeBetween(points: readonly Point[], fromY: number, toY: number): Point[] {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return []
  const [top, bottom] = [Math.max(fromY, first.y), Math.min(toY, last.y)]
  if (bottom <= top) return []
  const between = points.filter(({ y }) => y > top && y < bottom)
  return [pointAt(points, top), ...between, pointAt(points, bottom)]
}

function pointAt(points: readonly Point[], y: number): Point {
  const next = Math.max(
    1,
    points.findIndex((point) => point.y >= y),
  )
  const [above, below] = [points[next - 1] as Point, points[next] as Point]
  const share = below.y > above.y ? (y - above.y) / (below.y - above.y) : 0
  return { x: above.x + share * (below.x - above.x), y }
}

/** Most dashes on one line: more cannot be distinguished, and browsers draw each of them. */
const MAX_DASHES = 120

/** Returns a pattern of dashes, stretched for a way so long that there would be too many. */
export function dashesAlong(pattern: string, points: readonly Point[]): string {
  const parts = pattern.split(' ').map(Number)
  const length = points.reduce((sum, { x, y }, i) => {
    const last = points[i - 1] ?? { x, y }
    return sum + Math.hypot(x - last.x, y - last.y)
  }, 0)
  const period = parts.reduce((sum, part) => sum + part, 0)
  const stretch = Math.max(1, length / (period * MAX_DASHES))
  return parts.map((part) => tenth(part * stretch)).join(' ')
}

export function pathData(points: readonly Point[], aside = 0): string {
  return points
    .map((point, i) => {
      const [last, next] = [points[i - 1] ?? point, points[i + 1] ?? point]
      const [alongX, alongY] = [next.x - last.x, next.y - last.y]
      const length = Math.hypot(alongX, alongY) || 1
      const x = point.x + (aside * alongY) / length
      return `${i === 0 ? 'M' : 'L'}${tenth(x)} ${tenth(point.y - (aside * alongX) / length)}`
    })
    .join('')
}

/** Widths of lines, in pixels: work, half of a pair, waiting, and mere connections. */
export const STROKE = { work: 4, half: 3.6, wait: 1.3, lead: 1.6 } as const
export const LEAD_DASH = '2 4'
/** The outline of a large change that is not significant. */
export const QUIET_DASH = '4 3'
export const CORRESPONDENCE_DASH = '6 4'
export const OUTLINE = { outer: 14, inner: 9.5 } as const
/** Width of an outline on both sides of a line, by the share of the change; and from which share its label is bold. */
const RIM = { least: 1.6, most: 9 } as const
const BOLD_SHARE = 0.1

interface LineProps {
  readonly part: FlowPart
  readonly drawn: DrawnLink
  readonly words: string
  readonly isSelected: boolean
  readonly hands: Hands | undefined
}

/** Draws a link: thick for work, thin for waiting, dotted for a mere connection. */
export function FlowLinkLine({ part, drawn, words, isSelected, hands }: LineProps) {
  const ink = useInk()
  const { link, start, end, columnX, workEnd } = drawn
  const rim = OUTLINE.inner + RIM.least + (RIM.most - RIM.least) * link.share
  const route = flowRoute(start, end, columnX)
  const whole = pathData(route)
  const isChanged = link.verdict === 'changed'
  const lead = routeBetween(route, workEnd, end.y)
  return (
    <g fill="none" {...hands}>
      <title>{words}</title>
      <path d={whole} stroke="transparent" stroke-width={16} />
      {isChanged || link.reason !== null || isSelected ? (
        <>
          <path
            d={whole}
            stroke={isChanged ? ink.change : isSelected ? ink.text : ink.soft}
            stroke-width={isSelected ? rim + 3 : rim}
            stroke-dasharray={isChanged || isSelected ? undefined : dashesAlong(QUIET_DASH, route)}
          />
          <path d={whole} stroke={ink.back} stroke-width={OUTLINE.inner} />
        </>
      ) : null}
      {isLeadingOn(drawn) ? (
        <path
          d={pathData(lead)}
          stroke={ink.soft}
          stroke-width={STROKE.lead}
          stroke-dasharray={dashesAlong(LEAD_DASH, lead)}
        />
      ) : null}
      <Strands {...{ part, drawn, route }} />
    </g>
  )
}

interface LabelProps {
  readonly drawn: DrawnLink
  readonly onClick: Hands['onClick']
}

/** Says how long a link takes, above all lines. */
export function FlowLinkLabel({ drawn, onClick }: LabelProps) {
  const { link, columnX, label, labelY } = drawn
  const ink = useInk()
  const isChanged = link.verdict === 'changed'
  return (
    <text
      class="fd-flow-label"
      x={columnX + LABEL_GAP}
      y={labelY}
      font-size={LABEL_SIZE}
      font-weight={isChanged && link.share >= BOLD_SHARE ? 'bold' : 'normal'}
      style={`fill:${isChanged ? ink.changeText : ink.soft}`}
      stroke={ink.back}
      stroke-width={4}
      stroke-linejoin="round"
      paint-order="stroke"
      {...{ onClick }}
    >
      {label}
    </text>
  )
}

function Strands({ part, drawn, route }: Pick<LineProps, 'part' | 'drawn'> & { route: Point[] }) {
  const ink = useInk()
  const { side, isDiff } = part
  const { link, start, end, waits, workEnd } = drawn
  const isShared = link.inBefore && link.inAfter
  if (isShared && isDiff && !waits) {
    const both = diffEnds(link)
    return (
      <>
        {SIDES.map((each) => (
          <path
            key={each}
            d={pathData(
              routeBetween(route, start.y, start.y + both[each]),
              each === 'before' ? -2.1 : 2.1,
            )}
            stroke={ink[each]}
            stroke-width={link.waits[each] ? STROKE.wait : STROKE.half}
          />
        ))}
      </>
    )
  }
  const own = side === 'after' || !link.inBefore ? 'after' : 'before'
  return (
    <path
      d={pathData(routeBetween(route, start.y, waits ? end.y : workEnd))}
      stroke={isShared ? ink.text : ink[own]}
      stroke-opacity={isShared ? 0.75 : 1}
      stroke-width={waits ? STROKE.wait : STROKE.work}
    />
  )
}

/** Returns how far both lines of a pair reach: the longer in full, the other in proportion. */
export function diffEnds(link: SceneLink): { before: number; after: number } {
  const { beforeUs, afterUs, waits } = link
  const lengths = { before: sideLength(link, 'before'), after: sideLength(link, 'after') }
  if (beforeUs === null || afterUs === null || waits.before || waits.after) return lengths
  const longer = Math.max(beforeUs, afterUs)
  if (!(longer > 0)) return lengths
  const length = Math.max(lengths.before, lengths.after)
  return { before: (length * beforeUs) / longer, after: (length * afterUs) / longer }
}
