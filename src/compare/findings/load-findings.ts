// Runs once a request: the loops index with `!`.

import { bisectRight, mean, sum } from 'd3-array'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { isotonicRegression } from '../../stats/isotonic-regression.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import { cappedTimes } from '../edges/edge-times.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import { type PauseChange, type RateChange, rowsByStart } from '../steps/arrivals.ts'
import { rootTypes } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import {
  APART,
  FOLDS,
  MIN_KNOWN,
  MIN_PAUSE,
  MIN_TAIL,
  MOST,
  NOTABLE,
  PART,
  RESAMPLES,
  SHORT_STRETCHES,
  SIDE_LEVEL,
  SMALL,
} from '../thresholds.ts'
import {
  type Draft,
  NO_EVIDENCE,
  NO_INTERVAL,
  observedChange,
  type RateEvidence,
  weighed,
} from './finding.ts'
import { byRequestsAfter } from './names.ts'

/** Drafts findings about clients: another rate with times that moved as expected from it, or pauses. */
export function loadFindings(
  { flows, arrivals, options, changes }: StepChanges,
  edges: EdgeChanges,
  others: readonly Draft[],
): Draft[] {
  const { rate, pauses, rateQ, pausesQ } = arrivals
  // If fewer requests take longer, clients wait for a slow service: an effect, no cause.
  const isAsExpected = changes.some(
    ({ kind, shiftUs }) => kind === 'request' && shiftUs > 0 === (rate?.ratio ?? 0) > 1,
  )
  if (rate !== null && rateQ < options.alpha) {
    const draft = rateFinding(rate, rateQ, { edges, isAsExpected, others })
    if (draft !== null) return [weighed(draft, edges.categories)]
  }
  // At another rate, times between requests differ in more than their scale.
  return pauses !== null && pausesQ < SIDE_LEVEL * options.alpha && isAlike(rate?.ratio ?? 1)
    ? pauseFindings(pauses, { q: pausesQ, flows, edges })
    : []
}

function isAlike(ratio: number): boolean {
  return ratio < APART && ratio > 1 / APART
}

function rateFinding(
  rate: RateChange,
  q: number,
  {
    edges,
    isAsExpected,
    others,
  }: { edges: EdgeChanges; isAsExpected: boolean; others: readonly Draft[] },
): Draft | null {
  const { observedChangeUs, categories } = edges
  const { flows } = categories
  const { ratio, perSecond, p } = rate
  const isMore = ratio > 1
  if (isAlike(ratio) || observedChangeUs > 0 !== isMore) return null
  const { verdict, contributionUs, interval, isOfMoments } = expectedAtLoad(flows)
  const share = contributionUs / observedChangeUs
  const isKnown = verdict === 'known' && share >= PART
  const isSure = interval[0] * interval[1] > 0
  if (verdict === 'independent') return null
  if (verdict === 'known' && !isKnown && !(isOfMoments && isSure)) return null
  const after = flows.wholes(AFTER)
  // Times that follow the rate drift with it, so their excess may not show.
  if (!isAsExpected && !(isKnown && isSure)) return null
  return {
    ...draftOf(edges, isMore ? 'slower' : 'faster'),
    key: `load rate ${isMore ? 'more' : 'fewer'}`,
    evidence: { of: 'rate', rate, verdict, share: isKnown ? share : null },
    isFirst:
      isKnown ||
      verdict === 'unseen' ||
      others.every((other) => other.contributionUs / observedChange(edges) < MOST),
    requests: after,
    concerned: [flows.wholes(BEFORE), after],
    contributionUs: isKnown ? contributionUs : 0,
    eachInterval: isKnown ? [interval[0] / after, interval[1] / after] : NO_INTERVAL,
    size: {
      value: perSecond[AFTER] - perSecond[BEFORE],
      unit: 'rate',
      per: 'second',
      interval: [
        perSecond[BEFORE] * (rate.interval[0] - 1),
        perSecond[BEFORE] * (rate.interval[1] - 1),
      ],
    },
    p,
    q,
  }
}

function pauseFindings(
  change: PauseChange,
  { q, flows, edges }: { q: number; flows: FlowSet; edges: EdgeChanges },
): Draft[] {
  const { pauses, requests, typicalUs, durations, p } = change
  const shares = [BEFORE, AFTER].map((period) => (pauses[period] * typicalUs) / durations[period])
  const difference = (shares[AFTER] as number) - (shares[BEFORE] as number)
  const usualUs = quantile(flows.responseTimeUs.toSorted(), 0.5)
  if (Math.abs(difference) < NOTABLE || typicalUs < MIN_PAUSE * usualUs) return []
  const isMore = difference > 0
  return [
    {
      ...draftOf(edges, isMore ? 'slower' : 'faster'),
      key: `load pauses ${isMore ? 'more' : 'fewer'}`,
      evidence: { of: 'pauses', change },
      requests: pauses[AFTER],
      concerned: pauses,
      contributionUs: 0,
      size: {
        value: pauses[AFTER] / requests[AFTER] - pauses[BEFORE] / requests[BEFORE],
        unit: 'rate',
        per: 'request',
        interval: NO_INTERVAL,
      },
      p,
      q,
    },
  ]
}

function draftOf({ categories }: EdgeChanges, direction: Draft['direction']) {
  return {
    ...NO_EVIDENCE,
    kind: 'load',
    direction,
    categories: byRequestsAfter(categories, Array.from(categories.categoryOf)),
  } as const
}

/** Response times expected after at the rate of arrivals, as learned from before. */
export interface ExpectedAtLoad {
  readonly verdict: RateEvidence['verdict']
  /** Extra time of all requests after because of the load, in µs; NaN unless `'known'`. */
  readonly contributionUs: number
  readonly interval: readonly [low: number, high: number]
  /** Whether before had such rates only for moments: waiting grows further if the rate lasts. */
  readonly isOfMoments: boolean
}

interface Window {
  readonly rate: number
  /** Mean response time over that of the same types of requests before, less 1. */
  readonly excess: number
}

/**
 * Learns from before how times depend on the rate of arrivals, and predicts those after, no further
 * than the rates of before. Requests in flight would not do: a slower service has more. With
 * `counts: 'weighted'`, requests count by their weights, except in `contributionUs`: it is of the
 * recorded requests.
 */
export function expectedAtLoad(flows: FlowSet): ExpectedAtLoad {
  const [before, after] = [loadWindows(flows, BEFORE), loadWindows(flows, AFTER)]
  if (Math.min(before.length, after.length) < MIN_TAIL) return untold('few')
  const rates = before.map(({ rate }) => rate).sort((a, b) => a - b)
  const isSeen = (but: number) => {
    const [low, high] = [quantile(rates, but), quantile(rates, 1 - but)]
    const within = after.filter(({ rate }) => rate >= low && rate <= high)
    return within.length >= MOST * after.length
  }
  if (!isSeen(0)) return untold('unseen')
  if (gainOf(before) < SMALL) return untold('independent')
  const usualUs = usualOfAllTypesUs(flows)
  const expected = (learned: readonly Window[]) => {
    const predict = predictor(learned)
    return usualUs * (mean(after, predict)! - mean(before, predict)!)
  }
  const random = randomSource(1)
  const resampled = Float64Array.from({ length: RESAMPLES }, () =>
    expected(before.map(() => before[Math.floor(random.next() * before.length)]!)),
  ).sort()
  return {
    verdict: 'known',
    isOfMoments: !isSeen(SMALL),
    contributionUs: expected(before),
    interval: [quantile(resampled, 0.025), quantile(resampled, 0.975)],
  }
}

function untold(verdict: ExpectedAtLoad['verdict']): ExpectedAtLoad {
  return { verdict, contributionUs: Number.NaN, interval: NO_INTERVAL, isOfMoments: false }
}

/** Returns the rate, and how long requests took, in stretches of time with as many requests each. */
export function loadWindows(flows: FlowSet, period: Period): Window[] {
  const { startUs } = flows
  const size = Math.max(MIN_KNOWN, Math.floor(flows.wholes(period) / SHORT_STRETCHES))
  const usual = usualOfTypes(flows)
  const timeOf = cappedTimes(flows, period)
  return rowsByStart(flows, period).flatMap((all) => {
    const rows = all.filter((row) => !flows.isPart(row))
    const windows: Window[] = []
    for (let start = 0; start + size < rows.length; start += size) {
      const spanUs = startUs[rows[start + size]!]! - startUs[rows[start]!]!
      const own = rows.subarray(start, start + size)
      const known = own.filter((row) => !Number.isNaN(usual(row)))
      const taken = sum(known, (row) => flows.countOf(row) * timeOf(row))
      const expected = sum(known, (row) => flows.countOf(row) * usual(row))
      if (spanUs > 0 && expected > 0) {
        const came = sum(own, (row) => flows.countOf(row))
        windows.push({ rate: (came * 1e6) / spanUs, excess: taken / expected - 1 })
      }
    }
    return windows
  })
}

function usualOfTypes(flows: FlowSet): (request: number) => number {
  const { names, typeOf } = rootTypes(flows)
  const timeOf = cappedTimes(flows, BEFORE)
  const sums = new Float64Array(names.length)
  const counts = new Float64Array(names.length)
  for (let request = 0; request < flows.count(BEFORE); request++) {
    sums[typeOf[request]!]! += flows.countOf(request) * timeOf(request)
    counts[typeOf[request]!]! += flows.countOf(request)
  }
  return (request) => sums[typeOf[request]!]! / counts[typeOf[request]!]!
}

/** Returns the time of all requests after if each took as long as its type before. */
function usualOfAllTypesUs(flows: FlowSet): number {
  const usual = usualOfTypes(flows)
  const after = flows.requestsOf(AFTER).filter((request) => !flows.isPart(request))
  const takenUs = sum(after, (request) => flows.countOf(request) * usual(request))
  return (takenUs * flows.wholes(AFTER)) / (flows.countedIn(AFTER) || 1)
}

export function predictor(learned: readonly Window[]): (window: Window) => number {
  const sorted = learned.toSorted((a, b) => a.rate - b.rate)
  const rates = sorted.map(({ rate }) => rate)
  const fitted = isotonicRegression(
    rates,
    sorted.map(({ excess }) => excess),
  )
  return ({ rate }) => fitted[Math.max(0, bisectRight(rates, rate) - 1)]!
}

/** Returns the share by which the rate improves predictions for stretches of time that it was not learned from. */
function gainOf(windows: readonly Window[]): number {
  let [byRate, byMean] = [0, 0]
  for (let fold = 0; fold < FOLDS; fold++) {
    const isHeld = (_: Window, i: number) => Math.floor((FOLDS * i) / windows.length) === fold
    const learned = windows.filter((window, i) => !isHeld(window, i))
    const predict = predictor(learned)
    const usual = mean(learned, ({ excess }) => excess)!
    for (const window of windows.filter(isHeld)) {
      byRate += (window.excess - predict(window)) ** 2
      byMean += (window.excess - usual) ** 2
    }
  }
  return byMean === 0 ? 0 : 1 - byRate / byMean
}
