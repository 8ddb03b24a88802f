import { counted } from '../../src/core/words.ts'

/** A comparison of periods between which nothing changed, and what was reported. */
export interface NullComparison {
  readonly id: string
  readonly titles: readonly string[]
}

/** Says how many comparisons report anything: `2 of 18 comparisons report something (11 %)`. */
export function reportingShare(comparisons: readonly NullComparison[]): string {
  const reporting = comparisons.filter(({ titles }) => titles.length > 0).length
  const all = counted(comparisons.length, 'comparison')
  const share = ((100 * reporting) / comparisons.length).toFixed(0)
  return `${reporting} of ${all} report something (${share} %)`
}

/** Returns what each comparison reports, one finding a line. */
export function alarmLines(comparisons: readonly NullComparison[]): string[] {
  return comparisons.flatMap(({ id, titles }) => titles.map((title) => `  ${id}  ${title}`))
}
