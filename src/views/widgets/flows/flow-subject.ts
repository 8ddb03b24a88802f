import type { Comparison } from '../../../compare/comparison.ts'
import { codeText } from '../../../core/code-literals.ts'
import type { FlowChoice } from '../../../explain/flow-pair/flow-pair.ts'
import { chooseFlows, type FlowsToCompare } from '../../../explain/flow-pair/flows-to-compare.ts'

/** The two flows that are meant, and how code says so. */
export interface FlowSubject {
  readonly pair: { readonly before: FlowChoice; readonly after: FlowChoice }
  readonly code: string
}

/** Finds the flows to compare, and the shortest code that means them. */
export function flowSubject(comparison: Comparison, what: FlowsToCompare): FlowSubject {
  const pair = chooseFlows(comparison, what)
  const { before, after } = pair
  if (typeof what === 'object' && 'before' in what)
    return { pair, code: codeText({ before, after }) }
  const { category } = after
  const isOwn = before.category === category
  const hasPrecursor = comparison.precursors.of(category).length > 0
  return { pair, code: isOwn && hasPrecursor ? `{ category: ${category} }` : String(category) }
}
