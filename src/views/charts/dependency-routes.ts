import type { AttentionEdge } from '../../logs/attention/attention.ts'

/** A point in pixels, y down. */
export type Point = readonly [x: number, y: number]

/** How a line goes, and its arrow. */
export interface DependencyRoute {
  readonly points: readonly Point[]
  /** Where its arrow ends and whether it points right; `null` where the order is not known. */
  readonly arrow: { readonly x: number; readonly y: number; readonly right: boolean } | null
}

/** As much as lines need to know of a name. */
interface Place {
  readonly left: number
  readonly right: number
  readonly y: number
  readonly depth: number
}

interface Link {
  readonly edge: AttentionEdge
  readonly from: Place
  readonly to: Place
}

interface Surroundings {
  readonly variables: readonly Place[]
  /** How far rows lie apart. */
  readonly row: number
}

/** Room between a name and the lines that reach it. */
const NEAR = 6
const ARROW = 10
const STEPS = 12
/** How far a line swings out beside names of one column. */
const SWING = 26
/** Names closer than this share of a row are in a line's way. */
const CLEAR = 0.42
/** How far lines that keep clear of names lie apart. */
const APART = 7
/** Such a line leaves its name so far from its middle, beside the lines of the tree. */
const ASIDE = 4

/** Lines between names: straight to the next column, and around the names of columns between. */
export function dependencyRoutes(
  links: readonly Link[],
  around: Surroundings,
): readonly DependencyRoute[] {
  const taken: Lane[] = []
  return links.map(({ edge, from, to }) => {
    if (from.depth === to.depth) return sideways(edge, { from, to, around })
    const isRight = from.depth > to.depth
    const [left, right] = isRight ? [from, to] : [to, from]
    const points = between(left, right, { around, taken })
    return withArrow(isRight ? points : points.toReversed(), edge, isRight)
  })
}

/** Where a line passes names, from column to column. */
interface Lane {
  readonly y: number
  readonly shallow: number
  readonly deep: number
}

/** From a name to one further right. */
function between(
  left: Place,
  right: Place,
  { around, taken }: { readonly around: Surroundings; readonly taken: Lane[] },
): Point[] {
  const start: Point = [left.right + NEAR, left.y]
  const end: Point = [right.left - NEAR, right.y]
  const column = columnLeft(around, right.depth) - NEAR
  if (left.depth - right.depth === 1) {
    return [...curve(start, [Math.min(column, end[0]), end[1]]), end]
  }
  const inBetween = around.variables.filter(
    ({ depth }) => depth > right.depth && depth < left.depth,
  )
  const lane = {
    y: laneY([left.y, right.y], { inBetween, around, taken, deep: left.depth }),
    ...{ shallow: right.depth, deep: left.depth },
  }
  taken.push(lane)
  const from: Point = [start[0], start[1] + ASIDE * Math.sign(lane.y - left.y)]
  const to: Point = [end[0], end[1] + ASIDE * Math.sign(lane.y - right.y)]
  const last = inBetween.reduce((most, place) => Math.max(most, place.right), 0) + NEAR
  const first = columnLeft(around, left.depth - 1) - NEAR
  const [enter, leave]: [Point, Point] = [
    [first, lane.y],
    [last, lane.y],
  ]
  return [...curve(from, enter), ...curve(leave, [Math.min(column, to[0]), to[1]]), to]
}

/** A height that is clear of names and of other lines, as little out of the way as there is. */
function laneY(
  [one, other]: readonly [number, number],
  {
    inBetween,
    around: { variables, row },
    taken,
    deep,
  }: {
    readonly inBetween: readonly Place[]
    readonly around: Surroundings
    readonly taken: readonly Lane[]
    readonly deep: number
  },
): number {
  const lowest = variables.reduce((low, { y }) => Math.max(low, y), 0)
  const clash = (y: number) => taken.filter((lane) => lane.deep === deep && lane.y === y).length
  let best = -row / 2
  let least = Number.POSITIVE_INFINITY
  for (let y = -row / 2; y <= lowest + row / 2; y += row / 4) {
    if (inBetween.some((place) => Math.abs(place.y - y) < CLEAR * row)) continue
    const cost = Math.abs(y - one) + Math.abs(y - other) + row * clash(y)
    if (cost < least) [best, least] = [y, cost]
  }
  return best + APART * clash(best) * Math.sign(best - (one + other) / 2 || 1)
}

/** Between names of one column: out to their left and back. */
function sideways(
  edge: AttentionEdge,
  { from, to, around }: { readonly from: Place; readonly to: Place; readonly around: Surroundings },
): DependencyRoute {
  const [start, end]: [Point, Point] = [
    [from.left - NEAR, from.y],
    [to.left - NEAR, to.y],
  ]
  const isBeside = !around.variables.some(
    ({ depth, y }) => depth === from.depth && (y - from.y) * (y - to.y) < 0,
  )
  const free = isBeside ? Math.min(start[0], end[0]) : columnLeft(around, from.depth) - NEAR
  const bend = free - SWING
  const points = Array.from({ length: STEPS + 1 }, (_, step): Point => {
    const t = step / STEPS
    return [
      cubic(t, [start[0], bend, bend, end[0]]),
      cubic(t, [start[1], start[1], end[1], end[1]]),
    ]
  })
  return withArrow(points, edge, true)
}

function withArrow(
  points: readonly Point[],
  { directed }: AttentionEdge,
  right: boolean,
): DependencyRoute {
  if (!directed) return { points, arrow: null }
  const [x, y] = points.at(-1) as Point
  const tip: Point = [right ? x - ARROW : x + ARROW, y]
  const isBefore = ([px]: Point) => (right ? px <= tip[0] : px >= tip[0])
  const kept = points.slice(0, -1)
  while (kept.length > 1 && !isBefore(kept.at(-1) as Point)) kept.pop()
  return { points: [...kept, tip], arrow: { x, y, right } }
}

function columnLeft({ variables }: Surroundings, of: number): number {
  return variables.reduce(
    (least, { depth, left }) => (depth === of ? Math.min(least, left) : least),
    Number.POSITIVE_INFINITY,
  )
}

/** From one height to another, flat at both ends. */
function curve(start: Point, end: Point): Point[] {
  const middle = (start[0] + end[0]) / 2
  return Array.from({ length: STEPS + 1 }, (_, step): Point => {
    const t = step / STEPS
    return [
      cubic(t, [start[0], middle, middle, end[0]]),
      cubic(t, [start[1], start[1], end[1], end[1]]),
    ]
  })
}

/** A point of a cubic Bézier curve, in one dimension. */
function cubic(t: number, [a, b, c, d]: readonly [number, number, number, number]): number {
  const u = 1 - t
  return u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d
}
