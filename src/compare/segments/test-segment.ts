// Runs once a request: the loops index with `!`.
import { bisectRight, sum } from 'd3-array'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import { normalP, normalQuantile } from '../../stats/distributions.ts'
import { moderatedShifts } from '../../stats/moderated-shifts.ts'
import { quantile } from '../../stats/quantile.ts'
import { pooledValues } from '../../stats/two-sample.ts'
import { compareCounts } from '../steps/compare-counts.ts'
import { BLOCKS } from '../steps/time-blocks.ts'
import type { Measured } from './measured.ts'

/** Requests inside a segment, or outside, and what was measured of them. */
export interface SegmentSide {
  readonly before: number
  readonly after: number
  /** Mean time in µs, the slowest hundredth cut, or share of requests. */
  readonly beforeMean: number
  readonly afterMean: number
  /** after − before within strata. */
  readonly change: number
  /** Standard error of the change, if requests were independent. */
  readonly error: number
}

export interface SegmentTest {
  readonly inside: SegmentSide
  readonly outside: SegmentSide
  readonly p: number
  /**
   * Of shares, p of one factor for all of them, which seems larger where more happened before: no
   * matter of chance, so the choice among conditions does not count; 0 of times, whose p has it.
   */
  readonly factorP: number
}

interface Sample {
  readonly values: number[]
  readonly blocks: number[]
}

type Group = readonly [before: Sample, after: Sample]

/** The slowest of each sample count as much as the fastest of them. */
const SLOWEST = 0.01
const TAILS = [0.7, 0.85, 0.91, 0.945, 0.97]

/**
 * Tests whether requests inside a segment changed otherwise than those outside. p is the largest of
 * three null hypotheses in one direction: inside, nothing changed; it changed by the same time as
 * outside; by the same factor. What hits all alike has no segment. Changes outside count with their
 * error. Times are tested by ranks and logs (`moderatedShifts`) and by shares of slow ones
 * (`compareCounts`), whichever is most significant, times how many these are; within strata and
 * values (`kind`), as another mix is no change.
 */
export function testSegment(
  measured: Measured,
  side: Uint8Array,
  options: {
    readonly kind: Uint32Array
    readonly stratum: number | null
    readonly isOut: Uint8Array | null
    readonly level: number
  },
): SegmentTest {
  const [outGroups, inGroups] = groupsOf(measured, side, options)
  const isTime = measured.measure === 'time'
  const sideFor = (groups: readonly Group[]) =>
    isTime ? timesOf(groups) : sharesOf(countsAbove(groups, 0))
  const [outside, inside] = [sideFor(outGroups), sideFor(inGroups)]
  const sides = { inside, outside }
  if (inGroups.length === 0 || outGroups.length === 0)
    return { ...sides, p: Number.NaN, factorP: 0 }
  if (isTime) {
    return {
      ...sides,
      p: timesP([outGroups, inGroups], { ...sides, level: options.level }),
      factorP: 0,
    }
  }
  const [differenceP, factorP] = contrastPs(inside, outside)
  const ownP = countsP(countsAbove(inGroups, 0), likenessOf(outGroups, []))
  return { ...sides, p: Math.max(ownP, differenceP), factorP }
}

/** Kinds of fewer requests in a period are not compared: they came, or went. */
const MIN_KIND = 5

function groupsOf(
  { strata, offsets, values, blocks }: Measured,
  side: Uint8Array,
  { kind, stratum, isOut }: { kind: Uint32Array; stratum: number | null; isOut: Uint8Array | null },
): [outside: Group[], inside: Group[]] {
  const all: [Group[], Group[]] = [[], []]
  const emptyGroup = (): Group => [
    { values: [], blocks: [] },
    { values: [], blocks: [] },
  ]
  for (let one = stratum ?? 0; one < (stratum === null ? strata.length : stratum + 1); one++) {
    const kinds: [Map<number, Group>, Map<number, Group>] = [new Map(), new Map()]
    for (let period = 0; period < 2; period++) {
      for (let row = offsets[2 * one + period]!; row < offsets[2 * one + period + 1]!; row++) {
        if (isOut?.[row] === 1) continue
        const of = kinds[side[row] as 0 | 1]
        const group = of.get(kind[row]!) ?? emptyGroup()
        of.set(kind[row]!, group)
        group[period as 0 | 1].values.push(values[row]!)
        group[period as 0 | 1].blocks.push(blocks[row]!)
      }
    }
    const [outside, inside] = kinds.map((of) => [...of.values()]) as [Group[], Group[]]
    const hadNone = inside.every(([before]) => before.values.length === 0)
    // What no request had before is compared with all of them.
    if (hadNone) all[1].push([together(outside)[0], together(inside)[1]])
    else all[1].push(...merged(inside))
    all[0].push(...merged(outside))
  }
  return all.map((groups) =>
    groups.filter((group) => group.every((sample) => sample.values.length > 0)),
  ) as [Group[], Group[]]
}

/** Groups of enough requests; where there is none, all as one. */
function merged(groups: readonly Group[]): Group[] {
  const large = groups.filter((group) => group.every(({ values }) => values.length >= MIN_KIND))
  return large.length > 0 ? large : [together(groups)]
}

function together(groups: readonly Group[]): Group {
  if (groups.length === 1) return groups[0]!
  return ([0, 1] as const).map((period): Sample => {
    const values = groups.flatMap((group) => group[period].values)
    const blocks = groups.flatMap((group) => group[period].blocks)
    const order = ascendingOrder(Float64Array.from(values))
    return {
      values: Array.from(order, (i) => values[i]!),
      blocks: Array.from(order, (i) => blocks[i]!),
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
    variance += second.count ** 2 * (first.variance / first.count + second.variance / second.count)
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

function timesOf(groups: readonly Group[]): SegmentSide {
  return sideOf(groups.map((group) => both(group, ({ values }) => momentsOf(values))))
}

/** Mean and variance of ascending values, the slowest hundredth cut or not. */
function momentsOf(values: readonly number[], cut = SLOWEST) {
  const count = values.length
  const most = values[Math.ceil((1 - cut) * count) - 1] ?? Number.NaN
  let [sum, squares] = [0, 0]
  for (const value of values) {
    const own = Math.min(most, value)
    sum += own
    squares += own * own
  }
  const mean = sum / count
  return { count, mean, variance: Math.max(0, squares / count - mean ** 2) }
}

interface Count {
  readonly count: number
  readonly made: number
}

type Counts = readonly [before: Count, after: Count]

function countsOf(group: Group, limit: number): Counts {
  return both(group, ({ values }) => ({
    count: values.length,
    made: values.length - bisectRight(values, limit),
  }))
}

function countsAbove(groups: readonly Group[], limit: number): Counts[] {
  return groups.map((group) => countsOf(group, limit))
}

function sharesOf(groups: readonly Counts[]): SegmentSide {
  const momentsOfShare = ({ count, made }: Count): Moments => {
    const mean = made / count
    return { count, mean, variance: mean * (1 - mean) }
  }
  return sideOf(groups.map((group) => both(group, momentsOfShare)))
}

function timesP(
  [outside, inside]: readonly [readonly Group[], readonly Group[]],
  sides: { readonly inside: SegmentSide; readonly outside: SegmentSide; readonly level: number },
): number {
  const sign = Math.sign(sides.inside.change)
  const logs = sideOf(
    outside.map((group) => both(group, ({ values }) => momentsOf(logsOf(values), 0))),
  )
  // As much as the change outside may be, in the direction of the one inside.
  const errors = -normalQuantile(sides.level / 2) * sign
  const shiftUs = sides.outside.change + errors * sides.outside.error
  const factor = Math.exp(logs.change + errors * logs.error)
  const aligned = [
    (value: number) => value,
    (value: number) => value - shiftUs,
    (value: number) => value / factor,
  ].map((align) =>
    inside.map(
      ([before, { values, blocks }]): Group => [before, { values: values.map(align), blocks }],
    ),
  )
  const shifts = moderatedShifts(
    aligned.map((groups) => groups.map(([before, after]) => ({ before, after }))),
  )
  const shiftP = Math.max(
    ...shifts.map(({ p, direction }) => (direction === (sign > 0 ? 'slower' : 'faster') ? p : 1)),
  )
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

function logsOf(values: readonly number[]): number[] {
  return values.map((value) => Math.log(Math.max(1, value)))
}

function weakened(p: number, noise: number): number {
  if (noise === 1 || Number.isNaN(p)) return p
  return p === 0 ? 0 : normalP(normalQuantile(p / 2) / noise, 'two-sided')
}

function tailsOf([before, after]: Group): number[] {
  const pooled = pooledValues({ first: before.values, second: after.values })
  return TAILS.map((begin) => quantile(pooled, begin))
}

/**
 * p of the shares inside; how alike requests near in time are is learned outside, where no fault in
 * the segment can hide it.
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

/** Correlation of being beyond a limit in the same stretch of time, 0 or more. */
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

/** Whether shares changed by another difference, and by another factor of their odds. */
function contrastPs(
  inside: SegmentSide,
  outside: SegmentSide,
): [difference: number, factor: number] {
  const error = Math.hypot(errorOf(inside), errorOf(outside))
  return [
    normalP((inside.change - outside.change) / error, 'two-sided'),
    normalP(Math.sqrt(interactionG(inside, outside)), 'two-sided'),
  ]
}

/** Standard error of the difference of shares; half a request is added to each count. */
function errorOf({ before, after, beforeMean, afterMean }: SegmentSide): number {
  const variance = (all: number, share: number) =>
    ((all * share + 0.5) * (all * (1 - share) + 0.5)) / (all + 1) ** 3
  return Math.sqrt(variance(before, beforeMean) + variance(after, afterMean))
}

/**
 * Shares before are drawn to that of both sides, as two requests counted at it would: of as rare
 * things, shares of segments differ by a factor of about two.
 */
const USUAL = 2

/** Rounds of fitting, enough for counts of any size. */
const ROUNDS = 50

/**
 * Likelihood ratio of a common odds ratio against two: χ² with one degree of freedom. Counts are
 * fitted by their margins (Deming and Stephan 1940). The two or three failures before cannot say
 * that those inside were not the usual ones there, but that is what is likely: shares before are
 * drawn to each other.
 */
function interactionG(inside: SegmentSide, outside: SegmentSide): number {
  // What never happened before had half a chance to.
  const made = sum([inside, outside], (side) => side.before * side.beforeMean) + 0.5
  const usual = made / (inside.before + outside.before + 1)
  const seen = [inside, outside].flatMap(({ before, after, beforeMean, afterMean }) => [
    before * (1 - beforeMean) + USUAL / usual - USUAL,
    before * beforeMean + USUAL,
    after * (1 - afterMean),
    after * afterMean,
  ])
  const fitted = seen.map(() => 1)
  for (let round = 0; round < ROUNDS; round++) {
    // Cells that differ in one of side, period and outcome share a margin.
    for (const bit of [1, 2, 4]) {
      for (let cell = 0; cell < 8; cell++) {
        if (cell & bit) continue
        const [one, two] = [cell, cell | bit] as const
        const scale = (seen[one]! + seen[two]!) / (fitted[one]! + fitted[two]!)
        fitted[one] = scale > 0 ? fitted[one]! * scale : 0
        fitted[two] = scale > 0 ? fitted[two]! * scale : 0
      }
    }
  }
  const terms = seen.map((count, i) => (count > 0 ? count * Math.log(count / fitted[i]!) : 0))
  return Math.max(0, 2 * sum(terms))
}
