import type { Comparison } from '../../../compare/comparison.ts'
import { textLiteral } from '../../../core/code-literals.ts'
import { compareFlowGraphs } from '../../../explain/flow-pair/compare-flow-graphs.ts'
import type { FlowsToCompare } from '../../../explain/flow-pair/flows-to-compare.ts'
import type { ReadableNames } from '../../../explain/flow-pair/readable-names.ts'
import { rootName } from '../../charts/node-names.ts'
import { flowCaptions } from './flow-captions.ts'
import type { FlowAnnotation, FlowData, FlowLevel, FlowMode } from './flow-data.ts'
import { checkedFlowState, usualFlowState } from './flow-initial.ts'
import { type FlowSubject, flowSubject } from './flow-subject.ts'

/** What the flow comparison begins with. */
export interface FlowExplorerOptions {
  /**
   * `'diff'`: both flows as one graph; `'side-by-side'`: two graphs with lines between the same
   * steps; `'animation'`: one turning into the other. Default `'diff'`.
   */
  readonly mode?: FlowMode
  /**
   * What is drawn as one: nothing (`'steps'`), what is the same in both (`'regions'`), also what is
   * in one only (`'groups'`), or the steps of each component (`'components'`). Default: the first of
   * the last three with few enough boxes to read.
   */
  readonly level?: FlowLevel
  /** Ids of groups of that level that are drawn step by step all the same. Default none. */
  readonly opened?: readonly number[]
  /** Side by side, the id of the step at which both flows stand at one height. Default the root. */
  readonly pin?: number | null
  /** How far the animation is, from 0 (before) to 1 (after). Default 0. */
  readonly at?: number
  /** Marks and comments on steps and edges: what the line of code gives back. Default none. */
  readonly annotations?: readonly FlowAnnotation[]
  /** Readable names for node labels, a function or a record. Default the labels. */
  readonly names?: ReadableNames
  /** A change of an edge's mean is large from this share of the mean response time on. Default 0.03. */
  readonly largeShift?: number
  /** What the comparison is called in the line of code. Default `'comparison'`. */
  readonly name?: string
}

/** Compares two flows into what a page needs to draw them. */
export function flowData(
  comparison: Comparison,
  what: FlowsToCompare,
  options: FlowExplorerOptions = {},
): FlowData {
  const { names, largeShift, name = 'comparison', ...given } = options
  const subject = flowSubject(comparison, what)
  const flows = compareFlowGraphs(comparison.responseTime, subject.pair, {
    ...(names === undefined ? {} : { names }),
    ...(largeShift === undefined ? {} : { largeShift }),
  })
  const { nodes, edges, regions, differences, components, confidenceText } = flows
  const model = rounded({ nodes, edges, regions, differences, components })
  const usual = usualFlowState(flows)
  const initial = checkedFlowState({ ...usual, ...given }, flows)
  const side = (which: 'before' | 'after') => {
    const { category, period, requests, meanUs, nodes: steps } = flows[which]
    return { ...{ category, period, requests, meanUs }, steps: steps.length }
  }
  return {
    ...{ ...model, confidenceText, usual, initial },
    ...{ before: side('before'), after: side('after') },
    captions: flowCaptions(nodes, comparison.options.label === null),
    title: flowTitle(comparison, subject),
    subject: [name, subject.code],
    kept: {
      ...(names === undefined ? {} : { names: namesCode(names) }),
      ...(largeShift === undefined ? {} : { largeShift: String(largeShift) }),
    },
  }
}

function flowTitle({ categories }: Comparison, { pair }: FlowSubject): string {
  const { before, after } = pair
  const root = rootName(categories, after.category, 60)
  return before.category === after.category
    ? `Flow of ${root}, category ${after.category}`
    : `Flow of ${root}, category ${after.category}, which was category ${before.category}`
}

/** A record of names as code; a function has to be in a variable of that name. */
function namesCode(names: ReadableNames): string {
  if (typeof names === 'function') return 'names'
  const entries = Object.entries(names).map(
    ([label, name]) => `${textLiteral(label)}: ${textLiteral(name)}`,
  )
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** Seven digits are as exact as anything that is shown. */
function rounded<T>(model: T): T {
  const text = JSON.stringify(model, (_, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value,
  )
  return JSON.parse(text)
}
