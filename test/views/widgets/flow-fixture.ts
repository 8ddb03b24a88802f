import { type Comparison, compare } from '../../../src/compare/comparison.ts'
import type { FlowData, FlowState } from '../../../src/views/widgets/flows/flow-scene.ts'
import {
  exploreFlows,
  type FlowExplorerOptions,
} from '../../../src/views/widgets/flows/flows-widget.ts'
import { type FlowText, flow } from '../../explain/flow-pair/fixture.ts'
import { makeGraphs } from '../../make-traces.ts'

/**
 * A flow that loses a step and gets two, and in which one latency grows:
 *
 *     before  A → B → C → D → E → F
 *     after   A → B → C → X → Y → E → F, and E → F takes longer
 */
export const BEFORE_TEXT: FlowText = {
  edges: 'A>B B>C C>D D>E E>F',
  latencyUs: { 'E>F': 1_000 },
  requests: 80,
}
export const AFTER_TEXT: FlowText = {
  edges: 'A>B B>C C>X X>Y Y>E E>F',
  latencyUs: { 'E>F': 4_000 },
  requests: 80,
}

export function comparisonOfTexts(before: FlowText, after: FlowText): Comparison {
  return compare(makeGraphs(flow(before), 'before'), makeGraphs(flow(after, { seed: 2 }), 'after'))
}

/** The structural change above. */
export const CHANGED = comparisonOfTexts(BEFORE_TEXT, AFTER_TEXT)

/** The number of the category that has only requests after. */
export function newCategory({ categories }: Comparison): number {
  return Array.from({ length: categories.size }, (_, category) => category).find(
    (category) => categories.count(category, 0) === 0,
  ) as number
}

export function dataOf(comparison: Comparison, options: FlowExplorerOptions = {}): FlowData {
  return exploreFlows(comparison, newCategory(comparison), options).data as FlowData
}

/** What code from the widget gives when it is pasted. */
export function pastedState(code: string, comparison: Comparison): FlowState {
  const widget = new Function('exploreFlows', 'comparison', 'names', `return ${code}`)(
    exploreFlows,
    comparison,
    (label: string) => `named ${label}`,
  )
  return widget.data.initial
}
