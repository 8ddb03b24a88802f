import type { Finding } from '../../compare/findings/finding.ts'
import type {
  EdgeComparison,
  FamilyTest,
} from '../../compare/mutations/find-response-time-mutations.ts'
import type { RankedMutation } from '../../compare/ranking/rank-mutations.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { isAccepted, type VarianceMark } from './variance-marks.ts'

/**
 * What marks say of a change:
 * - `'set apart'`: every edge that changed is marked intentional or intrinsic;
 * - `'in part'`: some are;
 * - `'open'`: none is, or none can be named. It is as it was without marks.
 */
export type MarkedVerdict = 'set apart' | 'in part' | 'open'

/** A changed edge and its mark, if it has one. */
export interface MarkedEdge {
  readonly from: string
  readonly to: string
  readonly mark: VarianceMark | undefined
}

/** A category whose response times changed, seen with marks. */
export interface MarkedMutation {
  readonly mutation: RankedMutation
  readonly verdict: MarkedVerdict
  /** The edges on its critical path whose latencies changed. */
  readonly changedEdges: readonly (EdgeComparison & { readonly mark: VarianceMark | undefined })[]
}

/** A finding, seen with marks. */
export interface MarkedFinding {
  readonly finding: Finding
  readonly verdict: MarkedVerdict
}

/** A category with marked edges, its response times compared without the time spent on them. */
export interface RestComparison {
  readonly category: number
  /** The edges that were left out. */
  readonly marks: readonly VarianceMark[]
  /** Whether the response times themselves changed. */
  readonly mutation: boolean
  /** Of response times less the time on the marked edges. */
  readonly test: FamilyTest
}

/** A comparison that knows which edges are expected to vary. */
export class MarkedMutations extends Stage {
  readonly marks: readonly VarianceMark[]
  /** The ranked response-time mutations, in their order. */
  readonly mutations: readonly MarkedMutation[]
  /** The categories that have marked edges on their critical path. */
  readonly rest: readonly RestComparison[]
  /** Marks on edges that no category has: misspelt, or gone. */
  readonly unused: readonly VarianceMark[]
  readonly #findFindings: () => readonly MarkedFinding[]
  #findings: readonly MarkedFinding[] | undefined

  /** @param findFindings called when findings are first asked for: they rest on more tests */
  constructor(
    contents: Pick<MarkedMutations, 'marks' | 'mutations' | 'rest' | 'unused'>,
    findFindings: () => readonly MarkedFinding[],
  ) {
    super()
    this.marks = contents.marks
    this.mutations = contents.mutations
    this.rest = contents.rest
    this.unused = contents.unused
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
    const rows = [...this.remaining, ...this.setApart]
    return stageTable({
      rank: rows.map(({ mutation }) => mutation.rank),
      category: rows.map(({ mutation }) => mutation.category),
      verdict: rows.map(({ verdict }) => verdict),
      contributionUs: rows.map(({ mutation }) => mutation.contributionUs),
      changedEdges: rows.map(({ changedEdges }) => changedEdges.length),
      marked: rows.map(
        ({ changedEdges }) => changedEdges.filter(({ mark }) => mark !== undefined).length,
      ),
      restChanged: rows.map(({ mutation }) => {
        const rest = this.rest.find(({ category }) => category === mutation.category)
        return rest?.test.rejected ?? true
      }),
    })
  }

  /** One row a category with marked edges: what its tests say without the time on them. */
  restTable(): StageTable {
    const { rest } = this
    return stageTable({
      category: rest.map(({ category }) => category),
      marked: rest.map(({ marks }) => marks.length),
      mutation: rest.map(({ mutation }) => mutation),
      statistic: rest.map(({ test }) => test.statistic),
      p: rest.map(({ test }) => test.p),
      q: rest.map(({ test }) => test.q),
      direction: rest.map(({ test }) => test.direction),
      restChanged: rest.map(({ test }) => test.rejected),
    })
  }

  /** One row a mark: how often it counted, 0 where no category has the edge on its critical path. */
  markTable(): StageTable {
    const { marks } = this
    return stageTable({
      from: marks.map(({ from }) => from),
      to: marks.map(({ to }) => to),
      kind: marks.map(({ kind }) => kind),
      note: marks.map(({ note }) => note ?? ''),
      categories: marks.map((mark) => this.rest.filter((each) => each.marks.includes(mark)).length),
      known: marks.map((mark) => !this.unused.includes(mark)),
    })
  }
}

/** What the marks on its changed edges make of a change. */
export function verdictOf(edges: readonly MarkedEdge[]): MarkedVerdict {
  const accepted = edges.filter(({ mark }) => isAccepted(mark)).length
  if (accepted === 0) return 'open'
  return accepted === edges.length ? 'set apart' : 'in part'
}
