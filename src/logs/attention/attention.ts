import { group } from 'd3-array'
import { defineOptions, type OptionsOf, oneOf, share } from '../../core/options.ts'
import { columnarStage } from '../../core/stage.ts'
import { rowTable, type StageTable } from '../../core/stage-table.ts'
import type { Feature, VariableKind } from '../features/features.ts'
import { LOG_CLASSES, type LogClass } from '../features/log-set.ts'

/** Options of `focusAttention`. */
export const ATTENTION_OPTIONS = defineOptions({
  balance: share({
    default: 0.5,
    sentence: 'α: 0 ranks by the strength of dependencies alone, 1 by divergence alone',
  }),
  score: oneOf(['sum', 'mean'], {
    default: 'sum',
    sentence: 'Whether the terms of a graph are added up or averaged',
    flag: null,
  }),
  class: oneOf(LOG_CLASSES, {
    default: 'after',
    sentence: 'Period that dependencies are learned from',
    flag: 'class <name>',
  }),
  sharedDenominator: oneOf(['last', 'ranked'], {
    default: 'last',
    sentence: 'Place of graphs whose values are shares of the performance metric',
    flag: null,
  }),
})
export type AttentionOptions = OptionsOf<typeof ATTENTION_OPTIONS>

/** A variable that performance depends on, directly or through others; or performance itself. */
export interface AttentionNode {
  readonly name: string
  /** Welch's t of the graph's feature, after minus before; NaN where it was not tested. */
  readonly t: number
  /** |t| as a share of the largest of all features of all variables of the kind: 0 to 1. */
  readonly divergence: number
  /** Whether the feature differs significantly between the classes. */
  readonly significant: boolean
  /** What the variable adds to the score; 0 for performance itself. */
  readonly term: number
}

/** A dependency between two variables. */
export interface AttentionEdge {
  readonly from: string
  readonly to: string
  /** The largest share of the instances, above 0 to 1, at which one splits the other. */
  readonly weight: number
  /** The share of the variance that this split explains. */
  readonly r2: number
  /** Whether `from` happens before `to` in every instance that has both. */
  readonly directed: boolean
  /** Whether it belongs to the maximum spanning tree that the score is taken from. */
  readonly inTree: boolean
}

/** All that performance depends on, as one feature of one kind of variable shows it. */
export interface AttentionGraph {
  readonly kind: VariableKind
  readonly class: LogClass
  readonly featureType: Feature
  /** The name of the node that stands for performance. */
  readonly metric: string
  readonly score: number
  /**
   * Whether values are shares of the run time where performance is a time: what always takes equally
   * long is then a smaller share of a longer run, and seems to depend on performance.
   */
  readonly sharesDenominator: boolean
  /** How many variables its dependencies were not learned from, as there are too many; absent for 0. */
  readonly variablesLeftOut?: number
  /** Performance first, then what adds most to the score. */
  readonly nodes: readonly AttentionNode[]
  readonly edges: readonly AttentionEdge[]
}

interface AttentionColumns {
  readonly options: AttentionOptions
  /**
   * The highest score first, events and states together; then in the order of features. Those that
   * share their denominator with performance come after all others, unless asked otherwise.
   */
  readonly graphs: readonly AttentionGraph[]
}

/** What to look at first: what `focusAttention` finds. */
export class Attention extends columnarStage<AttentionColumns>() {
  /** The graphs of events or of states, best first. */
  of(kind: VariableKind): readonly AttentionGraph[] {
    return this.graphs.filter((graph) => graph.kind === kind)
  }

  /** The best graph of events or of states; undefined where there is no such variable. */
  best(kind: VariableKind): AttentionGraph | undefined {
    return this.of(kind)[0]
  }

  /**
   * One row a graph, best first, with the variables that add most to its score, and, where there were
   * too many, how many variables were left out.
   */
  table(): StageTable {
    const rows = this.graphs.map(({ variablesLeftOut = 0, ...graph }) => ({
      ...{ ...graph, variablesLeftOut, feature: graph.featureType, edges: graph.edges.length },
      variables: graph.nodes.length - 1,
      first: graph.nodes[1]?.name ?? '',
      second: graph.nodes[2]?.name ?? '',
    }))
    const isLimited = rows.some(({ variablesLeftOut }) => variablesLeftOut > 0)
    return rowTable(rows, [
      ...(['kind', 'class', 'feature', 'score', 'variables', 'edges'] as const),
      'sharesDenominator',
      ...(isLimited ? (['variablesLeftOut'] as const) : []),
      'first',
      'second',
    ])
  }

  /** One row a graph and variable. */
  nodeTable(): StageTable {
    const rows = this.graphs.flatMap(({ kind, featureType: feature, nodes }) =>
      nodes.map((node) => ({ ...node, kind, feature, variable: node.name })),
    )
    const names = ['kind', 'feature', 'variable', 't', 'significant', 'divergence', 'term'] as const
    return rowTable(rows, names)
  }

  /** One row a graph and dependency. */
  edgeTable(): StageTable {
    const rows = this.graphs.flatMap(({ kind, featureType: feature, edges }) =>
      edges.map((edge) => ({ ...edge, kind, feature })),
    )
    const names = ['kind', 'feature', 'from', 'to', 'weight', 'r2', 'directed', 'inTree'] as const
    return rowTable(rows, names)
  }
}

interface AttentionTree {
  /** Names, each after the one that it leads to; the metric first. */
  readonly order: readonly string[]
  /** Edges between a variable and the metric; 0 of the metric itself. */
  readonly depth: ReadonlyMap<string, number>
  readonly children: ReadonlyMap<string, readonly string[]>
  /** Of each variable but the metric, the edge that leads it towards the metric. */
  readonly parentEdge: ReadonlyMap<string, AttentionEdge>
}

/** The spanning tree of a graph, depth first; what adds more to the score comes first. */
export function attentionTree({ metric, nodes, edges }: AttentionGraph): AttentionTree {
  const links = edges
    .filter(({ inTree }) => inTree)
    .flatMap((edge) => [
      { edge, end: edge.from, other: edge.to },
      { edge, end: edge.to, other: edge.from },
    ])
  const linksOf = group(links, ({ end }) => end)
  const rank = new Map(nodes.map(({ name }, at) => [name, at]))
  const depth = new Map([[metric, 0]])
  const children = new Map<string, string[]>()
  const parentEdge = new Map<string, AttentionEdge>()
  const order: string[] = []
  const pending = [metric]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    order.push(name)
    const below = (linksOf.get(name) ?? [])
      .filter(({ other }) => !depth.has(other))
      .sort((a, b) => Number(rank.get(a.other)) - Number(rank.get(b.other)))
    for (const { edge, other } of below) {
      depth.set(other, Number(depth.get(name)) + 1)
      parentEdge.set(other, edge)
    }
    const names = below.map(({ other }) => other)
    children.set(name, names)
    pending.push(...names.toReversed())
  }
  return { order, depth, children, parentEdge }
}
