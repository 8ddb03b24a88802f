// Runs once a request of a step: the loops index with `!`.

import { sum } from 'd3-array'
import { callersOf } from '../../calls/unrecorded-callees.ts'
import { SEVERAL } from '../../calls/visits.ts'
import { remembered } from '../../core/remembered.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { stratifiedShift, vanElteren } from '../../stats/hodges-lehmann.ts'
import type { ModeratedShift } from '../../stats/moderated-shifts.ts'
import { type Moments, moments } from '../../stats/moments.ts'
import { cappedTimes, usualMeanUs } from '../edges/edge-times.ts'
import type { EdgeOptions } from '../edges/find-edge-changes.ts'
import { type Verdict, verdictOf } from '../mutations/find-response-time-mutations.ts'
import { NEARLY_ALL, SLOWEST, SURE, TWICE } from '../thresholds.ts'
import type { Arrivals } from './arrivals.ts'
import type { CallCounts, CallRepeats } from './call-counts.ts'
import type { CallSites, Operation } from './call-order.ts'
import type { ErrorChange } from './compare-errors.ts'
import type { LogChange } from './compare-log-counts.ts'
import { partOfStratum, type StepSample, type StepStratum } from './step-strata.ts'
import {
  callTimes,
  plainStep,
  type Step,
  type StepTimes,
  stepKey,
  strataOfStep,
} from './step-times.ts'
import { type MeasuredMinority, type Minority, minorityOf } from './tail-counts.ts'
import type { CountsTest } from './time-blocks.ts'

/** Change of one operation of a step. */
export interface OperationChange extends Pick<ModeratedShift, 'probabilitySlower' | 'p'>, Verdict {
  readonly operation: string
  /** Requests that have it. */
  readonly beforeRequests: number
  readonly afterRequests: number
  /** Calls per request after. */
  readonly callsEach: number
  /** Shift of a call in µs, positive if slower; 0 unless significant. */
  readonly shiftUs: number
  /** Changed part of the calls, which `shiftUs` then describes; `null` if the typical call changed. */
  readonly minority: Minority | null
  /** 95 % confidence interval of `shiftUs`. */
  readonly interval: readonly [low: number, high: number]
  /** Shift of a request's time on it, as a share of the mean response time of these requests. */
  readonly effect: number
  /** Contribution to the sum of all response times after, in µs, and its standard error. */
  readonly contributionUs: number
  readonly contributionError: number
}

/** One step, compared between the periods. */
export interface StepChange
  extends Step,
    Omit<OperationChange, 'operation'>,
    Pick<ModeratedShift, 'rankDf' | 'logDf'> {
  /** p corrected over all steps and calls together; `NaN` where it could not be tested. */
  readonly q: number
  /** Factor by which the variance of its shift exceeds that of independent times. */
  readonly designEffect: number
  /**
   * Excess of the changed calls' time after over the mean before, in µs, without the slowest hundredth; and its
   * standard error.
   */
  readonly observedUs: number
  readonly observedError: number
  /** Operations of the step, the largest contribution first. */
  readonly operations: readonly OperationChange[]
  /** Requests of both periods with the changed step, by row. */
  readonly requests: readonly number[]
}

/** Different behavior of an operation, compared between the periods. */
export interface CallChange extends CallCounts, CountsTest, Verdict {
  readonly q: number
}

/** Change in how often an operation repeats a call, compared between the periods. */
export interface RepeatChange extends Omit<CallRepeats, 'strata'>, ModeratedShift {
  /** Mean times a visit makes the call, of those that make it. */
  readonly beforeTimes: number
  readonly afterTimes: number
  readonly q: number
  readonly changed: boolean
}

interface StepChangeColumns {
  readonly flows: FlowSet
  readonly options: EdgeOptions
  /** Orders in which requests make calls; `null` for flows that are not from spans. */
  readonly sites: CallSites | null
  /** All times that steps were compared by. */
  readonly times: readonly StepTimes[]
  /** Own times of each service, and the part that no span within covers, if there are any. */
  readonly ownTimes: readonly StepTimes[]
  /** The work of services, the ways to them, and whole requests, the largest contribution first. */
  readonly steps: readonly StepChange[]
  /** Changes in calls of operations and in their order in time. */
  readonly calls: readonly CallChange[]
  /** Changes in how many times operations repeat a call. */
  readonly repeats: readonly RepeatChange[]
  /** Changes in how requests arrive. */
  /** With p corrected over all tests of steps and calls. */
  readonly arrivals: Arrivals & Readonly<Record<'rateQ' | 'pausesQ', number>>
  /** Services that fail though none of their calls did. */
  readonly errors: readonly ErrorChange[]
  /** Changes in logs of spans, if logs of both periods were loaded. */
  readonly logs: readonly LogChange[]
  /** Number of tests that p of each is corrected for. */
  readonly tested: number
}

/** Every step and every call, compared between the periods; of flows from spans. */
export class StepChanges extends columnarStage<StepChangeColumns>() {
  static readonly madeBy: string = 'what findStepChanges returns, or comparison.steps'

  /** Steps whose times changed, the largest contribution first. */
  get changes(): StepChange[] {
    return this.steps.filter(({ changed }) => changed)
  }

  /** Returns one row per step, changed ones first; `why` says why others do not count. */
  table(): StageTable {
    return rowTable(
      this.steps.toSorted((a, b) => Number(b.changed) - Number(a.changed)),
      {
        kind: ({ kind, part }) => (part === undefined ? kind : `${kind} ${part}`),
        ...own('service caller changed why shiftUs'),
        lowUs: ({ interval }) => interval[0],
        highUs: ({ interval }) => interval[1],
        probabilitySlower: 'probabilitySlower',
        before: 'beforeRequests',
        after: 'afterRequests',
        ...own('p q contributionUs'),
      },
      this.flows.quantity,
    )
  }

  /** Returns one row per service that fails, or calls to which fail, changed ones first. */
  errorTable(): StageTable {
    return rowTable(this.errors.toSorted(changedFirst), {
      ...own('kind service'),
      operation: ({ operations }) => operations[0] ?? '',
      message: ({ said, messages }) => said ?? messages[0]?.text ?? '',
      ...own('changed why'),
      before: ({ made }) => made[BEFORE],
      callsBefore: ({ chances }) => chances[BEFORE],
      after: ({ made }) => made[AFTER],
      callsAfter: ({ chances }) => chances[AFTER],
      ...own('difference p q'),
      failedBefore: ({ failed }) => failed[BEFORE],
      failedAfter: ({ failed }) => failed[AFTER],
    })
  }

  /** Returns one row per thing that an operation may do with calls, or log, changed ones first. */
  callTable(): StageTable {
    const name = (one: Operation | null) => one && `${one.service} ${one.operation}`
    const rows: readonly (CallChange | LogChange)[] = [...this.calls, ...this.logs]
    return rowTable(rows.toSorted(changedFirst), {
      service: ({ of }) => of.service,
      operation: ({ of }) => of.operation,
      kind: 'kind',
      previous: ({ previous }) => name(previous),
      call: ({ call }) => name(call),
      ...own('changed why'),
      before: ({ made }) => made[BEFORE],
      chancesBefore: ({ chances }) => chances[BEFORE],
      after: ({ made }) => made[AFTER],
      chancesAfter: ({ chances }) => chances[AFTER],
      ...own('difference p q'),
    })
  }
}

/** Returns the change of a step; `undefined` if it is not compared. */
export function changeOfStep({ steps }: StepChanges, step: Step): StepChange | undefined {
  return steps.find((one) => stepKey(one) === stepKey(step))
}

/** Returns the strata of a step's change: of its changed operations, or of all. */
export function changedStrata(
  times: readonly StepTimes[],
  { operations = [], ...step }: Step & Partial<Pick<StepChange, 'operations'>>,
): StepStratum[] {
  const names = new Set(operations.flatMap((one) => (one.changed ? one.operation : [])))
  return strataOfStep(times, { ...step, operation: '' }).filter(
    ({ operation }) => names.size === 0 || names.has(operation),
  )
}

function changedFirst<Change extends { readonly changed: boolean; readonly p: number }>(
  a: Change,
  b: Change,
): number {
  return Number(b.changed) - Number(a.changed) || a.p - b.p
}

export interface TimesTest extends ModeratedShift {
  /** p of the tails alone; `NaN` with too few values. */
  readonly tailP: number
}

export interface Limits extends EdgeOptions {
  readonly negligibleUs: number
  readonly usualOf: (request: number) => number
  /** Times of a step's calls, where a request has several. */
  readonly callsOf: (step: StepTimes) => readonly StepStratum[]
  /** Resolution of the clocks that time a step, in µs. */
  readonly resolutionOf: (step: Step) => number
  /** Weight of each request; undefined where each counts once. */
  readonly counted: Float64Array | undefined
}

export type StepTest = Pick<
  TimesTest,
  'p' | 'tailP' | 'probabilitySlower' | 'designEffect' | 'rankDf' | 'logDf'
>

export interface TestedStep {
  readonly step: StepTimes
  readonly whole: StepTest
  readonly operations: readonly {
    readonly operation: string
    readonly strata: readonly StepStratum[]
    readonly test: StepTest
  }[]
  readonly p: number
  readonly q: number
}

/** Returns the data that describing steps of flows needs. */
export function limitsOf(flows: FlowSet, options: EdgeOptions): Limits {
  return {
    ...options,
    negligibleUs: options.minimumShare * usualMeanUs(flows) * flows.wholes(AFTER),
    usualOf: cappedTimes(flows, BEFORE),
    callsOf: remembered((step: StepTimes) => callTimes(flows, step)?.strata ?? []),
    resolutionOf: ({ service, caller }) => {
      const ends = [service, ...(caller === null ? callersOf(flows, service) : [caller])]
      return Math.max(...ends.map((one) => flows.resolution?.get(one)?.tickUs ?? 0))
    },
    counted: flows.counted,
  }
}

/**
 * Describes a step that changed in some of its requests only: the operations that did, or of strata that are known to
 * have changed, all of them together.
 */
export function describePart(
  change: StepChange,
  step: StepTimes,
  {
    limits,
    isPart,
    isKnown,
  }: {
    readonly limits: Limits
    readonly isPart: (request: number, stratum: StepStratum) => boolean
    readonly isKnown: boolean
  },
): StepChange {
  const partsOf = (strata: readonly StepStratum[]) =>
    strata.map((one) => partOfStratum(one, (request) => isPart(request, one)))
  const strata = partsOf(step.strata)
  const testOf = (
    { p, minority }: Pick<OperationChange, 'p' | 'minority'>,
    own: readonly StepStratum[],
  ): StepTest => ({
    p,
    tailP: minority === null ? Number.NaN : 0,
    designEffect: change.designEffect,
    rankDf: change.rankDf,
    logDf: change.logDf,
    probabilitySlower: vanElteren(
      own.map(({ before, after }) => ({ before: before.values, after: after.values })),
      { sorted: true },
    ).probabilitySlower,
  })
  const operations = (isKnown ? [] : change.operations).map((one) => {
    const own = strata.filter(({ operation }) => operation === one.operation)
    return { operation: one.operation, strata: own, test: testOf(one, own) }
  })
  const tested = { step: { ...step, strata }, whole: testOf(change, strata), operations }
  const told = describeStep(
    { ...tested, p: change.p, q: isKnown ? 0 : change.q },
    { ...limits, callsOf: (one) => partsOf(limits.callsOf(one)) },
  )
  return isKnown ? { ...told, operations: change.operations } : told
}

/** Describes the change of a step: the change of its calls, or of some of them, and its contribution. */
export function describeStep(
  { step, whole, operations, p, q }: TestedStep,
  options: Limits,
): StepChange {
  const { strata } = step
  const significant = q < options.alpha
  const known = operations.filter(({ test }) => !Number.isNaN(test.p))
  const described = operations
    .map(({ operation, strata: own, test }) => {
      const isSignificant = significant && test.p * known.length < options.alpha
      const tested = { ...test, tailP: test.tailP * known.length }
      return {
        operation,
        ...describeTimes({ step, strata: own, test: tested }, isSignificant, options),
      }
    })
    .sort((a, b) => Math.abs(b.contributionUs) - Math.abs(a.contributionUs))
  const only = operations.length === 1 ? described[0] : undefined
  const all = only ?? describeTimes({ step, strata, test: whole }, significant, options)
  const changed = described.filter((operation) => operation.changed)
  const [first] = changed
  // If single operations changed, their change is reported; other operations would dilute it.
  const told =
    first === undefined
      ? all
      : {
          ...first,
          contributionUs: changed.reduce((sum, one) => sum + one.contributionUs, 0),
          contributionError: Math.hypot(...changed.map((one) => one.contributionError)),
        }
  const { operation: _, ...times } = { operation: '', ...told }
  const concerned = strata.filter(
    ({ operation }) => first === undefined || changed.some((one) => one.operation === operation),
  )
  const observed = excessOf(concerned, ({ after }) => after.calls, cutOf(told.minority))
  return {
    ...plainStep(step),
    ...times,
    beforeRequests: all.beforeRequests,
    afterRequests: all.afterRequests,
    p,
    q,
    designEffect: whole.designEffect,
    rankDf: whole.rankDf,
    logDf: whole.logDf,
    operations: described,
    observedUs: observed.us,
    observedError: observed.error,
    requests: requestsOf(concerned, changed.length === 0 ? [all] : changed),
  }
}

/**
 * Returns the excess time of calls over the mean before, with a share of the slowest cut. This is the integral of
 * quantile differences: the change of all calls, not of the typical one.
 */
export function excessOf(
  strata: readonly StepStratum[],
  callsOf: (stratum: StepStratum) => number,
  cut: number,
): { readonly us: number; readonly error: number } {
  let [us, variance] = [0, 0]
  for (const stratum of strata) {
    const { before, after } = stratum
    if (before.values.length === 0 || after.values.length === 0) continue
    const [then, now] = [cappedMoments(before, cut), cappedMoments(after, cut)]
    const calls = callsOf(stratum)
    us += (now.mean - then.mean) * calls
    variance += calls ** 2 * ((now.variance || 0) / now.count + (then.variance || 0) / then.count)
  }
  return { us, error: Math.sqrt(variance) }
}

function cappedMoments({ values }: StepSample, cut: number): Moments {
  const most = values[Math.ceil((1 - cut) * values.length) - 1]!
  return moments(values.map((value) => Math.min(most, value)))
}

/** Returns the share of the slowest calls to cut: a hundredth, unless the change is mostly there. */
function cutOf(minority: Minority | null): number {
  return minority !== null && minority.share < 3 * SLOWEST ? 0 : SLOWEST
}

function requestsOf(
  strata: readonly StepStratum[],
  changed: readonly Pick<OperationChange, 'minority' | 'shiftUs'>[],
): number[] {
  const minorities = changed.map(({ minority, shiftUs }) => (shiftUs > 0 ? minority : null))
  return distinct([
    ...strata.map(({ before }) => before.recorded.requests),
    ...(minorities.includes(null)
      ? strata.map(({ after }) => after.recorded.requests)
      : minorities.map((minority) => minority!.requests)),
  ])
}

/** Requests in the order in which they are first listed. */
function distinct(lists: readonly ArrayLike<number>[]): number[] {
  let [largest, size] = [0, 0]
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) largest = Math.max(largest, list[i]!)
    size += list.length
  }
  const isListed = new Uint8Array(largest + 1)
  const found = new Array<number>(size)
  let count = 0
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      if (isListed[list[i]!]! === 0) found[count++] = list[i]!
      isListed[list[i]!] = 1
    }
  }
  found.length = count
  return found
}

function describeTimes(
  { step, strata, test }: { step: StepTimes; strata: readonly StepStratum[]; test: StepTest },
  significant: boolean,
  { alpha, minimumEffect, negligibleUs, usualOf, callsOf, resolutionOf, counted }: Limits,
): Omit<OperationChange, 'operation'> {
  const tickUs = resolutionOf(step)
  const { isOfMean, ...typical } = significant
    ? typicalShift(strata, tickUs)
    : { shift: 0, low: Number.NaN, high: Number.NaN, isOfMean: false }
  const had = distinct(strata.map(({ before }) => before.recorded.requests))
  const has = distinct(strata.map(({ after }) => after.recorded.requests))
  const calls = strata.reduce((sum, { after }) => sum + after.calls, 0)
  let [usualUs, weights] = [0, 0]
  for (const request of had) {
    const weight = counted === undefined ? 1 : counted[request]!
    usualUs += weight * usualOf(request)
    weights += weight
  }
  // The change itself is already certain; tails, or else means, only tell whether it concerns some calls.
  const sureness = test.tailP < alpha ? normalQuantile(0.975) : SURE * Math.sqrt(test.designEffect)
  // A smaller number of slow calls, by means alone, may be different calls: only tails show that some became faster.
  const leastUs = test.tailP < alpha ? Number.NEGATIVE_INFINITY : 0
  const all = { typicalUs: typical.shift * calls, calls, sureness, leastUs, isOfMean, tickUs }
  const isTested = significant && !Number.isNaN(test.tailP)
  const ofRequests = isTested ? fewOf(strata, all) : null
  const operations = new Set(strata.map(({ operation }) => operation))
  const ofCalls =
    ofRequests !== null && calls > TWICE * has.length
      ? fewOf(
          callsOf(step).filter(({ operation }) => operations.has(operation)),
          { ...all, eachRequest: calls / has.length },
        )
      : null
  const isOfSingle =
    ofCalls !== null &&
    ofRequests !== null &&
    TWICE * ofCalls.minority.share <= ofRequests.minority.share
  const few = isOfSingle ? ofCalls : ofRequests
  const { shift, low, high } = few ?? typical
  const minority = few?.minority ?? null
  const changedCalls = calls * (minority?.share ?? 1)
  const isNegligible = Math.abs(shift * changedCalls) < negligibleUs
  const contribution = contributionOf(strata, { shift, few })
  // With parallel calls, requests wait only for the slowest.
  const isParallel = minority === null && strata.some((one) => asWaitedFor(one) !== one)
  const addedUs = isParallel ? contribution.contributionUs : shift * calls
  const effect = (addedUs * weights) / Math.max(1, has.length) / usualUs
  const verdict = verdictOf(test.p, { alpha: significant ? Number.POSITIVE_INFINITY : 0 }, () => [
    !(Math.abs(effect) >= minimumEffect) && 'too small',
    isNegligible && 'too small in all',
  ])
  return {
    beforeRequests: had.length,
    afterRequests: has.length,
    callsEach: calls / Math.max(1, has.length),
    probabilitySlower: minority === null ? test.probabilitySlower : Number.NaN,
    p: test.p,
    minority,
    shiftUs: shift,
    interval: [low, high],
    effect,
    ...contribution,
    ...verdict,
  }
}

/**
 * Estimates the change of a typical call, in µs: the Hodges-Lehmann shift, or that of the mean if it is less than a
 * tick of a coarse clock, which makes the times of most calls equal to those before.
 */
function typicalShift(strata: readonly StepStratum[], tickUs: number) {
  if (tickUs > 0) {
    const calls = sum(strata, ({ after }) => after.calls)
    const { us, error } = excessOf(strata, ({ after }) => after.calls, SLOWEST)
    const [shift, width] = [us / calls, (normalQuantile(0.975) * error) / calls]
    if (Math.abs(shift) < tickUs) {
      return { shift, low: shift - width, high: shift + width, isOfMean: true }
    }
  }
  const shift = stratifiedShift(
    strata.map(({ before, after }) => ({ before: before.values, after: after.values })),
    { level: 0.95, sorted: true },
  )
  return { ...shift, isOfMean: false }
}

/** Returns the changed minority of calls if its change is clear and most of the whole change; `null` otherwise. */
function fewOf(
  strata: readonly StepStratum[],
  {
    typicalUs,
    calls,
    sureness,
    leastUs,
    isOfMean,
    tickUs,
    eachRequest = 1,
  }: {
    readonly typicalUs: number
    readonly calls: number
    /** Standard errors of independent calls from which a difference of means is clear. */
    readonly sureness: number
    /** Smallest size of the change. */
    readonly leastUs: number
    /** Whether the typical change is the mean of all calls, these included. */
    readonly isOfMean: boolean
    readonly tickUs: number
    readonly eachRequest?: number
  },
) {
  const few = minorityOf(strata)
  if (few === null) return null
  const excess: MeasuredMinority['excess'] = (isCritical) => {
    const { us, error } = few.excess(isCritical)
    // Calls of one request may be similar.
    return { us, error: error * Math.sqrt(eachRequest) }
  }
  const { us, error } = excess(false)
  const { share } = few.minority
  const changed = share * calls
  const width = normalQuantile(0.975) * error
  // Means of more calls have fewer slow and fewer fast values, although nothing changed in all.
  const whole = excessOf(strata, ({ after }) => after.calls, cutOf(few.minority))
  const isClear = [whole, { us, error }].every((one) => Math.abs(one.us) > sureness * one.error)
  const isOfFew = share > 0 && us * whole.us > 0 && us > leastUs
  // Times that differ by two ticks, one at either end, may be equal ones.
  if (isOfMean && Math.abs(few.typicalUs) < 2 * tickUs) return null
  const othersUs = isOfMean ? typicalUs - us : typicalUs
  if (!isOfFew || !isClear || Math.abs(othersUs) > Math.abs(few.typicalUs * changed) / 2)
    return null
  return {
    ...few,
    excess,
    shift: us / changed,
    low: (us - width) / changed,
    high: (us + width) / changed,
  }
}

/**
 * Returns a shift's contribution to all response times after, with the sign of the typical call's shift. Faster
 * calls count as often as requests waited for them before, because afterwards requests may wait for other calls.
 */
function contributionOf(
  strata: readonly StepStratum[],
  { shift, few }: { shift: number; few: MeasuredMinority | null },
): Pick<OperationChange, 'contributionUs' | 'contributionError'> {
  if (shift === 0) return { contributionUs: 0, contributionError: Number.NaN }
  const criticalCalls = ({ before, after }: StepStratum) =>
    shift > 0 ? after.criticalCalls : (after.calls * before.criticalCalls) / (before.calls || 1)
  const { us, error } =
    few?.excess(true) ?? excessOf(strata.map(asWaitedFor), criticalCalls, SLOWEST)
  return us * shift > 0
    ? { contributionUs: us, contributionError: error }
    : {
        contributionUs: shift * sum(strata, criticalCalls) * (few?.minority.share ?? 1),
        contributionError: Number.NaN,
      }
}

/** Returns only the times of the calls that requests wait for, if calls run in parallel; else all times. */
function asWaitedFor(stratum: StepStratum): StepStratum {
  const waitedOf = (sample: StepSample) => {
    const { criticalUs, critical, recorded, calls, criticalCalls } = sample
    const values = criticalUs
      .map((us, row) => us / critical[row]!)
      .filter(Number.isFinite)
      .sort()
    const isOfSome = calls >= SEVERAL * recorded.values.length && criticalCalls < calls
    return isOfSome && values.length >= NEARLY_ALL * critical.length ? { ...sample, values } : null
  }
  const [before, after] = [waitedOf(stratum.before), waitedOf(stratum.after)]
  return before && after ? { ...stratum, before, after } : stratum
}
