import { range } from 'd3-array'
import type { Comparison } from '../../compare/comparison.ts'
import { findingsLevel } from '../../compare/findings/find-findings.ts'
import { typicalTimeUs } from '../../compare/ranking/rank-mutations.ts'
import { type Quantity, signedAmount, TIME } from '../../core/quantity.ts'
import { grouped, percent } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { detectableShift } from '../../stats/detectable-shift.ts'
import { equalSamples, type SamplePair } from '../../stats/two-sample.ts'
import { rootName } from '../charts/node-names.ts'

export type Power = ReturnType<typeof power>

/** The slowdown of frequent kinds seen in four comparisons of five, at the level of findings. */
export function power({ categories, flows, responseTime, options }: Comparison, limit: number) {
  const testable = range(categories.size).filter((one) => responseTime.test(one).testable)
  const alpha = findingsLevel(options.alpha) / Math.max(1, testable.length)
  const requests = (category: number) => Math.round(categories.counted(category, AFTER))
  const frequent = [...testable].sort((a, b) => requests(b) - requests(a) || a - b).slice(0, limit)
  const covered = testable.reduce((sum, category) => sum + requests(category), 0)
  return {
    kinds: frequent.map((category) => ({
      category,
      name: rootName(categories, category, 60),
      beforeCount: Math.round(categories.counted(category, BEFORE)),
      afterCount: requests(category),
      medianBeforeUs: typicalTimeUs(categories, { category, period: BEFORE, centre: 'median' }),
      /** ∞ when no slowdown whatever would have been seen. */
      detectableShiftUs: detectable(categories.samples(category), alpha),
    })),
    quantity: flows.quantity,
    testableKinds: testable.length,
    allKinds: categories.size,
    /** Of the requests after. */
    testableShare: covered / Math.max(1, flows.countedIn(AFTER)),
  }
}

export function detectableText(
  { detectableShiftUs }: Power['kinds'][number],
  of: Quantity = TIME,
): string {
  return Number.isFinite(detectableShiftUs) ? signedAmount(detectableShiftUs, of) : 'never: too few'
}

export function powerNote({ testableKinds, allKinds, testableShare, quantity }: Power): string {
  return (
    `If every request of the kind had taken that much ${quantity === TIME ? 'longer' : 'more'}, four of five comparisons like this ` +
    `would have shown it. ${grouped(testableKinds)} of ${grouped(allKinds)} kinds have enough ` +
    `requests for a test; they make up ${percent(testableShare)} of the requests after.`
  )
}

function detectable(samples: SamplePair, alpha: number): number {
  const { before, after } = equalSamples(samples)
  return detectableShift(before, after.length, { alpha }).shift
}
