import { type Comparison, compare } from '../../../src/compare/comparison.ts'
import type { FlowSet } from '../../../src/flows/flow-set.ts'
import { requestsBetween, selectRequests } from '../../../src/flows/select-requests.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'

export { timelineData as dataOf } from '../../../src/views/widgets/timeline/timeline-model.ts'

const FOLDER = new URL('../../../datasets/storage-service/delay-1ms/', import.meta.url).pathname

export const comparison = compare(
  await loadTraces(`${FOLDER}before.jsonl.gz`),
  await loadTraces(`${FOLDER}after.jsonl.gz`),
)

/** What code from the widget gives when it is pasted. */
export function pasted(code: string, of: Comparison = comparison): FlowSet {
  const run = new Function('comparison', 'selectRequests', 'requestsBetween', `return ${code}`)
  return run(of, selectRequests, requestsBetween)
}
