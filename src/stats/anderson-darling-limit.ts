/**
 * P(A² > x) for the limit of the (m + 1)-sample Anderson-Darling statistic, Σ_j Y_j / (j(j+1)) with
 * independent χ² variables Y_j of m degrees of freedom.
 *
 * The transform of A² is M(t) = (−2πt / cos(½π√(1+8t)))^(m/2); the tail is the integral of
 * e^(−tx)·M(t)/t over a path that crosses the real axis between the pole 0 and the branch point 1.
 * On a parabola around the branch point the trapezoidal rule converges geometrically: about 1e-11
 * of the value at any depth of the tail.
 *
 * Sources: Anderson and Darling 1952, "Asymptotic theory of certain goodness of fit criteria based
 * on stochastic processes", Annals of Mathematical Statistics 23(2):193-212 (M); Scholz and Stephens
 * 1987, §3 (k samples); Weideman and Trefethen 2007, "Parabolic and hyperbolic contours for computing
 * the Bromwich integral", Mathematics of Computation 76:1341-1356 (path).
 *
 * @example
 * andersonDarlingTail(2.492, 1).toFixed(4) // '0.0500'
 */
export function andersonDarlingTail(x: number, m: number): number {
  if (Number.isNaN(x)) return Number.NaN
  if (x <= 0) return 1
  const width = Math.min(0.25, (1 + m / 2) / x)
  let sum = integrand(0, { x, m, width }) / 2
  let largest = Math.abs(sum)
  for (let step = 1; step <= MOST_STEPS; step++) {
    const { value, size } = sized(step * STEP, { x, m, width })
    sum += value
    largest = Math.max(largest, size)
    if (size < largest * 1e-18) break
  }
  return Math.min(1, Math.max(0, (sum * STEP) / Math.PI))
}

const STEP = 0.08
const MOST_STEPS = 1000

interface Path {
  readonly x: number
  readonly m: number
  /** Distance of the path's vertex from the branch point at 1. */
  readonly width: number
}

function integrand(u: number, path: Path): number {
  return sized(u, path).value
}

/** Imaginary part and size of the integrand at t = 1 − width·(1 − iu)². */
function sized(u: number, { x, m, width }: Path): { value: number; size: number } {
  const re = 1 - width + width * u * u
  const im = 2 * width * u
  const [rootRe, rootIm] = squareRoot(1 + 8 * re, 8 * im)
  // log cos(½πw) = −½iπw + log((1 + e^(iπw)) / 2), whose last term stays on one branch.
  const decay = Math.exp(-Math.PI * rootIm)
  const cosRe = 1 + decay * Math.cos(Math.PI * rootRe)
  const cosIm = decay * Math.sin(Math.PI * rootRe)
  const logCosRe = (Math.PI / 2) * rootIm + Math.log(Math.hypot(cosRe, cosIm) / 2)
  const logCosIm = (-Math.PI / 2) * rootRe + Math.atan2(cosIm, cosRe)
  const logRe = Math.log(Math.hypot(re, im))
  const logIm = Math.atan2(im, re)
  const size = Math.exp(
    -re * x +
      (m / 2) * (Math.log(2 * Math.PI) + logRe - logCosRe) -
      logRe +
      Math.log(2 * width * Math.hypot(1, u)),
  )
  // The path's derivative is 2·width·(u + i).
  const angle = -im * x + (m / 2) * (logIm - Math.PI - logCosIm) - logIm + Math.atan2(1, u)
  return { value: size * Math.sin(angle), size }
}

/** The principal square root of a number in the upper half plane. */
function squareRoot(re: number, im: number): [number, number] {
  const root = Math.sqrt((Math.hypot(re, im) + re) / 2)
  return [root, im / (2 * root)]
}
