import type { Comparison } from '../../../src/comparison/comparison.ts'
import type { FlowSet } from '../../../src/flows/flow-set.ts'
import { requestsBetween, selectRequests } from '../../../src/flows/select-requests.ts'
import { recordedCase } from '../../recorded.ts'

export { timelineData as dataOf } from '../../../src/views/widgets/timeline/timeline-model.tsx'

export const comparison = await recordedCase('delay-1ms')

/** What code from the widget gives when it is pasted. */
export function pasted(code: string, of: Comparison = comparison): FlowSet {
  const run = new Function('comparison', 'selectRequests', 'requestsBetween', `return ${code}`)
  return run(of, selectRequests, requestsBetween)
}
