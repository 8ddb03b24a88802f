// Over every call of both periods: the loops index with `!`.
import type { CallForest, IndexedCalls } from '../../calls/call-forest.ts'
import { getOrInsert } from '../../core/entries.ts'
import { InternalError } from '../../core/errors.ts'
import { memoized } from '../../core/remembered.ts'
import {
  closedPrecedence,
  Precedence,
  type Predecessors,
  topologicalOrder,
} from '../../flows/precedence.ts'

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
      const observed = observedPrecedence(startUs, endUs, slackUs)
      return addOrder(name, nodes, observed.renumbered(placeOf))
    })
    return { orderOf, nodeCalls }
  })
  return { orders, periods }
}

/**
 * Returns the precedence of calls that are sorted by start, then end, closed under transitivity: one comes
 * before a later one if it is over by the latter's start, give or take `slackUs`. Only later ones in
 * this order can follow, so the slack makes no circles. O(n² + n³/32).
 */
export function observedPrecedence(
  startUs: ArrayLike<number>,
  endUs: ArrayLike<number>,
  slackUs: number,
): Precedence {
  const order = Uint32Array.from(startUs, (_, i) => i)
  return closedPrecedence(order, (a, b) => endUs[a]! <= startUs[b]! + slackUs).precedence
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
  readonly order: ArrayLike<number>
  readonly predecessors: Predecessors
  readonly returnPredecessors: readonly number[]
}

/** Returns the graph of a precedence that is closed and free of circles; predecessors ascend. */
export function waitGraph(precedence: Precedence): WaitGraph {
  const has = (a: number, b: number) => precedence.has(a, b)
  const order = topologicalOrder(precedence.nodes, has)
  if (order === null)
    throw new InternalError('the calls of a model wait for each other in a circle')
  const predecessors = closedPrecedence(order, has).predecessors.map((before) =>
    before.toSorted((a, b) => a - b),
  )
  return { order, predecessors, returnPredecessors: precedence.last() }
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
  const nodes = order.length
  return { nodes, order: Uint32Array.from(order), waitsFor, replyWaitsFor, setOffsets, setNodes }
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
