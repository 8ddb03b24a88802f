import { greatest, sum } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { type OptionAdvice, requireStage, show } from '../core/errors.ts'
import {
  changeOptions,
  defineOptions,
  type OptionsOf,
  type OptionTable,
  pickOptions,
  readOptions,
} from '../core/options.ts'
import { remembered } from '../core/remembered.ts'
import { columnarStage, type StageTable } from '../core/stage.ts'
import { counted, firstOf, grouped } from '../core/words.ts'
import { ATTENTION_OPTIONS, type Attention, focusAttention } from './attention/focus-attention.ts'
import {
  DEPENDENCY_OPTIONS,
  type DependencyNetworks,
  learnDependencies,
} from './dependencies/learn-dependencies.ts'
import {
  DIVERGENCE_OPTIONS,
  type Divergence,
  findDivergence,
  type VariableDivergence,
} from './divergence/find-divergence.ts'
import { changedPhase, type RunPhase, runPhases } from './divergence/run-phases.ts'
import { LOG_CLASSES, LogSet, membersOf } from './features/log-set.ts'
import {
  changedPart,
  METRIC_OPTIONS,
  type Metric,
  type MetricPart,
  type MetricTail,
  metricRecords,
  metricTail,
  performanceMetric,
  requirePerformance,
} from './performance/performance-metric.ts'
import { isLost, optionsIn, SKIPPED, skipAdvice, skipText } from './readers/log-sink.ts'

/**
 * Compares two sets of logs: finds the differences between before and after, the variables that performance depends on,
 * and the graphs to look at first. Each stage is computed on first use.
 *
 * @param logs from `loadLogs` or a `LogBuilder`
 * @param options of all stages, see {@link LOG_OPTIONS}
 * @throws FlowdeltaError for an unknown option, a metric that the logs do not have or that no instance
 *   of a period has; OptionError for a value that an option does not take
 *
 * Source: Nagaraj, Killian and Neville, "Structured comparative analysis of systems logs to diagnose
 * performance problems", NSDI 2012.
 *
 * @example
 * const builder = new LogBuilder()
 * for (let i = 0; i < 80; i++) {
 *   const slow = i < 40 ? 0 : 50_000
 *   builder.setInstance(i < 40 ? 'before' : 'after', `node ${i}`)
 *   builder.logEvent(0, 'start')
 *   builder.logEvent(slow + 1_000 * (i % 40), 'flushed')
 *   builder.logEvent(slow + 1_000 * (i % 40) + 500, 'done')
 * }
 * const compared = compareLogs(builder.build(), { metric: 'done' })
 * compared.divergence.variables.map(({ name }) => name) // [ 'done', 'flushed', 'start' ]
 * compared.with({ minSplit: 0.5 }).attention.best('event').nodes.length // 2
 */
export function compareLogs(
  logs: LogSet,
  options: Partial<LogComparisonOptions> = {},
): LogComparison {
  requireStage('compareLogs(logs)', logs, LogSet)
  const given = options?.metric ?? logs.metric
  const chosen = readOptions(LOG_OPTIONS, { ...options, ...(given && { metric: given }) })
  requirePerformance(logs, chosen.metric)
  const compared = instancesFor(logs, chosen.metric)
  return new LogComparison({ logs: compared, whole: logs, options: chosen })
}

const MIN_WINDOWS = 5

/** Returns the logs themselves, or their windows where the metric is logged throughout one long log a class. */
function instancesFor(logs: LogSet, metric: Metric): LogSet {
  const { logs: windows } = logs.windows ?? {}
  const { variable } = performanceMetric(logs, metric)
  if (windows === undefined || variable?.kind !== 'state') return logs
  // A state logged only at the end is in no whole window.
  const { states = [variable.name] } = variable
  if (!states.some((name) => windows.states.indexOf(name) !== undefined)) return logs
  const { values } = performanceMetric(windows, metric)
  const having = membersOf(windows, values)
  return LOG_CLASSES.every((logClass) => having[logClass].length >= MIN_WINDOWS) ? windows : logs
}

export const LOG_OPTIONS = defineOptions({
  ...DIVERGENCE_OPTIONS,
  ...DEPENDENCY_OPTIONS,
  ...ATTENTION_OPTIONS,
})
export type LogComparisonOptions = OptionsOf<typeof LOG_OPTIONS>

const stagesOf = remembered((_: LogSet) => new Map<string, unknown>())

/** A comparison of two sets of logs, stage by stage. `compareLogs` makes it. */
export class LogComparison extends columnarStage<{
  /** Compared logs: the given ones, or the windows that they were cut into. */
  readonly logs: LogSet
  readonly whole: LogSet
  readonly options: LogComparisonOptions
}>() {
  /** Returns the same comparison with other options; stages that they do not reach are shared. */
  with(changes: Partial<LogComparisonOptions>): LogComparison {
    return compareLogs(this.whole, changeOptions(LOG_OPTIONS, this.options, changes))
  }

  /** Whether performance has a heavy tail, with advice. */
  get tail(): MetricTail {
    return this.#stage('tail', METRIC_OPTIONS, ({ metric }) =>
      metricTail(this.logs, performanceMetric(this.logs, metric)),
    )
  }

  /** Statistics of the records of performance, if instances have several. */
  get records(): ReturnType<typeof metricRecords> {
    return metricRecords(this.whole, performanceMetric(this.whole, this.options.metric))
  }

  get divergence(): Divergence {
    return this.#stage('divergence', DIVERGENCE_OPTIONS, (own) => findDivergence(this.logs, own))
  }

  get networks(): DependencyNetworks {
    return this.#stage('networks', DEPENDENCY_OPTIONS, (own) => learnDependencies(this.logs, own))
  }

  get attention(): Attention {
    return this.#stage('attention', LOG_OPTIONS, (all) =>
      focusAttention(this.divergence, this.networks, pickOptions(ATTENTION_OPTIONS, all)),
    )
  }

  /** Times of runs from message to message, if performance is a time and all instances count the same. */
  get phases(): readonly RunPhase[] {
    if (this.options.weights !== 'none') return []
    return this.#stage('phases', METRIC_OPTIONS, () => runPhases(this.logs, this.tail.metric))
  }

  /** The phase that performance differs by; undefined where none accounts for it. */
  get changedPhase(): RunPhase | undefined {
    const { beforeMean, afterMean, significant, tested } = this.divergence.performance
    if (tested && !significant) return undefined
    return changedPhase(this.phases, afterMean - beforeMean, this.options.alpha)
  }

  /** Event whose part of performance differs, if several events have it and one explains the difference. */
  get changedPart(): MetricPart | undefined {
    if (!this.divergence.performance.significant) return undefined
    const part = changedPart(this.logs, this.tail.metric)
    const { features = [] } = this.divergence.variable('state', part?.state ?? '') ?? {}
    return features.some(({ feature, significant }) => feature === 'mean' && significant)
      ? part
      : undefined
  }

  /** Variables that the headline names, the cause first. */
  get leading(): readonly VariableDivergence[] {
    const { graph, path = [] } = this.attention.headline ?? {}
    const part = this.changedPart?.state
    const kind = part === undefined ? (graph?.kind ?? 'event') : 'state'
    const names = part === undefined ? path.toReversed().map(({ name }) => name) : [part]
    return names.flatMap((name) => this.divergence.variable(kind, name) ?? [])
  }

  /** Variables in the order in which they tell: those of the headline, then as `divergence` has them. */
  get variables(): readonly VariableDivergence[] {
    const first = this.leading
    return [...first, ...this.divergence.variables.filter((each) => !first.includes(each))]
  }

  /** Checks whether the comparison is fair: lists everything that was not read or cannot be known, with advice. */
  warnings(): readonly LogWarning[] {
    return logWarnings(this)
  }

  /** Returns the graphs to look at first, one row per graph. */
  table(): StageTable {
    return this.attention.table()
  }

  #stage<T extends OptionTable, R>(
    name: string,
    table: T,
    compute: (options: OptionsOf<T>) => R,
  ): R {
    const own = pickOptions(table, this.options as OptionsOf<T>)
    const key = `${name} ${JSON.stringify(own)}`
    return getOrInsert(stagesOf(this.logs), key, () => compute(own)) as R
  }
}

/** Something that a comparison of logs should be read with. */
export interface LogWarning {
  readonly code:
    | 'lines-skipped'
    | 'lines-in-part'
    | 'one-instance'
    | 'empty-instances'
    | 'unread-files'
    | 'nothing-excluded'
  readonly message: string
  readonly advice: OptionAdvice
}

const MAX_SKIPPED_SHARE = 0.05
const SHOWN = 3

function logWarnings({ logs, whole }: LogComparison): readonly LogWarning[] {
  const { lines, skipped, emptyInstances, unreadFiles, notExcluded } = whole.report
  const lost = skipped.filter(({ reason }) => isLost(reason))
  const linesLost = sum(lost, ({ count }) => count)
  const most = greatest(lost, ({ count }) => count)
  const advice = skipAdvice(most?.reason ?? '')
  const half = skipped.find(({ reason }) => reason === SKIPPED.half)
  const alone = LOG_CLASSES.filter((logClass) => logs.counts[logClass] === 1)
  const is = ({ length }: readonly string[], one: string, several: string) =>
    length === 1 ? one : several
  const warnings: readonly (Omit<LogWarning, 'advice'> | false)[] = [
    most !== undefined &&
      linesLost >= MAX_SKIPPED_SHARE * lines && {
        code: 'lines-skipped',
        message: `${counted(linesLost, 'line')} of ${grouped(lines)} gave no message: ${skipText(most)}.${advice === '' ? '' : ` ${advice}.`}`,
      },
    half !== undefined && {
      code: 'lines-in-part',
      message: `${counted(half.count, 'line')} ${half.count === 1 ? 'was' : 'were'} read only in part: ${skipText(half)}.`,
    },
    alone.length > 0 && {
      code: 'one-instance',
      message: `Only ${alone.map((logClass) => `1 instance ${logClass}`).join(' and ')}: a test needs two in each period. A file is one instance, and so is a directory with all its files. Name the files (dir/*), or give the field that names the instance with \`instance\`.`,
    },
    emptyInstances.length > 0 && {
      code: 'empty-instances',
      message: `${firstOf(emptyInstances, { most: SHOWN })} ${is(emptyInstances, 'has', 'have')} no message, and ${is(emptyInstances, 'counts', 'count')} as ${counted(emptyInstances.length, 'instance')} in which nothing happened. Leave out files that should not count.`,
    },
    unreadFiles.length > 0 && {
      code: 'unread-files',
      message: `${firstOf(unreadFiles, { most: SHOWN })} ${is(unreadFiles, 'is', 'are')} in no known log format and ${is(unreadFiles, 'was', 'were')} ignored. Give \`format\` to read ${is(unreadFiles, 'it', 'them')}.`,
    },
    notExcluded.length > 0 && {
      code: 'nothing-excluded',
      message: `No variable is called ${notExcluded.map(show).join(' or ')}, so nothing was excluded for ${is(notExcluded, 'it', 'them')}.`,
    },
  ]
  return warnings.flatMap((one) =>
    one === false ? [] : { ...one, advice: optionsIn(one.message) },
  )
}
