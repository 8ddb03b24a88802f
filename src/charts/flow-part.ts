/** The part of a flow that is drawn. */
export interface FlowPart {
  /** Numbers of the nodes drawn, ascending. */
  readonly nodes: readonly number[]
  /** Numbers of the edges between them. */
  readonly edges: readonly number[]
}

/**
 * At most `limit` nodes of a flow: all, or those nearest to the root and to the changed edges,
 * by number of edges in between.
 */
export function flowPart(
  { size, from, to }: { size: number; from: Uint32Array; to: Uint32Array },
  { changed, limit }: { changed: readonly number[]; limit: number },
): FlowPart {
  const nodes = size <= limit ? numbers(size) : nearest({ size, from, to }, { changed, limit })
  const drawn = new Set(nodes)
  const edges = numbers(from.length).filter(
    (edge) => drawn.has(from[edge] as number) && drawn.has(to[edge] as number),
  )
  return { nodes, edges }
}

function nearest(
  { size, from, to }: { size: number; from: Uint32Array; to: Uint32Array },
  { changed, limit }: { changed: readonly number[]; limit: number },
): number[] {
  const around: number[][] = Array.from({ length: size }, () => [])
  from.forEach((source, edge) => {
    const target = to[edge] as number
    around[source]?.push(target)
    around[target]?.push(source)
  })
  const ends = changed.flatMap((edge) => [from[edge] as number, to[edge] as number])
  const reached = [...new Set([...ends, 0])].slice(0, limit)
  const seen = new Set(reached)
  for (let at = 0; at < reached.length; at++) {
    for (const node of around[reached[at] as number] ?? []) {
      if (reached.length >= limit) break
      if (seen.has(node)) continue
      seen.add(node)
      reached.push(node)
    }
  }
  return reached.sort((a, b) => a - b)
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}
