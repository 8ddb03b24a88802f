import type { StretchUs } from '../../drawing/stretches.ts'
import { type GanttCall, subtreeSizes, visibleCalls } from './gantt-model.ts'

/** A row of the chart. */
export interface GanttRow {
  readonly number: number
  readonly call: GanttCall
  /** Calls below it, folded or not. */
  readonly inner: number
  readonly isFolded: boolean
  /** Stretches on the critical path: its own, and those of what is folded away in it. */
  readonly critical: readonly StretchUs[]
}

/** The rows that are left when some calls are folded. */
export function ganttRows(calls: readonly GanttCall[], collapsed: readonly number[]): GanttRow[] {
  const sizes = subtreeSizes(calls)
  const folded = new Set(collapsed)
  return visibleCalls(calls, collapsed).map((number) => {
    const call = calls[number] as GanttCall
    const size = sizes[number] as number
    const isFolded = size > 1 && folded.has(number)
    const within = isFolded ? calls.slice(number, number + size) : [call]
    return {
      ...{ number, call, inner: size - 1, isFolded },
      critical: within.flatMap(({ critical }) => critical),
    }
  })
}

/** Whether a search finds a call: all its words, in names, hosts or parameters. */
export function callMatches(call: GanttCall, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return false
  const { service, name, host, facts } = call
  const text = [service, name, host, ...facts.map((fact) => fact.join(' '))].join(' ').toLowerCase()
  return words.every((word) => text.includes(word))
}

/** What a call is called. */
export function callName({ service, name }: Pick<GanttCall, 'service' | 'name'>): string {
  return [service, name].filter((part) => part !== '').join(' ')
}

/** Unfolds all that a call is folded away in. */
export function unfoldedTo(
  calls: readonly GanttCall[],
  collapsed: readonly number[],
  number: number,
): number[] {
  const callers = new Set<number>()
  for (let at = calls[number]?.parent ?? -1; at >= 0; at = (calls[at] as GanttCall).parent) {
    callers.add(at)
  }
  return collapsed.filter((call) => !callers.has(call))
}
