// Runs once a call: the loops index with `!`.

import { bisectRight, group, mean, sum } from 'd3-array'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { randomSource } from '../../stats/random.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { differ, equalRows } from '../../stats/weighted-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { LARGE, LEVEL, SMALL } from '../thresholds.ts'

/**
 * Times ascending, in µs: one a request, the mean of its calls; where requests have more of them in
 * one period, the first.
 */
interface RequestTimes {
  readonly values: Float64Array
  /** Stretch of time of each value. */
  readonly blocks: Uint8Array
  /** Request of each value. */
  readonly requests: Uint32Array
  /** Number of its calls on its critical path, and their total time. */
  readonly critical: Uint32Array
  readonly criticalUs: Float64Array
}

/** Values of one period; where weights of requests differ, as many as they are worth (`equalRows`). */
export interface StepSample extends RequestTimes {
  /** Times of all requests, whatever they are worth. */
  readonly recorded: RequestTimes
  /** Calls in all; the part of them on critical paths. */
  readonly calls: number
  readonly criticalCalls: number
  /** Mean time that the deadlines of the other period cut off each value, in µs. */
  readonly cutUs: number
}

/** Times that are compared with each other only. */
export interface StepStratum {
  /** Operation that works, or is called. */
  readonly operation: string
  /** Operation that called; empty for that of a root. */
  readonly callingOperation: string
  /** Whether it is the way to a called service without a record of its own; it is compared only with its like. */
  readonly isUnanswered: boolean
  readonly before: StepSample
  readonly after: StepSample
}

/** Returns the part of a stratum that is of some requests; of their calls in all, as many as of an average one. */
export function partOfStratum(
  { before, after, ...place }: StepStratum,
  isPart: (request: number) => boolean,
): StepStratum {
  return { ...place, before: partOfSample(before, isPart), after: partOfSample(after, isPart) }
}

function partOfSample(
  { recorded, calls, cutUs, ...tested }: StepSample,
  isPart: (request: number) => boolean,
): StepSample {
  const partOf = (all: RequestTimes): RequestTimes => {
    const { values, blocks, requests, critical, criticalUs } = all
    const isKept = (_: number, row: number) => isPart(requests[row]!)
    return {
      values: values.filter(isKept),
      blocks: blocks.filter(isKept),
      requests: requests.filter(isPart),
      critical: critical.filter(isKept),
      criticalUs: criticalUs.filter(isKept),
    }
  }
  const own = partOf(recorded)
  return {
    ...partOf(tested),
    recorded: own,
    cutUs,
    calls: (calls * own.values.length) / (recorded.values.length || 1),
    criticalCalls: sum(own.critical),
  }
}

export type Times = readonly [usual: GrowingStratum, failing: GrowingStratum]

/** Calls that did not fail, and those that did unless more or fewer fail now: these are others. */
export function comparable(strata: readonly Times[], isPart: boolean): readonly GrowingStratum[] {
  const usual = strata.map(([one]) => one)
  const failing = strata.map(([, one]) => one).filter((one) => sizeOf(one) > 0)
  if (failing.length === 0) return matched(usual, isPart)
  const count = (some: readonly GrowingStratum[], period: Period) =>
    some.reduce((sum, { samples }) => sum + samples[period].size, 0)
  const [x1, x2] = [count(failing, BEFORE), count(failing, AFTER)]
  const [n1, n2] = [x1 + count(usual, BEFORE), x2 + count(usual, AFTER)]
  const isAlike = !(twoProportionsTest(x1, n1, x2, n2).p < LEVEL)
  return [
    ...matched(
      usual.filter((one) => sizeOf(one) > 0),
      isPart,
    ),
    ...(isAlike ? matched(failing, isPart) : []),
  ]
}

/**
 * Returns the strata; merges those that differ only in their calls if too few match. Returns none for parts, whose
 * limits would then lie elsewhere.
 */
function matched(strata: readonly GrowingStratum[], isPart: boolean): readonly GrowingStratum[] {
  const sum = (some: readonly GrowingStratum[]) => some.reduce((all, one) => all + sizeOf(one), 0)
  const alike = strata.filter(({ samples }) => samples.every((sample) => sample.size > 0))
  if (sum(alike) >= LARGE * sum(strata)) return strata
  if (isPart) return []
  return Array.from(group(strata, placeOf).values(), (same) => {
    const { operation, callingOperation, isUnanswered } = same[0]!
    const whole = new GrowingStratum(operation, callingOperation, isUnanswered)
    for (const period of [BEFORE, AFTER]) {
      whole.samples[period].room = same.reduce((all, one) => all + one.samples[period].size, 0)
    }
    for (const one of same) whole.merge(one)
    return whole
  })
}

/** Returns a key for strata that differ only in their calls. */
export function placeOf({
  operation,
  callingOperation,
  isUnanswered,
}: Pick<StepStratum, 'operation' | 'callingOperation' | 'isUnanswered'>): string {
  return JSON.stringify([operation, callingOperation, isUnanswered])
}

function sizeOf({ samples }: GrowingStratum): number {
  return samples[BEFORE].size + samples[AFTER].size
}

export class GrowingStratum {
  readonly operation: string
  readonly callingOperation: string
  readonly isUnanswered: boolean
  readonly samples = [new GrowingSample(), new GrowingSample()] as const

  /** Whether each call has a value of its own, not each request. */
  readonly isByCall: boolean

  constructor(
    operation: string,
    callingOperation: string,
    isUnanswered: boolean,
    isByCall = false,
  ) {
    this.isByCall = isByCall
    this.operation = operation
    this.callingOperation = callingOperation
    this.isUnanswered = isUnanswered
  }

  /** Adds a call; `isCut` if nobody waited for its end, so it would have taken longer. */
  add(
    period: Period,
    call: { request: number; valueUs: number; critical: number; isCut: boolean },
  ): void {
    this.samples[period].add(call, this.isByCall)
  }

  merge({ samples }: GrowingStratum): void {
    for (const period of [BEFORE, AFTER]) this.samples[period].merge(samples[period])
  }

  finish(blocks: Uint8Array, counted: Float64Array | undefined): StepStratum {
    const { operation, callingOperation, isUnanswered } = this
    const [before, after] = this.samples
    const [eachBefore, eachAfter] = [before, after].map((sample) => sample.callsEach)
    // With skewed times, the mean of more calls is typically longer although no call is.
    if (Math.abs(eachAfter! / eachBefore! - 1) > SMALL) {
      for (const one of this.samples) one.takeOne()
    }
    // Cuts times at the deadlines of both periods, because other deadlines make calls neither faster nor slower.
    const [ofBefore, ofAfter] = [before.deadlines(), after.deadlines()]
    before.cutAt(ofAfter)
    after.cutAt(ofBefore)
    return {
      operation,
      callingOperation,
      isUnanswered,
      before: before.finish(blocks, counted),
      after: after.finish(blocks, counted),
    }
  }
}

class GrowingSample {
  /** Most values that it may get. */
  room = 0
  size = 0
  #requests = new Uint32Array()
  #sums = new Float64Array()
  /** One call of each request, drawn at random: the first of calls that start together would be the shortest. */
  #drawn = new Float64Array()
  readonly #random = randomSource(1)
  #calls = new Uint32Array()
  #critical = new Uint32Array()
  #isCut = new Uint8Array()
  #cutUs = 0
  #criticalUs = new Float64Array()

  add({ request, valueUs, critical, isCut }: Parameters<GrowingStratum['add']>[1], isNew: boolean) {
    const last = this.size - 1
    if (isNew || last < 0 || this.#requests[last] !== request) this.#push(request)
    const row = this.size - 1
    // A call made again after one was cut off is left out: only requests with a cut-off call have one.
    const isRetry = this.#isCut[row] === 1 && this.#calls[row]! > 0
    this.#sums[row]! += isRetry ? this.#sums[row]! / this.#calls[row]! : valueUs
    this.#calls[row]!++
    if (!isRetry && this.#random.next() * this.#calls[row]! < 1) this.#drawn[row] = valueUs
    this.#critical[row]! += critical
    if (isCut) this.#isCut[row] = 1
    this.#criticalUs[row]! += critical * valueUs
  }

  merge(other: GrowingSample): void {
    for (let i = 0; i < other.size; i++) {
      this.#push(other.#requests[i]!)
      const row = this.size - 1
      this.#sums[row] = other.#sums[i]!
      this.#drawn[row] = other.#drawn[i]!
      this.#calls[row] = other.#calls[i]!
      this.#critical[row] = other.#critical[i]!
      this.#isCut[row] = other.#isCut[i]!
      this.#criticalUs[row] = other.#criticalUs[i]!
    }
  }

  #push(request: number): void {
    if (this.size === 0) {
      this.#requests = new Uint32Array(this.room)
      this.#sums = new Float64Array(this.room)
      this.#drawn = new Float64Array(this.room)
      this.#calls = new Uint32Array(this.room)
      this.#critical = new Uint32Array(this.room)
      this.#isCut = new Uint8Array(this.room)
      this.#criticalUs = new Float64Array(this.room)
    }
    this.#requests[this.size++] = request
  }

  /** Calls of a request, on average. */
  get callsEach(): number {
    return mean(this.#calls.subarray(0, this.size)) ?? 1
  }

  /** Has one call of each request stand for all of them. */
  takeOne(): void {
    for (let row = 0; row < this.size; row++) {
      this.#sums[row] = this.#drawn[row]! * this.#calls[row]!
    }
  }

  /**
   * Returns how long callers wait: the times at which some calls were cut, each with the share of calls that would be
   * cut by then, whatever their length; none if no call was cut.
   *
   * Source: Kaplan and Meier 1958, of deadlines, which calls that end before them hide.
   */
  deadlines(): readonly { readonly us: number; readonly share: number }[] {
    const isCut = this.#isCut.subarray(0, this.size)
    if (!isCut.includes(1)) return []
    const means = Float64Array.from(isCut, (_, row) => this.#sums[row]! / this.#calls[row]!)
    let left = 1
    return Array.from(ascendingOrder(means), (row, place) => {
      left *= 1 - isCut[row]! / (this.size - place)
      return { us: means[row]!, share: 1 - left }
    }).filter((_, place, all) => all[place]!.share > (all[place - 1]?.share ?? 0))
  }

  /** Cuts its calls at deadlines drawn at random from such. */
  cutAt(deadlines: ReturnType<GrowingSample['deadlines']>): void {
    if (deadlines.length === 0) return
    const random = randomSource(1)
    const shares = deadlines.map(({ share }) => share)
    for (let row = 0; row < this.size; row++) {
      const us = deadlines[bisectRight(shares, random.next())]?.us ?? Number.POSITIVE_INFINITY
      const overUs = Math.max(0, this.#sums[row]! - us * this.#calls[row]!)
      this.#sums[row]! -= overUs
      this.#cutUs += overUs / this.#calls[row]!
    }
  }

  /** Returns the values, ascending, and releases them. */
  finish(blockOf: Uint8Array, counted: Float64Array | undefined): StepSample {
    const [requests, means] = [this.#requests, this.#sums.subarray(0, this.size)]
    const [criticalOf, criticalUsOf] = [this.#critical, this.#criticalUs]
    const blocks = new Uint8Array(this.size)
    let calls = 0
    for (let i = 0; i < this.size; i++) {
      calls += this.#calls[i]!
      means[i]! /= this.#calls[i]!
      blocks[i] = blockOf[requests[i]!]!
    }
    this.#requests = new Uint32Array()
    this.#sums = new Float64Array()
    this.#drawn = new Float64Array()
    this.#calls = new Uint32Array()
    this.#critical = new Uint32Array()
    this.#isCut = new Uint8Array()
    this.#criticalUs = new Float64Array()
    const order = ascendingOrder(means, groupRows(blocks, 256).rows)
    const timesOf = (rows: Uint32Array): RequestTimes => {
      const times = {
        requests: new Uint32Array(rows.length),
        values: new Float64Array(rows.length),
        blocks: new Uint8Array(rows.length),
        critical: new Uint32Array(rows.length),
        criticalUs: new Float64Array(rows.length),
      }
      for (let at = 0; at < rows.length; at++) {
        times.critical[at] = criticalOf[rows[at]!]!
        times.criticalUs[at] = criticalUsOf[rows[at]!]!
        times.requests[at] = requests[rows[at]!]!
        times.values[at] = means[rows[at]!]!
        times.blocks[at] = blocks[rows[at]!]!
      }
      return times
    }
    const recorded = timesOf(order)
    const weights = counted && Float64Array.from(recorded.requests, (request) => counted[request]!)
    const equal = differ(weights)
      ? timesOf(equalRows({ ...recorded, weights }).map((at) => order[at]!))
      : recorded
    return {
      ...equal,
      recorded,
      calls,
      cutUs: this.#cutUs / this.size || 0,
      criticalCalls: sum(recorded.critical),
    }
  }
}
