import type { AttentionOptions } from '../../../logs/attention/attention.ts'
import type { LogComparison } from '../../../logs/compare-logs.ts'
import type { DivergenceOptions } from '../../../logs/divergence/divergence.ts'
import type { Feature, VariableKind } from '../../../logs/features/features.ts'
import type { LogClass } from '../../../logs/features/log-set.ts'
import type { Metric, PerformanceMetric } from '../../../logs/performance/performance-metric.ts'
import { type SentNetwork, sentNetworks } from './sent-networks.ts'
import { type SentTest, sentTest } from './sent-test.ts'
import { type SentValues, sentValues } from './sent-values.ts'
import { type SentVariable, sentVariable, variablesToSend } from './sent-variables.ts'

/** What is shown in the beginning. */
export interface LogsStart {
  readonly kind: VariableKind
  /** `null`: the best graph. */
  readonly featureType: Feature | null
  /** The variable that is open. */
  readonly variable: string | null
}

/** What the explorer of logs carries into a page. */
export interface LogsData {
  /** What the comparison is called in code. */
  readonly name: string
  readonly start: LogsStart
  /** How many instances there are. */
  readonly counts: Readonly<Record<LogClass, number>>
  /** Of them, how many have no performance and teach no dependency. */
  readonly withoutMetric: Readonly<Record<LogClass, number>>
  readonly metric: {
    readonly given: Metric
    readonly name: string
    readonly unit: PerformanceMetric['unit']
    readonly test: SentTest
  }
  readonly minSplit: number
  /** The smallest `minSplit` that was asked for. */
  readonly wished: number
  /** The smallest `minSplit` that there are dependencies for in the page. */
  readonly least: number
  readonly attention: AttentionOptions
  readonly divergence: Pick<DivergenceOptions, 'alpha' | 'correction'>
  readonly types: Readonly<Record<VariableKind, readonly Feature[]>>
  readonly variables: readonly SentVariable[]
  readonly networks: readonly SentNetwork[]
  readonly values: SentValues
  /** What there was no room for. */
  readonly leftOut: {
    readonly graphs: number
    readonly variables: number
  }
}

/** Takes what there is to see and to compute with out of a comparison. */
export function logsData(
  compared: LogComparison,
  { name, least, start }: Pick<LogsData, 'name' | 'least' | 'start'>,
): LogsData {
  const { logs, divergence, options } = compared
  const networks = sentNetworks(compared, least)
  const variables = variablesToSend(divergence, networks, start)
  const { metric, leftOut } = compared.networks
  return {
    ...{ name, start, variables: variables.map(sentVariable) },
    counts: logs.counts,
    withoutMetric: leftOut,
    metric: {
      ...{ given: options.metric, name: metric.name, unit: metric.unit },
      test: sentTest(divergence.performance),
    },
    minSplit: options.minSplit,
    wished: Math.min(least, options.minSplit),
    least: networks.least,
    attention: attentionOptions(compared),
    divergence: { alpha: options.alpha, correction: options.correction },
    types: { event: logs.events.types, state: logs.states.types },
    networks: networks.coded(variables),
    values: sentValues(compared, variables),
    leftOut: {
      graphs: networks.dropped,
      variables: divergence.variables.length - variables.length,
    },
  }
}

function attentionOptions({ options }: LogComparison): AttentionOptions {
  const { balance, score, class: logClass, sharedDenominator } = options
  return { balance, score, class: logClass, sharedDenominator }
}
