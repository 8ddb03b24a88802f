import { textWidth } from '../../charts/text-width.ts'
import {
  diffLabel,
  diffLength,
  type PlacedFlow,
  type PlacedLink,
  placeAnimation,
  placeDiff,
  placeSide,
  sideLabel,
  sideLength,
} from './flow-layouts.ts'
import type { FlowData, FlowMode, FlowScene, SceneLink, SceneStep } from './flow-scene.ts'
import { periodWords } from './flow-words.ts'

/** Runs of fewer pairs are short enough to be drawn whole. */
const MIN_RUN = 3

/** Ids of steps of both flows that follow each other in both, from top to bottom. */
type SharedRun = readonly number[]

/** Every step that is in both flows, in the contiguous run it belongs to. */
export function sharedRuns({ steps, links }: FlowScene): SharedRun[] {
  const next = new Map<number, number>()
  const previous = new Map<number, number>()
  const forked = new Set<number>()
  const joined = new Set<number>()
  for (const { from, to, inBefore, inAfter } of links) {
    if (!inBefore || !inAfter) continue
    if (next.has(from)) forked.add(from)
    if (previous.has(to)) joined.add(to)
    next.set(from, to)
    previous.set(to, from)
  }
  const follows = (id: number) => {
    const follower = forked.has(id) ? undefined : next.get(id)
    return follower === undefined || joined.has(follower) ? undefined : follower
  }
  const isFollower = new Set(steps.map(({ id }) => follows(id)))
  return steps
    .filter(({ id, inBefore, inAfter }) => inBefore && inAfter && !isFollower.has(id))
    .map(({ id }) => {
      const run = [id]
      for (let at = follows(id); at !== undefined; at = follows(at)) run.push(at)
      return run
    })
}

/**
 * Which steps get a line to their like: all of a run, or where lines would crowd only its two ends.
 *
 * @param heightOf how far down a step stands, on the side where lines are closer
 */
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

/**
 * What the animation does one after the other: steps of before alone fade, those of both make
 * room, those of after alone appear, latencies change.
 */
type FlowStage = 'leave' | 'move' | 'enter' | 'stretch'

/** What is seen of an animation at one moment. */
interface FlowFrame {
  readonly tops: Float64Array
  readonly height: number
  readonly opacity: (thing: SceneStep | SceneLink) => number
  /** How long the work of a link is drawn. */
  readonly workLength: (link: SceneLink) => number
  readonly label: (placed: PlacedLink) => string
  readonly caption: string
}

const MOVED = 0.5

const CAPTIONS: Readonly<Record<FlowStage, string>> = {
  leave: 'what is gone fades',
  move: 'the rest makes room',
  enter: 'what is new appears',
  stretch: 'latencies change',
}

/** The stages in which anything happens, in their order. */
export function flowStages({ steps, links, placement }: PlacedFlow): FlowStage[] {
  const things = [...steps, ...links.map(({ link }) => link)]
  const moves = (one: number, other: number) => {
    const [tops, later] = [placement.tops[one], placement.tops[other]] as const
    // What is not there at one of the two is NaN.
    return steps.some((_, i) => Math.abs((later?.[i] ?? 0) - (tops?.[i] ?? 0)) > MOVED)
  }
  const isStretched = ({ link }: PlacedLink) =>
    link.inBefore && link.inAfter && link.beforeUs !== link.afterUs
  const happens: Record<FlowStage, boolean> = {
    leave: things.some(({ inAfter }) => !inAfter),
    move: moves(0, 1),
    enter: things.some(({ inBefore }) => !inBefore),
    stretch: moves(1, 2) || links.some(isStretched),
  }
  return (Object.keys(happens) as FlowStage[]).filter((stage) => happens[stage])
}

/**
 * A moment of the animation.
 *
 * @param at from 0, before, to 1, after; each of the stages takes an equal part
 */
export function flowFrame(placed: PlacedFlow, stages: readonly FlowStage[], at: number): FlowFrame {
  const { placement, steps } = placed
  const [first, second, third] = placement.tops as readonly [
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  const progress = (stage: FlowStage) => stageProgress(stages, stage, at)
  const [leave, move, enter, stretch] = [
    progress('leave'),
    progress('move'),
    progress('enter'),
    progress('stretch'),
  ]
  const tops = Float64Array.from(steps, ({ inBefore, inAfter }, i) => {
    const [start, middle, end] = [first[i], second[i], third[i]] as [number, number, number]
    if (!inAfter) return start
    const moved = inBefore ? start + move * (middle - start) : middle
    return moved + stretch * (end - middle)
  })
  return {
    tops,
    height: Math.max(...placement.heights),
    opacity: ({ inBefore, inAfter }) => (!inAfter ? 1 - leave : !inBefore ? enter : 1),
    workLength: (link) => {
      if (!link.inBefore || !link.inAfter) {
        return sideLength(link, link.inBefore ? 'before' : 'after')
      }
      const before = sideLength(link, 'before')
      return before + stretch * (sideLength(link, 'after') - before)
    },
    label: ({ link }) => {
      if (!link.inBefore || !link.inAfter || (stretch > 0 && stretch < 1)) return diffLabel(link)
      return sideLabel(link, stretch === 1 || at === 1 ? 'after' : 'before')
    },
    caption: captionAt(stages, at),
  }
}

/** How far a stage is, from 0 to 1, beginning and ending gently. */
function stageProgress(stages: readonly FlowStage[], stage: FlowStage, at: number): number {
  const place = stages.indexOf(stage)
  if (place < 0) return at >= 1 ? 1 : 0
  const share = Math.min(1, Math.max(0, at * stages.length - place))
  return share * share * (3 - 2 * share)
}

function captionAt(stages: readonly FlowStage[], at: number): string {
  if (at <= 0) return 'before'
  if (at >= 1) return 'after'
  const stage = Math.min(stages.length - 1, Math.floor(at * stages.length))
  const name = stages[stage]
  if (name === undefined) return 'in between; nothing differs'
  return `in between, ${stage + 1} of ${stages.length}: ${CAPTIONS[name]}`
}

/** Everything in its place, before it is known which mode's state is shown. */
type FlowLayouts =
  | { readonly mode: 'diff'; readonly scene: FlowScene; readonly union: PlacedFlow }
  | {
      readonly mode: 'side-by-side'
      readonly scene: FlowScene
      readonly before: PlacedFlow
      readonly after: PlacedFlow
    }
  | {
      readonly mode: 'animation'
      readonly scene: FlowScene
      readonly union: PlacedFlow
      readonly stages: readonly FlowStage[]
    }

/** A graph in a drawing. */
export interface FlowPart {
  readonly side: 'before' | 'after' | 'both'
  /** Shared links are drawn as two lines, one for each latency. */
  readonly isDiff: boolean
  readonly placed: PlacedFlow
  /** From the drawing's corner to the part's. */
  readonly x: number
  readonly y: number
  /** Of its steps. */
  readonly tops: Float64Array
  readonly opacity: (thing: SceneStep | SceneLink) => number
  readonly workLength: (link: SceneLink) => number
  readonly label: (placed: PlacedLink) => string
}

/** A dashed line between a step and its like. */
interface Correspondence {
  readonly step: number
  readonly from: { readonly x: number; readonly y: number }
  readonly to: { readonly x: number; readonly y: number }
  /** Drawn even where lines crowd. */
  readonly isEnd: boolean
}

export interface FlowDrawing {
  readonly width: number
  readonly height: number
  /** Headings; in between no side's. */
  readonly heads: readonly { x: number; text: string; side: 'before' | 'after' | null }[]
  readonly parts: readonly FlowPart[]
  readonly correspondences: readonly Correspondence[]
}

/** Shorter pieces of lines are not drawn. */
export const SEEN = 2
/** Above everything. */
const HEAD = 30
const GAP = 110
export const HEAD_SIZE = 12.5
export const HEAD_SIGN = 18

/** Does all that takes time; what depends on pin and animation comes after. */
export function layOutFlow(scene: FlowScene, mode: FlowMode): FlowLayouts {
  if (mode === 'diff') return { mode, scene, union: placeDiff(scene) }
  if (mode === 'animation') {
    const union = placeAnimation(scene)
    return { mode, scene, union, stages: flowStages(union) }
  }
  return { mode, scene, before: placeSide(scene, 'before'), after: placeSide(scene, 'after') }
}

interface DrawingState {
  readonly pin: number | null
  readonly at: number
  /** Correspondence lines nearer to each other than this are left out within a run. */
  readonly leastApart: number
}

/** What is seen. */
export function flowDrawing(
  layouts: FlowLayouts,
  data: FlowData,
  { pin, at, leastApart }: DrawingState,
): FlowDrawing {
  const { mode } = layouts
  if (mode === 'side-by-side') return sideBySide(layouts, data, { pin, leastApart })
  const { union } = layouts
  const { width, heights } = union.placement
  const same = { side: 'both', placed: union, x: 0 } as const
  if (mode === 'diff') {
    const [height = 0] = heights
    const tops = union.placement.tops[0] as Float64Array
    const steady = { isDiff: true, tops, opacity: () => 1, workLength: diffLength, label: labelOf }
    return { width, height, heads: [], correspondences: [], parts: [{ ...same, y: 0, ...steady }] }
  }
  const { height, caption, ...frame } = flowFrame(union, layouts.stages, at)
  const head = { x: 0, text: caption, side: at <= 0 ? 'before' : at >= 1 ? 'after' : null } as const
  return {
    width: Math.max(width, headWidth(caption)),
    height: height + HEAD,
    heads: [head],
    correspondences: [],
    parts: [{ ...same, y: HEAD, isDiff: false, ...frame }],
  }
}

/** Bold letters, and the sign before them. */
function headWidth(text: string): number {
  return 1.1 * textWidth(text, HEAD_SIZE) + HEAD_SIGN
}

function labelOf({ label }: PlacedLink): string {
  return label
}

function sideBySide(
  { scene, before, after }: Extract<FlowLayouts, { mode: 'side-by-side' }>,
  data: FlowData,
  { pin, leastApart }: Pick<DrawingState, 'pin' | 'leastApart'>,
): FlowDrawing {
  const heads = { before: periodWords(data.before), after: periodWords(data.after) }
  const room = (side: 'before' | 'after') =>
    Math.max(headWidth(heads[side]), (side === 'before' ? before : after).placement.width)
  const down = pinnedShift(scene, before, after, pin)
  const part = (side: 'before' | 'after', x: number, y: number): FlowPart => {
    const placed = side === 'before' ? before : after
    return {
      ...{ side, placed, x, y: HEAD + y, isDiff: false },
      tops: placed.placement.tops[0] as Float64Array,
      opacity: () => 1,
      workLength: (link) => sideLength(link, side),
      label: labelOf,
    }
  }
  const [beforeWidth, afterWidth] = [room('before'), room('after')]
  const parts = [
    part('before', (beforeWidth - before.placement.width) / 2, Math.max(0, -down)),
    part('after', beforeWidth + GAP + (afterWidth - after.placement.width) / 2, Math.max(0, down)),
  ] as const
  return {
    width: beforeWidth + GAP + afterWidth,
    height: Math.max(
      ...parts.map(({ placed: { placement }, y }) => y + (placement.heights[0] as number)),
    ),
    heads: [
      { x: 0, text: heads.before, side: 'before' },
      { x: beforeWidth + GAP, text: heads.after, side: 'after' },
    ],
    parts,
    correspondences: correspondences(scene, parts, leastApart),
  }
}

/** How much further down the flow after has to stand so that the pinned step is at one height. */
function pinnedShift(
  { stepOf }: FlowScene,
  before: PlacedFlow,
  after: PlacedFlow,
  pin: number | null,
): number {
  if (pin === null) return 0
  const id = stepOf[pin]
  const [one, other] = [before, after].map(({ steps, placement }) => {
    const place = steps.findIndex((step) => step.id === id)
    return placement.tops[0]?.[place]
  })
  return one === undefined || other === undefined ? 0 : one - other
}

function correspondences(
  scene: FlowScene,
  [before, after]: readonly [FlowPart, FlowPart],
  leastApart: number,
): Correspondence[] {
  const placeIn = [before, after].map(
    ({ placed }) => new Map(placed.steps.map(({ id }, place) => [id, place])),
  )
  const yIn = (which: 0 | 1) => (id: number) => {
    const { placed, tops, y } = which === 0 ? before : after
    const place = placeIn[which]?.get(id) as number
    return y + (tops[place] as number) + (placed.steps[place]?.height ?? 0) / 2
  }
  const runs = sharedRuns(scene)
  const ends = new Set(linedSteps(runs, [yIn(0), yIn(1)], leastApart))
  return runs.flat().map((id) => {
    const end = (which: 0 | 1) => {
      const { placed, x } = which === 0 ? before : after
      const place = placeIn[which]?.get(id) as number
      const half = (placed.steps[place]?.width ?? 0) / 2
      const middle = x + (placed.placement.middles[place] as number)
      return { x: middle + (which === 0 ? half : -half), y: yIn(which)(id) }
    }
    return { step: id, from: end(0), to: end(1), isEnd: ends.has(id) }
  })
}

/** Whether a line of the drawing goes on after its work has ended, to reach a join. */
export function hasLeads({ parts }: FlowDrawing): boolean {
  return parts.some(({ placed: { links, steps }, tops, workLength, opacity }) =>
    links.some(({ link, from, to }) => {
      const start = (tops[from] as number) + (steps[from]?.height ?? 0)
      const rest = (tops[to] as number) - start - workLength(link)
      return rest > SEEN && opacity(link) > 0 && !(link.waits.before && link.waits.after)
    }),
  )
}
