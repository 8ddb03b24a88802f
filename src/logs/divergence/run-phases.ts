import { greatest, mean } from 'd3-array'
import { welch } from '../../stats/welch.ts'
import { type LogSet, membersOf } from '../features/log-set.ts'
import type { PerformanceMetric } from '../performance/performance-metric.ts'
import { isTimer } from './find-divergence.ts'

/** A stretch of a run from one message to the next that all instances have; its means add up to performance. */
export type RunPhase = ReturnType<typeof runPhases>[number]

interface Point {
  readonly event: string | null
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly times: ArrayLike<number>
  readonly counts: ArrayLike<number>
}

const MIN_IN_ORDER = 0.9
const MIN_PACED = 3
const MIN_SHARE = 0.5

/** Cuts runs at the messages that all have in one order, up to a performance that is a time; `[]` for others. */
export function runPhases(logs: LogSet, metric: PerformanceMetric) {
  if (metric.unit !== 'absolute time') return []
  const having = [...logs.instances.keys()].filter((i) => !Number.isNaN(metric.values[i]))
  const { before, after } = membersOf(logs, metric.values)
  if (before.length === 0 || after.length === 0) return []
  const end: Point = {
    event: metric.variable?.name ?? null,
    isFirst: true,
    isLast: true,
    times: metric.values,
    counts: logs.instances.map(() => 1),
  }
  const isInOrder = (one: Point, other: Point) => {
    const kept = having.filter((i) => Number(one.times[i]) <= Number(other.times[i])).length
    const means = [before, after].map((of) => meanOf(other.times, of) - meanOf(one.times, of))
    return kept >= MIN_IN_ORDER * having.length && means.every((gap) => gap >= 0)
  }
  const met = new Map<string | null, number>(logs.met?.map((name, i) => [name, i]))
  const all = pointsOf(logs, having)
    .filter((point) => point.event !== end.event && isInOrder(point, end))
    .sort(
      (a, b) =>
        meanOf(a.times, having) - meanOf(b.times, having) ||
        Number(met.get(a.event)) - Number(met.get(b.event)),
    )
  const start: Point = { ...end, event: null, times: new Float64Array(logs.instances.length) }
  const chain: Point[] = [start]
  for (const point of all) if (isInOrder(chain.at(-1) as Point, point)) chain.push(point)
  chain.push(end)
  const lasting = all.flatMap(({ event, times: first, isLast }) => {
    const last = all.find((other) => other.event === event && !other.isFirst)
    return isLast || last === undefined ? [] : [{ event, first, last: last.times }]
  })
  return chain.slice(1).map((to, k) => {
    const from = chain[k] as Point
    const of = (instances: readonly number[]) =>
      Float64Array.from(instances, (i) => Number(to.times[i]) - Number(from.times[i]))
    const { beforeMean, afterMean, p } = welch(of(before), of(after))
    const isPaced = from.event !== null && from.event === to.event
    const isMixed = lasting.some(
      ({ event, first, last }) =>
        !(isPaced && event === to.event) &&
        meanOf(first, having) < meanOf(to.times, having) &&
        meanOf(last, having) > meanOf(from.times, having),
    )
    const [were, are] = [meanOf(to.counts, before), meanOf(to.counts, after)]
    return {
      /** The events that it begins and ends with; null for the start and the end of the run. */
      from: from.event,
      to: to.event,
      ...(isPaced && { counts: { before: were, after: are } }),
      beforeUs: beforeMean,
      afterUs: afterMean,
      /** Whether another event goes on and on meanwhile: what stands between two others is no phase then. */
      isMixed,
      p,
    }
  })
}

function meanOf(values: ArrayLike<number>, instances: readonly number[]): number {
  return mean(instances, (i) => values[i]) ?? Number.NaN
}

function pointsOf(logs: LogSet, having: readonly number[]): Point[] {
  const { events } = logs
  return events.names.flatMap((event, variable): Point[] => {
    if (event.includes(' · ') || isTimer(logs, variable)) return []
    const counts = events.of(variable, 'count')
    if (having.some((i) => Number(counts[i]) === 0)) return []
    const first = events.of(variable, 'firstAbsolute')
    const last = events.of(variable, 'lastAbsolute')
    const isOnce = having.every((i) => Number(counts[i]) < MIN_PACED)
    const point = { event, counts, isFirst: true, isLast: isOnce, times: first }
    return isOnce ? [point] : [point, { ...point, isFirst: false, isLast: true, times: last }]
  })
}

/** Returns the phase that surely accounts for half of a change of performance or more, if no other messages mix in. */
export function changedPhase(
  phases: readonly RunPhase[],
  changeUs: number,
  alpha: number,
): RunPhase | undefined {
  const changeOf = ({ beforeUs, afterUs }: RunPhase) => afterUs - beforeUs
  const most = greatest(phases, (phase) => Math.sign(changeUs) * changeOf(phase))
  if (most === undefined || changeUs === 0 || phases.length < 2) return undefined
  if (most.isMixed || changeOf(most) / changeUs < MIN_SHARE || most.p > alpha) return undefined
  return most
}
