// Runs once a request: the loops index with `!`.

import { bisectLeft, bisectRight, cumsum, sum } from 'd3-array'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import { normalP, normalQuantile } from '../../stats/distributions.ts'
import { logOf, moderatedShifts } from '../../stats/moderated-shifts.ts'
import { pooledQuantile } from '../../stats/quantile.ts'
import { type RunMeasure, RunSums, runMeasure } from '../../stats/run-shifts.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { compareCounts, type TimeBlocks } from '../steps/time-blocks.ts'
import { BLOCKS, MAX_VALUES, MIN_SEEN, PART, SLOWEST } from '../thresholds.ts'
import { type Measured, onlyOperation } from './measured.ts'
import type { CodedRows } from './request-columns.ts'
import { type Candidate, contrastPs, metBy, type SegmentSide } from './scan-conditions.ts'

export interface SegmentTest {
  readonly inside: SegmentSide
  readonly outside: SegmentSide
  /** Computed when it is asked for: most segments are too small to ask. */
  readonly ps: () => SegmentPs
}

interface SegmentPs {
  readonly p: number
  /**
   * For shares, p of one factor for all of them. A common factor looks larger where more happened before; that is not
   * chance, so the number of conditions does not correct it. 0 for times, whose p includes it.
   */
  readonly factorP: number
}

/** Measured rows, ascending by value. */
interface Sample {
  readonly values: Float64Array
  readonly blocks: Uint8Array
  readonly rows: Uint32Array
  readonly weights: Float64Array | undefined
}

type Group = readonly [before: Sample, after: Sample]

const TAILS = [0.7, 0.85, 0.91, 0.945, 0.97]

/**
 * Tests whether requests inside a segment changed differently from those outside. p is the largest of three null
 * hypotheses in one direction: inside, nothing changed; it changed by the same time as outside; by the same factor. A
 * change of all requests has no segment. Changes outside count with their error. Times are tested by ranks and logs
 * (`moderatedShifts`) and by shares of slow ones (`compareCounts`), the most significant of these, times their number.
 * Tests stay within strata and values (`kind`), because another mix is no change.
 */
export function testSegment(
  measured: Measured,
  side: Uint8Array,
  options: GroupedBy & { readonly level: number },
): SegmentTest {
  const [outGroups, inGroups] = groupsOf(measured, side, options)
  const isTime = measured.measure === 'time'
  const sides = sidesOf(measured, [outGroups, inGroups])
  const { inside, outside } = sides
  const ps = (): SegmentPs => {
    if (inGroups.length === 0 || outGroups.length === 0) return { p: Number.NaN, factorP: 0 }
    if (isTime) {
      const how = { ...sides, level: options.level, logs: logsOf(measured) }
      return { p: timesP([outGroups, inGroups], how), factorP: 0 }
    }
    const [differenceP, factorP] = contrastPs(inside, outside)
    const ownP = countsP(countsAbove(inGroups, 0), likenessOf(outGroups, []))
    return { p: Math.max(ownP, differenceP), factorP }
  }
  return { ...sides, ps }
}

type Sides = Pick<SegmentTest, 'inside' | 'outside'>

/** Measures requests inside a segment and outside, and their changes, by weight. */
export function measureSides(measured: Measured, side: Uint8Array, by: GroupedBy): Sides {
  return sidesOf(measured, groupsOf(measured, side, by))
}

function sidesOf({ measure }: Measured, groups: readonly [Group[], Group[]]): Sides {
  const [outside, inside] = groups.map((own) =>
    measure === 'time'
      ? sideOf(own.map((group) => both(group, momentsOf)))
      : sharesOf(countsAbove(own, 0)),
  ) as [SegmentSide, SegmentSide]
  return { inside, outside }
}

/** Within which rows are compared. */
interface GroupedBy {
  readonly kind: Uint32Array
  readonly stratum: number | null
  readonly isOut: Uint8Array | null
}

function groupsOf(
  measured: Measured,
  side: Uint8Array,
  { kind, stratum, isOut }: GroupedBy,
): [outside: Group[], inside: Group[]] {
  const { strata, offsets } = measured
  const all: [Group[], Group[]] = [[], []]
  for (let one = stratum ?? 0; one < (stratum === null ? strata.length : stratum + 1); one++) {
    const [from, to] = [offsets[2 * one]!, offsets[2 * one + 2]!]
    // Rows of a side and kind have a number, two samples each, in the order in which they come.
    const middle = offsets[2 * one + 1]!
    const numberOf: number[] = []
    const sides: number[] = []
    const sizes: number[] = []
    const sampleOf = new Int32Array(to - from).fill(-1)
    for (let row = from; row < to; row++) {
      if (isOut !== null && isOut[row] === 1) continue
      const key = 2 * kind[row]! + side[row]!
      let number = numberOf[key]
      if (number === undefined) {
        number = sides.push(side[row]!) - 1
        numberOf[key] = number
        sizes.push(0, 0)
      }
      const sample = 2 * number + (row < middle ? 0 : 1)
      sizes[sample]!++
      sampleOf[row - from] = sample
    }
    const samples = samplesOf(measured, sampleOf, { from, sizes })
    const [outside, inside] = [0, 1].map((wanted) =>
      sides.flatMap((own, number): Group[] =>
        own === wanted ? [[samples[2 * number]!, samples[2 * number + 1]!]] : [],
      ),
    ) as [Group[], Group[]]
    const hadNone = inside.every(([before]) => before.values.length === 0)
    // A segment with no requests before is compared with all of them.
    if (hadNone) all[1].push([together(outside)[0], together(inside)[1]])
    else all[1].push(...merged(inside))
    all[0].push(...merged(outside))
  }
  return all.map((groups) =>
    groups.filter((group) => group.every((sample) => sample.values.length > 0)),
  ) as [Group[], Group[]]
}

/** Returns the samples of a stratum whose rows begin at `from`, given that of each row. */
function samplesOf(
  { values, blocks, weights }: Measured,
  sampleOf: Int32Array,
  { from, sizes }: { readonly from: number; readonly sizes: readonly number[] },
): Sample[] {
  const samples = sizes.map((size) => ({
    rows: new Uint32Array(size),
    values: new Float64Array(size),
    blocks: new Uint8Array(size),
    weights: weights && new Float64Array(size),
  }))
  const next = new Uint32Array(sizes.length)
  for (let i = 0; i < sampleOf.length; i++) {
    const number = sampleOf[i]!
    if (number < 0) continue
    const sample = samples[number]!
    const at = next[number]!++
    sample.rows[at] = from + i
    sample.values[at] = values[from + i]!
    sample.blocks[at] = blocks[from + i]!
    if (sample.weights) sample.weights[at] = weights![from + i]!
  }
  return samples
}

/** Groups of enough requests; where there is none, all as one. */
function merged(groups: readonly Group[]): Group[] {
  const large = groups.filter((group) => group.every(({ values }) => values.length >= MIN_SEEN))
  return large.length > 0 ? large : [together(groups)]
}

function together(groups: readonly Group[]): Group {
  if (groups.length === 1) return groups[0]!
  return ([0, 1] as const).map((period): Sample => {
    const [values, blocks, rows] = (['values', 'blocks', 'rows'] as const).map((name) =>
      groups.flatMap((group) => Array.from(group[period][name])),
    ) as [number[], number[], number[]]
    const order = ascendingOrder(Float64Array.from(values))
    const weights = groups.flatMap((group) => Array.from(group[period].weights ?? []))
    return {
      weights: weights.length > 0 ? Float64Array.from(order, (i) => weights[i]!) : undefined,
      values: Float64Array.from(order, (i) => values[i]!),
      blocks: Uint8Array.from(order, (i) => blocks[i]!),
      rows: order.map((i) => rows[i]!),
    }
  }) as unknown as Group
}

type Moments = ReturnType<typeof momentsOf>

function both<Of, To>(
  [before, after]: readonly [Of, Of],
  map: (one: Of) => To,
): readonly [before: To, after: To] {
  return [map(before), map(after)]
}

function sideOf(groups: readonly (readonly [before: Moments, after: Moments])[]): SegmentSide {
  let [before, after, beforeSum, afterSum, change, variance] = [0, 0, 0, 0, 0, 0]
  for (const [first, second] of groups) {
    before += first.count
    after += second.count
    beforeSum += first.count * first.mean
    afterSum += second.count * second.mean
    change += second.count * (second.mean - first.mean)
    variance += second.count ** 2 * (first.variance / first.worth + second.variance / second.worth)
  }
  return {
    before,
    after,
    beforeMean: beforeSum / before,
    afterMean: afterSum / after,
    change: change / after,
    error: Math.sqrt(variance) / after,
  }
}

/**
 * Returns the mean and variance of ascending values, the slowest hundredth cut or not; how many they count as, and how
 * many they are worth.
 */
function momentsOf({ values, weights }: Pick<Sample, 'values' | 'weights'>, cut = SLOWEST) {
  const count = weights === undefined ? values.length : sum(weights)
  const most = values[lastWithin({ values, weights }, (1 - cut) * count)] ?? Number.NaN
  let [total, squares] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    const own = Math.min(most, values[i]!)
    const weight = weights === undefined ? 1 : weights[i]!
    total += weight * own
    squares += weight * own * own
  }
  const mean = total / count
  const variance = Math.max(0, squares / count - mean ** 2)
  return { count, worth: worthOf(values, weights), mean, variance }
}

/** Returns the row up to which values have a given total weight. */
function lastWithin({ values, weights }: Pick<Sample, 'values' | 'weights'>, count: number) {
  if (weights === undefined) return Math.ceil(count) - 1
  return Math.min(bisectLeft(cumsum(weights), count - 1e-9), values.length - 1)
}

interface Count {
  readonly count: number
  readonly worth: number
  readonly made: number
}

type Counts = readonly [before: Count, after: Count]

function countsOf(group: Group, limit: number): Counts {
  return both(group, ({ values, weights }) => {
    const first = bisectRight(values, limit)
    const worth = worthOf(values, weights)
    if (weights === undefined) return { count: values.length, worth, made: values.length - first }
    return { count: sum(weights), worth, made: sum(weights.subarray(first)) }
  })
}

function countsAbove(groups: readonly Group[], limit: number): Counts[] {
  return groups.map((group) => countsOf(group, limit))
}

function sharesOf(groups: readonly Counts[]): SegmentSide {
  const momentsOfShare = ({ count, worth, made }: Count): Moments => {
    const mean = made / count
    return { count, worth, mean, variance: mean * (1 - mean) }
  }
  return sideOf(groups.map((group) => both(group, momentsOfShare)))
}

function timesP(
  [outside, inside]: readonly [readonly Group[], readonly Group[]],
  {
    logs: logOfRow,
    ...sides
  }: {
    readonly inside: SegmentSide
    readonly outside: SegmentSide
    readonly level: number
    readonly logs: Float64Array
  },
): number {
  const sign = Math.sign(sides.inside.change)
  const logs = sideOf(
    outside.map((group) =>
      both(group, ({ rows, values }) => {
        const own = new Float64Array(values.length)
        for (let i = 0; i < own.length; i++) own[i] = logOfRow[rows[i]!]!
        return momentsOf({ values: own, weights: undefined }, 0)
      }),
    ),
  )
  // Largest likely change outside, in the direction of the change inside.
  const errors = -normalQuantile(sides.level / 2) * sign
  const shiftUs = sides.outside.change + errors * sides.outside.error
  const factor = Math.exp(logs.change + errors * logs.error)
  const aligned = [
    (value: number) => value,
    (value: number) => value - shiftUs,
    (value: number) => value / factor,
  ].map((align) =>
    inside.map(([before, after]): Group => [before, { ...after, values: after.values.map(align) }]),
  )
  const shifts = moderatedShifts(
    aligned.map((groups) => groups.map(([before, after]) => ({ before, after }))),
  )
  const shiftP = Math.max(
    ...shifts.map(({ p, direction }) => (direction === (sign > 0 ? 'slower' : 'faster') ? p : 1)),
  )
  const tailsOf = ([before, after]: Group) =>
    TAILS.map((begin) => pooledQuantile(before.values, after.values, begin))
  const [outLimits, ...limits] = [outside, ...aligned].map((groups) => groups.map(tailsOf))
  const tailPs = TAILS.map((_, tail) => {
    const outCounts = outside.map((group, i) => countsOf(group, outLimits![i]![tail]!))
    const outShares = sharesOf(outCounts)
    const likeness = likenessOf(
      outside,
      outLimits!.map((of) => of[tail]!),
    )
    const counts = aligned.map((groups, i) =>
      groups.map((group, j) => countsOf(group, limits[i]![j]![tail]!)),
    )
    return Math.max(
      ...contrastPs(sharesOf(counts[0]!), outShares),
      ...counts.map((own) =>
        Math.sign(sharesOf(own).change) === sign ? countsP(own, likeness) : 1,
      ),
    )
  })
  return bonferroni([shiftP, ...tailPs])
}

const logsOf = remembered(({ values }: Measured) => values.map(logOf))

function weakened(p: number, noise: number): number {
  if (noise === 1 || Number.isNaN(p)) return p
  return p === 0 ? 0 : normalP(normalQuantile(p / 2) / noise, 'two-sided')
}

/**
 * Returns p of the shares inside. The similarity of requests near in time is learned outside, where no fault in the
 * segment can hide it.
 */
function countsP(inside: readonly Counts[], likeness: number): number {
  const counts = inside.map((periods) => {
    // All in one stretch: compared as if independent.
    const chances = new Float64Array(2 * BLOCKS)
    const made = new Float64Array(2 * BLOCKS)
    periods.forEach((own, period) => {
      chances[period * BLOCKS] = own.count
      made[period * BLOCKS] = own.made
    })
    return { chances, made }
  })
  const requests = inside.flat().reduce((sum, { count }) => sum + count, 0)
  const neighbors = Math.max(0, requests / (2 * BLOCKS) - 1)
  const [test] = compareCounts([counts])
  return weakened(test!.p, Math.sqrt(1 + neighbors * likeness))
}

/** Returns the correlation of being beyond a limit in the same stretch of time, 0 or more. */
function likenessOf(groups: readonly Group[], limits: readonly number[]): number {
  const sums = new Float64Array(256)
  const isSeen = new Uint8Array(256)
  let [independent, requests] = [0, 0]
  groups.forEach((group, i) => {
    const limit = limits[i] ?? 0
    for (const [period, { values, blocks }] of group.entries()) {
      const { count, made } = countsOf(group, limit)[period]!
      const share = made / count
      independent += made * (1 - share)
      requests += count
      for (let at = 0; at < count; at++) {
        isSeen[blocks[at]!] = 1
        sums[blocks[at]!]! += +(values[at]! > limit) - share
      }
    }
  })
  const stretches = sum(isSeen)
  const clustered = sum(sums, (one) => one ** 2)
  const neighbors = requests / stretches - 1
  const likeness = ((clustered * stretches) / (stretches - 2) / independent - 1) / neighbors
  return likeness > 0 && neighbors > 0 && stretches > 2 ? likeness : 0
}

/** Returns the values that each row has of the columns of a candidate, as a number. */
export function kindsOf(
  { conditions }: Candidate,
  columns: readonly CodedRows[],
  { values }: Measured,
) {
  const kinds = new Uint32Array(values.length)
  for (const { column } of conditions) {
    const own = columns.find((one) => one.column === column)!.codes
    const size = column.values.length
    for (let row = 0; row < kinds.length; row++) kinds[row] = kinds[row]! * size + own[row]!
  }
  return kinds
}

/** Marks the rows that meet a candidate. */
export function rowsOf(
  { conditions, stratum }: Candidate,
  columns: readonly CodedRows[],
  { offsets, values }: Measured,
): Uint8Array {
  const isInside = new Uint8Array(values.length)
  const [from, to] =
    stratum === null ? [0, values.length] : [offsets[2 * stratum]!, offsets[2 * stratum + 2]!]
  isInside.fill(1, from, to)
  for (const condition of conditions) {
    const own = columns.find((one) => one.column === condition.column)!.codes
    const isMet = metBy(condition)
    for (let row = from; row < to; row++) isInside[row]! &= isMet[own[row]!]!
  }
  return isInside
}

/** Rows that are out, and those of other operations than that of all inside; `null` for several. */
export function rowsOfOthers(
  measured: Measured,
  isInside: Uint8Array,
  isOut: Uint8Array | null,
): Uint8Array | null {
  const operation = onlyOperation(measured, isInside)
  if (operation === null) return null
  const { strata, offsets } = measured
  const others = isOut?.slice() ?? new Uint8Array(isInside.length)
  strata.forEach((stratum, i) => {
    if (stratum.operation !== operation) others.fill(1, offsets[2 * i], offsets[2 * i + 2])
  })
  return others
}

/** Rows to search and the columns that divide them, without the rows of segments already found. */
export interface Searched<Column = CodedRows> {
  readonly measured: Measured
  readonly columns: readonly Column[]
  readonly isOut: Uint8Array | null
}

/** Leaves out values whose own rows surely changed by no more than outside rows may: they were included by chance. */
export function withoutUnchanged(
  { candidate, test }: { readonly candidate: Candidate; readonly test: SegmentTest },
  { measured, columns, isOut }: Searched,
): Candidate {
  const { stratum, conditions } = candidate
  const allUs = test.inside.change
  const isChanged = (own: Candidate) => {
    const by = { stratum, isOut, kind: kindsOf(own, columns, measured) }
    const { inside } = measureSides(measured, rowsOf(own, columns, measured), by)
    return !(Math.sign(allUs) * inside.change + 2 * inside.error < PART * Math.abs(allUs))
  }
  return {
    ...candidate,
    conditions: conditions.map((condition) => {
      const { column, codes } = condition
      if (column.kind !== 'values' || codes.size < 2 || codes.size > MAX_VALUES) return condition
      const changed = [...codes].filter((code) => {
        const only = { column, codes: new Set([code]) }
        const own = conditions.map((one) => (one === condition ? only : one))
        return isChanged({ ...candidate, conditions: own })
      })
      return changed.length > 0 ? { column, codes: new Set(changed) } : condition
    }),
  }
}

/** Returns the weighted number of rows of a stratum and period. */
export function countOf({ offsets, weights }: Measured, group: number): number {
  const [from, to] = [offsets[group]!, offsets[group + 1]!]
  return weights === undefined ? to - from : sum(weights.subarray(from, to))
}

/** Returns the weighted number of rows after. */
export function countAfter(measured: Measured): number {
  return sum(measured.strata, (_, stratum) => countOf(measured, 2 * stratum + AFTER))
}

/** Returns the share of the rows inside after that requests wait for. */
export function waitedFor({ isWaited, offsets, units }: Measured, isInside: Uint8Array): number {
  let [waited, all] = [0, 0]
  for (let group = 1; group < offsets.length - 1; group += 2) {
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      all += isInside[row]!
      waited += isInside[row]! * (isWaited?.[units[row]!] ?? 1)
    }
  }
  return waited / Math.max(1, all)
}

interface ToldSides {
  readonly sides: Pick<SegmentTest, 'inside' | 'outside'>
  /** Rows of its requests in the flows. */
  readonly requests: readonly number[]
}

/** Returns the reported sides of a segment; for weighted requests, those of all recorded ones by weight. */
export function toldSides(
  { candidate, isInside, test }: { candidate: Candidate; isInside: Uint8Array; test: SegmentTest },
  {
    measured,
    isOut,
    earlier,
    operation,
  }: {
    readonly measured: Measured
    /** Rows of segments that were found earlier, and these. */
    readonly isOut: Uint8Array | null
    readonly earlier: readonly Candidate[]
    /** Operation whose requests are counted; `null` for all. */
    readonly operation: string | null
  },
): ToldSides {
  const { recorded } = measured
  const requestsOf = (of: Measured, inside: Uint8Array, out: Uint8Array | null) => {
    const own = of.requests.filter((_, row) => inside[row] === 1 && out?.[row] !== 1)
    return [...own]
  }
  const { stratum } = candidate
  if (recorded === null) {
    const sides = withAll(test, measured, { isInside, isOut, stratum, operation })
    return { sides, requests: requestsOf(measured, isInside, isOut) }
  }
  const columns = [...earlier, candidate].flatMap(({ conditions }) =>
    conditions.map(({ column }) => ({
      column,
      codes: Uint16Array.from(recorded.units, (unit) => column.codes[unit]!),
    })),
  )
  const [own, ...others] = [candidate, ...earlier].map((one) => rowsOf(one, columns, recorded))
  const out = own!.map((_, row) => Number(others.some((rows) => rows[row] === 1)))
  const kind = kindsOf(candidate, columns, recorded)
  const compared = measureSides(recorded, own!, { stratum, isOut: out, kind })
  const sides = withAll(compared, recorded, { isInside: own!, isOut: out, stratum, operation })
  return { sides, requests: requestsOf(recorded, own!, out) }
}

/** Returns both sides with all of their requests, including those with too few similar ones to compare. */
function withAll(
  { inside, outside }: ToldSides['sides'],
  { measure, offsets, values, weights, strata }: Measured,
  {
    isInside,
    isOut,
    stratum,
    operation,
  }: {
    isInside: Uint8Array
    isOut: Uint8Array | null
    stratum: number | null
    operation: string | null
  },
): ToldSides['sides'] {
  const counts = [0, 0, 0, 0]
  const sums = [0, 0, 0, 0]
  for (let group = 0; group < offsets.length - 1; group++) {
    if (stratum !== null && group >> 1 !== stratum) continue
    if (operation !== null && strata[group >> 1]!.operation !== operation) continue
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      if (isOut?.[row] === 1) continue
      const cell = 2 * isInside[row]! + (group & 1)
      const weight = weights?.[row] ?? 1
      counts[cell]! += weight
      sums[cell]! += weight * values[row]!
    }
  }
  const share = (cell: number) => sums[cell]! / Math.max(1, counts[cell]!)
  const all = (side: SegmentSide, at: number): SegmentSide => ({
    ...side,
    before: Math.round(counts[at]!),
    after: Math.round(counts[at + 1]!),
    ...(measure !== 'time' && { beforeMean: share(at), afterMean: share(at + 1) }),
  })
  return { inside: all(inside, 2), outside: all(outside, 0) }
}

/** Levels of the rows inside in each run before and after, by their logs. */
export function levelsOf(
  { offsets, values, blocks }: Measured,
  isInside: Uint8Array,
  { perRun, runs }: TimeBlocks,
): RunMeasure {
  const strata: RunSums[] = []
  for (let group = 0; group < offsets.length - 1; group++) {
    if (group % 2 === BEFORE) strata.push(new RunSums(runs + 1))
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      if (isInside[row] === 1)
        strata.at(-1)!.add(Math.floor(blocks[row]! / perRun), logOf(values[row]!))
    }
  }
  return runMeasure(strata.filter(({ counts }) => sum(counts) > 0))
}
