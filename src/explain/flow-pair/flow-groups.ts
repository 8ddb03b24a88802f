import { group, rollup, sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { counted, grouped } from '../../core/words.ts'
import type { FlowComparison, FlowGroup, UnionEdge, UnionNode } from './flow-comparison.ts'
import type { FlowDifference } from './flow-differences.ts'

type Union = Pick<FlowComparison, 'nodes' | 'edges'>

/** A difference of more steps is one group as well. */
const MAX_OWN = 12

/**
 * Groups for a view of one difference: its steps and those right before and after them stand alone,
 * all else is one with what it is connected to.
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

/** Nodes of one part each, with what their edges are of the response time. */
export function groupsOf({ nodes, edges }: Union, partOf: ArrayLike<number>): GroupDraft[] {
  const isInner = ({ from, to }: UnionEdge) => partOf[from] === partOf[to]
  const partOfEdge = ({ to }: UnionEdge) => Number(partOf[to])
  const inside = group(edges.filter(isInner), partOfEdge)
  const entering = group(
    edges.filter((edge) => !isInner(edge)),
    partOfEdge,
  )
  const timesIn = timesThrough({ nodes, edges })
  return Array.from(group(nodes, ({ id }) => Number(partOf[id])))
    .sort(([a], [b]) => a - b)
    .map(([part, own]) => ({
      ...describeGroup(own, inside.get(part) ?? []),
      ...timesIn(own, inside.get(part) ?? [], entering.get(part) ?? []),
    }))
}

/** How long requests are in some steps on average, of those that wait for them. */
function timesThrough({ edges }: Union) {
  const alike = (['before', 'after'] as const).map((side) =>
    rollup(
      edges,
      (same) => same.length,
      (edge) => edge[side]?.edgeClass,
    ),
  )
  return (
    nodes: readonly UnionNode[],
    inner: readonly UnionEdge[],
    entering: readonly UnionEdge[],
  ) => {
    const [beforeUs = 0, afterUs = 0] = (['before', 'after'] as const).map((side, i) => {
      const us = sum(inner, (edge) => edge[side]?.criticalUs ?? 0)
      // A critical path enters once, on one of the edges of a class.
      const share = sum(
        entering,
        (edge) => (edge[side]?.criticalShare ?? 0) / (alike[i]?.get(edge[side]?.edgeClass) ?? 1),
      )
      const isRoot = nodes.some((node) => node[side] === 0)
      return isRoot || share === 0 ? us : us / Math.min(1, share)
    })
    return { beforeUs, afterUs }
  }
}

function describeGroup(
  nodes: readonly UnionNode[],
  edges: readonly UnionEdge[],
): Omit<GroupDraft, 'beforeUs' | 'afterUs'> {
  const changedEdges = edges.filter(({ verdict }) => verdict === 'changed').length
  const services = [...new Set(nodes.map(({ service }) => service))].filter((one) => one !== '')
  return {
    service: services.length <= MAX_SERVICES ? services.join(', ') : '',
    host: '',
    nodes: nodes.map(({ id }) => id),
    edges: edges.map(({ id }) => id),
    inBefore: nodes.some(({ inBefore }) => inBefore),
    inAfter: nodes.some(({ inAfter }) => inAfter),
    identical:
      changedEdges === 0 &&
      [...nodes, ...edges].every(({ inBefore, inAfter }) => inBefore && inAfter),
    changedEdges,
    quietEdges: edges.filter(({ reason }) => reason !== null).length,
  }
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
    const next = getOrInsert(graph, one, () => new Map())
    next.set(other, (next.get(other) ?? true) && binding[edge] === true)
  })
  return graph
}

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
