import type { AttentionGraph } from '../../logs/attention/attention.ts'

/**
 * Which variables of a graph to draw where there is no room for all: the metric, and those that add
 * most to the score with all that lead them to the metric.
 */
export function tellingVariables(graph: AttentionGraph, limit: number): ReadonlySet<string> {
  const kept = new Set(graph.nodes.map(({ name }) => name))
  const linksOf = treeLinks(graph)
  // Those that add least first; performance, which stands first in a graph, is never taken.
  const rising = graph.nodes.slice(1).toReversed()
  while (kept.size > limit) {
    const leaf = rising.find(({ name }) => kept.has(name) && isLeaf(linksOf.get(name), kept))
    if (leaf === undefined) break
    kept.delete(leaf.name)
  }
  return kept
}

/** What each variable is connected with in the spanning tree. */
function treeLinks({ edges }: AttentionGraph): ReadonlyMap<string, readonly string[]> {
  const links = new Map<string, string[]>()
  for (const { from, to, inTree } of edges) {
    if (!inTree) continue
    for (const [end, other] of [
      [from, to],
      [to, from],
    ] as const) {
      const known = links.get(end)
      if (known === undefined) links.set(end, [other])
      else known.push(other)
    }
  }
  return links
}

function isLeaf(links: readonly string[] | undefined, kept: ReadonlySet<string>): boolean {
  return (links ?? []).filter((name) => kept.has(name)).length < 2
}
