import type { StretchUs } from '../../drawing/stretches.ts'
import type { SwimlaneSide } from './swimlane-model.ts'
import { itemsInOrder, type LaneItem } from './swimlane-words.ts'

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
