// Runs over every changed call of every what-if: the loops index with `!`.
import { growingUint32 } from '../../traces/growing-columns.ts'
import type { CallForest } from '../calls/call-forest.ts'
import type { OwnTimes } from '../models/own-times.ts'
import type { WaitPlan } from '../models/wait-plan.ts'
import { checkChange, type LatencyChange } from './latency-change.ts'

type NewTime = (us: number) => number

/** What some changes make of single calls: shifts by row of the forest, 0 at rest. */
export class StagedChanges {
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
