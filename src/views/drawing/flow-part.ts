import { range } from 'd3-array'

export interface FlowGap {
  readonly from: number
  readonly to: number
  /** How many nodes stand on the ways between the two that meet no other drawn node. */
  readonly nodes: number
}

interface Flow {
  readonly size: number
  readonly from: Uint32Array
  readonly to: Uint32Array
}

interface PartOptions {
  readonly order: readonly number[]
  readonly limit: number
}

/** At most `limit` nodes: the root and the ends of edges in `order`; gaps join what follows. */
export function flowPart(flow: Flow, { order, limit }: PartOptions) {
  const nodes = flow.size <= limit ? range(flow.size) : endsOf(flow, { order, limit })
  const drawn = new Set(nodes)
  const edges = [...flow.from.keys()].filter(
    (edge) => drawn.has(flow.from[edge] as number) && drawn.has(flow.to[edge] as number),
  )
  return { nodes, edges, gaps: nodes.length === flow.size ? [] : gapsOf(flow, { drawn, edges }) }
}

function endsOf({ from, to }: Flow, { order, limit }: PartOptions): number[] {
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
  const neighbors = (near: Uint32Array, far: Uint32Array) => {
    const lists: number[][] = Array.from({ length: size }, () => [])
    near.forEach((node, edge) => {
      lists[node]?.push(far[edge] as number)
    })
    return (node: number) => lists[node] as readonly number[]
  }
  const [below, above] = [neighbors(from, to), neighbors(to, from)]
  const leftOut = (start: number, nextOf: (node: number) => readonly number[]) => {
    const next = (node: number) => nextOf(node).filter((each) => !drawn.has(each))
    return reachable(next(start), next)
  }
  const next = new Map<number, Set<number>>([...drawn].map((node) => [node, new Set<number>()]))
  for (const edge of edges) next.get(from[edge] as number)?.add(to[edge] as number)
  const gaps = [...drawn].flatMap((source) => {
    const passed = leftOut(source, below)
    const ends = new Set([...passed].flatMap(below).filter((end) => drawn.has(end)))
    return Array.from(ends, (end): FlowGap => {
      const back = leftOut(end, above)
      return { from: source, to: end, nodes: [...passed].filter((node) => back.has(node)).length }
    })
  })
  for (const gap of gaps) next.get(gap.from)?.add(gap.to)
  const followers = (node: number) => [...(next.get(node) ?? [])]
  // Where another way leads from one end of a gap to the other, the gap says nothing new.
  return gaps.filter((gap) => {
    const others = followers(gap.from).filter((node) => node !== gap.to)
    return !reachable(others, followers).has(gap.to)
  })
}

function reachable(
  start: readonly number[],
  nextOf: (node: number) => readonly number[],
): Set<number> {
  const found = new Set(start)
  // What is added on the way is visited too.
  for (const node of found) for (const next of nextOf(node)) found.add(next)
  return found
}
