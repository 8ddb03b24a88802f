// Runs once a request and column: the loops index with `!`.

import { greatest, group, median, range, sum } from 'd3-array'
import { requireStage } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, FlowSet, type Period } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { normalP } from '../../stats/distributions.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { largerP, type RunMeasure, runShifts } from '../../stats/run-shifts.ts'
import { condition } from '../../traces/selection/condition.ts'
import { cappedTimes, usualMeanUs } from '../edges/edge-times.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { stepKey } from '../steps/step-times.ts'
import { type TimeBlocks, timeBlocks } from '../steps/time-blocks.ts'
import {
  ALL,
  APART,
  BEAM,
  LARGE,
  MAX_FOLLOWED,
  MIN_SEVERAL,
  MOST,
  NEARLY_ALL,
  PART,
  SMALL,
  TWICE,
} from '../thresholds.ts'
import { type Divided, DividingColumns } from './dividing-columns.ts'
import { allMeasured, failedRequests, type Measured, onlyOperation } from './measured.ts'
import { searchStepSpans } from './measured-spans.ts'
import {
  type Tried as Chosen,
  isEnough,
  isMoved,
  isOfFailures,
  isOfNumbers,
  requestsWithFailing,
} from './mistaken-conditions.ts'
import {
  type CodedRows,
  FIRST_VALUE,
  type RequestColumn,
  RequestColumns,
} from './request-columns.ts'
import { type Candidate, ConditionScan, candidateKey, metBy } from './scan-conditions.ts'
import {
  type Coded,
  codesAfter,
  conditionOf,
  equivalentsOf,
  operationIs,
  placesFirst,
  subjectOf,
  textOf,
} from './segment-words.ts'
import {
  type OtherValues,
  SEGMENT_OPTIONS,
  type Segment,
  type SegmentOptions,
  Segments,
  type ValueChange,
} from './segments.ts'
import {
  countAfter,
  kindsOf,
  levelsOf,
  rowsOf,
  rowsOfOthers,
  type Searched as SearchedRows,
  type SegmentTest,
  testSegment,
  toldSides,
  waitedFor,
  withoutUnchanged,
} from './test-segment.ts'

export interface SegmentSources {
  readonly steps: StepChanges
  /** Columns that divide requests; by default all recorded ones. */
  readonly columns?: RequestColumns
}

export function segmentSources(call: string, of: SegmentSources): Required<SegmentSources> {
  requireStage(call, of?.steps?.flows, FlowSet)
  const { steps } = of
  return { steps, columns: of.columns ?? new RequestColumns(steps.flows) }
}

/**
 * Finds the requests in which something changed: conditions, single ones or pairs, that divide changed from unchanged
 * requests. A change is another time of a step, another share of failures, or other calls of an operation.
 *
 * Conditions are over attributes and hosts of roots, of the step's spans and of its callers': one value, several
 * values, numbers from or below one, presence of a value, called services. Spans within a step, calls, and repeated
 * visits of a service are divided one by one, by their own attributes (`Segment.within`). A condition does not count if
 * it differed as much before, is merely frequent, or if all requests changed equally: see `testSegment`. Corrects for
 * every test: Bonferroni within a step, then Benjamini-Hochberg together with `findStepChanges`. Steps that are already
 * known to have changed form a family of their own, as the next level of a tree.
 *
 * @param of a comparison, or another object with its `steps`
 * @param options see `SEGMENT_OPTIONS`
 * @returns nothing for traces without spans
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Sources: Bailis et al. 2017, "MacroBase"; Chung et al. 2019, "Slice Finder"; Bhagwan et al. 2014,
 * "Adtributor"; Yekutieli 2008, "Hierarchical false discovery rate-controlling methodology".
 *
 * @example
 * findSegments(comparison).table().columnNames()[3] // 'where'
 */
export function findSegments(of: SegmentSources, given: Partial<SegmentOptions> = {}): Segments {
  const { steps, columns: read } = segmentSources('findSegments(comparison)', of)
  const options = readOptions(SEGMENT_OPTIONS, given)
  const { flows } = steps
  if (!options.segments || steps.steps.length === 0) {
    const none = { segments: [], otherValues: [], leftOut: [], omitted: 0 }
    return new Segments({ options, quantity: flows.quantity, ...none })
  }
  const columns = new DividingColumns(steps, read)
  const failed = failedRequests(flows)
  const negligibleUs = options.minimumShare * usualMeanUs(flows) * flows.countedIn(AFTER)
  const [blocks, hasFailing] = [timeBlocks(flows), requestsWithFailing(flows)]
  const usualOf = cappedTimes(flows, BEFORE)
  const limits = { ...options, failed, hasFailing, blocks, usualOf, negligibleUs }
  let [cells, omitted] = [0, 0]
  const searched = (measured: Measured, { coded, size }: Divided) => {
    cells += size
    if (cells <= options.maxSegmentCells) return [{ measured, ...search(measured, coded, limits) }]
    omitted++
    return []
  }
  const searches = [
    ...allMeasured(steps, failed).flatMap((measured) => searched(measured, columns.of(measured))),
    ...searchStepSpans(steps, columns, searched),
  ]
  // With several runs, a segment must change by more than it differs between them.
  const held = searches.flatMap(({ found }) => found)
  const shifts = flows.runs.length < 2 ? [] : runShifts(held.map(({ levels }) => levels))
  const ofRuns = new Map(shifts.map((shift, i) => [held[i]!.requests, shift]))
  // Steps known to have changed are only located; the others may not have changed at all.
  const family = [...steps.steps, ...steps.calls].map(({ p }) => p)
  const segments = [true, false]
    .flatMap((sure) => {
      const own = searches.filter(({ measured }) => measured.isSure === sure)
      const q = benjaminiHochberg([...own.map(({ p }) => p), ...(sure ? [] : family)])
      return own.flatMap(({ found }, i) =>
        found.map(({ levels: _, ...segment }) => {
          const between = sure ? undefined : ofRuns.get(segment.requests)
          const [p, own] = [segment.p, Math.max(segment.q, q[i]!)].map((one) =>
            largerP(one, between),
          )
          return { ...segment, p: p!, q: own! }
        }),
      )
    })
    .filter((segment) => segment.q < options.alpha)
  const values = searches.flatMap((one) => one.values)
  const inVain = new Set(searches.flatMap((one) => one.inVain))
  return new Segments({
    options,
    quantity: flows.quantity,
    segments: withoutEchoes(segments, flows, failed).sort((a, b) => sizeOf(b) - sizeOf(a)),
    otherValues: surely(values, { alpha: options.alpha, inVain }),
    leftOut: columns.leftOut,
    omitted,
  })
}

type Searched = SearchedRows<Coded>

interface SearchOptions extends SegmentOptions {
  readonly failed: Uint8Array
  readonly hasFailing: Uint8Array
  readonly blocks: TimeBlocks
  readonly usualOf: (request: number) => number
  /** Total change, in µs, below which a segment does not matter. */
  readonly negligibleUs: number
}

function search(measured: Measured, columns: readonly Coded[], options: SearchOptions) {
  const found: (Segment & { readonly levels: RunMeasure })[] = []
  const earlier: Candidate[] = []
  let smallest = 1
  let isOut: Uint8Array | null = null
  let scan = new ConditionScan(measured, columns, isOut)
  const tests = new Map<string, Tried>()
  const testOf = (candidate: Candidate, isInside: Uint8Array, out = isOut) =>
    testSegment(measured, isInside, {
      stratum: candidate.stratum,
      isOut: out,
      level: options.alpha / (2 * candidate.choices),
      kind: kindsOf(candidate, columns, measured),
    })
  // If requests of this operation outside hardly changed either, the change is the operation's.
  const isApartWithin = ({ candidate, isInside }: Tried) => {
    const others = rowsOfOthers(measured, isInside, isOut)
    const isWhole = others === null || isInside.every((is, row) => is === 1 || others[row] === 1)
    return isWhole || isApart(testOf(candidate, isInside, others))
  }
  // A value never seen before may be the change itself, so requests are distinguished by older common values, if
  // possible.
  for (const withNew of [false, true]) {
    while (found.length < MAX_FOLLOWED) {
      const tried: Tried[] = []
      for (const candidate of scan.candidates(withNew)) {
        const key = candidateKey(candidate)
        const known = tests.get(key)
        const isInside = known?.isInside ?? rowsOf(candidate, columns, measured)
        const one = known ?? { candidate, isInside, test: testOf(candidate, isInside) }
        tests.set(key, one)
        // The ranks that order candidates may have changed although times did not.
        if (isApart(one.test)) tried.push(one)
        if (tried.length === BEAM) break
      }
      const isHolding = (one: Tried) => chancesOf(one).q < options.alpha
      const isFit = (one: Tried) =>
        isLarge(one.test, { measured, isInside: one.isInside }, options) &&
        !isOfFailures(one, measured, options) &&
        isHolding(one) &&
        !isMoved(one, { measured, columns }) &&
        !isOfNumbers(one, { measured, columns }) &&
        isApartWithin(one)
      const likeliest = tried.find(isFit)
      if (likeliest === undefined) break
      const best =
        tried.find((one) => isEnough(one, likeliest, { measured, isOut }) && isFit(one)) ??
        likeliest
      const holding = tried.filter(isHolding).map((one) => chancesOf(one).q)
      smallest = Math.min(smallest, ...holding)
      const searched = { measured, columns, isOut }
      const changed = withoutUnchanged(best, searched)
      const whole = { candidate: changed, isInside: rowsOf(changed, columns, measured) }
      const told = narrowed(whole, searched, options)
      const test = testOf(told.candidate, told.isInside)
      const shown = { ...told, test, ...chancesOf(best) }
      found.push({
        ...segmentOf(shown, { ...searched, earlier }),
        levels: levelsOf(measured, told.isInside, options.blocks),
      })
      earlier.push(told.candidate)
      isOut = told.isInside.map((is, row) => is | (isOut?.[row] ?? 0))
      scan = new ConditionScan(measured, columns, isOut)
      tests.clear()
    }
  }
  const values = otherValues(measured, columns)
  return { found, p: smallest, values, inVain: replacedInVain(measured, columns) }
}

/**
 * Returns the same segment within its only changed operation, if others hardly changed, with the conditions that divide
 * it: `db.name = orders` may stand for one kind of query.
 */
function narrowed(
  { candidate, isInside }: Chosen,
  { measured, columns, isOut }: Searched,
  { alpha }: SearchOptions,
): Chosen {
  const { offsets, strata, measure } = measured
  const whole = { candidate, isInside }
  if (candidate.stratum !== null || strata.length === 1) return whole
  const isElse = isInside.map((is, row) => Number(is === 0 || isOut?.[row] === 1))
  const level = alpha / (2 * strata.length)
  const how = { stratum: null, isOut: isElse, level, kind: new Uint32Array(isInside.length) }
  for (const stratum of strata.keys()) {
    const [from, to] = [offsets[2 * stratum]!, offsets[2 * stratum + 2]!]
    const own = isInside.map((is, row) => (row >= from && row < to ? is : 0))
    if (!own.includes(1)) continue
    if (own.some((is, row) => is === 0 && isElse[row] === 0)) {
      if (measure !== 'time') continue
      const { ps, inside, outside } = testSegment(measured, own, how)
      const most = Math.abs(outside.change) + 2 * outside.error
      if (!(most <= PART * Math.abs(inside.change) && ps().p < level)) continue
    }
    const conditions = candidate.conditions.filter((condition) => {
      const { codes } = columns.find(({ column }) => column === condition.column)!
      const isMet = metBy(condition)
      return codes.subarray(from, to).some((code) => isMet[code] === 0)
    })
    // For times, titles name the operation. For other measures, it stands for a condition or tells nothing.
    const tells = measure === 'time' || conditions.length < candidate.conditions.length
    if (conditions.length === 0 || !tells) return whole
    return { candidate: { ...candidate, stratum, conditions }, isInside: own }
  }
  return whole
}

interface Tried extends Chosen {
  readonly test: SegmentTest
}

/** Returns p, and p corrected for the choice among conditions. */
const chancesOf = remembered(({ candidate, test }: Tried) => {
  const { p, factorP } = test.ps()
  return { p, q: Math.min(1, 2 * Math.max(p * candidate.choices, factorP)) }
})

/** Whether requests outside hardly changed, and those inside hold most of the change. */
function isApart({ inside, outside }: SegmentTest): boolean {
  return (
    Math.abs(outside.change) - outside.error <= PART * Math.abs(inside.change) &&
    heldBy({ inside, outside }) >= Math.max(MOST, APART * Math.min(...shares({ inside, outside })))
  )
}

/** Whether requests inside changed by enough to matter, as for steps: for times, relative to their own time. */
function isLarge(
  { inside }: SegmentTest,
  { measured, isInside }: Pick<Tried, 'isInside'> & { measured: Measured },
  { minimumEffect, negligibleUs, usualOf }: SearchOptions,
): boolean {
  const { measure, offsets, requests, recorded, within } = measured
  if (measure !== 'time') return Math.abs(inside.change) > 1 - ALL
  const own = new Set(requests.filter((_, row) => isInside[row] === 1))
  // Number of the calls in each request.
  const each = within === undefined ? 1 : sum(isInside) / own.size
  const [sums, counts] = [new Float64Array(2), new Float64Array(2)]
  for (let group = 0; group < offsets.length - 1; group += 2) {
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      sums[isInside[row]!]! += usualOf(requests[row]!)
      counts[isInside[row]!]!++
    }
  }
  // If no request before is inside, those outside stand for them.
  const side = counts[1]! > 0 ? 1 : 0
  const stoodFor = recorded === null ? 1 : countAfter(recorded) / countAfter(measured)
  return (
    Math.abs(inside.change) * each > (minimumEffect * sums[side]!) / counts[side]! &&
    Math.abs(inside.change) * inside.after * stoodFor >= negligibleUs
  )
}

/** Shares of the requests that are inside. */
function shares({ inside, outside }: Pick<SegmentTest, 'inside' | 'outside'>) {
  const share = (period: 'before' | 'after') => inside[period] / (inside[period] + outside[period])
  return [share('before'), share('after')] as const
}

/** Returns the share of the change inside; what may be nothing outside counts as nothing. */
function heldBy({ inside, outside }: Pick<SegmentTest, 'inside' | 'outside'>): number {
  const own = Math.abs(inside.change) * inside.after
  const isClear = Math.abs(outside.change) > 2 * outside.error && outside.change * inside.change > 0
  return own / (own + (isClear ? Math.abs(outside.change) * outside.after : 0))
}

function segmentOf(
  tried: Tried & ReturnType<typeof chancesOf>,
  searched: Searched & { readonly earlier: readonly Candidate[] },
): Segment {
  const { candidate, isInside, p, q } = tried
  const { measured, columns } = searched
  const { measure, step, call, strata, within } = measured
  const stratum = candidate.stratum === null ? null : strata[candidate.stratum]!
  const operation = stratum?.operation ?? onlyOperation(measured, isInside)
  const isOfTimes = measure === 'time' && operation !== null
  const { sides, requests } = toldSides(tried, {
    ...searched,
    operation: isOfTimes ? operation : null,
  })
  const { inside, outside } = sides
  const found = candidate.conditions
    .map((one) => ({ ...one, rows: columns.find(({ column }) => column === one.column)!.codes }))
    // Titles name the operation of times, so a condition that holds for all of it says nothing more.
    .filter(
      ({ codes, rows }) =>
        !isOfTimes || !holdsForAll(codes, rows, { measured, candidate, operation }),
    )
    .map((one) => ({
      column: one.column,
      told: conditionOf(one, codesAfter(one.rows, measured)),
    }))
  const told = placesFirst(found, equivalentsOf(candidate, { columns, isInside, measured }))
  const [, shareOfRequests] = shares(sides)
  const shareOfChange = heldBy(sides)
  const isMore = inside.change > 0
  return {
    measure,
    step,
    call,
    ...told,
    inside,
    outside,
    p,
    q,
    operation,
    within: within === '' ? (operation ?? '') : (within ?? null),
    waitedFor: waitedFor(measured, isInside),
    callingOperation: stratum?.callingOperation ?? null,
    text: textOf(told.conditions) || operationIs(step, operation),
    direction: measure === 'time' ? (isMore ? 'slower' : 'faster') : isMore ? 'more' : 'less',
    shareOfRequests,
    shareOfChange,
    lift: shareOfChange / shareOfRequests,
    // A request may call a service more than once.
    requests: [...new Set(requests)],
  }
}

/** Whether a condition holds for all requests with an operation. */
function holdsForAll(
  codes: ReadonlySet<number>,
  rows: Uint16Array,
  of: { readonly measured: Measured; readonly candidate: Candidate; readonly operation: string },
): boolean {
  const { strata, offsets } = of.measured
  const { stratum } = of.candidate
  return strata.every(({ operation }, i) => {
    if (stratum === null ? operation !== of.operation : i !== stratum) return true
    return rows.subarray(offsets[2 * i], offsets[2 * i + 2]).every((code) => codes.has(code))
  })
}

function sizeOf({ inside, measure }: Segment): number {
  return Math.abs(inside.change) * inside.after * (measure === 'time' ? 1 : 1e6)
}

/** Whether another segment shows the same more closely: a step within requests, or spans within a step. */
function isShownBy({ step, within }: Segment, other: Segment): boolean {
  if (step === null || other.step === null) return false
  if (step.kind === 'request') return other.step.kind !== 'request'
  if (within !== null || other.within === null) return false
  return stepKey(step) === stepKey(other.step)
}

/** Leaves out segments that only repeat those of a service, or its spans, in the same requests. */
function withoutEchoes(
  segments: readonly Segment[],
  { period }: FlowSet,
  failed: Uint8Array,
): Segment[] {
  const shownOf = remembered(({ measure, requests }: Segment) => {
    const isTime = measure === 'time'
    return new Set(requests.filter((one) => period[one] === AFTER && (isTime || failed[one] === 1)))
  })
  return segments.filter((segment) => {
    const own = shownOf(segment)
    return !segments.some((other) => {
      if (other.measure !== segment.measure || other.direction !== segment.direction) return false
      if (!isShownBy(segment, other)) return false
      const shared = [...shownOf(other)].filter((request) => own.has(request)).length
      return shared >= MOST * own.size
    })
  })
}

/**
 * Merges segments of spans within one service that changed the same way under the same condition: parallel calls of one
 * kind.
 */
export function togetherAlike(segments: readonly Segment[]): Segment[] {
  const isAlike = (a: Segment, b: Segment) =>
    [a, b].every(({ measure, within }) => measure === 'time' && within !== null && within !== '') &&
    a.step?.kind === 'work' &&
    b.step?.kind === 'work' &&
    stepKey(a.step) === stepKey(b.step) &&
    a.text === b.text &&
    a.operation === b.operation &&
    a.inside.change / b.inside.change <= TWICE &&
    b.inside.change / a.inside.change <= TWICE &&
    a.direction === b.direction
  return segments.flatMap((segment, i) => {
    const same = segments.filter((other) => isAlike(segment, other))
    if (same.length < 2) return segment
    if (segments.indexOf(same[0] as Segment) < i) return []
    const waitedUs = sum(same, ({ inside, waitedFor }) => inside.change * inside.after * waitedFor)
    const { inside } = segment
    return {
      ...segment,
      waitedFor: waitedUs / (inside.change * inside.after),
      alike: same.slice(1).map(({ within }) => within as string),
    }
  })
}

/**
 * Finds attributes whose values calls have more or less often than before, where calls with the same value
 * hardly changed: cold starts, misses of a cache, longer answers. A segment has calls that take longer than
 * like ones before; here, only the mix of calls is another.
 *
 * Null hypothesis: calls of both periods have values that took as long before, in the mean; by z within
 * operations. `surely` corrects for how many attributes are tested.
 *
 * Sources: Kitagawa 1955, "Components of a difference between two rates"; Oaxaca 1973.
 */
function otherValues(measured: Measured, columns: readonly CodedRows[]): OtherValues[] {
  const { measure, isSure, step, call } = measured
  const isOfCalls = measure === 'structure' && call !== null
  const isOfTimes = measure === 'time' && step !== null && step.kind !== 'request'
  if (!isSure || !(isOfTimes || isOfCalls)) return []
  const main = mainStratum(measured)
  return columns.map((coded) => {
    const { mix, left, error, isKnown } = mixOf(measured, coded)
    const of = { step: isOfTimes ? step : null, call, attribute: coded.column.attribute }
    if (isOfTimes && isDividedOtherwise(main, coded)) {
      return { ...of, amount: Number.NaN, p: 0, change: changeOf(main, coded) }
    }
    // An attribute that only some calls have may be what the call itself records.
    const isOfAll = isOfTimes || coded.codes.every((code) => code >= FIRST_VALUE)
    const isMost = isKnown && isOfAll && Math.abs(left) < PART * Math.abs(mix + left)
    const p = isKnown ? normalP(mix / error, 'two-sided') : 1
    return { ...of, amount: mix, p, change: isMost ? changeOf(measured, coded) : null }
  })
}

type Two = [before: Float64Array, after: Float64Array]

/** Attributes no call of a step has a value of that any had before, though the step takes as long: a redeploy. */
function replacedInVain(measured: Measured, columns: readonly CodedRows[]): string[] {
  const { measure, isSure, step } = measured
  if (measure !== 'time' || isSure || step === null || step.kind === 'request') return []
  const main = mainStratum(measured)
  return columns
    .filter((coded) => isDividedOtherwise(main, coded))
    .map(({ column }) => column.attribute)
}

/** Returns the calls of the operation that changed by most in all. */
function mainStratum(measured: Measured): Measured {
  const { strata, offsets, values } = measured
  const most = greatest(strata.keys(), (stratum) => {
    const [was, is] = [0, 1].map((i) =>
      values.subarray(offsets[2 * stratum + i]!, offsets[2 * stratum + i + 1]!),
    ) as [Float64Array, Float64Array]
    return Math.abs(sum(is) - (is.length * sum(was)) / was.length)
  })!
  return { ...measured, strata: [strata[most]!], offsets: offsets.subarray(2 * most, 2 * most + 3) }
}

/**
 * Whether no call has a value that any had before: one value became another, or numbers of nearly all calls
 * are larger than before, or smaller, and do not merely grow with time.
 */
function isDividedOtherwise({ offsets, blocks }: Measured, { column, codes }: CodedRows): boolean {
  const ofPeriod = (period: Period) => range(offsets[period]!, offsets[period + 1]!)
  const isOrdered = (first: readonly number[], then: readonly number[], share: number) => {
    const [one, other] = [first, then].map((rows) => rows.map((row) => codes[row]!))
    return Math.abs(mannWhitney(one!, other!).probabilitySlower - 0.5) > share - 0.5
  }
  const isGrowing = (rows: readonly number[]) => {
    const middle = median(rows, (row) => blocks[row]!)!
    const [one, other] = group(rows, (row) => blocks[row]! > middle)
    return one !== undefined && other !== undefined && isOrdered(one[1], other[1], LARGE)
  }
  const [before, after] = [ofPeriod(BEFORE), ofPeriod(AFTER)]
  if ([...before, ...after].some((row) => codes[row]! < FIRST_VALUE)) return false
  if (column.kind !== 'numbers') {
    const [was, is] = [before, after].map((rows) => new Set(rows.map((row) => codes[row]!)))
    return was!.size === 1 && is!.size === 1 && ![...was!].some((one) => is!.has(one))
  }
  return isOrdered(before, after, NEARLY_ALL) && !isGrowing(before) && !isGrowing(after)
}

/**
 * Returns the tested values that surely explain the calls' time. A replaced value explains nothing if the same
 * replacement left other calls as fast as before.
 */
function surely(
  all: readonly OtherValues[],
  { alpha, inVain }: { readonly alpha: number; readonly inVain: ReadonlySet<string> },
): OtherValues[] {
  return all.filter(({ change, p, amount, attribute }) => {
    const isReplaced = Number.isNaN(amount)
    return change !== null && p * all.length < alpha && !(isReplaced && inVain.has(attribute))
  })
}

/** Returns the part of the change that other values account for, with its standard error, and the part left. */
function mixOf({ offsets, values, strata }: Measured, { column, codes }: CodedRows) {
  let [mix, left, variance, unknown, calls] = [0, 0, 0, 0, 0]
  const ofPeriods = () => [BEFORE, AFTER].map(() => new Float64Array(column.values.length)) as Two
  const [counts, sums] = [ofPeriods(), ofPeriods()]
  for (const stratum of strata.keys()) {
    for (const period of [BEFORE, AFTER] satisfies Period[]) {
      counts[period].fill(0)
      sums[period].fill(0)
      const group = 2 * stratum + period
      for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
        counts[period][codes[row]!]!++
        sums[period][codes[row]!]! += values[row]!
      }
    }
    const [then, now] = counts.map((own) => sum(own)) as [number, number]
    const usual = sum(sums[BEFORE]) / then
    calls += now
    for (let code = 0; code < column.values.length; code++) {
      const [had, has] = [counts[BEFORE][code]!, counts[AFTER][code]!]
      const isKnown = had >= MIN_SEVERAL
      if (!isKnown) unknown += has
      const ofValue = isKnown ? sums[BEFORE][code]! / had - usual : 0
      mix += has * ofValue
      left += sums[AFTER][code]! - has * (usual + ofValue)
      // Of a mean before, as many calls as after.
      variance += (has + (now / then) ** 2 * had) * ofValue ** 2
    }
  }
  const isKnown = unknown <= SMALL * calls
  return { mix, left, error: Math.sqrt(variance), isKnown }
}

/** Returns which value became more frequent by most, or of numbers, how large they are. */
function changeOf(measured: Measured, { column, codes }: CodedRows): ValueChange | null {
  const shares = [BEFORE, AFTER].map((period) => sharesOf(measured, codes, period as Period))
  const [before, after] = shares as [Map<number, number>, Map<number, number>]
  const conditionOf = (value: string) => condition(subjectOf(column), 'is', [value]).text
  if (column.kind === 'numbers') {
    const [was, is] = [before, after].map((own) => typical(column, own)) as [string, string]
    return was === is ? null : { of: 'numbers', condition: conditionOf(is), before: was }
  }
  const moved = (code: number) => (after.get(code) ?? 0) - (before.get(code) ?? 0)
  const code = greatest(
    [...after.keys()].filter((one) => one >= FIRST_VALUE),
    moved,
  )
  if (code === undefined || moved(code) <= 0) return null
  const [was, is] = [before, after].map((own) => own.get(code) ?? 0) as [number, number]
  return { of: 'share', condition: conditionOf(column.values[code]!), before: was, after: is }
}

function sharesOf({ offsets }: Measured, codes: Uint16Array, period: Period): Map<number, number> {
  const counts = new Map<number, number>()
  for (let group = period as number; group < offsets.length - 1; group += 2) {
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      counts.set(codes[row]!, (counts.get(codes[row]!) ?? 0) + 1)
    }
  }
  const all = sum(counts.values())
  return new Map([...counts].map(([code, count]) => [code, count / all]))
}

/** Returns the median of binned numbers to two digits, evenly spread within its bin. */
function typical({ values }: RequestColumn, shares: ReadonlyMap<number, number>): string {
  const half = sum(shares, ([code, share]) => (code < FIRST_VALUE ? 0 : share)) / 2
  let below = 0
  for (let code = FIRST_VALUE; code < values.length; code++) {
    const own = shares.get(code) ?? 0
    if (own > 0 && below + own >= half) {
      const [low, high] = [Number(values[code]), Number(values[code + 1] ?? values[code])]
      return String(Number((low + ((half - below) / own) * (high - low)).toPrecision(2)))
    }
    below += own
  }
  return ''
}
