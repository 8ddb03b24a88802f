import { sum } from 'd3-array'
import { moderatedVariances } from './moderated-variances.ts'

export class StretchSums {
  #count = 0
  #squares = 0
  readonly #sums = new Map<number, number>()

  /** Adds the sum of some deviations of one stretch, and the sum of their squares. */
  add(stretch: number, sum: number, count = 1, squares = sum ** 2): void {
    this.#count += count
    this.#squares += squares
    this.#sums.set(stretch, (this.#sums.get(stretch) ?? 0) + sum)
  }

  get count(): number {
    return this.#count
  }

  get size(): number {
    return this.#sums.size
  }

  /** Variance of the sum of all, if they were independent. */
  get independent(): number {
    return (this.#squares * this.#count) / Math.max(1, this.#count - 1)
  }

  /** Sum of the squared sums of stretches. */
  get squares(): number {
    return sum([...this.#sums.values()], (one) => one ** 2)
  }
}

export interface Wandering {
  readonly periods: readonly StretchSums[]
  readonly kurtosis?: number
}

export interface DesignEffects {
  readonly effects: readonly number[]
  readonly df: readonly number[]
}

/** See `designEffects`. */
export interface DesignOptions {
  readonly lasts?: boolean
  readonly bursts?: boolean
  readonly maxShared?: number
}

/** A design effect is estimated from at least this many stretches of time in all. */
const MIN_DF = 4
/** How many of its own an effect is as sure as, however many measures moderate it. */
const MAX_SHARED = 2

/**
 * Returns how many times larger the variance of each measure's sum is than independent values would
 * have, since neighbors in time are alike.
 *
 * All measures share one correlation of values in one stretch of time; each measure's own effect
 * moderates what that lets expect of it (`moderatedVariances`). Levels last: whole periods differ by
 * more than their stretches show. How long, ten stretches do not tell (an autoregression learned from
 * them leaves 7 of 33 thirds of a recorded run with an alarm), so levels are taken to wander as
 * flicker noise does, slowly and quickly alike: the machine warms up, caches fill, neighbors come.
 *
 * @param options.lasts whether levels last for several stretches; default true. Not of differences of
 *   periods of the same time, which drift together
 * @param options.bursts whether a measure may wander more than all others: each effect is then at least
 *   its own; default false
 * @param options.maxShared an effect is as sure as this many of its own, however many measures moderate
 *   it; default 2
 *
 * Sources: Kish 1965, "Survey Sampling", §5.4; Smyth 2004 (see `moderatedVariances`); for the
 * autocorrelation left after the mean is taken off, Kendall 1954, "Note on bias in the estimation of
 * autocorrelation".
 */
export function designEffects(
  measures: readonly Wandering[],
  { lasts = true, bursts = false, maxShared = MAX_SHARED }: DesignOptions = {},
): DesignEffects {
  const seen = measures.map(seenEffect)
  const isKnown = seen.map(({ effect, df }) => df >= MIN_DF && effect > 0)
  let [excess, neighbors, pooledDf] = [0, 0, 0]
  seen.forEach(({ effect, df, perStretch }, i) => {
    if (!isKnown[i]) return
    excess += df * (effect - 1)
    neighbors += df * (perStretch - 1)
    pooledDf += df
  })
  const correlation = neighbors > 0 ? Math.max(0, excess / neighbors) : 0
  const growth = lasts ? flickerGrowth(measures) : 1
  const expected = seen.map(({ perStretch }) => 1 + Math.max(0, perStretch - 1) * correlation)
  const ratios = moderatedVariances(
    seen.map(({ effect }, i) => (isKnown[i] ? effect / (expected[i] as number) : Number.NaN)),
    seen.map(({ df }) => df),
  )
  const typicalDf = Math.max(0, ...seen.map(({ df }) => df))
  return {
    effects: expected.map((one, i) => {
      const ratio = ratios.variances[i] as number
      const shared = Number.isNaN(ratio) ? one : one * ratio
      const moderated = bursts ? Math.max(shared, seen[i]?.effect || 0) : shared
      // Single values a stretch are as good as independent, and stay so over longer stretches.
      return 1 + Math.max(0, moderated - 1) * growth
    }),
    // Measures of one system wander together: all others are worth no more than one of its own.
    df: Array.from(ratios.df, (df, i) => {
      const own = seen[i]?.df ?? 0
      const known = isKnown[i] ? Math.min(df, maxShared * own) : Math.min(pooledDf, typicalDf)
      return known > 0 ? known : Number.POSITIVE_INFINITY
    }),
  }
}

function seenEffect({ periods, kurtosis = 0 }: Wandering) {
  let [independent, variance, stretches, df, count] = [0, 0, 0, 0, 0]
  for (const period of periods) {
    const { size } = period
    independent += period.independent
    variance += size < 2 ? period.independent : (period.squares * size) / (size - 1)
    stretches += size
    df += Math.max(0, size - 1)
    count += period.count
  }
  const perStretch = count / Math.max(1, stretches)
  return {
    effect: independent === 0 ? Number.NaN : variance / independent,
    // Sums of few rare events vary more than normal ones, and tell less of their variance.
    df: df / (1 + Math.max(0, kurtosis) / (2 * perStretch)),
    perStretch,
  }
}

/**
 * By how many times whole periods wander more than their stretches let expect, if levels wander as
 * flicker noise does: means of long stretches then differ from their neighbors by as much as those of
 * short ones (a constant Allan variance).
 */
function flickerGrowth(measures: readonly Wandering[]): number {
  const stretches = Math.max(2, ...measures.flatMap(({ periods }) => periods.map((p) => p.size)))
  return (2 * (stretches - 1) * Math.LN2) / Math.log(stretches)
}
