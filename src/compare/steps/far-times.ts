// Runs once a call of a request: the loops index with `!`.
import { greatest, group, sum } from 'd3-array'
import { addAt } from '../../core/entries.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import type { StepSample, StepStratum } from './step-strata.ts'
import type { StepTimes } from './step-times.ts'
import { shortStretches } from './time-blocks.ts'

/** Calls take far longer beyond this multiple of the time that this share of the faster period does not exceed. */
const TIMES = 1.5
const SHARE = 0.95
/** Fewest calls of each period that show what nearly all take. */
const MIN_CALLS = 20
/** Smallest share of the whole difference that one operation holds, for it to be named. */
const MIN_HELD = 0.5
const DRAWS = 9_999
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
  if (most === undefined || !(moreUs > 0) || most.moreUs < MIN_HELD * moreUs) return null
  return { step: most.step, operation: most.operation, p: permutationP(beyond, moreUs) }
}

/** Returns calls of both periods that take far longer than nearly all of one, and by how much, in µs. */
function farCalls({ before, after }: StepStratum): [request: number, us: number][] {
  const samples = [before, after]
  if (samples.some(({ values }) => values.length < MIN_CALLS)) return []
  const usualUs = Math.min(...samples.map(({ values }) => quantile(values, SHARE)))
  return samples.flatMap(({ values, requests, criticalUs }: StepSample) =>
    Array.from(values, (us, i): [number, number] => [requests[i]!, Math.min(us, criticalUs[i]!)])
      .filter(([, us]) => us > TIMES * usualUs)
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
