import { group, mean, sum } from 'd3-array'
import { addTo, at } from '../../core/entries.ts'
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
import type { StepStratum } from '../steps/step-strata.ts'
import { strataOfStep } from '../steps/step-times.ts'
import { LEVEL, MOST, POWER } from '../thresholds.ts'
import { placeTitle } from './names.ts'

/** A type of request, and how much longer all of them must take to become a finding. */
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
  /** The same for their longest step, if much smaller; else `null`. */
  readonly step: { readonly name: string; readonly shiftUs: number } | null
}

/** Categories, structures and edges are tested apart, and any of them makes a finding. */
const KINDS_OF_EVIDENCE = 3

export function findingsLevel(alpha: number): number {
  return alpha / KINDS_OF_EVIDENCE
}

/**
 * Returns, for each type of request, the most frequent first, the shift that four of five comparisons
 * like this find. It must pass a test of whole requests, whose times vary more than those of a step, at
 * the level left for one test if nothing else changed, and be large enough to matter. Differences
 * between runs are left out.
 */
export function detectableShifts(
  steps: StepChanges,
  { categories: { flows }, options, negligibleUs, tested }: EdgeChanges,
): Detectable[] {
  const { names, typeOf } = rootTypes(flows)
  const timeOf = cappedTimes(flows, BEFORE)
  const whole = Array.from(typeOf.keys()).filter((request) => !flows.isPart(request))
  const kinds = group(whole, (request) => typeOf[request] as number)
  const mainStep = mainSteps(steps, (request) =>
    flows.isPart(request) ? undefined : typeOf[request],
  )
  const found = Array.from(kinds, ([type, requests]): Detectable => {
    const [before, after] = [flows.within(BEFORE, requests), flows.within(AFTER, requests)]
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
    const meanUs = mean(before, timeOf) ?? 0
    const leastUs = Math.max(options.minimumEffect * meanUs, negligibleUs / after.length)
    const alpha = findingsLevel(steps.options.alpha) / Math.max(1, tested.length)
    const how =
      step === undefined
        ? { alpha, designEffect: 1 }
        : testOf(steps, step, times.before.length + times.after.length)
    const shiftUs = foundShift(times.before, times.after.length, { ...how, leastUs })
    const main = mainStep(type)
    const ofStep = main && {
      name: main.name,
      shiftUs: foundShift(main.before, main.after, { ...main.how, leastUs }),
    }
    return {
      name: names[type] as string,
      before: counted(before),
      after: counted(after),
      medianUs: quantile(usual.values, 0.5, usual.weights),
      testable,
      shiftUs,
      step: ofStep !== null && ofStep.shiftUs < MOST * shiftUs ? ofStep : null,
    }
  })
  return found.sort((a, b) => b.before + b.after - (a.before + a.after))
}

/**
 * Returns the level and design effect for testing some times of a step with several operations. Level shifts common to
 * all operations widen a sum of fewer times less.
 */
function testOf(steps: StepChanges, step: StepChange, size: number) {
  const share = Math.min(1, size / (step.beforeRequests + step.afterRequests))
  return {
    alpha: levelOfTimes(steps, step.operations.length),
    designEffect: 1 + Math.max(0, step.designEffect - 1) * share,
  }
}

/** Returns the shift that four of five tests find and that is large enough to matter. */
function foundShift(
  before: ArrayLike<number>,
  after: number,
  { leastUs, ...how }: { alpha: number; designEffect: number; leastUs: number },
): number {
  const { shift } = detectableShift(before, after, { ...how, power: POWER })
  const [critical, beyond] = [1 - how.alpha / 2, POWER].map(normalQuantile) as [number, number]
  return Math.max(shift, leastUs + (beyond * shift) / (critical + beyond))
}

/** Returns the step on whose critical calls the requests of a type spend most; `typeOf` has none for some requests. */
function mainSteps(steps: StepChanges, typeOf: (request: number) => number | undefined) {
  const places = steps.steps
    .filter(({ kind, part }) => kind !== 'request' && part !== 'message')
    .flatMap((step) => {
      const strata = group(strataOfStep(steps.times, step), ({ operation }) => operation)
      return Array.from(strata, ([operation, some]) => ({ step, operation, some }))
    })
  const most = new Map<
    number,
    { readonly heldUs: number; readonly place: (typeof places)[number] }
  >()
  for (const place of places) {
    for (const [type, heldUs] of heldByType(place.some, typeOf)) {
      if (heldUs > (most.get(type)?.heldUs ?? 0)) most.set(type, { heldUs, place })
    }
  }
  return (type: number) => {
    const place = most.get(type)?.place ?? places[0]
    if (place === undefined) return null
    const { step, operation, some } = place
    const before = some.flatMap((one) => [...one.before.values])
    const after = sum(some, (one) => one.after.values.length)
    const how = testOf(steps, step, before.length + after)
    return { name: placeTitle(step, operation), before, after, how }
  }
}

function heldByType(
  strata: readonly StepStratum[],
  typeOf: (request: number) => number | undefined,
): Map<number, number> {
  const held = new Map<number, number>()
  for (const { before } of strata) {
    const { requests, criticalUs } = before.recorded
    requests.forEach((request, row) => {
      const type = typeOf(request)
      if (type !== undefined) addTo(held, type, at(criticalUs, row))
    })
  }
  return held
}

/**
 * Returns the step closest to a change where none changed; `null` where none is close. Waits of messages
 * are excluded: they span two clocks, whose corrections vary by chance in a way that p does not cover.
 */
export function nearestStep({ steps }: Pick<StepChanges, 'steps'>): StepChange | null {
  const near = steps.filter(
    ({ kind, part, p, q }) => kind !== 'request' && part !== 'message' && p < LEVEL && q < MOST,
  )
  return near.sort((a, b) => a.q - b.q || a.p - b.p)[0] ?? null
}
