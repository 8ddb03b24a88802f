// Runs once a span of a request: the loops index with `!`.

import { greatest, group, least, mean, median, variance } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, type ShapeVisits } from '../../calls/visits.ts'
import { at, getOrInsert } from '../../core/entries.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { NS } from '../../flows/span-tree.ts'
import { quantile } from '../../stats/quantile.ts'
import { usualMeanUs } from '../edges/edge-times.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import { countByPeriod, type ErrorChange, errorChangeOf, tallied } from '../steps/compare-errors.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { FAILED_WEIGHT, LEVEL, MIN_SEEN, MOST, NEARLY_ALL, NOTABLE, SMALL } from '../thresholds.ts'
import { findingCall } from './call-findings.ts'

import { type Deadline, type Draft, NO_EVIDENCE, rateSize } from './finding.ts'
import { categoriesOf, placeTitle } from './names.ts'
import { firstExemplars } from './slow-examples.ts'

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
    const after = flows.within(AFTER, change.failing)
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
      weightUs: (failedRequests * FAILED_WEIGHT + touched / FAILED_WEIGHT) * usualUs,
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
      const size = rateSize(passed, 'call')
      const [low, high] = size.interval
      // A failure or two of a caller may be chance.
      if (seen.has(caller) || low * high <= 0) return []
      seen.add(caller)
      return {
        ...origin,
        evidence: { ...evidence, passed, counts: passed },
        key: JSON.stringify([kind, service, caller]),
        size,
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
    (one) => one.p < LEVEL && one.q < MOST && one.difference > 0 && moreFailed(one) > 0,
  )
  return least(near, ({ q }) => q) ?? null
}

/** Returns how many more requests fail, at an equal number of calls; 0 if they change in the other direction. */
export function moreFailed({ failed, chances, difference }: ErrorChange): number {
  const expected = (failed[BEFORE] * chances[AFTER]) / Math.max(1, chances[BEFORE])
  const more = Math.round(failed[AFTER] - expected)
  return more * difference > 0 ? more : 0
}

/** A call of after, and how long it takes without the findings priced so far. */
interface TimedCall {
  readonly request: number
  readonly span: number
  readonly us: number
}

/** Calls of one operation by one caller. */
interface FailingSite {
  /** Calls that fail as a finding says, and those that do not fail. */
  readonly failed: TimedCall[]
  readonly usual: TimedCall[]
  /** How long calls before took, failed or not. */
  readonly beforeUs: number[]
}

/**
 * Collects the calls of after that fail, and all others of the same operations by the same callers.
 *
 * @param failing spans of the failing calls, by request
 * @param timesUs what each span of a request takes, in µs
 */
export function failingSites(
  flows: FlowSet,
  failing: ReadonlyMap<number, ReadonlySet<number>>,
  timesUs: (request: number) => (span: number) => number,
): FailingSite[] {
  const siteOf = memoized((shape: number) =>
    memoized((span: number) => {
      const { tree, services, operations } = allVisits(flows).get(shape)!
      return JSON.stringify([services[span], operations[span], operations[tree.parent[span]!]])
    }),
  )
  const sites = new Map<string, FailingSite>()
  for (const [request, spans] of failing) {
    if (flows.period[request] === BEFORE) continue
    for (const span of spans) {
      getOrInsert(sites, siteOf(flows.shapeOf[request]!)(span), () => ({
        failed: [],
        usual: [],
        beforeUs: [],
      }))
    }
  }
  const ofShape = memoized((shape: number) => {
    const { operations } = allVisits(flows).get(shape)!
    return Array.from(operations.keys()).flatMap((span) => {
      const site = sites.get(siteOf(shape)(span))
      return site === undefined ? [] : [{ span, site }]
    })
  })
  for (let request = 0; request < flows.size; request++) {
    const own = ofShape(flows.shapeOf[request]!)
    if (own.length === 0) continue
    const usOf = timesUs(request)
    for (const { span, site } of own) {
      const us = usOf(span)
      // A span that an earlier finding took out takes no time.
      if (Number.isNaN(us) || us === 0) continue
      if (flows.period[request] === BEFORE) site.beforeUs.push(us)
      else if (failing.get(request)?.has(span)) site.failed.push({ request, span, us })
      else if (!flows.outcomes?.failed(request, span)) site.usual.push({ request, span, us })
    }
  }
  return [...sites.values()]
}

/**
 * By how much longer failing calls of a site take than others of it, in µs, and the standard error of their mean; no
 * calls where too few do not fail.
 *
 * @param share of the failing calls, those that would not have failed before
 */
export function longerThanUsual(
  of: FailingSite,
  share: number,
): { readonly calls: readonly TimedCall[]; readonly errorUs: number } {
  const usOf = ({ us }: TimedCall) => us
  const { failed, usual, beforeUs } = of
  const ofUsual = variance(usual, usOf)
  if (ofUsual === undefined) return { calls: [], errorUs: 0 }
  const insteadUs = slowerBefore(of) ?? mean(usual, usOf)!
  const moreUs = share * (mean(failed, usOf)! - insteadUs)
  // Calls that take long whatever becomes of them add no more than all calls of the operation.
  const all = [...failed, ...usual]
  const ofAllUs = all.length * (mean(all, usOf)! - (mean(beforeUs) ?? Number.NaN))
  const limitUs = Number.isNaN(ofAllUs) ? moreUs : ofAllUs / failed.length
  const part = moreUs * limitUs > 0 ? Math.min(1, limitUs / moreUs) : 0
  const ofFailed = variance(failed, usOf) ?? ofUsual
  const errorUs = share * Math.sqrt(ofFailed / failed.length + ofUsual / usual.length)
  const calls = failed.map((one) => ({ ...one, us: share * part * (one.us - insteadUs) }))
  return { calls, errorUs }
}

/**
 * How long calls before took that took longer than those that fail, on average, in µs: calls that are given up for
 * their time would have been such. `null` if others take as long, or before hardly any did.
 */
function slowerBefore({ failed, usual, beforeUs }: FailingSite): number | null {
  const limitUs = median(failed, ({ us }) => us)!
  const slower = beforeUs.filter((us) => us > limitUs)
  const share = failed.length / (failed.length + usual.length)
  const isForTime =
    usual.filter(({ us }) => us > limitUs).length <= SMALL * usual.length &&
    slower.length >= (share / 2) * beforeUs.length
  return isForTime ? mean(slower)! : null
}

/** A request, and 1 where it fails, else 0. */
export interface Failure {
  readonly request: number
  readonly value: number
}

/** Returns which requests have failing calls of a finding, among those that make them; or else which fail. */
export function failuresOf(
  { calls: [call], services, segment }: Pick<Draft, 'calls' | 'services' | 'segment'>,
  { flows, sites, errors }: StepChanges,
): Failure[] {
  const { outcomes } = flows
  if (outcomes === undefined) return []
  const { service, operation } = call?.of ?? {}
  const change = call?.kind === 'fails' ? errorChangeOf(errors, services) : undefined
  const failing = change && new Set(change.requests)
  const operations = change?.operations ?? [operation]
  const spansOf = sites?.callers.map((callers) =>
    callers.flatMap(({ kind: { of }, span }) =>
      of.service === service && operations.includes(of.operation) ? span : [],
    ),
  )
  const inside = segment && new Set(segment.requests)
  return [...flows.period.keys()].flatMap((request) => {
    if (inside?.has(request) === false) return []
    const spans = call === undefined ? [0] : (spansOf?.[at(flows.shapeOf, request)] ?? [])
    const isFailing = failing?.has(request) ?? spans.some((span) => outcomes.failed(request, span))
    // A call that fails may reach nobody.
    return spans.length === 0 && !isFailing ? [] : [{ request, value: Number(isFailing) }]
  })
}

/**
 * Finds the call that requests of after give up, all of them at one time: another than before, or one
 * that calls before took longer than. `null` for none.
 */
export function deadlineOf(flows: FlowSet, requests: readonly number[]): Deadline | null {
  if (flows.outcomes === undefined || requests.length < MIN_SEEN) return null
  const given = requests.flatMap((request) => timesOf(flows, request).filter(isGivenUp))
  const [name = '', own = []] =
    greatest(
      group(given, (call) => call.name),
      ([, some]) => some.length,
    ) ?? []
  const us = deadlineIn(own)
  const services = own[0]?.services ?? []
  const giving = new Set(own.map(({ request }) => request)).size
  if (us === null || giving < NEARLY_ALL * requests.length) return null
  const before = flows.requestsOf(BEFORE).flatMap((request) => timesOf(flows, request, name))
  const beforeUs = deadlineIn(before.filter(isGivenUp))
  const longer = before.filter((call) => call.us > us)
  const isOther =
    beforeUs === null
      ? longer.filter((call) => call.us > (1 + SMALL) * us).length >= MIN_SEEN
      : Math.abs(us / beforeUs - 1) >= NOTABLE
  return isOther ? { name, services, us, beforeUs, longer: longer.length / before.length } : null
}

interface CallTime extends Pick<Deadline, 'name' | 'services'> {
  readonly request: number
  readonly us: number
  /** Whether it says that it took too long, and nothing that it called does. */
  readonly isGivenUp: boolean
}

function isGivenUp(call: CallTime): boolean {
  return call.isGivenUp
}

/** Returns the one time that calls take until they are given up; `null` where they are few, or end at any time. */
function deadlineIn(calls: readonly CallTime[]): number | null {
  const sorted = Float64Array.from(calls, ({ us }) => us).sort()
  if (sorted.length < MIN_SEEN) return null
  const middle = quantile(sorted, 0.5)
  const spread = quantile(sorted, 0.9) - quantile(sorted, 0.1)
  return spread <= SMALL * middle ? middle : null
}

/** Returns the durations of a request's spans, or of those with a name. */
function timesOf(flows: FlowSet, request: number, wanted?: string): CallTime[] {
  const { outcomes, shapeOf } = flows
  const { tree, calls } = callsOf(flows).get(shapeOf[request]!)!
  const times = spanTimes(flows).of(request)
  const spans = [...calls.keys()].filter(
    (one) => one > 0 && (wanted === undefined || calls[one]!.name === wanted),
  )
  // A snapshot may carry the latencies of some requests only.
  if (spans.length === 0 || times.length === 0) return []
  const isCut = (span: number) =>
    outcomes!.failed(request, span) && outcomes!.wasCutShort(request, span)
  return spans.map((span) => {
    const [first, end] = [tree.firstChild[span]!, tree.firstChild[span + 1]!]
    const called = Array.from({ length: end - first }, (_, i) => first + i)
    const us = (times[2 * span + 1]! - times[2 * span]!) / NS
    return { ...calls[span]!, request, us, isGivenUp: isCut(span) && !called.some(isCut) }
  })
}

/** Returns the name of each span's call or operation, by shape. */
const callsOf = remembered(
  (flows: FlowSet) =>
    new Map(
      Array.from(allVisits(flows), ([shape, visits]) => [
        shape,
        { tree: visits.tree, calls: visits.operations.map((_, span) => callOf(visits, span)) },
      ]),
    ),
)

function callOf({ visitOf, operations }: ShapeVisits, span: number) {
  const visit = visitOf[span]!
  const call = visit.calls.find((one) => one.span === span)
  const caller = call ? visit.service : span === visit.entry ? visit.caller?.service : undefined
  const { service } = call ?? visit
  const operation = call?.operation ?? operations[span]!
  return {
    name: placeTitle({ kind: 'call', service, caller: caller ?? null }, operation),
    services: caller === undefined ? [service] : [caller, service],
  }
}
