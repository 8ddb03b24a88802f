import { group } from 'd3-array'
import type { OrderChange } from '../../compare/precursors/order-difference.ts'
import { formatAmount, TIME } from '../../core/quantity.ts'
import { certaintyText, counted, shortText } from '../../core/words.ts'
import type { FlowComparison, QuietReason, UnionEdge } from './flow-comparison.ts'
import { type FlowDifference, moreWords, NO_TIME_US } from './flow-differences.ts'

/** A difference before its time is known. */
export type Draft = Pick<FlowDifference, 'kind' | 'nodes' | 'edges'> & {
  /** Changes of order that it stands for. */
  readonly orders?: readonly OrderChange[]
}

export function first({ nodes }: Pick<FlowDifference, 'nodes'>): number {
  return Math.min(...nodes)
}

const MAX_NAME = 60
const MAX_NAMES = 3

type Union = Pick<FlowComparison, 'nodes' | 'edges'>

/** What a difference is about, without its time. */
function subjectOf({ kind, nodes: about, orders = [] }: Draft, { nodes }: Union): string {
  const nameOf = (node: number) => shortText(nodes[node]?.name ?? '', MAX_NAME)
  if (kind === 'latency') return about.map(nameOf).join(' → ')
  if (kind === 'order') return orderText(orders, nameOf)
  const listOf = (some: readonly number[], most: number) => {
    const more = some.length - most
    const shown = some.slice(0, most).map(nameOf).join(', ')
    return more > 0 ? `${shown} and ${counted(more, 'more step')}` : shown
  }
  if (kind !== 'replaced') return listOf(about, MAX_NAMES)
  const [now, no] = [true, false].map((isNow) => {
    const steps = about.filter((node) => nodes[node]?.inAfter === isNow)
    return listOf(steps, steps.length > 2 ? 1 : 2)
  })
  return `${now} instead of ${no}`
}

const ORDINALS = ['first', 'second', 'third']

/** Tells differences of one name apart, and edges of which not all differ: ` (first of 2)`. */
export function ordinals(drafts: readonly Draft[], union: Union): (draft: Draft) => string {
  const shared = union.edges.filter(({ inBefore, inAfter }) => inBefore && inAfter)
  const all = [
    ...shared.map(
      ({ id, from, to }): Draft => ({ kind: 'latency', nodes: [from, to], edges: [id] }),
    ),
    ...drafts.filter(({ kind }) => kind !== 'latency').sort((a, b) => first(a) - first(b)),
  ]
  const named = group(all, (draft) => `${draft.kind} ${subjectOf(draft, union)}`)
  return (draft) => {
    const same = named.get(`${draft.kind} ${subjectOf(draft, union)}`) ?? []
    if (same.length < 2) return ''
    const place = same.findIndex(({ edges, nodes }) =>
      draft.kind === 'latency' ? edges[0] === draft.edges[0] : nodes[0] === draft.nodes[0],
    )
    return ` (${ORDINALS[place] ?? `no. ${place + 1}`} of ${same.length})`
  }
}

/** Says what differs, and by how much time. */
export function differenceText(
  draft: Draft & { readonly changeUs: number },
  { nodes, edges }: Union,
  ordinal: string,
): string {
  const { kind, nodes: about, edges: own, changeUs } = draft
  const isOnPath = Math.abs(changeUs) > NO_TIME_US
  const subject = subjectOf(draft, { nodes, edges }) + ordinal
  if (kind === 'latency') {
    const edge = edges[own[0] as number] as UnionEdge
    return `${subject} takes ${isOnPath ? latencyWords(edge, changeUs) : `${moreWords(edge.shiftUs ?? 0)}, which nothing waits for`}`
  }
  const isOther = kind === 'order' || kind === 'replaced'
  const s = isOther || about.length === 1 ? 's' : ''
  const ofStep = `${changeUs > 0 ? 'add' : 'save'}${s} ${formatAmount(Math.abs(changeUs), TIME)}`
  const time = isOther ? `takes ${moreWords(changeUs)}` : ofStep
  const which = `which ${isOnPath ? time : `cost${s} no time`}`
  return isOther ? `${subject}, ${which}` : `${subject} ${s ? 'is' : 'are'} ${kind}, ${which}`
}

/** Says of a latency how sure its change is; steps that came, went or moved are no chance. */
export function chanceOf({ kind, edges: own }: Draft, edges: readonly UnionEdge[]): string {
  const edge = edges[own[0] ?? -1]
  return kind === 'latency' && edge !== undefined ? `; ${chanceWords(edge)}` : ''
}

/** Says by how much an edge's time changed, and how its median or its latency changed if otherwise. */
function latencyWords({ shiftUs, medianShiftUs }: UnionEdge, changeUs: number): string {
  const isAgainst = (us: number | null) => us !== null && us * changeUs < 0
  if (shiftUs !== null && isAgainst(shiftUs)) {
    return `${moreWords(shiftUs)} but is waited for ${changeUs > 0 ? 'more' : 'less'} often: ${moreWords(changeUs)} in all`
  }
  const median = isAgainst(medianShiftUs) ? ` (its median ${moreWords(medianShiftUs ?? 0)})` : ''
  return `${moreWords(changeUs)}${median}`
}

function orderText(orders: readonly OrderChange[], nameOf: (node: number) => string): string {
  const shown = orders.slice(0, MAX_NAMES).map((order) => orderWords(order, nameOf))
  const more = orders.length - shown.length
  return shown.join('; ') + (more > 0 ? `; ${counted(more, 'more change')} of order` : '')
}

/** Says how two steps lie to each other now, and how they did before. */
export function orderWords(
  { kind, first: one, second: other }: OrderChange,
  nameOf: (node: number) => string,
): string {
  const [a, b] = [nameOf(one), nameOf(other)]
  const words: Record<OrderChange['kind'], string> = {
    'in turn': `${b} now waits for ${a}; before, both at the same time`,
    together: `${b} no longer waits for ${a}: both at the same time`,
    reordered: `${b} now comes after ${a}, not before it`,
    'not waited for': `${a} no longer waits for ${b}`,
    'waited for': `${a} now waits for ${b}`,
  }
  return words[kind]
}

/** Why a large change of an edge is not called one. */
export const QUIET_WORDS: Readonly<Record<QuietReason, string>> = {
  variance: 'may be chance',
  'too few requests': 'may be chance, too few requests to test',
  'never waited for': 'not tested, as no request waits for it',
}

/** Says how sure the change of an edge is: `p < 0.001`, `may be chance (p = 0.2)`. */
export function chanceWords({ q, reason }: Pick<UnionEdge, 'q' | 'reason'>): string {
  const p = q === null ? '' : certaintyText(q)
  if (reason === null) return p
  return QUIET_WORDS[reason] + (reason === 'variance' && p !== '' ? ` (${p})` : '')
}
