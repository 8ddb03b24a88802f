import { range } from 'd3-array'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import { detectableShift } from '../../stats/detectable-shift.ts'
import { equalSamples } from '../../stats/two-sample.ts'
import type { Ranking } from '../ranking/rank-mutations.ts'
import type { StepChange, StepChanges } from '../steps/step-changes.ts'

/** The smallest shift that would have been seen in four of five comparisons. */
export interface Detectable {
  /** Root of the requests it is for, those of the most frequent category; `null` if all are. */
  readonly root: NodeLabel | null
  /** Number of these requests before and after. */
  readonly before: number
  readonly after: number
  /** Size of the shift in µs; `Infinity` if none would have been seen. */
  readonly shiftUs: number
}

/** The smallest shift of the most frequent testable category, or of all, that would be seen. */
export function detectableOf({ responseTime }: Ranking): Detectable | null {
  const { categories, options } = responseTime
  const testable = range(categories.size).filter((one) => responseTime.test(one).testable)
  const requests = (one: number) => categories.count(one, BEFORE) + categories.count(one, AFTER)
  const [category] = testable.sort((a, b) => requests(b) - requests(a))
  const { flows } = categories
  const isNone = category === undefined
  const count = (period: Period) =>
    isNone ? flows.count(period) : categories.count(category, period)
  const [before, after] = [count(BEFORE), count(AFTER)]
  const equal = equalSamples(isNone ? flows.responseTimes : categories.samples(category))
  const alpha = options.alpha / Math.max(1, testable.length)
  const { shift } = detectableShift(equal.before, equal.after.length, { alpha })
  if (Number.isNaN(shift)) return null
  const isAll = isNone || categories.size === 1
  return { root: isAll ? null : categories.nodeLabel(category, 0), before, after, shiftUs: shift }
}

/** A step that is told though it did not change: alone it would have, and as likely as not it did. */
const ALONE = 0.05
const AS_LIKELY = 0.5

/** The step that came nearest to a change where none is one; `null` where none came near. */
export function nearestStep({ steps }: StepChanges): StepChange | null {
  const near = steps.filter(({ kind, p, q }) => kind !== 'request' && p < ALONE && q < AS_LIKELY)
  return near.sort((a, b) => a.q - b.q || a.p - b.p)[0] ?? null
}
