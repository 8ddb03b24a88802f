import { sum } from 'd3-array'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { moments } from '../../stats/moments.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { cappedTimes } from '../edges/edge-times.ts'
import type { RequestCounts } from './concurrency-findings.ts'

/** Requests whose flow is of the new form, and those of the form that it replaces. */
export interface Forms {
  readonly now: readonly number[]
  readonly usual: readonly number[]
  readonly period: Period
  readonly counts: RequestCounts
}

/** Fewest requests after that tell what the usual form takes. */
const MIN_USUAL = 10

export function movedRequests({ counts: [before, after] }: Forms): number {
  return Math.round(after[0] - (before[0] / Math.max(1, before[1])) * after[1])
}

/** Divides requests by their form; those for which `isNew` is undefined have neither. */
export function formsOf(flows: FlowSet, isNew: (request: number) => boolean | undefined): Forms {
  const now: [before: number[], after: number[]] = [[], []]
  const usual: [before: number[], after: number[]] = [[], []]
  for (let request = 0; request < flows.size; request++) {
    const verdict = isNew(request)
    const period = flows.period[request] as Period
    if (verdict === true) now[period].push(request)
    if (verdict === false) usual[period].push(request)
  }
  // As in the thesis: what the other form takes after, or before where hardly any request has it.
  const period = usual[AFTER].length >= MIN_USUAL ? AFTER : BEFORE
  const all = (requests: readonly number[]) =>
    Math.round(sum(requests, (request) => flows.countOf(request)))
  const counted = (one: Period) => [all(now[one]), all(now[one]) + all(usual[one])] as const
  return {
    now: now[AFTER],
    usual: usual[period],
    period,
    counts: [counted(BEFORE), counted(AFTER)],
  }
}

export interface Price {
  readonly forms: Forms
  readonly requests: number
  readonly contributionUs: number
  readonly eachInterval: readonly [low: number, high: number]
}

/** @param changed requests after that have the new form and would have had the usual one before */
export function priceOf(flows: FlowSet, forms: Forms, changed: number): Price {
  const usual = meanOf(flows, forms.usual, forms.period)
  const now = meanOf(flows, forms.now, AFTER)
  const eachUs = now.mean - usual.mean
  const width = normalQuantile(0.975) * Math.hypot(now.error, usual.error)
  const requests = Math.min(forms.counts[AFTER][0], changed)
  const contributionUs = Number.isNaN(eachUs) ? 0 : eachUs * requests
  return { forms, requests, contributionUs, eachInterval: [eachUs - width, eachUs + width] }
}

export function addPrices(a: Price, b: Price): Price {
  const requests = a.requests + b.requests
  const width = ({ eachInterval: [low, high], requests: own }: Price) => ((high - low) / 2) * own
  const eachUs = (a.contributionUs + b.contributionUs) / requests
  const each = Math.hypot(width(a), width(b)) / requests
  const counts = [BEFORE, AFTER].map((period) =>
    [0, 1].map((i) => (a.forms.counts[period]?.[i] ?? 0) + (b.forms.counts[period]?.[i] ?? 0)),
  )
  return {
    requests,
    contributionUs: a.contributionUs + b.contributionUs,
    eachInterval: [eachUs - each, eachUs + each],
    forms: {
      now: [...a.forms.now, ...b.forms.now],
      usual: [...a.forms.usual, ...b.forms.usual],
      period: a.forms.period,
      counts: counts as unknown as RequestCounts,
    },
  }
}

function meanOf(flows: FlowSet, requests: readonly number[], period: Period) {
  const times = Float64Array.from(requests, cappedTimes(flows, period))
  const weights = flows.countsOf(requests)
  const { mean, sd } = moments(times, weights)
  return { mean, error: sd / Math.sqrt(worthOf(times, weights)) }
}
