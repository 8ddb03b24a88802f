// Runs once a span of a request: the loops index with `!`.
import { group, sum } from 'd3-array'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import {
  areFromSpans,
  coveredNs,
  markWaitedFor,
  NS,
  readTimesNs,
  type SpanTree,
} from '../../flows/span-tree.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { differ, equalRows } from '../../stats/weighted-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { lostCalls, recordedOtherwise } from './recorded-otherwise.ts'
import { rootCalls } from './root-types.ts'
import { timeBlocks } from './time-blocks.ts'
import { allVisits, callName, type ShapeVisits } from './visits.ts'

/** What takes time: the work of a service, the way to a called service and back, or a request. */
export type StepKind = 'work' | 'call' | 'request'

/** Something that takes time, in whichever operation. */
export interface Step {
  readonly kind: StepKind
  /** Service that works, is called, or takes the request first. */
  readonly service: string
  /** Service that calls; `null` but for calls. */
  readonly caller: string | null
  /** Of work: only what no span within it covers (`'itself'`), or only what such spans of the service do. */
  readonly part?: 'itself' | 'within'
}

export function stepKey({ kind, service, caller, part }: Step): string {
  return JSON.stringify([kind, service, caller, part])
}

/** Times ascending: one a request, the mean of its calls, in µs. */
interface RequestTimes {
  readonly values: Float64Array
  /** Stretch of time of each value. */
  readonly blocks: Uint8Array
  /** Request of each value. */
  readonly requests: Uint32Array
  /** How many of its calls are on its critical path. */
  readonly critical: Uint32Array
}

/** Values of one period; where weights of requests differ, as many as they are worth (`equalRows`). */
export interface StepSample extends RequestTimes {
  /** Of all requests, whatever they are worth. */
  readonly recorded: RequestTimes
  /** Calls in all; the part of them on critical paths. */
  readonly calls: number
  readonly criticalCalls: number
}

/** Times that are compared with each other only. */
export interface StepStratum {
  /** Operation that works, or is called. */
  readonly operation: string
  /** Operation that called; empty for that of a root. */
  readonly callingOperation: string
  /** Of the way to a called service whose side of it was not recorded: nothing else is its like. */
  readonly isUnanswered: boolean
  readonly before: StepSample
  readonly after: StepSample
}

/** All times of one step. */
export interface StepTimes extends Step {
  readonly strata: readonly StepStratum[]
}

/**
 * Collects how long every step took: work where none of its calls covers it; a call beyond the time
 * at its callee, there and back as one. Strata keep operations, callers, called services and
 * failures apart, services only where most requests have their like in the other period. What fails
 * for its time alone, as it timed out or its caller gave it up, is with the usual, as long as it was
 * waited for: without it, what takes long would look short. Work that holds spans of its own service,
 * such as calls to a database, is measured in two parts, too, each where the same operations lie
 * within. Work is left out where calls within it were not recorded: beside what was recorded apart, or
 * in one period.
 */
export function stepTimes(flows: FlowSet): readonly StepTimes[] {
  if (!areFromSpans(flows) || flows.latencyUs.length === 0) return []
  const collector = new StepCollector(flows)
  for (let request = 0; request < flows.size; request++) collector.add(request)
  return collector.finish()
}

interface Item {
  readonly span: number
  /** The caller's side of it, which may stop waiting before it is over. */
  readonly atCaller: number
  readonly isCall: boolean
  /** Spans that alone count; `undefined` where all of the span does. */
  readonly only?: readonly number[]
  readonly others: readonly number[]
  /** Whether a timeout can be of nothing else. */
  readonly isLeaf: boolean
  readonly times: Times
  /** Name of the operation that works; `null` if it is no work. */
  readonly worker: string | null
}

type Times = readonly [usual: GrowingStratum, failing: GrowingStratum]

class StepCollector {
  readonly #flows: FlowSet
  readonly #plans: { readonly tree: SpanTree; readonly items: readonly Item[] }[] = []
  readonly #steps = new Map<string, { step: Step; strata: Map<string, Times> }>()
  #times = new Float64Array(64)
  #isWaitedFor = new Uint8Array(64)

  constructor(flows: FlowSet) {
    this.#flows = flows
    const { catchAll } = rootCalls(flows)
    const requests = [BEFORE, AFTER].map(() => new Uint32Array(flows.shapes.size))
    flows.shapeOf.forEach((shape, request) => {
      requests[flows.period[request]!]![shape]!++
    })
    for (const [shape, visits] of allVisits(flows)) {
      const plan = this.#plan(visits, catchAll?.callOf.get(shape) ?? undefined)
      this.#plans[shape] = plan
      for (const stratum of new Set(plan.items.flatMap(({ times }) => times))) {
        for (const period of [BEFORE, AFTER]) {
          stratum.samples[period].room += requests[period]![shape]!
        }
      }
    }
  }

  add(request: number): void {
    const { tree, items } = this.#plans[this.#flows.shapeOf[request]!]!
    const period = this.#flows.period[request] as Period
    // A snapshot may carry the latencies of some requests only.
    if (this.#flows.latencies(request).length < tree.from.length) return
    this.#read(request, tree)
    const isLost = lostCalls(this.#flows)(request)
    for (let item = 0; item < items.length; item++) {
      const { span, atCaller, isCall, only, others, isLeaf, times, worker } = items[item]!
      if (worker !== null && isLost?.(worker)) continue
      const start = this.#times[2 * span]!
      const given = isCall ? Number.POSITIVE_INFINITY : this.#givenUpNs(request, span, atCaller)
      const end = Math.min(this.#times[2 * span + 1]!, given)
      const all = only === undefined ? end - start : coveredNs(this.#times, only, start, end)
      const other = isCall ? this.#extent(others) : coveredNs(this.#times, others, start, end)
      const isCritical = this.#isWaitedFor[span]! | this.#isWaitedFor[atCaller]!
      const isFailing =
        this.#broke(request, span, isLeaf) ||
        (given === Number.POSITIVE_INFINITY && this.#broke(request, atCaller, isLeaf))
      const stratum = times[isFailing ? 1 : 0]
      stratum.add(period, request, Math.max(0, all - other) / NS, isCritical)
    }
  }

  /** Whether a span failed otherwise than by its time, which is among those compared. */
  #broke(request: number, span: number, isLeaf: boolean): boolean {
    const { outcomes } = this.#flows
    const failed = outcomes?.failed(request, span) === true
    return failed && !(isLeaf && outcomes.timedOut(request, span))
  }

  /** When a caller that failed gave up a call that goes on: of it, nothing failed but to be in time. */
  #givenUpNs(request: number, span: number, atCaller: number): number {
    const { outcomes, options } = this.#flows
    const end = this.#times[2 * atCaller + 1]!
    const goesOn = this.#times[2 * span + 1]! > end + options.slackUs * NS
    return goesOn && outcomes?.failed(request, atCaller) ? end : Number.POSITIVE_INFINITY
  }

  finish(): StepTimes[] {
    const { of: blocks } = timeBlocks(this.#flows)
    const { counted } = this.#flows
    return [...this.#steps.values()].map(({ step, strata }) => ({
      ...step,
      strata: comparable([...strata.values()], step.part !== undefined).map((stratum) =>
        stratum.finish(blocks, counted),
      ),
    }))
  }

  /** Reads when the request's spans started and ended, and which of them were waited for. */
  #read(request: number, tree: SpanTree): void {
    if (2 * tree.size > this.#times.length) {
      this.#times = new Float64Array(4 * tree.size)
      this.#isWaitedFor = new Uint8Array(2 * tree.size)
    }
    readTimesNs(tree, this.#flows.latencies(request), this.#times)
    markWaitedFor(tree, this.#times, this.#isWaitedFor)
  }

  /** Time from the first start to the last end of spans, which may be on another clock. */
  #extent(spans: readonly number[]): number {
    if (spans.length === 0) return 0
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const span of spans) {
      first = Math.min(first, this.#times[2 * span]!)
      last = Math.max(last, this.#times[2 * span + 1]!)
    }
    return last - first
  }

  /** @param type of requests of a catch-all root */
  #plan({ tree, visits, operations }: ShapeVisits, type: string | undefined) {
    const { uncovered } = recordedOtherwise(this.#flows)
    const items = visits.flatMap(({ service, entry, caller, spans, calls }): Item[] => {
      const operation = operations[entry]!
      const called = calls.flatMap((call) => call.called.map((one) => operations[one]!))
      const key = [operation, caller === null ? '' : operations[caller.entry]!]
      const step = { kind: 'work', service, caller: null } as const
      const callees = [...new Set(called)].sort()
      const work = this.#stratum(step, [...key, ...callees])
      const atCaller = caller?.calls.find((call) => call.called.includes(entry))?.span ?? entry
      const others = calls.map(({ span }) => span)
      const isLeaf = others.length === 0
      const worker = callName({ service, operation })
      const own = { span: entry, atCaller, isCall: false, others, isLeaf, times: work, worker }
      const within = [...new Set(spans.slice(1).map((one) => operations[one]!))].sort()
      const part = (part: 'itself' | 'within') =>
        this.#stratum({ ...step, part }, [...key, ...callees, '', ...within])
      const [first, end] = [tree.firstChild[entry]!, tree.firstChild[entry + 1]!]
      const children = Array.from({ length: end - first }, (_, i) => first + i)
      const parts: Item[] =
        within.length === 0
          ? []
          : [
              { ...own, others: children, times: part('itself') },
              { ...own, only: children, times: part('within') },
            ]
      const isUncovered = spans.some((one) =>
        uncovered.has(callName({ service, operation: operations[one]! })),
      )
      const ways = calls
        .filter(({ span, called }) => called[0] !== span)
        .map(({ span, called, service: callee }): Item => {
          const isAnswered = called.length > 0
          const name = operations[called[0] ?? span]!
          const times = this.#stratum({ kind: 'call', service: callee, caller: service }, [
            name,
            operation,
            ...(isAnswered ? [] : [UNANSWERED]),
          ])
          return {
            span,
            atCaller: span,
            isCall: true,
            others: called,
            isLeaf: !isAnswered,
            times,
            worker: null,
          }
        })
      const timed = isUncovered ? ways : [own, ...parts, ...ways]
      if (caller !== null) return timed
      const times = this.#stratum({ kind: 'request', service, caller: null }, [
        ...key,
        type ?? called[0] ?? '',
      ])
      const whole = { span: entry, atCaller, isCall: false, others: [], isLeaf: false, times }
      return [...timed, { ...whole, worker: null }]
    })
    return { tree, items }
  }

  #stratum(step: Step, key: readonly string[]): Times {
    const name = stepKey(step)
    const known = this.#steps.get(name) ?? { step, strata: new Map<string, Times>() }
    this.#steps.set(name, known)
    const text = JSON.stringify(key)
    const newStratum = () => new GrowingStratum(key[0]!, key[1]!, key[2] === UNANSWERED)
    const times = known.strata.get(text) ?? ([newStratum(), newStratum()] as const)
    known.strata.set(text, times)
    return times
  }
}

const UNANSWERED = 'whose other side was not recorded'

/** Failing calls are compared where the share that fails differs no more than chance often does. */
const MIN_ALIKE_P = 0.05

/** Calls that did not fail, and those that did unless more or fewer fail now: these are others. */
function comparable(strata: readonly Times[], isPart: boolean): readonly GrowingStratum[] {
  const usual = strata.map(([one]) => one)
  const failing = strata.map(([, one]) => one).filter((one) => sizeOf(one) > 0)
  if (failing.length === 0) return matched(usual, isPart)
  const count = (some: readonly GrowingStratum[], period: Period) =>
    some.reduce((sum, { samples }) => sum + samples[period].size, 0)
  const [x1, x2] = [count(failing, BEFORE), count(failing, AFTER)]
  const [n1, n2] = [x1 + count(usual, BEFORE), x2 + count(usual, AFTER)]
  const isAlike = !(twoProportionsTest(x1, n1, x2, n2).p < MIN_ALIKE_P)
  return [
    ...matched(
      usual.filter((one) => sizeOf(one) > 0),
      isPart,
    ),
    ...(isAlike ? matched(failing, isPart) : []),
  ]
}

/** Of a step's requests, this share must have their like in the other period. */
const MIN_MATCHED = 0.7

/**
 * Returns the strata, or those that only differ in what they call as one where too few match; none of
 * parts, whose limits then lie elsewhere.
 */
function matched(strata: readonly GrowingStratum[], isPart: boolean): readonly GrowingStratum[] {
  const sum = (some: readonly GrowingStratum[]) => some.reduce((all, one) => all + sizeOf(one), 0)
  const alike = strata.filter(({ samples }) => samples.every((sample) => sample.size > 0))
  if (sum(alike) >= MIN_MATCHED * sum(strata)) return strata
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

/** What strata have in common that differ in what they call alone. */
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

class GrowingStratum {
  readonly operation: string
  readonly callingOperation: string
  readonly isUnanswered: boolean
  readonly samples = [new GrowingSample(), new GrowingSample()] as const

  constructor(operation: string, callingOperation: string, isUnanswered: boolean) {
    this.operation = operation
    this.callingOperation = callingOperation
    this.isUnanswered = isUnanswered
  }

  add(period: Period, request: number, valueUs: number, critical: number): void {
    this.samples[period].add(request, valueUs, critical)
  }

  merge({ samples }: GrowingStratum): void {
    for (const period of [BEFORE, AFTER]) this.samples[period].merge(samples[period])
  }

  finish(blocks: Uint8Array, counted: Float64Array | undefined): StepStratum {
    const { operation, callingOperation, isUnanswered } = this
    const [before, after] = this.samples
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
  /** Most requests that it may get. */
  room = 0
  size = 0
  #requests = new Uint32Array()
  #sums = new Float64Array()
  #calls = new Uint32Array()
  #critical = new Uint32Array()

  add(request: number, valueUs: number, critical: number): void {
    const last = this.size - 1
    if (last < 0 || this.#requests[last] !== request) this.#push(request)
    const row = this.size - 1
    this.#sums[row]! += valueUs
    this.#calls[row]!++
    this.#critical[row]! += critical
  }

  merge(other: GrowingSample): void {
    for (let i = 0; i < other.size; i++) {
      this.#push(other.#requests[i]!)
      const row = this.size - 1
      this.#sums[row] = other.#sums[i]!
      this.#calls[row] = other.#calls[i]!
      this.#critical[row] = other.#critical[i]!
    }
  }

  #push(request: number): void {
    if (this.size === 0) {
      this.#requests = new Uint32Array(this.room)
      this.#sums = new Float64Array(this.room)
      this.#calls = new Uint32Array(this.room)
      this.#critical = new Uint32Array(this.room)
    }
    this.#requests[this.size++] = request
  }

  /** Its values, ascending; it lets go of them. */
  finish(blockOf: Uint8Array, counted: Float64Array | undefined): StepSample {
    const [requests, means] = [this.#requests, this.#sums.subarray(0, this.size)]
    const criticalOf = this.#critical
    const blocks = new Uint8Array(this.size)
    let calls = 0
    for (let i = 0; i < this.size; i++) {
      calls += this.#calls[i]!
      means[i]! /= this.#calls[i]!
      blocks[i] = blockOf[requests[i]!]!
    }
    this.#requests = new Uint32Array()
    this.#sums = new Float64Array()
    this.#calls = new Uint32Array()
    this.#critical = new Uint32Array()
    const order = ascendingOrder(means, groupRows(blocks, 256).rows)
    const timesOf = (rows: Uint32Array): RequestTimes => {
      const times = {
        requests: new Uint32Array(rows.length),
        values: new Float64Array(rows.length),
        blocks: new Uint8Array(rows.length),
        critical: new Uint32Array(rows.length),
      }
      for (let at = 0; at < rows.length; at++) {
        times.critical[at] = criticalOf[rows[at]!]!
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
      criticalCalls: sum(recorded.critical),
    }
  }
}
