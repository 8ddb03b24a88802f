// Draws whole resamples, thousands of them: the loop indexes with `!`.
import { type RandomSource, randomSource } from './random.ts'

/** Mean and squared standard error of the mean of one sample or resample. */
interface MeanMoments {
  readonly mean: number
  /** The sample variance over n. */
  readonly error2: number
}

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

/** Deviations from any value keep the squares small; ascending, this one keeps most so. */
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

interface Resampling {
  readonly n: number
  readonly share: number
  readonly resamples: number
  readonly seed: number
}

/** Where in the ascending sample the quantile of each resample lies. */
interface ResampledPlaces {
  readonly lower: Uint32Array
  readonly upper: Uint32Array
  /** How far from the lower value to the upper one, the same for every resample. */
  readonly fraction: number
}

/**
 * Quantiles of bootstrap resamples of an ascending sample, each in O(1).
 *
 * A resample is the sample's values at uniform random shares; its k-th value is the one at the k-th
 * of n uniform order statistics, which is beta distributed. So no resample is drawn: only the one
 * or two order statistics between which the quantile (type 7) interpolates. Their places do not
 * depend on the values: the edges of a category, all with the same n, share them.
 *
 * Sources: David and Nagaraja 2003, "Order statistics", 3rd ed., §2.3 and §2.5 (the next order
 * statistic given one); Marsaglia and Tsang 2000, "A simple method for generating gamma variables",
 * ACM Transactions on Mathematical Software 26(3):363-372.
 */
export function resampledQuantiles(
  ascending: ArrayLike<number>,
  resampling: Omit<Resampling, 'n'>,
): Float64Array {
  const { lower, upper, fraction } = knownPlaces({ n: ascending.length, ...resampling })
  const quantiles = new Float64Array(lower.length)
  for (let round = 0; round < quantiles.length; round++) {
    const low = ascending[lower[round]!]!
    quantiles[round] = low + (ascending[upper[round]!]! - low) * fraction
  }
  return quantiles
}

const MAX_KNOWN = 64
const known = new Map<string, ResampledPlaces>()

/** The places, drawn once for the sizes asked for of late. */
function knownPlaces(resampling: Resampling): ResampledPlaces {
  const { n, share, resamples, seed } = resampling
  const key = [n, share, resamples, seed].join()
  const places = known.get(key) ?? drawnPlaces(resampling)
  known.delete(key)
  known.set(key, places)
  for (const oldest of known.keys()) {
    if (known.size <= MAX_KNOWN) break
    known.delete(oldest)
  }
  return places
}

function drawnPlaces({ n, share, resamples, seed }: Resampling): ResampledPlaces {
  const random = randomSource(seed)
  const place = share * (n - 1)
  const fraction = place - Math.floor(place)
  const rank = Math.min(n, Math.floor(place) + 1)
  const lower = new Uint32Array(resamples)
  const upper = new Uint32Array(resamples)
  for (let round = 0; round < resamples; round++) {
    const left = gamma(rank, random)
    const uniform = left / (left + gamma(n + 1 - rank, random))
    const next = fraction === 0 ? uniform : nextUniform(uniform, n - rank, random)
    lower[round] = Math.min(n - 1, Math.floor(n * uniform))
    upper[round] = Math.min(n - 1, Math.floor(n * next))
  }
  return { lower, upper, fraction }
}

/** The next order statistic of uniforms, of `above` that are larger. */
function nextUniform(uniform: number, above: number, random: RandomSource): number {
  return Math.max(uniform, 1 - (1 - uniform) * (1 - random.next()) ** (1 / above))
}

/** A gamma variable with a shape of 1 or more. */
function gamma(shape: number, random: RandomSource): number {
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = random.normal()
    const root = 1 + c * x
    if (root <= 0) continue
    const v = root * root * root
    const uniform = 1 - random.next()
    const square = x * x
    // Decides nearly always, as the logarithms would.
    if (uniform < 1 - 0.0331 * square * square) return d * v
    if (Math.log(uniform) < 0.5 * square + d * (1 - v + Math.log(v))) return d * v
  }
}
