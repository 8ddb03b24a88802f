import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { stratifiedShift } from '../../stats/hodges-lehmann.ts'
import { type ModeratedShift, moderatedShifts } from '../../stats/moderated-shifts.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { EdgeOptions } from '../edges/find-edge-changes.ts'
import { type Step, type StepSample, type StepStratum, type StepTimes, stepTimes } from './step-times.ts'

/** One step, compared between the periods. */
export interface StepChange extends Step {
  /** Requests that have it. */
  readonly beforeRequests: number
  readonly afterRequests: number
  readonly probabilitySlower: number
  readonly p: number
  /** By how much a call became slower (negative: faster), in µs; 0 unless significant. */
  readonly shiftUs: number
  readonly interval: readonly [low: number, high: number]
  /** Shift of a request's time on it over the mean response time of such requests. */
  readonly effect: number
  readonly contributionUs: number
  readonly strata: readonly StepStratum[]
  readonly test: ModeratedShift
  q: number
  changed: boolean
}

export function findStepChanges(flows: FlowSet, options: EdgeOptions): StepChange[] {
  const steps = stepTimes(flows)
  const tests = moderatedShifts(steps.map(({ strata }) => strata))
  const q = benjaminiHochberg(tests.map(({ p }) => p))
  return steps.map((step, i) => describe(flows, step, tests[i] as ModeratedShift, q[i] as number, options))
}

function describe(flows: FlowSet, step: StepTimes, test: ModeratedShift, q: number, { alpha, minimumEffect }: EdgeOptions): StepChange {
  const { strata } = step
  const significant = q < alpha
  const sorted = (sample: StepSample) => sample.values.slice().sort()
  const { shift, low, high } = significant
    ? stratifiedShift(strata.map(({ before, after }) => ({ before: sorted(before), after: sorted(after) })), { level: 0.95, sorted: true })
    : { shift: 0, low: Number.NaN, high: Number.NaN }
  const requests = (period: 'before' | 'after') => new Set(strata.flatMap((stratum) => [...stratum[period].requests]))
  const had = requests('before')
  const has = requests('after')
  const calls = strata.reduce((sum, { after }) => sum + after.calls, 0)
  const critical = strata.reduce((sum, { after }) => sum + after.criticalCalls, 0)
  let meanUs = 0
  for (const request of had) meanUs += flows.responseTimeUs[request]! / had.size
  const effect = meanUs > 0 ? (shift * calls) / has.size / meanUs : 0
  return {
    kind: step.kind, service: step.service, caller: step.caller, strata, test,
    beforeRequests: had.size, afterRequests: has.size,
    probabilitySlower: test.probabilitySlower, p: test.p, q,
    shiftUs: shift, interval: [low, high], effect,
    contributionUs: shift * critical,
    changed: significant && Math.abs(effect) >= minimumEffect,
  }
}
