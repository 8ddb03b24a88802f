import type { DependencyEdge } from '../dependencies/dependency-networks.ts'

/** The part of a network that one variable is connected with. */
export interface Component {
  /** Names, the root first. */
  readonly names: readonly string[]
  readonly edges: readonly DependencyEdge[]
  /** Those of `edges` in the maximum spanning tree. */
  readonly tree: ReadonlySet<DependencyEdge>
  /** Of each variable but the root, the edge of the tree that leads towards the root. */
  readonly parentEdge: ReadonlyMap<string, DependencyEdge>
}

/**
 * Everything that is connected with `root`, and its maximum spanning tree: of all trees that connect
 * it, the one with the largest sum of weights. Of edges equally strong the one with the larger R²
 * is taken, then the first by names.
 *
 * Source: Prim 1957, "Shortest connection networks and some generalizations", Bell System Technical
 * Journal 36(6):1389-1401.
 */
export function spanningComponent(edges: readonly DependencyEdge[], root: string): Component {
  const edgesOf = new Map<string, DependencyEdge[]>()
  for (const edge of [...edges].sort(strongestFirst)) {
    for (const end of [edge.from, edge.to]) {
      const known = edgesOf.get(end)
      if (known === undefined) edgesOf.set(end, [edge])
      else known.push(edge)
    }
  }
  const parentEdge = new Map<string, DependencyEdge>()
  const reached = new Set([root])
  for (;;) {
    const candidates = [...reached].flatMap((name) => {
      const outward = edgesOf.get(name)?.find((edge) => !reached.has(otherEnd(edge, name)))
      return outward === undefined ? [] : [{ edge: outward, name: otherEnd(outward, name) }]
    })
    const [next] = candidates.sort((a, b) => strongestFirst(a.edge, b.edge))
    if (next === undefined) break
    reached.add(next.name)
    parentEdge.set(next.name, next.edge)
  }
  return {
    names: [...reached],
    edges: edges.filter(({ from }) => reached.has(from)),
    tree: new Set(parentEdge.values()),
    parentEdge,
  }
}

function otherEnd({ from, to }: DependencyEdge, end: string): string {
  return from === end ? to : from
}

function strongestFirst(a: DependencyEdge, b: DependencyEdge): number {
  return b.weight - a.weight || b.r2 - a.r2 || compare(endsOf(a), endsOf(b))
}

function endsOf({ from, to }: DependencyEdge): readonly [string, string] {
  return from < to ? [from, to] : [to, from]
}

function compare([a, b]: readonly [string, string], [c, d]: readonly [string, string]): number {
  if (a !== c) return a < c ? -1 : 1
  return b < d ? -1 : Number(b > d)
}
