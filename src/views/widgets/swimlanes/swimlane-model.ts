import { group, max, rollups, sort } from 'd3-array'
import {
  custom,
  defineOptions,
  flag,
  type OptionsOf,
  oneOf,
  optionalNumber,
} from '../../../core/options.ts'
import { lanesOf } from '../../charts/lanes.ts'
import { type StretchUs, TIME_RANGE } from '../../drawing/time-range.tsx'
import { STAGE_NAME } from '../define-widget.ts'

export interface SwimlaneTraces {
  readonly before?: string
  readonly after?: string
}

export const SWIMLANE_OPTIONS = defineOptions({
  category: optionalNumber(
    'Category whose median requests are shown; null for that of the highest-ranked mutation',
  ),
  traces: custom<string | SwimlaneTraces | null>({
    default: null,
    sentence: 'Traces that are shown instead: an id, or { before, after } with ids',
    expected: 'a trace id, or { before, after } with trace ids',
    accepts: (traces) =>
      traces === null ||
      typeof traces === 'string' ||
      (typeof traces === 'object' &&
        Object.keys(traces).length > 0 &&
        Object.entries(traces).every(
          ([side, id]) => ['before', 'after'].includes(side) && typeof id === 'string',
        )),
  }),
  arrangement: oneOf(['below', 'beside'], {
    default: 'below',
    sentence: 'Where the request after stands: below the one before over one axis, or beside it',
  }),
  range: TIME_RANGE,
  folded: flag({
    default: true,
    sentence:
      'Whether the components that matter least share a lane where there are more than 16 lines; stills always fold',
  }),
  lanes: oneOf(['service', 'host'], {
    default: 'service',
    sentence: 'What has a lane of its own; of trace points it is always the host',
  }),
  name: STAGE_NAME,
})

export type SwimlaneOptions = OptionsOf<typeof SWIMLANE_OPTIONS>

/** What a component does for a request between being asked and having answered. */
export interface Visit {
  readonly lane: string
  readonly name: string
  readonly startUs: number
  readonly endUs: number
  readonly work: readonly StretchUs[]
  readonly critical: readonly StretchUs[]
}

export interface Message {
  readonly name: string
  readonly kind: 'call' | 'reply'
  readonly from: number
  readonly to: number
  readonly sentUs: number
  readonly arrivedUs: number
  readonly isCritical: boolean
}

export interface PlacedVisit extends Visit {
  /** Which of its lane's tracks it is in: at the same time, visits have their own. */
  readonly track: number
}

export interface SwimlaneSide {
  readonly traceId: string
  readonly period: 'before' | 'after'
  readonly responseTimeUs: number
  readonly choice: string
  readonly visits: readonly PlacedVisit[]
  readonly messages: readonly Message[]
}

export interface SwimlaneData {
  readonly sides: readonly SwimlaneSide[]
  readonly lanes: readonly { readonly name: string; readonly tracks: number }[]
  readonly lengthUs: number
  readonly title: string
}

/** Puts visits at the same time in one lane into tracks of their own. */
export function tracksOf(visits: readonly Visit[]): number[] {
  const tracks: number[] = []
  for (const own of group(visits.entries(), ([, { lane }]) => lane).values()) {
    const inOrder = sort(
      own,
      ([, { startUs }]) => startUs,
      ([, { endUs }]) => -endUs,
    )
    const { lanes } = lanesOf(inOrder.map(([, visit]) => visit))
    inOrder.forEach(([number], i) => {
      tracks[number] = lanes[i] as number
    })
  }
  return tracks
}

export function lanesIn(sides: readonly SwimlaneSide[]): SwimlaneData['lanes'] {
  const visits = sides.flatMap((side) => sort(side.visits, ({ startUs }) => startUs))
  const tracks = (own: PlacedVisit[]) => 1 + (max(own, ({ track }) => track) ?? 0)
  return rollups(visits, tracks, ({ lane }) => lane).map(([name, count]) => ({
    name,
    tracks: count,
  }))
}
