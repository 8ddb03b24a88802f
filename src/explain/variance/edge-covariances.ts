import type { Categories } from '../../compare/categories/categories.ts'
import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import { OptionError } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { Period } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { incompleteBeta } from '../../stats/distributions.ts'
import { CoMoments } from './co-moments.ts'
import { requestEdges } from './request-edges.ts'

/** How covarying edges are told from others. */
export interface CovarianceOptions {
  /** Significance level of q, above 0 and below 1. */
  readonly alpha: number
}

/** How the latencies of two edges go together. */
export interface EdgeCovariance
  extends Pick<EdgeClass, 'from' | 'to' | 'occurrence' | 'fromRoundBefore'> {
  /** Number of the other edge class. */
  readonly edge: number
  /** Requests in which both latencies are known. */
  readonly requests: number
  /** Sample covariance, in µs²; NaN for fewer than two requests. */
  readonly covarianceUs2: number
  /** Pearson's r, −1 to 1; NaN where either does not vary. */
  readonly correlation: number
  /** Of a t-test of r = 0; NaN where r is, or for ten requests or fewer. */
  readonly p: number
  /** p corrected over the edges that could be tested (Benjamini-Hochberg). */
  readonly q: number
  /** Whether q is below alpha. */
  readonly covaries: boolean
}

/** Fewer pairs than this or as many say nothing of a correlation. */
const FEW = 10

/** The edges of a category and how they covary with one of them, in one period. */
export class EdgeCovariances extends Stage {
  /** The edge the others are set beside. */
  readonly edge: EdgeClass & { readonly edge: number }
  readonly options: CovarianceOptions
  /** Covarying ones first, then by the size of their correlation. */
  readonly others: readonly EdgeCovariance[]

  constructor(
    edge: EdgeCovariances['edge'],
    others: readonly EdgeCovariance[],
    options: CovarianceOptions,
  ) {
    super()
    this.edge = edge
    this.options = options
    this.others = others
  }

  /** The edges whose covariance is not 0, as far as the test tells. */
  get covarying(): EdgeCovariance[] {
    return this.others.filter(({ covaries }) => covaries)
  }

  /** One row another edge of the category. */
  table(): StageTable {
    const column = <T>(value: (other: EdgeCovariance) => T) => this.others.map(value)
    return stageTable({
      edge: column(({ edge }) => edge),
      from: column(({ from }) => from),
      to: column(({ to }) => to),
      occurrence: column(({ occurrence }) => occurrence),
      requests: column(({ requests }) => requests),
      covarianceUs2: column(({ covarianceUs2 }) => covarianceUs2),
      correlation: column(({ correlation }) => correlation),
      p: column(({ p }) => p),
      q: column(({ q }) => q),
      covaries: column(({ covaries }) => covaries),
    })
  }
}

/**
 * Finds how the latencies of all other edge classes of a category covary with those of one, in one
 * pass over its requests; only that one's row of the covariance matrix is kept.
 *
 * Null hypothesis of each test: Pearson's correlation is 0; t-test with n − 2 degrees of freedom,
 * for more than ten requests. An edge into a join counts where the join waited for it.
 */
export function findCovariances(
  categories: Categories,
  category: number,
  { edge, period, alpha }: CovarianceOptions & { readonly edge: number; readonly period: Period },
): EdgeCovariances {
  if (!(alpha > 0 && alpha < 1)) throw new OptionError('alpha', alpha, 'a level between 0 and 1')
  const { edgeClasses } = categories.structure(category)
  const together = new CoMoments(edgeClasses.length)
  for (const { latencyUs } of requestEdges(categories, category, period)) {
    const own = latencyUs[edge] as number
    for (let other = 0; other < latencyUs.length; other++) {
      together.add(other, own, latencyUs[other] as number)
    }
  }
  const numbers = edgeClasses.map((_, other) => other).filter((other) => other !== edge)
  const p = numbers.map((other) => correlationP(together.correlation(other), together.count(other)))
  const q = benjaminiHochberg(p)
  const others = numbers.map((other, i): EdgeCovariance => {
    const { from, to, occurrence, fromRoundBefore } = edgeClasses[other] as EdgeClass
    return {
      ...{ edge: other, from, to, occurrence, requests: together.count(other) },
      ...(fromRoundBefore && { fromRoundBefore }),
      covarianceUs2: together.covariance(other),
      correlation: together.correlation(other),
      p: p[i] as number,
      q: q[i] as number,
      covaries: (q[i] as number) < alpha,
    }
  })
  others.sort(
    (a, b) =>
      Number(b.covaries) - Number(a.covaries) || strength(b) - strength(a) || a.edge - b.edge,
  )
  return new EdgeCovariances({ ...(edgeClasses[edge] as EdgeClass), edge }, others, { alpha })
}

function strength({ correlation }: EdgeCovariance): number {
  return Number.isNaN(correlation) ? -1 : Math.abs(correlation)
}

/** P(|r| at least this large) when the true correlation is 0: t = r·√((n − 2)/(1 − r²)). */
function correlationP(r: number, n: number): number {
  if (n <= FEW || Number.isNaN(r)) return Number.NaN
  return incompleteBeta((n - 2) / 2, 0.5, (1 - r) * (1 + r), r * r)
}
