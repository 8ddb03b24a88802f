// Runs over every affected call of every what-if: the loops index with `!`.
import type { CallForest } from '../calls/call-forest.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import type { PeriodPlans } from '../models/own-times.ts'
import { setEnd, type WaitPlan } from '../models/wait-plan.ts'
import type { LatencyChange } from './latency-change.ts'
import { StagedChanges } from './staged-changes.ts'

/** When every call begins and how long it takes after some changes, µs; columns as of `CallForest`. */
export interface RecomputedCalls {
  readonly offsetUs: Float64Array
  readonly latencyUs: Float64Array
  readonly serverUs: Float64Array
}

/**
 * One period's requests, ready to be recomputed after any change to their calls.
 *
 * A call begins its preprocessing time after the last of the calls it waits for has ended, or after
 * its caller began; a reply likewise. Everything is computed as shifts of what was recorded: without
 * a change, every shift is 0 and every time exactly the recorded one. No duration becomes negative:
 * what would is 0.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3; `spec.md` §5.
 *
 * @example
 * const model = new RequestModel(learnExecutionModels(before), 0)
 * model.responseTimes([]).length // 5000
 */
export class RequestModel {
  readonly models: ExecutionModels
  readonly period: 0 | 1
  readonly forest: CallForest
  /** Per call: from the end of the last call it waits for (or its caller's start) to its start, µs. */
  readonly preprocessingUs: Float64Array
  /** Per call: from the end of the last call it waits for (or its own start) to its reply, µs. */
  readonly replyUs: Float64Array
  readonly #plans: PeriodPlans
  /** Recorded response times, µs. */
  readonly #recordedUs: Float64Array
  readonly #staged: StagedChanges
  // By call; 0 at rest.
  readonly #latencyShiftUs: Float64Array
  readonly #serverShiftUs: Float64Array
  // By node, and by set, of the call at hand.
  #endUs = new Float64Array(64)
  #newEndUs = new Float64Array(64)
  #setShiftUs = new Float64Array(64)

  constructor(models: ExecutionModels, period: 0 | 1) {
    const learned = models.period(period)
    const ownTimes = models.ownTimes(period)
    const { forest } = learned
    const calls = forest.path.length
    this.models = models
    this.period = period
    this.forest = forest
    this.preprocessingUs = ownTimes.preprocessingUs
    this.replyUs = ownTimes.replyUs
    this.#plans = learned
    this.#recordedUs = Float64Array.from(
      forest.requestTrace,
      (_, request) => forest.latencyUs[forest.requestOffsets[request]!]!,
    )
    this.#staged = new StagedChanges(forest, ownTimes)
    this.#latencyShiftUs = new Float64Array(calls)
    this.#serverShiftUs = new Float64Array(calls)
  }

  /**
   * The response time of every request after the changes, µs. Where several change the same of one
   * call, the last one counts, unless it says what it makes of the others (`newTime`). Only changed calls and those above them are computed.
   *
   * @throws OptionError for calls that are not ascending rows of this period, arrays that are not
   *   parallel to them, and infinite times.
   */
  responseTimes(changes: readonly LatencyChange[]): Float64Array {
    const { parent, request } = this.forest
    const timesUs = this.#recordedUs.slice()
    this.#compute(changes, null, (call) => {
      if (parent[call]! < 0) timesUs[request[call]!]! += this.#latencyShiftUs[call]!
    })
    return timesUs
  }

  /**
   * Every call after the changes, for a look at single requests; errors as of `responseTimes`. Below
   * a call whose server processing was given, offsets follow the calls that were made, not it.
   */
  calls(changes: readonly LatencyChange[]): RecomputedCalls {
    const offsetUs = this.forest.offsetUs.slice()
    const latencyUs = this.forest.latencyUs.slice()
    const serverUs = this.forest.serverUs.slice()
    this.#compute(changes, offsetUs, (call) => {
      latencyUs[call]! += this.#latencyShiftUs[call]!
      serverUs[call]! += this.#serverShiftUs[call]!
    })
    return { offsetUs, latencyUs, serverUs }
  }

  /** Computes all affected calls, callees first, and shows each to `visit`. */
  #compute(
    changes: readonly LatencyChange[],
    offsetUs: Float64Array | null,
    visit: (call: number) => void,
  ): void {
    const staged = this.#staged
    try {
      staged.stage(changes)
      for (let call = staged.last; call >= staged.first; call--) {
        if (staged.affected[call] === 0) continue
        this.#recompute(call, offsetUs)
        visit(call)
      }
    } finally {
      staged.rest((call) => {
        this.#latencyShiftUs[call] = 0
        this.#serverShiftUs[call] = 0
      })
    }
  }

  /** The shifts of one call, those of all that it calls being known. */
  #recompute(call: number, offsetUs: Float64Array | null): void {
    const { latencyUs, serverUs } = this.forest
    const staged = this.#staged
    const given = staged.serverUs[call]!
    const isGiven = !Number.isNaN(given)
    const childrenShiftUs = isGiven && offsetUs === null ? 0 : this.#shiftChildren(call, offsetUs)
    const ownShiftUs = childrenShiftUs + staged.replyShiftUs[call]!
    let shiftUs = isGiven ? given - serverUs[call]! : ownShiftUs
    for (const newTime of staged.serverTimes(call) ?? []) {
      shiftUs = newTime(Math.max(serverUs[call]! + shiftUs, 0)) - serverUs[call]!
    }
    this.#serverShiftUs[call] = Math.max(shiftUs, -serverUs[call]!)
    this.#latencyShiftUs[call] = Math.max(
      this.#serverShiftUs[call]! + staged.networkShiftUs[call]!,
      -latencyUs[call]!,
    )
  }

  /** By how much the last call that the reply waits for ends later. */
  #shiftChildren(call: number, offsetUs: Float64Array | null): number {
    const { childOffsets, offsetUs: recordedUs, latencyUs } = this.forest
    const { plans, planOf, nodeCalls } = this.#plans
    const latencyShiftUs = this.#latencyShiftUs
    const { preprocessingShiftUs } = this.#staged
    const first = childOffsets[call]!
    const plan = plans[planOf[call]!]!
    this.#reserve(plan)
    const [endUs, newEndUs, setShiftUs] = [this.#endUs, this.#newEndUs, this.#setShiftUs]
    setShiftUs.fill(Number.NaN, 0, plan.setOffsets.length - 1)
    for (let at = 0; at < plan.nodes; at++) {
      const child = nodeCalls[first + at]!
      endUs[at] = recordedUs[child]! + latencyUs[child]!
    }
    const order = this.#staged.order(call)
    if (order !== undefined) return this.#reorderChildren(call, { plan, order, offsetUs })
    for (let at = 0; at < plan.nodes; at++) {
      const node = plan.order[at]!
      const child = nodeCalls[first + node]!
      const startShiftUs = this.#setShift(plan, plan.waitsFor[node]!) + preprocessingShiftUs[child]!
      newEndUs[node] = endUs[node]! + (startShiftUs + latencyShiftUs[child]!)
      if (offsetUs !== null) offsetUs[child] = recordedUs[child]! + startShiftUs
    }
    if (offsetUs !== null) this.#shiftUnawaited(call, plan, offsetUs)
    return this.#setShift(plan, plan.replyWaitsFor)
  }

  /** The same in another order than the recorded one: all starts are computed anew. */
  #reorderChildren(
    call: number,
    { plan, order, offsetUs }: { plan: WaitPlan; order: WaitPlan; offsetUs: Float64Array | null },
  ): number {
    const { childOffsets, latencyUs } = this.forest
    const { preprocessingShiftUs } = this.#staged
    const first = childOffsets[call]!
    const newEndUs = this.#newEndUs
    const lastEnd = (set: number) => (set < 0 ? 0 : setEnd(order, set, newEndUs))
    for (const node of order.order) {
      const child = this.#plans.nodeCalls[first + node]!
      const ownUs = this.preprocessingUs[child]! + preprocessingShiftUs[child]!
      const startUs = lastEnd(order.waitsFor[node]!) + ownUs
      newEndUs[node] = startUs + latencyUs[child]! + this.#latencyShiftUs[child]!
      if (offsetUs !== null) offsetUs[child] = startUs
    }
    if (offsetUs !== null) this.#shiftUnawaited(call, plan, offsetUs)
    const recordedUs = plan.replyWaitsFor < 0 ? 0 : setEnd(plan, plan.replyWaitsFor, this.#endUs)
    return lastEnd(order.replyWaitsFor) - recordedUs
  }

  /** By how much the last of a set ends later; asked for only when all of them are known. */
  #setShift(plan: WaitPlan, set: number): number {
    if (set < 0) return 0
    const known = this.#setShiftUs[set]!
    if (!Number.isNaN(known)) return known
    const shiftUs = setEnd(plan, set, this.#newEndUs) - setEnd(plan, set, this.#endUs)
    this.#setShiftUs[set] = shiftUs
    return shiftUs
  }

  /** Calls that nobody waits for begin when they did after the last that was over by then. */
  #shiftUnawaited(call: number, plan: WaitPlan, offsetUs: Float64Array): void {
    const { childOffsets } = this.forest
    const { slackUs } = this.models.options
    const first = childOffsets[call]!
    for (let at = first + plan.nodes; at < childOffsets[call + 1]!; at++) {
      const child = this.#plans.nodeCalls[at]!
      const recordedUs = this.forest.offsetUs[child]!
      let lastUs = 0
      let newLastUs = 0
      for (let node = 0; node < plan.nodes; node++) {
        if (this.#endUs[node]! > recordedUs + slackUs) continue
        lastUs = Math.max(lastUs, this.#endUs[node]!)
        newLastUs = Math.max(newLastUs, this.#newEndUs[node]!)
      }
      offsetUs[child] =
        recordedUs + (newLastUs - lastUs + this.#staged.preprocessingShiftUs[child]!)
    }
  }

  #reserve({ nodes, setOffsets }: WaitPlan): void {
    if (nodes > this.#endUs.length) {
      this.#endUs = new Float64Array(2 * nodes)
      this.#newEndUs = new Float64Array(2 * nodes)
    }
    if (setOffsets.length > this.#setShiftUs.length) {
      this.#setShiftUs = new Float64Array(2 * setOffsets.length)
    }
  }
}
