import { bisectRight, group, mean } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { requireStage } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { TIME } from '../../core/quantity.ts'
import { AFTER, BEFORE, FlowSet } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { callName } from '../../flows/node-labels.ts'
import { areFromSpans, messageReceivers } from '../../flows/span-tree.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { cauchyCombination } from '../../stats/cauchy-combination.ts'
import type { Categories } from '../categories/categories.ts'
import { EDGE_OPTIONS, type EdgeOptions } from '../edges/find-edge-changes.ts'
import { verdictOf } from '../mutations/find-response-time-mutations.ts'
import { LEVEL, MOST, NOTABLE, PART, SIDE_LEVEL, SMALL, SURE, WHOLE_LEVEL } from '../thresholds.ts'
import { compareArrivals } from './arrivals.ts'
import { type CallChoice, callCounts, callRepeats, sameTest } from './call-counts.ts'
import { CallSites, isSame, type Operation } from './call-order.ts'
import { describeErrors, testErrors } from './compare-errors.ts'
import { describeLogs, testLogs } from './compare-log-counts.ts'
import { type LostShares, lostShares } from './lost-spans.ts'
import { recordedOtherwise } from './recorded-otherwise.ts'
import { rootCalls } from './root-types.ts'
import {
  describeStep,
  limitsOf,
  type StepChange,
  StepChanges,
  type StepTest,
  type TestedStep,
} from './step-changes.ts'
import type { StepStratum } from './step-strata.ts'
import { type StepTimes, stepTimes } from './step-times.ts'
import { type FarTimes, testFarTimes, testTails } from './tail-counts.ts'
import {
  type CountsTest,
  compareActions,
  compareTimes,
  shortStretches,
  timeBlocks,
} from './time-blocks.ts'

/**
 * Compares services from coarse to fine, of flows from spans: first the work of each service, the way to it, and the
 * calls of each operation; then, only within changed ones, single operations. Everything tested at the top shares one
 * correction (Benjamini-Hochberg).
 *
 * Times are compared within operations and their callers. A step changed if all of its operations together or any of
 * them did, the typical call or some of them; see `moderatedShifts` and `testTails` for the tests of times and
 * `compareCounts` for those of calls. If a period has a step's calls in one request only, the step is not tested and
 * does not count in the correction. With several runs before, a change must also exceed the differences between these
 * runs; see `runShifts`.
 *
 * @param categories categories of two periods; trace points have no steps
 * @param options.alpha level of all tests together; default 0.05
 * @param options.minimumEffect smallest reported change of a step, as a share of the mean response time of the requests
 *   that have it, the slowest hundredth cut; default 0.03
 * @param options.minimumShare smallest reported contribution of a step, as a share of the time that all requests after
 *   would have taken before, the slowest hundredth cut; default 0.001
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * @example
 * findStepChanges(categories).changes.map(({ kind, service }) => `${kind} ${service}`)
 */
export function findStepChanges(
  of: Pick<Categories, 'flows'>,
  options: Partial<EdgeOptions> = {},
): StepChanges {
  const given = of?.flows
  requireStage('findStepChanges(comparison)', given, FlowSet)
  const flows = recordedFlows(given)
  const read = readOptions(EDGE_OPTIONS, options)
  return areFromSpans(flows)
    ? compareSteps(flows, read)
    : new StepChanges({ flows, options: read, ...NO_STEPS })
}

const NO_STEPS = {
  sites: null,
  times: [],
  ownTimes: [],
  steps: [],
  calls: [],
  repeats: [],
  errors: [],
  logs: [],
  arrivals: { rate: null, pauses: null, rateQ: Number.NaN, pausesQ: Number.NaN },
  tested: 0,
}

function compareSteps(flows: FlowSet, options: EdgeOptions): StepChanges {
  const steps = stepTimes(flows)
  const sites = new CallSites(flows)
  const { names, uncovered } = recordedOtherwise(flows)
  const isRecordedAlike = ({
    of,
    call,
    previous = null,
  }: Pick<CallChoice, 'of' | 'call'> & Partial<CallChoice>) =>
    !uncovered.has(callName(of)) &&
    [of, call, previous].every((one) => one === null || !names.has(callName(one)))
  // When messages are received lies with who receives them, not with who calls.
  const isReceived = (one: Operation | null) =>
    one !== null && messageReceivers(flows).has(callName(one))
  const counted = callCounts(sites, rootCalls(flows))
    .filter(isRecordedAlike)
    .filter(({ kind, call, previous }) => kind === 'calls' || ![call, previous].some(isReceived))
  const repeats = callRepeats(flows, sites).filter(isRecordedAlike)
  const blocks = timeBlocks(flows)
  const countTests = compareActions(counted, blocks)
  const choices = counted.map((counts, i) => ({ counts, test: countTests[i]! }))
  const { byOperation, timed } = timedStrata(steps)
  const shifts = compareTimes([...timed, ...repeats.map(({ strata }) => strata)], blocks)
  const tails = testTails(timed, { blocks, short: shortStretches(flows) })
  const tests = shifts.map((shift, i) => {
    const isOne = i < timed.length && areOfOneRequest(timed[i]!)
    if (isOne) return { ...shift, p: Number.NaN, tailP: Number.NaN }
    const tailP = tails[i] ?? Number.NaN
    const p = Number.isNaN(tailP) ? shift.p : cauchyCombination([shift.p, tailP])
    return { ...shift, p, tailP }
  })
  let at = steps.length
  const ofSteps = steps.map((step, i) => {
    const operations = byOperation[i]!.map((one) => ({ ...one, test: tests[at++]! }))
    const whole = tests[i]!
    const parts = operations.map(({ test }) => test.p)
    return { step, whole, operations, p: smallest(whole.p, parts) }
  })
  const ofRepeats = repeats.map((repeat) => ({ repeat, test: tests[at++]! }))
  const groups = group(
    [
      ...choices.map(({ counts, test: { p } }) => ({ of: counts.of, p, is: sameTest(counts, p) })),
      ...ofRepeats.map(({ repeat, test }, i) => ({ of: repeat.of, p: test.p, is: `repeat ${i}` })),
    ],
    ({ of }) => JSON.stringify(of),
  )
  const ofOperations = Array.from(groups, ([key, members]) => {
    const distinct = [...new Map(members.map(({ is, p }) => [is, p])).values()]
    const known = distinct.filter((p) => !Number.isNaN(p))
    return { key, p: cauchyCombination(known), tests: known.length }
  })
  const arrivals =
    steps.length === 0 || flows.quantity !== TIME
      ? { rate: null, pauses: null }
      : compareArrivals(flows)
  const ofArrivals = [arrivals.rate, arrivals.pauses].map((test) => test?.p ?? Number.NaN)
  const errors = testErrors(flows)
  const logs = testLogs(flows)
  const q = benjaminiHochberg([
    ...ofSteps.map(({ p }) => p),
    ...ofOperations.map(({ p }) => p),
    ...errors.tested.map(({ p }) => p),
    ...logs.map(({ p }) => p),
    ...ofArrivals,
  ])
  const [rateQ, pausesQ] = q.slice(-2) as unknown as [number, number]
  const within = new Map(
    ofOperations.map(({ key, tests }, i) => [key, { tests, ofAll: q[steps.length + i]! }]),
  )
  const corrected = (of: Operation, p: number) => {
    const { tests, ofAll } = within.get(JSON.stringify(of))!
    return Math.max(ofAll, Math.min(1, p * tests))
  }
  const lost = lostShares(flows)
  const isHidden = lossOf(lost, counted)
  const isMadeOtherwise = callsMadeOtherwise(
    sites,
    choices.map(({ counts, test }) => ({ ...counts, ...test })),
  )
  const limits = limitsOf(flows, options)
  const errorQ = [...q.slice(steps.length + ofOperations.length)]
  const logQ = errorQ.slice(errors.tested.length)
  const far = testFarTimes(flows, steps)
  const described = ofSteps
    .map((one, i) => ({ ...one, q: q[i]! }))
    .map((one) => {
      const step = describeStep(one, limits)
      if (far?.step !== one.step || one.q < options.alpha) return step
      const ofFar = describeStep(withFar(one, far), limits)
      return ofFar.minority === null ? step : ofFar
    })
  const isTold = toldParts(described)
  return new StepChanges({
    flows,
    options,
    times: steps.filter((_, i) => isTold(described[i]!)),
    ownTimes: steps.filter(
      (one) => one.part !== 'within' && one.kind === 'work' && one.strata.length > 0,
    ),
    sites,
    tested: q.filter((one) => !Number.isNaN(one)).length,
    arrivals: { ...arrivals, rateQ, pausesQ },
    errors: describeErrors(flows, errors, { ...options, q: errorQ }),
    logs: describeLogs(flows, logs, { ...options, q: logQ }),
    steps: described
      .filter(isTold)
      .sort((a, b) => Math.abs(b.contributionUs) - Math.abs(a.contributionUs)),
    calls: choices.map(({ counts, test }) => {
      const own = corrected(counts.of, test.p)
      const verdict = verdictOf(own, options, () => [
        !(Math.abs(test.difference) >= SMALL) && 'too small',
        !isMadeOtherwise({ ...counts, ...test }) && 'not borne out',
        isHidden({ ...counts, ...test }) && 'lost spans',
      ])
      return { ...counts, ...test, q: own, ...verdict }
    }),
    repeats: ofRepeats.map(({ repeat, test }) => {
      const own = corrected(repeat.of, test.p)
      const { chances, made } = repeat
      const [beforeTimes, afterTimes] = [made[0] / chances[0], made[1] / chances[1]]
      const isLarge = Math.abs(afterTimes - beforeTimes) >= NOTABLE * beforeTimes
      const { of, call, timesOf } = repeat
      const ofTimes = { kind: 'calls', of, call, previous: null, chances } as const
      const difference = (afterTimes - beforeTimes) / Math.max(beforeTimes, afterTimes)
      const changed = own < options.alpha && isLarge && !isHidden({ ...ofTimes, difference })
      const times = { beforeTimes, afterTimes, chances, made }
      return { of, call, timesOf, ...test, ...times, q: own, changed }
    }),
  })
}

/** Returns the times that are tested: of each step, and of each operation of one. */
function timedStrata(steps: readonly StepTimes[]) {
  // Operations that are all there is of a step are tested once.
  const byOperation = steps.map(({ strata }) =>
    Array.from(
      group(strata, ({ operation }) => operation),
      ([operation, own]) => ({ operation, strata: own.length === strata.length ? strata : own }),
    ),
  )
  const timed = [
    ...steps.map(({ strata }) => strata),
    ...byOperation.flatMap((operations) => operations.map((one) => one.strata)),
  ]
  return { byOperation, timed }
}

/** Spans needed to record a call: its own, and that of its predecessor. */
const SPANS_OF_CALL = 2

type Change = Pick<TestedChoice, 'kind' | 'of' | 'call' | 'previous' | 'difference' | 'chances'>

/**
 * Whether calls that are made more or less often are so by no more than spans that were lost explain: of
 * all, or of a service that takes part, be it as what may come next. Fewer spans hide calls, and change
 * in either way how they lie.
 */
function lossOf(
  { all, ofService }: LostShares,
  choices: readonly CallChoice[],
): (change: Change) => boolean {
  const calledBy = new Map<string, Set<string>>()
  for (const { of, call } of choices) {
    if (call !== null) getOrInsert(calledBy, callName(of), () => new Set()).add(call.service)
  }
  return ({ kind, of, call, previous, difference, chances }) => {
    const services = new Set([of, call, previous].flatMap((one) => one?.service ?? []))
    if (call === null) for (const one of calledBy.get(callName(of)) ?? []) services.add(one)
    const shares = [all, ...Array.from(services, (service) => ofService.get(service) ?? all)]
    return shares.some(([before, after]) => {
      const lost = SPANS_OF_CALL * (after - before)
      const share = Math.min(1, Math.abs(lost))
      const error = Math.sqrt((share * (1 - share)) / chances[lost > 0 ? AFTER : BEFORE])
      const lacking = call === null ? difference : -difference
      const isLess = lacking * lost > 0 || (lost !== 0 && kind !== 'calls' && kind !== 'next')
      return isLess && Math.abs(difference) <= share + SURE * error
    })
  }
}

/** Whether all calls of a period are of one request: what these have in common may be why they differ. */
function areOfOneRequest(strata: readonly StepStratum[]): boolean {
  return (['before', 'after'] as const).some((period) => {
    const [first, ...others] = strata
      .map((one) => one[period].recorded.requests)
      .filter(({ length }) => length > 0)
    const isFirst = (request: number) => request === first?.[0]
    return first?.every(isFirst) === true && others.every((some) => some.every(isFirst))
  })
}

/** Returns whether to report a step's parts: if one changed against the whole, or although the whole did not. */
function toldParts(steps: readonly StepChange[]): (step: StepChange) => boolean {
  const ofService = group(
    steps.filter(({ kind }) => kind === 'work'),
    ({ service }) => service,
  )
  return ({ kind, service, part }) => {
    if (kind !== 'work') return true
    const own = ofService.get(service)!
    const whole = own.find((one) => one.part === undefined)
    const inParts = own.some(
      (one) =>
        one.part !== undefined &&
        one.changed &&
        !(whole?.changed && one.shiftUs * whole.shiftUs > 0),
    )
    return inParts === (part !== undefined)
  }
}

/** Tests of each step's times: of most calls, and of tails. */
const TESTS_OF_TIMES = 2
/** Times are tested by ranks and by logs. */
const STATISTICS = 2

/**
 * Returns the level for the test of one operation's typical time if nothing else changed: its share of `alpha`, after
 * tails, parts of after, other statistics and all other tests.
 */
export function levelOfTimes(
  { tested, options: { alpha } }: Pick<StepChanges, 'tested' | 'options'>,
  operations: number,
): number {
  const ofOperation = operations < 2 ? 1 : 2 * operations
  return (alpha * WHOLE_LEVEL) / TESTS_OF_TIMES / STATISTICS / ofOperation / Math.max(1, tested)
}

/** Returns a step with the result of the test of calls that take far longer. */
function withFar(one: TestedStep, { operation, p }: FarTimes): TestedStep {
  const showing = (test: StepTest) => ({ ...test, p, tailP: p })
  return {
    ...one,
    whole: showing(one.whole),
    operations: one.operations.map((own) =>
      own.operation === operation ? { ...own, test: showing(own.test) } : own,
    ),
    p,
    q: Math.min(1, p / SIDE_LEVEL),
  }
}

/** Returns p of a step: of all operations together, or of the most significant one. */
function smallest(whole: number, parts: readonly number[]): number {
  if (parts.length < 2) return whole
  return cauchyCombination([whole, cauchyCombination(parts)])
}

type TestedChoice = CallChoice & Pick<CountsTest, 'made' | 'chances' | 'difference' | 'p'>

/**
 * Tests whether calls lie otherwise as they are made otherwise: two that no longer overlap come
 * right after one another, and when calls are made moved more than how long they take.
 */
function callsMadeOtherwise(
  sites: CallSites,
  all: readonly TestedChoice[],
): (choice: TestedChoice) => boolean {
  const choices = new Map(all.map((choice) => [keyOf(choice), choice]))
  const placeOf = ({ of }: TestedChoice) => JSON.stringify(of)
  const reordered = group(
    all.filter(({ kind, p }) => kind === 'before' && p < LEVEL),
    placeOf,
  )
  return (choice) => {
    const { kind, of, previous, call, difference } = choice
    if (kind === 'next' && previous !== null) {
      return !isReordered(reordered.get(placeOf(choice)) ?? [], choice)
    }
    if (call === null || kind === 'calls' || kind === 'next') return true
    const period = difference > 0 ? AFTER : BEFORE
    if (kind === 'again') return sites.isRetried(of, call, period)
    if (kind === 'hedges') return sites.isHedged(of, call, period)
    if (kind === 'outlives') return isBorneOut(moveOf(sites, of, [call]), difference)
    const pair = (wanted: CallChoice['kind']) =>
      choices.get(keyOf({ ...choice, kind: wanted })) ??
      choices.get(keyOf({ ...choice, kind: wanted, previous: call, call: previous }))
    const [together, inTurn] = [pair('together'), pair('in turn')]
    if (kind === 'in turn' || previous === null || inTurn === undefined) return false
    if (kind === 'before') {
      const { made, chances } = inTurn
      const isClose = [0, 1].some((i) => (made[i] as number) >= MOST * (chances[i] as number))
      return isClose && difference > 2 * Math.abs(together?.difference ?? 0)
    }
    if (-inTurn.difference * Math.sign(difference) < PART * Math.abs(difference)) return false
    return isSame(previous, call) || isBorneOut(moveOf(sites, of, [previous, call]), difference)
  }
}

/** Whether the only change after a call is that another one, made as often, changed places. */
function isReordered(
  reordered: readonly TestedChoice[],
  { previous, call, difference }: TestedChoice,
) {
  return reordered.some(
    (other) =>
      Math.abs(other.difference) >= Math.abs(difference) / 2 &&
      isOf(other, previous) &&
      (call === null || isOf(other, call)),
  )
}

function isOf(pair: TestedChoice, one: CallChoice['call']): boolean {
  return [pair.previous, pair.call].some((other) => other && one && isSame(other, one))
}

function keyOf({ kind, of, previous, call }: CallChoice): string {
  return JSON.stringify([kind, of, previous, call])
}

function isBorneOut(
  { byStarts, byDurations }: ReturnType<typeof moveOf>,
  difference: number,
): boolean {
  const sign = Math.sign(difference)
  return sign * byStarts > 0 && sign * byStarts >= sign * byDurations
}

function moveOf(sites: CallSites, of: CallChoice['of'], callees: readonly CallChoice['of'][]) {
  const periods = sites.timesOf(of, callees).map((rows) => {
    const [first, second] = [0, 1].map((i) =>
      Float64Array.from(rows, (row) => spanOf(row, i)[1] - spanOf(row, i)[0]).sort(),
    )
    // Time from the one's start to the other's start, or to the end of their caller.
    const gaps = rows.map((row) => {
      const [[start], other] = [spanOf(row, 0), spanOf(row, 1)]
      return callees.length === 1 ? other[1] - start : other[0] - start
    })
    return { gaps, durations: [first, second] as [Float64Array, Float64Array] }
  })
  const [before, after] = periods as [(typeof periods)[number], (typeof periods)[number]]
  const share = ({ gaps }: typeof before, { durations: [first, second] }: typeof before) =>
    mean(gaps, (gap) => {
      const durations = gap >= 0 ? first : second
      return 1 - bisectRight(durations, Math.abs(gap)) / durations.length
    }) ?? 0
  const usual = share(before, before)
  return { byStarts: share(after, before) - usual, byDurations: share(before, after) - usual }
}

function spanOf(row: Float64Array, which: number): [start: number, end: number] {
  return [row[2 * which] as number, row[2 * which + 1] as number]
}
