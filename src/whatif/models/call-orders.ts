// Over every call of both periods: the loops index with `!`.

import type { CallPaths } from '../calls/call-paths.ts'
import type { CallForest, IndexedCalls } from '../calls/index-calls.ts'
import { observedPrecedence, type PrecedenceBits, renumbered } from './precedence-bits.ts'

/** Calls that wait for more children are not compared with others: pairs grow with their square. */
const MAX_NODES = 256

/**
 * One way in which calls to something ran: which children they waited for and in what order these
 * ran, as far as one call shows it (its maximal model). Thousands of calls share few of them.
 */
export interface CallOrder {
  /** What was called: a name of `CallPaths`. */
  readonly name: number
  /** The same number for the same name and nodes, in all periods. */
  readonly key: number
  /** What the awaited children are, ascending; a name that comes twice is numbered by start. */
  readonly nodes: readonly number[]
  /** Which node came before which; `null` for more than 256 nodes. */
  readonly bits: PrecedenceBits | null
}

/** The observed orders of one period's calls. */
export interface PeriodOrders {
  /** Number of each call's order. */
  readonly orderOf: Uint32Array
  /**
   * The calls of every caller as `CallForest.childOffsets` has them: first those it waits for, in
   * the order of its nodes, then the others by start.
   */
  readonly nodeCalls: Uint32Array
}

/** All orders that occur in some periods, each once, and which call has which. */
interface CallOrders {
  readonly orders: readonly CallOrder[]
  readonly periods: readonly PeriodOrders[]
}

/**
 * Finds out how every call ran. A call waits for a child that is over by its reply, give or take
 * `slackUs`, or the millisecond to which starts of one of the two were cut.
 */
export function findCallOrders(
  { paths, forests, resolutionUs }: IndexedCalls,
  slackUs: number,
): CallOrders {
  const finder = new OrderFinder(paths, resolutionUs, slackUs)
  const periods = forests.map((forest) => finder.add(forest))
  return { orders: finder.orders, periods }
}

class OrderFinder {
  readonly orders: CallOrder[] = []
  readonly #paths: CallPaths
  readonly #resolutionUs: Float64Array
  readonly #slackUs: number
  readonly #keys = new Map<string, number>()
  readonly #known = new Map<string, number>()
  readonly #leaves = new Map<number, number>()

  constructor(paths: CallPaths, resolutionUs: Float64Array, slackUs: number) {
    this.#paths = paths
    this.#resolutionUs = resolutionUs
    this.#slackUs = slackUs
  }

  add(forest: CallForest): PeriodOrders {
    const { childOffsets, children, path, offsetUs, latencyUs } = forest
    const orderOf = new Uint32Array(path.length)
    const nodeCalls = new Uint32Array(children.length)
    const awaited: number[] = []
    for (let call = 0; call < orderOf.length; call++) {
      const first = childOffsets[call]!
      const end = childOffsets[call + 1]!
      const name = this.#paths.name(path[call]!)
      awaited.length = 0
      for (let at = first; at < end; at++) {
        if (this.#waits(forest, call, children[at]!)) awaited.push(children[at]!)
      }
      let other = first + awaited.length
      if (other < end) {
        const set = new Set(awaited)
        for (let at = first; at < end; at++) {
          if (!set.has(children[at]!)) nodeCalls[other++] = children[at]!
        }
      }
      if (awaited.length === 0) {
        orderOf[call] = this.#leaf(name)
        continue
      }
      const names = awaited.map((child) => this.#paths.name(path[child]!))
      // Sorting is stable: of several calls to one thing the first to start stays first.
      const listing = names.map((_, i) => i).sort((a, b) => names[a]! - names[b]!)
      listing.forEach((i, place) => {
        nodeCalls[first + place] = awaited[i]!
      })
      const nodes = listing.map((i) => names[i]!)
      if (awaited.length > MAX_NODES) {
        orderOf[call] =
          this.orders.push({ name, key: this.#key(name, nodes), nodes, bits: null }) - 1
        continue
      }
      const startUs = awaited.map((child) => offsetUs[child]!)
      const endUs = awaited.map((child) => offsetUs[child]! + latencyUs[child]!)
      const placeOf = new Uint32Array(listing.length)
      listing.forEach((i, place) => {
        placeOf[i] = place
      })
      const bits = observedPrecedence(startUs, endUs, this.#slackUs)
      orderOf[call] = this.#intern(name, nodes, renumbered(bits, placeOf))
    }
    return { orderOf, nodeCalls }
  }

  /** Whether the reply of `caller` waits for `child`, by this call's own times. */
  #waits(forest: CallForest, caller: number, child: number): boolean {
    if (forest.detached[child] === 1) return false
    const { path, offsetUs, latencyUs, serverUs, clientSpan } = forest
    const callerUs = this.#resolutionUs[this.#paths.name(path[caller]!)]!
    const own = clientSpan[child]! < 0
    const childUs = own ? this.#resolutionUs[this.#paths.name(path[child]!)]! : 0
    const slackUs = Math.max(this.#slackUs, callerUs, childUs)
    return offsetUs[child]! + latencyUs[child]! <= serverUs[caller]! + slackUs
  }

  #leaf(name: number): number {
    let order = this.#leaves.get(name)
    if (order === undefined) {
      order = this.#intern(name, [], new Uint32Array(0))
      this.#leaves.set(name, order)
    }
    return order
  }

  #intern(name: number, nodes: readonly number[], bits: PrecedenceBits): number {
    const key = this.#key(name, nodes)
    // One or no node has no order.
    const text = nodes.length < 2 ? `${key}` : `${key}|${bits.join()}`
    let order = this.#known.get(text)
    if (order === undefined) {
      order = this.orders.push({ name, key, nodes, bits }) - 1
      this.#known.set(text, order)
    }
    return order
  }

  #key(name: number, nodes: readonly number[]): number {
    const text = `${name}|${nodes.join()}`
    let key = this.#keys.get(text)
    if (key === undefined) {
      key = this.#keys.size
      this.#keys.set(text, key)
    }
    return key
  }
}

/** Direct predecessors of nodes; nodes that wait for the same ones share one list. */
interface WideOrder {
  readonly predecessors: readonly (readonly number[])[]
  readonly returnPredecessors: readonly number[]
  /** Nodes by start. */
  readonly order: Uint32Array
}

/**
 * The observed order of very many calls, in O(n log n) and the size of the lists that differ.
 *
 * Of all calls that are over before one begins, let k be the one that begins last: exactly those
 * precede directly that are not over before k begins. As later calls begin, so does k.
 *
 * Pairs that only a chain of overlaps within the slack would imply are kept.
 */
export function wideOrder(
  startUs: ArrayLike<number>,
  endUs: ArrayLike<number>,
  slackUs: number,
): WideOrder {
  const n = startUs.length
  const rows = Uint32Array.from({ length: n }, (_, i) => i)
  const order = rows
    .slice()
    .sort((a, b) => startUs[a]! - startUs[b]! || endUs[a]! - endUs[b]! || a - b)
  const placeOf = new Uint32Array(n)
  order.forEach((node, place) => {
    placeOf[node] = place
  })
  const byEnd = rows.slice().sort((a, b) => endUs[a]! - endUs[b]! || placeOf[a]! - placeOf[b]!)
  const predecessors: (readonly number[])[] = new Array(n)
  const followed = new Uint8Array(n)
  let frontier: readonly number[] = []
  /** Over within the slack, but not earlier in order: hardly any. */
  let held: number[] = []
  let over = 0
  let lastBegun = -1
  order.forEach((node, place) => {
    const beginsUs = startUs[node]! + slackUs
    while (over < n && endUs[byEnd[over]!]! <= beginsUs) held.push(byEnd[over++]!)
    if (held.length > 0) {
      const done = held.filter((other) => placeOf[other]! < place)
      held = held.filter((other) => placeOf[other]! >= place)
      if (done.length > 0) {
        for (const other of done) lastBegun = Math.max(lastBegun, placeOf[other]!)
        const lastBeginsUs = startUs[order[lastBegun]!]! + slackUs
        frontier = [...frontier, ...done].filter(
          (other) => placeOf[other]! >= lastBegun || endUs[other]! > lastBeginsUs,
        )
        for (const other of done) followed[other] = 1
      }
    }
    predecessors[node] = frontier
  })
  const returnPredecessors = Array.from(rows).filter((node) => followed[node] === 0)
  return { predecessors, returnPredecessors, order }
}
