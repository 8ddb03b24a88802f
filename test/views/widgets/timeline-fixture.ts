import type { Comparison } from '../../../src/compare/comparison.ts'
import type { FlowSet } from '../../../src/flows/flow-set.ts'
import { requestsBetween, selectRequests } from '../../../src/flows/select-requests.ts'
import { type ArrivalsData, arrivalsData } from '../../../src/views/charts/arrivals.ts'
import { timeMarks } from '../../../src/views/charts/time-marks.ts'
import { recordedCase } from '../../recorded.ts'

/** What a page carries of the requests of a comparison. */
export function dataOf(of: Comparison): ArrivalsData {
  return arrivalsData(of.categories, timeMarks(of))
}

export const comparison = await recordedCase('delay-1ms')

/** What code from the widget gives when it is pasted. */
export function pasted(code: string, of: Comparison = comparison): FlowSet {
  const run = new Function('comparison', 'selectRequests', 'requestsBetween', `return ${code}`)
  return run(of, selectRequests, requestsBetween)
}
