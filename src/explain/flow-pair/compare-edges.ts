import type {
  FamilyTest,
  ResponseTimeMutations,
} from '../../compare/mutations/response-time-mutations.ts'
import { testFamily } from '../../compare/mutations/test-family.ts'
import type { EdgeLatencies, EdgeVerdict, FlowSide, QuietReason } from './flow-comparison.ts'
import { orNull } from './flow-side.ts'

/** As in `responseTime.edges`: tested are edges this often on the critical path of either side. */
const OFTEN_CRITICAL = 0.5

/** An edge that is on both sides, by places in the sides' edges. */
export interface SharedEdge {
  readonly before: number
  readonly after: number
}

/** What became of an edge of one side only. */
export const ONE_SIDED: EdgeVerdict = {
  ...{ verdict: 'untested', p: null, q: null, direction: null },
  ...{ shiftUs: null, medianShiftUs: null, large: false, reason: null },
}

/**
 * Compares the latencies of the edges that two sides share. A category before and after is
 * compared by `responseTime.edges`; anything else by the same test, with the same rules for what
 * is tested, the tested edges being one family at the level of the options.
 */
export function compareEdges(
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
