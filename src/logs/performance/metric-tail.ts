import { FlowdeltaError } from '../../core/errors.ts'
import { shortText } from '../../core/shown-text.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { percent } from '../../core/words.ts'
import { LOG_CLASSES, type LogClass } from '../features/log-class.ts'
import type { LogSet } from '../features/log-set.ts'
import { type HeavyTail, heavyTail } from './heavy-tail.ts'
import { type Metric, type PerformanceMetric, performanceMetric } from './performance-metric.ts'

const LONGEST_NAME = 70

export interface ClassTail extends HeavyTail {
  readonly class: LogClass | 'both'
}

/**
 * Whether a few instances perform far worse, or better, than the rest, which averages hide: how
 * many lie outside mean ± 3σ, in each class and in both together.
 *
 * @param options.metric see `Metric`. Default `'runTime'`
 * @throws FlowdeltaError for a metric that the logs do not have
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
  { metric = 'runTime' }: { metric?: Metric } = {},
): MetricTail {
  const found = performanceMetric(logs, metric)
  const classes = LOG_CLASSES.map((logClass, code) => ({
    class: logClass,
    ...heavyTail(found.values.filter((_, instance) => logs.classOf[instance] === code)),
  }))
  return new MetricTail(found, [...classes, { class: 'both', ...heavyTail(found.values) }])
}

/** What `metricTail` finds. */
export class MetricTail extends Stage {
  readonly metric: PerformanceMetric
  /** Before, after, and both together. */
  readonly tails: readonly ClassTail[]

  constructor(metric: PerformanceMetric, tails: readonly ClassTail[]) {
    super()
    this.metric = metric
    this.tails = tails
  }

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
    return `${outliers} of ${count} instances${whose} (${percent(fraction)}) have a ${shortText(this.metric.name, LONGEST_NAME)} beyond three standard deviations, which averages hide: ${answer}.`
  }

  /** One row a class, and one for both together. */
  table(): StageTable {
    return stageTable({
      class: this.tails.map((tail) => tail.class),
      instances: this.tails.map(({ count }) => count),
      outliers: this.tails.map(({ outliers }) => outliers),
      fraction: this.tails.map(({ fraction }) => fraction),
      heavy: this.tails.map(({ isHeavy }) => isHeavy),
    })
  }
}
