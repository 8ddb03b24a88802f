import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { explore } from '../../../src/views/explore.ts'
import type { ViewProps } from '../../../src/views/widgets/define-widget.ts'
import type { FlowData, FlowsWidgetOptions } from '../../../src/views/widgets/flows/flow-scene.ts'
import { flowCode } from '../../../src/views/widgets/flows/flow-view.tsx'
import type { Widget } from '../../../src/views/widgets/widget.ts'
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

/** What a flow comparison shows: a category, a mutation, a category with itself, or any two flows. */
type Subject = number | Partial<FlowsWidgetOptions>

/** The flow comparison of a subject. */
export function flows(
  comparison: Comparison,
  subject: Subject,
  options: Partial<FlowsWidgetOptions> = {},
): Widget {
  const of = typeof subject === 'number' ? { category: subject } : subject
  return explore(comparison, 'flows', { ...of, ...options })
}

/** What the view of a flow comparison gets. */
export function propsOf(widget: Widget): ViewProps<FlowData, FlowsWidgetOptions> {
  return widget.data as ViewProps<FlowData, FlowsWidgetOptions>
}

export function dataOf(
  comparison: Comparison,
  options: Partial<FlowsWidgetOptions> = {},
): FlowData {
  return propsOf(flows(comparison, newCategory(comparison), options)).data
}

/** The line of code of a widget after some changes. */
export function codeOf(widget: Widget, changes: Partial<FlowsWidgetOptions> = {}): string {
  const { data, options, call } = propsOf(widget)
  return flowCode(data, { ...options, ...changes }, call)
}

/** The options of the widget that code gives when it is pasted. */
export function pastedOptions(code: string, comparison: Comparison): FlowsWidgetOptions {
  const run = new Function('explore', 'comparison', 'names', `return ${code}`)
  return propsOf(run(explore, comparison, (label: string) => `named ${label}`)).options
}
