import { max, range } from 'd3-array'
import { Comparison } from '../../compare/comparison.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import {
  type EdgeComparison,
  type FamilyTest,
  testFamily,
} from '../../compare/mutations/find-response-time-mutations.ts'
import type { RankedMutation } from '../../compare/ranking/rank-mutations.ts'
import { requireStage } from '../../core/errors.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { type RequestEdges, requestEdges, snapTogether } from './category-variance.ts'
import { MarkedEdges } from './marked-edges.ts'
import { isAccepted, requireVarianceMarks, type VarianceMark } from './variance-marks.ts'

/**
 * Lets a comparison account for edges that are known to vary, in two ways.
 *
 * Response-time mutations and findings whose changed edges are all marked intentional or intrinsic
 * are set apart; inadvertent sources are to be put right, and stay. And every category that has such
 * edges on its critical path is compared again without the time spent on them, by the comparison's
 * own test, level and correction, over these categories: a change beside a source of variance, which
 * its variance hides, comes out as `uncovered`. Differences within the rounding of recorded times
 * (1 ns, or 1e-9 of the longest time) are none.
 *
 * Nothing is taken out of the comparison itself. Structural mutations are as they were: marks are
 * about time.
 *
 * @param comparison from `compare`
 * @param marks see `markVariance` and `parseVarianceMarks`
 * @throws FlowdeltaError for a mark that is none, or two marks on one edge
 *
 * Source: Sambasivan 2013, §5.3 and §5.4.2, which ask for markers around such sources; what they do
 * is flowdelta's own.
 *
 * @example
 * const edge = { from: 'storage-data-0 disk write call', to: 'storage-data-0 disk write reply' }
 * const marked = accountForMarks(comparison, [{ ...edge, kind: 'intrinsic' }])
 * marked.unused.length // 0
 * marked.remaining.length + marked.setApart.length === marked.mutations.length // true
 */
export function accountForMarks(
  comparison: Comparison,
  marks: readonly VarianceMark[],
): MarkedMutations {
  requireStage('accountForMarks(comparison, marks)', comparison, Comparison)
  const checked = requireVarianceMarks(marks)
  const { categories, responseTime, ranking } = comparison
  const marked = new MarkedEdges(categories, checked)
  const mutations = ranking.mutations
    .filter(({ kind }) => kind === 'response-time')
    .map((mutation) => {
      const changedEdges = responseTime
        .edges(mutation.category)
        .filter(({ test }) => test.rejected)
        .map((edge) => ({ ...edge, mark: marked.of(edge.edge) }))
      return { mutation, changedEdges, verdict: verdictOf(changedEdges.map(({ mark }) => mark)) }
    })
  const rest = compareRest(comparison, new MarkedEdges(categories, checked.filter(isAccepted)))
  return new MarkedMutations({ marks: checked, mutations, rest, unused: marked.unused() }, () =>
    comparison.findings.findings.map((finding) => {
      // Findings of other kinds may name edges too, but those are not all there is to them.
      const edges = finding.kind === 'latency' ? finding.changedEdges : []
      return { finding, verdict: verdictOf(edges.map((edge) => marked.of(edge))) }
    }),
  )
}

function compareRest(
  { categories, responseTime }: Comparison,
  accepted: MarkedEdges,
): RestComparison[] {
  const found = range(categories.size).flatMap((category) => {
    const marked = categories.structure(category).edgeClasses.map((edge) => accepted.of(edge))
    if (marked.every((mark) => mark === undefined)) return []
    const timesIn = (period: Period) =>
      restTimes(requestEdges(categories, category, period), marked)
    const [before, after] = [timesIn(BEFORE), timesIn(AFTER)]
    const marks = accepted.marks.filter((mark) => before.used.has(mark) || after.used.has(mark))
    if (marks.length === 0) return []
    const { beforeWeights, afterWeights } = categories.samples(category)
    const times = withoutRounding(before.timesUs, after.timesUs)
    return [{ category, marks, ...times, beforeWeights, afterWeights }]
  })
  const tests = testFamily(found, responseTime.options)
  return found.map(({ category, marks }, i) => ({
    category,
    marks,
    test: tests[i] as RestComparison['test'],
    mutation: responseTime.test(category).rejected,
  }))
}

function restTimes(
  requests: Iterable<RequestEdges>,
  marked: readonly (VarianceMark | undefined)[],
) {
  const timesUs: number[] = []
  const used = new Set<VarianceMark>()
  for (const { responseTimeUs, criticalUs, criticalCount } of requests) {
    let restUs = responseTimeUs
    marked.forEach((mark, number) => {
      if (mark === undefined || criticalCount[number] === 0) return
      restUs -= criticalUs[number] as number
      used.add(mark)
    })
    timesUs.push(restUs)
  }
  return { timesUs: Float64Array.from(timesUs), used }
}

/** Recorded times are rounded; this much of a difference, in µs, is none. */
const ROUNDING_US = 1e-3
/** Nor is this share of a time. */
const ROUNDING = 1e-9

function withoutRounding(before: Float64Array, after: Float64Array) {
  const longestUs = max([...before, ...after], Math.abs) ?? 0
  return snapTogether(before, after, Math.max(ROUNDING_US, ROUNDING * longestUs))
}

/**
 * What marks say of a change:
 * - `'set apart'`: every edge that changed is marked intentional or intrinsic;
 * - `'in part'`: some are;
 * - `'open'`: none is, or none can be named. It is as it was without marks.
 */
type MarkedVerdict = 'set apart' | 'in part' | 'open'

/** A category whose response times changed, seen with marks. */
interface MarkedMutation {
  readonly mutation: RankedMutation
  readonly verdict: MarkedVerdict
  /** The edges on its critical path whose latencies changed. */
  readonly changedEdges: readonly (EdgeComparison & { readonly mark: VarianceMark | undefined })[]
}

interface MarkedFinding {
  readonly finding: Finding
  readonly verdict: MarkedVerdict
}

/** A category with marked edges, its response times compared without the time spent on them. */
interface RestComparison {
  readonly category: number
  readonly marks: readonly VarianceMark[]
  /** Whether the response times themselves changed. */
  readonly mutation: boolean
  readonly test: FamilyTest
}

interface MarkedColumns {
  readonly marks: readonly VarianceMark[]
  /** The ranked response-time mutations, in their order. */
  readonly mutations: readonly MarkedMutation[]
  /** The categories that have marked edges on their critical path. */
  readonly rest: readonly RestComparison[]
  /** Marks on edges that no category has: misspelt, or gone. */
  readonly unused: readonly VarianceMark[]
}

/** A comparison that knows which edges are expected to vary. */
export class MarkedMutations extends columnarStage<MarkedColumns>() {
  readonly #findFindings: () => readonly MarkedFinding[]
  #findings: readonly MarkedFinding[] | undefined

  /** @param findFindings called when findings are first asked for: they rest on more tests */
  constructor(columns: MarkedColumns, findFindings: () => readonly MarkedFinding[]) {
    super(columns)
    this.#findFindings = findFindings
  }

  /** The comparison's findings, in their order. */
  get findings(): readonly MarkedFinding[] {
    this.#findings ??= this.#findFindings()
    return this.#findings
  }

  /** Mutations that marks do not explain, wholly or in part. */
  get remaining(): MarkedMutation[] {
    return this.mutations.filter(({ verdict }) => verdict !== 'set apart')
  }

  /** Mutations whose changed edges are all marked intentional or intrinsic. */
  get setApart(): MarkedMutation[] {
    return this.mutations.filter(({ verdict }) => verdict === 'set apart')
  }

  /**
   * Categories that are no mutations, but are without the time on marked edges: the variance there
   * has hidden a change elsewhere.
   */
  get uncovered(): RestComparison[] {
    return this.rest.filter(({ mutation, test }) => !mutation && test.rejected)
  }

  /** One row a response-time mutation, those that marks do not explain first. */
  table(): StageTable {
    return rowTable([...this.remaining, ...this.setApart], {
      rank: ({ mutation }) => mutation.rank,
      category: ({ mutation }) => mutation.category,
      verdict: 'verdict',
      contributionUs: ({ mutation }) => mutation.contributionUs,
      changedEdges: ({ changedEdges }) => changedEdges.length,
      marked: ({ changedEdges }) => changedEdges.filter(({ mark }) => mark !== undefined).length,
      restChanged: ({ mutation }) =>
        this.rest.find(({ category }) => category === mutation.category)?.test.rejected ?? true,
    })
  }

  /** One row a category with marked edges: what its tests say without the time on them. */
  restTable(): StageTable {
    return rowTable(this.rest, {
      category: 'category',
      marked: ({ marks }) => marks.length,
      mutation: 'mutation',
      statistic: ({ test }) => test.statistic,
      p: ({ test }) => test.p,
      q: ({ test }) => test.q,
      direction: ({ test }) => test.direction,
      restChanged: ({ test }) => test.rejected,
    })
  }

  /** One row a mark: how often it counted, 0 where no category has the edge on its critical path. */
  markTable(): StageTable {
    return rowTable(this.marks, {
      ...own('from to kind'),
      note: ({ note = '' }) => note,
      categories: (mark) => this.rest.filter(({ marks }) => marks.includes(mark)).length,
      known: (mark) => !this.unused.includes(mark),
    })
  }
}

function verdictOf(marks: readonly (VarianceMark | undefined)[]): MarkedVerdict {
  const accepted = marks.filter(isAccepted).length
  if (accepted === 0) return 'open'
  return accepted === marks.length ? 'set apart' : 'in part'
}
