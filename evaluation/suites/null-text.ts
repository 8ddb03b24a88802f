import { counted } from '../../src/core/words.ts'

/** A comparison of periods between which nothing changed, and what was reported. */
export interface NullComparison {
  readonly id: string
  readonly titles: readonly string[]
  /** Of each title, whether what it says really was so, whatever the reason; see `standsApart`. */
  readonly apart: readonly boolean[]
}

/** What `apart` means, for a reader. */
export const APART =
  '* the ten stretches of time of each period stand apart: the level really moved'

/**
 * Says how many comparisons report anything: `2 of 18 comparisons report something (11 %)`, and how
 * many of those nothing that really was so.
 */
export function reportingShare(comparisons: readonly NullComparison[]): string {
  const reporting = comparisons.filter(({ titles }) => titles.length > 0)
  const real = reporting.filter(({ apart }) => apart.every(Boolean)).length
  const all = counted(comparisons.length, 'comparison')
  const share = ((100 * reporting.length) / comparisons.length).toFixed(0)
  const moved = real === 0 ? '' : `; in ${real} of them the level really moved*`
  return `${reporting.length} of ${all} report something (${share} %)${moved}`
}

/** Returns what each comparison reports, one finding a line. */
export function alarmLines(comparisons: readonly NullComparison[]): string[] {
  return comparisons.flatMap(({ id, titles, apart }) =>
    titles.map((title, i) => `  ${id}  ${title}${apart[i] ? ' *' : ''}`),
  )
}
