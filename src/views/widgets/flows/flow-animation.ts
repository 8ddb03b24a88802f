import { edgeLength, MIN_EDGE_LENGTH, type Placement } from './flow-placement.ts'
import { type FlowSide, isOn, type SceneLink, type SceneStep, SIDES } from './flow-scene.ts'
import { diffLabel, sideLabel } from './flow-words.ts'

/** Some of a scene's steps and links in their places; lists of the placement are as theirs. */
export interface PlacedFlow {
  readonly steps: readonly SceneStep[]
  readonly links: readonly SceneLink[]
  readonly placement: Placement
}

export function sideLength(link: SceneLink, side: FlowSide): number {
  const latencyUs = side === 'before' ? link.beforeUs : link.afterUs
  return link.waits[side] ? MIN_EDGE_LENGTH : edgeLength(latencyUs)
}

export function diffLength(link: SceneLink): number {
  return Math.max(...SIDES.filter((side) => isOn(link, side)).map((side) => sideLength(link, side)))
}

export interface FlowFrame {
  readonly tops: readonly number[]
  readonly opacity?: (thing: SceneStep | SceneLink) => number
  readonly workLength: (link: SceneLink) => number
  readonly label: (link: SceneLink) => string
}

const STAGES = {
  leave: 'what is gone fades',
  move: 'the rest makes room',
  enter: 'what is new appears',
  stretch: 'latencies change',
}

type FlowStage = keyof typeof STAGES

const MOVED = 0.5

export function flowStages({ steps, links, placement: { tops } }: PlacedFlow): FlowStage[] {
  const things = [...steps, ...links]
  const moves = (one: number, other: number) =>
    // What is not there at one of the two is NaN.
    steps.some((_, i) => Math.abs((tops[other]?.[i] ?? 0) - (tops[one]?.[i] ?? 0)) > MOVED)
  const isStretched = (link: SceneLink) =>
    link.inBefore && link.inAfter && link.beforeUs !== link.afterUs
  const happens: Record<FlowStage, boolean> = {
    leave: things.some(({ inAfter }) => !inAfter),
    move: moves(0, 1),
    enter: things.some(({ inBefore }) => !inBefore),
    stretch: moves(1, 2) || links.some(isStretched),
  }
  return (Object.keys(STAGES) as FlowStage[]).filter((stage) => happens[stage])
}

/** A moment of the animation; `at` runs from 0, before, to 1, after, in equal parts a stage. */
export function flowFrame(
  { steps, placement }: PlacedFlow,
  stages: readonly FlowStage[],
  at: number,
): FlowFrame & { readonly caption: string } {
  const progress = (stage: FlowStage) => {
    const place = stages.indexOf(stage)
    if (place < 0) return at >= 1 ? 1 : 0
    const share = Math.min(1, Math.max(0, at * stages.length - place))
    return share * share * (3 - 2 * share)
  }
  const [leave, move, enter] = [progress('leave'), progress('move'), progress('enter')]
  const stretch = progress('stretch')
  return {
    tops: steps.map(({ inBefore, inAfter }, i) => {
      const [start = 0, middle = 0, end = 0] = placement.tops.map((tops) => tops[i])
      if (!inAfter) return start
      const moved = inBefore ? start + move * (middle - start) : middle
      return moved + stretch * (end - middle)
    }),
    opacity: ({ inBefore, inAfter }) => (!inAfter ? 1 - leave : !inBefore ? enter : 1),
    workLength: (link) => {
      if (!link.inAfter) return sideLength(link, 'before')
      const after = sideLength(link, 'after')
      if (!link.inBefore) return after
      const before = sideLength(link, 'before')
      return before + stretch * (after - before)
    },
    label: (link) => {
      if (stretch > 0 && stretch < 1) return diffLabel(link)
      if (!link.inBefore || !link.inAfter) return diffLabel(link)
      return sideLabel(link, stretch === 1 || at === 1 ? 'after' : 'before')
    },
    caption: captionAt(stages, at),
  }
}

function captionAt(stages: readonly FlowStage[], at: number): string {
  if (at <= 0) return 'before'
  if (at >= 1) return 'after'
  const number = Math.min(stages.length - 1, Math.floor(at * stages.length))
  const stage = stages[number]
  if (stage === undefined) return 'in between; nothing differs'
  return `in between, ${number + 1} of ${stages.length}: ${STAGES[stage]}`
}
