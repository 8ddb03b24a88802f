// Runs once a request and column: the loops index with `!`.
import { sum } from 'd3-array'
import { requireStage } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, FlowSet } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { largerP, type RunMeasure, runShifts } from '../../stats/run-shifts.ts'
import { cappedTimes, usualMeanUs } from '../edges/edge-times.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { type TimeBlocks, timeBlocks } from '../steps/time-blocks.ts'
import { type Divided, DividingColumns } from './dividing-columns.ts'
import { allMeasured, failedRequests, type Measured, onlyOperation } from './measured.ts'
import { searchStepSpans } from './measured-spans.ts'
import {
  isEnough,
  isMoved,
  isOfFailures,
  isOfNumbers,
  requestsWithFailing,
} from './mistaken-conditions.ts'
import { otherValues, replacedInVain, surely } from './other-values.ts'
import { RequestColumns } from './request-columns.ts'
import { type Candidate, ConditionScan, candidateKey, metBy } from './scan-conditions.ts'
import {
  countAfter,
  kindsOf,
  levelsOf,
  MAX_OUTSIDE,
  rowsOf,
  rowsOfOthers,
  type Searched as SearchedRows,
  toldSides,
  waitedFor,
  withoutUnchanged,
} from './segment-rows.ts'
import {
  type Coded,
  codesAfter,
  conditionOf,
  equivalentsOf,
  operationIs,
  placesFirst,
  textOf,
} from './segment-words.ts'
import { SEGMENT_OPTIONS, type Segment, type SegmentOptions, Segments } from './segments.ts'
import { type SegmentTest, testSegment } from './test-segment.ts'
import { withoutEchoes } from './without-echoes.ts'

const MAX_TRIES = 6
/** Most segments of one step; each is searched among the rows that the earlier ones left. */
const MAX_SEGMENTS = 3
/** Smallest share of the change that a segment holds. */
const MIN_HELD = 0.5
/**
 * Smallest ratio of a segment's share of the change to its share of requests: a condition that nearly all meet tells
 * nothing.
 */
const MIN_LIFT = 1.25
/** Smallest change of a share of requests. */
const MIN_SHARE = 0.02

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
    while (found.length < MAX_SEGMENTS) {
      const tried: Tried[] = []
      for (const candidate of scan.candidates(withNew)) {
        const key = candidateKey(candidate)
        const known = tests.get(key)
        const isInside = known?.isInside ?? rowsOf(candidate, columns, measured)
        const one = known ?? { candidate, isInside, test: testOf(candidate, isInside) }
        tests.set(key, one)
        // The ranks that order candidates may have changed although times did not.
        if (isApart(one.test)) tried.push(one)
        if (tried.length === MAX_TRIES) break
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
  { candidate, isInside }: Pick<Tried, 'candidate' | 'isInside'>,
  { measured, columns, isOut }: Searched,
  { alpha }: SearchOptions,
): Pick<Tried, 'candidate' | 'isInside'> {
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
      if (!(most <= MAX_OUTSIDE * Math.abs(inside.change) && ps().p < level)) continue
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

interface Tried {
  readonly candidate: Candidate
  readonly isInside: Uint8Array
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
    Math.abs(outside.change) - outside.error <= MAX_OUTSIDE * Math.abs(inside.change) &&
    heldBy({ inside, outside }) >=
      Math.max(MIN_HELD, MIN_LIFT * Math.min(...shares({ inside, outside })))
  )
}

/** Whether requests inside changed by enough to matter, as for steps: for times, relative to their own time. */
function isLarge(
  { inside }: SegmentTest,
  { measured, isInside }: Pick<Tried, 'isInside'> & { measured: Measured },
  { minimumEffect, negligibleUs, usualOf }: SearchOptions,
): boolean {
  const { measure, offsets, requests, recorded, within } = measured
  if (measure !== 'time') return Math.abs(inside.change) > MIN_SHARE
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
