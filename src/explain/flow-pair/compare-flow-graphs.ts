import { group } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import { ClassTimes, type EdgeSample, pairOf } from '../../compare/categories/class-times.ts'
import {
  type FamilyTest,
  isSure,
  largeShiftUs,
  ResponseTimeMutations,
  testFamily,
} from '../../compare/mutations/find-response-time-mutations.ts'
import { type OrderChange, orderDifference } from '../../compare/precursors/match-precursors.ts'
import type { RankedMutation } from '../../compare/ranking/rank-mutations.ts'
import { NEGLIGIBLE } from '../../compare/thresholds.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { addAt, getOrInsert } from '../../core/entries.ts'
import {
  OptionError,
  rejectUnknownOptions,
  requireFields,
  requireStage,
} from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { counted, percent } from '../../core/words.ts'
import type { Period } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import { placesIn } from '../../traces/group-rows.ts'
import { nameOfPeriod } from '../../traces/period.ts'
import {
  type EdgeLatencies,
  type EdgeVerdict,
  type FlowComparison,
  type FlowDifferences,
  type FlowEdge,
  type FlowGroup,
  type FlowNode,
  type FlowSide,
  type NodeMatch,
  rankDifferences,
  type UnionNode,
} from './flow-comparison.ts'
import { chooseFlows, type FlowForm, type FlowPair, flowForm, resolvePair } from './flow-form.ts'
import {
  acyclicPartition,
  type CoalescedNode,
  coalesceFlow,
  forwardOrder,
  groupsOf,
} from './flow-groups.ts'
import { matchNodes } from './match-nodes.ts'

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
  const { names, largeShift = NEGLIGIBLE } = options
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
  { before, after }: Sides,
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
  const places = nodes.map(({ service, host }) =>
    host === '' || host.startsWith(service) ? host || service : `${service}@${host}`,
  )
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

type UnionGraph = Pick<FlowComparison, 'nodes' | 'edges'>

type Sides = Pick<FlowComparison, 'before' | 'after'>

type NodeDraft = Pick<UnionNode, 'before' | 'after' | 'certainty'>

interface EdgeDraft {
  readonly from: number
  readonly to: number
  before: FlowEdge | null
  after: FlowEdge | null
}

interface SharedEdge extends EdgeDraft {
  before: FlowEdge
  after: FlowEdge
}

/** Returns the union of two sides, matched nodes being one; nodes in the order of the request's way. */
function unionGraph(
  responseTime: ResponseTimeMutations,
  sides: Sides,
  { matches, largeShift }: { matches: readonly NodeMatch[]; largeShift: number },
): UnionGraph {
  const { before, after } = sides
  const matched = new Set(matches.map((match) => match.after))
  const drafts: NodeDraft[] = [
    ...before.nodes.map((_, node) => ({ before: node, after: null, certainty: null })),
    ...Array.from(after.nodes.keys())
      .filter((node) => !matched.has(node))
      .map((node) => ({ before: null, after: node, certainty: null })),
  ]
  for (const match of matches) drafts[match.before] = match
  const edges = mergeEdges(sides, drafts)
  const order = forwardOrder(
    drafts.length,
    edges.map(({ from }) => from),
    edges.map(({ to }) => to),
  )
  const idOf = new Map(order.map((draft, id) => [draft, id]))
  const testOf = edgeTests(responseTime, sides, edges.filter(isShared))
  const { alpha } = responseTime.options
  const wholeUs = before.meanUs ?? after.meanUs ?? 0
  const largeUs = largeShiftUs(wholeUs, edges.length, largeShift)
  return {
    nodes: order.map((draft, id) => unionNode(id, drafts[draft] as NodeDraft, sides)),
    edges: edges
      .map((edge) => ({
        edge,
        from: idOf.get(edge.from) as number,
        to: idOf.get(edge.to) as number,
      }))
      .sort((a, b) => a.from - b.from || a.to - b.to)
      .map(({ edge, from, to }, id) => ({
        id,
        from,
        to,
        inBefore: edge.before !== null,
        inAfter: edge.after !== null,
        before: edge.before?.latencies ?? null,
        after: edge.after?.latencies ?? null,
        intoJoin: Boolean(edge.before?.intoJoin || edge.after?.intoJoin),
        ...edgeVerdict(edge, isShared(edge) ? testOf(edge) : null, { largeUs, alpha }),
      })),
  }
}

function isShared(edge: EdgeDraft): edge is SharedEdge {
  return edge.before !== null && edge.after !== null
}

/** Edges of both sides; those between the same nodes are one, pair by pair where there are several. */
function mergeEdges({ before, after }: Sides, drafts: readonly NodeDraft[]): EdgeDraft[] {
  const draftOfAfter = new Map(drafts.map((draft, at) => [draft.after, at]))
  const edges: EdgeDraft[] = []
  const free = new Map<string, EdgeDraft[]>()
  for (const edge of before.edges) {
    const { from, to } = edge
    const draft = { from, to, before: edge, after: null }
    edges.push(draft)
    getOrInsert(free, `${from} ${to}`, () => []).push(draft)
  }
  for (const edge of after.edges) {
    const from = draftOfAfter.get(edge.from) as number
    const to = draftOfAfter.get(edge.to) as number
    const like = free.get(`${from} ${to}`)?.shift()
    if (like === undefined) edges.push({ from, to, before: null, after: edge })
    else like.after = edge
  }
  return edges
}

function unionNode(id: number, { before, after, certainty }: NodeDraft, sides: Sides): UnionNode {
  const [old, now] = [sides.before.nodes[before ?? -1], sides.after.nodes[after ?? -1]]
  return {
    ...((old ?? now) as FlowNode),
    id,
    failed: { before: old?.failed ?? 0, after: now?.failed ?? 0 },
    inBefore: before !== null,
    inAfter: after !== null,
    before,
    after,
    certainty,
  }
}

/**
 * Compares latencies of shared edges: by `responseTime.edges` for one category, else by the same
 * test and rules, the tested edges being one family.
 */
function edgeTests(
  responseTime: ResponseTimeMutations,
  { before, after }: Sides,
  shared: readonly SharedEdge[],
): (edge: SharedEdge) => FamilyTest | null {
  const { category } = before
  const usual = before.period === 'before' && after.period === 'after'
  const { categories } = responseTime
  // Edges of folded flows are drawn with all their rounds, and compared likewise.
  const isFolded = categories.structure(category).loops > 0
  if (usual && category === after.category && !isFolded) {
    const edges = responseTime.edges(category)
    return (edge) => edges[edge.before.latencies.edgeClass]?.test ?? null
  }
  const timesOf = ({ category, period }: FlowSide, { latencies: { edgeClass } }: FlowEdge) =>
    categories.wholeEdgeSamples(category)[edgeClass]?.[period] as EdgeSample
  const keyOf = (edge: SharedEdge) =>
    `${edge.before.latencies.edgeClass} ${edge.after.latencies.edgeClass}`
  const tested = new Map(shared.map((edge) => [keyOf(edge), edge]))
  const tests = testFamily(
    Array.from(tested.values(), (edge) =>
      pairOf({ before: timesOf(before, edge.before), after: timesOf(after, edge.after) }),
    ),
    responseTime.options,
  )
  const testOf = new Map(Array.from(tested.keys(), (key, i) => [key, tests[i]]))
  return (edge) => testOf.get(keyOf(edge)) ?? null
}

function edgeVerdict(
  edge: EdgeDraft,
  test: FamilyTest | null,
  { largeUs, alpha }: { readonly largeUs: number; readonly alpha: number },
): EdgeVerdict {
  const [before, after] = [edge.before?.latencies, edge.after?.latencies]
  const shiftOf = (measure: 'meanUs' | 'medianUs' | 'waitUs') =>
    orNull((after?.[measure] ?? Number.NaN) - (before?.[measure] ?? Number.NaN))
  const shiftUs = shiftOf('meanUs') ?? shiftOf('waitUs')
  const large = shiftUs !== null && shiftUs !== 0 && Math.abs(shiftUs) >= largeUs
  const significant = isSure(test, alpha)
  const changed = large && significant
  const isWaitedFor = (before?.meanUs ?? after?.meanUs ?? null) !== null
  const quiet = test?.testable ? 'variance' : isWaitedFor ? 'too few requests' : 'never waited for'
  return {
    verdict: changed ? 'changed' : test?.testable ? 'unchanged' : 'untested',
    p: orNull(test?.p ?? Number.NaN),
    q: orNull(test?.q ?? Number.NaN),
    direction: test?.direction ?? null,
    shiftUs,
    medianShiftUs: shiftOf('medianUs'),
    significant,
    large,
    reason: large && !changed ? quiet : null,
  }
}

/** The join an edge leads to mostly waits for others when it waits for it less often than this. */
const OFTEN_CRITICAL = 0.5

function flowSide(
  categories: Categories,
  { form, period, nameOf }: { form: FlowForm; period: Period; nameOf: (label: string) => string },
): FlowSide {
  const { category } = form
  const { edgeClasses, classTo, loops } = categories.structure(category)
  const backTo = new Set(classTo.subarray(classTo.length - loops))
  const latencies = classLatencies(categories, { form, period })
  const failed = failedSteps(categories, category, period)
  return {
    category,
    period: nameOfPeriod(period),
    requests: categories.count(category, period),
    meanUs: orNull(categories.responseTimeMoments(category, period).mean),
    nodes: form.labels.map((label, at) => {
      const structureNode = form.structureNodes[at] as number
      // Edges into such a node have the time to get there in all rounds, not only in the first.
      const name = `${nameOf(label)}${backTo.has(structureNode) ? ', every round' : ''}`
      const { service, operation, host, phase } = categories.shownNode(category, structureNode)
      const failures = failed[structureNode] ?? 0
      return { label, name, service, operation, host, phase, failed: failures }
    }),
    edges: form.edges.map(({ from, to, edgeClass }) => ({
      from,
      to,
      intoJoin: (edgeClasses[edgeClass] as EdgeClass).intoJoin,
      latencies: latencies[edgeClass] as EdgeLatencies,
    })),
  }
}

/** Requests in which the call that each node replies to failed; unknown of folded flows. */
function failedSteps(categories: Categories, category: number, period: Period): Uint32Array {
  const { flows } = categories
  const { outcomes, shapeOf } = flows
  const failed = new Uint32Array(categories.nodeCount(category))
  if (outcomes === undefined || flows instanceof FoldedFlows) return failed
  const { preorder } = categories.structure(category)
  for (const request of categories.members(category, period)) {
    const failing = outcomes.failing(request)
    if (failing.length === 0) continue
    const places = placesIn(categories.preorderOf(shapeOf[request] as number))
    for (const span of failing) {
      const node = preorder[places[2 * span + 1] as number] as number
      failed[node] = (failed[node] as number) + 1
    }
  }
  return failed
}

function classLatencies(
  categories: Categories,
  { form, period }: { form: FlowForm; period: Period },
): EdgeLatencies[] {
  const { category } = form
  const { edgeClasses } = categories.structure(category)
  const samples = categories.wholeEdgeSamples(category)
  const { criticalUs, waitUs } = pathTimes(categories, category, period)
  const requests = categories.count(category, period)
  const edges = new Uint32Array(edgeClasses.length)
  for (const { edgeClass } of form.edges) edges[edgeClass] = (edges[edgeClass] as number) + 1
  return samples.map((sample, number): EdgeLatencies => {
    const { latencyUs, weights, onCriticalPath } = sample[nameOfPeriod(period)]
    const { mean, sd } = moments(latencyUs, weights)
    const ascending = ascendingSample(latencyUs, weights)
    const { intoJoin } = edgeClasses[number] as EdgeClass
    return {
      edgeClass: number,
      requests: latencyUs.length,
      meanUs: orNull(mean),
      medianUs: orNull(quantile(ascending.values, 0.5, ascending.weights)),
      sdUs: orNull(sd),
      criticalShare: onCriticalPath,
      criticalUs: (criticalUs[number] as number) / (edges[number] as number),
      waitUs: orNull(waitUs[number] as number),
      mostlyWaiting: intoJoin && requests > 0 && onCriticalPath < OFTEN_CRITICAL,
    }
  })
}

/** Returns `null` for NaN, which JSON does not have. */
function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/** Returns each edge class's part of the response time, and the waits of joins for it. */
function pathTimes(categories: Categories, category: number, period: Period) {
  const times = new ClassTimes(categories, category, { whole: true })
  const { length } = times.waitingUs
  const criticalUs = new Float64Array(length)
  const waitUs = new Float64Array(length)
  const waits = new Float64Array(length)
  for (const request of categories.members(category, period)) {
    times.read(request)
    const weight = categories.flows.countOf(request)
    for (let number = 0; number < length; number++) {
      addAt(criticalUs, number, weight * (times.criticalUs[number] as number))
      addAt(waitUs, number, weight * (times.waitingUs[number] as number))
      addAt(waits, number, weight * (times.waitingCount[number] as number))
    }
  }
  return {
    criticalUs: criticalUs.map((sum) => sum / (categories.counted(category, period) || 1)),
    waitUs: waitUs.map((sum, number) => sum / (waits[number] as number)),
  }
}

/** Returns the differences between the flows of a mutation; `null` for no mutation, and if amounts are not times. */
export function flowDifferences(
  comparison: Comparison,
  mutation: RankedMutation | undefined,
): FlowDifferences | null {
  if (mutation === undefined || comparison.flows.quantity !== TIME) return null
  return compareFlowGraphs(comparison.responseTime, chooseFlows(comparison, mutation)).ranked
}
