import { counted, grouped } from '../../../core/words.ts'
import { lengthUs, type StretchUs } from '../../drawing/stretches.ts'
import type { SwimlaneOptions } from './options.ts'
import type { SwimlaneData, SwimlaneSide, Visit } from './swimlane-model.ts'
import { itemsInOrder, type LaneItem } from './swimlane-words.ts'

/** A lane as it is drawn: a component's, or one for all components that have none of their own. */
interface DrawnLane {
  readonly name: string
  /** The whole of what its name says, for a tooltip. */
  readonly title: string
  readonly tracks: number
}

/** Where the visits of each side are drawn. */
interface LaneFolding {
  readonly lanes: readonly DrawnLane[]
  /** Whether there are so many lines that some have to be folded, or could be. */
  readonly isLong: boolean
  /** The lane of a visit, its track there, and whether others are drawn over it. */
  readonly placeOf: (side: number, visit: number) => VisitPlace
}

interface VisitPlace {
  readonly lane: number
  readonly track: number
  readonly isShared: boolean
}

/** More lines than these of one request are not in sight together. */
export const MAX_TRACKS = 16
/** So many visits of one component at once have a line of their own, where there are too many. */
const MAX_AT_ONCE = 5

/**
 * Draws the components that matter least as one lane, and what one component does too often at the
 * same time on one line, where there are more than {@link MAX_TRACKS} lines in all. The component
 * that requests begin at stays, and those with most work on critical paths of either side.
 */
export function foldLanes(
  { sides, lanes }: Pick<SwimlaneData, 'sides' | 'lanes'>,
  { folded }: { readonly folded: boolean },
): LaneFolding {
  const all = lanes.reduce((sum, { tracks }) => sum + tracks, 0)
  const isLong = all > MAX_TRACKS
  const limit = isLong && folded ? MAX_AT_ONCE : Number.POSITIVE_INFINITY
  const sizes = lanes.map(({ tracks }) => Math.min(tracks, limit))
  const kept = isLong && folded ? keptLanes({ sides, lanes }, sizes) : [...lanes.keys()]
  const rest = lanes.length - kept.length
  const numbers = new Map(kept.map((lane, i) => [lanes[lane]?.name, i]))
  const drawn = kept.map((lane): DrawnLane => {
    const { name, tracks } = lanes[lane] as (typeof lanes)[number]
    const beyond = tracks - (sizes[lane] as number)
    if (beyond === 0) return { name, title: name, tracks }
    const title = `${name}: ${grouped(beyond + 1)} of its ${counted(tracks, 'line')} are drawn as one`
    return { name: `${name} (+${grouped(beyond)})`, title, tracks: sizes[lane] as number }
  })
  const more = { name: `… and ${counted(rest, 'more lane')}`, tracks: 1 }
  return {
    lanes: rest === 0 ? drawn : [...drawn, { ...more, title: `${more.name}, drawn as one` }],
    isLong,
    placeOf: (side, visit) => {
      const { visits, tracks } = sides[side] as SwimlaneData['sides'][number]
      const lane = numbers.get((visits[visit] as Visit).lane)
      if (lane === undefined) return { lane: kept.length, track: 0, isShared: true }
      const track = tracks[visit] as number
      return { lane, track: Math.min(track, limit - 1), isShared: track >= limit - 1 }
    },
  }
}

/** The numbers of the lanes that stay, in their order; one line is left for all others. */
function keptLanes(
  { sides, lanes }: Pick<SwimlaneData, 'sides' | 'lanes'>,
  sizes: readonly number[],
): number[] {
  const weights = sides.map(({ visits }) => {
    const byLane = new Map<string, number>()
    for (const { lane, critical, work } of visits) {
      // What is not waited for only decides between lanes of which nothing is.
      const weight = lengthUs(critical) + 1e-6 * lengthUs(work)
      byLane.set(lane, (byLane.get(lane) ?? 0) + weight)
    }
    return byLane
  })
  const weight = lanes.map(({ name }) => Math.max(...weights.map((of) => of.get(name) ?? 0)))
  const [first = 0, ...others] = lanes.keys()
  others.sort((a, b) => (weight[b] as number) - (weight[a] as number) || a - b)
  const kept: number[] = []
  let tracks = 0
  for (const lane of [first, ...others]) {
    const isLast = kept.length === lanes.length - 1
    if (tracks + (sizes[lane] as number) > MAX_TRACKS - (isLast ? 0 : 1)) continue
    kept.push(lane)
    tracks += sizes[lane] as number
  }
  return kept.sort((a, b) => a - b)
}

/** Where the drawings of both requests stand, in pixels; times share one scale. */
export interface SwimlaneLayout {
  readonly width: number
  readonly height: number
  readonly panels: readonly Panel[]
  readonly lanes: readonly LanePlace[]
  readonly folding: LaneFolding
  /** Height of all lanes. */
  readonly lanesHeight: number
  readonly range: StretchUs
}

/** Where one request is drawn. */
export interface Panel {
  /** Number of the side. */
  readonly side: number
  readonly left: number
  readonly top: number
  readonly width: number
  /** Whether names of lanes stand to its left. */
  readonly hasNames: boolean
}

/** Where a lane stands below the top of the lanes. */
export interface LanePlace {
  readonly name: string
  readonly title: string
  readonly top: number
  readonly height: number
}

const TRACK = 24
/** Above the lanes: which request this is. */
export const PANEL_HEAD = 40
/** Below the lanes: the axis. */
export const PANEL_FOOT = 24
const GAP = 14
const LANE_PADDING = 6
const RIGHT = 14

/** Places the panels in a width, with the names of lanes to the left. */
export function swimlaneLayout(
  { sides, lanes, lengthUs }: SwimlaneData,
  { arrangement, range, folded }: Pick<SwimlaneOptions, 'arrangement' | 'range' | 'folded'>,
  width: number,
): SwimlaneLayout {
  const folding = foldLanes({ sides, lanes }, { folded })
  const names = Math.min(150, Math.round(width * 0.22))
  let top = 0
  const places = folding.lanes.map(({ name, title, tracks }) => {
    const height = tracks * TRACK + LANE_PADDING
    const place = { name, title, top, height }
    top += height
    return place
  })
  const panelHeight = PANEL_HEAD + top + PANEL_FOOT
  const isBeside = arrangement === 'beside'
  const columns = isBeside ? Math.max(1, sides.length) : 1
  const plot = (width - names - RIGHT - (columns - 1) * GAP) / columns
  const panels = sides.map((_, side) => ({
    side,
    left: names + (isBeside ? side * (plot + GAP) : 0),
    top: isBeside ? 0 : side * (panelHeight + GAP),
    width: plot,
    hasNames: !isBeside || side === 0,
  }))
  const rows = isBeside ? 1 : sides.length
  return {
    ...{ width, panels, lanes: places, folding, lanesHeight: top },
    height: rows * panelHeight + (rows - 1) * GAP,
    range: range ?? [0, lengthUs],
  }
}

/** Where a time lies across a panel. Beyond the range it lies outside. */
export function timeAcross([fromUs, toUs]: StretchUs, width: number): (timeUs: number) => number {
  return (timeUs) => ((timeUs - fromUs) / (toUs - fromUs)) * width
}

/** Middle of a visit's line, below the top of the lanes. */
export function visitLine(
  { folding, lanes }: Pick<SwimlaneLayout, 'folding' | 'lanes'>,
  side: number,
  visit: number,
): number {
  const { lane, track } = folding.placeOf(side, visit)
  return (lanes[lane]?.top ?? 0) + LANE_PADDING / 2 + track * TRACK + 17
}

/** What of a request is drawn on its lanes. */
export interface DrawnItems {
  /** In the order of time. */
  readonly items: readonly LaneItem[]
  /** Messages in the range, and how many of them are left out as they crowd. */
  readonly messages: number
  readonly leftOut: number
  /** Whether so many are left that they have to be thin. */
  readonly isDense: boolean
}

/** Messages between the same two lines are this far apart at least, in pixels. */
const APART = 8
/** With more messages in a pixel of the width, lines are thin. */
const DENSE = 0.2

/**
 * What of a request is in a range; of messages between the same two lines that would lie upon each
 * other one for all, on the critical path if any of them is.
 */
export function drawnItems(
  side: Pick<SwimlaneSide, 'visits' | 'messages'>,
  {
    range: [fromUs, toUs],
    width,
    lineOf,
  }: {
    readonly range: StretchUs
    /** Pixels that the range is wide. */
    readonly width: number
    /** Where the line of a visit is. */
    readonly lineOf: (visit: number) => number
  },
): DrawnItems {
  const isSeen = (startUs: number, endUs: number) => endUs >= fromUs && startUs <= toUs
  const items = itemsInOrder(side).filter(({ kind, number }) => {
    const { visits, messages } = side
    const visit = visits[number]
    const message = messages[number]
    return kind === 'visit'
      ? visit !== undefined && isSeen(visit.startUs, visit.endUs)
      : message !== undefined && isSeen(message.sentUs, message.arrivedUs)
  })
  const shown = new Map<string, number>()
  let messages = 0
  for (const { kind, number } of items) {
    const message = side.messages[number]
    if (kind === 'visit' || message === undefined) continue
    messages++
    const { from, to, sentUs, arrivedUs, isCritical } = message
    const place = (timeUs: number) =>
      Math.floor((((timeUs - fromUs) / (toUs - fromUs)) * width) / APART)
    const key = [lineOf(from), lineOf(to), place(sentUs), place(arrivedUs)].join(' ')
    const other = side.messages[shown.get(key) ?? -1]
    if (other === undefined || (isCritical && !other.isCritical)) shown.set(key, number)
  }
  const drawn = new Set(shown.values())
  return {
    items: items.filter(({ kind, number }) => kind === 'visit' || drawn.has(number)),
    ...{ messages, leftOut: messages - drawn.size },
    isDense: drawn.size > DENSE * width,
  }
}
