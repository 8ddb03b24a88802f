import type { Categories } from '../../compare/categories/categories.ts'
import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import { ClassTimes, type EdgeSample, pairOf } from '../../compare/categories/class-times.ts'
import {
  type FamilyTest,
  isSure,
  largeShiftUs,
  type ResponseTimeMutations,
  testFamily,
} from '../../compare/mutations/find-response-time-mutations.ts'
import { addAt, getOrInsert } from '../../core/entries.ts'
import type { Period } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import { placesIn } from '../../traces/group-rows.ts'
import { nameOfPeriod } from '../../traces/period.ts'
import type {
  EdgeLatencies,
  EdgeVerdict,
  FlowEdge,
  FlowNode,
  FlowSide,
  NodeMatch,
  UnionEdge,
  UnionNode,
} from './flow-comparison.ts'
import type { FlowForm } from './flow-form.ts'
import { forwardOrder } from './flow-groups.ts'

export interface UnionGraph {
  readonly nodes: readonly UnionNode[]
  readonly edges: readonly UnionEdge[]
}

interface Sides {
  readonly before: FlowSide
  readonly after: FlowSide
}

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
export function unionGraph(
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

export function flowSide(
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
export function orNull(value: number): number | null {
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
