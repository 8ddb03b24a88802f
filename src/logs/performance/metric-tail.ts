import { FlowdeltaError } from '../../core/errors.ts'
import { type OptionsOf, readOptions } from '../../core/options.ts'
import { shortText } from '../../core/shown-text.ts'
import { columnarStage } from '../../core/stage.ts'
import { rowTable, type StageTable } from '../../core/stage-table.ts'
import { percent } from '../../core/words.ts'
import { moments } from '../../stats/moments.ts'
import { LOG_CLASSES, type LogClass, type LogSet } from '../features/log-set.ts'
import { METRIC_OPTIONS, type PerformanceMetric, performanceMetric } from './performance-metric.ts'

const MAX_NAME_LENGTH = 70

interface ClassTail extends HeavyTail {
  readonly class: LogClass | 'both'
}

/**
 * Tells whether a few instances perform far worse, or better, than the rest, which averages hide: how
 * many lie outside mean ± 3σ, in each period and in both together.
 *
 * @throws FlowdeltaError for an unknown option, or a metric that the logs do not have
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.1.
 *
 * @example
 * const builder = new LogBuilder()
 * for (let i = 0; i < 200; i++) {
 *   builder.setInstance('after', `request ${i}`)
 *   builder.logEvent(0, 'received')
 *   builder.logEvent(i < 197 ? 1_000 + i : 900_000, 'answered')
 * }
 * metricTail(builder.build()).suggestion.slice(0, 46) // '3 of 200 instances after (2 %) have a run time'
 */
export function metricTail(
  logs: LogSet,
  options: Partial<OptionsOf<typeof METRIC_OPTIONS>> = {},
): MetricTail {
  const metric = performanceMetric(logs, readOptions(METRIC_OPTIONS, options).metric)
  const classes = LOG_CLASSES.map((logClass, code) => ({
    class: logClass,
    ...heavyTail(metric.values.filter((_, instance) => logs.classOf[instance] === code)),
  }))
  const tails = [...classes, { class: 'both' as const, ...heavyTail(metric.values) }]
  return new MetricTail({ metric, tails })
}

interface TailColumns {
  readonly metric: PerformanceMetric
  /** Before, after, and both together. */
  readonly tails: readonly ClassTail[]
}

/** What `metricTail` finds. */
export class MetricTail extends columnarStage<TailColumns>() {
  /** Whether the tail of a class, or of both together, is heavy. */
  get isHeavy(): boolean {
    return this.tails.some((tail) => tail.isHeavy)
  }

  of(logClass: ClassTail['class']): ClassTail {
    const found = this.tails.find((tail) => tail.class === logClass)
    if (found === undefined) throw new FlowdeltaError(`There is no tail of ${logClass}.`)
    return found
  }

  /** What to do about it, in a sentence; empty where no tail is heavy. */
  get suggestion(): string {
    const heavy = this.tails.find((tail) => tail.isHeavy)
    if (heavy === undefined) return ''
    const { outliers, count, fraction } = heavy
    const whose = heavy.class === 'both' ? '' : ` ${heavy.class}`
    const answer =
      this.metric.unit === 'absolute time'
        ? "weights: 'latency' makes the slow ones count"
        : 'give them weights of your own, or compare them as a class of their own'
    return `${outliers} of ${count} instances${whose} (${percent(fraction)}) have a ${shortText(this.metric.name, MAX_NAME_LENGTH)} beyond three standard deviations, which averages hide: ${answer}.`
  }

  /** One row a class, and one for both together. */
  table(): StageTable {
    const rows = this.tails.map((tail) => ({
      ...{ ...tail, instances: tail.count, heavy: tail.isHeavy },
    }))
    return rowTable(rows, ['class', 'instances', 'outliers', 'fraction', 'heavy'])
  }
}

/** Where a normal distribution has 0.27 % of its values: four times that is a heavy tail. */
const FAR_SD = 3
const HEAVY_SHARE = 0.011
/** One value beyond 3σ is 1.1 % of 90 and says nothing about a tail. */
const MIN_OUTLIERS = 2

interface HeavyTail {
  readonly count: number
  readonly outliers: number
  /** outliers / count; NaN without values. */
  readonly fraction: number
  readonly isHeavy: boolean
}

/**
 * Whether more values lie outside mean ± 3σ than in four normal distributions together: more than
 * 1.1 %, and two of them at least.
 *
 * NaN and infinite values are left out. Limits: of ten values or fewer none can lie that far out.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.1; that one outlier is no tail is our own.
 *
 * @example
 * const values = Array.from({ length: 150 }, (_, i) => (i < 148 ? i % 7 : 60))
 * const { outliers, isHeavy } = heavyTail(values)
 * outliers // 2
 * isHeavy // true
 */
export function heavyTail(sample: ArrayLike<number>): HeavyTail {
  const values = Float64Array.from(sample).filter(Number.isFinite)
  const { mean, sd } = moments(values)
  const outliers = values.filter((value) => Math.abs(value - mean) > FAR_SD * sd).length
  const fraction = outliers / values.length
  const isHeavy = fraction > HEAVY_SHARE && outliers >= MIN_OUTLIERS
  return { count: values.length, outliers, fraction, isHeavy }
}
