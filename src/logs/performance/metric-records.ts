import { mean, sum } from 'd3-array'
import { LOG_CLASSES, type LogClass, type LogSet } from '../features/log-set.ts'
import type { PerformanceMetric } from './performance-metric.ts'

/** A metric that is logged many times, in one class. */
export interface MetricRecords {
  readonly count: number
  /** Of all records. */
  readonly mean: number
  /** Of the records of an instance, on average over instances; NaN of a field of several events. */
  readonly median: number
  readonly p99: number
}

/** What the records of a metric come to in each class; undefined where no instance has several. */
export function metricRecords(
  logs: LogSet,
  { variable }: PerformanceMetric,
): Readonly<Record<LogClass, MetricRecords>> | undefined {
  if (variable?.kind !== 'state' || variable.feature !== 'mean') return undefined
  const { name, states = [name] } = variable
  const columns = states.flatMap((state) => {
    const index = logs.states.indexOf(state)
    const isCopy = state !== name && !state.endsWith(`.${name}`)
    return index === undefined || isCopy ? [] : [logs.states.entries(index)]
  })
  const rows = columns.flatMap(({ instances, values }) => {
    const [counts, means] = [values('records'), values('mean')]
    const [medians, highs] = [values('median'), values('p99')]
    return Array.from(instances, (instance, i) => {
      const [count, average] = [Number(counts[i]), Number(means[i])]
      const logClass = logs.classNameOf(instance)
      return { logClass, count, total: count * average, median: medians[i], p99: highs[i] }
    })
  })
  if (!rows.some(({ count }) => count > 1)) return undefined
  const isOne = columns.length === 1
  const of = (wanted: LogClass): MetricRecords => {
    const own = rows.filter(({ logClass }) => logClass === wanted)
    const count = sum(own, (row) => row.count)
    return {
      count,
      mean: sum(own, ({ total }) => total) / count,
      median: (isOne ? mean(own, ({ median }) => median) : undefined) ?? Number.NaN,
      p99: (isOne ? mean(own, ({ p99 }) => p99) : undefined) ?? Number.NaN,
    }
  }
  const [before, after] = LOG_CLASSES.map(of) as [MetricRecords, MetricRecords]
  return { before, after }
}
