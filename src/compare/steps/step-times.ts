// Runs once a span of a request: the loops index with `!`.
import { type SpanTimes, spanTimes } from '../../calls/span-times.ts'
import { calleesWithoutSpans } from '../../calls/unrecorded-callees.ts'
import { allVisits, childrenOf, type ShapeVisits, type Visit } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { callName, operationOf } from '../../flows/node-labels.ts'
import { areFromSpans, NS } from '../../flows/span-tree.ts'
import { lostCalls, lostShares } from './lost-spans.ts'
import { recordedOtherwise } from './recorded-otherwise.ts'
import { rootCalls } from './root-types.ts'
import { KEPT_FOR, type KeptFor, slowSample } from './slow-sample.ts'
import { comparable, GrowingStratum, type StepStratum, type Times } from './step-strata.ts'
import { timeBlocks } from './time-blocks.ts'

/** Kinds of steps: the work of a service, the way to a called service and back, or a whole request. */
export type StepKind = 'work' | 'call' | 'request'

/** Something that takes time, in whichever operation. */
export interface Step {
  readonly kind: StepKind
  /** Service that works, is called, or takes the request first. */
  readonly service: string
  /** Service that calls; `null` but for calls, and for those of a callee that records no spans, from anyone. */
  readonly caller: string | null
  /**
   * For work: `'itself'` is time that no inner span covers, `'within'` the rest. For calls: `'message'` is the wait of
   * messages.
   */
  readonly part?: 'itself' | 'within' | 'message'
}

export function stepKey({ kind, service, caller, part }: Step): string {
  return JSON.stringify([kind, service, caller, part])
}

/** Returns a step alone, of something that is one. */
export function plainStep({ kind, service, caller, part }: Step): Step {
  return { kind, service, caller, ...(part && { part }) }
}

/** Whether a visit of a service makes the calls of a step. */
export function makesCalls({ kind, caller }: Step, by: string): boolean {
  return kind === 'call' && (caller === null || caller === by)
}

/** Whether both are of one step, or one is part of the other: a service's own work, or the time of the spans within. */
export function isOfOneStep(one: Step, other: Step): boolean {
  const wholeOf = ({ part, ...step }: Step): Step => (part === 'message' ? { ...step, part } : step)
  return stepKey(wholeOf(one)) === stepKey(wholeOf(other))
}

/** All times of one step. */
export interface StepTimes extends Step {
  readonly strata: readonly StepStratum[]
}

/** Returns the strata of a step, of one operation unless none is named. */
export function strataOfStep(
  times: readonly StepTimes[],
  { operation = '', ...step }: Step & { readonly operation?: string },
): readonly StepStratum[] {
  const key = stepKey(step)
  const strata = times.find((one) => stepKey(one) === key)?.strata ?? []
  return operation === '' ? strata : strata.filter((one) => one.operation === operation)
}

/**
 * Collects how long every step took: work where none of its calls covers it; a call beyond the time at its callee,
 * there and back as one; a call of a callee that records no spans, as a whole, from all of its callers. Strata keep
 * operations, callers, called services and failures apart, services only if most
 * requests have a counterpart in the other period. A call that fails only because of its time (a timeout, or a caller
 * that gave up) counts with the usual ones, with the time that it was waited for. Without it, slow calls would look
 * fast. Calls of the other period count as long as they would have been waited for then. Work that holds spans of its
 * own service, such as calls to a database, is also measured in two parts, each compared between requests with the same
 * inner operations. Messages take from the end of sending to the start of receiving. Leaves out work whose inner calls
 * were not recorded: those of lost spans, or recorded in one period only.
 */
export function stepTimes(flows: FlowSet): readonly StepTimes[] {
  if (!areFromSpans(flows) || flows.latencyUs.length === 0) return []
  const collector = new StepCollector(flows)
  for (let request = 0; request < flows.size; request++) collector.add(request)
  return collector.finish()
}

/** Returns the times of one step, a value a call, not a request. */
export function callTimes(flows: FlowSet, step: Step): StepTimes | undefined {
  const key = stepKey(step)
  const collector = new StepCollector(flows, key)
  for (let request = 0; request < flows.size; request++) collector.add(request)
  return collector.finish().find((one) => stepKey(one) === key)
}

interface Item {
  readonly span: number
  /** The caller's side of it, which may stop waiting before it is over. */
  readonly atCaller: number
  /** `null` for calls. */
  readonly visit: Visit | null
  readonly measureNs: (request: number, untilNs?: number) => number
  /** Whether it belongs to the receiving of a message, or to a call made there: nobody waits for it. */
  readonly isOfMessage: boolean
  /** Whether it waits for no other service, so that a timeout here is its own. */
  readonly isLeaf: boolean
  readonly times: Times
  /** Name of the operation that works; `null` if it is no work. */
  readonly worker: string | null
}

class StepCollector {
  readonly #flows: FlowSet
  readonly #divided: string | undefined
  /** Timed items by shape, and by the reason that its requests were kept for. */
  readonly #plans: (readonly Item[])[] = []
  readonly #sample: ReturnType<typeof slowSample>
  readonly #steps = new Map<string, { step: Step; strata: Map<string, Times> }>()
  readonly #spans: SpanTimes
  /**
   * Answering operation by the name of the caller's side of a call: a call whose answer was lost has the same callee.
   */
  readonly #answers = new Map<string, string>()

  /** @param divided step of which each call is kept, others not at all */
  constructor(flows: FlowSet, divided?: string) {
    this.#flows = flows
    this.#divided = divided
    this.#spans = spanTimes(flows)
    const { callOf } = rootCalls(flows)
    const { names } = recordedOtherwise(flows)
    for (const { visits, visitOf, operations } of allVisits(flows).values()) {
      const nameOf = (span: number) =>
        callName({ service: visitOf[span]!.service, operation: operations[span]! })
      for (const { span, called } of visits.flatMap(({ calls }) => calls)) {
        const [answer] = called
        if (answer === undefined || answer === span || names.has(nameOf(answer))) continue
        this.#answers.set(nameOf(span), operations[answer]!)
      }
    }
    this.#sample = slowSample(flows)
    const requests = [BEFORE, AFTER].map(() => new Uint32Array(KEPT_FOR.length * flows.shapes.size))
    flows.shapeOf.forEach((_, request) => {
      requests[flows.period[request]!]![this.#planOf(request)]!++
    })
    flows.period.forEach((period, request) => {
      for (const [{ samples }] of this.#messages(request)) samples[period as Period].room++
    })
    for (const [shape, visits] of allVisits(flows)) {
      for (const kept of this.#sample === null ? ['chance' as const] : KEPT_FOR) {
        const type = callOf.get(shape) ?? undefined
        const isWanted = ({ times: [usual] }: Item) => divided === undefined || usual.isByCall
        const items = this.#plan(visits, { type, kept }).filter(isWanted)
        const number = KEPT_FOR.length * shape + KEPT_FOR.indexOf(kept)
        this.#plans[number] = items
        const strata = items.flatMap(({ times }) => times)
        for (const stratum of divided === undefined ? new Set(strata) : strata) {
          for (const period of [BEFORE, AFTER]) {
            stratum.samples[period].room += requests[period]![number]!
          }
        }
      }
    }
  }

  /**
   * Returns the plan of a request. If slow requests were kept preferentially, requests are compared with those kept for
   * the same reason.
   */
  #planOf(request: number): number {
    const kept = KEPT_FOR.indexOf(this.#sample?.keptFor(request) ?? 'chance')
    return KEPT_FOR.length * this.#flows.shapeOf[request]! + kept
  }

  add(request: number): void {
    const items = this.#plans[this.#planOf(request)]!
    const period = this.#flows.period[request] as Period
    const times = this.#spans.of(request)
    // A snapshot may carry the latencies of some requests only.
    if (times.length === 0) return
    const isWaitedFor = this.#spans.waitedFor(request)
    const isLost = lostCalls(this.#flows)(request)
    for (let item = 0; item < items.length; item++) {
      const one = items[item]!
      const { span, atCaller, visit, isOfMessage, isLeaf, worker } = one
      if (worker !== null && isLost?.(worker)) continue
      const endsNs = times[2 * span + 1]!
      const untilNs = visit === null ? endsNs : this.#spans.endsNs(request, visit)
      const valueUs = Math.max(0, one.measureNs(request, untilNs)) / NS
      const critical = isOfMessage ? 0 : isWaitedFor[span]!
      const wasGivenUp = untilNs < endsNs
      const isTooLate =
        isLeaf && (this.#wasCutShort(request, span) || this.#wasCutShort(request, atCaller))
      const hasFailed = this.#failed(request, span)
      const isFailing =
        !isTooLate && (hasFailed || (!wasGivenUp && this.#failed(request, atCaller)))
      const isCut = wasGivenUp || (isTooLate && hasFailed)
      one.times[isFailing ? 1 : 0].add(period, { request, valueUs, critical, isCut })
    }
    for (const [stratum, waitUs] of this.#messages(request)) {
      stratum.add(period, { request, valueUs: waitUs, critical: 0, isCut: false })
    }
  }

  /** Collects the waits of messages that a request received, with the strata that they are compared in. */
  *#messages(request: number) {
    const { messages, labels } = this.#flows
    if (messages === undefined || this.#divided !== undefined) return
    for (let at = messages.offsets[request]!; at < messages.offsets[request + 1]!; at++) {
      const waitUs = messages.waitUs[at]!
      if (Number.isNaN(waitUs)) continue
      const to = operationOf(labels.get(messages.receiver[at]!))
      const from = operationOf(labels.get(messages.sender[at]!))
      const step = { kind: 'call', service: to.service, caller: from.service } as const
      const key = [to.operation, from.operation]
      const [stratum] = this.#stratum({ ...step, part: 'message' }, key)
      yield [stratum, waitUs] as const
    }
  }

  #failed(request: number, span: number): boolean {
    return this.#flows.outcomes?.failed(request, span) === true
  }

  /** Whether a span failed by its time alone, which is among those compared. */
  #wasCutShort(request: number, span: number): boolean {
    return this.#failed(request, span) && this.#flows.outcomes?.wasCutShort(request, span) === true
  }

  finish(): StepTimes[] {
    const { of: blocks } = timeBlocks(this.#flows)
    const { counted } = this.#flows
    return [...this.#steps.values()].map(({ step, strata }) => ({
      ...step,
      strata: comparable([...strata.values()], step.kind === 'work' && step.part !== undefined).map(
        (stratum) => stratum.finish(blocks, counted),
      ),
    }))
  }

  /** @param type of requests of a root that has several */
  #plan(
    shape: ShapeVisits,
    { type, kept }: { type: string | undefined; kept: KeptFor },
  ): readonly Item[] {
    const { visits, visitOf, operations } = shape
    const stratumOf = (step: Step, key: readonly string[]) =>
      this.#stratum(step, kept === 'chance' ? key : [...key, ` ${kept}`])
    const { names, uncovered, through } = recordedOtherwise(this.#flows)
    const nameAt = ({ service }: Visit, span: number) =>
      callName({ service, operation: operations[span]! })
    const isThrough = (one: number) => through.has(nameAt(visitOf[one]!, one))
    const unrecorded = calleesWithoutSpans(this.#flows)
    const spans = this.#spans
    return visits.flatMap((visit): Item[] => {
      const { service, operation, callingOperation, entry, atCaller, caller, isOfMessage } = visit
      // Whoever is recorded in one period only tells no requests apart.
      const isRecordedTwice = (one: number) => !names.has(nameAt(visitOf[one]!, one))
      const called = visit.calls.flatMap((call) =>
        call.called.length === 0
          ? (this.#answers.get(nameAt(visit, call.span)) ?? [])
          : call.called.filter(isRecordedTwice).map((one) => operations[one]!),
      )
      const key = [operation, callingOperation]
      const step = { kind: 'work', service, caller: null } as const
      const callees = [...new Set(called)].sort()
      // The sender of a message does not wait for its receiver.
      const awaited = visit.calls.flatMap(({ span, isMessage }) => (isMessage ? [] : span))
      const uncoveredBy =
        (others: readonly number[]): Item['measureNs'] =>
        (request, untilNs) =>
          spans.uncoveredNs(request, entry, others, untilNs)
      const item = (step: Step, key: readonly string[], measureNs: Item['measureNs']): Item => ({
        span: entry,
        atCaller,
        visit,
        isOfMessage,
        isLeaf: awaited.length === 0,
        worker: nameAt(visit, entry),
        measureNs,
        times: stratumOf(step, key),
      })
      const workOf = (): Item[] => {
        const work = uncoveredBy(awaited)
        const itself = uncoveredBy(childrenOf(shape, entry, isThrough))
        const inner = visit.spans.slice(1).filter((one) => !isThrough(one))
        const within = [...new Set(inner.map((one) => operations[one]!))].sort()
        const part = (part: 'itself' | 'within', measureNs: Item['measureNs']) =>
          item({ ...step, part }, [...key, ...callees, '', ...within], measureNs)
        const whole = item(step, [...key, ...callees], work)
        if (within.length === 0) return [whole]
        const others: Item['measureNs'] = (...at) => work(...at) - itself(...at)
        return [whole, part('itself', itself), part('within', others)]
      }
      const ways = visit.calls
        .filter(({ isWay }) => isWay)
        .map((call): Item => {
          const isAnswered = call.called.length > 0
          const key = [call.operation, operation, ...(isAnswered ? [] : [UNANSWERED])]
          const caller = unrecorded.has(call.service) ? null : service
          const step = { kind: 'call', service: call.service, caller } as const
          return {
            span: call.span,
            atCaller: call.span,
            visit: null,
            isOfMessage,
            isLeaf: !isAnswered,
            worker: null,
            measureNs: (request) => spans.wayNs(request, call),
            times: stratumOf(step, key),
          }
        })
      const isUncovered = visit.spans.some((one) => uncovered.has(nameAt(visit, one)))
      const timed = isUncovered || visit.spans.length === 0 ? ways : [...workOf(), ...ways]
      if (caller !== null) return timed
      // If one period lost more spans, the first recorded call does not distinguish requests.
      const first = lostShares(this.#flows).differ ? undefined : called[0]
      const whole: Item = {
        ...item({ ...step, kind: 'request' }, [...key, type ?? first ?? ''], uncoveredBy([])),
        isLeaf: false,
        worker: null,
      }
      return [...timed, whole]
    })
  }

  #stratum(step: Step, key: readonly string[]): Times {
    const name = stepKey(step)
    const known = getOrInsert(this.#steps, name, () => ({ step, strata: new Map() }))
    const text = JSON.stringify(key)
    const newStratum = () =>
      new GrowingStratum(key[0]!, key[1]!, key[2] === UNANSWERED, name === this.#divided)
    return getOrInsert(known.strata, text, () => [newStratum(), newStratum()] as const)
  }
}

const UNANSWERED = 'whose other side was not recorded'
