import { lanesOf } from '../../charts/lanes.ts'
import type { StretchUs } from '../../drawing/stretches.ts'

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

/** What the swimlanes carry into a page. */
export interface SwimlaneData {
  readonly sides: readonly SwimlaneSide[]
  /** Names of lanes, and how many tracks each needs for both requests. */
  readonly lanes: readonly { readonly name: string; readonly tracks: number }[]
  /** Until when the time goes of both. */
  readonly lengthUs: number
  readonly title: string
}

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
