import type { AttentionEdge, AttentionGraph } from './attention.ts'

/** The spanning tree of a graph, from the metric on. */
export interface AttentionTree {
  /** Names, each after the one that it leads to; the metric first. */
  readonly order: readonly string[]
  /** Edges between a variable and the metric; 0 of the metric itself. */
  readonly depth: ReadonlyMap<string, number>
  /** What leads to each variable, next in the tree. */
  readonly children: ReadonlyMap<string, readonly string[]>
  /** Of each variable but the metric, the edge that leads it towards the metric. */
  readonly parentEdge: ReadonlyMap<string, AttentionEdge>
}

/** The spanning tree of a graph, depth first; what adds more to the score comes first. */
export function attentionTree({ metric, nodes, edges }: AttentionGraph): AttentionTree {
  const linksOf = new Map<string, { edge: AttentionEdge; other: string }[]>()
  const rank = new Map(nodes.map(({ name }, at) => [name, at]))
  for (const edge of edges.filter(({ inTree }) => inTree)) {
    for (const [end, other] of [
      [edge.from, edge.to],
      [edge.to, edge.from],
    ] as const) {
      linksOf.set(end, [...(linksOf.get(end) ?? []), { edge, other }])
    }
  }
  const depth = new Map([[metric, 0]])
  const children = new Map<string, string[]>()
  const parentEdge = new Map<string, AttentionEdge>()
  const order: string[] = []
  const pending = [metric]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    order.push(name)
    const below = (linksOf.get(name) ?? [])
      .filter(({ other }) => !depth.has(other))
      .sort((a, b) => Number(rank.get(a.other)) - Number(rank.get(b.other)))
    for (const { edge, other } of below) {
      depth.set(other, Number(depth.get(name)) + 1)
      parentEdge.set(other, edge)
    }
    children.set(
      name,
      below.map(({ other }) => other),
    )
    pending.push(...below.map(({ other }) => other).reverse())
  }
  return { order, depth, children, parentEdge }
}
