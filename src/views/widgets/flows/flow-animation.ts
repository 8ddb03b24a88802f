import type { FlowDifference } from '../../../explain/flow-pair/flow-comparison.ts'
import { edgeLength, type FlowMoment, MIN_EDGE_LENGTH, type Placement } from './flow-placement.ts'
import {
  type FlowScene,
  type FlowSide,
  isOn,
  type SceneLink,
  type SceneStep,
  SIDES,
} from './flow-scene.ts'
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

/** A difference that is animated by itself; `null` for all that is left. */
type FlowStage = FlowDifference | null

type Stretched = SceneStep | SceneLink

export type FlowAnimation = ReturnType<typeof flowAnimation>

/** Most stages: with more differences, the smaller ones are one stage. */
const MAX_STAGES = 10

/**
 * Returns the stages of an animation, and the visible parts of a scene in between: one stage per difference, the
 * largest part of the change first, and one for everything else. Source: Sambasivan 2013, §4.4.4 and §4.5, which leaves
 * the order open.
 */
export function flowAnimation({ steps, links, differences }: FlowScene) {
  const byNode = new Map(differences.flatMap((each) => each.nodes.map((node) => [node, each])))
  const byEdge = new Map(differences.flatMap((each) => each.edges.map((edge) => [edge, each])))
  const cause = (thing: Stretched): FlowStage | undefined => {
    const isThroughout = thing.inBefore && thing.inAfter
    if ('nodes' in thing) {
      return isThroughout ? undefined : (thing.nodes.map((node) => byNode.get(node))[0] ?? null)
    }
    if (isThroughout && thing.beforeUs === thing.afterUs) return undefined
    const own = [thing.lead.id, ...thing.edges].map((edge) => byEdge.get(edge))
    return own.find((each) => each !== undefined) ?? null
  }
  const causes = new Map([...steps, ...links].map((thing) => [thing, cause(thing)]))
  const seen = new Set(causes.values())
  const ownStage = differences.filter((each) => seen.has(each)).slice(0, MAX_STAGES)
  const isLeft = [...seen].some((each) => each !== undefined && !ownStage.includes(each as never))
  const stages: readonly FlowStage[] = isLeft ? [...ownStage, null] : ownStage
  // Whether a link has its latency of after once that many stages are over.
  const isOver = (thing: Stretched, over: number) => {
    const stage = stages.indexOf(causes.get(thing) ?? null)
    return (stage < 0 ? stages.length - 1 : stage) < over
  }
  // The scene before, after each stage, and so after all.
  const moments = Array.from({ length: stages.length + 1 }, (_, over): FlowMoment => {
    const isDone = (thing: Stretched) => (isOver(thing, over) ? thing.inAfter : thing.inBefore)
    const there = new Set(steps.filter(isDone).map(({ id }) => id))
    const canBe = links.filter(({ from, to }) => there.has(from) && there.has(to))
    const drawn = new Set(canBe.filter(isDone))
    // A step between two stages follows the step that led to it before, or will.
    const entered = new Set([...drawn].map(({ to }) => to))
    const isBetween = over > 0 && over < stages.length
    for (const link of canBe) if (isBetween && !entered.has(link.to)) drawn.add(link)
    const side = (link: SceneLink) => (isOver(link, over) && link.inAfter ? 'after' : 'before')
    return {
      isThere: steps.map(({ id }) => there.has(id)),
      lengths: links.map((link) =>
        drawn.has(link) ? sideLength(link, isOn(link, side(link)) ? side(link) : 'after') : null,
      ),
    }
  })
  return { stages, moments, isOver }
}

/** Returns how many stages are over at a moment, including the part of the current one. */
export function stagesOver({ stages: { length } }: FlowAnimation, at: number): number {
  const over = at * length
  // The end of a stage is no round number.
  const near = Math.round(over)
  return Math.abs(over - near) <= length / 1000 ? near : over
}

/** Returns a moment of the animation; `at` runs from 0, before, to 1, after, in equal parts a stage. */
export function flowFrame(
  { steps, links, placement }: PlacedFlow,
  animation: FlowAnimation,
  at: number,
): FlowFrame & { readonly caption: string } {
  const { stages, moments, isOver } = animation
  const position = stagesOver(animation, at)
  const over = Math.min(Math.floor(position), Math.max(0, stages.length - 1))
  const share = Math.min(1, position - over)
  const progress = (part: number) => {
    const own = Math.min(1, Math.max(0, 3 * share - part))
    return own * own * (3 - 2 * own)
  }
  const [leave, move, enter] = [progress(0), progress(1), progress(2)]
  const next = Math.min(over + 1, stages.length)
  /** Returns a number between two moments' numbers, of which one may be missing. */
  const between = (start: number | null | undefined, end: number | null | undefined) => {
    const [one, other] = [start ?? Number.NaN, end ?? Number.NaN]
    if (Number.isNaN(one)) return Number.isNaN(other) ? 0 : other
    return Number.isNaN(other) ? one : one + move * (other - one)
  }
  const [now, then] = [moments[over], moments[next]]
  const fading = (isThere: boolean | undefined, willBe: boolean | undefined, stay = false) => {
    if (isThere && willBe) return 1
    // Lines between steps that stay are never missing: one goes while the other comes.
    if (isThere) return 1 - (stay ? move : leave)
    return willBe ? (stay ? move : enter) : 0
  }
  const staying = new Set(
    steps.filter((_, i) => now?.isThere[i] && then?.isThere[i]).map(({ id }) => id),
  )
  const opacityOf = new Map<Stretched, number>([
    ...steps.map((step, i) => [step, fading(now?.isThere[i], then?.isThere[i])] as const),
    ...links.map((link, i) => {
      const stay = staying.has(link.from) && staying.has(link.to)
      return [link, fading(now?.lengths[i] != null, then?.lengths[i] != null, stay)] as const
    }),
  ])
  const lengthOf = new Map(
    links.map((link, i) => [link, between(now?.lengths[i], then?.lengths[i])]),
  )
  return {
    tops: steps.map((_, i) => between(placement.tops[over]?.[i], placement.tops[next]?.[i])),
    opacity: (thing) => opacityOf.get(thing) ?? 0,
    workLength: (link) => lengthOf.get(link) ?? 0,
    label: (link) => {
      const isChanging = isOver(link, next) && !isOver(link, over) && share > 0 && share < 1
      if (isChanging || !link.inBefore || !link.inAfter) return diffLabel(link)
      return sideLabel(link, isOver(link, share === 1 ? next : over) ? 'after' : 'before')
    },
    caption: captionAt(stages, at, position),
  }
}

function captionAt(stages: readonly FlowStage[], at: number, position: number): string {
  if (at <= 0) return 'before'
  if (at >= 1) return 'after'
  const stage = stages[Math.ceil(position) - 1]
  if (stage === undefined) return 'in between; nothing differs'
  return `in between: ${stage === null ? 'everything else' : `difference ${stage.rank}`}`
}
