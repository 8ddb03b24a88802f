import { remembered } from '../../core/remembered.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import { stepKey } from '../steps/step-times.ts'
import type { Segment } from './segments.ts'

/** Segments with this share of their requests in common are one change. */
const MIN_SHARED = 0.5

/** Whether another segment tells more closely what one tells: a step of requests, spans of a step. */
function isShownBy({ step, within }: Segment, other: Segment): boolean {
  if (step === null || other.step === null) return false
  if (step.kind === 'request') return other.step.kind !== 'request'
  if (within !== null || other.within === null) return false
  return stepKey(step) === stepKey(other.step)
}

/** Leaves out what a service, or its spans, show in the same requests. */
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
