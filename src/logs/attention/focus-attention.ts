import { ascending, rollup } from 'd3-array'
import { FlowdeltaError } from '../../core/errors.ts'
import { readOptions } from '../../core/options.ts'
import type {
  DependencyEdge,
  DependencyNetwork,
  DependencyNetworks,
} from '../dependencies/dependency-networks.ts'
import type { Divergence } from '../divergence/divergence.ts'
import { isEventTime } from '../features/features.ts'
import {
  ATTENTION_OPTIONS,
  Attention,
  type AttentionEdge,
  type AttentionGraph,
  type AttentionNode,
  type AttentionOptions,
} from './attention.ts'

/**
 * Ranks the dependency networks: first those in which performance depends on variables that differ most
 * between the periods.
 *
 * Each network is cut down to the part connected with performance. A variable in it adds
 * T^(2α)·w^(2(1−α)) to the score: T is its divergence as a share of the largest |t| of its kind, w the
 * strength of its connection towards performance in the maximum spanning tree, as a share of the
 * instances. The default α of 0.5 gives T·w, as in Algorithm 1.
 *
 * @param divergence of the same logs and metric as `networks`
 * @param options see {@link ATTENTION_OPTIONS}. `sharedDenominator`: a step that always takes equally long
 *   is a smaller share of a longer run, so shares of the run time depend on performance by arithmetic
 *   alone. `'last'` ranks such graphs after all others, `'ranked'` by their score, as the paper does
 * @throws FlowdeltaError for an unknown option, or stages of different logs or metrics; OptionError for
 *   a value that an option does not take
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.4, algorithm 1.
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
 * const { divergence, networks } = compareLogs(builder.build(), { metric: 'done' })
 * const attention = focusAttention(divergence, networks)
 * attention.best('event').nodes.map(({ name }) => name) // [ 'done', 'flushed' ]
 */
export function focusAttention(
  divergence: Divergence,
  networks: DependencyNetworks,
  options: Partial<AttentionOptions> = {},
): Attention {
  const chosen = readOptions(ATTENTION_OPTIONS, options)
  requireSame(divergence, networks)
  const isTime = networks.metric.unit === 'absolute time'
  const isLast = ({ sharesDenominator }: AttentionGraph) =>
    Number(sharesDenominator && chosen.sharedDenominator === 'last')
  const graphs = networks
    .of(chosen.class)
    .map((network): AttentionGraph => {
      const { featureType } = network
      const isShare = isEventTime(featureType) && featureType.endsWith('Relative')
      return { ...graphOf(network, divergence, chosen), sharesDenominator: isTime && isShare }
    })
    .sort((a, b) => isLast(a) - isLast(b) || b.score - a.score)
  return new Attention({ options: chosen, graphs })
}

function requireSame(divergence: Divergence, networks: DependencyNetworks): void {
  const isSame =
    divergence.logs === networks.logs &&
    JSON.stringify(divergence.options.metric) === JSON.stringify(networks.options.metric)
  if (isSame) return
  throw new FlowdeltaError(
    'focusAttention got stages of different logs or metrics. Give findDivergence and learnDependencies the same logs and the same metric.',
  )
}

function graphOf(
  network: DependencyNetwork,
  divergence: Divergence,
  { balance, score }: AttentionOptions,
): Omit<AttentionGraph, 'sharesDenominator'> {
  const { kind, class: logClass, featureType, metric, mass, variablesLeftOut } = network
  const component = spanningComponent(network.edges, metric)
  const largest = divergence.largest(kind)
  const nodeOf = (name: string): AttentionNode => {
    const test =
      name === metric
        ? divergence.performance
        : divergence.variable(kind, name)?.features.find(({ feature }) => feature === featureType)
    const { t = Number.NaN, significant = false } = test ?? {}
    // Performance itself, which is in no family, may exceed the largest.
    const share = Number.isNaN(t) || t === 0 ? 0 : Math.min(1, Math.abs(t) / largest)
    const parent = component.parentEdge.get(name)
    const strength = parent === undefined ? 0 : parent.weight / mass
    const term = parent === undefined ? 0 : share ** (2 * balance) * strength ** (2 * (1 - balance))
    return { name, t, divergence: share, significant, term }
  }
  const nodes = component.names
    .map(nodeOf)
    .sort(
      (a, b) =>
        Number(b.name === metric) - Number(a.name === metric) ||
        b.term - a.term ||
        (a.name < b.name ? -1 : 1),
    )
  const sum = nodes.reduce((all, { term }) => all + term, 0)
  const others = Math.max(1, nodes.length - 1)
  return {
    ...{ kind, class: logClass, featureType, metric, nodes },
    ...(variablesLeftOut > 0 && { variablesLeftOut }),
    score: score === 'sum' ? sum : sum / others,
    edges: component.edges.map(
      (edge): AttentionEdge => ({
        ...edge,
        weight: edge.weight / mass,
        inTree: component.tree.has(edge),
      }),
    ),
  }
}

interface Component {
  readonly names: readonly string[]
  readonly edges: readonly DependencyEdge[]
  /** Those of `edges` in the maximum spanning tree. */
  readonly tree: ReadonlySet<DependencyEdge>
  /** Of each variable but the root, the edge of the tree that leads towards the root. */
  readonly parentEdge: ReadonlyMap<string, DependencyEdge>
}

/**
 * Everything that is connected with `root`, and its maximum spanning tree: of all trees that connect
 * it, the one with the largest sum of weights. Of edges equally strong the one with the larger R²
 * is taken, then the first by names.
 *
 * Source: Prim 1957, "Shortest connection networks and some generalizations", Bell System Technical
 * Journal 36(6):1389-1401.
 */
function spanningComponent(edges: readonly DependencyEdge[], root: string): Component {
  const ends = edges
    .toSorted(strongestFirst)
    .flatMap((edge) => [edge.from, edge.to].map((end) => ({ end, edge })))
  const edgesOf = rollup(
    ends,
    (own) => own.map(({ edge }) => edge),
    ({ end }) => end,
  )
  const parentEdge = new Map<string, DependencyEdge>()
  const reached = new Set([root])
  for (;;) {
    const candidates = [...reached].flatMap((name) => {
      const outward = edgesOf.get(name)?.find((edge) => !reached.has(otherEnd(edge, name)))
      return outward === undefined ? [] : [{ edge: outward, name: otherEnd(outward, name) }]
    })
    const [next] = candidates.sort((a, b) => strongestFirst(a.edge, b.edge))
    if (next === undefined) break
    reached.add(next.name)
    parentEdge.set(next.name, next.edge)
  }
  return {
    names: [...reached],
    edges: edges.filter(({ from }) => reached.has(from)),
    tree: new Set(parentEdge.values()),
    parentEdge,
  }
}

function otherEnd({ from, to }: DependencyEdge, end: string): string {
  return from === end ? to : from
}

function strongestFirst(a: DependencyEdge, b: DependencyEdge): number {
  const [one, other] = [a, b].map(({ from, to }) => [from, to].sort()) as [string[], string[]]
  return (
    b.weight - a.weight || b.r2 - a.r2 || ascending(one[0], other[0]) || ascending(one[1], other[1])
  )
}
