import { sum } from 'd3-array'
import type { OrderChange } from '../../../compare/precursors/match-precursors.ts'
import { formatAmount, fromToText, type Quantity, signedAmount } from '../../../core/quantity.ts'
import { counted, firstOf, grouped, percent, spoken, tooltipText } from '../../../core/words.ts'
import {
  chanceWords,
  type EdgeLatencies,
  type FlowGroup,
  moreWords,
  orderWords,
  pNote,
  QUIET_WORDS,
  shareWords,
  type UnionEdge,
  type UnionNode,
} from '../../../explain/flow-pair/flow-comparison.ts'
import {
  type FlowData,
  type FlowMode,
  type FlowPeriodData,
  type FlowSide,
  orderChangesOf,
  type SceneLink,
  type SceneStep,
  SIDES,
} from './flow-scene.ts'

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
