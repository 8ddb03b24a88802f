import type { FlowForm } from './flow-form.ts'

interface NodePair {
  readonly a: number
  readonly b: number
}

/**
 * Which node of one form stands for which of another, while it is worked out; and the union of
 * both, in which the two nodes of a pair are one. In the union, nodes of `a` keep their numbers
 * and node n of `b` that has no partner is `a`'s number of nodes + n.
 */
export class NodePairing {
  readonly a: FlowForm
  readonly b: FlowForm
  /** For each node of `a`, its partner; -1 for none. */
  readonly ofA: Int32Array
  readonly ofB: Int32Array
  readonly #edgesOfB: ReadonlySet<number>

  constructor(a: FlowForm, b: FlowForm) {
    this.a = a
    this.b = b
    this.ofA = new Int32Array(a.labels.length).fill(-1)
    this.ofB = new Int32Array(b.labels.length).fill(-1)
    this.#edgesOfB = new Set(b.edges.map(({ from, to }) => from * b.labels.length + to))
  }

  /** Nodes in the union's numbering, some of which do not occur. */
  get unionSize(): number {
    return this.a.labels.length + this.b.labels.length
  }

  isFree(a: number, b: number): boolean {
    return this.ofA[a] === -1 && this.ofB[b] === -1
  }

  join(a: number, b: number): void {
    this.ofA[a] = b
    this.ofB[b] = a
  }

  /** Parts a node of `a` from its partner. */
  part(a: number): NodePair {
    const b = this.ofA[a] as number
    this.ofB[b] = -1
    this.ofA[a] = -1
    return { a, b }
  }

  /** The same pairs, seen from `b`. */
  exchanged(): NodePairing {
    const other = new NodePairing(this.b, this.a)
    other.ofA.set(this.ofB)
    other.ofB.set(this.ofA)
    return other
  }

  /** How many neighbours of `a` and `b`, before and after them, are partners of each other. */
  agreement(a: number, b: number): number {
    const size = this.b.labels.length
    let count = 0
    for (const parent of this.a.parents[a] as readonly number[]) {
      const partner = this.ofA[parent] as number
      if (partner >= 0 && this.#edgesOfB.has(partner * size + b)) count++
    }
    for (const child of this.a.children[a] as readonly number[]) {
      const partner = this.ofA[child] as number
      if (partner >= 0 && this.#edgesOfB.has(b * size + partner)) count++
    }
    return count
  }

  /** The number of a node of `b` in the union. */
  unionOfB(b: number): number {
    const partner = this.ofB[b] as number
    return partner >= 0 ? partner : this.a.labels.length + b
  }

  /** Whether joining two free nodes would make some step follow itself. */
  wouldCycle(a: number, b: number): boolean {
    const inUnion = this.a.labels.length + b
    return this.#leads(a, inUnion) || this.#leads(inUnion, a)
  }

  /** Whether one comes from union node `start` to `end`. */
  #leads(start: number, end: number): boolean {
    const seen = new Uint8Array(this.unionSize)
    const pending = [start]
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      for (const follower of this.#followers(node)) {
        if (follower === end) return true
        if (seen[follower] === 1) continue
        seen[follower] = 1
        pending.push(follower)
      }
    }
    return false
  }

  /** What follows a node in the union, some of it twice. */
  #followers(node: number): number[] {
    const size = this.a.labels.length
    const inB = node < size ? (this.ofA[node] as number) : node - size
    const below = (this.b.children[inB] ?? []).map((child) => this.unionOfB(child))
    return [...(this.a.children[node] ?? []), ...below]
  }
}

/** Of the pairs that may close a cycle, this share is parted at once, so that many take few rounds. */
const AT_ONCE = 0.05

/**
 * Parts pairs until the union of both forms has no cycle, those first whose neighbours agree
 * least; of these such as have a label that recurs, and then the last. Where there are many, some
 * are parted that need not be. Gives the pairs parted.
 */
export function breakCycles(pairing: NodePairing, recurring: ReadonlySet<string>): NodePair[] {
  const { a, ofA } = pairing
  const strength = (node: number) =>
    2 * pairing.agreement(node, ofA[node] as number) +
    (recurring.has(a.labels[node] as string) ? 0 : 1)
  const parted: NodePair[] = []
  for (let cyclic = cyclicNodes(pairing); cyclic.length > 0; cyclic = cyclicNodes(pairing)) {
    const weakestFirst = cyclic
      .map((node) => ({ node, strength: strength(node) }))
      .sort((one, other) => one.strength - other.strength || other.node - one.node)
    for (const { node } of weakestFirst.slice(0, Math.ceil(AT_ONCE * cyclic.length))) {
      parted.push(pairing.part(node))
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
