import { formatDuration } from '../../../core/units.ts'
import { textWidth } from '../../charts/text-width.ts'
import {
  edgeLength,
  type FlowMoment,
  MIN_EDGE_LENGTH,
  type Placement,
  placeFlow,
} from './flow-placement.ts'
import type { FlowScene, SceneLink, SceneStep } from './flow-scene.ts'

/** Some of a scene's steps and links in their places; lists of the placement are as theirs. */
export interface PlacedFlow {
  readonly steps: readonly SceneStep[]
  readonly links: readonly PlacedLink[]
  readonly placement: Placement
}

/** A link whose ends are places in the steps of a placed flow, with the length of its work. */
export interface PlacedLink {
  readonly link: SceneLink
  readonly from: number
  readonly to: number
  readonly label: string
}

export const LABEL_SIZE = 11

type Side = 'before' | 'after'

/** How long a line has to be on a side; waiting is as long as what is waited for. */
export function sideLength(link: SceneLink, side: Side): number {
  const latencyUs = side === 'before' ? link.beforeUs : link.afterUs
  return link.waits[side] ? MIN_EDGE_LENGTH : edgeLength(latencyUs)
}

/** How long a line has to be for the longer of its two latencies. */
export function diffLength(link: SceneLink): number {
  return Math.max(
    link.inBefore ? sideLength(link, 'before') : MIN_EDGE_LENGTH,
    link.inAfter ? sideLength(link, 'after') : MIN_EDGE_LENGTH,
  )
}

/** One layout of the union, each edge as long as the longer of its two latencies. */
export function placeDiff(scene: FlowScene): PlacedFlow {
  return placed(scene.steps, scene.links, { label: diffLabel }, ({ links, steps }) => [
    moment(steps, links, { isThere: () => true, lengthOf: diffLength }),
  ])
}

/** A layout of one side alone. */
export function placeSide(scene: FlowScene, side: Side): PlacedFlow {
  const isThere = isOn(side)
  return placed(
    scene.steps.filter(isThere),
    scene.links.filter(isThere),
    { label: (link) => sideLabel(link, side) },
    ({ links, steps }) => [
      moment(steps, links, { isThere, lengthOf: (link) => sideLength(link, side) }),
    ],
  )
}

/**
 * The union at three moments: before; the steps of after with the latencies of before; after.
 * Nothing moves from left to right, nothing overlaps at any of them.
 */
export function placeAnimation(scene: FlowScene): PlacedFlow {
  const isBefore = isOn('before')
  const isAfter = isOn('after')
  return placed(scene.steps, scene.links, { label: diffLabel }, ({ links, steps }) => [
    moment(steps, links, { isThere: isBefore, lengthOf: (link) => sideLength(link, 'before') }),
    moment(steps, links, {
      isThere: isAfter,
      lengthOf: (link) => sideLength(link, link.inBefore ? 'before' : 'after'),
    }),
    moment(steps, links, { isThere: isAfter, lengthOf: (link) => sideLength(link, 'after') }),
  ])
}

/** `71 µs → 1.12 ms`, or the one there is. */
export function diffLabel(link: SceneLink): string {
  const { inBefore, inAfter, waits } = link
  if (!inBefore || !inAfter) return sideLabel(link, inBefore ? 'before' : 'after')
  const [before, after] = [latency(link.beforeUs), latency(link.afterUs)]
  return waits.before && waits.after ? `waits ${before} → ${after}` : `${before} → ${after}`
}

/** `71 µs`, or `waits 71 µs`. */
export function sideLabel({ waits, beforeUs, afterUs }: SceneLink, side: Side): string {
  const time = latency(side === 'before' ? beforeUs : afterUs)
  return waits[side] ? `waits ${time}` : time
}

function latency(us: number | null): string {
  return us === null ? '–' : formatDuration(us)
}

function isOn(side: Side): (thing: { inBefore: boolean; inAfter: boolean }) => boolean {
  return ({ inBefore, inAfter }) => (side === 'before' ? inBefore : inAfter)
}

function placed(
  steps: readonly SceneStep[],
  links: readonly SceneLink[],
  { label }: { label: (link: SceneLink) => string },
  momentsOf: (parts: {
    steps: readonly SceneStep[]
    links: readonly SceneLink[]
  }) => readonly FlowMoment[],
): PlacedFlow {
  const placeOf = new Map(steps.map(({ id }, place) => [id, place]))
  const placedLinks = links.map((link) => ({
    ...{ link, label: label(link) },
    from: placeOf.get(link.from) as number,
    to: placeOf.get(link.to) as number,
  }))
  const lines = placedLinks.map(({ from, to, label: text }) => ({
    ...{ from, to },
    // Those of changed edges are bold.
    labelWidth: 1.08 * textWidth(text, LABEL_SIZE),
  }))
  const placement = placeFlow({ boxes: steps, lines }, momentsOf({ steps, links }))
  return { steps, links: placedLinks, placement }
}

function moment(
  steps: readonly SceneStep[],
  links: readonly SceneLink[],
  {
    isThere,
    lengthOf,
  }: {
    isThere: (thing: { inBefore: boolean; inAfter: boolean }) => boolean
    lengthOf: (link: SceneLink) => number
  },
): FlowMoment {
  return {
    isThere: steps.map(isThere),
    lengths: links.map((link) => (isThere(link) ? lengthOf(link) : null)),
  }
}
