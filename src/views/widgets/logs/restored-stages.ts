import { readOptions } from '../../../core/options.ts'
import type {
  Attention,
  AttentionGraph,
  AttentionOptions,
} from '../../../logs/attention/attention.ts'
import { focusAttention } from '../../../logs/attention/focus-attention.ts'
import {
  DEPENDENCY_OPTIONS,
  type DependencyNetwork,
  DependencyNetworks,
  type NetworkKey,
} from '../../../logs/dependencies/dependency-networks.ts'
import { Divergence } from '../../../logs/divergence/divergence.ts'
import type { EventFeature, Feature, StateFeature } from '../../../logs/features/features.ts'
import { LogReport } from '../../../logs/features/log-report.ts'
import { LogSet, VariableFeatures } from '../../../logs/features/log-set.ts'
import type { LogsData } from './logs-data.ts'
import type { SentNetwork } from './sent-networks.ts'
import { readNumber } from './sent-number.ts'
import { readPresence } from './sent-presence.ts'
import { readFeatureTest, readTest } from './sent-test.ts'

/** What a page computes with: the stages, as far as they were sent. */
export interface RestoredStages {
  readonly divergence: Divergence
  readonly networks: DependencyNetworks
  /** Graphs of networks that were sent, best first. */
  readonly graphs: (state: GraphState) => readonly AttentionGraph[]
}

/** What of the options a page can change. */
export interface GraphState extends Pick<AttentionOptions, 'balance' | 'class'> {
  readonly minSplit: number
}

const NO_REPORT = new LogReport({
  ...{ lines: 0, messages: { event: 0, state: 0 } },
  ...{ skipped: [], refused: [], thinned: [], emptyInstances: [], unreadFiles: [] },
  inBothClasses: [],
})

/** The stages of a comparison of logs, from what was sent of it. */
export function restoredStages(data: LogsData): RestoredStages {
  const logs = emptyLogs(data)
  const options = { metric: data.metric.given, weights: 'none' as const, ...data.divergence }
  const divergence = new Divergence(logs, options, {
    performance: readTest(data.metric.test),
    variables: data.variables.map(({ kind, name, score, presence, tests }) => ({
      ...{ kind, name, score: readNumber(score), presence: readPresence(presence) },
      features: tests.map((test, i) => readFeatureTest(test, data.types[kind][i] as Feature)),
    })),
  })
  const networks = restoredNetworks(data, logs)
  const sent = new Set(data.networks.map(keyText))
  return {
    ...{ divergence, networks },
    graphs: ({ minSplit, ...changed }) => {
      const attention: Attention = focusAttention(divergence, networks.pruned(minSplit), {
        ...data.attention,
        ...changed,
      })
      return attention.graphs.filter((graph) => sent.has(keyText(graph)))
    },
  }
}

function restoredNetworks(data: LogsData, logs: LogSet): DependencyNetworks {
  const { name, unit, given } = data.metric
  const known = new Map(
    data.networks.map((network) => [keyText(network), restoredNetwork(network, data)]),
  )
  const options = {
    ...readOptions(DEPENDENCY_OPTIONS),
    metric: given,
    minSplit: data.least,
  }
  return new DependencyNetworks(logs, options, {
    metric: { name, unit, values: new Float64Array(0) },
    learned: {
      ...{ known, grownAt: data.least },
      // Whatever was not sent is empty here, and not shown.
      learn: (key) => ({
        ...key,
        metric: name,
        names: [],
        instances: 0,
        mass: 1,
        variablesLeftOut: 0,
        edges: [],
      }),
    },
  })
}

function restoredNetwork(sent: SentNetwork, { variables, metric }: LogsData): DependencyNetwork {
  const nameOf = (number: number) =>
    number < 0 ? metric.name : (variables[number] as { name: string }).name
  const { kind, class: logClass, featureType, instances, mass, variablesLeftOut } = sent
  return {
    ...{ kind, class: logClass, featureType, instances, mass, variablesLeftOut },
    metric: metric.name,
    names: [],
    edges: sent.edges.map(([from, to, weight, r2, directed]) => ({
      ...{ from: nameOf(from), to: nameOf(to), weight, r2 },
      directed: directed === 1,
    })),
  }
}

/** As `DependencyNetworks` calls them. */
function keyText({ kind, class: logClass, featureType }: NetworkKey): string {
  return `${kind} ${logClass} ${featureType}`
}

/** Logs of no instance, with the kinds and features there are. */
function emptyLogs({ types }: LogsData): LogSet {
  const columns = <F extends Feature>(features: readonly Feature[]) =>
    new Map(features.map((feature) => [feature as F, new Float64Array(0)]))
  const names = (features: readonly Feature[]) => (features.length === 0 ? [] : [''])
  return new LogSet({
    ...{ instances: [], classOf: new Uint8Array(0), runTimeUs: new Float64Array(0) },
    events: new VariableFeatures<EventFeature>(names(types.event), 0, columns(types.event)),
    states: new VariableFeatures<StateFeature>(names(types.state), 0, columns(types.state)),
    report: NO_REPORT,
  })
}
