import { least } from 'd3-array'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { usualMeanUs } from '../edges/edge-times.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import { countByPeriod, type ErrorChange, tallied } from '../steps/compare-errors.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { findingCall } from './call-findings.ts'
import { deadlineOf } from './deadlines.ts'
import { ALONE, AS_LIKELY } from './detectable.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { rateSize } from './finding-size.ts'
import { categoriesOf } from './names.ts'
import { firstExemplars } from './slow-examples.ts'

/** Weight of a failed request, in requests that take twice as long as usual. */
const FAILED_WEIGHT = 10
/** Weight of a failing call whose request succeeds nevertheless. */
const MADE_GOOD_WEIGHT = 0.1

/** Drafts a finding a service that fails on its own; those that fail with it are consequences. */
export function errorFindings(
  { errors, flows }: StepChanges,
  { categories }: EdgeChanges,
): Draft[] {
  const usualUs = usualMeanUs(flows)
  return errors.flatMap((change): Draft[] => {
    const { changed, kind, service, callers, difference, requests, chances, p, q } = change
    if (!changed) return []
    const of = { service, operation: change.operations[0] as string }
    const failedRequests = moreFailed(change)
    const touched = Math.max(1, Math.round(Math.abs(difference) * chances[AFTER]))
    const after = [...change.failing].filter((request) => flows.period[request] === AFTER)
    const evidence = {
      of: 'failures',
      change,
      passed: null,
      counts: change.inner ?? change,
      deadline: deadlineOf(flows, after),
    } as const
    const origin: Draft = {
      ...NO_EVIDENCE,
      kind: 'errors',
      direction: difference > 0 ? 'slower' : 'faster',
      evidence,
      key: JSON.stringify([kind, service]),
      categories: categoriesOf(categories, requests),
      requests: touched,
      concerned: countByPeriod(flows, requests),
      contributionUs: 0,
      failedRequests,
      weightUs: (failedRequests * FAILED_WEIGHT + touched * MADE_GOOD_WEIGHT) * usualUs,
      eachInterval: [Number.NaN, Number.NaN],
      probabilitySlower: Number.NaN,
      services: [service, ...callers],
      calls: [findingCall({ ...change, kind: 'fails', of, previous: null, call: null })],
      ...(change.inner && { size: rateSize(change.inner, 'call') }),
      exemplars: firstExemplars(flows, requests),
      p,
      q,
    }
    const seen = new Set([service])
    const withIt = change.passedOn.flatMap((passed): Draft | [] => {
      const { service: caller } = passed.of
      if (seen.has(caller)) return []
      seen.add(caller)
      return {
        ...origin,
        evidence: { ...evidence, passed, counts: passed },
        key: JSON.stringify([kind, service, caller]),
        size: rateSize(passed, 'call'),
        services: [caller, service],
        calls: [findingCall({ ...passed, kind: 'fails with', previous: of, call: null })],
      }
    })
    return [origin, ...withIt]
  })
}

/** Returns a draft of failures in the numbers of the requests of some time: calls, and how many of them fail. */
export function failuresThen(
  draft: Draft,
  flows: FlowSet,
  isThen: (request: number) => boolean,
): Draft {
  const { evidence, calls } = draft
  const [call, ...others] = calls
  if (evidence.of !== 'failures' || call === undefined) return draft
  const { change, passed } = evidence
  const own = tallied(flows, passed ?? change, isThen)
  const counts = tallied(flows, passed ?? change.inner ?? change, isThen)
  if (!(counts.made[AFTER] > 0)) return draft
  return {
    ...draft,
    evidence: { ...evidence, counts },
    calls: [findingCall({ ...call, ...own }), ...others],
    ...(draft.size && { size: rateSize(counts, 'call') }),
  }
}

/** Returns the failures closest to an increase that may be chance; `null` where nothing came near. */
export function nearestFailure({ errors }: Pick<StepChanges, 'errors'>): ErrorChange | null {
  const near = errors.filter(
    (one) => one.p < ALONE && one.q < AS_LIKELY && one.difference > 0 && moreFailed(one) > 0,
  )
  return least(near, ({ q }) => q) ?? null
}

/** Returns how many more requests fail, at an equal number of calls; 0 if they change in the other direction. */
export function moreFailed({ failed, chances, difference }: ErrorChange): number {
  const expected = (failed[BEFORE] * chances[AFTER]) / Math.max(1, chances[BEFORE])
  const more = Math.round(failed[AFTER] - expected)
  return more * difference > 0 ? more : 0
}
