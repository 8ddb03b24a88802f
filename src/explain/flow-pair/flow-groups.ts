import { counted } from '../../core/words.ts'
import { acyclicPartition } from './break-cycles.ts'
import { type CoalescedEdge, type CoalescedNode, coalesceFlow } from './coalesce-flow.ts'
import type { FlowGroup, UnionEdge, UnionNode } from './flow-comparison.ts'
import type { UnionGraph } from './union-graph.ts'

/** The fewest nodes that are worth showing as one. */
const SMALLEST = 2

/**
 * Connected parts of a union that are the same on both sides: same nodes, same edges, no
 * significant change of a latency. As large as they can be without closing a cycle when each is
 * shown as one node.
 */
export function identicalRegions({ nodes, edges }: UnionGraph): FlowGroup[] {
  const isShared = ({ inBefore, inAfter }: UnionNode | UnionEdge) => inBefore && inAfter
  const binds = (at: number) => {
    const edge = edges[at] as UnionEdge
    return isShared(edge) && edge.verdict !== 'changed'
  }
  return groupsOf({ nodes, edges }, acyclicPartition(nodes.length, edges, binds))
    .filter((group) => group.nodes.length >= SMALLEST)
    .map((group, id) => {
      const name = counted(group.nodes.length, 'identical step')
      return { ...group, id, kind: 'identical', name }
    })
}

/**
 * Connected parts of a union that are on one side only. They and the identical regions close no
 * cycle when all of them are shown as one node each; ids go on from those of the regions.
 */
export function oneSidedGroups(union: UnionGraph, regions: readonly FlowGroup[]): FlowGroup[] {
  const drawn = coalesceFlow(union, { groups: regions })
  const side = (node: CoalescedNode | undefined) =>
    node === undefined || node.inBefore === node.inAfter ? null : node.inAfter ? 'added' : 'removed'
  const edges = [...drawn.edges].sort((a, b) => a.from - b.from)
  const partOf = acyclicPartition(drawn.nodes.length, edges, (at) => {
    const { from, to } = edges[at] as CoalescedEdge
    const kind = side(drawn.nodes[from])
    return kind !== null && kind === side(drawn.nodes[to])
  })
  const partOfNode = drawn.nodeOf.map((node) => partOf[node] as number)
  const isOneSided = ({ inBefore, inAfter }: { inBefore: boolean; inAfter: boolean }) =>
    inBefore !== inAfter
  return groupsOf(union, partOfNode)
    .filter(isOneSided)
    .map((group, i) => {
      const kind = group.inAfter ? 'added' : 'removed'
      const name = counted(group.nodes.length, `${kind} step`)
      return { ...group, id: regions.length + i, kind, name }
    })
}

/**
 * Traversals of components: connected nodes of one service and host, whether on one side or on
 * both. Where neither is known, nodes belong to no component.
 */
export function componentTraversals({ nodes, edges }: UnionGraph): FlowGroup[] {
  const places = nodes.map(placeName)
  const binds = (at: number) => {
    const { from, to } = edges[at] as UnionEdge
    return places[from] !== '' && places[from] === places[to] && samePlace(nodes, from, to)
  }
  return groupsOf({ nodes, edges }, acyclicPartition(nodes.length, edges, binds))
    .filter(({ nodes: [first] }) => places[first as number] !== '')
    .map((group, id) => {
      const { service, host } = nodes[group.nodes[0] as number] as UnionNode
      const name = `${places[group.nodes[0] as number]}: ${counted(group.nodes.length, 'step')}`
      return { ...group, id, kind: 'component', name, service, host }
    })
}

function samePlace(nodes: readonly UnionNode[], a: number, b: number): boolean {
  const [one, other] = [nodes[a] as UnionNode, nodes[b] as UnionNode]
  return one.service === other.service && one.host === other.host
}

/** Where a node is, as labels say it. */
function placeName({ service, host }: UnionNode): string {
  if (host === '') return service
  return host.startsWith(service) ? host : `${service}@${host}`
}

/** A group before it is named. */
type GroupDraft = Omit<FlowGroup, 'id' | 'kind' | 'name'>

function groupsOf({ nodes, edges }: UnionGraph, partOf: ArrayLike<number>): GroupDraft[] {
  const members: UnionNode[][] = []
  nodes.forEach((node, at) => {
    const part = partOf[at] as number
    members[part] ??= []
    members[part].push(node)
  })
  const inside: UnionEdge[][] = members.map(() => [])
  for (const edge of edges) {
    const part = partOf[edge.from] as number
    if (part === partOf[edge.to]) inside[part]?.push(edge)
  }
  return members.map((part, number) => describeGroup(part, inside[number] as UnionEdge[]))
}

function describeGroup(nodes: readonly UnionNode[], edges: readonly UnionEdge[]): GroupDraft {
  const changedEdges = edges.filter(({ verdict }) => verdict === 'changed').length
  const sum = (side: 'before' | 'after') =>
    edges.reduce((total, edge) => total + (edge[side]?.criticalUs ?? 0), 0)
  return {
    ...{ service: '', host: '' },
    nodes: nodes.map(({ id }) => id),
    edges: edges.map(({ id }) => id),
    inBefore: nodes.some(({ inBefore }) => inBefore),
    inAfter: nodes.some(({ inAfter }) => inAfter),
    identical:
      changedEdges === 0 &&
      [...nodes, ...edges].every(({ inBefore, inAfter }) => inBefore && inAfter),
    changedEdges,
    quietEdges: edges.filter(({ reason }) => reason !== null).length,
    beforeUs: sum('before'),
    afterUs: sum('after'),
  }
}
