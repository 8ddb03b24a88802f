// Over every call of both periods: the loops index with `!`.

import type { CallForest, IndexedCalls } from '../../calls/call-forest.ts'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import { intervalPredecessors } from '../../flows/precedence.ts'
import { Precedence } from './precedence.ts'
import type { WaitGraph } from './wait-plan.ts'

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
  /** Which node came before which, closed; `null` for more than 256 nodes. */
  readonly precedence: Precedence | null
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
 * Finds out how every call ran: all orders that occur, each once, and which call has which. A call waits for a child that is over by its reply, give or take
 * `slackUs`, or the millisecond to which starts of one of the two were cut.
 */
export function findCallOrders(
  { paths, forests, resolutionUs }: IndexedCalls,
  slackUs: number,
): { readonly orders: readonly CallOrder[]; readonly periods: readonly PeriodOrders[] } {
  const orders: CallOrder[] = []
  const keys = new Map<string, number>()
  const known = new Map<string, number>()

  const addOrder = (name: number, nodes: readonly number[], precedence: Precedence | null) => {
    const listing = `${name}|${nodes.join()}`
    const key = getOrInsert(keys, listing, () => keys.size)
    if (precedence === null) return orders.push({ name, key, nodes, precedence }) - 1
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
      const isAwaited = own.map((child) => (waits(forest, call, child) ? 1 : 0))
      const awaited = own.filter((_, i) => isAwaited[i] === 1)
      nodeCalls.set(
        own.filter((_, i) => isAwaited[i] === 0),
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
      if (nodes.length > MAX_NODES) return addOrder(name, nodes, null)
      const startUs = Float64Array.from(awaited, (child) => offsetUs[child]!)
      const endUs = startUs.map((us, i) => us + latencyUs[awaited[i]!]!)
      const observed = Precedence.observed(startUs, endUs, slackUs)
      return addOrder(name, nodes, observed.renumbered(placeOf))
    })
    return { orderOf, nodeCalls }
  })
  return { orders, periods }
}

/**
 * The observed order of very many calls, in O(n log n) and the size of the lists that differ. Nodes
 * that wait for the same ones share one list.
 *
 * Pairs that only a chain of overlaps within the slack would imply are kept.
 */
export function wideOrder(
  startUs: ArrayLike<number>,
  endUs: ArrayLike<number>,
  slackUs: number,
): WaitGraph {
  const rows = Array.from(startUs, (_, i) => i)
  const order = Uint32Array.from(rows).sort(
    (a, b) => startUs[a]! - startUs[b]! || endUs[a]! - endUs[b]! || a - b,
  )
  const sorted = (times: ArrayLike<number>) => Float64Array.from(order, (node) => times[node]!)
  const places = { startUs: sorted(startUs), endUs: sorted(endUs), slackUs }
  const followed = new Set<number>()
  const lists = new Map<readonly number[], readonly number[]>()
  const predecessors: (readonly number[])[] = new Array(rows.length)
  intervalPredecessors(places).forEach((list, place) => {
    const nodes = lists.get(list) ?? list.map((other) => order[other]!)
    if (!lists.has(list)) for (const node of nodes) followed.add(node)
    lists.set(list, nodes)
    predecessors[order[place]!] = nodes
  })
  return { order, predecessors, returnPredecessors: rows.filter((node) => !followed.has(node)) }
}
