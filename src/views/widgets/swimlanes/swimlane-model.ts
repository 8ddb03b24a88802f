import type { FlowSet } from '../../../flows/flow-set.ts'
import { lanesOf } from '../../charts/lanes.ts'
import { callCode } from '../../drawing/option-code.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import { pointTraffic, spanTraffic } from './swimlane-traffic.ts'

/** Visits and messages of a request. */
export function requestTraffic(flows: FlowSet, request: number, by: LaneBy): Traffic {
  const traces = flows.tracesOf(request)
  return traces?.kind === 'graphs' ? pointTraffic(flows, request) : spanTraffic(flows, request, by)
}

/** What a component does for a request between being asked and having answered. */
export interface Visit {
  readonly lane: string
  readonly name: string
  readonly startUs: number
  readonly endUs: number
  /** When it worked; else it waited for others. */
  readonly work: readonly StretchUs[]
  /** When its work was on the critical path. */
  readonly critical: readonly StretchUs[]
}

/** Something that went from one visit to another. */
export interface Message {
  readonly name: string
  readonly kind: 'call' | 'reply'
  /** Numbers of visits. */
  readonly from: number
  readonly to: number
  readonly sentUs: number
  readonly arrivedUs: number
  readonly isCritical: boolean
}

/** A request as visits and the messages between them; times in µs since it began. */
export interface Traffic {
  readonly visits: readonly Visit[]
  readonly messages: readonly Message[]
}

/** One period's request. */
export interface SwimlaneSide extends Traffic {
  readonly traceId: string
  readonly period: 'before' | 'after'
  readonly responseTimeUs: number
  /** How it was chosen. */
  readonly choice: string
  /** For each visit, which of its lane's tracks it is in: at the same time, visits have their own. */
  readonly tracks: readonly number[]
}

/** What divides a request up into lanes. */
export type LaneBy = 'service' | 'host'
/** Where the request after stands: below the one before, or beside it. */
export type Arrangement = 'below' | 'beside'

/** What the swimlanes can change. */
export interface SwimlaneState {
  readonly arrangement: Arrangement
  /** The part of the time that is shown of both; `null` for all of the longer one. */
  readonly range: StretchUs | null
  /** Where there are too many lanes, whether most are drawn as one. */
  readonly folded: boolean
}

/** What the swimlanes carry into a page. */
export interface SwimlaneData {
  readonly sides: readonly SwimlaneSide[]
  /** Names of lanes, and how many tracks each needs for both requests. */
  readonly lanes: readonly { readonly name: string; readonly tracks: number }[]
  /** Until when the time goes of both. */
  readonly lengthUs: number
  readonly title: string
  readonly initial: SwimlaneState
  /** What is shown, as code: `comparison, 3`. */
  readonly subject: readonly string[]
  readonly by: LaneBy
}

export const USUAL_SWIMLANES: SwimlaneState = { arrangement: 'below', range: null, folded: true }

/** Puts visits at the same time in one lane into tracks of their own. */
export function tracksOf(visits: readonly Visit[]): number[] {
  const tracks: number[] = []
  for (const lane of new Set(visits.map((visit) => visit.lane))) {
    const own = [...visits.entries()]
      .filter(([, visit]) => visit.lane === lane)
      .sort(([, a], [, b]) => a.startUs - b.startUs || b.endUs - a.endUs)
    const { lanes } = lanesOf(own.map(([, visit]) => visit))
    own.forEach(([number], i) => {
      tracks[number] = lanes[i] as number
    })
  }
  return tracks
}

/** The lanes of all sides, in the order in which requests first come there. */
export function lanesIn(sides: readonly SwimlaneSide[]): SwimlaneData['lanes'] {
  const tracks = new Map<string, number>()
  for (const { visits, tracks: own } of sides) {
    const inOrder = [...visits.entries()].sort(([, a], [, b]) => a.startUs - b.startUs)
    for (const [number, { lane }] of inOrder) {
      tracks.set(lane, Math.max(tracks.get(lane) ?? 0, (own[number] as number) + 1))
    }
  }
  return Array.from(tracks, ([name, count]) => ({ name, tracks: count }))
}

/** The line of code that shows a state again. */
export function swimlaneCode({ subject, by }: SwimlaneData, state: SwimlaneState): string {
  return callCode('exploreSwimlanes', subject, {
    arrangement: { value: state.arrangement, usually: USUAL_SWIMLANES.arrangement },
    range: { value: state.range, usually: null },
    folded: { value: state.folded, usually: USUAL_SWIMLANES.folded },
    lanes: { value: by, usually: 'service' },
  })
}
