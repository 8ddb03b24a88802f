import { group, mean, sum } from 'd3-array'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { detectableShift } from '../../stats/detectable-shift.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { quantile } from '../../stats/quantile.ts'
import { equalSamples, isTestable } from '../../stats/two-sample.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import { cappedTimes } from '../edges/edge-times.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import { levelOfTimes } from '../steps/find-step-changes.ts'
import { rootTypes } from '../steps/root-types.ts'
import type { StepChange, StepChanges } from '../steps/step-changes.ts'

/** Requests that begin alike, and how much longer all of them must take for a finding. */
export interface Detectable {
  /** Service and operation of their root; behind a gateway, also the call that tells them apart. */
  readonly name: string
  /** Number of these requests before and after, by weight. */
  readonly before: number
  readonly after: number
  /** Median before, in µs. */
  readonly medianUs: number
  /** Whether there are enough for a test. */
  readonly testable: boolean
  /** Size of the shift that four of five comparisons find, in µs; `Infinity` if they find none. */
  readonly shiftUs: number
}

const POWER = 0.8

/** Categories, structures and edges are tested apart, and any of them makes a finding. */
const KINDS_OF_EVIDENCE = 3

export function findingsLevel(alpha: number): number {
  return alpha / KINDS_OF_EVIDENCE
}

/**
 * The shift of each kind of requests, the most frequent first, that four of five comparisons like
 * this find: by a test of whole requests, whose times vary more than those of a step, at the level
 * that is left to one test where all else stayed as it was, and by an estimate that is large enough
 * to matter. How several runs before differ is left out.
 */
export function detectableShifts(
  steps: StepChanges,
  { categories: { flows }, options, negligibleUs, tested }: EdgeChanges,
): Detectable[] {
  const { names, typeOf } = rootTypes(flows)
  const timeOf = cappedTimes(flows, BEFORE)
  const whole = Array.from(typeOf.keys()).filter((request) => !flows.isPart(request))
  const kinds = group(whole, (request) => typeOf[request] as number)
  const found = Array.from(kinds, ([type, requests]): Detectable => {
    const [before, after] = [BEFORE, AFTER].map((period) =>
      requests.filter((request) => flows.period[request] === period),
    ) as [number[], number[]]
    const timesOf = (own: readonly number[]) =>
      Float64Array.from(own, (request) => flows.responseTimeUs[request] as number)
    const [beforeWeights, afterWeights] = [flows.countsOf(before), flows.countsOf(after)]
    const times = equalSamples({
      before: timesOf(before),
      after: timesOf(after),
      beforeWeights,
      afterWeights,
    })
    const usual = ascendingSample(timesOf(before), beforeWeights)
    const counted = (own: readonly number[]) => sum(own, (request) => flows.countOf(request))
    const testable = isTestable(times.before.length, times.after.length)
    const step = steps.steps.find(
      (one) => one.kind === 'request' && one.requests.includes(requests[0] as number),
    )
    const alpha =
      step === undefined
        ? findingsLevel(steps.options.alpha) / Math.max(1, tested.length)
        : levelOfTimes(steps, step.operations.length)
    const { shift } = detectableShift(times.before, times.after.length, {
      alpha,
      power: POWER,
      designEffect: step?.designEffect ?? 1,
    })
    const [critical, beyond] = [1 - alpha / 2, POWER].map(normalQuantile) as [number, number]
    const meanUs = mean(before, timeOf) ?? 0
    const leastUs = Math.max(options.minimumEffect * meanUs, negligibleUs / after.length)
    return {
      name: names[type] as string,
      before: counted(before),
      after: counted(after),
      medianUs: quantile(usual.values, 0.5, usual.weights),
      testable,
      shiftUs: Math.max(shift, leastUs + (beyond * shift) / (critical + beyond)),
    }
  })
  return found.sort((a, b) => b.before + b.after - (a.before + a.after))
}

/** A step that is told though it did not change: alone it would have, and as likely as not it did. */
const ALONE = 0.05
const AS_LIKELY = 0.5

/** The step that came nearest to a change where none is one; `null` where none came near. */
export function nearestStep({ steps }: StepChanges): StepChange | null {
  const near = steps.filter(({ kind, p, q }) => kind !== 'request' && p < ALONE && q < AS_LIKELY)
  return near.sort((a, b) => a.q - b.q || a.p - b.p)[0] ?? null
}
