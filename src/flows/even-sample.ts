// Runs once a request: the loops index with `!`.
import { group } from 'd3-array'
import { randomSource } from '../stats/random.ts'
import { AFTER, BEFORE, FlowReport, FlowSet } from './flow-set.ts'
import { selectedColumns } from './select-requests.ts'

/** This share of a type's requests, as they weigh, may stand for more than the others are thinned to. */
const MAX_ABOVE = 0.05
const SEED = 1

/**
 * Leaves out requests of those that a sample preferred, such as slow or failed ones, so that within
 * a recording all requests of a type, by the label of their root, stand for equally many: their
 * times, calls and errors are then those of all requests, recorded or not. Each is kept with the
 * probability that its weight has of the type's largest; the few that weigh more are all kept.
 *
 * Limits: where some weigh a thousand times as much as others, one in a thousand of these is left.
 *
 * Sources: Horvitz and Thompson 1952 (weights as inverse probabilities); Madow and Madow 1944
 * (systematic draws).
 */
export function evenSample(flows: FlowSet): FlowSet {
  if (flows.weight === undefined) return flows
  const weight = Float64Array.from(flows.weight)
  const kept: [number[], number[]] = [[], []]
  const rows = Array.from(weight.keys())
  const types = group(
    rows,
    (row) => flows.recordedIn[row]!,
    (row) => flows.shapes.labels(flows.shapeOf[row]!)[0]!,
  )
  for (const recorded of types.values()) {
    for (const members of recorded.values()) {
      const target = commonWeight(members.map((row) => flows.weightOf(row)))
      for (const row of members) weight[row] = Math.max(target, flows.weightOf(row))
    }
  }
  const share = (row: number) => flows.weightOf(row) / weight[row]!
  const drawOf = systematicDraws(flows, share)
  for (const row of rows) {
    if (drawOf(row) <= share(row)) kept[flows.period[row] === AFTER ? AFTER : BEFORE].push(row)
  }
  const columns = selectedColumns(flows, { before: kept[BEFORE], after: kept[AFTER] })
  const leftOut = (period: typeof BEFORE | typeof AFTER) =>
    flows.count(period) - kept[period].length
  return new FlowSet(
    { ...columns, weight: Float64Array.from(kept.flat(), (row) => weight[row]!) },
    flows.options,
    new FlowReport({
      ...flows.report.counts,
      thinnedBefore: leftOut(BEFORE),
      thinnedAfter: leftOut(AFTER),
    }),
  )
}

/**
 * Returns what draws a uniform number for each request's trace, whose requests were recorded together
 * and stay together. Of requests that are kept with one probability, in any stretch of a shuffled
 * order, as many are drawn as are due, give or take one: how many are slow is not left to chance.
 */
function systematicDraws(flows: FlowSet, share: (row: number) => number) {
  const random = randomSource(SEED)
  const keyOf = (row: number) => `${flows.recordedIn[row]} ${flows.traceOf[row]}`
  const firstOf = new Map<string, number>()
  for (const row of flows.traceOf.keys()) {
    if (!firstOf.has(keyOf(row))) firstOf.set(keyOf(row), row)
  }
  const alikeBy = (row: number) =>
    `${flows.recordedIn[row]} ${flows.shapes.labels(flows.shapeOf[row]!)[0]} ${share(row)}`
  const draws = new Map<string, number>()
  for (const alike of group(random.shuffle([...firstOf.values()]), alikeBy).values()) {
    let due = random.next()
    for (const row of alike) {
      draws.set(keyOf(row), 1 - due)
      due = (due + share(row)) % 1
    }
  }
  return (row: number) => draws.get(keyOf(row))!
}

/** Returns the least weight above which little of the whole weight lies. */
function commonWeight(weights: readonly number[]): number {
  const descending = weights.toSorted((a, b) => b - a)
  const most = MAX_ABOVE * descending.reduce((sum, own) => sum + own, 0)
  let above = 0
  for (const own of descending) {
    above += own
    if (above > most) return own
  }
  return descending.at(-1)!
}
