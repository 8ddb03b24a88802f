// Draws whole resamples, thousands of them: the loop indexes with `!`.
import type { RandomSource } from './random.ts'

/** Mean and squared standard error of the mean of one sample or resample. */
export interface MeanMoments {
  readonly mean: number
  /** The sample variance over n. */
  readonly error2: number
}

/** Mean and squared standard error of a sample. */
export function meanMoments(sample: ArrayLike<number>): MeanMoments {
  const origin = middleOf(sample)
  let sum = 0
  let squares = 0
  for (let i = 0; i < sample.length; i++) {
    const deviation = sample[i]! - origin
    sum += deviation
    squares += deviation * deviation
  }
  return momentsOf({ sum, squares, origin, n: sample.length })
}

/** Draws mean and squared standard error of bootstrap resamples of a sample, each in O(n). */
export function resampledMoments(
  sample: ArrayLike<number>,
  random: RandomSource,
): () => MeanMoments {
  const n = sample.length
  const origin = middleOf(sample)
  const deviations = Float64Array.from(sample, (value) => value - origin)
  return () => {
    let sum = 0
    let squares = 0
    for (let i = 0; i < n; i++) {
      const deviation = deviations[Math.floor(random.next() * n)]!
      sum += deviation
      squares += deviation * deviation
    }
    return momentsOf({ sum, squares, origin, n })
  }
}

/** Deviations from any value of the sample keep the squares small; ascending, this one keeps most so. */
function middleOf(sample: ArrayLike<number>): number {
  return sample[sample.length >> 1]!
}

function momentsOf({
  sum,
  squares,
  origin,
  n,
}: {
  readonly sum: number
  readonly squares: number
  readonly origin: number
  readonly n: number
}): MeanMoments {
  const around = squares - (sum * sum) / n
  // One value repeated leaves rounding, which must not pass for a tiny standard error.
  const error2 = n > 1 && around <= n * Number.EPSILON * squares ? 0 : around / (n - 1) / n
  return { mean: origin + sum / n, error2 }
}
