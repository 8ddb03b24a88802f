import { rollup, sort, sum } from 'd3-array'
import { useEffect, useRef } from 'preact/hooks'
import type { OrderChange } from '../../../compare/precursors/match-precursors.ts'
import { NEGLIGIBLE } from '../../../compare/thresholds.ts'
import { fingerprint } from '../../../core/fingerprint.ts'
import {
  count,
  custom,
  defineOptions,
  type OptionsOf,
  oneOf,
  optionalNumber,
  share,
} from '../../../core/options.ts'
import { formatAmount, fromToText, type Quantity, signedAmount } from '../../../core/quantity.ts'
import {
  counted,
  firstOf,
  grouped,
  percent,
  shortText,
  spoken,
  tooltipText,
} from '../../../core/words.ts'
import type { ReadableNames } from '../../../explain/flow-pair/compare-flow-graphs.ts'
import {
  chanceWords,
  type EdgeLatencies,
  type FlowComparison,
  type FlowDifference,
  type FlowDifferences,
  type FlowGroup,
  moreWords,
  orderWords,
  pNote,
  QUIET_WORDS,
  shareWords,
  type UnionEdge,
  type UnionNode,
} from '../../../explain/flow-pair/flow-comparison.ts'
import type { FlowChoice } from '../../../explain/flow-pair/flow-form.ts'
import {
  type CoalescedEdge,
  type CoalescedNode,
  coalesceFlow,
  focusGroups,
  stepCount,
} from '../../../explain/flow-pair/flow-groups.ts'
import { boxSize } from '../../drawing/node-link.tsx'
import { STAGE_NAME } from '../define-widget.ts'

export const MODES = {
  'side-by-side': 'Side by side',
  diff: 'Diff',
  animation: 'Animation',
}
export type FlowMode = keyof typeof MODES

/** Levels of grouping: nothing is drawn as one, parts on both sides are, parts on one side too, or each component. */
export const LEVELS = {
  steps: 'every step',
  regions: 'identical steps as one',
  groups: 'identical, added or removed steps as one',
  components: 'components',
  focus: 'one difference and its surroundings',
}
export type FlowLevel = keyof typeof LEVELS

export const SIDES = ['before', 'after'] as const
export type FlowSide = (typeof SIDES)[number]

export function isOn(thing: { inBefore: boolean; inAfter: boolean }, side: FlowSide): boolean {
  return side === 'before' ? thing.inBefore : thing.inAfter
}

export const MIN_EDGE_LENGTH = 26
const MAX_EDGE_LENGTH = 156
/** A latency in the middle of the scale, as a power of ten of a microsecond: 1 ms. */
const MIDDLE = 3

/**
 * Returns the drawn length of an edge: a sigmoid of the latency's logarithm, so that µs and seconds are both visible.
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3.5, which leaves the function open.
 */
export function edgeLength(latencyUs: number | null): number {
  if (latencyUs === null || !(latencyUs > 0)) return MIN_EDGE_LENGTH
  const share = 1 / (1 + Math.exp(MIDDLE - Math.log10(latencyUs)))
  return MIN_EDGE_LENGTH + (MAX_EDGE_LENGTH - MIN_EDGE_LENGTH) * share
}

export interface FlowAnnotation {
  readonly node?: number
  readonly edge?: number
  readonly mark?: boolean
  readonly comment?: string
}

type MutationOfFlow = { readonly category: number; readonly kind: 'structural' | 'response-time' }

export const FLOWS_WIDGET_OPTIONS = defineOptions({
  category: optionalNumber(
    'Category whose flow is compared; null for that of the highest-ranked mutation of the first finding, or of all',
  ),
  mutation: custom<MutationOfFlow | null>({
    default: null,
    sentence: 'Mutation of the ranking whose flow is compared, instead of a category',
    expected: 'a mutation of `comparison.ranking`, or null',
    accepts: (mutation) =>
      mutation === null ||
      (typeof mutation === 'object' && Number.isInteger((mutation as MutationOfFlow).category)),
  }),
  origin: oneOf(['precursor', 'itself'], {
    default: 'precursor',
    sentence:
      'What a structural mutation is compared with: its likeliest precursor, or itself before',
  }),
  before: flowChoice('Flow on the left, where any two are compared: { category, period }'),
  after: flowChoice('Flow on the right, where any two are compared: { category, period }'),
  names: custom<ReadableNames | null>({
    default: null,
    sentence: 'Readable names for node labels: a function or a record; null for the labels',
    expected: 'a function or a record from labels to names, or null',
    accepts: (names) => typeof names === 'function' || typeof names === 'object',
  }),
  largeShift: share({
    default: NEGLIGIBLE,
    sentence:
      'Share of the mean response time from which a change of an edge counts, as changed if it is significant, else as perhaps by chance',
  }),
  mode: oneOf([...(Object.keys(MODES) as FlowMode[]), null], {
    default: null,
    sentence:
      'Two graphs with lines between the same steps, both flows as one graph, or one turning into the other; null picks by the kind of difference that is most of the change',
  }),
  level: oneOf([...(Object.keys(LEVELS) as FlowLevel[]), null], {
    default: null,
    sentence:
      'How steps are grouped: not at all, identical steps as one box, also added and removed ones, all steps of a component, or all that is far from one difference; null picks the first with few enough boxes to read',
  }),
  focus: count({
    default: 1,
    sentence: 'At the level focus, the rank of the difference that is shown',
  }),
  opened: listOf<number>(
    'ids of groups',
    'Ids of groups of that level that are drawn step by step all the same',
  ),
  pins: listOf<number>(
    'ids of steps',
    'Side by side, ids of steps that stand at one height in both flows, beside the root',
  ),
  at: share({ default: 0, sentence: 'How far the animation is, from before to after' }),
  annotations: listOf<FlowAnnotation>('notes', 'Marks and comments on steps and edges'),
  name: STAGE_NAME,
})

function listOf<T>(things: string, sentence: string) {
  const expected = `a list of ${things}`
  return custom<readonly T[]>({ default: [], sentence, expected, accepts: Array.isArray })
}

export type FlowsWidgetOptions = OptionsOf<typeof FLOWS_WIDGET_OPTIONS>

function flowChoice(sentence: string) {
  return custom<FlowChoice | null>({
    default: null,
    sentence,
    expected: '{ category, period }, with period 0 for before and 1 for after',
    accepts: (choice) =>
      choice === null ||
      (typeof choice === 'object' &&
        Number.isInteger((choice as FlowChoice).category) &&
        [0, 1].includes((choice as FlowChoice).period)),
  })
}

export interface FlowState
  extends Pick<FlowsWidgetOptions, 'focus' | 'opened' | 'pins' | 'at' | 'annotations'> {
  readonly mode: FlowMode
  readonly level: FlowLevel
}

export type FlowPeriodData = Pick<
  FlowComparison['before'],
  'category' | 'period' | 'requests' | 'meanUs'
>

export type FlowCaption = readonly [name: string, where: string]

type Model = Pick<
  FlowComparison,
  | 'quantity'
  | 'nodes'
  | 'edges'
  | 'orderChanges'
  | 'regions'
  | 'differences'
  | 'components'
  | 'confidenceText'
> & { readonly ranked: RankedData }

export type RankedData = Pick<FlowDifferences, 'differences' | 'rest' | 'totalUs'>

/**
 * Returns the mode that shows most of the change best: structure as an animation, latencies as a difference, and whole
 * flows side by side. Source: Sambasivan 2013, Table 4.3.
 */
export function readableMode({ differences }: Pick<RankedData, 'differences'>): FlowMode {
  if (differences.length === 0) return 'side-by-side'
  const latency = sum(
    differences,
    ({ kind, changeUs }) => Math.abs(changeUs) * (kind === 'latency' ? 1 : -1),
  )
  const isLatency = latency === 0 ? differences[0]?.kind === 'latency' : latency > 0
  return isLatency ? 'diff' : 'animation'
}

export interface FlowData extends Model {
  readonly before: FlowPeriodData
  readonly after: FlowPeriodData
  readonly captions: readonly FlowCaption[]
  readonly title: string
  readonly usualMode: FlowMode
  readonly usualLevel: FlowLevel
  /** Whether names come from a function, which the line of code can only name. */
  readonly hasNameRule: boolean
}

export function groupsAt(
  { regions, differences, components, ranked, ...union }: Model,
  { level, focus }: Pick<FlowState, 'level' | 'focus'>,
): Model['regions'] {
  if (level === 'steps') return []
  const difference = ranked.differences[focus - 1]
  if (level === 'focus' && difference !== undefined) return focusGroups(union, difference)
  if (level === 'regions') return regions
  return level === 'components' ? components : [...regions, ...differences]
}

/** A box: a step, or a group of steps drawn as one. */
export type SceneStep = ReturnType<typeof sceneStep>

export type SceneLink = ReturnType<typeof sceneLink>

/** Drawn elements of two flows; lines in ascending order of `from`. */
export type FlowScene = ReturnType<typeof flowScene>

const MAX_CAPTION = 32
const MAX_GROUP_CAPTION = 56
/** Boxes have room for a sign in the corner. */
const MIN_WIDTH = 72

export function flowScene(
  data: FlowData,
  { level, opened, focus = 1 }: Pick<FlowState, 'level' | 'opened'> & { readonly focus?: number },
) {
  const groups = groupsAt(data, { level, focus })
  const { nodes, edges, nodeOf } = coalesceFlow(data, { groups, opened })
  const openedGroup = new Map<number, number>()
  for (const { id, nodes: members } of groups) {
    if (opened.includes(id)) for (const node of members) openedGroup.set(node, id)
  }
  return {
    steps: nodes.map((node) => sceneStep(data, node, openedGroup)),
    links: edges
      .map((edge) => sceneLink(data, edge))
      .sort((a, b) => a.from - b.from || a.to - b.to),
    stepOf: nodeOf,
    /** Differences of the whole flows, ranked. */
    differences: data.ranked.differences,
  }
}

/** Returns the share of the change in some edges or steps: that of the largest difference among them. */
function shareOf(
  { ranked }: Pick<FlowData, 'ranked'>,
  things: 'nodes' | 'edges',
  ids: readonly number[],
): number {
  const own = new Set(ids)
  const shares = ranked.differences.flatMap((one) =>
    one.share !== null && one[things].some((id) => own.has(id)) ? [Math.abs(one.share)] : [],
  )
  return Math.min(1, Math.max(0, ...shares))
}

function sceneStep(data: FlowData, node: CoalescedNode, openedGroup: ReadonlyMap<number, number>) {
  const { captions, orderChanges, nodes: all } = data
  const { group, nodes } = node
  const first = nodes[0] as number
  const caption = group === null ? (captions[first] ?? [node.name, '']) : groupCaption(group, data)
  const [name = '', where = ''] = caption
    .map((line) => shortText(line, group === null ? MAX_CAPTION : MAX_GROUP_CAPTION))
    .filter((line) => line !== '')
  const { width, height } = boxSize(name, where)
  return {
    ...node,
    lines: [name, where] as const,
    width: Math.max(MIN_WIDTH, Math.ceil(width)),
    /** A group is as high as an edge of its time is long. */
    height:
      group === null
        ? height
        : Math.max(height, Math.round(edgeLength(Math.max(group.beforeUs, group.afterUs)))),
    /** Share of the change that its difference has. */
    share: node.inBefore === node.inAfter ? 0 : shareOf(data, 'nodes', nodes),
    openedGroup: openedGroup.get(first) ?? null,
    /** Number of changes of order that involve it or its steps. */
    orderChanges: orderChangesOf(orderChanges, nodes).length,
    /** Whether it or some of its steps are on one side only, or perhaps not the same. */
    hasGone: nodes.some((one) => all[one]?.inAfter === false),
    hasCome: nodes.some((one) => all[one]?.inBefore === false),
    isDoubtful: nodes.some((one) => all[one]?.certainty === 'doubtful'),
    isFailing: nodes.some((one) => SIDES.some((side) => (all[one]?.failed[side] ?? 0) > 0)),
  }
}

export function orderChangesOf(changes: readonly OrderChange[], nodes: readonly number[]) {
  return changes.filter(({ first, second }) => nodes.includes(first) || nodes.includes(second))
}

const MAX_HELD = 3

/** Returns the caption of a group; for added or removed steps their operations: `prefetch · lock acquire × 33`. */
function groupCaption(group: FlowGroup, { captions, nodes, quantity }: FlowData): FlowCaption {
  const { name, inBefore, inAfter, beforeUs, afterUs, kind, service, host } = group
  const told = (us: number) => (us === 0 ? 'not waited for' : formatAmount(us, quantity))
  const times =
    inBefore && inAfter
      ? `${told(beforeUs)} → ${told(afterUs)}`
      : told(inBefore ? beforeUs : afterUs)
  if (kind === 'component') {
    const place = host.startsWith(service) ? host : [service, host].filter(Boolean).join(' ')
    return [place, `${stepCount(nodes, group.nodes)}; ${times}`]
  }
  if (kind === 'added' || kind === 'removed') {
    const begun = group.nodes.filter((node) => nodes[node]?.phase !== 'reply')
    const held = rollup(
      begun.length > 0 ? begun : group.nodes,
      ({ length }) => length,
      (node) => captions[node]?.[0] ?? '',
    )
    const [begins = ['', 0] as const, ...others] = held
    const names = [begins, ...sort(others, ([, count]) => -count)].map(([what, count]) =>
      count > 1 ? `${what} × ${count}` : what,
    )
    const more = names.length > MAX_HELD ? [`${names.length - MAX_HELD} more`] : []
    return [[...names.slice(0, MAX_HELD), ...more].join(' · '), `${name} · ${times}`]
  }
  const whole = `${service} · ${times}`
  return [name, service === '' || whole.length > MAX_GROUP_CAPTION ? times : whole]
}

function sceneLink(data: FlowData, link: CoalescedEdge) {
  const { edges, quantity } = data
  const bundle = link.edges.map((id) => edges[id] as UnionEdge)
  const lead = bundle.reduce((best, edge) => (weight(edge) > weight(best) ? edge : best))
  /** The mean latency, or of an edge that is never waited for its waiting. */
  const latencyUs = (side: FlowSide) => {
    const latencies = lead[side] ?? bundle.find((edge) => edge[side] !== null)?.[side]
    return latencies?.meanUs ?? latencies?.waitUs ?? null
  }
  const waits = (side: FlowSide) =>
    bundle.some((edge) => edge[side] !== null) &&
    bundle.every((edge) => edge[side]?.mostlyWaiting ?? true)
  const quiet = bundle.find(({ reason }) => reason !== null)
  return {
    ...link,
    /** The edge that stands for all it stands for: the one that changed, or that is waited for. */
    lead,
    quantity,
    beforeUs: latencyUs('before'),
    afterUs: latencyUs('after'),
    /** Share of the change that its difference has. */
    share: shareOf(data, 'edges', link.edges),
    /** Why a large change is not called significant; `null` where it is or where there is none. */
    reason: link.verdict === 'changed' ? null : (quiet?.reason ?? null),
    /** On a side, its length is waiting for another branch, not work. */
    waits: { before: waits('before'), after: waits('after') },
  }
}

/** Weighs edges: changed ones first, then those with large changes, then those that requests wait for longest. */
function weight({ verdict, reason, before, after, inBefore, inAfter }: UnionEdge): number {
  const critical = Math.max(before?.criticalUs ?? 0, after?.criticalUs ?? 0)
  const rank = verdict === 'changed' ? 3 : reason !== null ? 2 : inBefore && inAfter ? 1 : 0
  return rank * 1e12 + critical
}

/** Whether a group has a large change inside, but no significant one. */
export function isQuietInside({ group }: SceneStep): boolean {
  return group !== null && group.changedEdges === 0 && group.quietEdges > 0
}

export type FlowSelection =
  | { readonly node: number; readonly edge?: undefined }
  | { readonly edge: number; readonly node?: undefined }

/** Selected element of a scene: an edge within a group selects the group. */
export type SelectedThing = ReturnType<typeof selectedThing>

export function selectedThing(
  { steps, links, stepOf }: FlowScene,
  { edges }: FlowData,
  selection: FlowSelection | null,
) {
  if (selection === null) return { step: null, link: null }
  const { node, edge } = selection
  const link = links.find((each) => edge !== undefined && each.edges.includes(edge))
  if (link !== undefined) return { step: null, link }
  const id = stepOf[node ?? edges[edge]?.from ?? 0]
  return { step: steps[id ?? -1] ?? null, link: null }
}

/** Returns the selection that shows a difference: the edge whose latency changed, or its first step. */
export function selectionOf({ kind, nodes, edges }: FlowDifference): FlowSelection {
  const [[node = 0], [edge = 0]] = [nodes, edges]
  return kind === 'latency' ? { edge } : { node }
}

const MAX_NAMES = 5

export function periodWords(
  { category, period, requests, meanUs }: FlowPeriodData,
  of: Quantity,
): string {
  const mean = meanUs === null ? '' : `, ${formatAmount(meanUs, of)} on average`
  return `category ${category} ${period}: ${counted(requests, 'request')}${mean}`
}

export function diffLabel(link: SceneLink): string {
  const { inBefore, inAfter, waits, beforeUs, afterUs, quantity } = link
  if (!inBefore || !inAfter) return sideLabel(link, inBefore ? 'before' : 'after')
  const times = fromToText(beforeUs ?? Number.NaN, afterUs ?? Number.NaN, quantity)
  return waits.before && waits.after ? `waits ${times}` : times
}

export function sideLabel(
  { waits, beforeUs, afterUs, quantity }: SceneLink,
  side: FlowSide,
): string {
  const time = latency(side === 'before' ? beforeUs : afterUs, quantity)
  return waits[side] ? (time === '–' ? 'waits' : `waits ${time}`) : time
}

export function latency(us: number | null, of: Quantity): string {
  return us === null ? '–' : formatAmount(us, of)
}

export function verdictWords(edge: UnionEdge, of: Quantity): string {
  const { inBefore, inAfter, verdict, significant, reason, shiftUs, q } = edge
  if (!inAfter) return 'Only before.'
  if (!inBefore) return 'Only after.'
  const shift = shiftUs === null ? '' : ` (${signedAmount(shiftUs, of)})`
  const chance = q === null && reason === null ? '' : `; ${chanceWords(edge)}`
  if (verdict === 'changed') return `Changed significantly${shift}${chance}.`
  if (reason !== null) return `Large change${shift}${chance}.`
  if (significant) return `Changed by little${shift}${chance}.`
  if (verdict === 'unchanged') return `No significant change${shift}${chance}.`
  return `Not tested${shift}: too few requests.`
}

function latencyWords(latencies: EdgeLatencies | null, of: Quantity): string {
  const amount = (us: number) => formatAmount(us, of)
  if (latencies === null) return 'not there'
  const { requests, meanUs, medianUs, sdUs, criticalShare, waitUs, mostlyWaiting } = latencies
  if (meanUs === null) {
    return waitUs === null
      ? 'no latency'
      : `never waited for; done ${amount(waitUs)} before what is`
  }
  return [
    `mean ${amount(meanUs)}${sdUs === null ? '' : ` ± ${amount(sdUs)}`}`,
    ...(medianUs === null ? [] : [`median ${amount(medianUs)}`]),
    counted(requests, 'request'),
    mostlyWaiting
      ? 'mostly waits for another branch'
      : `on the critical path of ${percent(criticalShare)}`,
  ].join(', ')
}

export function nodeName({ nodes }: FlowData, node: number): string {
  return tooltipText(nodes[node]?.name ?? '')
}

export function edgeName(data: FlowData, edge: number): string {
  const { from = 0, to = 0 } = data.edges[edge] ?? {}
  return `${nodeName(data, from)} → ${nodeName(data, to)}`
}

export function linkWords(data: FlowData, { lead, edges }: SceneLink): string {
  return [
    edgeName(data, lead.id),
    `before: ${latencyWords(lead.before, data.quantity)}`,
    `after: ${latencyWords(lead.after, data.quantity)}`,
    verdictWords(lead, data.quantity),
    ...(edges.length > 1 ? [`Stands for ${counted(edges.length, 'edge')}; this is one.`] : []),
  ].join('\n')
}

const CERTAINTY = {
  sure: 'in both flows',
  likely: 'in both flows; probably the same step, though its name recurs',
  doubtful:
    'perhaps in both flows (?): its name recurs in different surroundings, so it may be matched wrongly',
} as const

export function presenceWords({ inBefore, inAfter }: SceneStep, data: FlowData, node: number) {
  if (!inAfter) return 'only before'
  if (!inBefore) return 'only after'
  return CERTAINTY[data.nodes[node]?.certainty ?? 'sure']
}

export function stepWords(data: FlowData, step: SceneStep): string {
  const { group, nodes } = step
  const first = nodes[0] as number
  const own =
    group === null
      ? `${nodeName(data, first)}, ${presenceWords(step, data, first)}`
      : `${tooltipText(group.name)} drawn as one: ${groupWords(data, group)}`
  return [own, ...failureSentences(data, nodes), ...orderSentences(data, nodes)].join('\n')
}

export function failureSentences(data: FlowData, nodes: readonly number[]): string[] {
  return nodes.flatMap((node) => {
    const { failed } = data.nodes[node] as UnionNode
    if (failed.before + failed.after === 0) return []
    const name = nodes.length === 1 ? 'Failed' : `${nodeName(data, node)} failed`
    const counts = SIDES.filter((side) => data[side].requests > 0).map(
      (side) => `${grouped(failed[side])} of ${counted(data[side].requests, 'request')} ${side}`,
    )
    return [`${name} in ${counts.join(', ')}.`]
  })
}

export function orderSentences(data: FlowData, nodes: readonly number[]): string[] {
  const changes = orderChangesOf(data.orderChanges, nodes)
  return changes.map((change) => `${orderWords(change, (node) => nodeName(data, node))}.`)
}

/** Why this is the first view. */
export const MODE_REASONS: Readonly<Record<FlowMode, string>> = {
  'side-by-side': 'Side by side, because nothing differs significantly.',
  diff: 'Shown as a difference, because latencies changed most.',
  animation: 'Shown as an animation, because structure changed most.',
}

const MAX_DIFFERENCES = 5

/** Returns the largest differences, with their parts of the change. */
export function shownDifferences({ ranked: { differences } }: FlowData): string[] {
  return differences.slice(0, MAX_DIFFERENCES).map(({ text }) => tooltipText(text))
}

/** Describes the contribution of the other differences, and of edges without one. */
export function otherDifferences({ ranked, quantity, ...periods }: FlowData): string {
  if (SIDES.some((side) => periods[side].requests === 0)) return ''
  const { differences, rest, totalUs } = ranked
  const takes = (us: number) => `${moreWords(us, quantity)}${shareWords(us, totalUs, quantity)}`
  const others = differences.slice(MAX_DIFFERENCES)
  const otherUs = sum(others, ({ changeUs }) => changeUs)
  return [
    ...(others.length > 0
      ? [`${counted(others.length, 'smaller difference')} together: ${takes(otherUs)}.`]
      : []),
    `${counted(rest.edges.length, differences.length === 0 ? 'edge' : 'other edge')} without a difference: ${takes(rest.changeUs)}.`,
    `In all: ${moreWords(totalUs, quantity)}.${pNote(differences)}`,
  ].join(' ')
}

const ORDERS: Readonly<Record<OrderChange['kind'], string>> = {
  'in turn': 'now one after the other',
  together: 'now at the same time',
  reordered: 'now in another order',
  'not waited for': 'no longer waited for',
  'waited for': 'now waited for',
}

export function groupWords(data: FlowData, { nodes, edges, changedEdges }: FlowGroup): string {
  const names = nodes.map((node) => nodeName(data, node))
  const reasons = edges.flatMap((edge) => data.edges[edge]?.reason ?? [])
  const why = [...new Set(reasons)].map((reason) => QUIET_WORDS[reason]).join('; ')
  const sentences = spoken([
    firstOf(names, { most: MAX_NAMES }),
    changedEdges > 0 && `${counted(changedEdges, 'edge')} inside changed significantly`,
    reasons.length > 0 && `${counted(reasons.length, 'edge')} inside changed much: ${why}`,
  ])
  return `${sentences.join('. ')}.`
}

export function differenceWords({ nodes, edges, orderChanges, ...periods }: FlowData): string {
  const empty = SIDES.find((side) => periods[side].requests === 0)
  if (empty !== undefined) return `No request took this way ${empty}: there is nothing to compare.`
  const removed = nodes.filter(({ inAfter }) => !inAfter).length
  const added = nodes.filter(({ inBefore }) => !inBefore).length
  const changed = edges.filter(({ verdict }) => verdict === 'changed').length
  const little = edges.filter(({ significant, large }) => significant && !large).length
  const quiet = edges.filter(({ reason }) => reason !== null).length
  const parts = spoken([
    removed > 0 && `${counted(removed, 'step')} only before`,
    added > 0 && `${counted(added, 'step')} only after`,
    ...(Object.keys(ORDERS) as OrderChange['kind'][]).map((kind) => {
      const count = orderChanges.filter((change) => change.kind === kind).length
      const isOne = kind === 'not waited for' || kind === 'waited for'
      const what = isOne
        ? counted(count, 'step')
        : counted(count, 'pair of steps', 'pairs of steps')
      return count > 0 && `${what} ${ORDERS[kind]}`
    }),
    changed > 0 && `${counted(changed, 'latency', 'latencies')} changed significantly`,
    little > 0 && `${counted(little, 'latency', 'latencies')} changed by little`,
    quiet > 0 && `${counted(quiet, 'latency', 'latencies')} changed much, perhaps by chance`,
  ])
  return parts.length === 0 ? 'Nothing differs significantly.' : `${parts.join(', ')}.`
}

/**
 * Keeps notes in the storage of the page, so that a reload does not lose them: those kept are added to
 * those given, and stand in place of one on the same step or edge. Pages without storage keep none.
 */
export function useKeptNotes(
  data: FlowData,
  annotations: readonly FlowAnnotation[],
  onKept: (merged: readonly FlowAnnotation[]) => void,
): void {
  const wasRead = useRef(false)
  useEffect(() => {
    const names = data.nodes.map((_, node) => nodeName(data, node))
    // The same for the same flows, whatever page shows them.
    const key = `flowdelta notes ${fingerprint(JSON.stringify([data.title, names]))}`
    try {
      if (wasRead.current) return localStorage.setItem(key, JSON.stringify(annotations))
      wasRead.current = true
      const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
      // Those on steps and edges that the flow has.
      const kept = (Array.isArray(stored) ? stored : []).filter(
        (note) => data.nodes[note?.node ?? 0] && data.edges[note?.edge ?? 0],
      )
      const given = annotations.filter((note) => noteOn(kept, note) === undefined)
      if (kept.length > 0) onKept([...given, ...kept])
    } catch {
      // A page may have no storage, or a full one: its notes then last only while it is open.
    }
  }, [annotations])
}

export type NoteTarget = Pick<FlowAnnotation, 'node' | 'edge'>

export type Note = Required<Pick<FlowAnnotation, 'mark' | 'comment'>>

export function noteOn(
  annotations: readonly FlowAnnotation[],
  { node, edge }: NoteTarget,
): FlowAnnotation | undefined {
  return annotations.find((note) => note.node === node && note.edge === edge)
}

/** Returns the notes with that on `target` changed; one that says nothing is taken away. */
export function annotated(
  annotations: readonly FlowAnnotation[],
  target: NoteTarget,
  { mark, comment }: Note,
): FlowAnnotation[] {
  const known = noteOn(annotations, target)
  const next = { ...target, ...(mark && { mark }), ...(comment !== '' && { comment }) }
  const kept = mark || comment !== '' ? [next] : []
  if (known === undefined) return [...annotations, ...kept]
  return annotations.flatMap((note) => (note === known ? kept : [note]))
}

const NO_NOTES = { numbers: [] as number[], comments: [] as string[], isMarked: false }

export type StepNotes = typeof NO_NOTES

export type ShownNotes = ReturnType<typeof shownNotes>

/** Returns notes at the drawn element of their subject; notes on edges inside a group stand at the group. */
export function shownNotes(
  annotations: readonly FlowAnnotation[],
  { stepOf, links }: FlowScene,
  data: FlowData,
) {
  const steps = new Map<number, StepNotes>()
  const lines = new Map<SceneLink, StepNotes>()
  const add = <K>(to: Map<K, StepNotes>, key: K, number: number) => {
    const note = annotations[number - 1] ?? {}
    const { mark = false, comment = '' } = note
    const told = `${number} ${noteSubject(data, note)}: ${tooltipText(comment)}`
    const { numbers, comments, isMarked } = to.get(key) ?? NO_NOTES
    to.set(key, {
      numbers: comment === '' ? numbers : [...numbers, number],
      comments: comment === '' ? comments : [...comments, told],
      isMarked: isMarked || mark,
    })
  }
  annotations.forEach(({ node, edge }, i) => {
    const link = links.find((each) => each.edges.includes(edge ?? -1))
    if (link !== undefined) add(lines, link, i + 1)
    else add(steps, stepOf[node ?? data.edges[edge ?? 0]?.from ?? 0] as number, i + 1)
  })
  return { steps, links: lines }
}

export function noteSubject(data: FlowData, { node, edge }: FlowAnnotation): string {
  return edge === undefined ? nodeName(data, node ?? 0) : edgeName(data, edge)
}
