/** How a time varies: e to the power of a normal; `mu` −∞ is a time of 0. */
export interface LogNormal {
  /** Mean of the logarithm of the time in µs. */
  readonly mu: number
  readonly sigma: number
}

/**
 * The log-normal of a mean (µs) and a variance (µs²); a time of 0 for a mean that is not above 0, as
 * calls that overlap within the slack leave.
 *
 * @example
 * logNormalOf(100, 0).mu.toFixed(3) // '4.605'
 */
export function logNormalOf(meanUs: number, varianceUs2: number): LogNormal {
  if (!(meanUs > 0)) return { mu: Number.NEGATIVE_INFINITY, sigma: 0 }
  const squared = Math.log1p(Math.max(varianceUs2, 0) / meanUs ** 2)
  return { mu: Math.log(meanUs) - squared / 2, sigma: Math.sqrt(squared) }
}

/** As `logNormalOf`, of a coefficient of variation: standard deviation over mean. */
export function logNormalWithCv(meanUs: number, cv: number): LogNormal {
  return logNormalOf(meanUs, (cv * meanUs) ** 2)
}
