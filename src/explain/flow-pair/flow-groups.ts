import { group } from 'd3-array'
import type { OrderChange } from '../../compare/precursors/order-difference.ts'
import { counted } from '../../core/words.ts'
import { type CoalescedNode, coalesceFlow } from './coalesce-flow.ts'
import type { FlowGroup, UnionEdge, UnionNode } from './flow-comparison.ts'
import type { UnionGraph } from './union-graph.ts'

const SMALLEST = 2

/**
 * Connected parts of a union that are the same on both sides: same nodes, same edges, no
 * significant change of a latency or an order. As large as they can be without closing a cycle when
 * each is shown as one node.
 */
export function identicalRegions(
  { nodes, edges }: UnionGraph,
  orderChanges: readonly OrderChange[],
): FlowGroup[] {
  const moved = new Set(orderChanges.flatMap(({ first, second }) => [first, second]))
  const binding = edges.map(
    ({ inBefore, inAfter, verdict, from, to }) =>
      inBefore && inAfter && verdict !== 'changed' && !moved.has(from) && !moved.has(to),
  )
  return groupsOf({ nodes, edges }, acyclicPartition(nodes.length, edges, binding))
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
  const binding = edges.map(({ from, to }) => {
    const kind = side(drawn.nodes[from])
    return kind !== null && kind === side(drawn.nodes[to])
  })
  const partOf = acyclicPartition(drawn.nodes.length, edges, binding)
  const partOfNode = drawn.nodeOf.map((node) => partOf[node] as number)
  return groupsOf(union, partOfNode)
    .filter(({ inBefore, inAfter }) => inBefore !== inAfter)
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
  const binding = edges.map(({ from, to }) => {
    const [one, other] = [nodes[from] as UnionNode, nodes[to] as UnionNode]
    const isSame = one.service === other.service && one.host === other.host
    return isSame && places[from] !== ''
  })
  return groupsOf({ nodes, edges }, acyclicPartition(nodes.length, edges, binding))
    .filter(({ nodes: [first] }) => places[first as number] !== '')
    .map((group, id) => {
      const { service, host } = nodes[group.nodes[0] as number] as UnionNode
      const name = `${places[group.nodes[0] as number]}: ${counted(group.nodes.length, 'step')}`
      return { ...group, id, kind: 'component', name, service, host }
    })
}

/** Where a node is, as labels say it. */
function placeName({ service, host }: UnionNode): string {
  if (host === '') return service
  return host.startsWith(service) ? host : `${service}@${host}`
}

type GroupDraft = Omit<FlowGroup, 'id' | 'kind' | 'name'>

function groupsOf({ nodes, edges }: UnionGraph, partOf: ArrayLike<number>): GroupDraft[] {
  const inner = edges.filter(({ from, to }) => partOf[from] === partOf[to])
  const inside = group(inner, ({ from }) => Number(partOf[from]))
  return Array.from(group(nodes, ({ id }) => Number(partOf[id])))
    .sort(([a], [b]) => a - b)
    .map(([part, own]) => describeGroup(own, inside.get(part) ?? []))
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

/** An edge of a graph whose nodes are numbered from 0 such that edges lead to higher numbers. */
interface ForwardEdge {
  readonly from: number
  readonly to: number
}

/**
 * Divides a graph into parts that can each be shown as one node without closing a cycle: the nodes
 * of a part are connected by edges that bind, and every edge inside a part binds. No two
 * parts with a binding edge between them could be one.
 *
 * First, nodes are told apart by the most edges that do not bind on any way to them: along every
 * edge that number stays or grows, and where it stays the edge binds. Then parts are merged while
 * there is no way round.
 *
 * @param size how many nodes there are
 * @param edges in ascending order of `from`
 * @param binding whether each edge binds
 * @returns for each node the number of its part; parts are numbered by their first nodes
 */
function acyclicPartition(
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
  let graph = partGraph(partOf, edges, binding)
  for (let merged = true; merged; ) {
    merged = false
    for (const { from, to } of bound) {
      const [one, other] = [partOf[from] as number, partOf[to] as number]
      if (one === other || hasWayRound(one, other, graph)) continue
      merge(partOf, from, to)
      graph = partGraph(partOf, edges, binding)
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

/** For each part, the parts that follow it, and whether by binding edges only. */
type PartGraph = ReadonlyMap<number, ReadonlyMap<number, boolean>>

function partGraph(
  partOf: Uint32Array,
  edges: readonly ForwardEdge[],
  binding: readonly boolean[],
): PartGraph {
  const graph = new Map<number, Map<number, boolean>>()
  edges.forEach(({ from, to }, edge) => {
    const [one, other] = [partOf[from] as number, partOf[to] as number]
    if (one === other) return
    const next = graph.get(one) ?? new Map<number, boolean>()
    graph.set(one, next)
    next.set(other, (next.get(other) ?? true) && binding[edge] === true)
  })
  return graph
}

/** Whether something other than a binding edge leads from one part to another. */
function hasWayRound(start: number, end: number, graph: PartGraph): boolean {
  if (graph.get(start)?.get(end) === false) return true
  const seen = new Set<number>()
  const pending = [...(graph.get(start)?.keys() ?? [])].filter((part) => part !== end)
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part === end) return true
    if (seen.has(part)) continue
    seen.add(part)
    pending.push(...(graph.get(part)?.keys() ?? []))
  }
  return false
}
