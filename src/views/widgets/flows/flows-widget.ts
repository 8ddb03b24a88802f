import { Comparison } from '../../../compare/comparison.ts'
import { codeText, textLiteral } from '../../../core/code-literals.ts'
import { OptionError, rejectUnknownOptions } from '../../../core/errors.ts'
import { coalesceFlow } from '../../../explain/flow-pair/coalesce-flow.ts'
import type { ReadableNames } from '../../../explain/flow-pair/compare-flow-graphs.ts'
import { compareFlowGraphs } from '../../../explain/flow-pair/compare-flow-graphs.ts'
import type { FlowComparison, UnionNode } from '../../../explain/flow-pair/flow-comparison.ts'
import type { FlowChoice } from '../../../explain/flow-pair/flow-pair.ts'
import { chooseFlows, type FlowsToCompare } from '../../../explain/flow-pair/flow-pair.ts'
import { rootName } from '../../charts/node-names.ts'
import { renderSvg } from '../../drawing/render-svg.ts'
import { Widget } from '../widget.ts'
import { FlowPicture } from './flow-picture.tsx'
import {
  FLOW_LEVELS,
  FLOW_MODES,
  type FlowAnnotation,
  type FlowCaption,
  type FlowData,
  type FlowLevel,
  type FlowMode,
  type FlowState,
  groupsAt,
} from './flow-scene.ts'
import { differenceWords } from './flow-words.ts'

/**
 * What each step is called in its box: what happens, and where; where names were replaced, the name
 * alone.
 *
 * @param isUsual labels are flowdelta's own, which begin with where a step is
 */
function flowCaptions(nodes: readonly UnionNode[], isUsual: boolean): FlowCaption[] {
  return nodes.map(({ label, name, service, operation, host, phase }) => {
    if (name !== label) return [name, '']
    if (!isUsual) return [label, '']
    const place = service === '' || host.startsWith(service) ? host : service
    const where = [place, phase === 'point' ? '' : phase].filter((part) => part !== '')
    return [operation === '' ? label : operation, where.join(' · ')]
  })
}

/** The two flows that are meant, and how code says so. */
interface FlowSubject {
  readonly pair: { readonly before: FlowChoice; readonly after: FlowChoice }
  readonly code: string
}

/** Finds the flows to compare, and the shortest code that means them. */
function flowSubject(comparison: Comparison, what: FlowsToCompare): FlowSubject {
  const pair = chooseFlows(comparison, what)
  const { before, after } = pair
  if (typeof what === 'object' && 'before' in what)
    return { pair, code: codeText({ before, after }) }
  const { category } = after
  const isOwn = before.category === category
  const hasPrecursor = comparison.precursors.of(category).length > 0
  return { pair, code: isOwn && hasPrecursor ? `{ category: ${category} }` : String(category) }
}

/** More boxes than this are not read one by one. */
const MOST_BOXES = { regions: 60, groups: 120 } as const

/** What the widget begins with where nothing else is asked for. */
function usualFlowState(flows: FlowComparison): FlowState {
  return {
    ...{ mode: 'diff', level: readableLevel(flows), opened: [] },
    ...{ pin: null, at: 0, annotations: [] },
  }
}

function readableLevel(flows: FlowComparison): FlowLevel {
  const boxes = (level: FlowLevel) =>
    coalesceFlow(flows, { groups: groupsAt(flows, level) }).nodes.length
  if (boxes('regions') <= MOST_BOXES.regions) return 'regions'
  if (boxes('groups') <= MOST_BOXES.groups) return 'groups'
  return boxes('components') < boxes('groups') ? 'components' : 'groups'
}

/** The state if it is one of this comparison. */
function checkedFlowState(state: FlowState, flows: FlowComparison): FlowState {
  const { mode, level, opened, pin, at, annotations } = state
  requireMode(mode)
  oneOf('level', level, FLOW_LEVELS)
  if (!Array.isArray(opened)) throw new OptionError('opened', opened, 'a list of ids of groups')
  coalesceFlow(flows, { groups: groupsAt(flows, level), opened })
  if (pin !== null && !isShared(flows, pin)) {
    throw new OptionError('pin', pin, 'the id of a step that is in both flows, or null')
  }
  if (!(at >= 0 && at <= 1)) throw new OptionError('at', at, 'a number from 0 to 1')
  if (!Array.isArray(annotations)) {
    throw new OptionError('annotations', annotations, 'a list of notes')
  }
  for (const note of annotations) requireNote(note, flows)
  return { mode, level, opened: [...opened], pin, at, annotations: [...annotations] }
}

function isShared({ nodes }: FlowComparison, id: number): boolean {
  const node = nodes[id]
  return node?.inBefore === true && node.inAfter
}

function requireNote(note: FlowAnnotation, { nodes, edges }: FlowComparison): void {
  rejectUnknownOptions(note, ['node', 'edge', 'mark', 'comment'])
  const { node, edge, mark, comment } = note
  const isOnOne = (node === undefined) !== (edge === undefined)
  const isThere = node === undefined ? edges[edge ?? -1] : nodes[node]
  const isPlain =
    (mark === undefined || typeof mark === 'boolean') &&
    (comment === undefined || typeof comment === 'string')
  if (isOnOne && isThere !== undefined && isPlain) return
  throw new OptionError(
    'annotations',
    JSON.stringify(note),
    'notes such as { node: 0, mark: true } or { edge: 2, comment: "why?" }, by ids of the union',
  )
}

function oneOf(option: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return
  throw new OptionError(option, value, allowed.map((each) => `'${each}'`).join(' or '))
}

function requireMode(mode: string): void {
  // The word on its button.
  if (mode === 'difference') {
    throw new OptionError('mode', mode, "'diff', which is what shows the difference")
  }
  oneOf('mode', mode, FLOW_MODES)
}

/** The state as a line of code to paste into a cell. */
export function flowCode({ subject, kept, usual }: FlowData, state: FlowState): string {
  const says: Partial<Record<keyof FlowState, boolean>> = {
    pin: state.mode === 'side-by-side',
    at: state.mode === 'animation',
  }
  const set = (Object.keys(usual) as (keyof FlowState)[])
    .filter((name) => says[name] ?? true)
    .map((name) => [name, codeText(state[name]), codeText(usual[name])] as const)
    .filter(([, value, usually]) => value !== usually)
    .map(([name, value]) => `${name}: ${value}`)
  const options = [
    ...Object.entries(kept).map(([name, code]) => (name === code ? name : `${name}: ${code}`)),
    ...set,
  ]
  const last = options.length === 0 ? [] : [`{ ${options.join(', ')} }`]
  return `exploreFlows(${[...subject, ...last].join(', ')})`
}

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

export type { FlowsToCompare } from '../../../explain/flow-pair/flow-pair.ts'

const OPTIONS = [
  ...['mode', 'level', 'opened', 'pin', 'at', 'annotations', 'names', 'largeShift', 'name'],
]

/**
 * Compares two request flows as graphs, time running down: as a difference, side by side, or one
 * turning into the other. Edges are as long as a sigmoid of their latency; those that changed
 * significantly are outlined red. What is the same in both is drawn as one and can be opened; steps
 * and edges can be marked and commented.
 *
 * A structural mutation is compared with its likeliest precursor, anything else with itself before.
 *
 * @param comparison from `compare`
 * @param what number of a category, a mutation of `comparison.ranking`, `{ category }` for a
 *   category before and after even where it is a structural mutation, or
 *   `{ before: { category, period }, after: { category, period } }`
 * @param options see {@link FlowExplorerOptions}
 * @throws OptionError for a category that is not there or a value that an option cannot have,
 *   FlowdeltaError for an unknown option
 *
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3; Sambasivan 2013, ch. 4.
 *
 * @example
 * exploreFlows(comparison, 0, { mode: 'side-by-side' }).title // 'Flow comparison'
 */
export function exploreFlows(
  comparison: Comparison,
  what: FlowsToCompare,
  options: FlowExplorerOptions = {},
): Widget {
  rejectUnknownOptions(options, OPTIONS)
  if (!(comparison instanceof Comparison)) {
    throw new OptionError('comparison', comparison, 'a comparison from `compare`')
  }
  const data = flowData(comparison, what, options)
  return new Widget({
    ...{ view: 'flow-comparison', title: 'Flow comparison', data },
    description: `${data.title}. ${differenceWords(data)} ${data.confidenceText}`,
    picture: () => renderSvg(FlowPicture({ data })),
  })
}
