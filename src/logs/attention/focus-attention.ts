import { ascending, greatest, group, sort, sum } from 'd3-array'
import { defineOptions, type OptionsOf, oneOf, readOptions, share } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { twoSidedTP } from '../../stats/distributions.ts'
import type {
  DependencyEdge,
  DependencyNetwork,
  DependencyNetworks,
} from '../dependencies/learn-dependencies.ts'
import type { Divergence } from '../divergence/find-divergence.ts'
import { isEventTime, isShareOfRun, LOG_CLASSES, type VariableKind } from '../features/log-set.ts'

/**
 * Ranks the dependency networks: first those in which performance depends on variables that differ most
 * between the periods. Of the part connected with performance each variable adds T^(2α)·w^(2(1−α)): T is its
 * divergence as a share of the largest |t| of its kind, w the share of the instances that connect it. The
 * default α of 0.5 gives T·w, as in Algorithm 1.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.4, algorithm 1.
 */
export function focusAttention(
  divergence: Divergence,
  networks: DependencyNetworks,
  options: Partial<AttentionOptions> = {},
): Attention {
  const chosen = readOptions(ATTENTION_OPTIONS, options)
  const { unit, quantity } = networks.metric
  const isTime = unit === 'absolute time' || quantity?.us !== undefined
  const isLast = ({ sharesDenominator }: AttentionGraph) => Number(sharesDenominator)
  const isMean = ({ featureType }: AttentionGraph) => Number(featureType === 'mean')
  const graphs = networks
    .of(chosen.class)
    .map((network) => graphOf(network, divergence, { ...chosen, isTime }))
    .sort((a, b) => isLast(a) - isLast(b) || b.score - a.score || isMean(b) - isMean(a))
  const headline = headlineOf(graphs, isTime, { divergence, networks })
  return new Attention({ options: chosen, graphs, headline })
}

interface Sources {
  readonly divergence: Divergence
  readonly networks: DependencyNetworks
}

/** Returns the strongest path of the first graph that has one; times of events, as parts of a time, come last. */
function headlineOf(
  graphs: readonly AttentionGraph[],
  isTime: boolean,
  stages: Sources,
): AttentionPath | null {
  if (!stages.divergence.performance.significant) return null
  const isPart = ({ featureType }: AttentionGraph) => isTime && isEventTime(featureType)
  const order = [...graphs.filter((one) => !isPart(one)), ...graphs.filter(isPart)]
  for (const graph of order) {
    if (graph.sharesDenominator) continue
    const path = strongestPath(graph, graphs, stages)
    if (path.length > 0) return { graph, path }
  }
  return null
}

function strongestPath(
  graph: AttentionGraph,
  graphs: readonly AttentionGraph[],
  { divergence, networks }: Sources,
): readonly AttentionNode[] {
  const { order, parentOf, parentEdge } = attentionTree(graph)
  const { instances } = networks.network(graph)
  // The best of all splits, in the best of all features, is that good by chance now and then.
  const splits = Math.max(1, instances - 2 * networks.options.minLeaf + 1)
  const tries = splits * graphs.filter(({ kind }) => kind === graph.kind).length
  const isSure = (name: string) => {
    const { r2 = 0 } = parentEdge.get(name) ?? {}
    const t = Math.sqrt((r2 * (instances - 2)) / (1 - r2))
    return !(twoSidedTP(t, instances - 2) * tries >= divergence.options.alpha)
  }
  const nodeOf = new Map(graph.nodes.map((node) => [node.name, node]))
  const paths = new Map<string, { readonly path: readonly AttentionNode[]; readonly sum: number }>()
  paths.set(graph.metric, { path: [], sum: 0 })
  for (const name of order.slice(1)) {
    const node = nodeOf.get(name)
    const known = paths.get(parentOf.get(name) ?? '')
    const isIdle = divergence.variable(graph.kind, name)?.idle !== null
    if (node === undefined || known === undefined || !node.significant || isIdle || !isSure(name))
      continue
    paths.set(name, { path: [...known.path, node], sum: known.sum + node.term })
  }
  return greatest(paths.values(), ({ sum }) => sum)?.path ?? []
}

function graphOf(
  network: DependencyNetwork,
  divergence: Divergence,
  { balance, score, isTime }: AttentionOptions & { readonly isTime: boolean },
) {
  const { kind, class: logClass, featureType, metric, mass, variablesLeftOut } = network
  const { names, edges, parentEdge } = spanningComponent(network.edges, metric)
  const tree = new Set(parentEdge.values())
  const largest = divergence.largest(kind)
  const nodeOf = (name: string) => {
    const test =
      name === metric
        ? divergence.performance
        : divergence.variable(kind, name)?.features.find(({ feature }) => feature === featureType)
    const { t = Number.NaN, significant = false } = test ?? {}
    // Performance itself, which is in no family, may exceed the largest.
    const share = Number.isNaN(t) || t === 0 ? 0 : Math.min(1, Math.abs(t) / largest)
    const parent = parentEdge.get(name)
    const strength = parent === undefined ? 0 : parent.weight / mass
    return {
      name,
      /** Welch's t of the graph's feature, after minus before; NaN where it was not tested. */
      t,
      /** |t| as a share of the largest of all features of all variables of the kind: 0 to 1. */
      divergence: share,
      significant,
      /** Contribution of the variable to the score; 0 for performance itself. */
      term: parent === undefined ? 0 : share ** (2 * balance) * strength ** (2 * (1 - balance)),
    }
  }
  const nodes = sort(
    names.map(nodeOf),
    ({ name }) => name !== metric,
    ({ term }) => -term,
    ({ name }) => name,
  )
  const total = sum(nodes, ({ term }) => term)
  return {
    kind,
    class: logClass,
    featureType,
    /** The name of the node that stands for performance. */
    metric,
    /** Performance first, then what adds most to the score. */
    nodes,
    /** Number of variables left out when its dependencies were learned, because there are too many; absent for 0. */
    ...(variablesLeftOut > 0 && { variablesLeftOut }),
    score: score === 'sum' ? total : total / Math.max(1, nodes.length - 1),
    /** Those `inTree` are of the maximum spanning tree that the score is taken from. */
    edges: edges.map((edge) => ({ ...edge, weight: edge.weight / mass, inTree: tree.has(edge) })),
    /** Whether values are shares of a run time that is performance: constant times seem to depend on it. */
    sharesDenominator: isTime && isShareOfRun(featureType),
  }
}

/**
 * Returns everything that is connected with `root`, and its maximum spanning tree: of equally strong edges the one with
 * the larger R², then the first by names. `parentEdge` is the edge from each variable towards the root.
 *
 * Source: Prim 1957, "Shortest connection networks and some generalizations", Bell System Technical
 * Journal 36(6):1389-1401.
 */
function spanningComponent(edges: readonly DependencyEdge[], root: string) {
  const sorted = edges.toSorted(strongestFirst)
  const reached = new Set([root])
  const parentEdge = new Map<string, DependencyEdge>()
  const leads = ({ from, to }: DependencyEdge) => reached.has(from) !== reached.has(to)
  for (let next = sorted.find(leads); next !== undefined; next = sorted.find(leads)) {
    const name = reached.has(next.from) ? next.to : next.from
    reached.add(name)
    parentEdge.set(name, next)
  }
  return { names: [...reached], edges: edges.filter(({ from }) => reached.has(from)), parentEdge }
}

function strongestFirst(a: DependencyEdge, b: DependencyEdge): number {
  const [one, other] = [a, b].map(({ from, to }) => [from, to].sort()) as [string[], string[]]
  return (
    b.weight - a.weight || b.r2 - a.r2 || ascending(one[0], other[0]) || ascending(one[1], other[1])
  )
}

export const ATTENTION_OPTIONS = defineOptions({
  balance: share({
    default: 0.5,
    sentence: 'α: 0 ranks by the strength of dependencies alone, 1 by divergence alone',
  }),
  score: oneOf(['sum', 'mean'], {
    default: 'sum',
    sentence: 'Whether the terms of a graph are added up or averaged',
    flag: 'score <name>',
  }),
  class: oneOf(LOG_CLASSES, {
    default: 'after',
    sentence: 'Period to learn dependencies from',
    flag: 'class <name>',
  }),
})
export type AttentionOptions = OptionsOf<typeof ATTENTION_OPTIONS>

/** A variable that performance depends on, directly or through others; or performance itself. */
export type AttentionNode = Readonly<AttentionGraph['nodes'][number]>

/** A dependency between two variables; `weight` is a share of the instances, above 0 to 1. */
export type AttentionEdge = Readonly<AttentionGraph['edges'][number]>

/** All that performance depends on, as one feature of one kind of variable shows it. */
export type AttentionGraph = Readonly<ReturnType<typeof graphOf>>

export interface AttentionPath {
  readonly graph: AttentionGraph
  /** Path from performance, its direct dependency first. */
  readonly path: readonly AttentionNode[]
}

/** Graphs to look at first, as found by `focusAttention`. */
export class Attention extends columnarStage<{
  readonly options: AttentionOptions
  /** The highest score first, then in the order of features; those that share their denominator last. */
  readonly graphs: readonly AttentionGraph[]
  /** Main result, if performance differs and depends on a variable that differs. */
  readonly headline: AttentionPath | null
}>() {
  /** Returns the graphs of events or of states, best first. */
  of(kind: VariableKind): readonly AttentionGraph[] {
    return this.graphs.filter((graph) => graph.kind === kind)
  }

  /** Returns the best graph of events or of states; undefined if there is no variable of that kind. */
  best(kind: VariableKind): AttentionGraph | undefined {
    return this.of(kind)[0]
  }

  /** Returns one row per graph, best first, with the variables that add most to its score. */
  table(): StageTable {
    const leftOut = ({ variablesLeftOut = 0 }: AttentionGraph) => variablesLeftOut
    const isLimited = this.graphs.some((graph) => leftOut(graph) > 0)
    return rowTable(this.graphs, {
      ...own('kind class'),
      feature: 'featureType',
      score: 'score',
      variables: ({ nodes }) => nodes.length - 1,
      edges: ({ edges }) => edges.length,
      sharesDenominator: 'sharesDenominator',
      ...(isLimited && { variablesLeftOut: leftOut }),
      first: ({ nodes }) => nodes[1]?.name ?? '',
      second: ({ nodes }) => nodes[2]?.name ?? '',
    })
  }
}

/** Returns the spanning tree of a graph, depth first; what adds more to the score comes first. */
export function attentionTree({ metric, nodes, edges }: AttentionGraph) {
  const rank = new Map(nodes.map(({ name }, at) => [name, at]))
  const links = edges
    .filter(({ inTree }) => inTree)
    .flatMap((edge) => [
      { edge, end: edge.from, other: edge.to },
      { edge, end: edge.to, other: edge.from },
    ])
  const linksOf = group(
    sort(links, ({ other }) => rank.get(other)),
    ({ end }) => end,
  )
  // Names in the order in which they are reached.
  const depth = new Map<string, number>()
  const parentEdge = new Map<string, AttentionEdge>()
  const parentOf = new Map<string, string>()
  const reach = (name: string, level: number) => {
    depth.set(name, level)
    for (const { edge, other } of linksOf.get(name) ?? []) {
      if (depth.has(other)) continue
      parentEdge.set(other, edge)
      parentOf.set(other, name)
      reach(other, level + 1)
    }
  }
  reach(metric, 0)
  return { order: [...depth.keys()], depth, parentEdge, parentOf }
}
