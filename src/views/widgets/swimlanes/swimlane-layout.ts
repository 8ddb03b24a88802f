import { group, max, rollup, sort, sum } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { counted, grouped } from '../../../core/words.ts'
import { lengthUs } from '../../drawing/time-range.tsx'
import type {
  Message,
  PlacedVisit,
  SwimlaneData,
  SwimlaneOptions,
  SwimlaneSide,
  Visit,
} from './swimlane-model.ts'

/** Most lines of one request in sight together. */
export const MAX_TRACKS = 16
/** Most simultaneous visits of one component with a line of their own, if there are too many. */
const MAX_AT_ONCE = 5

/** Returns the lanes that stay: the first one, and those with most work on critical paths. */
function keptLanes({ sides, lanes }: Pick<SwimlaneData, 'sides' | 'lanes'>): SwimlaneData['lanes'] {
  // Work that nobody waits for only ranks lanes that nobody waits for at all.
  const weight = ({ critical, work }: Visit) => lengthUs(critical) + 1e-6 * lengthUs(work)
  const weights = sides.map(({ visits }) =>
    rollup(
      visits,
      (own) => sum(own, weight),
      ({ lane }) => lane,
    ),
  )
  const [first, ...others] = lanes
  const byWeight = sort(others, ({ name }) => -(max(weights, (of) => of.get(name) ?? 0) ?? 0))
  const kept = new Set<unknown>()
  let left = MAX_TRACKS
  for (const lane of first === undefined ? [] : [first, ...byWeight]) {
    const isLast = kept.size === lanes.length - 1
    const size = Math.min(lane.tracks, MAX_AT_ONCE)
    if (size > left - (isLast ? 0 : 1)) continue
    kept.add(lane)
    left -= size
  }
  return lanes.filter((lane) => kept.has(lane))
}

export type SwimlaneLayout = ReturnType<typeof swimlaneLayout>

export type Panel = SwimlaneLayout['panels'][number]

const TRACK = 24
export const PANEL_HEAD = 40
export const PANEL_FOOT = 24
const GAP = 14
const LANE_PADDING = 6
const RIGHT = 14

/** Places the panels; folded, lanes that matter least are one, and crowded visits share a line. */
export function swimlaneLayout(
  { sides, lanes, lengthUs: end }: SwimlaneData,
  { arrangement, range, folded }: Pick<SwimlaneOptions, 'arrangement' | 'range' | 'folded'>,
  width: number,
) {
  const isLong = sum(lanes, ({ tracks }) => tracks) > MAX_TRACKS
  const limit = isLong && folded ? MAX_AT_ONCE : Number.POSITIVE_INFINITY
  const own = isLong && folded ? keptLanes({ sides, lanes }) : lanes
  const named = own.map(({ name, tracks }) => {
    const beyond = tracks - limit
    if (beyond <= 0) return { name, title: name, tracks }
    const title = `${name}: ${grouped(beyond + 1)} of its ${counted(tracks, 'line')} are drawn as one`
    return { name: `${name} (+${grouped(beyond)})`, title, tracks: limit }
  })
  const more = `… and ${counted(lanes.length - own.length, 'more lane')}`
  if (own.length < lanes.length)
    named.push({ name: more, title: `${more}, drawn as one`, tracks: 1 })
  let lanesHeight = 0
  const drawn = named.map((lane) => {
    const height = lane.tracks * TRACK + LANE_PADDING
    lanesHeight += height
    return { ...lane, top: lanesHeight - height, height }
  })
  const laneOf = new Map(own.map(({ name }, i) => [name, drawn[i]]))
  const names = Math.min(150, Math.round(width * 0.22))
  const panelHeight = PANEL_HEAD + lanesHeight + PANEL_FOOT
  const isBeside = arrangement === 'beside'
  const [columns, rows] = isBeside ? [Math.max(1, sides.length), 1] : [1, sides.length]
  const plot = (width - names - RIGHT - (columns - 1) * GAP) / columns
  return {
    width,
    lanes: drawn,
    lanesHeight,
    /** Whether there are so many lines that some have to be folded, or could be. */
    isLong,
    range: range ?? ([0, end] as const),
    height: rows * panelHeight + (rows - 1) * GAP,
    panels: sides.map((_, side) => ({
      side,
      left: names + (isBeside ? side * (plot + GAP) : 0),
      top: isBeside ? 0 : side * (panelHeight + GAP),
      width: plot,
      names: isBeside && side > 0 ? 0 : names,
    })),
    placeOf: ({ lane: name, track }: PlacedVisit) => {
      const lane = laneOf.get(name)
      const at = lane === undefined ? 0 : Math.min(track, limit - 1)
      const top = (lane ?? drawn.at(-1))?.top ?? 0
      return {
        y: top + LANE_PADDING / 2 + at * TRACK + 17,
        isShared: lane === undefined || track >= limit - 1,
      }
    },
  }
}

export type LaneItem = {
  readonly key: string
  readonly startUs: number
  readonly endUs: number
} & (
  | { readonly visit: PlacedVisit }
  | { readonly message: Message; readonly from: PlacedVisit; readonly to: PlacedVisit }
)

type MessageItem = Extract<LaneItem, { readonly message: Message }>

/** Returns the items of a request in the order of time; messages before what begins with them. */
export function laneItems({
  visits,
  messages,
}: Pick<SwimlaneSide, 'visits' | 'messages'>): LaneItem[] {
  const at = (visit: number) => visits[visit] as PlacedVisit
  const items = [
    ...messages.map((message, i): LaneItem => {
      const { sentUs, arrivedUs, from, to } = message
      const ends = { startUs: sentUs, endUs: arrivedUs, from: at(from), to: at(to) }
      return { key: `message-${i}`, ...ends, message }
    }),
    ...visits.map((visit, i): LaneItem => {
      const { startUs, endUs } = visit
      return { key: `visit-${i}`, startUs, endUs, visit }
    }),
  ]
  return sort(items, ({ startUs }) => startUs)
}

export type DrawnItems = ReturnType<typeof drawnItems>

/** Messages between the same two lines are this far apart at least, in pixels. */
const APART = 8
/** Messages per pixel of the width above which lines are thin. */
const DENSE = 0.2

/** Returns the items in a range; messages that would overlap are drawn as one. */
export function drawnItems(
  side: Pick<SwimlaneSide, 'visits' | 'messages'>,
  { range, placeOf }: Pick<SwimlaneLayout, 'range' | 'placeOf'>,
  width: number,
) {
  const seen = laneItems(side).filter(
    ({ startUs, endUs }) => endUs >= range[0] && startUs <= range[1],
  )
  const messages = seen.filter((item): item is MessageItem => 'message' in item)
  const x = scaleLinear(range, [0, width / APART])
  const crowds = group(messages, ({ from, to, startUs, endUs }) =>
    [placeOf(from).y, placeOf(to).y, Math.floor(x(startUs)), Math.floor(x(endUs))].join(' '),
  )
  const drawn = new Set<LaneItem | undefined>()
  for (const crowd of crowds.values()) {
    drawn.add(crowd.find(({ message }) => message.isCritical) ?? crowd[0])
  }
  return {
    items: seen.filter((item) => 'visit' in item || drawn.has(item)),
    /** Messages in the range, and how many of them are left out as they crowd. */
    messages: messages.length,
    leftOut: messages.length - drawn.size,
    isDense: drawn.size > DENSE * width,
  }
}
