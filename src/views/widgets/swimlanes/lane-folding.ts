import { counted, grouped } from '../../../core/words.ts'
import { lengthUs } from '../../drawing/stretches.ts'
import type { SwimlaneData, Visit } from './swimlane-model.ts'

/** A lane as it is drawn: a component's, or one for all components that have none of their own. */
export interface DrawnLane {
  readonly name: string
  /** The whole of what its name says, for a tooltip. */
  readonly title: string
  readonly tracks: number
}

/** Where the visits of each side are drawn. */
export interface LaneFolding {
  readonly lanes: readonly DrawnLane[]
  /** Whether there are so many lines that some have to be folded, or could be. */
  readonly isLong: boolean
  /** The lane of a visit, its track there, and whether others are drawn over it. */
  readonly placeOf: (side: number, visit: number) => VisitPlace
}

export interface VisitPlace {
  readonly lane: number
  readonly track: number
  readonly isShared: boolean
}

/** More lines than these of one request are not in sight together. */
export const MOST_TRACKS = 16
/** So many visits of one component at once have a line of their own, where there are too many. */
const MOST_AT_ONCE = 5

/**
 * Draws the components that matter least as one lane, and what one component does too often at the
 * same time on one line, where there are more than {@link MOST_TRACKS} lines in all. The component
 * that requests begin at stays, and those with most work on critical paths of either side.
 */
export function foldLanes(
  { sides, lanes }: Pick<SwimlaneData, 'sides' | 'lanes'>,
  { folded }: { readonly folded: boolean },
): LaneFolding {
  const all = lanes.reduce((sum, { tracks }) => sum + tracks, 0)
  const isLong = all > MOST_TRACKS
  const limit = isLong && folded ? MOST_AT_ONCE : Number.POSITIVE_INFINITY
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
    if (tracks + (sizes[lane] as number) > MOST_TRACKS - (isLast ? 0 : 1)) continue
    kept.push(lane)
    tracks += sizes[lane] as number
  }
  return kept.sort((a, b) => a - b)
}
