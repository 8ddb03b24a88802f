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
