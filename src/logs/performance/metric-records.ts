import { greatest, mean, sum } from 'd3-array'
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

/** An event by whose records a metric of several events changed. */
export interface MetricPart {
  readonly state: string
  readonly beforeMean: number
  readonly afterMean: number
  /** Its part of the change, had each event as many records before as after. */
  readonly share: number
}

/** Part of the change of a metric that the records of one event must hold, to be what it comes from. */
const MIN_SHARE = 0.5

/** The states of a metric that is a mean, with the records of each instance; `[]` for other metrics. */
function recordColumns(logs: LogSet, { variable }: PerformanceMetric) {
  if (variable?.kind !== 'state' || variable.feature !== 'mean') return []
  const { name, states = [name] } = variable
  return states.flatMap((state) => {
    const index = logs.states.indexOf(state)
    const isCopy = state !== name && !state.endsWith(`.${name}`)
    if (index === undefined || isCopy) return []
    const { instances, values } = logs.states.entries(index)
    const [counts, means] = [values('records'), values('mean')]
    const [medians, highs] = [values('median'), values('p99')]
    const rows = Array.from(instances, (instance, i) => {
      const count = Number(counts[i])
      const total = count * Number(means[i])
      return { code: logs.classOf[instance], count, total, median: medians[i], p99: highs[i] }
    })
    return [{ state, rows }]
  })
}

type RecordRow = ReturnType<typeof recordColumns>[0]['rows'][0]

function ofClass(rows: readonly RecordRow[], code: number) {
  const own = rows.filter((row) => row.code === code)
  const count = sum(own, (row) => row.count)
  return { own, count, mean: sum(own, ({ total }) => total) / count }
}

/** What the records of a metric come to in each class; undefined where no instance has several. */
export function metricRecords(
  logs: LogSet,
  metric: PerformanceMetric,
): Readonly<Record<LogClass, MetricRecords>> | undefined {
  const columns = recordColumns(logs, metric)
  const rows = columns.flatMap((column) => column.rows)
  if (!rows.some(({ count }) => count > 1)) return undefined
  const isOne = columns.length === 1
  const [before, after] = LOG_CLASSES.map((_, code): MetricRecords => {
    const { own, count, mean: average } = ofClass(rows, code)
    const middle = (value: (row: RecordRow) => number | undefined) =>
      (isOne ? mean(own, value) : undefined) ?? Number.NaN
    const [median, p99] = [middle((row) => row.median), middle((row) => row.p99)]
    return { count, mean: average, median, p99 }
  }) as [MetricRecords, MetricRecords]
  return { before, after }
}

/**
 * The event whose own records account for most of the change of a metric that several events have, and for
 * half of it at least; undefined where none does: then it is another mix of events, or all of them.
 */
export function changedPart(logs: LogSet, metric: PerformanceMetric): MetricPart | undefined {
  const columns = recordColumns(logs, metric)
  if (columns.length < 2) return undefined
  const [before, after] = [0, 1].map((code) =>
    ofClass(
      columns.flatMap(({ rows }) => rows),
      code,
    ),
  )
  if (before === undefined || after === undefined) return undefined
  const parts = columns.flatMap(({ state, rows }): MetricPart | [] => {
    const [was, is] = [ofClass(rows, 0), ofClass(rows, 1)]
    const change = (is.count / after.count) * (is.mean - was.mean)
    const share = change / (after.mean - before.mean)
    return share >= MIN_SHARE ? { state, beforeMean: was.mean, afterMean: is.mean, share } : []
  })
  return greatest(parts, ({ share }) => share)
}
