import {
  type FamilyTest,
  type ResponseTimeMutations,
  testFamily,
} from '../../compare/mutations/find-response-time-mutations.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import type {
  EdgeLatencies,
  EdgeVerdict,
  FlowEdge,
  FlowNode,
  FlowSide,
  NodeMatch,
  QuietReason,
  UnionEdge,
  UnionNode,
} from './flow-comparison.ts'
import { orNull } from './flow-side.ts'

/** Both flows as one graph. */
export interface UnionGraph {
  readonly nodes: readonly UnionNode[]
  readonly edges: readonly UnionEdge[]
}

/** The union of two sides, matched nodes being one; nodes in the order of the request's way. */
export function unionGraph(
  responseTime: ResponseTimeMutations,
  { before, after }: { before: FlowSide; after: FlowSide },
  { matches, largeShift }: { matches: readonly NodeMatch[]; largeShift: number },
): UnionGraph {
  const matchAfter = new Map(matches.map((match) => [match.after, match]))
  const drafts: NodeDraft[] = [
    ...before.nodes.map((_, node) => ({ before: node, after: null, certainty: null })),
    ...after.nodes.flatMap((_, node) =>
      matchAfter.has(node) ? [] : [{ before: null, after: node, certainty: null }],
    ),
  ]
  for (const { before: node, ...match } of matches) drafts[node] = { before: node, ...match }
  const draftOfAfter = after.nodes.map(() => 0)
  drafts.forEach((draft, at) => {
    if (draft.after !== null) draftOfAfter[draft.after] = at
  })
  const edges = mergeEdges(before.edges, after.edges, draftOfAfter)
  const order = topologicalOrder(drafts.length, edges)
  const idOf = new Uint32Array(drafts.length)
  order.forEach((draft, id) => {
    idOf[draft] = id
  })
  const shared = edges.filter((edge): edge is EdgeDraft & SharedEdge => isShared(edge))
  const verdicts = compareEdges(responseTime, { before, after }, { shared, largeShift })
  const verdictOf = new Map<EdgeDraft, EdgeVerdict>(
    shared.map((edge, i) => [edge, verdicts[i] as EdgeVerdict]),
  )
  return {
    nodes: order.map((draft, id) =>
      describeNode(drafts[draft] as NodeDraft, id, { before, after }),
    ),
    edges: edges
      .map((edge) => ({
        ...edge,
        from: idOf[edge.from] as number,
        to: idOf[edge.to] as number,
        edge,
      }))
      .sort((a, b) => a.from - b.from || a.to - b.to)
      .map(({ edge, from, to }, id) => {
        const one = edge.before === null ? undefined : before.edges[edge.before]
        const other = edge.after === null ? undefined : after.edges[edge.after]
        return {
          ...{ id, from, to },
          ...{ inBefore: one !== undefined, inAfter: other !== undefined },
          ...{ before: one?.latencies ?? null, after: other?.latencies ?? null },
          intoJoin: (one?.intoJoin ?? false) || (other?.intoJoin ?? false),
          ...(verdictOf.get(edge) ?? ONE_SIDED),
        }
      }),
  }
}

type NodeDraft = Pick<UnionNode, 'before' | 'after' | 'certainty'>

/** An edge between drafts of nodes. */
interface EdgeDraft {
  readonly from: number
  readonly to: number
  /** Its place in the edges of each side. */
  readonly before: number | null
  after: number | null
}

function isShared({ before, after }: EdgeDraft): boolean {
  return before !== null && after !== null
}

/** Edges of both sides; those between the same nodes are one, pair by pair where there are several. */
function mergeEdges(
  before: readonly FlowEdge[],
  after: readonly FlowEdge[],
  draftOfAfter: readonly number[],
): EdgeDraft[] {
  const edges: EdgeDraft[] = before.map(({ from, to }, at) => ({
    ...{ from, to },
    ...{ before: at, after: null },
  }))
  const free = new Map<string, EdgeDraft[]>()
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to}`
    free.set(key, [...(free.get(key) ?? []), edge])
  }
  after.forEach((edge, at) => {
    const from = draftOfAfter[edge.from] as number
    const to = draftOfAfter[edge.to] as number
    const like = free.get(`${from} ${to}`)?.shift()
    if (like === undefined) edges.push({ from, to, before: null, after: at })
    else like.after = at
  })
  return edges
}

/** Nodes by how many edges are on the longest way to them, then in the order given. */
function topologicalOrder(size: number, edges: readonly EdgeDraft[]): number[] {
  const depth = graphDepths(
    size,
    edges.map(({ from }) => from),
    edges.map(({ to }) => to),
  )
  return Array.from(depth.keys()).sort((a, b) => (depth[a] as number) - (depth[b] as number))
}

function describeNode(
  draft: NodeDraft,
  id: number,
  { before, after }: { before: FlowSide; after: FlowSide },
): UnionNode {
  const node =
    draft.before === null ? after.nodes[draft.after as number] : before.nodes[draft.before]
  const { label, name, service, operation, host, phase } = node as FlowNode
  return {
    ...{ id, label, name, service, operation, host, phase },
    ...{ inBefore: draft.before !== null, inAfter: draft.after !== null },
    ...{ before: draft.before, after: draft.after, certainty: draft.certainty },
  }
}

/** As in `responseTime.edges`: tested are edges this often on the critical path of either side. */
const OFTEN_CRITICAL = 0.5

/** An edge that is on both sides, by places in the sides' edges. */
interface SharedEdge {
  readonly before: number
  readonly after: number
}

/** What became of an edge of one side only. */
const ONE_SIDED: EdgeVerdict = {
  ...{ verdict: 'untested', p: null, q: null, direction: null },
  ...{ shiftUs: null, medianShiftUs: null, large: false, reason: null },
}

/**
 * Compares the latencies of the edges that two sides share. A category before and after is
 * compared by `responseTime.edges`; anything else by the same test, with the same rules for what
 * is tested, the tested edges being one family at the level of the options.
 */
function compareEdges(
  responseTime: ResponseTimeMutations,
  { before, after }: { before: FlowSide; after: FlowSide },
  { shared, largeShift }: { shared: readonly SharedEdge[]; largeShift: number },
): EdgeVerdict[] {
  const testOf = edgeTests(responseTime, { before, after }, shared)
  const usualUs = before.meanUs ?? after.meanUs ?? 0
  return shared.map((edge) => {
    const one = before.edges[edge.before]?.latencies as EdgeLatencies
    const other = after.edges[edge.after]?.latencies as EdgeLatencies
    return verdict(testOf(edge), { before: one, after: other, leastUs: largeShift * usualUs })
  })
}

function edgeTests(
  responseTime: ResponseTimeMutations,
  { before, after }: { before: FlowSide; after: FlowSide },
  shared: readonly SharedEdge[],
): (edge: SharedEdge) => FamilyTest | null {
  const { category } = before
  const usual = before.period === 'before' && after.period === 'after'
  const { categories } = responseTime
  // Edges of folded flows are drawn with all their rounds, and compared likewise.
  const isFolded = categories.structure(category).loopNumbers.size > 0
  if (usual && category === after.category && !isFolded) {
    const edges = responseTime.edges(category)
    return (edge) => edges[before.edges[edge.before]?.edgeClass as number]?.test ?? null
  }
  const samplesOf = ({ category, period }: FlowSide, edgeClass: number) =>
    categories.wholeEdgeSamples(category)[edgeClass]?.[period]?.latencyUs as Float64Array
  const keyOf = (edge: SharedEdge) =>
    `${before.edges[edge.before]?.edgeClass} ${after.edges[edge.after]?.edgeClass}`
  const pairs = new Map<string, { before: Float64Array; after: Float64Array }>()
  for (const edge of shared) {
    const [one, other] = [before.edges[edge.before], after.edges[edge.after]]
    if (one === undefined || other === undefined) continue
    const share = Math.max(one.latencies.criticalShare, other.latencies.criticalShare)
    if (share < OFTEN_CRITICAL) continue
    pairs.set(keyOf(edge), {
      before: samplesOf(before, one.edgeClass),
      after: samplesOf(after, other.edgeClass),
    })
  }
  const tests = testFamily([...pairs.values()], responseTime.options)
  const numbers = new Map([...pairs.keys()].map((key, number) => [key, number]))
  return (edge) => tests[numbers.get(keyOf(edge)) ?? -1] ?? null
}

function verdict(
  test: FamilyTest | null,
  { before, after, leastUs }: { before: EdgeLatencies; after: EdgeLatencies; leastUs: number },
): EdgeVerdict {
  const shiftUs = difference(before.meanUs, after.meanUs) ?? difference(before.waitUs, after.waitUs)
  const large = shiftUs !== null && shiftUs !== 0 && Math.abs(shiftUs) >= leastUs
  const changed = test?.rejected ?? false
  return {
    verdict: changed ? 'changed' : test?.testable ? 'unchanged' : 'untested',
    p: orNull(test?.p ?? Number.NaN),
    q: orNull(test?.q ?? Number.NaN),
    direction: test?.direction ?? null,
    shiftUs,
    medianShiftUs: difference(before.medianUs, after.medianUs),
    large,
    reason: large && !changed ? quietReason(test) : null,
  }
}

function quietReason(test: FamilyTest | null): QuietReason {
  if (test === null) return 'off the critical path'
  return test.testable ? 'variance' : 'too few requests'
}

function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before
}
