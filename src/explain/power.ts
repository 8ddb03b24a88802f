import { sum } from 'd3-array'
import { type Detectable, detectableShifts } from '../compare/findings/detectable.ts'
import type { Comparison } from '../comparison/comparison.ts'
import { TIME } from '../core/quantity.ts'
import { counted, grouped, percent } from '../core/words.ts'

/** Returns the slowdown of frequent kinds of requests that four comparisons of five find. */
export function power({ flows, steps, edges }: Comparison, limit: number) {
  const all = detectableShifts(steps, edges)
  const testable = all.filter((kind) => kind.testable)
  const after = (kinds: readonly Detectable[]) => sum(kinds, (kind) => kind.after)
  return {
    kinds: testable.slice(0, limit),
    quantity: flows.quantity,
    isOfRuns: flows.runs.length > 1,
    testableKinds: testable.length,
    allKinds: all.length,
    /** Share of the requests after. */
    testableShare: after(testable) / Math.max(1, after(all)),
  }
}

export function powerNote(known: ReturnType<typeof power>): string {
  const { testableKinds, allKinds, testableShare, quantity, isOfRuns } = known
  return (
    `If every request of a type took that much ${quantity === TIME ? 'longer' : 'more'}, four of five comparisons like this ` +
    `would find it${isOfRuns ? ', if runs did not differ' : ''}. ${grouped(testableKinds)} of ${counted(allKinds, 'type')} ${testableKinds === 1 ? 'has' : 'have'} enough ` +
    `requests for a test: ${percent(testableShare)} of the requests after.`
  )
}
