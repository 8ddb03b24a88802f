import { group, sort } from 'd3-array'
import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { readOptions } from '../../../core/options.ts'
import { tooltipText } from '../../../core/words.ts'
import { type AttentionOptions, focusAttention } from '../../../logs/attention/focus-attention.ts'
import type { LogComparison } from '../../../logs/compare-logs.ts'
import {
  DEPENDENCY_OPTIONS,
  type DependencyEdge,
  type DependencyNetwork,
  DependencyNetworks,
  leastMass,
  networkName,
} from '../../../logs/dependencies/learn-dependencies.ts'
import { Divergence, type VariableDivergence } from '../../../logs/divergence/find-divergence.ts'
import { type Feature, VARIABLE_KINDS, type VariableKind } from '../../../logs/features/features.ts'
import { LogReport } from '../../../logs/features/log-report.ts'
import { LOG_CLASSES, LogSet, VariableFeatures } from '../../../logs/features/log-set.ts'
import { thinned } from '../../charts/log-values.ts'
import { namesInPage } from '../../drawing/text.ts'

type CarriedFeatures = ReturnType<typeof carriedFeatures>[VariableKind]

export type LogsData = ReturnType<typeof logsData>

const MAX_EDGES = 16_000
/** Number of the most divergent variables of a kind that are carried even if nothing depends on them. */
const MAX_DIVERGENT = 30
const MAX_NAME_LENGTH = 400
const MAX_INSTANCES = 200
const MAX_VALUES = 100_000

/** Returns the data that pages need to show and compute, for `minSplit` from `wished` and with `opened`. */
export function logsData(
  compared: LogComparison,
  wished: number,
  opened: VariableDivergence | undefined,
) {
  const { logs, divergence, options, networks } = compared
  const { least, dropped, kept } = networksWithRoom(compared, wished)
  const variables = variablesToShow(divergence, kept, opened)
  const shownName = namesInPage(
    variables.map(({ name }) => name),
    MAX_NAME_LENGTH,
  )
  const instances = instancesToShow(compared)
  const { balance, score, class: logClass, sharedDenominator } = options
  return {
    carried: encodeColumns({
      counts: logs.counts,
      withoutMetric: networks.leftOut,
      metric: { given: options.metric, name: networks.metric.name, unit: networks.metric.unit },
      performance: divergence.performance,
      minSplit: options.minSplit,
      wished: Math.min(wished, options.minSplit),
      /** The smallest `minSplit` that there are dependencies for in the page. */
      least,
      attention: { balance, score, class: logClass, sharedDenominator },
      divergence: { alpha: options.alpha, correction: options.correction },
      variables: variables.map((variable) => ({ ...variable, name: shownName(variable.name) })),
      /** Names in the page that are not whole: code cannot use them. */
      cutNames: variables.flatMap(({ name }) =>
        shownName(name) === name ? [] : [shownName(name)],
      ),
      networks: kept.map((network) => ({
        ...network,
        names: [],
        edges: network.edges.map(({ from, to, ...edge }) => ({
          from: shownName(from),
          to: shownName(to),
          ...edge,
        })),
      })),
      instances: instances.map((instance) => tooltipText(logs.instances[instance] ?? '')),
      classOf: Uint8Array.from(instances, (instance) => logs.classOf[instance] ?? 0),
      metricValues: sampled(networks.metric.values, instances),
      features: carriedFeatures(logs, variables, { instances, shownName }),
      leftOut: { graphs: dropped, variables: divergence.variables.length - variables.length },
    }),
  }
}

/**
 * Networks for every `minSplit` from `least` on. Where they are too much, `least` is raised as far
 * as the comparison's own; then the largest go.
 */
function networksWithRoom(compared: LogComparison, wished: number) {
  const { minSplit } = compared.options
  const grown = compared.with({ minSplit: Math.min(wished, minSplit) }).networks
  const shares = connectedNetworks(grown)
    .flatMap(({ edges, mass }) => edges.map(({ weight }) => weight / mass))
    .sort((a, b) => b - a)
  const beyond = shares[MAX_EDGES]
  const least =
    beyond === undefined
      ? grown.options.minSplit
      : Math.min(minSplit, shares.findLast((share) => share > beyond) ?? 1)
  const all = connectedNetworks(grown.pruned(least))
  const kept = smallest(all)
  return { least, dropped: all.length - kept.length, kept }
}

function connectedNetworks(networks: DependencyNetworks): DependencyNetwork[] {
  return LOG_CLASSES.flatMap((each) => networks.of(each)).map((network) => ({
    ...network,
    edges: connected(network, leastMass(networks.options.minSplit, network.mass)),
  }))
}

function connected({ edges, metric }: DependencyNetwork, least: number): DependencyEdge[] {
  const strong = edges.filter(({ weight }) => weight >= least)
  const links = strong.flatMap(({ from, to }) => [
    [from, to],
    [to, from],
  ])
  const linksOf = group(links, ([end]) => end)
  const reached = new Set<string | undefined>([metric])
  // The loop also visits names added on the way.
  for (const name of reached) for (const [, other] of linksOf.get(name) ?? []) reached.add(other)
  return strong.filter(({ from }) => reached.has(from))
}

function smallest(networks: readonly DependencyNetwork[]): DependencyNetwork[] {
  const kept = new Set<DependencyNetwork>()
  const kinds = new Set<string>()
  let edges = 0
  for (const network of networks.toSorted((a, b) => a.edges.length - b.edges.length)) {
    const kind = `${network.kind} ${network.class}`
    if (edges + network.edges.length > MAX_EDGES && kinds.has(kind)) continue
    kinds.add(kind)
    kept.add(network)
    edges += network.edges.length
  }
  return networks.filter((network) => kept.has(network))
}

function variablesToShow(
  divergence: Divergence,
  networks: readonly DependencyNetwork[],
  opened: VariableDivergence | undefined,
): readonly VariableDivergence[] {
  const wanted = new Set<VariableDivergence | undefined>([opened])
  for (const kind of VARIABLE_KINDS) {
    const ofKind = divergence.variables.filter((each) => each.kind === kind)
    for (const each of ofKind.slice(0, MAX_DIVERGENT)) {
      if (each.score > 0 || each.presence.onlyIn !== null) wanted.add(each)
    }
    // Shares of divergence are of the largest, wherever it stands.
    const largest = divergence.largest(kind)
    wanted.add(ofKind.find(({ features }) => features.some(({ t }) => Math.abs(t) === largest)))
  }
  for (const { kind, metric, edges } of networks) {
    for (const { from, to } of edges) {
      for (const name of [from, to, metric]) wanted.add(divergence.variable(kind, name))
    }
  }
  return divergence.variables.filter((each) => wanted.has(each))
}

function instancesToShow({ logs, networks }: LogComparison): number[] {
  const rank = (instance: number) => networks.metric.values[instance]
  return LOG_CLASSES.flatMap((_, code) => {
    const own = Array.from(logs.instances.keys()).filter(
      (instance) => logs.classOf[instance] === code,
    )
    // Instances without performance come last.
    return thinned(sort(own, rank), MAX_INSTANCES)
  }).sort((a, b) => a - b)
}

function carriedFeatures(
  logs: LogSet,
  variables: readonly VariableDivergence[],
  { instances, shownName }: { instances: readonly number[]; shownName: (name: string) => string },
) {
  let room = MAX_VALUES
  const withRoom = variables.filter(({ features }) => {
    room -= features.length * instances.length
    return room >= 0
  })
  const carry = (kind: VariableKind) => {
    const all = logs.features(kind)
    const own = withRoom.filter((variable) => variable.kind === kind)
    const valuesOf = (type: Feature) =>
      own.flatMap(({ name }) => [...sampled(all.of(all.indexOf(name) ?? 0, type), instances)])
    return {
      types: all.types,
      names: own.map(({ name }) => shownName(name)),
      /** Values by type: that of variable v in instance i at `v * instances + i`. */
      columns: all.types.map((type) => Float64Array.from(valuesOf(type))),
    }
  }
  return { event: carry('event'), state: carry('state') }
}

/** Values of some instances, to the 7 digits that can be seen. */
function sampled(values: Float64Array, instances: readonly number[]): Float64Array {
  return Float64Array.from(instances, (instance) => Math.fround(values[instance] ?? Number.NaN))
}

export interface GraphOptions extends Pick<AttentionOptions, 'balance' | 'class'> {
  readonly minSplit: number
}

export type RestoredLogs = ReturnType<typeof restoreLogs>

const NO_REPORT = new LogReport({
  lines: 0,
  messages: { event: 0, state: 0 },
  skipped: [],
  refused: [],
  thinned: [],
  emptyInstances: [],
  unreadFiles: [],
  fieldsLeftOut: [],
  inBothClasses: [],
  sharedFiles: [],
  notExcluded: [],
})

export function restoreLogs({ carried }: LogsData) {
  const data = decodeColumns(carried)
  const { metric, metricValues, performance, variables, features, networks, instances } = data
  const logs = new LogSet({
    instances,
    classOf: data.classOf,
    runTimeUs: new Float64Array(instances.length),
    events: restoredFeatures(features.event, instances.length),
    states: restoredFeatures(features.state, instances.length),
    report: NO_REPORT,
  })
  const options = { metric: metric.given, weights: 'none' as const }
  const divergence = new Divergence({
    logs,
    performance,
    variables,
    options: { ...options, ...data.divergence },
  })
  const known = new Map(networks.map((network) => [networkName(network), network]))
  const restored = new DependencyNetworks(
    {
      logs,
      options: { ...readOptions(DEPENDENCY_OPTIONS), metric: metric.given, minSplit: data.least },
      metric: { name: metric.name, unit: metric.unit, values: metricValues },
    },
    {
      known: new Map(known),
      grownAt: data.least,
      // Data that was not carried is empty here, and not shown.
      learn: (key) => ({
        ...key,
        metric: metric.name,
        names: [],
        instances: 0,
        mass: 1,
        variablesLeftOut: 0,
        edges: [],
      }),
    },
  )
  return {
    ...data,
    divergence,
    hasValues: (kind: VariableKind, name: string) => features[kind].names.includes(name),
    graphs: ({ minSplit, ...changed }: GraphOptions) =>
      focusAttention(divergence, restored.pruned(minSplit), {
        ...data.attention,
        ...changed,
      }).graphs.filter((graph) => known.has(networkName(graph))),
  }
}

function restoredFeatures<F extends Feature>(
  { types, names, columns }: CarriedFeatures,
  instances: number,
): VariableFeatures<F> {
  const none = new Float64Array(instances)
  // A kind whose values had no room still has its features.
  const known = names.length > 0 || types.length === 0 ? names : ['']
  const byType = types.map((type, i) => [type as F, names.length > 0 ? columns[i] : none] as const)
  return new VariableFeatures(known, instances, new Map(byType) as Map<F, Float64Array>)
}
