import { group, sum } from 'd3-array'
import { readOptions } from '../../core/options.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { stratifiedShift } from '../../stats/hodges-lehmann.ts'
import type { ModeratedShift } from '../../stats/moderated-shifts.ts'
import { type Moments, moments } from '../../stats/moments.ts'
import type { Categories } from '../categories/categories.ts'
import { cappedTimes, SLOWEST } from '../edges/edge-times.ts'
import { EDGE_OPTIONS, type EdgeOptions } from '../edges/find-edge-changes.ts'
import { compareArrivals } from '../load/arrivals.ts'
import { compareChoices, compareTimes } from './between-runs.ts'
import { type CallCounts, callCounts, callRepeats } from './call-counts.ts'
import { CallSites, type Operation } from './call-order.ts'
import { describeErrors, testErrors } from './compare-errors.ts'
import { callsMadeOtherwise } from './order-changes.ts'
import { catchAllRoot } from './root-types.ts'
import { type OperationChange, type StepChange, StepChanges } from './step-changes.ts'
import { type StepSample, type StepStratum, type StepTimes, stepTimes } from './step-times.ts'
import { type Minority, minorityOf, tailCounts } from './tail-counts.ts'
import { type TimeBlocks, timeBlocks } from './time-blocks.ts'

/** A change of this share of an operation's calls is called one. */
const MIN_SHARE = 0.05
/** So is a change of the number of calls by this share. */
const MIN_TIMES = 0.1

/**
 * Compares services from coarse to fine, of flows from spans: first how long each service works and
 * the way to it takes, and what each operation calls; then, only within what changed, operations.
 * Everything tested at the top shares one correction (Benjamini-Hochberg).
 *
 * Times are compared within operations and their callers. A step changed if all of its operations
 * together or any of them did, the typical call or some of them; see `moderatedShifts` and `tailCounts`
 * for the tests of times and `compareCounts` for those of calls. Of several runs before, all must also
 * differ from these by more than they differ from each other; see `runShifts`.
 *
 * @param categories of two periods; of trace points, there are no steps
 * @param options.alpha level of all tests together; default 0.05
 * @param options.minimumEffect smallest change of a step that is called one, as a share of the mean
 *   response time of the requests that have it, the slowest hundredth cut; default 0.03
 * @param options.minimumShare smallest contribution of a step that is called a change, as a share of
 *   what all requests after would have taken before, the slowest hundredth cut; default 0.001
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * @example
 * findStepChanges(categories).changes.map(({ kind, service }) => `${kind} ${service}`)
 */
export function findStepChanges(
  { flows: given }: Pick<Categories, 'flows'>,
  options: Partial<EdgeOptions> = {},
): StepChanges {
  const flows = given instanceof FoldedFlows ? given.unfolded : given
  return compareSteps(flows, readOptions(EDGE_OPTIONS, options))
}

function compareSteps(flows: FlowSet, options: EdgeOptions): StepChanges {
  const steps = stepTimes(flows)
  const sites = areFromSpans(flows) ? new CallSites(flows) : null
  const repeats = sites === null ? [] : callRepeats(flows, sites)
  const counted = sites === null ? [] : callCounts(sites, catchAllRoot(flows))
  const blocks = timeBlocks(flows)
  const countTests = compareChoices(counted, blocks)
  const choices = counted.map((counts, i) => ({ counts, test: countTests[i]! }))
  const byOperation = steps.map(({ strata }) => [...group(strata, ({ operation }) => operation)])
  const timed = [
    ...steps.map(({ strata }) => strata),
    ...byOperation.flatMap((operations) => operations.map(([, strata]) => strata)),
  ]
  const shifts = compareTimes([...timed, ...repeats.map(({ strata }) => strata)], blocks)
  const tails = testTails(timed, blocks)
  const tests = shifts.map((shift, i) => withTail(shift, tails[i] ?? Number.NaN))
  let at = steps.length
  const ofSteps = steps.map((step, i) => {
    const operations = byOperation[i]!.map(([operation, strata]) => ({
      ...{ operation, strata, test: tests[at++]! },
    }))
    const whole = tests[i]!
    return {
      step,
      whole,
      operations,
      p: smallest(
        whole.p,
        operations.map(({ test }) => test.p),
      ),
    }
  })
  const ofRepeats = repeats.map((repeat) => ({ repeat, test: tests[at++]! }))
  const groups = group(
    [
      ...choices.map(({ counts, test }) => ({ of: counts.of, p: test.p, is: sameTest(counts) })),
      ...ofRepeats.map(({ repeat, test }, i) => ({ of: repeat.of, p: test.p, is: `repeat ${i}` })),
    ],
    ({ of }) => JSON.stringify(of),
  )
  const testsOf = [...groups.values()].map((members) =>
    [...new Map(members.map(({ is, p }) => [is, p])).values()].filter((p) => !Number.isNaN(p)),
  )
  const ofOperations = testsOf.map(bonferroni)
  const arrivals = steps.length === 0 ? { rate: null, pauses: null } : compareArrivals(flows)
  const ofArrivals = [arrivals.rate, arrivals.pauses].map((test) => test?.p ?? Number.NaN)
  const errors = testErrors(flows)
  const q = benjaminiHochberg([
    ...ofSteps.map(({ p }) => p),
    ...ofOperations,
    ...errors.tested.map(({ p }) => p),
    ...ofArrivals,
  ])
  const [rateQ, pausesQ] = q.slice(-2) as unknown as [number, number]
  const within = new Map([...groups.keys()].map((key, i) => [key, q[steps.length + i]!]))
  const sizes = new Map([...groups.keys()].map((key, i) => [key, testsOf[i]!.length]))
  /** q of one of the tests of an operation: that of the operation, or its own if larger. */
  const corrected = (of: Operation, p: number) => {
    const key = JSON.stringify(of)
    return Math.max(within.get(key)!, Math.min(1, p * sizes.get(key)!))
  }
  const isMadeOtherwise =
    sites === null
      ? () => true
      : callsMadeOtherwise(
          sites,
          choices.map(({ counts, test }) => ({ ...counts, ...test })),
        )
  const usualOf = cappedTimes(flows, BEFORE)
  const negligibleUs = options.minimumShare * usualTotalUs(flows, usualOf)
  const limits = { ...options, negligibleUs, usualOf }
  const errorQ = [...q.slice(steps.length + ofOperations.length)]
  return new StepChanges(flows, options, {
    times: steps,
    sites,
    arrivals: { ...arrivals, rateQ, pausesQ },
    errors: describeErrors(flows, errors, { ...options, q: errorQ }),
    steps: ofSteps.map((one, i) => describeStep({ ...one, q: q[i]! }, limits)),
    calls: choices.map(({ counts, test }) => {
      const own = corrected(counts.of, test.p)
      const isLarge = own < options.alpha && Math.abs(test.difference) >= MIN_SHARE
      const changed = isLarge && isMadeOtherwise({ ...counts, ...test })
      return { ...counts, ...test, q: own, changed }
    }),
    repeats: ofRepeats.map(({ repeat, test }) => {
      const own = corrected(repeat.of, test.p)
      const before = repeat.strata.flatMap((stratum) => stratum.before.values)
      const after = repeat.strata.flatMap((stratum) => stratum.after.values)
      const chances = [before.length, after.length] as const
      const made = [sum(before), sum(after)] as const
      const [beforeTimes, afterTimes] = [made[0] / chances[0], made[1] / chances[1]]
      const isLarge = Math.abs(afterTimes - beforeTimes) >= MIN_TIMES * beforeTimes
      const { of, call, timesOf } = repeat
      const changed = own < options.alpha && isLarge
      const times = { beforeTimes, afterTimes, chances, made }
      return { of, call, timesOf, ...test, ...times, q: own, changed }
    }),
  })
}

/**
 * Names what a choice tests: two choices that are always made together, or one exactly where the
 * other is not, are one test.
 */
function sameTest({ strata }: CallCounts): string {
  const made = strata.flatMap((stratum) => [...stratum.made])
  const left = strata.flatMap(({ chances, made }) => [...chances].map((all, i) => all - made[i]!))
  const chances = strata.flatMap((stratum) => [...stratum.chances])
  return `${chances}|${[`${made}`, `${left}`].sort()}`
}

/** A test of times, of the typical call and of tails. */
interface TimesTest extends ModeratedShift {
  /** Of tails alone; `NaN` where there are too few values. */
  readonly tailP: number
}

/** Share of the level that tails have; what most calls do has the rest. */
const TAIL_LEVEL = 0.2

function withTail(shift: ModeratedShift, tailP: number): TimesTest {
  if (Number.isNaN(tailP)) return { ...shift, tailP }
  const shiftP = Number.isNaN(shift.p) ? 1 : shift.p
  const p = Math.min(1, shiftP / (1 - TAIL_LEVEL), tailP / TAIL_LEVEL)
  return { ...shift, p, tailP }
}

/** p of the tails of each measure, corrected for being several. */
function testTails(measures: readonly (readonly StepStratum[])[], blocks: TimeBlocks): number[] {
  const tails = measures.map((strata) => tailCounts(strata, blocks))
  const counted = tails.flat().map((strata) => ({ strata }))
  const tests = compareChoices(counted, blocks, { bursts: true })
  let at = 0
  return tails.map((own) => bonferroni(own.map(() => tests[at++]!.p)))
}

/** p of a step: of all operations together, or of the most significant one. */
function smallest(whole: number, parts: readonly number[]): number {
  if (parts.length < 2) return whole
  return bonferroni([whole, bonferroni(parts)])
}

/** What is large enough to matter. */
interface Limits extends EdgeOptions {
  readonly negligibleUs: number
  /** Response time of a request before, the slowest hundredth cut. */
  readonly usualOf: (request: number) => number
}

interface TestedStep {
  readonly step: StepTimes
  readonly whole: TimesTest
  readonly operations: readonly {
    readonly operation: string
    readonly strata: readonly StepStratum[]
    readonly test: TimesTest
  }[]
  readonly p: number
  readonly q: number
}

function describeStep({ step, whole, operations, p, q }: TestedStep, options: Limits): StepChange {
  const { kind, service, caller, strata } = step
  const significant = q < options.alpha
  const known = operations.filter(({ test }) => !Number.isNaN(test.p))
  const described = operations
    .map(({ operation, strata: own, test }) => {
      const isSignificant = significant && test.p * known.length < options.alpha
      const tested = { ...test, tailP: test.tailP * known.length }
      return { operation, ...describeTimes({ strata: own, test: tested }, isSignificant, options) }
    })
    .sort((a, b) => Math.abs(b.contributionUs) - Math.abs(a.contributionUs))
  const all = describeTimes({ strata, test: whole }, significant, options)
  const changed = described.filter((operation) => operation.changed)
  const [first] = changed
  // Where single operations changed, they say by how much; another operation would dilute it.
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
  return {
    ...{ kind, service, caller },
    ...times,
    beforeRequests: all.beforeRequests,
    afterRequests: all.afterRequests,
    ...{ p, q, operations: described },
    observedUs: excessOf(concerned, ({ calls }) => calls, cutOf(told.minority)).us,
    requests: requestsOf(concerned, changed.length === 0 ? [all] : changed),
  }
}

/** What calls took beyond their mean before, and its standard error, in µs. */
interface Excess {
  readonly us: number
  readonly error: number
}

/**
 * Returns what calls after took beyond the mean of those before of the same stratum, a share of the
 * slowest of either cut: the integral of the differences of all quantiles, and so what all calls
 * together changed by, not the typical one.
 */
function excessOf(
  strata: readonly StepStratum[],
  callsOf: (sample: StepSample) => number,
  cut: number,
): Excess {
  let [us, variance] = [0, 0]
  for (const { before, after } of strata) {
    if (before.values.length === 0 || after.values.length === 0) continue
    const [then, now] = [cappedMoments(before, cut), cappedMoments(after, cut)]
    const calls = callsOf(after)
    us += (now.mean - then.mean) * calls
    variance += calls ** 2 * ((now.variance || 0) / now.count + (then.variance || 0) / then.count)
  }
  return { us, error: Math.sqrt(variance) }
}

function cappedMoments({ values }: StepSample, cut: number): Moments {
  const most = values[Math.ceil((1 - cut) * values.length) - 1]!
  return moments(values.map((value) => Math.min(most, value)))
}

/** The slowest hundredth is cut, unless it is much of what changed. */
function cutOf(minority: Minority | null): number {
  return minority !== null && minority.share < 3 * SLOWEST ? 0 : SLOWEST
}

/** Requests of all these times; of minorities that became slower, only those after that did. */
function requestsOf(
  strata: readonly StepStratum[],
  changed: readonly Pick<OperationChange, 'minority' | 'shiftUs'>[],
): number[] {
  const minorities = changed.map(({ minority, shiftUs }) => (shiftUs > 0 ? minority : null))
  const before = strata.flatMap((stratum) => [...stratum.before.requests])
  const after = minorities.includes(null)
    ? strata.flatMap((stratum) => [...stratum.after.requests])
    : minorities.flatMap((minority) => minority!.requests)
  return [...new Set([...before, ...after])]
}

function describeTimes(
  { strata, test }: { strata: readonly StepStratum[]; test: TimesTest },
  significant: boolean,
  { alpha, minimumEffect, negligibleUs, usualOf }: Limits,
): Omit<OperationChange, 'operation'> {
  const typical = significant
    ? stratifiedShift(
        strata.map(({ before, after }) => ({ before: before.values, after: after.values })),
        { level: 0.95, sorted: true },
      )
    : { shift: 0, low: Number.NaN, high: Number.NaN }
  const had = new Set(strata.flatMap(({ before }) => [...before.requests]))
  const has = new Set(strata.flatMap(({ after }) => [...after.requests]))
  const calls = strata.reduce((sum, { after }) => sum + after.calls, 0)
  const criticalCalls = strata.reduce((sum, { after }) => sum + after.criticalCalls, 0)
  let usualUs = 0
  for (const request of had) usualUs += usualOf(request)
  // That something changed is sure already: tails only say whether it did for some.
  const isTail = significant && test.tailP < alpha
  const few = isTail ? fewOf(strata, typical.shift * calls) : null
  const { shift, low, high } = few ?? typical
  const changedCalls = calls * (few?.minority.share ?? 1)
  const isNegligible = Math.abs(shift * changedCalls) < negligibleUs
  const effect = (shift * calls * had.size) / Math.max(1, has.size) / usualUs
  const minority = few?.minority ?? null
  return {
    beforeRequests: had.size,
    afterRequests: has.size,
    probabilitySlower: minority === null ? test.probabilitySlower : Number.NaN,
    ...{ p: test.p, minority },
    ...{ shiftUs: shift, interval: [low, high], effect },
    ...contributionOf(strata, { shift, criticalCalls, minority }),
    changed: significant && Math.abs(effect) >= minimumEffect && !isNegligible,
  }
}

/** Most calls that may have changed where they are told as some of all. */
const MAX_MINORITY = 0.5

/** Some of the calls, if what they changed by is clear and most of what all did; `null` otherwise. */
function fewOf(strata: readonly StepStratum[], typicalUs: number) {
  const callsOf = ({ calls }: StepSample) => calls
  const whole = excessOf(strata, callsOf, 0)
  const minority = minorityOf(strata, Math.sign(whole.us))
  const { us, error } = excessOf(strata, callsOf, cutOf(minority))
  const changed = minority.share * strata.reduce((sum, { after }) => sum + after.calls, 0)
  const isOfFew = minority.share > 0 && minority.share < MAX_MINORITY && us * whole.us > 0
  const width = normalQuantile(0.975) * error
  const isClear = Math.abs(us) > width
  if (!isOfFew || !isClear || Math.abs(typicalUs) > Math.abs(us) / 2) return null
  return {
    minority,
    shift: us / changed,
    low: (us - width) / changed,
    high: (us + width) / changed,
  }
}

/** What a shift adds to all response times; with the sign of the shift, which is the typical call's. */
function contributionOf(
  strata: readonly StepStratum[],
  {
    shift,
    criticalCalls,
    minority,
  }: { shift: number; criticalCalls: number; minority: Minority | null },
): Pick<OperationChange, 'contributionUs' | 'contributionError'> {
  if (shift === 0) return { contributionUs: 0, contributionError: Number.NaN }
  const { us, error } = excessOf(strata, (sample) => sample.criticalCalls, cutOf(minority))
  return us * shift > 0
    ? { contributionUs: us, contributionError: error }
    : {
        contributionUs: shift * criticalCalls * (minority?.share ?? 1),
        contributionError: Number.NaN,
      }
}

/** What all requests after would have taken at the mean response time before, in µs. */
function usualTotalUs(flows: FlowSet, timeOf: (request: number) => number): number {
  let sum = 0
  for (let request = 0; request < flows.count(BEFORE); request++) sum += timeOf(request)
  return (sum / Math.max(1, flows.count(BEFORE))) * flows.count(AFTER)
}
