import { group, sort, sum } from 'd3-array'
import { type OrderChange, reachable } from '../../compare/precursors/match-precursors.ts'
import {
  changeWords,
  formatAmount,
  moreText,
  partAndRestText,
  type Quantity,
} from '../../core/quantity.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { certaintyText, counted, percent, shortText } from '../../core/words.ts'
import type { NodeLabel } from '../../flows/node-labels.ts'
import type { Direction } from '../../stats/two-sample.ts'

export interface EdgeLatencies {
  /**
   * Number of its edge class in the category's structure. Edges of one class, such as parallel calls
   * of one operation, are reported together; they are on critical paths one for the other.
   */
  readonly edgeClass: number
  /** Requests with a latency; for an edge into a join, those in which the join waited for it. */
  readonly requests: number
  /** Statistics of these latencies, in µs; `null` if there are none, or too few for a deviation. */
  readonly meanUs: number | null
  readonly medianUs: number | null
  readonly sdUs: number | null
  /** Share of all requests with the edge on the critical path. */
  readonly criticalShare: number
  /**
   * Its part of the mean response time, in µs, edges of one class having equal parts; over all edges
   * of a flow these add up to it.
   */
  readonly criticalUs: number
  /** Mean latency in the requests in which the join it leads to waited for another edge, in µs. */
  readonly waitUs: number | null
  /** The join it leads to mostly waited for another edge: its length is waiting; draw it thin. */
  readonly mostlyWaiting: boolean
}

/** A step of one of the compared flows. */
export interface FlowNode extends Pick<NodeLabel, 'service' | 'operation' | 'host' | 'phase'> {
  readonly label: string
  /** The label, or the readable name given for it. */
  readonly name: string
  /** Number of requests in which the call failed, on its reply; 0 if outcomes were not recorded. */
  readonly failed: number
}

/** An edge of one of the compared flows; `from` and `to` are places in its `nodes`. */
export interface FlowEdge {
  readonly from: number
  readonly to: number
  /** The node it leads to waits for other edges as well. */
  readonly intoJoin: boolean
  readonly latencies: EdgeLatencies
}

export interface FlowSide {
  readonly category: number
  readonly period: 'before' | 'after'
  readonly requests: number
  /** Mean response time; `null` without requests. */
  readonly meanUs: number | null
  /** Depth first, siblings by label. */
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
}

/**
 * Certainty that two nodes are the same step: `'sure'` if their label is unique on both sides or the flows are the
 * same; `'likely'` if the label recurs and at least half of their neighbors are matched with each other; else
 * `'doubtful'`.
 */
export type Certainty = 'sure' | 'likely' | 'doubtful'

/** Two nodes taken for the same step; `before` and `after` are places in the sides' `nodes`. */
export interface NodeMatch {
  readonly before: number
  readonly after: number
  readonly certainty: Certainty
}

export interface UnionNode extends Omit<FlowNode, 'failed'> {
  readonly id: number
  readonly inBefore: boolean
  readonly inAfter: boolean
  /** Place in the nodes of each side; `null` if it is missing there. */
  readonly before: number | null
  readonly after: number | null
  /** On each side, requests in which the call that it replies to failed. */
  readonly failed: { readonly before: number; readonly after: number }
  /** `null` for a node of one side only. */
  readonly certainty: Certainty | null
}

/** Why a large change of an edge's mean may be chance. */
export type QuietReason = 'variance' | 'too few requests' | 'never waited for'

/** Change of the latency of an edge that is on both sides. */
export interface EdgeVerdict {
  /** `'changed'` when it is `significant` and `large`. */
  readonly verdict: 'changed' | 'unchanged' | 'untested'
  /** `null` for an edge that one side has no times of. */
  readonly p: number | null
  /** p corrected over the tested edges of this comparison. */
  readonly q: number | null
  readonly direction: Direction | null
  /** Mean after − before, in µs; where an edge is never waited for, of its waiting. */
  readonly shiftUs: number | null
  readonly medianShiftUs: number | null
  /** q is below α. */
  readonly significant: boolean
  /** The shift is at least `largeShift` of the mean response time, or an edge's even part of it. */
  readonly large: boolean
  /** Why a large shift is not called a change; else `null`. */
  readonly reason: QuietReason | null
}

/** An edge of the union of both flows; `from` and `to` are ids of its nodes. */
export interface UnionEdge extends EdgeVerdict {
  readonly id: number
  readonly from: number
  readonly to: number
  readonly inBefore: boolean
  readonly inAfter: boolean
  /** Latencies on each side; `null` if it is missing there. */
  readonly before: EdgeLatencies | null
  readonly after: EdgeLatencies | null
  readonly intoJoin: boolean
}

/** Nodes of the union that can be shown as one without hiding how edges lead. */
export interface FlowGroup {
  readonly id: number
  /** Relation of its nodes: the same on both sides, on one side only, at one place, or none. */
  readonly kind: 'identical' | 'added' | 'removed' | 'component' | 'others'
  /** Said of the whole: `23 steps in both`, `4 added steps`, or where the steps happen. */
  readonly name: string
  /** Service of its steps, or both where they are of two; the empty string for more. */
  readonly service: string
  /** Host of a component's traversal; else the empty string. */
  readonly host: string
  /** Ids of its nodes, and of the edges between them. */
  readonly nodes: readonly number[]
  readonly edges: readonly number[]
  readonly inBefore: boolean
  readonly inAfter: boolean
  /** All its nodes and edges are on both sides and no latency changed. */
  readonly identical: boolean
  readonly changedEdges: number
  /** Edges with a large change that may be chance. */
  readonly quietEdges: number
  /** Time that requests spend in it if their critical path leads through it, in µs; 0 for none. */
  readonly beforeUs: number
  readonly afterUs: number
}

/**
 * Two flows side by side and as one: the data to draw them next to each other, as a diff, or one turning into the
 * other. Plain data, but for `ranked`, a stage; ids are places in their lists, times in µs.
 */
export interface FlowComparison {
  /** Quantity that edges are compared by. */
  readonly quantity: Quantity
  readonly before: FlowSide
  readonly after: FlowSide
  readonly matches: readonly NodeMatch[]
  /** Edit distance of both structures, read depth first. */
  readonly distance: number
  /** 1 less that distance as a share of the longer structure: 1 for equal ones. */
  readonly confidence: number
  /** The same in words. */
  readonly confidenceText: string
  /** Pairs kept apart because some step would have followed itself. */
  readonly droppedMatches: number
  /** Union of both flows, in an order in which edges lead from lower to higher ids. */
  readonly nodes: readonly UnionNode[]
  readonly edges: readonly UnionEdge[]
  /** Steps of both sides that lie otherwise to each other, by ids of the union. */
  readonly orderChanges: readonly OrderChange[]
  /** Connected steps that are the same on both sides and took no other time: two nodes or more. */
  readonly regions: readonly FlowGroup[]
  /**
   * Connected steps on one side only: added ones and removed ones. Regions and differences can be drawn as one node
   * each at the same time; their ids are one sequence.
   */
  readonly differences: readonly FlowGroup[]
  /** Traversals of one component, its service and host: every node that has either is in one. */
  readonly components: readonly FlowGroup[]
  /** Differences, ranked by their part of the change of the mean response time. */
  readonly ranked: FlowDifferences
}

/**
 * One difference between two flows: steps on one side only, steps in the place of others, steps in
 * another order, or an edge whose latency changed.
 */
export interface FlowDifference {
  /** Rank from 1, the largest change of time on the critical path first. */
  readonly rank: number
  readonly kind: 'added' | 'removed' | 'replaced' | 'order' | 'latency'
  /** Ids of the union's nodes that it is about: those that came, went or moved, or an edge's ends. */
  readonly nodes: readonly number[]
  /** Ids of the union's edges whose time it accounts for; no edge is in two differences. */
  readonly edges: readonly number[]
  /** Time of these edges on the critical path of a mean request, in µs. */
  readonly beforeUs: number
  readonly afterUs: number
  readonly changeUs: number
  /** `changeUs` as a share of the whole change; below 0 against it, `null` where there is none. */
  readonly share: number | null
  /** Description without its share: `X → Y takes 98 ms longer`. */
  readonly what: string
  /** The same with its share: `X → Y takes 98 ms longer: 72 % of the slowdown`. */
  readonly text: string
}

/** Contribution of edges without a difference of their own. */
export type RestOfChange = Pick<FlowDifference, 'edges' | 'changeUs' | 'share'>

/** Differences between two flows, ranked by their part of the change of the mean response time. */
export class FlowDifferences extends columnarStage<{
  readonly quantity: Quantity
  readonly differences: readonly FlowDifference[]
  /** Mean response time after − before, in µs; the differences and the rest add up to it. */
  readonly totalUs: number
  readonly rest: RestOfChange
}>() {
  /** Returns a row for each difference, the largest change first. */
  table(): StageTable {
    return rowTable(this.differences, own('rank kind what beforeUs afterUs changeUs share'))
  }

  /** Returns a line for each difference, then the rest. */
  text(): string {
    const { differences, totalUs, quantity, rest } = this
    const { edges, changeUs } = rest
    const lines = differences.map(({ rank, text }) => `${rank}. ${text}`)
    if (lines.length === 0) lines.push('Nothing differs significantly.')
    const all = `In all: ${moreWords(totalUs, quantity)}.${pNote(differences)}`
    const takes = `${moreWords(changeUs, quantity)}${shareWords(changeUs, totalUs, quantity)}`
    const others = `Everything else, ${counted(edges.length, 'edge')}, takes ${takes}.`
    return [...lines, others, all].join('\n')
  }
}

/** Means that differ by less than a nanosecond, which clocks do not record, differ by rounding. */
const NO_TIME_US = 1e-3

export function moreWords(us: number, of: Quantity): string {
  if (Math.abs(us) > NO_TIME_US) return moreText(us, of)
  return of.unit === null ? 'as long as before' : 'as much as before'
}

/** Writes the share of some edges in the whole change. */
export function shareWords(changeUs: number, totalUs: number, of: Quantity): string {
  if (Math.abs(totalUs) <= NO_TIME_US || Math.abs(changeUs) <= NO_TIME_US) return ''
  if (changeUs / totalUs >= 0) return `: ${partAndRestText(changeUs, totalUs, of)}`
  const { change } = changeWords(of, totalUs > 0)
  return `, offsetting ${percent(-changeUs / totalUs)} of the ${change}`
}

/** Note next to p of edges. */
const CORRECTED = 'corrected for the number of edges tested'

/** Returns a note about p, if p is printed. */
export function pNote(differences: readonly FlowDifference[]): string {
  const tested = differences.filter(({ kind }) => kind === 'latency')
  if (tested.length === 0) return ''
  const isAll = tested.length === differences.length
  return ` p is ${CORRECTED}${isAll ? '' : '; new, lost and moved steps need no test'}.`
}

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

/** Returns the subject of a difference, without its time. */
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

/** Tells differences of one name apart: ` (first of 2)`. */
function ordinals(drafts: readonly Draft[], union: Union): (draft: Draft) => string {
  const named = group(sort(drafts, first), (draft) => `${draft.kind} ${subjectOf(draft, union)}`)
  const texts = [...named.values()].flatMap((same) =>
    same.length < 2
      ? []
      : same.map((draft, i) => {
          const text = ` (${ORDINALS[i] ?? `no. ${i + 1}`} of ${same.length})`
          return [draft, text] as const
        }),
  )
  const textOf = new Map(texts)
  return (draft) => textOf.get(draft) ?? ''
}

/** Says what differs, and by how much time. */
export function differenceText(
  draft: Draft & { readonly changeUs: number },
  { nodes, edges, quantity }: Union & Pick<FlowComparison, 'quantity'>,
  ordinal: string,
): string {
  const more = (us: number) => moreWords(us, quantity)
  const { kind, nodes: about, edges: own, changeUs } = draft
  const isOnPath = Math.abs(changeUs) > NO_TIME_US
  const subject = subjectOf(draft, { nodes, edges }) + ordinal
  if (kind === 'latency') {
    const edge = edges[own[0] as number] as UnionEdge
    return `${subject} takes ${isOnPath ? latencyWords(edge, changeUs, quantity) : `${more(edge.shiftUs ?? 0)}, which nothing waits for`}`
  }
  const isOther = kind === 'order' || kind === 'replaced'
  const s = isOther || about.length === 1 ? 's' : ''
  const ofStep = `${changeUs > 0 ? 'add' : 'save'}${s} ${formatAmount(Math.abs(changeUs), quantity)}`
  const time = isOther ? `takes ${more(changeUs)}` : ofStep
  const which = `which ${isOnPath ? time : `cost${s} no time`}`
  return isOther ? `${subject}, ${which}` : `${subject} ${s ? 'is' : 'are'} ${kind}, ${which}`
}

/** Says of a latency how sure its change is; steps that came, went or moved are no chance. */
export function chanceOf({ kind, edges: own }: Draft, edges: readonly UnionEdge[]): string {
  const edge = edges[own[0] ?? -1]
  return kind === 'latency' && edge !== undefined ? `; ${chanceWords(edge)}` : ''
}

/**
 * Says by how much an edge's time changed; adds its median, or the wait of requests for it, if these changed otherwise.
 */
function latencyWords(
  { shiftUs, medianShiftUs }: UnionEdge,
  changeUs: number,
  of: Quantity,
): string {
  const more = (us: number) => moreWords(us, of)
  if (shiftUs === null) return more(changeUs)
  const words = more(shiftUs)
  if (shiftUs * changeUs < 0) {
    return `${words} but is waited for ${changeUs > 0 ? 'more' : 'less'} often: ${more(changeUs)} in total`
  }
  const [size, waited] = [shiftUs, changeUs].map((us) => formatAmount(Math.abs(us), of))
  const isAgainst = medianShiftUs !== null && medianShiftUs * changeUs < 0
  const median = isAgainst ? ` (its median ${more(medianShiftUs)})` : ''
  if (size === waited) return words + median
  const isPart = Math.abs(changeUs) < Math.abs(shiftUs)
  const part = isPart
    ? `, ${waited} of it waited for`
    : ` and is waited for more often: ${more(changeUs)} in total`
  return words + median + part
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
  'never waited for': 'not tested: no request waits for it',
}

/** Says how sure the change of an edge is: `p < 0.001`, `may be chance (p = 0.2)`. */
export function chanceWords({ q, reason }: Pick<UnionEdge, 'q' | 'reason'>): string {
  const p = q === null ? '' : certaintyText(q)
  if (reason === null) return p
  return QUIET_WORDS[reason] + (reason === 'variance' && p !== '' ? ` (${p})` : '')
}

export type ComparedFlows = Omit<FlowComparison, 'ranked'>

/**
 * Ranks the differences between two flows by how much of the change of the mean response time they
 * are: by the change of the time that their edges have on critical paths.
 *
 * Steps on one side have all edges to and from them, and the edge that they stand in the place of;
 * steps in another order have the edges between the fork and the join around them; an edge whose
 * latency changed significantly, or much, has itself. Edges on critical paths add up to the
 * response time, so all differences and `rest` add up to its change. Where another branch is waited
 * for than before, a difference may be more than the whole change, and `rest` less than nothing.
 *
 * Source: Sambasivan 2013, §4.3.3 (task 5: which change most impacts response time); the division of
 * the critical path is flowdelta's own.
 */
export function rankDifferences(flows: ComparedFlows): FlowDifferences {
  const { nodes, edges, quantity } = flows
  const free = new Set(edges.map(({ id }) => id))
  const claim: Claim = (wanted) =>
    Array.from(wanted, ({ id }) => id).filter((id) => free.delete(id))
  const latencies = changedEdges(flows, claim)
  const isBefore = {
    inBefore: waysBetween(nodes, edges, 'inBefore'),
    inAfter: waysBetween(nodes, edges, 'inAfter'),
  }
  const drafts = [
    ...oneSidedSteps(flows, claim),
    ...stepsInOtherOrder(flows, isBefore, claim),
    ...latencies,
  ].map((draft) => withSwitched(flows, draft, { isBefore, claim }))
  const totalUs =
    flows.before.meanUs === null || flows.after.meanUs === null
      ? totalOf(edges, 'after') - totalOf(edges, 'before')
      : flows.after.meanUs - flows.before.meanUs
  // No −0, which JSON does not know.
  const shareOf = (us: number) => (Math.abs(totalUs) > NO_TIME_US ? us / totalUs + 0 : null)
  const [before, after] = [
    criticalTimes(flows, drafts, 'before'),
    criticalTimes(flows, drafts, 'after'),
  ]
  const ordinal = ordinals(drafts, flows)
  const differences = drafts
    .map((draft) => {
      const beforeUs = sum(draft.edges, (id) => before.get(id))
      const afterUs = sum(draft.edges, (id) => after.get(id))
      return { draft, ...draft, beforeUs, afterUs, changeUs: afterUs - beforeUs }
    })
    .sort((a, b) => Math.abs(b.changeUs) - Math.abs(a.changeUs) || first(a) - first(b))
    .map(({ draft, ...sized }, i): FlowDifference => {
      const share = shareOf(sized.changeUs)
      const what = differenceText(sized, { nodes, edges, quantity }, ordinal(draft))
      const text = what + shareWords(sized.changeUs, totalUs, quantity) + chanceOf(sized, edges)
      return { rank: i + 1, ...sized, share, what, text }
    })
  const changeUs = totalUs - sum(differences, (difference) => difference.changeUs)
  const rest = { edges: [...free], changeUs, share: shareOf(changeUs) }
  return new FlowDifferences({ quantity, differences, totalUs, rest })
}

type Side = 'before' | 'after'

function totalOf(edges: readonly UnionEdge[], side: Side): number {
  return sum(edges, (edge) => edge[side]?.criticalUs ?? 0)
}

/**
 * Returns the time of each edge on critical paths. Edges of one class stand in for each other. Edges of both sides, or
 * else of replacing steps, get up to their mean latency. Edges that are only added or removed get the rest, which is
 * their contribution.
 */
function criticalTimes(
  { edges }: ComparedFlows,
  drafts: readonly Draft[],
  side: Side,
): ReadonlyMap<number, number> {
  const instead = new Set(
    drafts.filter(({ kind }) => kind === 'replaced').flatMap((draft) => draft.edges),
  )
  const there = edges.filter((edge) => edge[side] !== null)
  return new Map(
    Array.from(group(there, (edge) => edge[side]?.edgeClass).values(), (same) => {
      const shared = same.filter(({ inBefore, inAfter }) => inBefore && inAfter)
      const own = new Set(shared.length > 0 ? shared : same.filter(({ id }) => instead.has(id)))
      const totalUs = totalOf(same, side)
      const meanUs = same[0]?.[side]?.meanUs ?? 0
      const others = same.length - own.size
      const ownUs = others === 0 ? totalUs / own.size : Math.min(totalUs / own.size, meanUs)
      const otherUs = own.size === 0 ? totalUs / others : (totalUs - own.size * ownUs) / others
      return same.map((edge) => [edge.id, own.has(edge) ? ownUs : otherUs] as const)
    }).flat(),
  )
}

/** Takes those of the edges that have no difference yet. */
type Claim = (wanted: Iterable<UnionEdge>) => number[]

function changedEdges({ edges }: ComparedFlows, claim: Claim): Draft[] {
  return edges
    .filter(({ verdict, reason }) => verdict === 'changed' || reason !== null)
    .sort((a, b) => Math.abs(b.shiftUs ?? 0) - Math.abs(a.shiftUs ?? 0))
    .map((edge) => ({ kind: 'latency', nodes: [edge.from, edge.to], edges: claim([edge]) }))
}

/** Steps on one side have the edges around them, and those that they stand in the place of. */
function oneSidedSteps(flows: ComparedFlows, claim: Claim): Draft[] {
  const { edges, differences } = flows
  const moved = movedNodes(flows)
  const groups = differences.filter(({ nodes }) => !nodes.every((node) => moved.has(node)))
  const groupOf = new Map(groups.flatMap((each) => each.nodes.map((node) => [node, each] as const)))
  const [leaving, entering] = [group(edges, ({ from }) => from), group(edges, ({ to }) => to)]
  const around = new Map(
    groups.map((each) => [
      each,
      claim(
        each.nodes.flatMap((node) => [...(entering.get(node) ?? []), ...(leaving.get(node) ?? [])]),
      ),
    ]),
  )
  for (const edge of edges) {
    if (edge.inBefore === edge.inAfter) continue
    const ends = new Set(entering.get(edge.to)?.map(({ from }) => groupOf.get(from)))
    const instead = leaving
      .get(edge.from)
      ?.map(({ to }) => groupOf.get(to))
      .find((each) => each?.inBefore === edge.inAfter && ends.has(each))
    if (instead !== undefined) around.get(instead)?.push(...claim([edge]))
  }
  return replacements(
    Array.from(around, ([{ inAfter, nodes }, own]) => ({
      kind: inAfter ? ('added' as const) : ('removed' as const),
      nodes,
      edges: own,
    })),
    edges,
  )
}

/** Merges added steps with removed ones between the same neighbors into one difference. */
function replacements(drafts: readonly Draft[], edges: readonly UnionEdge[]): Draft[] {
  const placeOf = ({ nodes }: Draft) => {
    const own = new Set(nodes)
    const before = edges.filter(({ from, to }) => own.has(to) && !own.has(from))
    const behind = edges.filter(({ from, to }) => own.has(from) && !own.has(to))
    const ids = (some: readonly number[]) => [...new Set(some)].sort((a, b) => a - b).join(' ')
    return `${ids(before.map(({ from }) => from))} > ${ids(behind.map(({ to }) => to))}`
  }
  return [...group(drafts, placeOf).values()].flatMap((same) => {
    const [added, removed] = (['added', 'removed'] as const).map((kind) =>
      same.filter((one) => one.kind === kind),
    ) as [Draft[], Draft[]]
    const pairs = Math.min(added.length, removed.length)
    const replaced = added.slice(0, pairs).map((one, i): Draft => {
      const gone = removed[i] as Draft
      return {
        kind: 'replaced',
        nodes: [...one.nodes, ...gone.nodes],
        edges: [...one.edges, ...gone.edges],
      }
    })
    return [...replaced, ...added.slice(pairs), ...removed.slice(pairs)]
  })
}

type DrawnSide = 'inBefore' | 'inAfter'

/** Whether one step is another, or leads to it. */
type Ways = (one: number, other: number) => boolean
type WaysOfSides = Readonly<Record<DrawnSide, Ways>>

function waysBetween(
  { length: size }: readonly UnionNode[],
  edges: readonly UnionEdge[],
  side?: DrawnSide,
): Ways {
  const drawn = edges.filter((edge) => side === undefined || edge[side])
  const leads = reachable({
    size,
    from: drawn.map(({ from }) => from),
    to: drawn.map(({ to }) => to),
  })
  return (one, other) => one === other || leads(one, other)
}

/**
 * Adds the free edges of branches that requests wait for more or less often because of a difference: those in line with
 * it, and the other way those beside it. A difference costs no more than the wait for its branch beyond the others.
 */
function withSwitched(
  { edges }: ComparedFlows,
  draft: Draft,
  { isBefore, claim }: { isBefore: WaysOfSides; claim: Claim },
): Draft {
  const { kind, nodes: steps } = draft
  const edge = edges[draft.edges[0] ?? -1]
  const moreOften = ({ before, after }: UnionEdge) =>
    (after?.criticalShare ?? 0) - (before?.criticalShare ?? 0)
  const isLatency = kind === 'latency'
  const way = isLatency ? Math.sign(edge?.shiftUs ?? 0) : kind === 'removed' ? -1 : 1
  if (kind === 'order' || edge === undefined) return draft
  if (isLatency && moreOften(edge) * way <= 0) return draft
  const side = way > 0 ? 'inAfter' : 'inBefore'
  const leads = isBefore[side]
  const [starts, ends] = isLatency ? [[edge.from], [edge.to]] : [steps, steps]
  const switched = edges.filter((one) => {
    const by = one[side] ? moreOften(one) : 0
    const isInLine =
      starts.some((step) => leads(one.to, step)) || ends.some((step) => leads(step, one.from))
    return kind === 'replaced' ? by !== 0 && !isInLine : by * way * (isInLine ? 1 : -1) > 0
  })
  return { ...draft, edges: [...draft.edges, ...claim(switched)] }
}

/** Steps that are drawn twice, as they moved past others. */
function movedNodes({ nodes, orderChanges }: ComparedFlows): ReadonlySet<number> {
  const moved = orderChanges
    .filter(({ kind }) => kind === 'reordered')
    .flatMap(({ first: one, second }) => [one, second])
    .filter((node) => !nodes[node]?.inBefore)
  return new Set(withTwins(nodes, moved))
}

/** Returns each step once, after those that moved as they were before. */
function withTwins(nodes: readonly UnionNode[], steps: readonly number[]): number[] {
  return [
    ...new Set(
      steps.flatMap((step) => (nodes[step]?.inBefore ? [step] : [step, twinOf(nodes, step)])),
    ),
  ]
}

/** Returns the step of the other side that was not matched with `node`, though it is the same. */
function twinOf(nodes: readonly UnionNode[], node: number): number {
  const { label, inBefore, inAfter } = nodes[node] as UnionNode
  return (
    nodes.find(
      (other) => other.label === label && other.inBefore === inAfter && other.inAfter === inBefore,
    )?.id ?? node
  )
}

/** Steps in another order have the free edges between the fork and the join around them. */
function stepsInOtherOrder(flows: ComparedFlows, isBefore: WaysOfSides, claim: Claim): Draft[] {
  const { orderChanges } = flows
  const regions = orderChanges.map(regionFinder(flows, isBefore))
  const changes = group(orderChanges.keys(), (change) => regions[change]?.key)
  return Array.from(changes.values(), (members) => ({
    orders: members.map((member) => orderChanges[member] as OrderChange),
    inside: new Set(members.flatMap((member) => [...(regions[member]?.inside ?? [])])),
  }))
    .sort((a, b) => a.inside.size - b.inside.size)
    .map(({ orders, inside }) => ({
      kind: 'order',
      orders,
      nodes: withTwins(
        flows.nodes,
        orders.flatMap((order) => [order.first, order.second]),
      ),
      edges: claim(flows.edges.filter(({ from, to }) => inside.has(from) && inside.has(to))),
    }))
}

function regionFinder({ nodes, edges }: ComparedFlows, isBefore: WaysOfSides) {
  const anywhere = waysBetween(nodes, edges)
  const sides = (['inBefore', 'inAfter'] as const).map((side) => ({
    leads: isBefore[side],
    placeOf: (node: number) => (nodes[node]?.[side] ? node : twinOf(nodes, node)),
  }))
  const ids = nodes.map(({ id }) => id)
  return ({ first: one, second: other }: OrderChange) => {
    const isAround = (node: number, way: 'fork' | 'join', { leads, placeOf }: (typeof sides)[0]) =>
      [placeOf(one), placeOf(other)].every((step) =>
        way === 'fork' ? leads(node, step) : leads(step, node),
      )
    const around = (way: 'fork' | 'join') => {
      const onBoth = ids.filter((node) => sides.every((side) => isAround(node, way, side)))
      if (onBoth.length > 0) return onBoth
      return ids.filter((node) => sides.some((side) => isAround(node, way, side)))
    }
    const [fork, join] = [around('fork').at(-1) ?? one, around('join')[0] ?? other]
    const steps = sides.flatMap(({ placeOf }) => [placeOf(one), placeOf(other)])
    const inside = ids.filter(
      (node) =>
        anywhere(fork, node) &&
        anywhere(node, join) &&
        steps.some((step) => anywhere(node, step) || anywhere(step, node)),
    )
    return { key: `${fork} ${join}`, inside }
  }
}
