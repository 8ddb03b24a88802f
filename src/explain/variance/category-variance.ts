import type { Categories } from '../../compare/categories/categories.ts'
import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { columnarStage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { percent } from '../../core/words.ts'
import type { Moments } from '../../stats/moments.ts'
import { type PeriodName, periodOfName } from './compare-spreads.ts'
import {
  type CovarianceOptions,
  type EdgeCovariances,
  findCovariances,
} from './edge-covariances.ts'
import type { VarianceKind } from './variance-marks.ts'

/** An edge class that is on the critical path of some request, and how much it varies. */
export interface EdgeVariance {
  /** Number of the edge class in the category's structure. */
  readonly edge: number
  readonly from: string
  readonly to: string
  /** Counts edge classes between the same two labels. */
  readonly occurrence: EdgeClass['occurrence']
  /** Of folded flows: it leads from the round before to the next; see `EdgeClass`. */
  readonly fromRoundBefore?: true
  /** Requests that have it on their critical path, and the share of all requests they are. */
  readonly requests: number
  readonly onCriticalPath: number
  /** Mean and sample variance of its latency in those requests; variance NaN for fewer than two. */
  readonly meanUs: number
  readonly varianceUs2: number
  /** variance / mean²; NaN where there is none. */
  readonly c2: number
  /**
   * Its share of the variance of response times: Cov(edge, response time) / Var(response time), the
   * edge counted as 0 where it is off the critical path. Negative where it is short when requests
   * are long; NaN where response times do not vary.
   */
  readonly share: number
  /** What somebody marked it as; `null` for no mark. */
  readonly mark: VarianceKind | null
}

interface CategoryVarianceColumns {
  readonly categories: Categories
  readonly category: number
  readonly period: PeriodName
  readonly responseTime: Moments
  /** The largest share of the variance first; without shares the largest variance. */
  readonly edges: readonly EdgeVariance[]
  /** Share of the variance that is no edge's: response times and critical paths that differ. */
  readonly restShare: number
  /** Whether all requests have the same edge classes on their critical paths. */
  readonly onePath: boolean
}

/** Where the variance of one category's response times comes from, in one period: tier 2. */
export class CategoryVariance extends columnarStage<CategoryVarianceColumns>() {
  readonly #covariances = new Map<string, EdgeCovariances>()

  /** What the edges' shares add up to: 1, but for `restShare`; NaN where there are none. */
  get accounted(): number {
    return 1 - this.restShare
  }

  /** Whether the shares add up to 1, and if not why; and what to keep in mind when they do. */
  get note(): string {
    const { count, variance } = this.responseTime
    const { period } = this
    if (count < 2)
      return `There is no variance: ${count} of this category's requests are ${period}.`
    if (variance === 0) return 'There are no shares: response times do not vary at all.'
    const sum =
      Math.abs(this.restShare) < 1e-6
        ? 'Shares add up to 1.'
        : `Shares add up to ${percent(this.accounted)}, not 1: the rest of the variance is response ` +
          'time beside the recorded critical path.'
    return this.onePath
      ? sum
      : `${sum} Requests take different critical paths; where an edge is off it, it counts as 0.`
  }

  /**
   * The edges that covary with one of these, whether or not they are on the critical path: what
   * makes an edge vary may be another, as a queue waits for what it feeds.
   *
   * @param edge its number, as `edge` in the table
   * @param options.alpha an edge is called covarying when its q is below this; default 0.05
   * @throws FlowdeltaError for a number that no edge class has
   */
  covariances(edge: number, { alpha = 0.05 }: Partial<CovarianceOptions> = {}): EdgeCovariances {
    const { edgeClasses } = this.categories.structure(this.category)
    if (edgeClasses[edge] === undefined) {
      throw new FlowdeltaError(
        `Category ${this.category} has no edge ${edge}. Give a number from the column edge of ` +
          `.table(), 0 to ${edgeClasses.length - 1}.`,
      )
    }
    const key = `${edge} ${alpha}`
    const period = periodOfName(this.period)
    const found =
      this.#covariances.get(key) ??
      findCovariances(this.categories, this.category, { edge, period, alpha })
    this.#covariances.set(key, found)
    return found
  }

  /** One row an edge that is on the critical path of some request, the largest share first. */
  table(): StageTable {
    const column = <T>(value: (edge: EdgeVariance) => T) => this.edges.map(value)
    return stageTable({
      period: column(() => this.period),
      edge: column(({ edge }) => edge),
      from: column(({ from }) => from),
      to: column(({ to }) => to),
      occurrence: column(({ occurrence }) => occurrence),
      requests: column(({ requests }) => requests),
      onCriticalPath: column(({ onCriticalPath }) => onCriticalPath),
      meanUs: column(({ meanUs }) => meanUs),
      varianceUs2: column(({ varianceUs2 }) => varianceUs2),
      c2: column(({ c2 }) => c2),
      share: column(({ share }) => share),
      mark: column(({ mark }) => mark ?? ''),
    })
  }

  override displayText(): string {
    const head = `Category ${this.category}, ${this.period}. ${this.note}`
    return `${head}\n${this.table().displayText()}`
  }
}
