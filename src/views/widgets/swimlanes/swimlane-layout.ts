import type { StretchUs } from '../../drawing/stretches.ts'
import { foldLanes, type LaneFolding } from './lane-folding.ts'
import type { SwimlaneData, SwimlaneState } from './swimlane-model.ts'

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

export const TRACK = 24
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
  { arrangement, range, folded = true }: Omit<SwimlaneState, 'folded'> & { folded?: boolean },
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
