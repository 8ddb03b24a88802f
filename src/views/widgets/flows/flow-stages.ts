import {
  diffLabel,
  type PlacedFlow,
  type PlacedLink,
  sideLabel,
  sideLength,
} from './flow-layouts.ts'
import type { SceneLink, SceneStep } from './flow-scene.ts'

/**
 * What the animation does one after the other: steps of before alone fade, those of both make
 * room, those of after alone appear, latencies change.
 */
export type FlowStage = 'leave' | 'move' | 'enter' | 'stretch'

/** What is seen of an animation at one moment. */
export interface FlowFrame {
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
