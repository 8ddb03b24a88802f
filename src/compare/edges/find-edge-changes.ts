import { readOptions } from '../../core/options.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { stratifiedShift } from '../../stats/hodges-lehmann.ts'
import { vanElteren } from '../../stats/van-elteren.ts'
import type { Categories } from '../categories/categories.ts'
import { cappedTimes } from './capped-times.ts'
import {
  EDGE_OPTIONS,
  type EdgeChange,
  EdgeChanges,
  type EdgeOptions,
  type EdgeTotalTimes,
} from './edge-changes.ts'
import { type EdgeTimes, edgeTimes } from './edge-times.ts'

type Tested = EdgeTimes & { readonly test: ReturnType<typeof vanElteren> }

/**
 * Compares every edge, pooled over all categories that have it: finds the change of an operation
 * that few requests visit, though each category on its own is too thin to test.
 *
 * Requests are compared only with requests of their own category (van Elteren's stratified test),
 * so that a change of mix cannot pass for a change of latency. Benjamini-Hochberg over all edges.
 * The shift is the Hodges-Lehmann estimate over the same strata, so that outliers do not carry it.
 *
 * @param options.alpha level of the tests; default 0.05
 * @param options.minimumEffect smallest change that is called one, as a share of the mean response
 *   time of the requests that have the edge, the slowest hundredth cut; default 0.03
 * @param options.minimumShare smallest contribution that is called a change, as a share of what all
 *   requests after would have taken before, the slowest hundredth cut; default 0.001
 * @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take
 *
 * Source: van Elteren 1960; Hodges and Lehmann 1963.
 *
 * @example
 * findEdgeChanges(categories).changes
 */
export function findEdgeChanges(
  categories: Categories,
  given: Partial<EdgeOptions> = {},
): EdgeChanges {
  const options = readOptions(EDGE_OPTIONS, given)
  const totals = totalTimes(categories, options.minimumShare)
  const times = edgeTimes(categories)
  const tested = times.map((edge) => ({ ...edge, test: vanElteren(edge.strata, { sorted: true }) }))
  const q = benjaminiHochberg(tested.map(({ test }) => (test.testable ? test.p : Number.NaN)))
  const edges = tested
    .map((edge, i) => describeChange(edge, q[i] as number, { ...options, ...totals }))
    .sort((a, b) => Math.abs(b.contributionUs) - Math.abs(a.contributionUs))
  return new EdgeChanges(categories, options, { edges, times, totals })
}

function describeChange(
  { strata, test, before, after, ...edge }: Tested,
  q: number,
  { alpha, minimumEffect, negligibleUs }: EdgeOptions & EdgeTotalTimes,
): EdgeChange {
  const significant = q < alpha
  const { shift, low, high } = significant
    ? stratifiedShift(strata, { level: 0.95, sorted: true })
    : { shift: 0, low: Number.NaN, high: Number.NaN }
  const calls = after.criticalCalls / Math.max(1, after.requests)
  const meanUs = before.responseTimeUs / Math.max(1, before.requests)
  const effect = meanUs > 0 ? (shift * calls) / meanUs : 0
  const contributionUs = shift * after.criticalCalls
  return {
    ...{ from: edge.from, to: edge.to, kind: edge.kind },
    ...{ fromNode: edge.fromNode, toNode: edge.toNode },
    ...(edge.fromRoundBefore && { fromRoundBefore: edge.fromRoundBefore }),
    beforeRequests: before.requests,
    afterRequests: after.requests,
    categories: edge.categories,
    comparedCategories: strata.length,
    beforeCompared: test.beforeCount,
    afterCompared: test.afterCount,
    ...{ z: test.z, p: test.p, q, probabilitySlower: test.probabilitySlower },
    ...{ shiftUs: shift, interval: [low, high], effect, significant },
    changed:
      significant && Math.abs(effect) >= minimumEffect && Math.abs(contributionUs) >= negligibleUs,
    contributionUs,
  }
}

/** What all requests after would have taken at the mean response time before, and what they took. */
function totalTimes({ flows }: Categories, minimumShare: number): EdgeTotalTimes {
  const count = flows.count(BEFORE)
  const sum = (times: Float64Array) => times.reduce((total, time) => total + time, 0)
  const before = sum(flows.responseTimeUs.subarray(0, count))
  const after = sum(flows.responseTimeUs.subarray(count))
  const usualUs = count === 0 ? 0 : (before / count) * flows.count(AFTER)
  const timeOf = cappedTimes(flows, BEFORE)
  const capped = sum(Float64Array.from({ length: count }, (_, request) => timeOf(request)))
  const negligibleUs = count === 0 ? 0 : minimumShare * (capped / count) * flows.count(AFTER)
  return { usualUs, negligibleUs, observedChangeUs: count === 0 ? 0 : after - usualUs }
}
