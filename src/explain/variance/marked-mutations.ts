import type { Finding } from '../../compare/findings/finding.ts'
import type {
  EdgeComparison,
  FamilyTest,
} from '../../compare/mutations/find-response-time-mutations.ts'
import type { RankedMutation } from '../../compare/ranking/rank-mutations.ts'
import { columnarStage } from '../../core/stage.ts'
import { rowTable, type StageTable } from '../../core/stage-table.ts'
import { isAccepted, type VarianceMark } from './variance-marks.ts'

/**
 * What marks say of a change:
 * - `'set apart'`: every edge that changed is marked intentional or intrinsic;
 * - `'in part'`: some are;
 * - `'open'`: none is, or none can be named. It is as it was without marks.
 */
export type MarkedVerdict = 'set apart' | 'in part' | 'open'

/** A category whose response times changed, seen with marks. */
export interface MarkedMutation {
  readonly mutation: RankedMutation
  readonly verdict: MarkedVerdict
  /** The edges on its critical path whose latencies changed. */
  readonly changedEdges: readonly (EdgeComparison & { readonly mark: VarianceMark | undefined })[]
}

export interface MarkedFinding {
  readonly finding: Finding
  readonly verdict: MarkedVerdict
}

/** A category with marked edges, its response times compared without the time spent on them. */
export interface RestComparison {
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
    const rows = [...this.remaining, ...this.setApart].map(
      ({ mutation, verdict, changedEdges }) => ({
        ...mutation,
        verdict,
        changedEdges: changedEdges.length,
        marked: changedEdges.filter(({ mark }) => mark !== undefined).length,
        restChanged:
          this.rest.find(({ category }) => category === mutation.category)?.test.rejected ?? true,
      }),
    )
    return rowTable(rows, [
      'rank',
      'category',
      'verdict',
      'contributionUs',
      'changedEdges',
      'marked',
      'restChanged',
    ])
  }

  /** One row a category with marked edges: what its tests say without the time on them. */
  restTable(): StageTable {
    const rows = this.rest.map(({ test, marks, ...rest }) => ({
      ...test,
      ...rest,
      marked: marks.length,
      restChanged: test.rejected,
    }))
    return rowTable(rows, [
      'category',
      'marked',
      'mutation',
      'statistic',
      'p',
      'q',
      'direction',
      'restChanged',
    ])
  }

  /** One row a mark: how often it counted, 0 where no category has the edge on its critical path. */
  markTable(): StageTable {
    const rows = this.marks.map((mark) => ({
      ...mark,
      note: mark.note ?? '',
      categories: this.rest.filter(({ marks }) => marks.includes(mark)).length,
      known: !this.unused.includes(mark),
    }))
    return rowTable(rows, ['from', 'to', 'kind', 'note', 'categories', 'known'])
  }
}

/** What the marks on its changed edges make of a change. */
export function verdictOf(marks: readonly (VarianceMark | undefined)[]): MarkedVerdict {
  const accepted = marks.filter(isAccepted).length
  if (accepted === 0) return 'open'
  return accepted === marks.length ? 'set apart' : 'in part'
}
