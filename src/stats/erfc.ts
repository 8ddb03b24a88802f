// Cody's coefficients as the nearest doubles, highest power first.
const NEAR_NUMERATOR = [
  0.18577770618460315, 3.1611237438705655, 113.86415415105016, 377.485237685302, 3209.3775891384694,
]
const NEAR_DENOMINATOR = [
  1, 23.601290952344122, 244.02463793444417, 1282.6165260773723, 2844.236833439171,
]
const MIDDLE_NUMERATOR = [
  2.1531153547440383e-8, 0.5641884969886701, 8.883149794388377, 66.11919063714163,
  298.6351381974001, 881.952221241769, 1712.0476126340707, 2051.0783778260716, 1230.3393547979972,
]
const MIDDLE_DENOMINATOR = [
  1, 15.744926110709835, 117.6939508913125, 537.1811018620099, 1621.3895745666903,
  3290.7992357334597, 4362.619090143247, 3439.3676741437216, 1230.3393548037495,
]
const FAR_NUMERATOR = [
  0.016315387137302097, 0.30532663496123236, 0.36034489994980445, 0.12578172611122926,
  0.016083785148742275, 0.0006587491615298378,
]
const FAR_DENOMINATOR = [
  1, 2.568520192289822, 1.8729528499234604, 0.5279051029514285, 0.06051834131244132,
  0.0023352049762686918,
]
const ONE_OVER_ROOT_PI = 0.5641895835477563

/**
 * Complementary error function, erfc(x) = 2/√π · ∫ from x to ∞ of e^(−t²) dt, accurate to about
 * 1e-15 of its value until it underflows (x > 26.5). NaN for NaN.
 *
 * The two-sided tail of a standard normal beyond ±z is erfc(z/√2).
 *
 * Source: Cody 1969, "Rational Chebyshev approximations for the error function", Mathematics of
 * Computation 23:631-637.
 *
 * @example
 * erfc(0) // 1
 */
export function erfc(x: number): number {
  if (Math.abs(x) <= 0.46875) return 1 - erfNearZero(x)
  return x < 0 ? 2 - upperTail(-x) : upperTail(x)
}

function erfNearZero(x: number): number {
  return (x * polynomial(NEAR_NUMERATOR, x * x)) / polynomial(NEAR_DENOMINATOR, x * x)
}

function upperTail(x: number): number {
  if (x === Number.POSITIVE_INFINITY) return 0
  if (x <= 4) {
    const ratio = polynomial(MIDDLE_NUMERATOR, x) / polynomial(MIDDLE_DENOMINATOR, x)
    return gaussian(x) * ratio
  }
  const inverse = 1 / (x * x)
  const ratio = polynomial(FAR_NUMERATOR, inverse) / polynomial(FAR_DENOMINATOR, inverse)
  return (gaussian(x) * (ONE_OVER_ROOT_PI - inverse * ratio)) / x
}

/** e^(−x²), with x² split in two so that its rounding is not magnified by the exponential. */
function gaussian(x: number): number {
  const coarse = Math.trunc(x * 16) / 16
  return Math.exp(-coarse * coarse) * Math.exp(-(x - coarse) * (x + coarse))
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)
}
