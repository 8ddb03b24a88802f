import { group, sum } from 'd3-array'
import { type OrderChange, reachable } from '../../compare/precursors/order-difference.ts'
import { chanceOf, type Draft, differenceText, first, ordinals } from './difference-words.ts'
import type { FlowComparison, UnionEdge, UnionNode } from './flow-comparison.ts'
import { type FlowDifference, FlowDifferences, NO_TIME_US, shareWords } from './flow-differences.ts'

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
  const { nodes, edges } = flows
  const free = new Set(edges.map(({ id }) => id))
  const claim: Claim = (wanted) =>
    Array.from(wanted, ({ id }) => id).filter((id) => free.delete(id))
  const drafts = [
    ...changedEdges(flows, claim),
    ...oneSidedSteps(flows, claim),
    ...stepsInOtherOrder(flows, claim),
  ].map((draft) => withDisplaced(flows, draft, claim))
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
      return { ...draft, beforeUs, afterUs, changeUs: afterUs - beforeUs }
    })
    .sort((a, b) => Math.abs(b.changeUs) - Math.abs(a.changeUs) || first(a) - first(b))
    .map((sized, i): FlowDifference => {
      const share = shareOf(sized.changeUs)
      const what = differenceText(sized, { nodes, edges }, ordinal(sized))
      const text = what + shareWords(sized.changeUs, totalUs) + chanceOf(sized, edges)
      return { rank: i + 1, ...sized, share, what, text }
    })
  const changeUs = totalUs - sum(differences, (difference) => difference.changeUs)
  const rest = { edges: [...free], changeUs, share: shareOf(changeUs) }
  return new FlowDifferences({ differences, totalUs, rest })
}

type Side = 'before' | 'after'

function totalOf(edges: readonly UnionEdge[], side: Side): number {
  return sum(edges, (edge) => edge[side]?.criticalUs ?? 0)
}

/**
 * The time of each edge on critical paths. Edges of one class are there one for the other: those of
 * both sides, or else of steps in the place of others, have up to their mean latency of it, and those
 * that are only added beside them, or removed, the rest, which is what they add.
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

/** Added steps between the same neighbors as removed ones are one difference with these. */
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

/**
 * With the free edges of branches beside steps of one side, where these are waited for instead: what
 * steps add is the time of their branch less that of the branch that they displace.
 */
function withDisplaced({ edges }: ComparedFlows, draft: Draft, claim: Claim): Draft {
  const { kind, nodes } = draft
  if (kind === 'latency' || kind === 'order') return draft
  const side = kind === 'removed' ? 'inBefore' : 'inAfter'
  const own = new Set(nodes)
  const drawn = edges.filter((edge) => edge[side])
  const outside = drawn.filter(({ from, to }) => !own.has(from) && !own.has(to))
  const walk = (start: 'from' | 'to', end: 'from' | 'to') => {
    const next = group(outside, (edge) => edge[start])
    const found = new Set(
      drawn
        .filter((edge) => own.has(edge[end]) && !own.has(edge[start]))
        .map((edge) => edge[start]),
    )
    // What is added on the way is visited too.
    for (const node of found) for (const edge of next.get(node) ?? []) found.add(edge[end])
    return found
  }
  const [below, above] = [walk('from', 'to'), walk('to', 'from')]
  const beside = outside.filter(({ from, to, before, after }) => {
    const moreOften = (after?.criticalShare ?? Number.NaN) - (before?.criticalShare ?? Number.NaN)
    const isDisplaced = kind === 'added' ? moreOften < 0 : kind === 'removed' ? moreOften > 0 : true
    return isDisplaced && moreOften !== 0 && below.has(from) && above.has(to)
  })
  return { ...draft, edges: [...draft.edges, ...claim(beside)] }
}

/** Steps that are drawn twice, as they moved past others. */
function movedNodes({ nodes, orderChanges }: ComparedFlows): ReadonlySet<number> {
  const moved = orderChanges
    .filter(({ kind }) => kind === 'reordered')
    .flatMap(({ first: one, second }) => [one, second])
    .filter((node) => !nodes[node]?.inBefore)
  return new Set(withTwins(nodes, moved))
}

/** Each step once, after those that moved as they were before. */
function withTwins(nodes: readonly UnionNode[], steps: readonly number[]): number[] {
  return [
    ...new Set(
      steps.flatMap((step) => (nodes[step]?.inBefore ? [step] : [step, twinOf(nodes, step)])),
    ),
  ]
}

/** The step of the other side that was not matched with `node`, though it is the same. */
function twinOf(nodes: readonly UnionNode[], node: number): number {
  const { label, inBefore, inAfter } = nodes[node] as UnionNode
  return (
    nodes.find(
      (other) => other.label === label && other.inBefore === inAfter && other.inAfter === inBefore,
    )?.id ?? node
  )
}

/** Steps in another order have the free edges between the fork and the join around them. */
function stepsInOtherOrder(flows: ComparedFlows, claim: Claim): Draft[] {
  const { orderChanges } = flows
  if (orderChanges.length === 0) return []
  const regions = orderChanges.map(regionFinder(flows))
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

function regionFinder({ nodes, edges }: ComparedFlows) {
  const reach = (drawn: readonly UnionEdge[]) => {
    const [from, to] = [drawn.map((edge) => edge.from), drawn.map((edge) => edge.to)]
    const leads = reachable({ size: nodes.length, from, to })
    return (one: number, other: number) => one === other || leads(one, other)
  }
  const anywhere = reach(edges)
  const sides = (['inBefore', 'inAfter'] as const).map((side) => ({
    leads: reach(edges.filter((edge) => edge[side])),
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
