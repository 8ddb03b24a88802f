import type { FlowForm } from './flow-form.ts'

/** Two nodes, one of each form of a pairing. */
export interface NodePair {
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
  part(a: number): void {
    this.ofB[this.ofA[a] as number] = -1
    this.ofA[a] = -1
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

  /** Calls `visit` with each node that follows `node` in the union, maybe repeatedly. */
  followers(node: number, visit: (follower: number) => void): void {
    const size = this.a.labels.length
    if (node < size) for (const child of this.a.children[node] as readonly number[]) visit(child)
    const inB = node < size ? (this.ofA[node] as number) : node - size
    if (inB < 0) return
    for (const child of this.b.children[inB] as readonly number[]) visit(this.unionOfB(child))
  }

  /** Whether one comes from union node `start` to `end`. */
  leads(start: number, end: number): boolean {
    const seen = new Uint8Array(this.unionSize)
    const pending = [start]
    let found = false
    for (let node = pending.pop(); node !== undefined && !found; node = pending.pop()) {
      this.followers(node, (follower) => {
        if (follower === end) found = true
        if (seen[follower] === 1) return
        seen[follower] = 1
        pending.push(follower)
      })
    }
    return found
  }

  /** Whether joining two free nodes would make some step follow itself. */
  wouldCycle(a: number, b: number): boolean {
    const inUnion = this.a.labels.length + b
    return this.leads(a, inUnion) || this.leads(inUnion, a)
  }
}
