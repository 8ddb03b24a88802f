/** Two drawn nodes with something between them that is not drawn. */
export interface FlowGap {
  readonly from: number
  readonly to: number
  /** How many nodes stand on the ways between the two that meet no other drawn node. */
  readonly nodes: number
}

/** The part of a flow that is drawn. */
export interface FlowPart {
  /** Numbers of the nodes drawn, ascending. */
  readonly nodes: readonly number[]
  /** Numbers of the edges between them. */
  readonly edges: readonly number[]
  readonly gaps: readonly FlowGap[]
}

interface Flow {
  readonly size: number
  readonly from: Uint32Array
  readonly to: Uint32Array
}

/**
 * At most `limit` nodes of a flow: all of them, or else the root and the ends of the edges in
 * `order`, as many as fit. What follows what stays visible: drawn nodes with only left-out nodes
 * between them are joined by a gap.
 */
export function flowPart(
  flow: Flow,
  { order, limit }: { order: readonly number[]; limit: number },
): FlowPart {
  const nodes = flow.size <= limit ? numbers(flow.size) : endsOf(flow, { order, limit })
  const drawn = new Set(nodes)
  const edges = numbers(flow.from.length).filter(
    (edge) => drawn.has(flow.from[edge] as number) && drawn.has(flow.to[edge] as number),
  )
  return { nodes, edges, gaps: nodes.length === flow.size ? [] : gapsOf(flow, { drawn, edges }) }
}

function endsOf(
  { from, to }: Flow,
  { order, limit }: { order: readonly number[]; limit: number },
): number[] {
  const drawn = new Set([0])
  for (const edge of order) {
    const added = [from[edge] as number, to[edge] as number].filter((node) => !drawn.has(node))
    if (drawn.size + added.length > limit) break
    for (const node of added) drawn.add(node)
  }
  return [...drawn].sort((a, b) => a - b)
}

function gapsOf(
  { size, from, to }: Flow,
  { drawn, edges }: { drawn: ReadonlySet<number>; edges: readonly number[] },
): FlowGap[] {
  const below = neighbourLists(size, from, to)
  const above = neighbourLists(size, to, from)
  const next = new Map<number, Set<number>>([...drawn].map((node) => [node, new Set<number>()]))
  for (const edge of edges) next.get(from[edge] as number)?.add(to[edge] as number)
  const gaps: FlowGap[] = []
  for (const source of drawn) {
    const passed = leftOut(source, below, drawn)
    const ends = new Set(
      [...passed].flatMap((node) => (below[node] as number[]).filter((end) => drawn.has(end))),
    )
    for (const end of ends) {
      const back = leftOut(end, above, drawn)
      const nodes = [...passed].filter((node) => back.has(node)).length
      gaps.push({ from: source, to: end, nodes })
    }
  }
  for (const gap of gaps) next.get(gap.from)?.add(gap.to)
  return gaps.filter((gap) => !hasDetour(gap, next))
}

/** The nodes that are not drawn and that one comes to from `start` without meeting a drawn one. */
function leftOut(
  start: number,
  next: readonly (readonly number[])[],
  drawn: ReadonlySet<number>,
): Set<number> {
  const found = new Set<number>()
  const pending = [start]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const other of next[node] as readonly number[]) {
      if (drawn.has(other) || found.has(other)) continue
      found.add(other)
      pending.push(other)
    }
  }
  return found
}

/** Whether another way leads from one end of a gap to the other: then the gap says nothing new. */
function hasDetour({ from, to }: FlowGap, next: ReadonlyMap<number, ReadonlySet<number>>): boolean {
  const seen = new Set<number>()
  const pending = [...(next.get(from) ?? [])].filter((node) => node !== to)
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node === to) return true
    if (seen.has(node)) continue
    seen.add(node)
    pending.push(...(next.get(node) ?? []))
  }
  return false
}

function neighbourLists(size: number, near: Uint32Array, far: Uint32Array): number[][] {
  const lists: number[][] = Array.from({ length: size }, () => [])
  near.forEach((node, edge) => {
    lists[node]?.push(far[edge] as number)
  })
  return lists
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}
