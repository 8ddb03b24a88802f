import { least } from 'd3-array'
import { certaintyText, counted, listed, printable } from '../../core/words.ts'
import { saysTarget } from '../../flows/call-targets.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { proportionInterval } from '../../stats/proportion-interval.ts'
import { usualMeanUs } from '../edges/edge-times.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { CountsTest } from '../steps/compare-counts.ts'
import {
  countByPeriod,
  type ErrorChange,
  type InnerCall,
  tallied,
} from '../steps/compare-errors.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { findingCall } from './call-findings.ts'
import { deadlineOf } from './deadlines.ts'
import { ALONE, AS_LIKELY } from './detectable.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { rateSize } from './finding-facts.ts'
import { callsText, categoriesOf, ofChances } from './names.ts'
import { firstExemplars } from './slow-examples.ts'

/** Weight of a failed request, in requests that take twice as long as usual. */
const FAILED_WEIGHT = 10
/** Weight of a failing call whose request succeeds nevertheless. */
const MADE_GOOD_WEIGHT = 0.1
/** A message is named if this share of the calls that changed says so. */
const MOSTLY = 0.5
/** Most services to look at that are named. */
const MAX_LOOKED_AT = 3
/** Most operations with the same failures that are named. */
const MAX_NAMED = 2

type Counts = Pick<CountsTest, 'made' | 'chances' | 'worth'>

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
    const name = printable(service)
    const origin: Draft = {
      ...NO_EVIDENCE,
      kind: 'errors',
      direction: difference > 0 ? 'slower' : 'faster',
      where: kind === 'work' ? name : `${listed(callers.map(printable), MAX_LOOKED_AT)} → ${name}`,
      what: errorWords(change),
      key: JSON.stringify([kind, service]),
      categories: categoriesOf(categories, requests),
      requests: touched,
      concerned: countByPeriod(flows, requests),
      contributionUs: 0,
      failedRequests,
      weightUs: (failedRequests * FAILED_WEIGHT + touched * MADE_GOOD_WEIGHT) * usualUs,
      eachInterval: [Number.NaN, Number.NaN],
      probabilitySlower: Number.NaN,
      notes: [
        rateText(change.inner ?? change),
        failedText(change),
        ...deadlineNotes(flows, change),
      ],
      // Failures that only callers recorded may never have reached the service: an open breaker, or no connection.
      look: listed(
        [...callers, service, ...(change.inner?.peer ? [change.inner.peer] : [])].map(printable),
        MAX_LOOKED_AT,
      ),
      services: [service, ...callers],
      calls: [findingCall({ ...change, kind: 'fails', of, previous: null, call: null })],
      tallies: [change, change.inner ?? change],
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
        where: printable(caller),
        what: `${operationName(passed.of)} fails in ${callsText(passed)}`,
        key: JSON.stringify([kind, service, caller]),
        notes: [rateText(passed)],
        tallies: [passed, passed],
        size: rateSize(passed, 'call'),
        services: [caller, service],
        calls: [findingCall({ ...passed, kind: 'fails with', previous: of, call: null })],
      }
    })
    return [origin, ...withIt]
  })
}

function deadlineNotes(flows: FlowSet, { failing }: ErrorChange): string[] {
  const after = [...failing].filter((request) => flows.period[request] === AFTER)
  const deadline = deadlineOf(flows, after)
  return deadline === null ? [] : [`calls are ${deadline.text}`]
}

/** Returns a draft of failures in the numbers of the requests of some time: calls, and how many of them fail. */
export function failuresThen(
  draft: Draft,
  flows: FlowSet,
  isThen: (request: number) => boolean,
): Draft {
  const { calls, tallies = [] } = draft
  const [own, counts] = tallies.map((tally) => tallied(flows, tally, isThen))
  const [call, ...others] = calls
  const [, whole] = tallies
  if (!(call && own && counts && whole && counts.made[AFTER] > 0)) return draft
  const told = rateText(whole)
  return {
    ...draft,
    what: draft.what.replace(callsText(whole), callsText(counts)),
    notes: draft.notes.map((note) => (note === told ? rateText(counts) : note)),
    calls: [findingCall({ ...call, ...own }), ...others],
    ...(draft.size && { size: rateSize(counts, 'call') }),
  }
}

/** Names the failures closest to an increase that may be chance; empty where nothing came near. */
export function nearestFailure({ errors }: Pick<StepChanges, 'errors'>): string {
  const near = errors.filter(
    (one) => one.p < ALONE && one.q < AS_LIKELY && one.difference > 0 && moreFailed(one) > 0,
  )
  const first = least(near, ({ q }) => q)
  if (first === undefined) return ''
  const where = `${printable(first.service)} ${errorWords(first)}`
  return `${where}, ${failuresText(moreFailed(first))}, ${certaintyText(first.q)}`
}

/** Says what fails: `POST /pay fails with “no such promo” in 193 of 2,741 calls (14 of 2,823 before)`. */
export function errorWords(change: ErrorChange): string {
  const { operations, said, messages, made, difference, inner } = change
  const counts = inner ?? change
  const isOne = operations.length === 1 || inner !== null
  const names = operations.map((operation) => operationName({ operation }))
  const call = inner === null ? '' : `${operationName(inner)}${toPeer(inner)} within `
  const what = call + listed(names, MAX_NAMED)
  const [message] = messages
  const moved = Math.abs(made[AFTER] - made[BEFORE])
  const isMost =
    message !== undefined && Math.abs(message.made[1] - message.made[0]) >= MOSTLY * moved
  const words = said ?? (isMost ? message.text : '')
  const saying = words === '' ? '' : ` with “${printable(words)}”`
  if (made[AFTER] === 0) {
    return `${what} no longer ${isOne ? 'fails' : 'fail'}${saying} (${ofChances(counts, BEFORE)} calls before)`
  }
  const only = difference > 0 ? '' : 'only '
  return `${what} ${isOne ? 'fails' : 'fail'}${saying} ${only}in ${callsText(counts)}`
}

function toPeer({ operation, peer }: Pick<InnerCall, 'operation' | 'peer'>): string {
  return peer === '' || saysTarget(operation) ? '' : ` to ${printable(peer)}`
}

function rateText({ made, chances, worth }: Counts): string {
  const share = (period: Period) => rate(made[period] / Math.max(1, chances[period]))
  const interval = (period: Period) => {
    const failed = (made[period] * worth[period]) / Math.max(1, chances[period])
    const [low, high] = proportionInterval(failed, worth[period])
    return `${rate(low).replace(' %', '')}–${rate(high)}`
  }
  return `${share(AFTER)} of calls (95 % CI ${interval(AFTER)}), ${share(BEFORE)} before (${interval(BEFORE)})`
}

function rate(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`
}

/** Returns how many more requests fail, at an equal number of calls; 0 if they change in the other direction. */
function moreFailed({ failed, chances, difference }: ErrorChange): number {
  const expected = (failed[BEFORE] * chances[AFTER]) / Math.max(1, chances[BEFORE])
  const more = Math.round(failed[AFTER] - expected)
  return more * difference > 0 ? more : 0
}

/** `179 more failed requests`. */
export function failuresText(more: number): string {
  return counted(Math.abs(more), `${more > 0 ? 'more' : 'fewer'} failed request`)
}

function failedText(change: ErrorChange): string {
  const more = moreFailed(change)
  if (more !== 0) return failuresText(more)
  const { failed } = change
  return failed[AFTER] === 0 ? 'no request fails because of it' : 'the same number of requests fail'
}
