import { permute, sort, sum } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import { ClassTimes } from '../../compare/categories/class-times.ts'
import { getOrInsert } from '../../core/entries.ts'
import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { percent } from '../../core/words.ts'
import type { Period } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { incompleteBeta } from '../../stats/distributions.ts'
import { type Moments, moments } from '../../stats/moments.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { type PeriodName, periodOfName } from '../../traces/period.ts'

/** An edge class that is on the critical path of some request, and how much it varies. */
export interface EdgeVariance {
  readonly edge: number
  readonly from: string
  readonly to: string
  /** Counts edge classes between the same two labels. */
  readonly occurrence: EdgeClass['occurrence']
  /** True if the edge of folded flows leads from one round to the next; see `EdgeClass`. */
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
}

/** Sources of the variance of one category's response times, in one period: tier 2. */
export class CategoryVariance extends columnarStage<{
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
}>() {
  readonly #covariances = new Map<string, EdgeCovariances>()

  /** Says whether the shares add up to 1, or why not, and gives caveats. */
  get note(): string {
    const { count, variance } = this.responseTime
    const { period } = this
    if (count < 2)
      return `There is no variance: ${count} of this category's requests are ${period}.`
    if (variance === 0) return 'There are no shares: response times do not vary at all.'
    const sum =
      Math.abs(this.restShare) < 1e-6
        ? 'Shares of all parts add up to 100 %.'
        : `Shares add up to ${percent(1 - this.restShare)}, not 1: the rest of the variance is response ` +
          'time outside the recorded critical path.'
    return this.onePath
      ? sum
      : `${sum} Requests take different critical paths; an edge off the path counts as 0.`
  }

  /**
   * Returns the edges that covary with one of these, whether or not they are on the critical path. Another edge may
   * cause the variation: a queue, for example, waits for the server that it feeds.
   *
   * @param edge its number, as `edge` in the table
   * @param options.alpha an edge counts as covarying if its q is below this; default 0.05
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
    const period = periodOfName(this.period)
    return getOrInsert(this.#covariances, `${edge} ${alpha}`, () =>
      findCovariances(this.categories, this.category, { edge, period, alpha }),
    )
  }

  /** Returns one row per edge that is on the critical path of some request, the largest share first. */
  table(): StageTable {
    return rowTable(
      this.edges,
      {
        period: () => this.period,
        ...own('edge from to occurrence requests onCriticalPath meanUs varianceUs2 c2 share'),
      },
      this.categories.flows.quantity,
    )
  }

  override displayText(): string {
    const head = `Category ${this.category}, ${this.period}. ${this.note}`
    return `${head}\n${this.table().displayText()}`
  }
}

interface CovarianceOptions {
  /** Significance level of q, above 0 and below 1. */
  readonly alpha: number
}

/** Correlation of the latencies of two edges. */
export interface EdgeCovariance
  extends Pick<EdgeClass, 'from' | 'to' | 'occurrence' | 'fromRoundBefore'> {
  readonly edge: number
  /** Requests in which both latencies are known. */
  readonly requests: number
  /** Sample covariance, in µs²; NaN for fewer than two requests. */
  readonly covarianceUs2: number
  /** Pearson's r, −1 to 1; NaN where either does not vary. */
  readonly correlation: number
  /** p of a t-test of r = 0; NaN if r is, or for ten requests or fewer. */
  readonly p: number
  /** p corrected over the edges that could be tested (Benjamini-Hochberg). */
  readonly q: number
  /** Whether q is below alpha. */
  readonly covaries: boolean
}

/** Largest number of pairs that tell nothing of a correlation. */
const FEW = 10

/** The edges of a category and how they covary with one of them, in one period. */
export class EdgeCovariances extends columnarStage<{
  /** Edge that the others are compared with. */
  readonly edge: EdgeClass & { readonly edge: number }
  readonly options: CovarianceOptions
  /** Covarying ones first, then by the size of their correlation. */
  readonly others: readonly EdgeCovariance[]
}>() {
  /** Returns one row per other edge of the category. */
  table(): StageTable {
    return rowTable(this.others, {
      ...own('edge from to occurrence requests covarianceUs2 correlation p q covaries'),
    })
  }
}

/**
 * Returns the covariance of a category's other edge classes with one of them. Null hypothesis: Pearson's
 * correlation is 0; t-test with n − 2 degrees of freedom, for more than ten requests.
 */
function findCovariances(
  categories: Categories,
  category: number,
  { edge, period, alpha }: CovarianceOptions & { readonly edge: number; readonly period: Period },
): EdgeCovariances {
  if (!(alpha > 0 && alpha < 1)) throw new OptionError('alpha', alpha, 'a level between 0 and 1')
  const { edgeClasses } = categories.structure(category)
  const { latencyUs, weights } = edgeTimes(categories, category, period)
  const own = latencyUs[edge] as Float64Array
  const together = latencyUs.map((other) => {
    const rows = [...own.keys()].filter(
      (row) => !Number.isNaN(Number(own[row]) + Number(other[row])),
    )
    return covariation(permute(own, rows), permute(other, rows), weights && permute(weights, rows))
  })
  const numbers = edgeClasses.map((_, other) => other).filter((other) => other !== edge)
  const p = numbers.map((other) => {
    // P(|r| at least this large) if the true correlation is 0: t = r·√((n − 2)/(1 − r²)).
    const { correlation: r, worth: n } = together[other] as Covariation
    if (!(n > FEW) || Number.isNaN(r)) return Number.NaN
    return incompleteBeta((n - 2) / 2, 0.5, (1 - r) * (1 + r), r * r)
  })
  const q = benjaminiHochberg(p)
  const others = numbers.map((other, i): EdgeCovariance => {
    const { intoJoin: _, ...edge } = edgeClasses[other] as EdgeClass
    const { count, covariance, correlation } = together[other] as Covariation
    return {
      edge: other,
      ...edge,
      requests: count,
      covarianceUs2: covariance,
      correlation,
      p: p[i] as number,
      q: q[i] as number,
      covaries: (q[i] as number) < alpha,
    }
  })
  return new EdgeCovariances({
    edge: { ...(edgeClasses[edge] as EdgeClass), edge },
    options: { alpha },
    others: sort(
      others,
      ({ covaries }) => Number(!covaries),
      ({ correlation }) => -Math.abs(correlation),
      (each) => each.edge,
    ),
  })
}

interface Covariation {
  readonly count: number
  /** Number of equally weighted pairs that they are worth. */
  readonly worth: number
  /** Sample covariance; NaN for fewer than two pairs. */
  readonly covariance: number
  /** Pearson's r; NaN where either does not vary. */
  readonly correlation: number
}

/** Returns how two samples vary together, pairs counting by weight. */
export function covariation(
  values: ArrayLike<number>,
  others: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
): Covariation {
  // From the first values, so that a large offset does not eat the covariance.
  const [from, to] = [values, others].map((all) =>
    Float64Array.from(all, (value) => value - (all[0] as number)),
  ) as [Float64Array, Float64Array]
  const [one, other] = [moments(from, weights), moments(to, weights)]
  const weightOf = (row: number) => weights?.[row] ?? 1
  const products = sum(
    from,
    (value, row) => weightOf(row) * (value - one.mean) * ((to[row] as number) - other.mean),
  )
  const mass = sum(from, (_, row) => weightOf(row))
  const covariance = from.length < 2 ? Number.NaN : products / (mass - 1)
  const scale = one.sd * other.sd
  return {
    count: from.length,
    worth: worthOf(from, weights),
    covariance,
    correlation: scale > 0 ? Math.min(1, Math.max(-1, covariance / scale)) : Number.NaN,
  }
}

/** Times of the requests of a category in one period: a row each, for each edge class a column. */
interface EdgeTimes {
  /** Rows in the flows. */
  readonly requests: Uint32Array
  readonly responseTimeUs: Float64Array
  /** Number of requests that each stands for; undefined where each for one. */
  readonly weights: Float64Array | undefined
  /** Time on the critical path of the request, in µs; 0 off it. */
  readonly criticalUs: readonly Float64Array[]
  readonly criticalCount: readonly Float64Array[]
  /** Latency in µs, as in `ClassTimes`; NaN for joins that did not wait for it. */
  readonly latencyUs: readonly Float64Array[]
}

export function edgeTimes(categories: Categories, category: number, period: Period): EdgeTimes {
  const { flows } = categories
  const requests = categories.members(category, period)
  const times = new ClassTimes(categories, category)
  const columns = () => Array.from(times.criticalUs, () => new Float64Array(requests.length))
  const [criticalUs, criticalCount, latencyUs] = [columns(), columns(), columns()]
  requests.forEach((request, row) => {
    times.read(request)
    const note = (into: readonly Float64Array[], timeOf: (edge: number) => number) =>
      into.forEach((column, edge) => {
        column[row] = timeOf(edge)
      })
    note(criticalUs, (edge) => times.criticalUs[edge] as number)
    note(criticalCount, (edge) => times.criticalCount[edge] as number)
    note(latencyUs, (edge) => times.latencyUs(edge))
  })
  return {
    requests,
    responseTimeUs: Float64Array.from(requests, (row) => flows.responseTimeUs[row] as number),
    weights: flows.countsOf(requests),
    criticalUs,
    criticalCount,
    latencyUs,
  }
}

/** Returns the latencies of an edge class in the requests that have it on their critical path. */
export function criticalLatencies(
  { requests, criticalCount, latencyUs, weights }: EdgeTimes,
  edge: number,
) {
  const rows = [...requests.keys()].filter((row) => (criticalCount[edge]?.[row] ?? 0) > 0)
  return {
    requests: permute(requests, rows),
    timesUs: permute(latencyUs[edge] as Float64Array, rows),
    weights: weights && permute(weights, rows),
  }
}
