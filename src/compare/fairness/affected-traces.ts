import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { partOf } from './number-text.ts'

/** A problem of more traces than this can matter to the results. */
const LEAST_SHARE = 0.005
const LEVEL = 0.001
/** The test of two shares is trusted from this many expected cases a period on. */
const LEAST_EXPECTED = 5

/** How many traces of each period have one problem. */
export interface AffectedTraces {
  readonly before: number
  readonly after: number
  readonly ofBefore: number
  readonly ofAfter: number
}

/** Whether the problem is frequent enough in a period, or differs between them (z test at 0.001). */
export function isConsiderable(affected: AffectedTraces, leastShare = LEAST_SHARE): boolean {
  const { before, after, ofBefore, ofAfter } = affected
  return before > leastShare * ofBefore || after > leastShare * ofAfter || differsInShare(affected)
}

export function differsInShare({ before, after, ofBefore, ofAfter }: AffectedTraces): boolean {
  const pooled = (before + after) / (ofBefore + ofAfter)
  if (!(pooled * Math.min(ofBefore, ofAfter) >= LEAST_EXPECTED)) return false
  return twoProportionsTest(before, ofBefore, after, ofAfter).p < LEVEL
}

/** `3 of 400 (0.75 %) traces before and 0 of 410 (0 %) after`. */
export function affectedText({ before, after, ofBefore, ofAfter }: AffectedTraces): string {
  return `${partOf(before, ofBefore)} traces before and ${partOf(after, ofAfter)} after`
}
