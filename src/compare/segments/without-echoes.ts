import { sum } from 'd3-array'
import { remembered } from '../../core/remembered.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { stepKey } from '../steps/step-times.ts'
import type { Segment } from './segments.ts'

/** Segments with this share of their requests in common are one change. */
const MIN_SHARED = 0.5

/** Whether another segment shows the same more closely: a step within requests, or spans within a step. */
function isShownBy({ step, within }: Segment, other: Segment): boolean {
  if (step === null || other.step === null) return false
  if (step.kind === 'request') return other.step.kind !== 'request'
  if (within !== null || other.within === null) return false
  return stepKey(step) === stepKey(other.step)
}

/** Leaves out segments that only repeat those of a service, or its spans, in the same requests. */
export function withoutEchoes(
  segments: readonly Segment[],
  { period }: FlowSet,
  failed: Uint8Array,
): Segment[] {
  const shownOf = remembered(({ measure, requests }: Segment) => {
    const isTime = measure === 'time'
    return new Set(requests.filter((one) => period[one] === AFTER && (isTime || failed[one] === 1)))
  })
  return segments.filter((segment) => {
    const own = shownOf(segment)
    return !segments.some((other) => {
      if (other.measure !== segment.measure || other.direction !== segment.direction) return false
      if (!isShownBy(segment, other)) return false
      const shared = [...shownOf(other)].filter((request) => own.has(request)).length
      return shared >= MIN_SHARED * own.size
    })
  })
}

/** Largest factor between the changes of spans that count as the same. */
const ALIKE = 2

/**
 * Merges segments of spans within one service that changed the same way under the same condition: parallel calls of one
 * kind.
 */
export function togetherAlike(segments: readonly Segment[]): Segment[] {
  const isAlike = (a: Segment, b: Segment) =>
    [a, b].every(({ measure, within }) => measure === 'time' && within !== null && within !== '') &&
    a.step?.kind === 'work' &&
    b.step?.kind === 'work' &&
    stepKey(a.step) === stepKey(b.step) &&
    a.text === b.text &&
    a.operation === b.operation &&
    a.inside.change / b.inside.change <= ALIKE &&
    b.inside.change / a.inside.change <= ALIKE &&
    a.direction === b.direction
  return segments.flatMap((segment, i) => {
    const same = segments.filter((other) => isAlike(segment, other))
    if (same.length < 2) return segment
    if (segments.indexOf(same[0] as Segment) < i) return []
    const waitedUs = sum(same, ({ inside, waitedFor }) => inside.change * inside.after * waitedFor)
    const { inside } = segment
    return {
      ...segment,
      waitedFor: waitedUs / (inside.change * inside.after),
      alike: same.slice(1).map(({ within }) => within as string),
    }
  })
}
