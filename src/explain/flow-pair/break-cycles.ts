import type { NodePair, NodePairing } from './node-pairing.ts'

/** Of the pairs that may close a cycle, this share is parted at once, so that many take few rounds. */
const AT_ONCE = 0.05

/**
 * Parts pairs until the union of both forms has no cycle, those first whose neighbours agree
 * least; of these such as have a label that recurs, and then the last. Where there are many, some
 * are parted that need not be. Gives the pairs parted.
 */
export function breakCycles(pairing: NodePairing, recurs: (label: string) => boolean): NodePair[] {
  const parted: NodePair[] = []
  for (let cyclic = cyclicNodes(pairing); cyclic.length > 0; cyclic = cyclicNodes(pairing)) {
    const count = Math.ceil(AT_ONCE * cyclic.length)
    for (const a of weakestFirst(cyclic, pairing, recurs).slice(0, count)) {
      parted.push({ a, b: pairing.ofA[a] as number })
      pairing.part(a)
    }
  }
  return parted
}

/** Union nodes of `a` with partners that are left when all is peeled off that is on no cycle. */
function cyclicNodes(pairing: NodePairing): number[] {
  const { a, b, ofA, unionSize } = pairing
  const below: number[][] = Array.from({ length: unionSize }, () => [])
  const above: number[][] = Array.from({ length: unionSize }, () => [])
  const link = (from: number, to: number) => {
    below[from]?.push(to)
    above[to]?.push(from)
  }
  for (const { from, to } of a.edges) link(from, to)
  for (const { from, to } of b.edges) link(pairing.unionOfB(from), pairing.unionOfB(to))
  const left = new Uint8Array(unionSize).fill(1)
  peel(below, above, left)
  peel(above, below, left)
  return Array.from(ofA.keys()).filter((node) => left[node] === 1 && (ofA[node] as number) >= 0)
}

/** Takes away nodes that nothing left leads to, again and again. */
function peel(
  next: readonly (readonly number[])[],
  previous: readonly (readonly number[])[],
  left: Uint8Array,
): void {
  const isLeft = (node: number) => left[node] === 1
  const waiting = Uint32Array.from(previous, (nodes) => nodes.filter(isLeft).length)
  const pending = Array.from(left.keys()).filter((node) => isLeft(node) && waiting[node] === 0)
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    left[node] = 0
    for (const follower of next[node] as readonly number[]) {
      if (!isLeft(follower)) continue
      waiting[follower] = (waiting[follower] as number) - 1
      if (waiting[follower] === 0) pending.push(follower)
    }
  }
}

function weakestFirst(
  nodes: readonly number[],
  pairing: NodePairing,
  recurs: (label: string) => boolean,
): number[] {
  const strength = (node: number) => {
    const agreement = pairing.agreement(node, pairing.ofA[node] as number)
    return 2 * agreement + (recurs(pairing.a.labels[node] as string) ? 0 : 1)
  }
  return nodes
    .map((node) => ({ node, strength: strength(node) }))
    .sort((a, b) => a.strength - b.strength || b.node - a.node)
    .map(({ node }) => node)
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
 * @returns for each node the number of its part; parts are numbered by their first nodes
 */
export function acyclicPartition(
  size: number,
  edges: readonly ForwardEdge[],
  binds: (edge: number) => boolean,
): Uint32Array {
  const level = new Uint32Array(size)
  edges.forEach(({ from, to }, edge) => {
    const reached = (level[from] as number) + (binds(edge) ? 0 : 1)
    if (reached > (level[to] as number)) level[to] = reached
  })
  const parts = new Parts(size)
  edges.forEach(({ from, to }, edge) => {
    if (binds(edge) && level[from] === level[to]) parts.merge(from, to)
  })
  mergeWithoutWayRound(parts, edges, binds)
  const numbers = new Map<number, number>()
  return level.map((_, node) => {
    const part = parts.of(node)
    const number = numbers.get(part) ?? numbers.size
    numbers.set(part, number)
    return number
  })
}

/** Sets of nodes that can be merged. */
class Parts {
  readonly #above: Uint32Array

  constructor(size: number) {
    this.#above = Uint32Array.from({ length: size }, (_, node) => node)
  }

  /** The node that stands for the part of `node`. */
  of(node: number): number {
    let top = node
    while (this.#above[top] !== top) {
      const next = this.#above[this.#above[top] as number] as number
      this.#above[top] = next
      top = next
    }
    return top
  }

  merge(a: number, b: number): void {
    const [one, other] = [this.of(a), this.of(b)]
    this.#above[Math.max(one, other)] = Math.min(one, other)
  }
}

function mergeWithoutWayRound(
  parts: Parts,
  edges: readonly ForwardEdge[],
  binds: (edge: number) => boolean,
): void {
  let graph = partGraph(parts, edges, binds)
  for (let merged = true; merged; ) {
    merged = false
    edges.forEach(({ from, to }, edge) => {
      if (!binds(edge)) return
      const [one, other] = [parts.of(from), parts.of(to)]
      if (one === other || hasWayRound(one, other, graph)) return
      parts.merge(one, other)
      graph = partGraph(parts, edges, binds)
      merged = true
    })
  }
}

/** For each part, the parts that follow it, and whether by binding edges only. */
type PartGraph = ReadonlyMap<number, ReadonlyMap<number, boolean>>

function partGraph(
  parts: Parts,
  edges: readonly ForwardEdge[],
  binds: (edge: number) => boolean,
): PartGraph {
  const graph = new Map<number, Map<number, boolean>>()
  edges.forEach(({ from, to }, edge) => {
    const [one, other] = [parts.of(from), parts.of(to)]
    if (one === other) return
    const next = graph.get(one) ?? new Map<number, boolean>()
    graph.set(one, next)
    next.set(other, (next.get(other) ?? true) && binds(edge))
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
