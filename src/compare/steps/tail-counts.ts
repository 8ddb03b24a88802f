// Runs once a call of a request: the loops index with `!`.

import { bisectRight, greatest, group, sum } from 'd3-array'
import { addAt, joined } from '../../core/entries.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { sortAscending } from '../../stats/ascending-order.ts'
import { cauchyCombination } from '../../stats/cauchy-combination.ts'
import { moderatedShifts } from '../../stats/moderated-shifts.ts'
import { moments } from '../../stats/moments.ts'
import { pooledQuantile, quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import { DRAWS, FAR, MIN_SEVERAL, MIN_TAIL, MOST, SMALL, SUBSET_POWER } from '../thresholds.ts'
import type { StepSample, StepStratum } from './step-strata.ts'
import type { StepTimes } from './step-times.ts'
import { type ChoiceCounts, compareRare, shortStretches, type TimeBlocks } from './time-blocks.ts'

/** Limits far beyond the usual: a multiple of the value that this share does not exceed in the faster period. */
const FAR_TAILS = [
  { share: 0.95, times: 1.5 },
  { share: 0.95, times: 3 },
  { share: 0.99, times: 1.5 },
]

/** Stretches of time, and short ones, that values come from. */
interface Stretches {
  readonly blocks: TimeBlocks
  readonly short: TimeBlocks
}

/**
 * Returns p of the tails of each measure, corrected for their number. High ranks count far more than others, because a
 * changed minority moves neither ranks nor logs. Returns none for several runs: their tails differ so much that 7 to 9
 * % of simulations would find changes. Source: Conover and Salsburg 1988, "Locally most powerful tests for detecting
 * treatment effects when only a subset of patients can be expected to respond to treatment".
 */
export function testTails(
  measures: readonly (readonly StepStratum[])[],
  { blocks, short }: Stretches,
): number[] {
  const distinct = [...new Set(measures)]
  const far = distinct.map((strata) => farCounts(strata, short))
  const near =
    blocks.runs > 1
      ? []
      : moderatedShifts(distinct, {
          perRun: blocks.perRun,
          pairs: blocks.pairs,
          scoreOf: (rank) => rank ** SUBSET_POWER,
        })
  const farP = inGroups(far, compareRare(far.flat(), short))
  const known = new Map(
    distinct.map((strata, i) => {
      const { rankP = Number.NaN, beforeCount = 0, afterCount = 0 } = near[i] ?? {}
      const isEnough = Math.min(beforeCount, afterCount) >= MIN_TAIL
      return [strata, cauchyCombination([isEnough ? rankP : Number.NaN, ...farP[i]!])]
    }),
  )
  return measures.map((strata) => known.get(strata)!)
}

/** Returns p of tests that were made of all groups together. */
function inGroups(
  groups: readonly (readonly unknown[])[],
  tests: readonly { readonly p: number }[],
) {
  let at = 0
  return groups.map((own) => own.map(() => tests[at++]!.p))
}

/**
 * Counts values far beyond nearly all of a period by short stretch, for `compareRare`: drifting levels hardly bring any
 * there. None for several runs.
 */
function farCounts(strata: readonly StepStratum[], short: TimeBlocks): readonly ChoiceCounts[][] {
  if (short.runs > 1) return []
  const used = comparable(strata)
  const chances = used.map((samples) => countAbove(samples, Number.NEGATIVE_INFINITY, short))
  return FAR_TAILS.map(({ share, times }) =>
    used.flatMap((samples, i) => {
      if (samples.some(({ values }) => values.length * (1 - share) < 1)) return []
      const limit = times * Math.min(...samples.map(({ values }) => quantile(values, share)))
      return [{ chances: chances[i]!, made: countAbove(samples, limit, short) }]
    }),
  )
}

/** Values beyond a limit, by stretch of time. */
function countAbove(
  samples: readonly StepSample[],
  limit: number,
  { of, perRun, runs }: TimeBlocks,
) {
  const counts = new Float64Array(perRun * (runs + 1))
  for (const { values, requests } of samples) {
    for (let i = bisectRight(values, limit); i < values.length; i++) counts[of[requests[i]!]!]!++
  }
  return counts
}

/** Calls that changed while most did not. */
export interface Minority {
  /** Share of the calls that changed, at least. */
  readonly share: number
  /** Typical time of a changed call, and of a typical call before, in µs. */
  readonly changedUs: number
  readonly usualUs: number
  /** Requests after that have them. */
  readonly requests: readonly number[]
}

/** Each tail that is looked at has this part of the values of the one before. */
const NEXT_TAIL = 0.85

/** A minority, and the extra time of all calls, or of those on critical paths, because of it. */
export interface MeasuredMinority {
  readonly minority: Minority
  /** Extra time of a typical changed call, in µs; negative for less. */
  readonly typicalUs: number
  /** Sum in µs after, less for those no longer slow, and its standard error. */
  readonly excess: (isCritical: boolean) => { readonly us: number; readonly error: number }
}

/**
 * Returns the calls that became slower, or are no longer slow: in each stratum, the excess over the other period beyond
 * a limit, as a share of the calls otherwise below it. The limit is that of the tail with the surest difference. The
 * extra time of these calls is their time beyond the limit, plus the distance from calls below to the limit.
 */
export function minorityOf(strata: readonly StepStratum[]): MeasuredMinority | null {
  const used = comparable(strata)
  const size = sum(used, (samples) => samples[AFTER].values.length)
  const most = Math.max(...used.map((samples) => sum(samples, ({ values }) => values.length)))
  let best = { z: 0, tail: 0 }
  for (let tail = 0.5; tail * most > MIN_SEVERAL; tail *= NEXT_TAIL) {
    let [difference, variance] = [0, 0]
    for (const samples of used) {
      const weight = samples[AFTER].values.length / size
      const limit = limitOf(samples, 1 - tail)
      const [was, is] = samples.map(({ values }) => shareBeyond(values, limit))
      difference += weight * (is! - was!)
      variance += weight ** 2 * sum(samples, ({ values }) => varianceBeyond(values, limit))
    }
    const z = difference / Math.sqrt(variance)
    if (Math.abs(z) > Math.abs(best.z)) best = { z, tail }
  }
  if (best.z === 0) return null
  const sign = Math.sign(best.z)
  const parts = used.map((samples) => partOf(samples, { sign, tail: best.tail }))
  const below = sum(parts, (part) => part.below * part.after.values.length) / size
  const changed = parts.map(({ more, slow, beyond }) => {
    const from = slow.values.length - Math.round(Math.max(0, more / below) * slow.values.length)
    const values = slow.values.subarray(from)
    return { values, beyond: values.map(beyond), requests: slow.requests.subarray(from) }
  })
  const slowest = parts.flatMap(({ slow, beyond }) =>
    [...slow.values.subarray(-MIN_SEVERAL - 1)].map(beyond),
  )
  const cap = slowest.sort((a, b) => b - a)[MIN_SEVERAL] ?? 0
  return {
    minority: {
      share: Math.max(
        0,
        sum(parts, ({ more, after }) => more * after.values.length) / size / below,
      ),
      changedUs: medianOf(changed.map(({ values }) => values)),
      usualUs: medianOf(used.map((samples) => samples[BEFORE].values)),
      requests: sign > 0 ? changed.flatMap(({ requests }) => [...requests]) : [],
    },
    typicalUs: sign * medianOf(changed.map(({ beyond }) => beyond)),
    excess: (isCritical) => {
      let [us, variance] = [0, 0]
      for (const { after, slow, usual, beyond } of parts) {
        const calls = isCritical ? after.recorded.values.length : after.calls
        const [has, had] = [slow, usual].map(({ values, critical }) =>
          moments(
            values.map((us, row) => Math.min(cap, beyond(us)) * (isCritical ? critical[row]! : 1)),
          ),
        )
        us += sign * calls * (has!.mean - had!.mean)
        variance +=
          calls ** 2 * ((has!.variance || 0) / has!.count + (had!.variance || 0) / had!.count)
      }
      return { us, error: Math.sqrt(variance) }
    },
  }
}

/** Returns, for a stratum, the additional share beyond the limit of a tail, and the extra time of calls there. */
function partOf(
  samples: readonly [before: StepSample, after: StepSample],
  { sign, tail }: { readonly sign: number; readonly tail: number },
) {
  const [slow, usual] = sign > 0 ? [samples[AFTER], samples[BEFORE]] : samples
  const limit = limitOf(samples, 1 - tail)
  const was = shareBeyond(usual.values, limit)
  const below = usual.values.subarray(0, bisectRight(usual.values, limit))
  const least = below.length === 0 ? 0 : limit - sum(below) / below.length
  return {
    after: samples[AFTER],
    slow,
    usual,
    below: 1 - was,
    more: shareBeyond(slow.values, limit) - was,
    beyond: (us: number) => (us > limit ? us - limit + least : 0),
  }
}

function medianOf(samples: readonly Float64Array[]): number {
  return quantile(sortAscending(joined(samples, Float64Array)), 0.5)
}

function comparable(strata: readonly StepStratum[]) {
  return strata
    .filter(({ before, after }) => before.values.length > 0 && after.values.length > 0)
    .map(({ before, after }) => [before, after] as const satisfies readonly StepSample[])
}

/** Returns the limit that a share of the values of both periods does not exceed. */
function limitOf([before, after]: readonly [StepSample, StepSample], share: number): number {
  return pooledQuantile(before.values, after.values, share)
}

function shareBeyond(values: Float64Array, limit: number): number {
  return (values.length - bisectRight(values, limit)) / values.length
}

/** Returns the variance of the share of values beyond a limit; half a value is added on both sides of it. */
function varianceBeyond(values: Float64Array, limit: number): number {
  const above = values.length - bisectRight(values, limit)
  return ((above + 0.5) * (values.length - above + 0.5)) / (values.length + 1) ** 3
}

const SEED = 2011

/** Operation in which some calls take far longer than before, and p of the test that some do anywhere. */
export interface FarTimes {
  readonly step: StepTimes
  readonly operation: string
  readonly p: number
}

/**
 * Tests whether calls take far longer than nearly all of their kind more often after, in whatever step: a few that
 * hang. There are many steps and few of these calls, so all steps have one test together, which needs no correction
 * for their number; then it tells which operation holds most of the difference. `null` where none does, and for
 * several runs, whose tails differ.
 *
 * Null hypothesis: any short stretch of time could as well be one of the other period. A one-sided permutation test
 * of the time in excess that somebody waits for, by stretch: a burst within a stretch counts once.
 */
export function testFarTimes(flows: FlowSet, steps: readonly StepTimes[]): FarTimes | null {
  const { of, perRun, runs } = shortStretches(flows)
  if (runs > 1) return null
  const requests = new Float64Array(2 * perRun)
  for (let i = 0; i < flows.size; i++) addAt(requests, of[i]!, flows.countOf(i))
  const all = new Float64Array(2 * perRun)
  const parts = steps
    .filter(({ kind, part }) => kind !== 'request' && part === undefined)
    .flatMap((step) =>
      Array.from(
        group(step.strata, ({ operation }) => operation),
        ([operation, strata]) => {
          const farUs = new Float64Array(2 * perRun)
          for (const [request, us] of strata.flatMap(farCalls)) {
            addAt(farUs, of[request]!, us * flows.countOf(request))
          }
          farUs.forEach((us, stretch) => {
            addAt(all, stretch, us)
          })
          return { step, operation, moreUs: sumAfter(beyondMean(farUs, requests)) }
        },
      ),
    )
  const beyond = beyondMean(all, requests)
  const moreUs = sumAfter(beyond)
  const most = greatest(parts, (part) => part.moreUs)
  if (most === undefined || !(moreUs > 0) || most.moreUs < MOST * moreUs) return null
  return { step: most.step, operation: most.operation, p: permutationP(beyond, moreUs) }
}

/** Returns calls of both periods that take far longer than nearly all of one, and by how much, in µs. */
function farCalls({ before, after }: StepStratum): [request: number, us: number][] {
  const samples = [before, after]
  if (samples.some(({ values }) => values.length < MIN_TAIL)) return []
  const usualUs = Math.min(...samples.map(({ values }) => quantile(values, 1 - SMALL)))
  return samples.flatMap(({ values, requests, criticalUs }: StepSample) =>
    Array.from(values, (us, i): [number, number] => [requests[i]!, Math.min(us, criticalUs[i]!)])
      .filter(([, us]) => us > FAR * usualUs)
      .map(([request, us]) => [request, us - usualUs]),
  )
}

/** Returns what stretches have beyond the mean of all requests. */
function beyondMean(us: Float64Array, requests: Float64Array): Float64Array {
  const each = sum(us) / sum(requests)
  return us.map((own, stretch) => own - each * requests[stretch]!)
}

/** Returns the sum of the stretches after, which are the second half. */
function sumAfter(values: Float64Array): number {
  return sum(values.subarray(values.length / 2))
}

/** Returns the share of orders of the stretches in which those after add up to as much. */
function permutationP(beyond: Float64Array, moreUs: number): number {
  const random = randomSource(SEED)
  const values = beyond.slice()
  // Sums in another order round otherwise.
  const leastUs = (1 - 1e-9) * moreUs
  let asMuch = 1
  for (let draw = 0; draw < DRAWS; draw++) {
    let drawn = 0
    for (let i = 0; i < values.length / 2; i++) {
      const other = i + random.integer(values.length - i)
      const value = values[other]!
      values[other] = values[i]!
      values[i] = value
      drawn += value
    }
    if (drawn >= leastUs) asMuch++
  }
  return asMuch / (DRAWS + 1)
}
