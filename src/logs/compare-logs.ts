import { FlowdeltaError, rejectUnknownOptions, show } from '../core/errors.ts'
import { LogSet } from './features/log-set.ts'
import { LogComparison } from './log-comparison.ts'
import { LOG_COMPARISON_DEFAULTS, type LogComparisonOptions } from './log-comparison-options.ts'
import { requirePerformance } from './performance/performance-metric.ts'

/**
 * Compares two sets of logs: what differs between before and after, what depends on what
 * within each class, and what to look at first. Every stage is computed when it is first asked for,
 * and kept.
 *
 * @param logs what readers or a `LogBuilder` made
 * @param options of any stage: `metric`, `weights`; `alpha`, `correction` (see `findDivergence`);
 *   `minSplit`, `stop`, `significance`, `minLeaf`, `mostVariables` (see `learnDependencies`); `balance`, `score`,
 *   `class`, `sharedDenominator` (see `focusAttention`)
 * @throws FlowdeltaError for an unknown option, a metric that the logs do not have, or that no
 *   instance of a class has; OptionError for a value that one cannot have
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
  if (!(logs instanceof LogSet)) {
    const next =
      (logs as unknown) instanceof Promise ? 'Write `await` before it.' : 'Give a LogSet.'
    throw new FlowdeltaError(`compareLogs(logs) got ${show(logs)}. ${next}`)
  }
  rejectUnknownOptions(options, Object.keys(LOG_COMPARISON_DEFAULTS))
  const chosen = { ...LOG_COMPARISON_DEFAULTS, ...options }
  requirePerformance(logs, chosen.metric)
  return new LogComparison(logs, chosen)
}
