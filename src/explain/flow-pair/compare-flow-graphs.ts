import { group } from 'd3-array'
import type { Comparison } from '../../compare/comparison.ts'
import {
  LARGE_SHIFT,
  ResponseTimeMutations,
} from '../../compare/mutations/find-response-time-mutations.ts'
import { type OrderChange, orderDifference } from '../../compare/precursors/match-precursors.ts'
import type { RankedMutation } from '../../compare/ranking/rank-mutations.ts'
import {
  OptionError,
  rejectUnknownOptions,
  requireFields,
  requireStage,
} from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { counted, percent } from '../../core/words.ts'
import {
  type FlowComparison,
  type FlowDifferences,
  type FlowGroup,
  type FlowSide,
  rankDifferences,
  type UnionNode,
} from './flow-comparison.ts'
import { chooseFlows, type FlowPair, flowForm, resolvePair } from './flow-form.ts'
import { acyclicPartition, type CoalescedNode, coalesceFlow, groupsOf } from './flow-groups.ts'
import { matchNodes } from './match-nodes.ts'
import { flowSide, type UnionGraph, unionGraph } from './union-graph.ts'

export interface FlowComparisonOptions {
  /** Readable names for node labels; default the labels. */
  readonly names?: ReadableNames
  /**
   * Smallest share of the mean response time from which a change of an edge's mean counts: as a change if it is
   * significant, else with the reason why it may be chance. Default 0.01. If more edges exist than shares of that size,
   * the limit is an edge's even part.
   */
  readonly largeShift?: number
}

/**
 * Compares two request flows step by step: finds the nodes that are the same, the nodes on one side only, the changed
 * latencies, and the identical regions, which need not be shown.
 *
 * The result is plain data for JSON, the model of all three views: side by side, diff, animation. Latencies of shared
 * edges are compared by the test of `responseTime`, at its level, and called changed where p, corrected over the edges
 * (Benjamini-Hochberg), is below it and the shift is large; an edge is tested when it is on the critical path of at
 * least half of the requests of either side. See `FlowComparison` for the meaning of each part, and `matchNodes` for
 * the matching of nodes. `ranked` is a stage with a table of the differences, by share of the change of the mean
 * response time.
 *
 * @param pair `{ category }` for a category before and after; `{ mutation, precursors }` for a structural mutation and
 *   its likeliest precursor; a stream of `comparison.moves`, whose differences and rest add up to the extra time of
 *   each of its requests; `{ before: { category, period }, after }` for any two
 * @param options.names a function or a record from labels to readable names; default the labels
 * @param options.largeShift share of the mean response time before; default 0.01
 * @throws FlowdeltaError for a mutation without precursor, RangeError for an unknown category,
 *   OptionError for a `largeShift` that is no share
 *
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3; Sambasivan 2013, ch. 4.
 *
 * @example
 * const { responseTime, precursors } = comparison
 * const flows = compareFlowGraphs(responseTime, { mutation, precursors })
 * flows.nodes.filter(({ inBefore }) => !inBefore).map(({ name }) => name)
 * flows.confidenceText
 * flows.ranked.text()
 */
export function compareFlowGraphs(
  responseTime: ResponseTimeMutations,
  pair: FlowPair,
  options: FlowComparisonOptions = {},
): FlowComparison {
  requireStage('compareFlowGraphs(responseTime, pair)', responseTime, ResponseTimeMutations)
  rejectUnknownOptions(options, ['names', 'largeShift'])
  const { names, largeShift = LARGE_SHIFT } = options
  if (!(largeShift >= 0 && largeShift <= 1)) {
    throw new OptionError('largeShift', largeShift, 'a share from 0 to 1')
  }
  const { categories } = responseTime
  requireFields('compareFlowGraphs(responseTime, pair)', pair)
  const chosen = resolvePair(pair)
  const forms = {
    before: flowForm(categories, chosen.before.category),
    after: flowForm(categories, chosen.after.category),
  }
  const { matches, distance, dropped } = matchNodes(forms.before, forms.after)
  const nameOf = nameOfLabel(names)
  const side = (which: 'before' | 'after') =>
    flowSide(categories, { form: forms[which], period: chosen[which].period, nameOf })
  const sides = { before: side('before'), after: side('after') }
  const union = unionGraph(responseTime, sides, { matches, largeShift })
  const changes = orderChanges(sides, matches, union)
  const regions = identicalRegions(union, changes)
  const longest = Math.max(forms.before.tokens.length, forms.after.tokens.length)
  const compared = {
    quantity: categories.flows.quantity,
    ...sides,
    matches,
    distance,
    confidence: 1 - distance / longest,
    droppedMatches: dropped,
    ...union,
    orderChanges: changes,
    regions,
    differences: oneSidedGroups(union, regions),
    components: componentTraversals(union),
  }
  const told = { ...compared, confidenceText: confidenceText(compared) }
  return { ...told, ranked: rankDifferences(told) }
}

/** Steps that lie otherwise to each other; those that moved past others are drawn twice. */
function orderChanges(
  { before, after }: Pick<FlowComparison, 'before' | 'after'>,
  matches: FlowComparison['matches'],
  { nodes }: Pick<FlowComparison, 'nodes'>,
): OrderChange[] {
  const graph = ({ nodes: { length: size }, edges }: FlowSide) => ({
    size,
    from: edges.map(({ from }) => from),
    to: edges.map(({ to }) => to),
  })
  const matched = new Set(matches.map((match) => match.before))
  const places = (side: FlowSide) => group(side.nodes.keys(), (node) => side.nodes[node]?.label)
  const [were, are] = [places(before), places(after)]
  const moved = [...were].flatMap(([label, [node, ...others]]): [number, number][] => {
    const [now, ...more] = are.get(label) ?? []
    const isOnly = others.length === 0 && more.length === 0
    return isOnly && node !== undefined && now !== undefined && !matched.has(node)
      ? [[node, now]]
      : []
  })
  const idOf = new Map(nodes.map(({ id, after: node }) => [node, id]))
  return orderDifference(graph(before), graph(after), [
    ...matches.map((match) => [match.before, match.after] as const),
    ...moved,
  ]).map(({ kind, first, second }) => ({
    kind,
    first: idOf.get(first) as number,
    second: idOf.get(second) as number,
  }))
}

function confidenceText({
  before: { nodes: before },
  after: { nodes: after },
  matches,
  confidence,
  droppedMatches: dropped,
}: Omit<FlowComparison, 'confidenceText' | 'ranked'>): string {
  if (matches.length === 0) return 'No step is in both flows.'
  const doubtful = matches.filter(({ certainty }) => certainty === 'doubtful').length
  const isAll = matches.length === before.length && matches.length === after.length
  const all = before.length === 1 ? 'The one step is' : `All ${before.length} steps are`
  const whole =
    isAll && confidence === 1
      ? `${all} in both flows.`
      : `${counted(matches.length, 'step')} ${matches.length === 1 ? 'is' : 'are'} in both flows, ` +
        `of ${before.length} before and ${after.length} after (structures ${percent(confidence)} similar).`
  const doubt =
    doubtful === 0
      ? ''
      : ` ${counted(doubtful, 'step')} may be matched wrongly: the name recurs, ` +
        'in different surroundings.'
  const apart =
    dropped === 0
      ? ''
      : ` ${counted(dropped, 'step')} of the same name ${dropped === 1 ? 'is' : 'are'} shown ` +
        'twice, because they moved past others.'
  return whole + doubt + apart
}

/** Readable names for node labels: a function, or labels and their names. */
export type ReadableNames = ((label: string) => string) | Readonly<Record<string, string>>

function nameOfLabel(names: ReadableNames | undefined): (label: string) => string {
  if (names === undefined) return (label) => label
  if (typeof names === 'function') return names
  return (label) => (Object.hasOwn(names, label) ? (names[label] as string) : label)
}

const SMALLEST = 2

/**
 * Returns connected parts that are the same on both sides, as large as possible without closing a cycle as one node.
 */
function identicalRegions(
  { nodes, edges }: UnionGraph,
  orderChanges: readonly OrderChange[],
): FlowGroup[] {
  const moved = new Set(orderChanges.flatMap(({ first, second }) => [first, second]))
  const binding = edges.map(
    ({ inBefore, inAfter, verdict, from, to }) =>
      inBefore && inAfter && verdict !== 'changed' && !moved.has(from) && !moved.has(to),
  )
  return groupsOf({ nodes, edges }, acyclicPartition(nodes.length, edges, binding))
    .filter((group) => group.nodes.length >= SMALLEST)
    .map((group, id) => {
      const steps = `${counted(group.nodes.length, 'step')} in both`
      const { quietEdges: quiet } = group
      const name =
        quiet === 0 ? steps : `${steps}, change of ${counted(quiet, 'edge')} may be chance`
      return { ...group, id, kind: 'identical', name }
    })
}

/** Returns connected parts on one side only; with the identical regions they close no cycle. */
function oneSidedGroups(union: UnionGraph, regions: readonly FlowGroup[]): FlowGroup[] {
  const drawn = coalesceFlow(union, { groups: regions })
  const side = (node: CoalescedNode | undefined) =>
    node === undefined || node.inBefore === node.inAfter ? null : node.inAfter ? 'added' : 'removed'
  const edges = [...drawn.edges].sort((a, b) => a.from - b.from)
  const binding = edges.map(({ from, to }) => {
    const kind = side(drawn.nodes[from])
    return kind !== null && kind === side(drawn.nodes[to])
  })
  const partOf = acyclicPartition(drawn.nodes.length, edges, binding)
  const partOfNode = drawn.nodeOf.map((node) => partOf[node] as number)
  return groupsOf(union, partOfNode)
    .filter(({ inBefore, inAfter }) => inBefore !== inAfter)
    .map((group, i) => {
      const kind = group.inAfter ? 'added' : 'removed'
      const name = counted(group.nodes.length, `${kind} step`)
      return { ...group, id: regions.length + i, kind, name }
    })
}

/** Returns connected nodes of one service and host, on either side; none if neither is known. */
function componentTraversals({ nodes, edges }: UnionGraph): FlowGroup[] {
  const places = nodes.map(placeName)
  const binding = edges.map(({ from, to }) => {
    const [one, other] = [nodes[from] as UnionNode, nodes[to] as UnionNode]
    const isSame = one.service === other.service && one.host === other.host
    return isSame && places[from] !== ''
  })
  return groupsOf({ nodes, edges }, acyclicPartition(nodes.length, edges, binding))
    .filter(({ nodes: [first] }) => places[first as number] !== '')
    .map((group, id) => {
      const { service, host } = nodes[group.nodes[0] as number] as UnionNode
      const name = `${places[group.nodes[0] as number]}: ${counted(group.nodes.length, 'step')}`
      return { ...group, id, kind: 'component', name, service, host }
    })
}

function placeName({ service, host }: UnionNode): string {
  if (host === '') return service
  return host.startsWith(service) ? host : `${service}@${host}`
}

/** Returns the differences between the flows of a mutation; `null` for no mutation, and if amounts are not times. */
export function flowDifferences(
  comparison: Comparison,
  mutation: RankedMutation | undefined,
): FlowDifferences | null {
  if (mutation === undefined || comparison.flows.quantity !== TIME) return null
  return compareFlowGraphs(comparison.responseTime, chooseFlows(comparison, mutation)).ranked
}
