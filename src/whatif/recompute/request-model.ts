// Runs over every affected call of every what-if: the loops index with `!`.

import type { CallForest } from '../../calls/call-forest.ts'
import { growingUint32 } from '../../traces/growing-columns.ts'
import {
  mostNodes,
  type OwnTimes,
  type PeriodPlans,
  setEnd,
  type WaitPlan,
} from '../models/call-orders.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import type { WeighedLatencies } from './latency-profile.ts'

/**
 * Change of some calls in a what-if scenario; everything else is as recorded or follows from it. The arrays are
 * parallel to `calls`; an omitted array or a `NaN` changes nothing.
 */
export interface LatencyChange {
  /** Rows of calls of one period, ascending, each once. */
  readonly calls: Uint32Array
  /** New server processing, µs: final, whatever changes below the call. */
  readonly serverUs?: Float64Array
  /** New time between client and server, µs: `latencyUs` less `serverUs`. */
  readonly networkUs?: Float64Array
  /** New time from the end of the last call it waits for (or its caller's start) to its start, µs. */
  readonly preprocessingUs?: Float64Array
  /** New time from the end of the last call it waits for (or its own start) to its reply, µs. */
  readonly replyUs?: Float64Array
  /**
   * Computes the times above from the recorded ones. If several changes are made at once, it gets the results of
   * earlier changes to the same time, and the server processing that results from changes below the call.
   */
  readonly newTime?: (us: number) => number
  /**
   * Order in which each call makes its own calls, null for the recorded one. The preprocessing times of these, and the
   * reply time, then count from the calls they wait for in the new order.
   */
  readonly orders?: readonly (WaitPlan | null)[]
}

/** Effect of a scenario on one period's requests. */
export interface ScenarioEffect {
  /** A call in several of them takes each of its times from the last that gives one. */
  readonly changes: readonly LatencyChange[]
  /** New weight of each request; null where weights stay. */
  readonly weight: Float64Array | null
}

/**
 * One period's requests, ready to be recomputed after any change to their calls.
 *
 * A call begins its preprocessing time after the last of the calls it waits for has ended, or after its caller began; a
 * reply likewise. Everything is computed as shifts of the recorded times: without a change, every shift is 0 and every
 * time exactly the recorded one. A duration that would be negative becomes 0.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3.
 *
 * @example
 * const model = new RequestModel(learnExecutionModels(before), 0)
 * model.responseTimes([]).length // 5000
 */
export class RequestModel {
  readonly models: ExecutionModels
  readonly period: 0 | 1
  readonly forest: CallForest
  readonly recorded: WeighedLatencies
  /** Per call: from the end of the last call it waits for (or its caller's start) to its start, µs. */
  readonly preprocessingUs: Float64Array
  /** Per call: from the end of the last call it waits for (or its own start) to its reply, µs. */
  readonly replyUs: Float64Array
  readonly #plans: PeriodPlans
  readonly #staged: StagedChanges
  /** By call; 0 at rest. */
  readonly #latencyShiftUs: Float64Array
  // By node, and by set, of the call at hand.
  readonly #endUs: Float64Array
  readonly #newEndUs: Float64Array
  readonly #setShiftUs: Float64Array

  constructor(models: ExecutionModels, period: 0 | 1) {
    const learned = models.period(period)
    const ownTimes = models.ownTimes(period)
    const { forest, plans } = learned
    const { requestOffsets, requestTrace, latencyUs, weight } = forest
    this.models = models
    this.period = period
    this.forest = forest
    this.preprocessingUs = ownTimes.preprocessingUs
    this.replyUs = ownTimes.replyUs
    this.recorded = {
      latencyUs: Float64Array.from(requestTrace, (_, i) => latencyUs[requestOffsets[i]!]!),
      weight,
    }
    this.#plans = learned
    this.#staged = new StagedChanges(forest, ownTimes)
    this.#latencyShiftUs = new Float64Array(latencyUs.length)
    this.#endUs = new Float64Array(mostNodes(plans))
    this.#newEndUs = this.#endUs.slice()
    const mostSets = plans.reduce((most, { setOffsets }) => Math.max(most, setOffsets.length), 0)
    this.#setShiftUs = new Float64Array(mostSets)
  }

  /** Predicts all requests under a scenario. */
  after({ changes, weight }: ScenarioEffect): WeighedLatencies {
    const { recorded } = this
    const latencyUs = changes.length === 0 ? recorded.latencyUs : this.responseTimes(changes)
    return { latencyUs, weight: weight ?? recorded.weight }
  }

  /**
   * Returns the response time of every request after the changes, in µs. If several change the same time of one call,
   * the last one counts, unless it builds on the others (`newTime`). Only changed calls and those above them are
   * computed.
   */
  responseTimes(changes: readonly LatencyChange[]): Float64Array {
    const { parent, request } = this.forest
    const timesUs = this.recorded.latencyUs.slice()
    this.shifts(changes, (call, shiftUs) => {
      if (parent[call]! < 0) timesUs[request[call]!]! += shiftUs
    })
    return timesUs
  }

  /** Shows `visit` every call that the changes affect, callees first, and by how much it takes longer, µs. */
  shifts(changes: readonly LatencyChange[], visit: (call: number, shiftUs: number) => void): void {
    const staged = this.#staged
    try {
      const { first, last } = staged.stage(changes)
      // Callees first.
      for (let call = last; call >= first; call--) {
        if (staged.affected[call] === 0) continue
        const shiftUs = this.#shift(call)
        this.#latencyShiftUs[call] = shiftUs
        visit(call, shiftUs)
      }
    } finally {
      staged.rest((call) => {
        this.#latencyShiftUs[call] = 0
      })
    }
  }

  /** Returns how much longer one call takes, given the shifts of all its calls. */
  #shift(call: number): number {
    const { latencyUs, serverUs } = this.forest
    const staged = this.#staged
    const given = staged.serverUs[call]!
    let shiftUs = Number.isNaN(given)
      ? this.#shiftChildren(call) + staged.shiftUs.replyUs[call]!
      : given - serverUs[call]!
    for (const newTime of staged.serverTimes.get(call) ?? []) {
      shiftUs = newTime(Math.max(serverUs[call]! + shiftUs, 0)) - serverUs[call]!
    }
    const serverShiftUs = Math.max(shiftUs, -serverUs[call]!)
    return Math.max(serverShiftUs + staged.shiftUs.networkUs[call]!, -latencyUs[call]!)
  }

  /** Returns how much later the last call that the reply waits for ends. */
  #shiftChildren(call: number): number {
    const { childOffsets, offsetUs: recordedUs, latencyUs } = this.forest
    const { plans, planOf, nodeCalls } = this.#plans
    const { preprocessingUs: preprocessingShiftUs } = this.#staged.shiftUs
    const first = childOffsets[call]!
    const plan = plans[planOf[call]!]!
    const [endUs, newEndUs] = [this.#endUs, this.#newEndUs]
    for (let at = 0; at < plan.nodes; at++) {
      const child = nodeCalls[first + at]!
      endUs[at] = recordedUs[child]! + latencyUs[child]!
    }
    const order = this.#staged.orders.get(call)
    if (order !== undefined) return this.#reorderChildren(call, plan, order)
    this.#setShiftUs.fill(Number.NaN, 0, plan.setOffsets.length - 1)
    for (const node of plan.order) {
      const child = nodeCalls[first + node]!
      const startShiftUs = this.#setShift(plan, plan.waitsFor[node]!) + preprocessingShiftUs[child]!
      newEndUs[node] = endUs[node]! + (startShiftUs + this.#latencyShiftUs[child]!)
    }
    return this.#setShift(plan, plan.replyWaitsFor)
  }

  /** Returns the same in another order than the recorded one: all starts are computed anew. */
  #reorderChildren(call: number, plan: WaitPlan, order: WaitPlan): number {
    const { childOffsets, latencyUs } = this.forest
    const { preprocessingUs: preprocessingShiftUs } = this.#staged.shiftUs
    const newEndUs = this.#newEndUs
    for (const node of order.order) {
      const child = this.#plans.nodeCalls[childOffsets[call]! + node]!
      const ownUs = this.preprocessingUs[child]! + preprocessingShiftUs[child]!
      const startUs = setEnd(order, order.waitsFor[node]!, newEndUs) + ownUs
      newEndUs[node] = startUs + latencyUs[child]! + this.#latencyShiftUs[child]!
    }
    const recordedUs = setEnd(plan, plan.replyWaitsFor, this.#endUs)
    return setEnd(order, order.replyWaitsFor, newEndUs) - recordedUs
  }

  /** Returns how much later the last of a set ends; all of them must be known. */
  #setShift(plan: WaitPlan, set: number): number {
    if (set < 0) return 0
    const known = this.#setShiftUs[set]!
    if (!Number.isNaN(known)) return known
    const shiftUs = setEnd(plan, set, this.#newEndUs) - setEnd(plan, set, this.#endUs)
    this.#setShiftUs[set] = shiftUs
    return shiftUs
  }
}

/** Counts the requests whose response time or weight differs, by the requests that they stood for. */
export function countTouched(before: WeighedLatencies, after: WeighedLatencies): number {
  let touched = 0
  after.latencyUs.forEach((us, i) => {
    if (us !== before.latencyUs[i] || after.weight[i] !== before.weight[i]) {
      touched += before.weight[i]!
    }
  })
  return Math.round(touched)
}

type NewTime = (us: number) => number

/** Times of a call that are shifted, whatever changes below it. */
const SHIFTED = ['networkUs', 'preprocessingUs', 'replyUs'] as const

/** Shifts of single calls from staged changes: by row of the forest, 0 at rest. */
class StagedChanges {
  /** 1 for changed calls and those above them. */
  readonly affected: Uint8Array
  readonly shiftUs: Readonly<Record<(typeof SHIFTED)[number], Float64Array>>
  /** New server time whatever is below the call; NaN where none is given. */
  readonly serverUs: Float64Array
  /** Changes to apply to the server time of a call that results from those below it. */
  readonly serverTimes = new Map<number, NewTime[]>()
  /** Order in which a call makes its own calls, if it differs from the recorded one. */
  readonly orders = new Map<number, WaitPlan>()
  readonly #forest: CallForest
  readonly #recordedUs: Readonly<Record<(typeof SHIFTED)[number], (call: number) => number>>
  readonly #touched = growingUint32()

  constructor(forest: CallForest, ownTimes: OwnTimes) {
    const calls = forest.path.length
    const { latencyUs, serverUs } = forest
    const { preprocessingUs, replyUs } = ownTimes
    this.#forest = forest
    this.#recordedUs = {
      networkUs: (call) => latencyUs[call]! - serverUs[call]!,
      preprocessingUs: (call) => preprocessingUs[call]!,
      replyUs: (call) => replyUs[call]!,
    }
    this.affected = new Uint8Array(calls)
    this.shiftUs = {
      networkUs: new Float64Array(calls),
      preprocessingUs: new Float64Array(calls),
      replyUs: new Float64Array(calls),
    }
    this.serverUs = new Float64Array(calls).fill(Number.NaN)
  }

  /** Returns the first and the last row that is affected. */
  stage(changes: readonly LatencyChange[]): { first: number; last: number } {
    // A single change has already applied its `newTime` to the recorded times.
    for (const change of changes)
      this.#stage(change, changes.length > 1 ? change.newTime : undefined)
    const { values, length } = this.#touched
    let first = this.affected.length
    let last = -1
    for (let i = 0; i < length; i++) {
      first = Math.min(first, values[i]!)
      last = Math.max(last, values[i]!)
    }
    return { first, last }
  }

  /** Forgets all changes; `visit` is shown every call that was affected. */
  rest(visit: (call: number) => void): void {
    const { values, length } = this.#touched
    for (let i = 0; i < length; i++) {
      const call = values[i]!
      this.affected[call] = 0
      for (const time of SHIFTED) this.shiftUs[time][call] = 0
      this.serverUs[call] = Number.NaN
      visit(call)
    }
    this.#touched.length = 0
    this.serverTimes.clear()
    this.orders.clear()
  }

  #stage(change: LatencyChange, again: NewTime | undefined): void {
    const { calls, serverUs, orders } = change
    for (const call of calls) this.#touch(call)
    for (const time of SHIFTED) {
      const [shiftUs, recordedUs] = [this.shiftUs[time], this.#recordedUs[time]]
      change[time]?.forEach((us, i) => {
        const call = calls[i]!
        const ownUs = recordedUs(call)
        if (Number.isNaN(us)) return
        shiftUs[call] = (again === undefined ? us : again(ownUs + shiftUs[call]!)) - ownUs
      })
    }
    calls.forEach((call, i) => {
      const order = orders?.[i] ?? null
      if (order !== null) this.orders.set(call, order)
      if (serverUs === undefined || Number.isNaN(serverUs[i])) return
      if (again !== undefined) {
        this.serverTimes.set(call, [...(this.serverTimes.get(call) ?? []), again])
      } else {
        this.serverUs[call] = serverUs[i]!
        this.serverTimes.delete(call)
      }
    })
  }

  #touch(call: number): void {
    const { parent } = this.#forest
    const { affected } = this
    for (let at = call; at >= 0 && affected[at] === 0; at = parent[at]!) {
      affected[at] = 1
      this.#touched.push(at)
    }
  }
}
