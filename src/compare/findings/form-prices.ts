import { sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { moments } from '../../stats/moments.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { cappedTimes, longestTime } from '../edges/edge-times.ts'
import { rootTypes } from '../steps/root-types.ts'
import { MIN_KNOWN } from '../thresholds.ts'
import type { Forms, FormsOfType, RequestCounts } from './finding.ts'

export function movedRequests({ counts: [before, after] }: Forms): number {
  return Math.round(after[0] - (before[0] / Math.max(1, before[1])) * after[1])
}

/**
 * Divides requests by their form; those for which `isNew` is undefined have neither.
 *
 * @param isWhole whether circumstances decide a request's form, such as a call that is repeated because the first is
 *   slow. Forms then do not show the cost; comparing all requests before and after does
 */
export function formsOf(
  flows: FlowSet,
  isNew: (request: number) => boolean | undefined,
  { isWhole = false } = {},
): Forms {
  const { typeOf, unknown } = rootTypes(flows)
  const newForms = () => [[[], []] as number[][], [[], []] as number[][]] as const
  const ofType = new Map<number, ReturnType<typeof newForms>>()
  const counts = [BEFORE, AFTER].map((): [number, number] => [0, 0])
  for (let request = 0; request < flows.size; request++) {
    const verdict = isNew(request)
    if (verdict === undefined) continue
    const period = flows.period[request] as Period
    const type = typeOf[request] as number
    const forms = getOrInsert(ofType, type, newForms)
    forms[verdict ? 0 : 1][period]?.push(request)
    const counted = counts[period] as [number, number]
    counted[1] += flows.countOf(request)
    if (verdict) counted[0] += flows.countOf(request)
  }
  const ofForm = (form: 0 | 1, period: Period) =>
    [...ofType.values()].flatMap((forms) => forms[form][period] as number[])
  const ofAll = [ofForm(1, BEFORE), ofForm(1, AFTER)]
  const types = Array.from(ofType, ([type, [now, own]]): FormsOfType => {
    if (isWhole) {
      const [before, after] = [BEFORE, AFTER].map((one) => [
        ...(now[one] ?? []),
        ...(own[one] ?? []),
      ])
      return { now: after ?? [], usual: before ?? [], period: BEFORE }
    }
    // A request that ends early may have been of any type before.
    const usual = unknown.has(type) ? ofAll : own
    // As in the thesis: the time of the other form after, or before if hardly any request has it.
    const period = (usual[AFTER]?.length ?? 0) >= MIN_KNOWN ? AFTER : BEFORE
    return { now: now[AFTER] ?? [], usual: usual[period] ?? [], period }
  })
  return {
    isWhole,
    types,
    now: isWhole ? ofForm(0, AFTER) : types.flatMap((one) => one.now),
    was: ofForm(0, BEFORE),
    usual: isWhole ? ofAll.flat() : [...new Set(types.flatMap((one) => one.usual))],
    counts: counts.map((two) => two.map(Math.round)) as unknown as RequestCounts,
  }
}

export interface Price {
  readonly forms: Forms
  readonly requests: number
  readonly contributionUs: number
  readonly eachInterval: readonly [low: number, high: number]
}

/**
 * Returns the extra time of requests of the new form over the usual form of the same type: the mean over types that
 * have both forms, weighted by the new form's mix of types. For whole groups, the excess of all requests over all
 * before is attributed to those that changed.
 *
 * @param changed requests after that have the new form and would have had the usual one before
 * @param options.timesUs time of each request; default its response time
 */
export function priceOf(
  flows: FlowSet,
  forms: Forms,
  changed: number,
  { timesUs }: { readonly timesUs?: Float64Array } = {},
): Price {
  const known = forms.types.filter(({ now, usual }) => now.length > 0 && usual.length > 0)
  const parts = known.map(({ now: own, usual: other, period }) => {
    // Few requests may be the slowest of all: they are cut as their own group.
    const mostUs = longestOf(flows, forms.isWhole ? [...own, ...other] : own)
    const timesOf = (one: Period, longestUs?: number) => cappedTimes(flows, one, longestUs, timesUs)
    const now = meanOf(flows, own, timesOf(AFTER, mostUs))
    const usual = meanOf(flows, other, timesOf(period, forms.isWhole ? mostUs : undefined))
    const weight = sum(own, (request) => flows.countOf(request))
    const error = Math.hypot(now.error, usual.error)
    return { weight, addedUs: weight * (now.mean - usual.mean), error: weight * error }
  })
  const weight = sum(parts, (part) => part.weight)
  const [having, all] = forms.counts[AFTER]
  const requests = Math.min(having, changed)
  // The changed requests hold the whole group's extra time.
  const apiece = (forms.isWhole ? all / Math.max(1, requests) : 1) / weight
  const eachUs = sum(parts, ({ addedUs }) => addedUs) * apiece
  const width = normalQuantile(0.975) * Math.hypot(...parts.map(({ error }) => error)) * apiece
  const contributionUs = Number.isNaN(eachUs) ? 0 : eachUs * requests
  const eachInterval = [eachUs - width, eachUs + width] as const
  return { forms, requests, contributionUs, eachInterval }
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
      isWhole: a.forms.isWhole,
      types: [...a.forms.types, ...b.forms.types],
      now: [...a.forms.now, ...b.forms.now],
      was: [...a.forms.was, ...b.forms.was],
      usual: [...a.forms.usual, ...b.forms.usual],
      counts: counts as unknown as RequestCounts,
    },
  }
}

function longestOf(flows: FlowSet, requests: readonly number[]): number {
  const times = Float64Array.from(requests, cappedTimes(flows, AFTER, Number.POSITIVE_INFINITY))
  return longestTime(times, flows.countsOf(requests))
}

function meanOf(flows: FlowSet, requests: readonly number[], timeOf: (request: number) => number) {
  const times = Float64Array.from(requests, timeOf)
  const weights = flows.countsOf(requests)
  const { mean, sd } = moments(times, weights)
  return { mean, error: sd / Math.sqrt(worthOf(times, weights)) }
}
