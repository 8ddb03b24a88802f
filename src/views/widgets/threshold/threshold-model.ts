import type { Comparison } from '../../../compare/comparison.ts'
import type { ComparisonOptions } from '../../../compare/comparison-options.ts'
import type { ComparisonSnapshot } from '../../../compare/snapshot.ts'
import { rootName } from '../../charts/node-names.ts'

/** What the threshold explorer can change. */
export type ThresholdState = Pick<
  ComparisonOptions,
  'smPThreshold' | 'alpha' | 'correction' | 'oneToN'
>

/** What the threshold explorer carries into a page. */
export interface ThresholdData {
  readonly snapshot: ComparisonSnapshot
  /** Rows of the ranking that are shown. */
  readonly limit: number
  /** What the comparison is called in code. */
  readonly name: string
}

/** How many categories each threshold would call mutations, and how many precursors. */
export interface ThresholdCurve {
  /** Ascending, evenly spaced on a log scale, the last above every change. */
  readonly thresholds: readonly number[]
  readonly mutations: readonly number[]
  readonly precursors: readonly number[]
  /** What chance alone would cross in one comparison of twenty. */
  readonly suggested: number
}

const STEPS_PER_DECADE = 24

/** The state a comparison is in. */
export function thresholdState({ options }: Comparison): ThresholdState {
  const { smPThreshold, alpha, correction, oneToN } = options
  return { smPThreshold, alpha, correction, oneToN }
}

/** Counts of mutations and precursors over all thresholds, from the changes of all categories. */
export function thresholdCurve(comparison: Comparison): ThresholdCurve {
  const { changes, suggestedThreshold: suggested } = comparison.with({ smPThreshold: 0 }).structural
  const gains = Array.from(changes, (change) => Math.max(0, change)).sort((a, b) => a - b)
  const losses = Array.from(changes, (change) => Math.max(0, -change)).sort((a, b) => a - b)
  const largest = Math.max(gains.at(-1) ?? 0, losses.at(-1) ?? 0, suggested)
  const thresholds = logSteps(largest)
  return {
    ...{ thresholds, suggested },
    mutations: thresholds.map((threshold) => countAbove(gains, threshold)),
    precursors: thresholds.map((threshold) => countAbove(losses, threshold)),
  }
}

/** Whole numbers from 1 to `largest` and the next step, each once. */
function logSteps(largest: number): number[] {
  const steps: number[] = []
  for (let step = 0; ; step++) {
    const threshold = Math.round(10 ** (step / STEPS_PER_DECADE))
    if (threshold !== steps.at(-1)) steps.push(threshold)
    if (threshold >= largest) return steps
  }
}

/** How many of ascending values are larger than `threshold`. */
function countAbove(ascending: readonly number[], threshold: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] as number) > threshold) high = middle
    else low = middle + 1
  }
  return ascending.length - low
}

/** One line of the ranking as it is shown. */
export interface ThresholdRow {
  readonly rank: number
  readonly category: number
  readonly kind: 'structural' | 'response-time'
  readonly name: string
  readonly requests: number
  readonly contributionUs: number
  readonly candidates: readonly ThresholdCandidate[]
}

/** A category that a mutation's requests may have belonged to. */
export interface ThresholdCandidate {
  readonly category: number
  readonly nsed: number
  readonly weight: number
  /** Requests it lost. */
  readonly lost: number
}

/** What one state gives: how many of each kind there are, and the first rows. */
export interface ThresholdResult {
  readonly structural: number
  readonly responseTime: number
  readonly precursors: number
  readonly rows: readonly ThresholdRow[]
}

const LONGEST_NAME = 60

/** The results in a state. */
export function thresholdResult(comparison: Comparison, limit: number): ThresholdResult {
  const { ranking, categories, structural, responseTime } = comparison
  return {
    structural: structural.mutations.length,
    responseTime: responseTime.mutations.length,
    precursors: structural.precursors.length,
    rows: ranking.mutations
      .slice(0, limit)
      .map(({ rank, category, kind, requests, contributionUs, precursors }) => ({
        ...{ rank, category, kind, requests, contributionUs },
        name: rootName(categories, category, LONGEST_NAME),
        candidates: precursors.map((candidate) => ({
          ...{ category: candidate.category, nsed: candidate.nsed, weight: candidate.weight },
          lost: -(structural.changes[candidate.category] as number),
        })),
      })),
  }
}

/** The code that leads from one state to another: `comparison.with({ smPThreshold: 12 })`. */
export function thresholdCode(name: string, from: ThresholdState, to: ThresholdState): string {
  const changed = (Object.keys(to) as (keyof ThresholdState)[]).filter(
    (option) => to[option] !== from[option],
  )
  const text = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))
  return changed.length === 0
    ? name
    : `${name}.with({ ${changed.map((option) => `${option}: ${text(to[option])}`).join(', ')} })`
}
