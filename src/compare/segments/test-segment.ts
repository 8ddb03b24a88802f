// Runs once a request: the loops index with `!`.
import { bonferroni } from '../../stats/bonferroni.ts'
import { normalP, normalQuantile } from '../../stats/distributions.ts'
import { moderatedShifts } from '../../stats/moderated-shifts.ts'
import { quantile } from '../../stats/quantile.ts'
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

/** What became of requests inside and outside. */
export interface SegmentTest {
  readonly inside: SegmentSide
  readonly outside: SegmentSide
  readonly p: number
}

interface Sample {
  readonly values: number[]
  readonly blocks: number[]
}

/** Values of one kind of request before and after. */
type Group = readonly [before: Sample, after: Sample]

/** The slowest of each sample count as much as the fastest of them. */
const SLOWEST = 0.01
/** Shares of values up to where tails begin. */
const TAILS = [0.7, 0.9, 0.97]

/**
 * Tests whether requests inside a segment changed otherwise than those outside.
 *
 * Null hypotheses, each to be refuted in the same direction: inside, nothing changed; it changed by
 * the same time as outside; it changed by the same factor as outside. p is the largest of the three,
 * so that what hits all requests alike, in time or in proportion, has no segment. Changes outside are
 * estimates: they count with their error, at the level of the test. Times are tested by ranks and
 * logs (`moderatedShifts`) and by the shares of slow ones (`compareCounts`), whichever is most
 * significant, times how many these are; shares by `compareCounts`, and their difference and odds ratio against
 * those outside. Requests are compared within strata and, where a condition has several values,
 * within those of the same value: another mix of values is no change.
 *
 * @param side by row of what is measured, 1 inside
 * @param options.kind by row, kinds of requests that are compared apart
 * @param options.stratum the only stratum that counts; `null` for all
 * @param options.isOut rows that do not take part
 * @param options.level of the test
 */
export function testSegment(
  measured: Measured,
  side: Uint8Array,
  options: {
    readonly kind: Uint16Array
    readonly stratum: number | null
    readonly isOut: Uint8Array | null
    readonly level: number
  },
): SegmentTest {
  const [outGroups, inGroups] = groupsOf(measured, side, options)
  const isTime = measured.measure === 'time'
  const inside = sideOf(inGroups, isTime)
  const outside = sideOf(outGroups, isTime)
  if (inGroups.length === 0 || outGroups.length === 0) return { inside, outside, p: Number.NaN }
  const p = isTime
    ? timesP([outGroups, inGroups], { inside, outside, level: options.level })
    : Math.max(countsP(inGroups, outGroups), ...contrastPs(inside, outside))
  return { inside, outside, p }
}

/** Kinds of fewer requests in a period are not compared: they came, or went. */
const MIN_KIND = 5

function groupsOf(
  { strata, offsets, values, blocks }: Measured,
  side: Uint8Array,
  { kind, stratum, isOut }: { kind: Uint16Array; stratum: number | null; isOut: Uint8Array | null },
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

/** Values of several groups, ascending. */
function together(groups: readonly Group[]): Group {
  if (groups.length === 1) return groups[0]!
  return ([0, 1] as const).map((period): Sample => {
    const values = groups.flatMap((group) => group[period].values)
    const blocks = groups.flatMap((group) => group[period].blocks)
    const order = Uint32Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!)
    return {
      values: Array.from(order, (i) => values[i]!),
      blocks: Array.from(order, (i) => blocks[i]!),
    }
  }) as unknown as Group
}

function sideOf(strata: readonly Group[], isCut: boolean): SegmentSide {
  let [before, after, beforeSum, afterSum, change, variance] = [0, 0, 0, 0, 0, 0]
  for (const [then, now] of strata) {
    const [first, second] = [momentsOf(then, isCut), momentsOf(now, isCut)]
    before += first.count
    after += second.count
    beforeSum += first.count * first.mean
    afterSum += second.count * second.mean
    change += second.count * (second.mean - first.mean)
    variance += second.count ** 2 * (first.variance / first.count + second.variance / second.count)
  }
  return {
    ...{ before, after, beforeMean: beforeSum / before, afterMean: afterSum / after },
    ...{ change: change / after, error: Math.sqrt(variance) / after },
  }
}

/** Mean and variance of ascending values, the slowest hundredth cut or not. */
function momentsOf({ values }: Sample, isCut = true) {
  const count = values.length
  const most = values[Math.ceil((isCut ? 1 - SLOWEST : 1) * count) - 1] ?? Number.NaN
  let [sum, squares] = [0, 0]
  for (const value of values) {
    sum += Math.min(most, value)
    squares += Math.min(most, value) ** 2
  }
  const mean = sum / count
  return { count, mean, variance: Math.max(0, squares / count - mean ** 2) }
}

function timesP(
  [outside, inside]: readonly [readonly Group[], readonly Group[]],
  sides: { readonly inside: SegmentSide; readonly outside: SegmentSide; readonly level: number },
): number {
  const sign = Math.sign(sides.inside.change)
  const logs = sideOf(
    outside.map(([before, after]): Group => [logOf(before), logOf(after)]),
    false,
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
  const tailPs = TAILS.map((begin) => {
    const tailsOf = (groups: readonly Group[]) => groups.map((group) => tailOf(group, begin))
    const outTails = tailsOf(outside)
    const rates = contrastPs(sideOf(tailsOf(inside), false), sideOf(outTails, false))
    const counts = aligned.map((groups) => {
      const tails = tailsOf(groups)
      return Math.sign(sideOf(tails, false).change) === sign ? countsP(tails, outTails) : 1
    })
    return Math.max(...rates, ...counts)
  })
  return bonferroni([shiftP, ...tailPs])
}

function logOf({ values, blocks }: Sample): Sample {
  return { values: values.map((value) => Math.log(Math.max(1, value))), blocks }
}

/** p of a statistic whose standard error is this many times larger. */
function weakened(p: number, noise: number): number {
  if (noise === 1 || Number.isNaN(p)) return p
  return p === 0 ? 0 : normalP(normalQuantile(p / 2) / noise, 'two-sided')
}

/** Which values are beyond this share of both samples. */
function tailOf([before, after]: Group, begin: number): Group {
  const limit = quantile(Float64Array.from([...before.values, ...after.values]).sort(), begin)
  const mark = ({ values, blocks }: Sample) => ({
    values: values.map((value) => +(value > limit)),
    blocks,
  })
  return [mark(before), mark(after)]
}

/**
 * p of the shares of ones inside. How alike requests near in time are is learned outside: what
 * befalls a segment for a while is no reason to doubt it.
 */
function countsP(inside: readonly Group[], outside: readonly Group[]): number {
  const counts = inside.map((periods) => {
    // All in one stretch: compared as if independent.
    const chances = new Float64Array(2 * BLOCKS)
    const made = new Float64Array(2 * BLOCKS)
    periods.forEach(({ values }, period) => {
      chances[period * BLOCKS] = values.length
      made[period * BLOCKS] = sumOf(values)
    })
    return { chances, made }
  })
  const requests = inside.flat().reduce((sum, { values }) => sum + values.length, 0)
  const neighbors = Math.max(0, requests / (2 * BLOCKS) - 1)
  const [test] = compareCounts([counts])
  return weakened(test!.p, Math.sqrt(1 + neighbors * likenessOf(outside)))
}

/** Correlation of ones in the same stretch of time, 0 or more. */
function likenessOf(strata: readonly Group[]): number {
  const sums = new Map<number, number>()
  let [independent, requests] = [0, 0]
  for (const { values, blocks } of strata.flat()) {
    const share = sumOf(values) / values.length
    independent += values.length * share * (1 - share)
    requests += values.length
    values.forEach((value, i) => {
      sums.set(blocks[i]!, (sums.get(blocks[i]!) ?? 0) + value - share)
    })
  }
  const stretches = sums.size
  const clustered = [...sums.values()].reduce((sum, one) => sum + one ** 2, 0)
  const neighbors = requests / stretches - 1
  const likeness = ((clustered * stretches) / (stretches - 2) / independent - 1) / neighbors
  return likeness > 0 && neighbors > 0 && stretches > 2 ? likeness : 0
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

/** Whether shares changed by another difference, and by another factor of their odds. */
function contrastPs(inside: SegmentSide, outside: SegmentSide): number[] {
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

/** Rounds of fitting, enough for counts of any size. */
const ROUNDS = 50

/**
 * Likelihood ratio of a common odds ratio against one inside and one outside: χ² with one degree of
 * freedom. Counts are fitted by their margins (Deming and Stephan 1940).
 */
function interactionG(inside: SegmentSide, outside: SegmentSide): number {
  const seen = [inside, outside].flatMap(({ before, after, beforeMean, afterMean }) => [
    ...[before * (1 - beforeMean), before * beforeMean],
    ...[after * (1 - afterMean), after * afterMean],
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
  return Math.max(
    0,
    2 *
      seen.reduce(
        (sum, count, i) => sum + (count > 0 ? count * Math.log(count / fitted[i]!) : 0),
        0,
      ),
  )
}
