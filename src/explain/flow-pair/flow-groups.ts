import { group, sort, sum } from 'd3-array'
import { countBy } from '../../core/entries.ts'
import { OptionError, rejectUnknownOptions, requireFields } from '../../core/errors.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import { counted, grouped } from '../../core/words.ts'
import type {
  FlowComparison,
  FlowDifference,
  FlowGroup,
  UnionEdge,
  UnionNode,
} from './flow-comparison.ts'

type Union = Pick<FlowComparison, 'nodes' | 'edges'>

/** A difference of more steps is one group as well. */
const MAX_OWN = 12

/**
 * Returns groups for a view of one difference: its steps and their direct neighbors stand alone; all other connected
 * steps form one group each.
 *
 * Source: focus graphs of Sambasivan 2013, §7.5, about a difference instead of a component.
 */
export function focusGroups(
  { nodes, edges }: Union,
  difference: Pick<FlowDifference, 'nodes'>,
): FlowGroup[] {
  const own = new Set(difference.nodes)
  const near = new Set(own)
  const isLarge = own.size > MAX_OWN
  for (const { from, to } of edges) {
    if (own.has(from)) near.add(to)
    if (own.has(to)) near.add(from)
  }
  const binding = edges.map(({ from, to }) => {
    if (isLarge && own.has(from) && own.has(to)) return true
    return !near.has(from) && !near.has(to)
  })
  return groupsOf({ nodes, edges }, acyclicPartition(nodes.length, edges, binding))
    .filter((group) => group.nodes.length > 1)
    .map((group, id) => {
      const { inBefore, inAfter, nodes: members } = group
      const kind = inBefore === inAfter ? 'others' : inAfter ? 'added' : 'removed'
      const name =
        kind === 'others'
          ? stepCount(nodes, members, 'other step')
          : counted(members.length, `${kind} step`)
      return { ...group, id, kind, name }
    })
}

/** Counts steps, and those that came or went: `8 → 144 steps, 136 of them new`. */
export function stepCount(
  nodes: FlowComparison['nodes'],
  members: readonly number[],
  word = 'step',
): string {
  const gone = members.filter((node) => !nodes[node]?.inAfter).length
  const come = members.filter((node) => !nodes[node]?.inBefore).length
  const now = counted(members.length - gone, word)
  if (gone + come === 0) return now
  const changes = [come > 0 ? `${grouped(come)} new` : '', gone > 0 ? `${grouped(gone)} gone` : '']
  return `${grouped(members.length - come)} → ${now}, ${changes.filter(Boolean).join(', ')}`
}

const MAX_SERVICES = 2

type GroupDraft = Omit<FlowGroup, 'id' | 'kind' | 'name'>

/** Groups the nodes of each part, with the share of their edges in the response time. */
export function groupsOf({ nodes, edges }: Union, partOf: ArrayLike<number>): GroupDraft[] {
  const isInner = ({ from, to }: UnionEdge) => partOf[from] === partOf[to]
  const partOfEdge = ({ to }: UnionEdge) => Number(partOf[to])
  const inside = group(edges.filter(isInner), partOfEdge)
  const entering = group(
    edges.filter((edge) => !isInner(edge)),
    partOfEdge,
  )
  /** Returns the mean time of some steps in the requests that wait for them. */
  const timeThrough = (side: 'before' | 'after') => {
    const alike = countBy(edges, (edge) => edge[side]?.edgeClass)
    return (part: number, own: readonly UnionNode[]) => {
      const us = sum(inside.get(part) ?? [], (edge) => edge[side]?.criticalUs ?? 0)
      // A critical path enters once, on one of the edges of a class.
      const share = sum(
        entering.get(part) ?? [],
        (edge) => (edge[side]?.criticalShare ?? 0) / (alike.get(edge[side]?.edgeClass) ?? 1),
      )
      const isRoot = own.some((node) => node[side] === 0)
      return isRoot || share === 0 ? us : us / Math.min(1, share)
    }
  }
  const [beforeUs, afterUs] = [timeThrough('before'), timeThrough('after')]
  return Array.from(group(nodes, ({ id }) => Number(partOf[id])))
    .sort(([a], [b]) => a - b)
    .map(([part, own]) => {
      const within = inside.get(part) ?? []
      const changedEdges = within.filter(({ verdict }) => verdict === 'changed').length
      const services = [...new Set(own.map(({ service }) => service))].filter((one) => one !== '')
      return {
        service: services.length <= MAX_SERVICES ? services.join(', ') : '',
        host: '',
        nodes: own.map(({ id }) => id),
        edges: within.map(({ id }) => id),
        inBefore: own.some(({ inBefore }) => inBefore),
        inAfter: own.some(({ inAfter }) => inAfter),
        identical:
          changedEdges === 0 &&
          [...own, ...within].every(({ inBefore, inAfter }) => inBefore && inAfter),
        changedEdges,
        quietEdges: within.filter(({ reason }) => reason !== null).length,
        beforeUs: beforeUs(part, own),
        afterUs: afterUs(part, own),
      }
    })
}

interface ForwardEdge {
  readonly from: number
  readonly to: number
}

/**
 * Divides a graph into parts, connected by binding edges, that close no cycle as one node each: by
 * the most edges that do not bind on any way to a node, then merged while there is no way round.
 * Edges come in ascending order of `from`.
 */
export function acyclicPartition(
  size: number,
  edges: readonly ForwardEdge[],
  binding: readonly boolean[],
): Uint32Array {
  const level = new Uint32Array(size)
  edges.forEach(({ from, to }, edge) => {
    const reached = (level[from] as number) + (binding[edge] ? 0 : 1)
    if (reached > (level[to] as number)) level[to] = reached
  })
  const partOf = Uint32Array.from(level.keys())
  const bound = edges.filter((_, edge) => binding[edge])
  for (const { from, to } of bound) {
    if (level[from] === level[to]) merge(partOf, from, to)
  }
  for (let merged = true; merged; ) {
    merged = false
    for (const { from, to } of bound) {
      if (partOf[from] === partOf[to] || hasWayRound({ from, to }, partOf, { edges, binding }))
        continue
      merge(partOf, from, to)
      merged = true
    }
  }
  const numbers = new Map(Array.from(new Set(partOf), (part, number) => [part, number]))
  return partOf.map((part) => numbers.get(part) as number)
}

function merge(partOf: Uint32Array, a: number, b: number): void {
  const [one, other] = [partOf[a] as number, partOf[b] as number]
  const [kept, gone] = [Math.min(one, other), Math.max(one, other)]
  if (kept === gone) return
  for (let node = partOf.indexOf(gone); node >= 0; node = partOf.indexOf(gone, node)) {
    partOf[node] = kept
  }
}

/** Whether the parts of two nodes are joined by an edge that does not bind, or by way of another part. */
function hasWayRound(
  { from, to }: ForwardEdge,
  partOf: Uint32Array,
  { edges, binding }: { edges: readonly ForwardEdge[]; binding: readonly boolean[] },
): boolean {
  const leaving = group(edges.keys(), (edge) => partOf[edges[edge]?.from ?? -1])
  const reached = new Set([partOf[from]])
  for (const part of reached) {
    for (const edge of leaving.get(part) ?? []) {
      const next = partOf[edges[edge]?.to ?? -1]
      if (next !== partOf[to]) reached.add(next)
      else if (part !== partOf[from] || !binding[edge]) return true
    }
  }
  return false
}

/** A node to draw: one of the union, or a group of them. */
export interface CoalescedNode {
  readonly id: number
  /** Key that stays the same for a node or group whatever is open, so that views can move it. */
  readonly key: string
  readonly name: string
  /** The group it stands for; `null` for a node. */
  readonly group: FlowGroup | null
  /** Ids of the union's nodes that it stands for. */
  readonly nodes: readonly number[]
  readonly inBefore: boolean
  readonly inAfter: boolean
}

/** An edge to draw: all edges of the union between what two nodes stand for. */
export interface CoalescedEdge {
  readonly from: number
  readonly to: number
  /** Ids of the union's edges that it stands for. */
  readonly edges: readonly number[]
  readonly inBefore: boolean
  readonly inAfter: boolean
  /** `'changed'` when one of them is. */
  readonly verdict: UnionEdge['verdict']
}

/** A union with some of its nodes drawn as one; no cycle arises. */
export interface CoalescedFlow {
  /** Nodes in an order in which edges lead from earlier to later starts. */
  readonly nodes: readonly CoalescedNode[]
  readonly edges: readonly CoalescedEdge[]
  /** Id of the element that each node of the union is drawn as. */
  readonly nodeOf: readonly number[]
}

interface CoalesceOptions {
  /** Elements drawn as one: `regions` (default), `components`, or `[...regions, ...differences]`. */
  readonly groups?: readonly FlowGroup[]
  /** Ids of the groups whose nodes are drawn one by one all the same; default none. */
  readonly opened?: Iterable<number>
}

/**
 * Returns the union of two flows with groups of its nodes drawn as one: its `regions`, so that identical parts take no
 * space, or its `components`, to show how components call each other. A group can be opened and closed; whatever is
 * open, there is no cycle. A group of one node is drawn as that node.
 *
 * @throws OptionError for an unknown group to open
 */
export function coalesceFlow(
  union: Pick<FlowComparison, 'nodes' | 'edges'> & Partial<Pick<FlowComparison, 'regions'>>,
  options: CoalesceOptions = {},
): CoalescedFlow {
  requireFields('coalesceFlow(union)', union, 'nodes', 'edges')
  rejectUnknownOptions(options, ['groups', 'opened'])
  const { nodes, edges, regions = [] } = union
  const { groups = regions, opened = [] } = options
  const open = new Set(opened)
  for (const id of open) {
    if (!groups.some((group) => group.id === id)) {
      throw new OptionError('opened', id, `ids of groups, of which there are ${groups.length}`)
    }
  }
  const groupOf = new Map<number, FlowGroup>()
  for (const group of groups) {
    if (open.has(group.id) || group.nodes.length === 1) continue
    for (const node of group.nodes) groupOf.set(node, group)
  }
  const drawn = new Map<FlowGroup | UnionNode, Omit<CoalescedNode, 'id'>>()
  for (const node of nodes) {
    const group = groupOf.get(node.id) ?? null
    const { name, inBefore, inAfter } = group ?? node
    drawn.set(group ?? node, {
      key: group === null ? `node ${node.id}` : `group ${group.id}`,
      name,
      group,
      inBefore,
      inAfter,
      nodes: group?.nodes ?? [node.id],
    })
  }
  const numbers = new Map(Array.from(drawn.keys(), (what, number) => [what, number]))
  const numberOf = nodes.map((node) => numbers.get(groupOf.get(node.id) ?? node) as number)
  const between = edges.filter(({ from, to }) => numberOf[from] !== numberOf[to])
  const ends = (end: 'from' | 'to') => between.map((edge) => numberOf[edge[end]] as number)
  const order = forwardOrder(drawn.size, ends('from'), ends('to'))
  const place = new Map(order.map((number, id) => [number, id]))
  const nodeOf = numberOf.map((number) => place.get(number) as number)
  const parts = [...drawn.values()]
  return {
    nodes: order.map((number, id) => ({ ...(parts[number] as Omit<CoalescedNode, 'id'>), id })),
    edges: drawnEdges(edges, nodeOf),
    nodeOf,
  }
}

/** Returns nodes by how many edges are on the longest way to them, then as they are. */
export function forwardOrder(
  size: number,
  from: readonly number[],
  to: readonly number[],
): number[] {
  const depth = graphDepths(size, from, to)
  return sort(depth.keys(), (node) => depth[node])
}

function drawnEdges(edges: readonly UnionEdge[], nodeOf: readonly number[]): CoalescedEdge[] {
  const between = group(
    edges.filter(({ from, to }) => nodeOf[from] !== nodeOf[to]),
    ({ from, to }) => `${nodeOf[from]} ${nodeOf[to]}`,
  )
  return Array.from(between.values(), (bundle) => {
    const [first] = bundle as [UnionEdge]
    const has = (verdict: UnionEdge['verdict']) => bundle.some((edge) => edge.verdict === verdict)
    return {
      from: nodeOf[first.from] as number,
      to: nodeOf[first.to] as number,
      edges: bundle.map(({ id }) => id),
      inBefore: bundle.some(({ inBefore }) => inBefore),
      inAfter: bundle.some(({ inAfter }) => inAfter),
      verdict: has('changed') ? 'changed' : has('unchanged') ? 'unchanged' : 'untested',
    }
  })
}
