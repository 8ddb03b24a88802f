// Called for every column of every node: indexes with `!`.
import type { ClassCounts } from './class-counts.ts'
import type { CodedColumn } from './coded-column.ts'
import { type GainRatioScore, scoreByGainRatio } from './gain-ratio-score.ts'
import type { NodeRows } from './node-rows.ts'
import { divideByBranches, divideByThreshold, type SplitChoice } from './split-choice.ts'
import type { ValueGroups } from './value-groups.ts'
import type { XLogX } from './x-log-x.ts'

/** How far below the average a gain may be (C4.5). */
const BELOW_AVERAGE = 1e-3
/** Ratios this close are the same. */
const SAME = 1e-9

interface GainRatioOptions {
  readonly minLeaf: number
  readonly strict: boolean
}

/** The scores of all columns at a node. */
export function gainRatioScoresOf(
  columns: readonly CodedColumn[],
  { rows }: NodeRows,
  { precursors, mutations }: ClassCounts,
  groups: ValueGroups,
  xLogX: XLogX,
  options: GainRatioOptions,
): GainRatioScore[] {
  return columns.map((column) =>
    scoreByGainRatio(column, groups.fill(column, rows, precursors, mutations), xLogX, options),
  )
}

/**
 * C4.5's choice: of the columns that gain at least the average of all, less a little, the one with
 * the highest gain ratio; of several the first. Gain alone would favour columns with many values,
 * the ratio alone those that cut off a few rows.
 *
 * Undefined if no column gains anything.
 */
export function chooseByGainRatio(
  columns: readonly CodedColumn[],
  node: NodeRows,
  counts: ClassCounts,
  groups: ValueGroups,
  xLogX: XLogX,
  options: GainRatioOptions,
): SplitChoice | undefined {
  const scores = gainRatioScoresOf(columns, node, counts, groups, xLogX, options)
  const admissible = scores.filter((score) => score.admissible)
  const average = admissible.reduce((sum, { gain }) => sum + gain, 0) / admissible.length
  const candidates = admissible.filter(({ gain }) => gain >= average - BELOW_AVERAGE)
  const highest = candidates.reduce((most, { gainRatio }) => Math.max(most, gainRatio), 0)
  if (!(highest > SAME)) return undefined
  const [best, ...others] = candidates.filter(({ gainRatio }) => gainRatio >= highest - SAME)
  if (best === undefined) return undefined
  const column = columns[scores.indexOf(best)]!
  // The groups have since been filled with other columns.
  groups.fill(column, node.rows, counts.precursors, counts.mutations)
  const keys = Array.from(groups.keys.subarray(0, groups.size))
  const { gain, gainRatio, lastCode } = best
  return {
    ...(column.kind === 'numeric'
      ? divideByThreshold(column, lastCode, keys[keys.indexOf(lastCode) + 1]!)
      : divideByBranches(column, keys)),
    ...{ column: best.column, gain, gainRatio, tied: others.map((other) => other.column) },
  }
}
