import type { LogComparison } from '../../../logs/compare-logs.ts'
import {
  type DependencyEdge,
  type DependencyNetwork,
  type DependencyNetworks,
  leastMass,
} from '../../../logs/dependencies/dependency-networks.ts'
import type { VariableDivergence } from '../../../logs/divergence/divergence.ts'
import type { Feature, VariableKind } from '../../../logs/features/features.ts'
import { LOG_CLASSES, type LogClass } from '../../../logs/features/log-set.ts'

/** A dependency: both ends as numbers of variables, −1 for performance; weight, R², directed. */
export type SentEdge = readonly [from: number, to: number, weight: number, r2: number, 0 | 1]

/** A network as far as performance is connected with it. */
export interface SentNetwork {
  readonly kind: VariableKind
  readonly class: LogClass
  readonly featureType: Feature
  readonly instances: number
  readonly mass: number
  readonly variablesLeftOut: number
  readonly edges: readonly SentEdge[]
}

/** The networks that there is room for. */
export interface NetworksToSend {
  /** The smallest `minSplit` at which they are whole. */
  readonly least: number
  /** How many there is no room for. */
  readonly dropped: number
  readonly namesOf: (kind: VariableKind) => ReadonlySet<string>
  /** With variables as numbers. */
  readonly coded: (variables: readonly VariableDivergence[]) => readonly SentNetwork[]
}

/** About 30 bytes each, before compression. */
const MOST_EDGES = 16_000
const R2_DIGITS = 12

/**
 * What pages need of the networks of both classes for every `minSplit` from `least` on: dependencies
 * that are not connected with performance then are not with a larger one either. Where that is too
 * much, `least` is raised, as far as the comparison's own; then the largest networks are dropped.
 */
export function sentNetworks(compared: LogComparison, wished: number): NetworksToSend {
  const { minSplit } = compared.options
  const grown = compared.with({ minSplit: Math.min(wished, minSplit) }).networks
  const least = leastWithRoom(grown, minSplit)
  const all = connectedNetworks(grown.pruned(least))
  const kept = withRoom(all)
  return {
    ...{ least, dropped: all.length - kept.length },
    namesOf: (kind) =>
      new Set(
        kept
          .filter((network) => network.kind === kind)
          .flatMap(({ edges, metric }) => edges.flatMap(({ from, to }) => [from, to, metric])),
      ),
    coded: (variables) => kept.map((network) => coded(network, variables)),
  }
}

function leastWithRoom(grown: DependencyNetworks, most: number): number {
  const shares = connectedNetworks(grown)
    .flatMap(({ edges, mass }) => edges.map(({ weight }) => weight / mass))
    .sort((a, b) => b - a)
  const beyond = shares[MOST_EDGES]
  if (beyond === undefined) return grown.options.minSplit
  const larger = shares.findLast((share) => share > beyond) ?? 1
  return Math.min(most, larger)
}

function connectedNetworks(networks: DependencyNetworks): DependencyNetwork[] {
  return LOG_CLASSES.flatMap((each) => networks.of(each)).map((network) => ({
    ...network,
    edges: connected(network, leastMass(networks.options.minSplit, network.mass)),
  }))
}

/** The dependencies of which performance is reached. */
function connected({ edges, metric }: DependencyNetwork, least: number): DependencyEdge[] {
  const strong = edges.filter(({ weight }) => weight >= least)
  const linksOf = new Map<string, string[]>()
  for (const { from, to } of strong) {
    for (const [end, other] of [
      [from, to],
      [to, from],
    ] as const) {
      const links = linksOf.get(end)
      if (links === undefined) linksOf.set(end, [other])
      else links.push(other)
    }
  }
  const reached = new Set([metric])
  // A set goes on with what is added to it on the way.
  for (const name of reached) for (const other of linksOf.get(name) ?? []) reached.add(other)
  return strong.filter(({ from }) => reached.has(from))
}

/** The smallest ones that fit together; always one of each kind and class. */
function withRoom(networks: readonly DependencyNetwork[]): DependencyNetwork[] {
  const kept = new Set<DependencyNetwork>()
  const kinds = new Set<string>()
  let edges = 0
  for (const network of networks.toSorted((a, b) => a.edges.length - b.edges.length)) {
    const kind = `${network.kind} ${network.class}`
    const fits = edges + network.edges.length <= MOST_EDGES
    if (!fits && kinds.has(kind)) continue
    kinds.add(kind)
    kept.add(network)
    edges += network.edges.length
  }
  return networks.filter((network) => kept.has(network))
}

function coded(network: DependencyNetwork, variables: readonly VariableDivergence[]): SentNetwork {
  const { kind, class: logClass, featureType, instances, mass, metric, edges } = network
  const { variablesLeftOut } = network
  const numbers = new Map(
    variables.map((each, number) => [each.kind === kind ? each.name : undefined, number]),
  )
  const numberOf = (name: string) => (name === metric ? -1 : (numbers.get(name) as number))
  return {
    ...{ kind, class: logClass, featureType, instances, mass, variablesLeftOut },
    edges: edges.map(({ from, to, weight, r2, directed }) => [
      ...([numberOf(from), numberOf(to), weight] as const),
      ...([Number(r2.toPrecision(R2_DIGITS)), directed ? 1 : 0] as const),
    ]),
  }
}
