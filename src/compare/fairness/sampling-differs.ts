import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'
import { firstOf, percent } from './number-text.ts'
import { type RootTypes, rootTypes } from './root-types.ts'

/** Weights alike to this factor are as good as the same. */
const ALIKE = 1.1
/** Shares of requests with a recorded probability that differ by more than this, differ. */
const MOST_UNRECORDED = 0.05
/** A type with a smaller share of either period's weighed requests is not looked at. */
const LEAST_SHARE = 0.01

/**
 * Whether requests were recorded with another probability than before: the same type of request
 * with other weights, or a period that does not say. Silent where counts are weighted and both
 * periods have weights.
 */
export function samplingDiffers({ flows, options }: ComparedPeriods): ComparisonWarning[] {
  const { weight } = flows
  if (weight === undefined) return []
  const recorded = [recordedShare(flows, weight, BEFORE), recordedShare(flows, weight, AFTER)]
  const [before = Number.NaN, after = Number.NaN] = recorded
  if (Math.abs(after - before) > MOST_UNRECORDED) return [partlyRecorded(before, after)]
  if (options.counts === 'weighted' && options.smPThreshold !== 'auto') return []
  const differing = differingTypes(flows, weight)
  if (differing.length === 0) return []
  const estimates = [BEFORE, AFTER].map((period) => {
    const count = flows.count(period as Period)
    return `${count} recorded requests stand for ${estimate(flows, weight, period as Period)}`
  })
  return [
    warning('sampling-differs', {
      finding: `Requests were sampled with another probability: ${firstOf(differing)}.`,
      effect:
        `Counts then change with the sampling: ${estimates[0]} before, ${estimates[1]} after. ` +
        'Times are not touched, unless slow or failed requests were preferred.',
      answer:
        'Count each request by its weight with ' +
        (options.smPThreshold === 'auto'
          ? "`counts: 'weighted'` (--weight-counts) and a number as `smPThreshold` (--sm-p-threshold); 'auto' compares shares of what was recorded."
          : "`counts: 'weighted'` (--weight-counts)."),
    }),
  ]
}

function partlyRecorded(before: number, after: number): ComparisonWarning {
  return warning('sampling-differs', {
    finding: `The sampling probability was recorded for ${percent(before)} of the requests before and ${percent(after)} after.`,
    effect:
      'Whether more requests came or more of them were recorded cannot be told apart, and requests without a weight count once.',
    answer:
      "Compare shares with `smPThreshold: 'auto'` (--sm-p-threshold auto), or scale counts with `counts: 'scaled'` (--scale-counts).",
  })
}

function recordedShare(flows: FlowSet, weight: Float64Array, period: Period): number {
  let recorded = 0
  weight.forEach((own, request) => {
    if (flows.period[request] === period && !Number.isNaN(own)) recorded++
  })
  return recorded / flows.count(period)
}

function estimate(flows: FlowSet, weight: Float64Array, period: Period): number {
  let sum = 0
  weight.forEach((own, request) => {
    if (flows.period[request] === period) sum += Number.isNaN(own) ? 1 : own
  })
  return Math.round(sum)
}

/** Types whose requests weigh more or less than before, as text, the largest change first. */
function differingTypes(flows: FlowSet, weight: Float64Array): string[] {
  const types = rootTypes(flows)
  const before = meanWeights(flows, weight, types, BEFORE)
  const after = meanWeights(flows, weight, types, AFTER)
  return types.names
    .map((name, type) => ({
      name,
      before: before.means[type] as number,
      after: after.means[type] as number,
      share: Math.min(before.shares[type] as number, after.shares[type] as number),
    }))
    .filter(({ share }) => share >= LEAST_SHARE)
    .map((type) => ({ ...type, factor: Math.abs(Math.log(type.after / type.before)) }))
    .filter(({ factor }) => factor > Math.log(ALIKE))
    .sort((a, b) => b.factor - a.factor)
    .map(
      ({ name, before, after }) =>
        `${name}: one in ${Number(before.toPrecision(3))} before, one in ${Number(after.toPrecision(3))} after`,
    )
}

function meanWeights(flows: FlowSet, weight: Float64Array, types: RootTypes, period: Period) {
  const sums = new Float64Array(types.names.length)
  const counts = new Float64Array(types.names.length)
  let all = 0
  weight.forEach((own, request) => {
    if (flows.period[request] !== period || Number.isNaN(own)) return
    const type = types.typeOf[request] as number
    sums[type] = (sums[type] as number) + own
    counts[type] = (counts[type] as number) + 1
    all++
  })
  return {
    means: sums.map((sum, type) => sum / (counts[type] as number)),
    shares: counts.map((count) => count / Math.max(1, all)),
  }
}
