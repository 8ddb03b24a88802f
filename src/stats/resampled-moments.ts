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
  return momentsOf(sample, (i) => i)
}

/** Draws mean and squared standard error of bootstrap resamples of a sample, each in O(n). */
export function resampledMoments(
  sample: ArrayLike<number>,
  random: RandomSource,
): () => MeanMoments {
  const n = sample.length
  return () => momentsOf(sample, () => Math.floor(random.next() * n))
}

function momentsOf(sample: ArrayLike<number>, place: (i: number) => number): MeanMoments {
  const n = sample.length
  // Deviations from any value of the sample keep the squares small.
  const origin = sample[n >> 1]!
  let sum = 0
  let squares = 0
  for (let i = 0; i < n; i++) {
    const deviation = sample[place(i)]! - origin
    sum += deviation
    squares += deviation * deviation
  }
  const error2 = Math.max(0, squares - (sum * sum) / n) / (n - 1) / n
  return { mean: origin + sum / n, error2 }
}
