import type { Categories } from '../../compare/categories/categories.ts'
import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import { ClassTimes } from '../../compare/categories/class-times.ts'
import { OptionError } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { Period } from '../../flows/flow-set.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { incompleteBeta } from '../../stats/distributions.ts'

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

// Updated for every edge of every request: the loops index with `!`.

/**
 * Means, variances and covariances of one quantity with each of several others, in one pass: five
 * numbers an other, however many requests. Each pair counts the requests where both are known.
 *
 * Updates keep sums of products of deviations, and values count from the first one of their pair, so
 * that a large common offset does not eat the covariance.
 *
 * Source: Welford 1962, "Note on a method for calculating corrected sums of squares and products",
 * Technometrics 4(3):419-420; Chan, Golub and LeVeque 1983.
 */
export class CoMoments {
  readonly #count: Uint32Array
  /** The first values; means count from there. */
  readonly #origin: Float64Array
  readonly #otherOrigin: Float64Array
  readonly #mean: Float64Array
  readonly #otherMean: Float64Array
  readonly #squares: Float64Array
  readonly #otherSquares: Float64Array
  readonly #products: Float64Array

  /** @param others how many others there are */
  constructor(others: number) {
    this.#count = new Uint32Array(others)
    this.#origin = new Float64Array(others)
    this.#otherOrigin = new Float64Array(others)
    this.#mean = new Float64Array(others)
    this.#otherMean = new Float64Array(others)
    this.#squares = new Float64Array(others)
    this.#otherSquares = new Float64Array(others)
    this.#products = new Float64Array(others)
  }

  /** Adds a value of the quantity and one of an other; does nothing where either is NaN. */
  add(other: number, value: number, otherValue: number): void {
    if (Number.isNaN(value) || Number.isNaN(otherValue)) return
    const count = this.#count[other]! + 1
    this.#count[other] = count
    if (count === 1) {
      this.#origin[other] = value
      this.#otherOrigin[other] = otherValue
    }
    const from = value - this.#origin[other]!
    const otherFrom = otherValue - this.#otherOrigin[other]!
    const ahead = from - this.#mean[other]!
    const otherAhead = otherFrom - this.#otherMean[other]!
    this.#mean[other] = this.#mean[other]! + ahead / count
    this.#otherMean[other] = this.#otherMean[other]! + otherAhead / count
    const otherBehind = otherFrom - this.#otherMean[other]!
    this.#squares[other] = this.#squares[other]! + ahead * (from - this.#mean[other]!)
    this.#otherSquares[other] = this.#otherSquares[other]! + otherAhead * otherBehind
    this.#products[other] = this.#products[other]! + ahead * otherBehind
  }

  /** Pairs added of an other. */
  count(other: number): number {
    return this.#count[other]!
  }

  /** Mean of the other; NaN without pairs. */
  otherMean(other: number): number {
    return this.#count[other] === 0
      ? Number.NaN
      : this.#otherOrigin[other]! + this.#otherMean[other]!
  }

  /** Sample variance of the quantity over the pairs; NaN for fewer than two. */
  variance(other: number): number {
    return this.#perDegree(this.#squares, other)
  }

  /** Sample variance of the other; NaN for fewer than two pairs. */
  otherVariance(other: number): number {
    return this.#perDegree(this.#otherSquares, other)
  }

  /** Sample covariance of the quantity with the other; NaN for fewer than two pairs. */
  covariance(other: number): number {
    return this.#perDegree(this.#products, other)
  }

  /** Pearson's correlation, −1 to 1; NaN where either does not vary. */
  correlation(other: number): number {
    const scale = Math.sqrt(this.#squares[other]! * this.#otherSquares[other]!)
    if (!(scale > 0)) return Number.NaN
    return Math.min(1, Math.max(-1, this.#products[other]! / scale))
  }

  #perDegree(sums: Float64Array, other: number): number {
    const count = this.#count[other]!
    return count < 2 ? Number.NaN : sums[other]! / (count - 1)
  }
}

/** What one request says of the edge classes of its category; the arrays are used again for the next. */
interface RequestEdges {
  readonly responseTimeUs: number
  /** Time of each class on the critical path of the request, in µs; 0 where it is off it. */
  readonly criticalUs: Float64Array
  /** Edges of each class on the critical path. */
  readonly criticalCount: Uint32Array
  /**
   * Latency of each class, in µs: of the branch on the critical path, else the mean over identical
   * branches; over repetitions that were folded likewise. NaN for an edge into a join that did not wait for it, which is waiting for another.
   */
  readonly latencyUs: Float64Array
}

/** The edges of the requests of a category in one period, request by request. */
export function* requestEdges(
  categories: Categories,
  category: number,
  period: Period,
): Generator<RequestEdges> {
  const times = new ClassTimes(categories, category)
  const { criticalUs, criticalCount } = times
  const latencyUs = new Float64Array(criticalUs.length)
  for (const request of categories.members(category, period)) {
    times.read(request)
    for (let number = 0; number < latencyUs.length; number++) {
      latencyUs[number] = times.latencyUs(number)
    }
    const responseTimeUs = categories.flows.responseTimeUs[request] as number
    yield { responseTimeUs, criticalUs, criticalCount, latencyUs }
  }
}

/**
 * Values closer to each other than `within` as one value: what lies between them is rounding, and
 * must not tell two samples apart. A value is that of the least one it is no further from.
 *
 * @param within in the unit of the values; 0 changes nothing
 */
export function snapTogether(
  before: Float64Array,
  after: Float64Array,
  within: number,
): { before: Float64Array; after: Float64Array } {
  const ascending = Float64Array.from([...before, ...after]).sort()
  const snapped = new Map<number, number>()
  let first = Number.NEGATIVE_INFINITY
  for (const value of ascending) {
    if (!(value - first <= within)) first = value
    snapped.set(value, first)
  }
  const snap = (value: number) => snapped.get(value) ?? value
  return { before: before.map(snap), after: after.map(snap) }
}
