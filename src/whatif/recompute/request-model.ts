// Runs over every affected call of every what-if: the loops index with `!`.
import { growingUint32 } from '../../traces/growing-columns.ts'
import type { CallForest } from '../calls/index-calls.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import { type OwnTimes, type PeriodPlans, setEnd, type WaitPlan } from '../models/wait-plan.ts'
import { checkChange, type LatencyChange } from './latency-change.ts'

/** When every call begins and how long it takes after some changes, µs; columns as of `CallForest`. */
interface RecomputedCalls {
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

type NewTime = (us: number) => number

/** What some changes make of single calls: shifts by row of the forest, 0 at rest. */
class StagedChanges {
  /** 1 for changed calls and those above them. */
  readonly affected: Uint8Array
  readonly preprocessingShiftUs: Float64Array
  readonly replyShiftUs: Float64Array
  readonly networkShiftUs: Float64Array
  /** New server time whatever is below the call; NaN where none is given. */
  readonly serverUs: Float64Array
  /** Rows from the first affected to the last. */
  first = 0
  last = -1
  readonly #forest: CallForest
  readonly #ownTimes: OwnTimes
  readonly #touched = growingUint32()
  readonly #serverTimes = new Map<number, NewTime[]>()
  readonly #orders = new Map<number, WaitPlan>()

  constructor(forest: CallForest, ownTimes: OwnTimes) {
    const calls = forest.path.length
    this.#forest = forest
    this.#ownTimes = ownTimes
    this.affected = new Uint8Array(calls)
    this.preprocessingShiftUs = new Float64Array(calls)
    this.replyShiftUs = new Float64Array(calls)
    this.networkShiftUs = new Float64Array(calls)
    this.serverUs = new Float64Array(calls).fill(Number.NaN)
  }

  /** @throws OptionError as of `RequestModel.responseTimes` */
  stage(changes: readonly LatencyChange[]): void {
    // A change alone has made of the recorded times what it makes of them.
    for (const change of changes) this.#stage(change, changes.length > 1)
    this.first = this.affected.length
    this.last = -1
    const { values, length } = this.#touched
    for (let i = 0; i < length; i++) {
      const call = values[i]!
      if (call < this.first) this.first = call
      if (call > this.last) this.last = call
    }
  }

  /** What is to be made of the server time of a call that results from those below it. */
  serverTimes(call: number): readonly NewTime[] | undefined {
    return this.#serverTimes.size === 0 ? undefined : this.#serverTimes.get(call)
  }

  /** The order in which a call makes its own, where it is another than recorded. */
  order(call: number): WaitPlan | undefined {
    return this.#orders.size === 0 ? undefined : this.#orders.get(call)
  }

  /** Forgets all changes; `visit` is shown every call that was affected. */
  rest(visit: (call: number) => void): void {
    const { values, length } = this.#touched
    for (let i = 0; i < length; i++) {
      const call = values[i]!
      this.affected[call] = 0
      this.preprocessingShiftUs[call] = 0
      this.replyShiftUs[call] = 0
      this.networkShiftUs[call] = 0
      this.serverUs[call] = Number.NaN
      visit(call)
    }
    this.#touched.length = 0
    this.#serverTimes.clear()
    this.#orders.clear()
  }

  #stage(change: LatencyChange, several: boolean): void {
    const forest = this.#forest
    const { calls, serverUs, networkUs, preprocessingUs, replyUs, orders } = change
    const again = several ? change.newTime : undefined
    checkChange(change, forest.path.length)
    for (let i = 0; i < calls.length; i++) {
      const call = calls[i]!
      this.#touch(call)
      if (serverUs !== undefined && !Number.isNaN(serverUs[i])) {
        this.#stageServer(call, serverUs[i]!, again)
      }
      if (networkUs !== undefined && !Number.isNaN(networkUs[i])) {
        const recordedUs = forest.latencyUs[call]! - forest.serverUs[call]!
        shift(this.networkShiftUs, call, { recordedUs, newUs: networkUs[i]!, again })
      }
      if (preprocessingUs !== undefined && !Number.isNaN(preprocessingUs[i])) {
        const recordedUs = this.#ownTimes.preprocessingUs[call]!
        shift(this.preprocessingShiftUs, call, { recordedUs, newUs: preprocessingUs[i]!, again })
      }
      if (replyUs !== undefined && !Number.isNaN(replyUs[i])) {
        const recordedUs = this.#ownTimes.replyUs[call]!
        shift(this.replyShiftUs, call, { recordedUs, newUs: replyUs[i]!, again })
      }
      const order = orders?.[i] ?? null
      if (order !== null) this.#orders.set(call, order)
    }
  }

  #stageServer(call: number, newUs: number, again: NewTime | undefined): void {
    if (again === undefined) {
      this.serverUs[call] = newUs
      this.#serverTimes.delete(call)
      return
    }
    const known = this.#serverTimes.get(call)
    if (known === undefined) this.#serverTimes.set(call, [again])
    else known.push(again)
  }

  /** Marks a call and those above it. */
  #touch(call: number): void {
    const { parent } = this.#forest
    const { affected } = this
    for (let at = call; at >= 0 && affected[at] === 0; at = parent[at]!) {
      affected[at] = 1
      this.#touched.push(at)
    }
  }
}

interface Shift {
  readonly recordedUs: number
  readonly newUs: number
  readonly again: NewTime | undefined
}

function shift(shiftUs: Float64Array, call: number, { recordedUs, newUs, again }: Shift): void {
  const us = again === undefined ? newUs : again(recordedUs + shiftUs[call]!)
  shiftUs[call] = us - recordedUs
}
