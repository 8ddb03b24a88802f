import { sort } from 'd3-array'
import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { tooltipText } from '../../../core/words.ts'
import type { AttentionGraph } from '../../../logs/attention/focus-attention.ts'
import type { LogComparison } from '../../../logs/compare-logs.ts'
import { Divergence, type VariableDivergence } from '../../../logs/divergence/find-divergence.ts'
import {
  type Feature,
  LOG_CLASSES,
  LogReport,
  LogSet,
  VARIABLE_KINDS,
  VariableFeatures,
  type VariableKind,
} from '../../../logs/features/log-set.ts'
import { thinned } from '../../charts/ecdf-curves.ts'
import { namesInPage } from '../../drawing/text.ts'

type CarriedFeatures = ReturnType<typeof carriedFeatures>[VariableKind]

export type LogsData = ReturnType<typeof logsData>

/** Edges of all graphs together that a page carries. */
const MAX_EDGES = 16_000
/** Number of the most divergent variables of a kind that are carried even if nothing depends on them. */
const MAX_DIVERGENT = 30
const MAX_NAME_LENGTH = 400
const MAX_INSTANCES = 200
const MAX_VALUES = 100_000

/** Returns the data that pages need to show, with `opened` among the variables. */
export function logsData(compared: LogComparison, opened: VariableDivergence | undefined) {
  const { logs, divergence, options, networks } = compared
  const all = LOG_CLASSES.flatMap((each) => compared.with({ class: each }).attention.graphs)
  const graphs = fitting(all)
  const variables = variablesToShow(divergence, graphs, opened)
  const shownName = namesInPage(
    variables.map(({ name }) => name),
    MAX_NAME_LENGTH,
  )
  const instances = instancesToShow(compared)
  return {
    carried: encodeColumns({
      counts: logs.counts,
      withoutMetric: networks.leftOut,
      metric: { given: options.metric, name: networks.metric.name, unit: networks.metric.unit },
      performance: divergence.performance,
      class: options.class,
      divergence: { alpha: options.alpha, correction: options.correction },
      variables: variables.map((variable) => ({ ...variable, name: shownName(variable.name) })),
      /** Names in the page that are not whole: code cannot use them. */
      cutNames: variables.flatMap(({ name }) =>
        shownName(name) === name ? [] : [shownName(name)],
      ),
      graphs: graphs.map((graph) => ({
        ...graph,
        metric: shownName(graph.metric),
        nodes: graph.nodes.map((node) => ({ ...node, name: shownName(node.name) })),
        edges: graph.edges.map(({ from, to, ...edge }) => ({
          from: shownName(from),
          to: shownName(to),
          ...edge,
        })),
      })),
      durations: variables.flatMap(({ name }) =>
        logs.durations?.has(name) ? [shownName(name)] : [],
      ),
      instances: instances.map((instance) => tooltipText(logs.instances[instance] ?? '')),
      classOf: Uint8Array.from(instances, (instance) => logs.classOf[instance] ?? 0),
      metricValues: sampled(networks.metric.values, instances),
      features: carriedFeatures(logs, variables, { instances, shownName }),
      leftOut: {
        graphs: all.length - graphs.length,
        variables: divergence.variables.length - variables.length,
      },
    }),
  }
}

/** Returns the graphs that a page has room for: the smallest, and one of each kind and class. */
function fitting(graphs: readonly AttentionGraph[]): AttentionGraph[] {
  const kept = new Set<AttentionGraph>()
  const kinds = new Set<string>()
  let edges = 0
  for (const graph of graphs.toSorted((a, b) => a.edges.length - b.edges.length)) {
    const kind = `${graph.kind} ${graph.class}`
    if (edges + graph.edges.length > MAX_EDGES && kinds.has(kind)) continue
    kinds.add(kind)
    kept.add(graph)
    edges += graph.edges.length
  }
  return graphs.filter((graph) => kept.has(graph))
}

function variablesToShow(
  divergence: Divergence,
  graphs: readonly AttentionGraph[],
  opened: VariableDivergence | undefined,
): readonly VariableDivergence[] {
  const wanted = new Set<VariableDivergence | undefined>([opened])
  for (const kind of VARIABLE_KINDS) {
    const ofKind = divergence.variables.filter((each) => each.kind === kind)
    for (const each of ofKind.slice(0, MAX_DIVERGENT)) {
      if (each.score > 0 || each.presence.onlyIn !== null) wanted.add(each)
    }
  }
  for (const { kind, nodes } of graphs) {
    for (const { name } of nodes) wanted.add(divergence.variable(kind, name))
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

export type RestoredLogs = ReturnType<typeof restoreLogs>

const NO_REPORT = new LogReport({
  lines: 0,
  messages: { event: 0, state: 0 },
  skipped: [],
  emptyInstances: [],
  unreadFiles: [],
  fieldsLeftOut: [],
  sharedFiles: [],
  notExcluded: [],
})

export function restoreLogs({ carried }: LogsData) {
  const data = decodeColumns(carried)
  const { metric, performance, variables, features, instances } = data
  const logs = new LogSet({
    instances,
    classOf: data.classOf,
    runTimeUs: new Float64Array(instances.length),
    events: restoredFeatures(features.event, instances.length),
    states: restoredFeatures(features.state, instances.length),
    durations: new Set(data.durations),
    report: NO_REPORT,
  })
  const divergence = new Divergence({
    logs,
    performance,
    variables,
    options: { metric: metric.given, weights: 'none', ...data.divergence },
  })
  return {
    ...data,
    divergence,
    hasValues: (kind: VariableKind, name: string) => features[kind].names.includes(name),
  }
}

function restoredFeatures<F extends Feature>(
  { types, names, columns }: CarriedFeatures,
  instances: number,
): VariableFeatures<F> {
  const rows = names.map((_, variable) =>
    Array.from({ length: instances }, (_, instance) => {
      const features = columns.map(
        (column) => column[variable * instances + instance] ?? Number.NaN,
      )
      return { instance, features }
    }),
  )
  return new VariableFeatures({ names, instances, columns: types as F[], rows })
}
