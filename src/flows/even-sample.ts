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
 * Source: Horvitz and Thompson 1952 (weights as inverse probabilities).
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
  const random = randomSource(SEED)
  // Requests of one trace were recorded together, and stay together.
  const draws = new Map<string, number>()
  for (const row of rows) {
    const trace = `${flows.recordedIn[row]} ${flows.traceOf[row]}`
    const draw = draws.get(trace) ?? random.next()
    draws.set(trace, draw)
    if (draw * weight[row]! < flows.weightOf(row))
      kept[flows.period[row] === AFTER ? AFTER : BEFORE].push(row)
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

/** The least weight above which little of the whole weight lies. */
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
