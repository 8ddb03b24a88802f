// Runs once a span, node or edge: the loops index with `!`.

/** Order of some calls, numbered from 0: which come before which. */
export class Precedence {
  readonly nodes: number
  /** Bit a of row b says that a is over before b begins; a row has whole words. */
  readonly bits: Uint32Array
  readonly #words: number

  constructor(nodes: number, bits?: Uint32Array) {
    this.nodes = nodes
    this.#words = (nodes + 31) >>> 5
    this.bits = bits ?? new Uint32Array(nodes * this.#words)
  }

  /** Returns whether `a` comes before `b`. */
  has(a: number, b: number): boolean {
    return ((this.bits[b * this.#words + (a >>> 5)]! >>> (a & 31)) & 1) === 1
  }

  add(a: number, b: number): void {
    this.bits[b * this.#words + (a >>> 5)]! |= 1 << (a & 31)
  }

  /** Notes that `a`, and all that comes before it, comes before `b`. */
  addChain(a: number, b: number): void {
    const words = this.#words
    for (let w = 0; w < words; w++) this.bits[b * words + w]! |= this.bits[a * words + w]!
    this.add(a, b)
  }

  /** Returns the same with calls renumbered: call i becomes `placeOf[i]`. */
  renumbered(placeOf: ArrayLike<number>): Precedence {
    const moved = new Precedence(this.nodes)
    for (let b = 0; b < this.nodes; b++) {
      for (let a = 0; a < this.nodes; a++) if (this.has(a, b)) moved.add(placeOf[a]!, placeOf[b]!)
    }
    return moved
  }

  /** Returns Jaccard's distance of the pairs: 0 for the same (two empty ones too), 1 for disjoint. */
  distanceTo({ bits }: Precedence): number {
    let shared = 0
    let either = 0
    for (let w = 0; w < bits.length; w++) {
      shared += ones(this.bits[w]! & bits[w]!)
      either += ones(this.bits[w]! | bits[w]!)
    }
    return either === 0 ? 0 : (either - shared) / either
  }

  /** Returns whether it has every pair of `part`. */
  holds(part: Precedence): boolean {
    return this.bits.every((bits, w) => (part.bits[w]! & ~bits) === 0)
  }

  and(other: Precedence): Precedence {
    return new Precedence(
      this.nodes,
      this.bits.map((bits, w) => bits & other.bits[w]!),
    )
  }

  /** Returns the calls that no other comes after, ascending. */
  last(): number[] {
    const followed = new Uint32Array(this.#words)
    this.bits.forEach((bits, i) => {
      followed[i % this.#words]! |= bits
    })
    const all = Array.from({ length: this.nodes }, (_, a) => a)
    return all.filter((a) => ((followed[a >>> 5]! >>> (a & 31)) & 1) === 0)
  }
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Whether the first call is over before the second begins. */
type Precedes = (a: number, b: number) => boolean

/** Sorts by Kahn's algorithm, lowest number first; `null` if the relation has a cycle. */
export function topologicalOrder(n: number, precedes: Precedes): number[] | null {
  const waiting = Array.from({ length: n }, (_, b) => {
    let count = 0
    for (let a = 0; a < n; a++) if (a !== b && precedes(a, b)) count++
    return count
  })
  const order: number[] = []
  const done = new Uint8Array(n)
  while (order.length < n) {
    const next = waiting.findIndex((count, i) => count === 0 && done[i] === 0)
    if (next < 0) return null
    done[next] = 1
    order.push(next)
    for (let b = 0; b < n; b++) {
      if (b !== next && precedes(next, b)) waiting[b] = waiting[b]! - 1
    }
  }
  return order
}

/** By call, those that it waits for directly: that no chain of others implies. */
export type Predecessors = readonly (readonly number[])[]

/**
 * Closes a relation under transitivity, and reduces it to covering pairs. Candidates are visited
 * latest first, ancestors kept as bit sets: O(n² + n³/32) for n calls.
 *
 * @param order all calls, each after those that precede it
 */
export function closedPrecedence(
  order: ArrayLike<number>,
  precedes: Precedes,
): { readonly precedence: Precedence; readonly predecessors: Predecessors } {
  const precedence = new Precedence(order.length)
  const predecessors = Array.from(order, (): number[] => [])
  for (let at = 0; at < order.length; at++) {
    const call = order[at]!
    for (let earlier = at - 1; earlier >= 0; earlier--) {
      const other = order[earlier]!
      if (precedence.has(other, call) || !precedes(other, call)) continue
      precedence.addChain(other, call)
      predecessors[call]!.push(other)
    }
  }
  return { precedence, predecessors }
}

/** Calls by their times, sorted by start, then end. */
interface Intervals {
  readonly startUs: ArrayLike<number>
  readonly endUs: ArrayLike<number>
  /** Largest overlap with the next interval at which one still counts as over before it. */
  readonly slackUs: number
}

/**
 * Returns the intervals that each one waits for directly, in O(n log n) and the size of the result; equal lists are
 * shared. Keeps pairs that are implied only by overlaps within the slack. Of all intervals over before child j begins,
 * let k begin last: then exactly k, and those not over before k begins, precede j directly. Later children never need
 * the others again.
 */
export function intervalPredecessors({ startUs, endUs, slackUs }: Intervals): Predecessors {
  const n = startUs.length
  const byEnd = Uint32Array.from({ length: n }, (_, i) => i).sort(
    (a, b) => endUs[a]! - endUs[b]! || a - b,
  )
  const predecessors: (readonly number[])[] = new Array(n)
  let frontier: readonly number[] = []
  /** Over already, but not before a child that begins earlier or with it: of hardly any length. */
  let held: number[] = []
  let over = 0
  let lastBegun = -1
  for (let child = 0; child < n; child++) {
    const beginsUs = startUs[child]! + slackUs
    while (over < n && endUs[byEnd[over]!]! <= beginsUs) held.push(byEnd[over++]!)
    const done = held.filter((other) => other < child)
    if (done.length > 0) {
      held = held.filter((other) => other >= child)
      for (const other of done) lastBegun = Math.max(lastBegun, other)
      const lastBeginsUs = startUs[lastBegun]! + slackUs
      frontier = [...frontier, ...done].filter(
        (other) => other >= lastBegun || endUs[other]! > lastBeginsUs,
      )
    }
    predecessors[child] = frontier
  }
  return predecessors
}

/** Waits among the children of one call, 0 to n − 1, without those that chains imply. */
export interface SiblingWaits {
  /** `followers[i]` lists the children that start next after child `i`. */
  readonly followers: readonly (readonly number[])[]
  /** Children that wait for no sibling: the parent starts them. */
  readonly starters: readonly number[]
  /** Children that the parent's reply waits for directly, ascending: no child that it waits for follows. */
  readonly finishers: readonly number[]
  /** Number of children that nothing waits for: neither a sibling nor the parent's reply. */
  readonly unawaited: number
}

/**
 * Completes waits with the children that the reply waits for.
 *
 * @param order all children, each after its predecessors
 * @param asynchronous whether the reply does not wait for a child
 */
export function siblingWaits(
  predecessors: Predecessors,
  order: ArrayLike<number>,
  asynchronous: (child: number) => boolean,
): SiblingWaits {
  const followers = Array.from(order, (): number[] => [])
  const starters: number[] = []
  for (let at = 0; at < order.length; at++) {
    const child = order[at]!
    if (predecessors[child]!.length === 0) starters.push(child)
    for (const other of predecessors[child]!) followers[other]!.push(child)
  }
  const awaited = new Uint8Array(order.length)
  const finishers: number[] = []
  for (let at = order.length - 1; at >= 0; at--) {
    const child = order[at]!
    const next = followers[child]!
    if (next.some((other) => !asynchronous(other) || awaited[other] === 1)) awaited[child] = 1
    else if (!asynchronous(child)) finishers.push(child)
  }
  finishers.sort((a, b) => a - b)
  const isUnawaited = (next: readonly number[], child: number) =>
    next.length === 0 && !finishers.includes(child)
  return { followers, starters, finishers, unawaited: followers.filter(isUnawaited).length }
}
