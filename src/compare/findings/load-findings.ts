import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import { expectedAtLoad } from '../load/expected-at-load.ts'
import type { PauseChange, RateChange } from '../steps/arrivals.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { observedChange, weighed } from './finding-size.ts'
import { byRequestsAfter } from './names.ts'

const MIN_RATIO = 1.25
/** Smallest share of the change that a load explains to be reported, unless that cannot be known. */
const MIN_EXPLAINED = 0.2
/** Share of the change from which another finding comes before a load that few requests, or moments, show. */
const MOST_EXPLAINED = 2 / 3
/** Smallest relevant change of the share of a period that is paused. */
const MIN_PAUSED = 0.1
/** Shortest pause, in response times: shorter ones come and go with these. */
const MIN_PAUSE_TIMES = 10
/** Share of `alpha` for pauses: they add no time to requests, so they must be surer than what does. */
const PAUSES_LEVEL = 0.1

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
  return pauses !== null && pausesQ < PAUSES_LEVEL * options.alpha && isAlike(rate?.ratio ?? 1)
    ? pauseFindings(pauses, { q: pausesQ, flows, edges })
    : []
}

function isAlike(ratio: number): boolean {
  return ratio < MIN_RATIO && ratio > 1 / MIN_RATIO
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
  const isKnown = verdict === 'known' && share >= MIN_EXPLAINED
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
      others.every((other) => other.contributionUs / observedChange(edges) < MOST_EXPLAINED),
    requests: after,
    concerned: [flows.wholes(BEFORE), after],
    contributionUs: isKnown ? contributionUs : 0,
    eachInterval: isKnown ? [interval[0] / after, interval[1] / after] : [Number.NaN, Number.NaN],
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
  if (Math.abs(difference) < MIN_PAUSED || typicalUs < MIN_PAUSE_TIMES * usualUs) return []
  const isMore = difference > 0
  return [
    {
      ...draftOf(edges, isMore ? 'slower' : 'faster'),
      key: `load pauses ${isMore ? 'more' : 'fewer'}`,
      evidence: { of: 'pauses', change },
      requests: pauses[AFTER],
      concerned: pauses,
      contributionUs: 0,
      eachInterval: [Number.NaN, Number.NaN],
      size: {
        value: pauses[AFTER] / requests[AFTER] - pauses[BEFORE] / requests[BEFORE],
        unit: 'rate',
        per: 'request',
        interval: [Number.NaN, Number.NaN],
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
    probabilitySlower: Number.NaN,
  } as const
}
