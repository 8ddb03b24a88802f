import { group, sort } from 'd3-array'
import { OptionError, rejectUnknownOptions, requireFields } from '../../core/errors.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import type { FlowComparison, FlowGroup, UnionEdge, UnionNode } from './flow-comparison.ts'

/** A node to draw: one of the union, or a group of them. */
export interface CoalescedNode {
  readonly id: number
  /** The same for the same node or group whatever is open: for what moves from view to view. */
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
  /** Such that edges lead from what begins earlier to what begins later. */
  readonly nodes: readonly CoalescedNode[]
  readonly edges: readonly CoalescedEdge[]
  /** For each node of the union, the id of what it is drawn as. */
  readonly nodeOf: readonly number[]
}

interface CoalesceOptions {
  /** What is drawn as one: `regions` (default), `components`, or `[...regions, ...differences]`. */
  readonly groups?: readonly FlowGroup[]
  /** Ids of the groups whose nodes are drawn one by one all the same; default none. */
  readonly opened?: Iterable<number>
}

/**
 * The union of two flows with groups of its nodes drawn as one: its `regions`, so that what is the
 * same takes no space, or its `components`, to see how components call each other. A group can be
 * opened and closed; whatever is open, there is no cycle. A group of one node is drawn as that node.
 *
 * @throws OptionError for a group to open that there is not
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
  const order = forwardOrder(drawn.size, numberOf, edges)
  const place = new Map(order.map((number, id) => [number, id]))
  const nodeOf = numberOf.map((number) => place.get(number) as number)
  const parts = [...drawn.values()]
  return {
    nodes: order.map((number, id) => ({ ...(parts[number] as Omit<CoalescedNode, 'id'>), id })),
    edges: drawnEdges(edges, nodeOf),
    nodeOf,
  }
}

function forwardOrder(
  size: number,
  nodeOf: readonly number[],
  edges: readonly UnionEdge[],
): number[] {
  const between = edges.filter(({ from, to }) => nodeOf[from] !== nodeOf[to])
  const ends = (end: 'from' | 'to') => between.map((edge) => nodeOf[edge[end]] as number)
  const depth = graphDepths(size, ends('from'), ends('to'))
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
