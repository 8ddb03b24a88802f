import type { QualityLog } from '../quality.ts'
import { type EventColumns, type FatherColumns, NO_FATHER } from './event-columns.ts'
import { COPY, type EventParts } from './event-parts.ts'

/** The father of a group that is a root. */
export const ROOT = -1
/** The father of a group whose father is not among the events. */
export const FATHER_MISSING = -2

/**
 * The father event of each group, or `ROOT`, or `FATHER_MISSING`. Where several events of a group
 * begin in the same nanosecond as the edge says, the father is the one of the operation that most
 * often is father of such a group elsewhere, or else the innermost; such edges are noted.
 */
export function findFathers(
  events: EventColumns,
  edges: FatherColumns,
  { parts, quality, file }: { parts: EventParts; quality: QualityLog; file: string },
): Int32Array {
  const fathers = new Int32Array(events.groupCount).fill(ROOT)
  const usual = new Map<string, number>()
  const unsure: [group: number, candidates: readonly number[]][] = []
  for (let group = 0; group < events.groupCount; group++) {
    const fatherGroup = edges.group[group]
    if (fatherGroup === undefined || fatherGroup === NO_FATHER) continue
    const candidates = eventsAt(events, parts, fatherGroup, edges.startUs[group] as number)
    const [only] = candidates
    fathers[group] = only ?? FATHER_MISSING
    if (only === undefined) continue
    if (candidates.length > 1) unsure.push([group, candidates])
    else {
      const kind = pairOf(events, parts, only, group)
      usual.set(kind, (usual.get(kind) ?? 0) + 1)
    }
  }
  for (const [group, candidates] of unsure) {
    const known = (event: number) => usual.get(pairOf(events, parts, event, group)) ?? 0
    const father = candidates.reduce((best, event) => (known(event) >= known(best) ? event : best))
    fathers[group] = father
    quality.note(
      {
        code: 'ambiguous-father',
        effect: 'kept',
        place: { file, line: edges.line[group], trace: events.traceId(group) },
        message: `${candidates.length} events are what an edge calls the father of ${events.groupName(group)}; taken is ${events.operations.value(events.operation.values[father] as number)}`,
      },
      '',
    )
  }
  return fathers
}

/** The events of a group that begin at `startUs`, outermost first; its first one where that is `NaN`. */
function eventsAt(
  events: EventColumns,
  { order, offsets, ofGroup, around }: EventParts,
  group: number,
  startUs: number,
): number[] {
  const start = events.startUs.values
  const found: number[] = []
  const lastPart = ofGroup[group + 1] as number
  for (let part = ofGroup[group] as number; part < lastPart; part++) {
    const end = offsets[part + 1] as number
    let at = offsets[part] as number
    if (Number.isNaN(startUs)) return [order[at] as number]
    for (let beyond = end; at < beyond; ) {
      const middle = (at + beyond) >>> 1
      if ((start[order[middle] as number] as number) < startUs) at = middle + 1
      else beyond = middle
    }
    for (; at < end && start[order[at] as number] === startUs; at++) {
      const event = order[at] as number
      if (around[event] !== COPY) found.push(event)
    }
  }
  return found
}

/** What calls what: the operations of a father and of the first event it started. */
function pairOf(
  events: EventColumns,
  { order, offsets, ofGroup }: EventParts,
  father: number,
  group: number,
): string {
  const child = order[offsets[ofGroup[group] as number] as number]
  const operation = events.operation.values
  return `${operation[father]} ${child === undefined ? '' : operation[child]}`
}
