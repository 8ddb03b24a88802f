import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { lengthUs } from '../../drawing/stretches.ts'
import type { Message, SwimlaneSide, Visit } from './swimlane-model.ts'

/** Something on the lanes that can be pointed at. */
export interface LaneItem {
  readonly kind: 'visit' | 'message'
  readonly number: number
}

/** The items of a request in the order of time. */
export function itemsInOrder({
  visits,
  messages,
}: Pick<SwimlaneSide, 'visits' | 'messages'>): LaneItem[] {
  const items = [
    ...visits.map((visit, number) => ({ kind: 'visit' as const, number, atUs: visit.startUs })),
    ...messages.map((each, number) => ({ kind: 'message' as const, number, atUs: each.sentUs })),
  ]
  return items
    .sort((a, b) => a.atUs - b.atUs || Number(a.kind === 'visit') - Number(b.kind === 'visit'))
    .map(({ kind, number }) => ({ kind, number }))
}

/** A visit in words. */
export function visitWords({ lane, name, startUs, endUs, work }: Visit): string {
  const workedUs = lengthUs(work)
  return (
    `${tooltipText(lane)}, ${tooltipText(name)}: ${formatDuration(endUs - startUs)} from ` +
    `${formatDuration(startUs)} on, of which it worked ${formatDuration(workedUs)} and waited ` +
    formatDuration(Math.max(0, endUs - startUs - workedUs))
  )
}

/** A message in words. */
export function messageWords(message: Message, visits: readonly Visit[]): string {
  const { kind, name, from, to, sentUs, arrivedUs, isCritical } = message
  const lane = (visit: number) => tooltipText(visits[visit]?.lane ?? '')
  const wayUs = arrivedUs - sentUs
  const way = wayUs > 0 ? `${formatDuration(wayUs)} on the way` : 'no time on the way recorded'
  const critical = isCritical ? '; on the critical path' : ''
  return (
    `${kind === 'call' ? 'Call' : 'Reply'} ${tooltipText(name)} from ${lane(from)} to ${lane(to)}: ` +
    `sent at ${formatDuration(sentUs)}, ${way}${critical}`
  )
}

/** Which request a panel shows: its time, how it was chosen, its trace. */
export function sideWords({ period, responseTimeUs, traceId, choice }: SwimlaneSide) {
  return {
    title: `${period}: ${formatDuration(responseTimeUs)}`,
    choice: choice === 'chosen' ? '' : choice,
    trace: `trace ${shortText(traceId, 36)}`,
  }
}
