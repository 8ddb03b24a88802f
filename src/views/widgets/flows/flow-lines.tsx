import type { Ink } from '../../drawing/ink.ts'
import { type FlowPart, SEEN } from './flow-drawing.ts'
import { LABEL_SIZE, type PlacedLink, sideLength } from './flow-layouts.ts'
import { BEND, LABEL_GAP } from './flow-placement.ts'
import type { SceneLink } from './flow-scene.ts'
import type { Hands } from './flow-step.tsx'
import { NoteBadge, QUIET_DASH, type StepNotes } from './flow-step.tsx'

interface RoutePoint {
  readonly x: number
  readonly y: number
}

/** Straight pieces of a bend. */
const PIECES = 6

/** The way of a line, downwards: from its start to its column, down that, and to its end. */
export function flowRoute(start: RoutePoint, end: RoutePoint, columnX: number): RoutePoint[] {
  const room = Math.max(0, end.y - start.y)
  const isBentTwice = columnX !== start.x && columnX !== end.x
  const bend = Math.min(BEND, isBentTwice ? room / 2 : room)
  return [
    ...(columnX === start.x ? [start] : bendBetween(start, { x: columnX, y: start.y + bend })),
    ...(columnX === end.x ? [end] : bendBetween({ x: columnX, y: end.y - bend }, end)),
  ]
}

/** A smooth way that begins and ends straight downwards. */
function bendBetween(start: RoutePoint, end: RoutePoint): RoutePoint[] {
  return Array.from({ length: PIECES + 1 }, (_, piece) => {
    const share = piece / PIECES
    const eased = share * share * (3 - 2 * share)
    return {
      x: start.x + eased * (end.x - start.x),
      y: start.y + share * (end.y - start.y),
    }
  })
}

/** The part of a way between two heights. */
export function routeBetween(
  points: readonly RoutePoint[],
  fromY: number,
  toY: number,
): RoutePoint[] {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || toY <= fromY) return []
  const [top, bottom] = [Math.max(fromY, first.y), Math.min(toY, last.y)]
  if (bottom <= top) return []
  return [
    pointAt(points, top),
    ...points.filter(({ y }) => y > top && y < bottom),
    pointAt(points, bottom),
  ]
}

function pointAt(points: readonly RoutePoint[], y: number): RoutePoint {
  const next = Math.max(
    1,
    points.findIndex((point) => point.y >= y),
  )
  const [above, below] = [points[next - 1] as RoutePoint, points[next] as RoutePoint]
  const share = below.y > above.y ? (y - above.y) / (below.y - above.y) : 0
  return { x: above.x + share * (below.x - above.x), y }
}

/** More dashes than these on one line cannot be told apart, and browsers draw each of them. */
const MAX_DASHES = 120

/** A pattern of dashes, stretched for a way that is so long that there would be too many. */
export function dashesAlong(pattern: string, points: readonly RoutePoint[]): string {
  const parts = pattern.split(' ').map(Number)
  const length = points.reduce((sum, { x, y }, i) => {
    const last = points[i - 1] ?? { x, y }
    return sum + Math.hypot(x - last.x, y - last.y)
  }, 0)
  const period = parts.reduce((sum, part) => sum + part, 0)
  const stretch = Math.max(1, length / (period * MAX_DASHES))
  return parts.map((part) => rounded(part * stretch)).join(' ')
}

/** A way as the `d` of a path, to the right of itself by some pixels as seen downwards. */
export function pathData(points: readonly RoutePoint[], aside = 0): string {
  return points
    .map((point, i) => {
      const { x, y } = aside === 0 ? point : moved(points, i, aside)
      return `${i === 0 ? 'M' : 'L'}${rounded(x)} ${rounded(y)}`
    })
    .join('')
}

/** A point of a way, moved at a right angle to it. */
function moved(points: readonly RoutePoint[], i: number, aside: number): RoutePoint {
  const { x, y } = points[i] as RoutePoint
  const [last, next] = [points[i - 1] ?? { x, y }, points[i + 1] ?? { x, y }]
  const [alongX, alongY] = [next.x - last.x, next.y - last.y]
  const length = Math.hypot(alongX, alongY)
  if (length === 0) return { x: x + aside, y }
  return { x: x + (aside * alongY) / length, y: y - (aside * alongX) / length }
}

export function rounded(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

/** Widths of lines, in pixels: work, half of a pair, waiting, and what only leads on. */
export const STROKE = { work: 4, half: 3.6, wait: 1.3, lead: 1.6 } as const
export const LEAD_DASH = '2 4'
/** Widths of an outline, and of the empty space within. */
export const OUTLINE = { outer: 14, inner: 9.5 } as const

/** How a line is to be drawn. */
interface LinkStyle {
  readonly part: FlowPart
  readonly ink: Ink
}

/** The way of a link in its part. */
function linkRoute(
  { placed: { placement, steps }, tops }: FlowPart,
  { from, to }: PlacedLink,
  number: number,
): RoutePoint[] {
  const start = {
    x: placement.middles[from] as number,
    y: (tops[from] as number) + (steps[from]?.height ?? 0),
  }
  const end = { x: placement.middles[to] as number, y: tops[to] as number }
  return flowRoute(start, end, placement.lineMiddles[number] as number)
}

/**
 * A link as a line: thick as far as there is work, thin where it waits, dotted where it only leads
 * on to a join; outlined where its latency changed.
 */
export function FlowLinkLine({
  part,
  placedLink,
  number,
  words,
  notes,
  isSelected = false,
  ink,
  hands,
}: LinkStyle & {
  readonly placedLink: PlacedLink
  readonly number: number
  readonly words: string
  readonly notes?: StepNotes | undefined
  readonly isSelected?: boolean
  readonly hands?: Hands | undefined
}) {
  const { link } = placedLink
  const route = linkRoute(part, placedLink, number)
  const [start, end] = [route[0] as RoutePoint, route.at(-1) as RoutePoint]
  const whole = pathData(route)
  const columnX = part.placed.placement.lineMiddles[number] as number
  const workEnd = Math.min(end.y, start.y + part.workLength(link))
  const isChanged = link.verdict === 'changed'
  const label = part.label(placedLink)
  const labelY = linkLabelY(part, placedLink)
  return (
    <g fill="none" {...hands}>
      <title>{words}</title>
      <path d={whole} stroke="transparent" stroke-width={16} />
      {isChanged || link.reason !== null || isSelected ? (
        <>
          <path
            d={whole}
            stroke={isChanged ? ink.change : isSelected ? ink.text : ink.soft}
            stroke-width={isSelected ? OUTLINE.outer + 3 : OUTLINE.outer}
            stroke-dasharray={isChanged || isSelected ? undefined : dashesAlong(QUIET_DASH, route)}
          />
          <path d={whole} stroke={ink.back} stroke-width={OUTLINE.inner} />
        </>
      ) : null}
      {end.y - workEnd > SEEN && !waitsThroughout(part, link)
        ? leadPieces(route, workEnd).map((piece) => (
            <path
              key={piece[0]?.y}
              d={pathData(piece)}
              stroke={ink.soft}
              stroke-width={STROKE.lead}
              stroke-dasharray={dashesAlong(LEAD_DASH, piece)}
            />
          ))
        : null}
      <Strands {...{ part, link, route, ink }} />
      <text
        class="fd-flow-label"
        x={columnX + LABEL_GAP}
        y={labelY}
        font-size={LABEL_SIZE}
        font-weight={isChanged ? 'bold' : 'normal'}
        style={`fill:${isChanged ? ink.changeText : ink.soft}`}
        stroke="none"
      >
        {label}
      </text>
      {notes === undefined ? null : (
        <g transform={`translate(${columnX - 18} ${labelY - 4})`}>
          <NoteBadge notes={notes} x={0} ink={ink} />
        </g>
      )}
    </g>
  )
}

/** How far down in its part the label of a link stands: beside its work. */
export function linkLabelY(part: FlowPart, { link, from, to }: PlacedLink): number {
  const { placed, tops, workLength } = part
  const start = (tops[from] as number) + (placed.steps[from]?.height ?? 0)
  const workEnd = Math.min(tops[to] as number, start + workLength(link))
  return (start + Math.max(workEnd, start + 28)) / 2 + 5
}

/** What only leads on, in pieces: straight down, and the bend at its end, which may be very wide. */
function leadPieces(route: readonly RoutePoint[], fromY: number): RoutePoint[][] {
  const end = route.at(-1) as RoutePoint
  const bend = Math.max(fromY, end.y - BEND)
  return [routeBetween(route, fromY, bend), routeBetween(route, bend, end.y)].filter(
    (piece) => piece.length > 0,
  )
}

/** The lines themselves: one, or in a diff one for each of the two latencies. */
function Strands({
  part,
  link,
  route,
  ink,
}: LinkStyle & { readonly link: SceneLink; readonly route: readonly RoutePoint[] }) {
  const { y } = route[0] as RoutePoint
  const lowest = (route.at(-1) as RoutePoint).y
  const isShared = link.inBefore && link.inAfter
  if (isShared && part.isDiff && !waitsThroughout(part, link)) {
    const both = diffEnds(link)
    return (
      <>
        {(['before', 'after'] as const).map((side) => (
          <path
            key={side}
            d={pathData(routeBetween(route, y, y + both[side]), side === 'before' ? -2.1 : 2.1)}
            stroke={ink[side]}
            stroke-width={link.waits[side] ? STROKE.wait : STROKE.half}
          />
        ))}
      </>
    )
  }
  const side = part.side === 'after' || !link.inBefore ? 'after' : 'before'
  const color = isShared ? ink.text : ink[side]
  const waits = waitsThroughout(part, link)
  return (
    <path
      d={pathData(
        waits ? route : routeBetween(route, y, Math.min(lowest, y + part.workLength(link))),
      )}
      stroke={color}
      stroke-opacity={isShared ? 0.75 : 1}
      stroke-width={waits ? STROKE.wait : STROKE.work}
    />
  )
}

/** Whether all of a link is waiting, on every side that the part shows. */
function waitsThroughout({ side }: FlowPart, { inBefore, inAfter, waits }: SceneLink): boolean {
  if (side !== 'both') return waits[side]
  return (waits.before || !inBefore) && (waits.after || !inAfter)
}

/** How far both lines of a pair reach: the longer as far as it is, the other in proportion. */
export function diffEnds(link: SceneLink): { before: number; after: number } {
  const { beforeUs, afterUs, waits } = link
  const lengths = { before: sideLength(link, 'before'), after: sideLength(link, 'after') }
  if (beforeUs === null || afterUs === null || waits.before || waits.after) return lengths
  const longer = Math.max(beforeUs, afterUs)
  if (!(longer > 0)) return lengths
  const length = Math.max(lengths.before, lengths.after)
  return { before: (length * beforeUs) / longer, after: (length * afterUs) / longer }
}
