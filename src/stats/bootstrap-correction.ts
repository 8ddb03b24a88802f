// Reads every value and every resampled difference: the loops index with `!`.
import { normalQuantile } from './normal-quantile.ts'
import { normalTail } from './normal-tail.ts'

/**
 * The shares at which BCa reads the ascending resampled differences.
 *
 * Source: Efron 1987, "Better bootstrap confidence intervals", Journal of the American Statistical
 * Association 82(397):171-185.
 */
export function correctedShares(
  differences: Float64Array,
  {
    estimate,
    tails,
    acceleration,
  }: { estimate: number; tails: readonly [number, number]; acceleration: number },
): readonly [number, number] {
  let below = 0
  for (const difference of differences) {
    if (difference < estimate) below += 1
    else if (difference === estimate) below += 0.5
  }
  const bias = normalQuantile(below / differences.length)
  if (!Number.isFinite(bias)) return tails
  const corrected = (share: number) => {
    const moved = bias + normalQuantile(share)
    const stretch = 1 - acceleration * moved
    // Towards 0 it pushes the share to the end of the differences, not around to the other one.
    if (stretch <= 0) return moved > 0 ? 1 : 0
    return normalTail(-(bias + moved / stretch))
  }
  return [corrected(tails[0]), corrected(tails[1])]
}

/** BCa's acceleration of a difference of means: a sixth of the skewness of its influence values. */
export function accelerationOfMeans(before: ArrayLike<number>, after: ArrayLike<number>): number {
  const negative = centralSums(before)
  const positive = centralSums(after)
  const cubes = positive.cubes - negative.cubes
  const squares = positive.squares + negative.squares
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5)
}

/** Sums of the squares and cubes of (x − mean) / n. */
function centralSums(sample: ArrayLike<number>): { squares: number; cubes: number } {
  let sum = 0
  for (let i = 0; i < sample.length; i++) sum += sample[i]!
  const mean = sum / sample.length
  let squares = 0
  let cubes = 0
  for (let i = 0; i < sample.length; i++) {
    const influence = (sample[i]! - mean) / sample.length
    squares += influence * influence
    cubes += influence * influence * influence
  }
  return { squares, cubes }
}
