import { greatest, sum } from 'd3-array'
import { nearestName, type OptionAdvice, requireStage, show } from '../core/errors.ts'
import {
  changeOptions,
  defineOptions,
  type OptionsOf,
  type OptionTable,
  pickOptions,
  readOptions,
} from '../core/options.ts'
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
import { isLost, SKIPPED, skipAdvice, skipText } from './readers/log-sink.ts'

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

/** Fewest windows of a class with the metric; with fewer, the whole log tells more. */
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

/** Options of every stage of a comparison of logs. */
export const LOG_OPTIONS = defineOptions({
  ...DIVERGENCE_OPTIONS,
  ...DEPENDENCY_OPTIONS,
  ...ATTENTION_OPTIONS,
})
export type LogComparisonOptions = OptionsOf<typeof LOG_OPTIONS>

/** Options that reach a stage, directly or through those that it is computed from. */
const REACHING = {
  tail: METRIC_OPTIONS,
  divergence: DIVERGENCE_OPTIONS,
  networks: DEPENDENCY_OPTIONS,
  attention: LOG_OPTIONS,
} as const satisfies Record<string, OptionTable>

interface Stages {
  tail: MetricTail
  divergence: Divergence
  networks: DependencyNetworks
  attention: Attention
}

/** A comparison of two sets of logs, stage by stage. `compareLogs` makes it. */
export class LogComparison extends columnarStage<{
  /** Compared logs: the given ones, or the windows that they were cut into. */
  readonly logs: LogSet
  /** The logs that were given. */
  readonly whole: LogSet
  readonly options: LogComparisonOptions
}>() {
  readonly #from: LogComparison | undefined
  readonly #stages: Partial<Stages> = {}
  #phases: readonly RunPhase[] | undefined

  /** @param from a comparison of the same logs, of which stages with the same options are shared */
  constructor(columns: Pick<LogComparison, 'logs' | 'whole' | 'options'>, from?: LogComparison) {
    super(columns)
    this.#from = from
  }

  /**
   * Returns the same comparison with other options; stages that they do not reach are shared. A larger `minSplit` than
   * the networks were learned with only leaves dependencies out.
   */
  with(changes: Partial<LogComparisonOptions>): LogComparison {
    const options = changeOptions(LOG_OPTIONS, this.options, changes)
    if (options.metric !== this.options.metric) {
      const other = compareLogs(this.whole, options)
      if (other.logs !== this.logs) return other
    }
    return new LogComparison({ logs: this.logs, whole: this.whole, options }, this)
  }

  /** Whether performance has a heavy tail, with advice. */
  get tail(): MetricTail {
    return this.#stage('tail', () =>
      metricTail(this.logs, pickOptions(METRIC_OPTIONS, this.options)),
    )
  }

  /** Statistics of the records of performance, if instances have several. */
  get records(): ReturnType<typeof metricRecords> {
    return metricRecords(this.whole, performanceMetric(this.whole, this.options.metric))
  }

  /** Differences between the classes. */
  get divergence(): Divergence {
    const own = () => pickOptions(DIVERGENCE_OPTIONS, this.options)
    return this.#stage('divergence', () => findDivergence(this.logs, own()))
  }

  /** Dependencies between variables, within each class. */
  get networks(): DependencyNetworks {
    const own = () => pickOptions(DEPENDENCY_OPTIONS, this.options)
    return this.#stage('networks', () => this.#pruned ?? learnDependencies(this.logs, own()))
  }

  /** Graphs to look at first. */
  get attention(): Attention {
    const own = () => pickOptions(ATTENTION_OPTIONS, this.options)
    return this.#stage('attention', () => focusAttention(this.divergence, this.networks, own()))
  }

  /** Times of runs from message to message, if performance is a time and all instances count the same. */
  get phases(): readonly RunPhase[] {
    this.#phases ??= this.options.weights === 'none' ? runPhases(this.logs, this.tail.metric) : []
    return this.#phases
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

  /** A stage, computed when it is first asked for. */
  #stage<N extends keyof Stages>(name: N, compute: () => Stages[N]): Stages[N] {
    const from = this.#from
    const isSame = from !== undefined && this.#changed(from, name).length === 0
    this.#stages[name] ??= isSame ? (from[name] as Stages[N]) : compute()
    return this.#stages[name] as Stages[N]
  }

  /** Names of options that reach a stage, and differ from those of another comparison. */
  #changed({ options }: LogComparison, name: keyof Stages): string[] {
    const names = Object.keys(REACHING[name]) as (keyof LogComparisonOptions)[]
    return names.filter((option) => options[option] !== this.options[option])
  }

  /** The networks of the comparison that this one is from, if less of them is all that is asked. */
  get #pruned(): DependencyNetworks | undefined {
    const from = this.#from
    if (from === undefined || this.#changed(from, 'networks').join() !== 'minSplit')
      return undefined
    const { minSplit } = this.options
    return minSplit >= from.networks.grownAt ? from.networks.pruned(minSplit) : undefined
  }
}

/** Something that a comparison of logs should be read with. */
export interface LogWarning {
  readonly code:
    | 'lines-skipped'
    | 'lines-in-part'
    | 'same-files'
    | 'one-instance'
    | 'empty-instances'
    | 'unread-files'
    | 'nothing-excluded'
  readonly message: string
  /** Options that the message names. */
  readonly advice: OptionAdvice
}

/** Share of skipped lines from which the comparison may not represent the logs. */
const MAX_SKIPPED_SHARE = 0.05
const SHOWN = 3

/** Warns of everything that was not read from two sets of logs, or cannot be learned from them, the gravest first. */
function logWarnings({ logs, whole }: LogComparison): readonly LogWarning[] {
  return [
    ...linesSkipped(whole),
    ...linesInPart(whole),
    ...sameFiles(whole),
    ...oneInstance(logs),
    ...emptyInstances(whole),
    ...unreadFiles(whole),
    ...nothingExcluded(whole),
  ]
}

function linesSkipped({ report }: LogSet): LogWarning[] {
  const lost = report.skipped.filter(({ reason }) => isLost(reason))
  const lines = sum(lost, ({ count }) => count)
  const most = greatest(lost, ({ count }) => count)
  if (most === undefined || lines < MAX_SKIPPED_SHARE * report.lines) return []
  const { text, options } = skipAdvice(most.reason)
  const message = `${counted(lines, 'line')} of ${grouped(report.lines)} gave no message: ${skipText(most)}.`
  const advised = text === '' ? message : `${message} ${text}.`
  return warning('lines-skipped', advised, options)
}

function linesInPart({ report: { skipped } }: LogSet): LogWarning[] {
  const half = skipped.find(({ reason }) => reason === SKIPPED.half)
  if (half === undefined) return []
  return warning(
    'lines-in-part',
    `${counted(half.count, 'line')} ${half.count === 1 ? 'was' : 'were'} read only in part: ${skipText(half)}.`,
  )
}

function warning(code: LogWarning['code'], message: string, advice: OptionAdvice = {}) {
  return [{ code, message, advice }]
}

function sameFiles({ report: { inBothClasses } }: LogSet): LogWarning[] {
  if (inBothClasses.length === 0) return []
  const message = `${firstOf(inBothClasses, { most: SHOWN })} ${isAre(inBothClasses)} given for both periods. Name each file once.`
  return warning('same-files', message)
}

function nothingExcluded({ report: { notExcluded }, events, states }: LogSet): LogWarning[] {
  const [first] = notExcluded
  if (first === undefined) return []
  const meant = nearestName(first, [...events.names, ...states.names])
  const hint = meant === undefined ? '' : ` Did you mean ${show(meant)}?`
  const message = `No variable is called ${notExcluded.map(show).join(' or ')}, so nothing was excluded for ${notExcluded.length === 1 ? 'it' : 'them'}.${hint}`
  return warning('nothing-excluded', message)
}

function oneInstance({ counts }: LogSet): LogWarning[] {
  const alone = LOG_CLASSES.filter((logClass) => counts[logClass] === 1)
  if (alone.length === 0) return []
  const message = `Only ${alone.map((logClass) => `1 instance ${logClass}`).join(' and ')}: a test needs two in each period. A file is one instance, and so is a directory with all its files. Name the files (dir/*), or give the field that names the instance with \`instance\`.`
  return warning('one-instance', message, { instance: null })
}

function emptyInstances({ report: { emptyInstances: empty } }: LogSet): LogWarning[] {
  if (empty.length === 0) return []
  const message = `${firstOf(empty, { most: SHOWN })} ${empty.length === 1 ? 'has' : 'have'} no message, and count${empty.length === 1 ? 's' : ''} as ${counted(empty.length, 'instance')} in which nothing happened. Leave out files that should not count.`
  return warning('empty-instances', message)
}

function unreadFiles({ report: { unreadFiles: unread } }: LogSet): LogWarning[] {
  if (unread.length === 0) return []
  const message = `${firstOf(unread, { most: SHOWN })} ${isAre(unread)} in no known log format and ${unread.length === 1 ? 'was' : 'were'} ignored. Give \`format\` to read ${unread.length === 1 ? 'it' : 'them'}.`
  return warning('unread-files', message, { format: null })
}

function isAre({ length }: readonly string[]): string {
  return length === 1 ? 'is' : 'are'
}
