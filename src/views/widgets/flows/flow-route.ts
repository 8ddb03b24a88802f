import { BEND } from './flow-placement.ts'

export interface RoutePoint {
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
const MOST_DASHES = 120

/** A pattern of dashes, stretched for a way that is so long that there would be too many. */
export function dashesAlong(pattern: string, points: readonly RoutePoint[]): string {
  const parts = pattern.split(' ').map(Number)
  const length = points.reduce((sum, { x, y }, i) => {
    const last = points[i - 1] ?? { x, y }
    return sum + Math.hypot(x - last.x, y - last.y)
  }, 0)
  const period = parts.reduce((sum, part) => sum + part, 0)
  const stretch = Math.max(1, length / (period * MOST_DASHES))
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
