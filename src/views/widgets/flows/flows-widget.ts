import { least, range, sum } from 'd3-array'
import { labelDifference } from '../../../compare/precursors/match-precursors.ts'
import type { Comparison } from '../../../comparison/comparison.ts'
import { FlowdeltaError, OptionError } from '../../../core/errors.ts'
import { compareFlowGraphs } from '../../../explain/flow-pair/compare-flow-graphs.ts'
import type { FlowComparison, UnionNode } from '../../../explain/flow-pair/flow-comparison.ts'
import { chooseFlows } from '../../../explain/flow-pair/flow-form.ts'
import { coalesceFlow } from '../../../explain/flow-pair/flow-groups.ts'
import { BEFORE } from '../../../flows/flow-set.ts'
import { rootName } from '../../charts/node-names.ts'
import { defineWidget } from '../define-widget.ts'
import {
  differenceWords,
  FLOWS_WIDGET_OPTIONS,
  type FlowAnnotation,
  type FlowCaption,
  type FlowData,
  type FlowLevel,
  type FlowPeriodData,
  type FlowsWidgetOptions,
  groupsAt,
  readableMode,
} from './flow-scene.ts'
import { FLOW_STYLE, FlowView } from './flow-view.tsx'

/**
 * Compares two request flows as graphs: as a difference, side by side, or one turning into the
 * other; a structural mutation with its likeliest precursor. What both share can be opened, steps
 * and edges commented. Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3; Sambasivan 2013, ch. 4.
 */
export const flowsWidget = defineWidget({
  name: 'flows',
  title: ({ title }: FlowData) => title,
  description: (data: FlowData) => `${differenceWords(data)} ${data.confidenceText}`,
  options: FLOWS_WIDGET_OPTIONS,
  data: flowData,
  initial: (comparison: Comparison, options: FlowsWidgetOptions): FlowsWidgetOptions => {
    const names = typeof options.names === 'function' ? null : options.names
    if (options.before !== null) return { ...options, names, mutation: null }
    const { before, after } = flowPair(comparison, options)
    const isOwn = before.category === after.category
    const hasPrecursor = comparison.precursors.of(after.category).length > 0
    return {
      ...options,
      names,
      mutation: null,
      category: after.category,
      origin: isOwn && hasPrecursor ? 'itself' : 'precursor',
    }
  },
  view: FlowView,
  style: FLOW_STYLE,
})

function flowPair(
  comparison: Comparison,
  { category, mutation, origin, before, after }: FlowsWidgetOptions,
): ReturnType<typeof chooseFlows> {
  if (before !== null || after !== null) {
    if (before === null || after === null) {
      throw new OptionError('before', before, 'both before and after, or neither')
    }
    return chooseFlows(comparison, { before, after })
  }
  const ranked = category === null ? (mutation ?? firstChanged(comparison)) : null
  const chosen = category ?? (typeof ranked === 'number' ? ranked : ranked?.category)
  if (chosen === undefined) {
    throw new FlowdeltaError(
      'No change is sure enough to show first. Give a category, such as { category: 0 }.',
    )
  }
  const { size } = comparison.categories
  if (chosen >= size) {
    throw new OptionError('category', chosen, `a category from 0 to ${size - 1}`)
  }
  if (origin === 'itself') return chooseFlows(comparison, { category: chosen })
  return besideSimilar(comparison, chooseFlows(comparison, ranked ?? chosen))
}

/** Pairs a new kind of request without precursor with the most similar earlier one. */
function besideSimilar({ categories }: Comparison, pair: ReturnType<typeof chooseFlows>) {
  const { category } = pair.after
  if (pair.before.category !== category || categories.count(category, BEFORE) > 0) return pair
  const own = categories.structure(category)
  const made = range(categories.size).filter((one) => categories.count(one, BEFORE) > 0)
  const similar = least(made, (one) => {
    const { added, removed } = labelDifference(categories.structure(one), own)
    return sum([...added, ...removed], ({ count }) => count)
  })
  return similar === undefined ? pair : { ...pair, before: { category: similar, period: BEFORE } }
}

/** Returns the highest-ranked mutation of the first finding; its category, where none of it is ranked. */
export function firstChanged({ findings, ranking: { mutations } }: Comparison) {
  const categories = findings.findings[0]?.categories ?? []
  return (
    mutations.find(({ category }) => categories.includes(category)) ?? categories[0] ?? mutations[0]
  )
}

function flowData(comparison: Comparison, options: FlowsWidgetOptions): FlowData {
  const { names, largeShift } = options
  const pair = flowPair(comparison, options)
  const flows = compareFlowGraphs(comparison.responseTime, pair, {
    largeShift,
    ...(names === null ? {} : { names }),
  })
  const { quantity, nodes, edges, orderChanges, regions, differences, components } = flows
  const isTold = flows.before.requests > 0 && flows.after.requests > 0
  const { differences: changes, rest, totalUs } = flows.ranked
  const ranked = { differences: changes, rest, totalUs }
  const usualLevel = readableLevel(flows)
  checkState(flows, { ...options, level: options.level ?? usualLevel })
  const side = ({ category, period, requests, meanUs }: FlowPeriodData) => {
    return { category, period, requests, meanUs }
  }
  return {
    ...rounded({ nodes, edges, regions, differences, components, ranked }),
    quantity,
    orderChanges,
    confidenceText: isTold ? flows.confidenceText : '',
    usualMode: readableMode(ranked),
    usualLevel,
    hasNameRule: typeof names === 'function',
    before: side(flows.before),
    after: side(flows.after),
    captions: flowCaptions(nodes, comparison.options.label === null),
    title: flowTitle(comparison, pair),
  }
}

function flowTitle(
  { categories, precursors }: Comparison,
  { before, after }: ReturnType<typeof chooseFlows>,
): string {
  const isPrecursor = precursors
    .of(after.category)
    .some(({ category }) => category === before.category)
  const isOwn = before.category === after.category
  const was = isOwn ? '' : `, ${isPrecursor ? 'which was' : 'beside'} category ${before.category}`
  return `Flow of ${rootName(categories, after.category, 100)}, category ${after.category}${was}`
}

/** Returns the captions of boxes: the operation and its place, or only the name if labels are not our own. */
function flowCaptions(nodes: readonly UnionNode[], isUsual: boolean): FlowCaption[] {
  return nodes.map(({ label, name, service, operation, host, phase }) => {
    if (name !== label) return [name, '']
    if (!isUsual) return [label, '']
    const place = service === '' || host.startsWith(service) ? host : service
    const where = [place, phase === 'point' ? '' : phase].filter((part) => part !== '')
    return [operation === '' ? label : operation, where.join(' · ')]
  })
}

/** Most boxes that readers read one by one. */
const MAX_BOXES = { regions: 60, groups: 120 } as const

function readableLevel(flows: FlowComparison): FlowLevel {
  const boxes = (level: FlowLevel) =>
    coalesceFlow(flows, { groups: groupsAt(flows, { level, focus: 1 }) }).nodes.length
  const regions = boxes('regions')
  if (regions === 1 && boxes('steps') <= MAX_BOXES.regions) return 'steps'
  if (regions <= MAX_BOXES.regions) return 'regions'
  if (boxes('groups') <= MAX_BOXES.groups) return 'groups'
  return boxes('components') < boxes('groups') ? 'components' : 'groups'
}

function checkState(
  flows: FlowComparison,
  { level, focus, opened, pins, annotations }: FlowsWidgetOptions & { readonly level: FlowLevel },
): void {
  coalesceFlow(flows, { groups: groupsAt(flows, { level, focus }), opened })
  const { length } = flows.ranked.differences
  if (focus > Math.max(1, length)) {
    throw new OptionError('focus', focus, `the rank of a difference, from 1 to ${length}`)
  }
  const unpinned = pins.find((pin) => !(flows.nodes[pin]?.inBefore && flows.nodes[pin]?.inAfter))
  if (unpinned !== undefined) {
    throw new OptionError('pins', unpinned, 'ids of steps that are in both flows')
  }
  const wrong = annotations.find((note) => !isNote(note, flows))
  if (wrong === undefined) return
  throw new OptionError(
    'annotations',
    JSON.stringify(wrong),
    'notes such as { node: 0, mark: true } or { edge: 2, comment: "why?" }, by ids of the union',
  )
}

function isNote(note: FlowAnnotation, { nodes, edges }: FlowComparison): boolean {
  const { node, edge, mark = false, comment = '', ...others } = note
  const target = node === undefined ? edges[edge ?? -1] : nodes[node]
  return (
    (node === undefined) !== (edge === undefined) &&
    target !== undefined &&
    typeof mark === 'boolean' &&
    typeof comment === 'string' &&
    Object.keys(others).length === 0
  )
}

/** Rounds the numbers of a model: seven digits are as exact as anything that is shown. */
function rounded<T>(model: T): T {
  const text = JSON.stringify(model, (_, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value,
  )
  return JSON.parse(text)
}
