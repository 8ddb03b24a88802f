// Over every call of both periods: the loops index with `!`.
import type { CallForest, IndexedCalls } from '../../calls/call-forest.ts'
import { getOrInsert } from '../../core/entries.ts'
import { InternalError } from '../../core/errors.ts'
import { memoized } from '../../core/remembered.ts'

/** A call waits for as many at most, those that take longest: pairs grow with their square. */
const MAX_NODES = 256

/**
 * Order of calls to an operation: the children they waited for, and the order of these, as far as one call shows it
 * (its maximal model). Thousands of calls share few of them.
 */
export interface CallOrder {
  /** Called operation: a name of `CallPaths`. */
  readonly name: number
  /** The same number for the same name and nodes, in all periods. */
  readonly key: number
  /** Names of the awaited children, ascending; several children of one name are numbered by start. */
  readonly nodes: readonly number[]
  /** Order of nodes, closed. */
  readonly precedence: Precedence
}

export interface PeriodOrders {
  readonly orderOf: Uint32Array
  /**
   * The calls of every caller as `CallForest.childOffsets` has them: first those it waits for, in
   * the order of its nodes, then the others by start.
   */
  readonly nodeCalls: Uint32Array
}

/**
 * Finds out how every call ran: all orders that occur, each once, and which call has which. A call waits for a child
 * that is over by its reply, give or take `slackUs`, or the millisecond to which starts of one of the two were cut; of
 * more than 256, for those that take longest.
 */
export function findCallOrders(
  { paths, forests, resolutionUs }: IndexedCalls,
  slackUs: number,
): { readonly orders: readonly CallOrder[]; readonly periods: readonly PeriodOrders[] } {
  const orders: CallOrder[] = []
  const keys = new Map<string, number>()
  const known = new Map<string, number>()

  const addOrder = (name: number, nodes: readonly number[], precedence: Precedence) => {
    const listing = `${name}|${nodes.join()}`
    const key = getOrInsert(keys, listing, () => keys.size)
    // One or no node has no order.
    const text = nodes.length < 2 ? `${key}` : `${key}|${precedence.bits.join()}`
    return getOrInsert(known, text, () => orders.push({ name, key, nodes, precedence }) - 1)
  }
  const leafOrder = memoized((name: number) => addOrder(name, [], new Precedence(0)))

  /** Whether the reply of `caller` waits for `child`, by this call's own times. */
  const waits = (forest: CallForest, caller: number, child: number): boolean => {
    const { path, offsetUs, latencyUs, serverUs, clientSpan, detached } = forest
    if (detached[child] === 1) return false
    const callerUs = resolutionUs[paths.name(path[caller]!)]!
    const childUs = clientSpan[child]! < 0 ? resolutionUs[paths.name(path[child]!)]! : 0
    const allowedUs = Math.max(slackUs, callerUs, childUs)
    return offsetUs[child]! + latencyUs[child]! <= serverUs[caller]! + allowedUs
  }

  const periods = forests.map((forest): PeriodOrders => {
    const { childOffsets, children, path, offsetUs, latencyUs } = forest
    const nodeCalls = new Uint32Array(children.length)
    const orderOf = path.map((ownPath, call) => {
      const name = paths.name(ownPath)
      const first = childOffsets[call]!
      const own = children.subarray(first, childOffsets[call + 1])
      if (own.length === 0) return leafOrder(name)
      const waitedFor = own.filter((child) => waits(forest, call, child))
      const longest = waitedFor.toSorted((a, b) => latencyUs[b]! - latencyUs[a]! || a - b)
      const isAwaited = new Set(longest.subarray(0, MAX_NODES))
      const awaited = own.filter((child) => isAwaited.has(child))
      nodeCalls.set(
        own.filter((child) => !isAwaited.has(child)),
        first + awaited.length,
      )
      if (awaited.length === 0) return leafOrder(name)
      const names = Array.from(awaited, (child) => paths.name(path[child]!))
      // Sorting is stable: of several calls to one thing the first to start stays first.
      const listing = names.map((_, i) => i).sort((a, b) => names[a]! - names[b]!)
      const placeOf = new Uint32Array(listing.length)
      listing.forEach((i, place) => {
        placeOf[i] = place
        nodeCalls[first + place] = awaited[i]!
      })
      const nodes = listing.map((i) => names[i]!)
      const startUs = Float64Array.from(awaited, (child) => offsetUs[child]!)
      const endUs = startUs.map((us, i) => us + latencyUs[awaited[i]!]!)
      const observed = Precedence.observed(startUs, endUs, slackUs)
      return addOrder(name, nodes, observed.renumbered(placeOf))
    })
    return { orderOf, nodeCalls }
  })
  return { orders, periods }
}

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

  /**
   * The precedence of calls that are sorted by start, then end, closed under transitivity: one comes
   * before a later one if it is over by the latter's start, give or take `slackUs`. Only later ones in
   * this order can follow, so the slack makes no circles. O(n² + n³/32).
   */
  static observed(
    startUs: ArrayLike<number>,
    endUs: ArrayLike<number>,
    slackUs: number,
  ): Precedence {
    const found = new Precedence(startUs.length)
    for (let b = 1; b < startUs.length; b++) {
      const beginsUs = startUs[b]! + slackUs
      // Latest first: calls that one of them waited for are already known.
      for (let a = b - 1; a >= 0; a--) {
        if (endUs[a]! <= beginsUs && !found.has(a, b)) found.#addChain(a, b)
      }
    }
    return found
  }

  /** Returns whether `a` comes before `b`. */
  has(a: number, b: number): boolean {
    return ((this.bits[b * this.#words + (a >>> 5)]! >>> (a & 31)) & 1) === 1
  }

  add(a: number, b: number): void {
    this.bits[b * this.#words + (a >>> 5)]! |= 1 << (a & 31)
  }

  /** Notes that `a`, and all that comes before it, comes before `b`. */
  #addChain(a: number, b: number): void {
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

  /** Returns the calls in an order that respects all pairs; `null` if pairs run in circles. Needs no closure. */
  order(): Uint32Array | null {
    const { nodes, bits } = this
    const words = this.#words
    const order = new Uint32Array(nodes)
    const done = new Uint32Array(words)
    for (let placed = 0; placed < nodes; ) {
      const before = placed
      for (let b = 0; b < nodes; b++) {
        if ((done[b >>> 5]! >>> (b & 31)) & 1) continue
        let ready = true
        for (let w = 0; w < words && ready; w++) ready = (bits[b * words + w]! & ~done[w]!) === 0
        if (!ready) continue
        done[b >>> 5]! |= 1 << (b & 31)
        order[placed++] = b
      }
      if (placed === before) return null
    }
    return order
  }

  /** Closes the pairs under transitivity, given an order of them. */
  close(order: Uint32Array): void {
    order.forEach((b, at) => {
      for (let i = at - 1; i >= 0; i--) if (this.has(order[i]!, b)) this.#addChain(order[i]!, b)
    })
  }

  /**
   * Returns the direct predecessors of each call: those that no chain of others implies (the
   * transitive reduction), ascending.
   */
  direct(order: Uint32Array): number[][] {
    const words = this.#words
    const direct: number[][] = Array.from({ length: this.nodes }, () => [])
    order.forEach((b, at) => {
      const implied = new Uint32Array(words)
      for (let i = at - 1; i >= 0; i--) {
        const a = order[i]!
        if (!this.has(a, b) || (implied[a >>> 5]! >>> (a & 31)) & 1) continue
        direct[b]!.push(a)
        for (let w = 0; w < words; w++) implied[w]! |= this.bits[a * words + w]!
      }
      direct[b]!.sort((x, y) => x - y)
    })
    return direct
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

/**
 * Waits between nodes, ready to be computed: nodes with the same predecessors share one set of them, a synchronisation
 * point, so that k calls after k others cost 2k steps and not k².
 */
export interface WaitPlan {
  readonly nodes: number
  /** Nodes in an order in which each comes after its predecessors. */
  readonly order: Uint32Array
  /** The set that each node waits for, −1 for none. */
  readonly waitsFor: Int32Array
  /** The set that the reply waits for, −1 for none. */
  readonly replyWaitsFor: number
  /** The nodes of set `i` are entries `setOffsets[i]` to `setOffsets[i + 1]`. */
  readonly setOffsets: Uint32Array
  readonly setNodes: Uint32Array
}

/** Direct waits between nodes, and an order in which every node comes after those it waits for. */
export interface WaitGraph {
  readonly order: Uint32Array
  readonly predecessors: readonly (readonly number[])[]
  readonly returnPredecessors: readonly number[]
}

/** Returns the graph of a precedence that is closed and free of circles. */
export function waitGraph(precedence: Precedence): WaitGraph {
  const order = precedence.order()
  if (order === null)
    throw new InternalError('the calls of a model wait for each other in a circle')
  return { order, predecessors: precedence.direct(order), returnPredecessors: precedence.last() }
}

/** Plans a graph. Lists that are the same object, or hold the same, become one set. */
export function waitPlan({ order, predecessors, returnPredecessors }: WaitGraph): WaitPlan {
  const sets: (readonly number[])[] = []
  const sameLists = new Map<readonly number[], number>()
  const sameContents = new Map<string, number>()
  const setOf = (nodes: readonly number[]): number => {
    if (nodes.length === 0) return -1
    return getOrInsert(sameLists, nodes, () =>
      getOrInsert(sameContents, nodes.join(), () => sets.push(nodes) - 1),
    )
  }
  const waitsFor = Int32Array.from(predecessors, setOf)
  const replyWaitsFor = setOf(returnPredecessors)
  const setOffsets = new Uint32Array(sets.length + 1)
  sets.forEach((nodes, set) => {
    setOffsets[set + 1] = setOffsets[set]! + nodes.length
  })
  const setNodes = Uint32Array.from(sets.flat())
  return { nodes: order.length, order, waitsFor, replyWaitsFor, setOffsets, setNodes }
}

export function mostNodes(plans: readonly WaitPlan[]): number {
  return plans.reduce((most, { nodes }) => Math.max(most, nodes), 0)
}

/** Returns when the last node of a set is over; 0, the caller's start, of no set. */
export function setEnd(plan: WaitPlan, set: number, endUs: Float64Array): number {
  if (set < 0) return 0
  const end = plan.setOffsets[set + 1]!
  let last = Number.NEGATIVE_INFINITY
  for (let at = plan.setOffsets[set]!; at < end; at++) {
    const us = endUs[plan.setNodes[at]!]!
    if (us > last) last = us
  }
  return last
}

/** Own time of every call of a period, under its model. */
export interface OwnTimes {
  /** Time from the end of the last call it waits for, or its caller's start, to its start, in µs. */
  readonly preprocessingUs: Float64Array
  /** Time from the end of the last call it waits for, or its own start, to its reply, in µs. */
  readonly replyUs: Float64Array
}

export interface PeriodPlans {
  readonly planOf: Uint32Array
  readonly plans: readonly WaitPlan[]
  /** Calls of nodes, as in `PeriodOrders`. */
  readonly nodeCalls: Uint32Array
}

/**
 * Measures preprocessing and reply times. What overlaps within the slack gives a little less than 0.
 * Calls that nobody waits for start after the last one that their caller waited for by then.
 */
export function ownTimes(forest: CallForest, period: PeriodPlans, slackUs: number): OwnTimes {
  const { childOffsets, offsetUs, latencyUs, serverUs } = forest
  const { planOf, plans, nodeCalls } = period
  const preprocessingUs = new Float64Array(serverUs.length)
  const replyUs = new Float64Array(serverUs.length)
  const endUs = new Float64Array(mostNodes(plans))
  for (let call = 0; call < serverUs.length; call++) {
    const first = childOffsets[call]!
    const count = childOffsets[call + 1]! - first
    const plan = plans[planOf[call]!]!
    for (let node = 0; node < plan.nodes; node++) {
      const child = nodeCalls[first + node]!
      endUs[node] = offsetUs[child]! + latencyUs[child]!
    }
    for (let node = 0; node < count; node++) {
      const child = nodeCalls[first + node]!
      preprocessingUs[child] =
        offsetUs[child]! -
        (node < plan.nodes
          ? setEnd(plan, plan.waitsFor[node]!, endUs)
          : lastOverBy(endUs, plan.nodes, offsetUs[child]! + slackUs))
    }
    replyUs[call] = serverUs[call]! - setEnd(plan, plan.replyWaitsFor, endUs)
  }
  return { preprocessingUs, replyUs }
}

/** Returns the latest of the first `nodes` ends that is not after `byUs`; 0, the caller's start, if none is. */
function lastOverBy(endUs: Float64Array, nodes: number, byUs: number): number {
  let last = 0
  for (let node = 0; node < nodes; node++) {
    if (endUs[node]! <= byUs && endUs[node]! > last) last = endUs[node]!
  }
  return last
}
