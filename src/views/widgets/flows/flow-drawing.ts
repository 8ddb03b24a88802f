import { textWidth } from '../../charts/text-width.ts'
import type { FlowData, FlowMode } from './flow-data.ts'
import {
  diffLength,
  type PlacedFlow,
  type PlacedLink,
  placeAnimation,
  placeDiff,
  placeSide,
  sideLength,
} from './flow-layouts.ts'
import { linedSteps, sharedRuns } from './flow-runs.ts'
import type { FlowScene, SceneLink, SceneStep } from './flow-scene.ts'
import { type FlowStage, flowFrame, flowStages } from './flow-stages.ts'
import { periodWords } from './flow-words.ts'

/** Everything in its place, before it is known which mode's state is shown. */
export type FlowLayouts =
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
export interface Correspondence {
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

export interface DrawingState {
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
