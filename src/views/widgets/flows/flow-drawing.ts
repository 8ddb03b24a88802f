import { cross, group, least as smallest, sum } from 'd3-array'
import { textWidth } from '../../charts/text-width.ts'
import type { Point } from '../../drawing/path.ts'
import {
  diffLength,
  type FlowFrame,
  flowAnimation,
  flowFrame,
  type PlacedFlow,
  sideLength,
} from './flow-animation.ts'
import { type FlowMoment, placeFlow, topsAt } from './flow-placement.ts'
import {
  type FlowData,
  type FlowMode,
  type FlowScene,
  type FlowSide,
  isOn,
  type SceneLink,
  type SceneStep,
  SIDES,
} from './flow-scene.ts'
import { diffLabel, periodWords, sideLabel } from './flow-words.ts'

export interface DrawnStep extends Point {
  readonly step: SceneStep
  readonly opacity: number
}

export type DrawnLink = FlowPart['links'][number]

export type FlowPart = ReturnType<typeof drawnPart>

interface PartPlace {
  readonly side: FlowSide | 'both'
  /** Shared links are drawn as two lines, one for each latency. */
  readonly isDiff: boolean
  readonly x: number
  readonly y: number
}

export interface FlowDrawing {
  readonly width: number
  readonly height: number
  readonly heads: readonly { x: number; text: string; side: FlowSide | null }[]
  readonly parts: readonly FlowPart[]
  readonly correspondences: ReturnType<typeof correspondences>
}

/** Everything in its place, before it is known which mode's state is shown. */
type FlowLayout = ReturnType<typeof layOutFlow>

export const LABEL_SIZE = 11
const SEEN = 2
const HEAD = 30
const GAP = 110
export const HEAD_SIZE = 12.5
export const HEAD_SIGN = 18

/** Does all that takes time; what depends on the moment comes after. */
export function layOutFlow(scene: FlowScene, mode: FlowMode, pins: readonly number[] = []) {
  if (mode === 'side-by-side')
    return { scene, animation: null, flows: besideEachOther(scene, pins) }
  const animation = mode === 'animation' ? flowAnimation(scene) : null
  const moments = animation?.moments ?? [moment(scene, null, diffLength)]
  return { scene, animation, flows: [placed(scene, diffLabel, moments)] }
}

/** Places both flows, each mirrored or not so that the same steps are closest to each other. */
function besideEachOther({ steps, links, stepOf }: FlowScene, pins: readonly number[]) {
  const sides = SIDES.map((side) => {
    const isThere = (thing: SceneStep | SceneLink) => isOn(thing, side)
    const shown = { steps: steps.filter(isThere), links: links.filter(isThere) }
    const label = (link: SceneLink) => sideLabel(link, side)
    return { shown, label, moment: moment(shown, side, (link) => sideLength(link, side)) }
  })
  const pinned = [...new Set(pins.map((pin) => stepOf[pin]))].map((pin) =>
    sides.map(({ shown }) => shown.steps.findIndex(({ id }) => id === pin)),
  )
  const least = sides.map(({ shown }) => shown.steps.map(() => 0))
  // A step that moves down takes its successors along; steps that changed places can never all be level.
  for (let turn = 0; turn <= pinned.length; turn++) {
    const tops = sides.map(({ shown, label, moment: own }, i) =>
      topsAt(placementInput(shown, label), { ...own, least: least[i] ?? [] }),
    )
    for (const places of pinned) {
      const level = Math.max(...places.map((place, i) => tops[i]?.[place] ?? 0))
      places.forEach((place, i) => {
        if (place >= 0) (least[i] as number[])[place] = level
      })
    }
  }
  const ways = sides.map(({ shown, label, moment: own }, i) =>
    [false, true].map((isMirrored) =>
      placed(shown, label, [{ ...own, least: least[i] ?? [] }], isMirrored),
    ),
  )
  const pairs = cross(ways[0] as PlacedFlow[], ways[1] as PlacedFlow[])
  return smallest(pairs, ([before, after]) => distanceApart(before, after)) as PlacedFlow[]
}

/** Returns the sum of squared distances between the same steps, so that they keep their order as well. */
function distanceApart(before: PlacedFlow, after: PlacedFlow): number {
  const middles = new Map(after.steps.map(({ id }, i) => [id, after.placement.middles[i]]))
  return sum(before.steps, ({ id }, i) => {
    const there = middles.get(id)
    if (there === undefined) return 0
    return (before.placement.width - (before.placement.middles[i] as number) + GAP + there) ** 2
  })
}

type Shown = Pick<PlacedFlow, 'steps' | 'links'>

function moment(
  { steps, links }: Shown,
  side: FlowSide | null,
  lengthOf: (link: SceneLink) => number,
): FlowMoment {
  const isThere = (thing: SceneStep | SceneLink) => side === null || isOn(thing, side)
  return {
    isThere: steps.map(isThere),
    lengths: links.map((link) => (isThere(link) ? lengthOf(link) : null)),
  }
}

function placed(
  { steps, links }: Shown,
  label: (link: SceneLink) => string,
  moments: readonly FlowMoment[],
  isMirrored = false,
): PlacedFlow {
  const placement = placeFlow(placementInput({ steps, links }, label), moments, { isMirrored })
  return { steps, links, placement }
}

function placementInput({ steps, links }: Shown, label: (link: SceneLink) => string) {
  const placeOf = new Map(steps.map(({ id }, place) => [id, place]))
  const lines = links.map((link) => ({
    from: placeOf.get(link.from) as number,
    to: placeOf.get(link.to) as number,
    // Those of changed edges are bold.
    labelWidth: 1.08 * textWidth(label(link), LABEL_SIZE),
  }))
  return { boxes: steps, lines }
}

interface DrawingState {
  readonly at: number
  /** Correspondence lines nearer to each other than this are left out within a run. */
  readonly leastApart: number
}

export function flowDrawing(
  { scene, animation, flows }: FlowLayout,
  data: FlowData,
  { at, leastApart }: DrawingState,
): FlowDrawing {
  const [union, after] = flows as [PlacedFlow, PlacedFlow | undefined]
  if (after !== undefined) return sideBySide(scene, [union, after], data, leastApart)
  const { width, heights, tops } = union.placement
  if (animation === null) {
    const frame = { tops: tops[0] ?? [], workLength: diffLength, label: diffLabel }
    const parts = [drawnPart(union, { side: 'both', isDiff: true, x: 0, y: 0 }, frame)]
    return { width, height: heights[0] ?? 0, heads: [], correspondences: [], parts }
  }
  const { caption, ...frame } = flowFrame(union, animation, at)
  return {
    width: Math.max(width, headWidth(caption)),
    height: Math.max(...heights) + HEAD,
    heads: [{ x: 0, text: caption, side: at <= 0 ? 'before' : at >= 1 ? 'after' : null }],
    correspondences: [],
    parts: [drawnPart(union, { side: 'both', isDiff: false, x: 0, y: HEAD }, frame)],
  }
}

function headWidth(text: string): number {
  return 1.1 * textWidth(text, HEAD_SIZE) + HEAD_SIGN
}

function drawnPart(
  { steps, links, placement }: PlacedFlow,
  { side, isDiff, x, y }: PartPlace,
  { tops, opacity = () => 1, workLength, label }: FlowFrame,
) {
  const drawn = steps.map((step, place) => ({
    step,
    x: x + (placement.middles[place] as number),
    y: y + (tops[place] as number),
    opacity: opacity(step),
  }))
  const byId = new Map(drawn.map((each) => [each.step.id, each]))
  const drawnLinks = links.map((link, line) => {
    const [from, to] = [byId.get(link.from) as DrawnStep, byId.get(link.to) as DrawnStep]
    const start = { x: from.x, y: from.y + from.step.height }
    const workEnd = Math.min(to.y, start.y + workLength(link))
    return {
      link,
      start,
      end: { x: to.x, y: to.y },
      /** Lower end of its work; the rest only leads on. */
      workEnd,
      columnX: x + (placement.lineMiddles[line] as number),
      /** Whether all of it is waiting, on every side that is shown. */
      waits: SIDES.every((each) =>
        side === each || (side === 'both' && isOn(link, each)) ? link.waits[each] : true,
      ),
      label: label(link),
      labelY: (start.y + Math.max(workEnd, start.y + 28)) / 2 + 5,
      opacity: opacity(link),
    }
  })
  return {
    side,
    isDiff,
    x,
    width: placement.width,
    steps: drawn.filter((each) => each.opacity > 0),
    links: drawnLinks.filter((each) => each.opacity > 0),
  }
}

function sideBySide(
  scene: FlowScene,
  flows: readonly [before: PlacedFlow, after: PlacedFlow],
  data: FlowData,
  leastApart: number,
): FlowDrawing {
  const heads: { x: number; text: string; side: FlowSide }[] = []
  let [left, height] = [0, 0]
  const parts = flows.map((flow, i) => {
    const side = i === 0 ? 'before' : 'after'
    const { width, heights, tops } = flow.placement
    const text = periodWords(data[side], data.quantity)
    const room = Math.max(headWidth(text), width)
    heads.push({ x: left, text, side })
    height = Math.max(height, HEAD + (heights[0] ?? 0))
    // Side by side as close as their heads allow.
    const x = i === 0 ? left + room - width : left
    left += room + GAP
    const workLength = (link: SceneLink) => sideLength(link, side)
    const label = (link: SceneLink) => sideLabel(link, side)
    return drawnPart(
      flow,
      { side, isDiff: false, x, y: HEAD },
      { tops: tops[0] ?? [], workLength, label },
    )
  }) as [FlowPart, FlowPart]
  return {
    width: left - GAP,
    height,
    heads,
    parts,
    correspondences: correspondences(scene, parts, leastApart),
  }
}

/** Lines between steps that are in both flows: from the right of the one to the left of the other. */
function correspondences(
  scene: FlowScene,
  parts: readonly [FlowPart, FlowPart],
  leastApart: number,
) {
  const [before, after] = parts.map(({ steps }, i) => {
    const ends = steps.map(({ step: { id, width, height }, x, y }): [number, Point] => [
      id,
      { x: x + (i === 0 ? width / 2 : -width / 2), y: y + height / 2 },
    ])
    return new Map(ends)
  }) as [Map<number, Point>, Map<number, Point>]
  const yIn = (ends: Map<number, Point>) => (id: number) => ends.get(id)?.y ?? 0
  const runs = sharedRuns(scene)
  const lined = new Set(linedSteps(runs, [yIn(before), yIn(after)], leastApart))
  return runs.flat().map((step) => ({
    step,
    /** Drawn even where lines crowd. */
    isEnd: lined.has(step),
    from: before.get(step) as Point,
    to: after.get(step) as Point,
  }))
}

/** Ids of steps of both flows that follow each other in both, from top to bottom. */
type SharedRun = readonly number[]

export function sharedRuns({ steps, links }: FlowScene): SharedRun[] {
  const shared = links.filter(({ inBefore, inAfter }) => inBefore && inAfter)
  const [leaving, entering] = [group(shared, ({ from }) => from), group(shared, ({ to }) => to)]
  const follower = (id: number) => {
    const [only, second] = leaving.get(id) ?? []
    if (only === undefined || second !== undefined) return undefined
    return entering.get(only.to)?.length === 1 ? only.to : undefined
  }
  const followers = new Set(steps.map(({ id }) => follower(id)))
  return steps
    .filter(({ id, inBefore, inAfter }) => inBefore && inAfter && !followers.has(id))
    .map(({ id }) => {
      const run = [id]
      for (let at = follower(id); at !== undefined; at = follower(at)) run.push(at)
      return run
    })
}

const MIN_RUN = 3

/** Steps that get a line to their like: all of a run, or its two ends where lines would crowd. */
export function linedSteps(
  runs: readonly SharedRun[],
  heights: readonly ((id: number) => number)[],
  leastApart: number,
): number[] {
  return runs.flatMap((run) => {
    const [first, last] = [run[0], run.at(-1)]
    if (run.length < MIN_RUN || first === undefined || last === undefined) return run
    const apart = heights.map((heightOf) => (heightOf(last) - heightOf(first)) / (run.length - 1))
    return Math.min(...apart) < leastApart ? [first, last] : run
  })
}

export function hasLeads({ parts }: FlowDrawing): boolean {
  return parts.some(({ links }) => links.some(isLeadingOn))
}

export function isLeadingOn({ waits, workEnd, end }: DrawnLink): boolean {
  return !waits && end.y - workEnd > SEEN
}
