import { moderatedVariances } from './moderated-variances.ts'

export class StretchSums {
  #count = 0
  #squares = 0
  #size = 0
  readonly #sums: number[] = []

  /** Adds the sum of some deviations of one stretch, and the sum of their squares. */
  add(stretch: number, sum: number, count = 1, squares = sum ** 2): void {
    this.#count += count
    this.#squares += squares
    const known = this.#sums[stretch]
    if (known === undefined) this.#size++
    this.#sums[stretch] = (known ?? 0) + sum
  }

  get count(): number {
    return this.#count
  }

  get size(): number {
    return this.#size
  }

  /** Variance of the sum of all, if they were independent. */
  get independent(): number {
    return (this.#squares * this.#count) / Math.max(1, this.#count - 1)
  }

  products() {
    // Without stretches that have none.
    const sums = this.#sums.filter(() => true)
    let [squares, neighbors] = [0, 0]
    sums.forEach((sum, i) => {
      squares += sum ** 2
      neighbors += sum * (sums[i - 1] ?? 0)
    })
    return { squares, neighbors }
  }
}

export interface Wandering {
  readonly periods: readonly StretchSums[]
  readonly kurtosis?: number
}

/**
 * How long levels are taken to last: as those of flicker noise do, slowly and quickly alike, or as
 * long as stretches of all measures let one learn; not at all if `false`.
 */
export type Lasting = 'flicker' | 'learned' | false

/** See `designEffects`. */
export interface DesignOptions {
  readonly lasts?: Lasting
  readonly maxShared?: number
}

/** A design effect is estimated from at least this many stretches of time in all. */
const MIN_DF = 4
/** Part of a level that neighbors are taken to keep where little wanders, worth some measures. */
const PRIOR_KEPT = 0.3
const PRIOR_MEASURES = 0.5
/** How many of its own an effect is as sure as, however many measures moderate it. */
const MAX_SHARED = 2
/** Levels that keep more are drifts, of which ten stretches do not tell how far they go. */
const MAX_KEPT = 0.9

/**
 * Returns how many times larger the variance of each measure's sum is than independent values would
 * have, since neighbors in time are alike.
 *
 * All measures share one correlation of values in one stretch of time; each measure's own effect
 * moderates what that lets expect of it (`moderatedVariances`). Levels last: whole periods differ by
 * more than their stretches show. How long, ten stretches hardly tell: learned from them (a first-order
 * autoregression; the median over measures, weighted by how much they wander, with a prior of 0.3), 7
 * of 33 thirds of a recorded run have an alarm, and none if levels wander as flicker noise does, slowly
 * and quickly alike: the machine warms up, caches fill, neighbors come.
 *
 * @param options.lasts how long levels last; default `'flicker'`. Not at all: differences of periods
 *   of the same time, which drift together
 * @param options.maxShared an effect is as sure as this many of its own, however many measures moderate
 *   it; default 2
 *
 * Sources: Kish 1965, "Survey Sampling", §5.4; Smyth 2004 (see `moderatedVariances`); for the
 * autocorrelation left after the mean is taken off, Kendall 1954, "Note on bias in the estimation of
 * autocorrelation".
 */
export function designEffects(
  measures: readonly Wandering[],
  { lasts = 'flicker', maxShared = MAX_SHARED }: DesignOptions = {},
) {
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
  const growth = growthOf(lasts, measures, (i) => isKnown[i] === true)
  const expected = seen.map(({ perStretch }) => 1 + Math.max(0, perStretch - 1) * correlation)
  const ratios = moderatedVariances(
    seen.map(({ effect }, i) => (isKnown[i] ? effect / (expected[i] as number) : Number.NaN)),
    seen.map(({ df }) => df),
  )
  const typicalDf = Math.max(0, ...seen.map(({ df }) => df))
  return {
    effects: expected.map((one, i) => {
      const ratio = ratios.variances[i] as number
      const moderated = Number.isNaN(ratio) ? one : one * ratio
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
    variance += size < 2 ? period.independent : (period.products().squares * size) / (size - 1)
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

function growthOf(
  lasts: Lasting,
  measures: readonly Wandering[],
  isKnown: (measure: number) => boolean,
): number {
  if (lasts === false) return 1
  const stretches = Math.max(2, ...measures.flatMap(({ periods }) => periods.map((p) => p.size)))
  if (lasts === 'flicker') return flickerGrowth(stretches)
  return learnedGrowth(
    measures.filter((_, i) => isKnown(i)),
    stretches,
  )
}

/** By how much whole periods wander more than their stretches of time let expect, learned from these. */
function learnedGrowth(measures: readonly Wandering[], stretches: number): number {
  const seen = [{ ratio: lasting(PRIOR_KEPT, stretches).seen, weight: PRIOR_MEASURES }]
  for (const { periods } of measures) {
    let [own, squares, df] = [0, 0, 0]
    for (const period of periods) {
      const unit = period.independent / period.size
      if (period.size < 3 || !(unit > 0)) continue
      const products = period.products()
      const rest = period.size - 1
      own += products.neighbors / unit + rest / period.size
      squares += products.squares / unit
      df += rest
    }
    // Of values that hardly wander, neighbors say little.
    if (squares > df) seen.push({ ratio: own / (squares - df), weight: 1 - df / squares })
  }
  const typical = weightedMedian(seen)
  let [low, high] = [0, MAX_KEPT]
  for (let round = 0; round < 50; round++) {
    const middle = (low + high) / 2
    if (lasting(middle, stretches).seen < typical) low = middle
    else high = middle
  }
  return lasting((low + high) / 2, stretches).growth
}

function weightedMedian(all: { readonly ratio: number; readonly weight: number }[]): number {
  const half = all.reduce((sum, { weight }) => sum + weight, 0) / 2
  let below = 0
  for (const { ratio, weight } of all.sort((a, b) => a.ratio - b.ratio)) {
    below += weight
    if (below >= half) return ratio
  }
  return 0
}

/** What a level does of which stretches keep a part: the correlation seen, and the variance. */
function lasting(kept: number, stretches: number): { readonly seen: number; growth: number } {
  const rows = Array.from(
    { length: stretches },
    (_, i) => (1 + kept - kept ** (i + 1) - kept ** (stretches - i)) / (1 - kept),
  )
  const all = rows.reduce((sum, row) => sum + row, 0)
  let neighbors = 0
  for (let i = 1; i < stretches; i++) {
    const means = ((rows[i - 1] as number) + (rows[i] as number)) / stretches
    neighbors += kept - means + all / stretches ** 2
  }
  const squares = stretches - all / stretches
  return { seen: neighbors / squares, growth: ((all / stretches) * (stretches - 1)) / squares }
}

/**
 * By how many times whole periods wander more than their stretches let expect, if levels wander as
 * flicker noise does: means of long stretches then differ from their neighbors by as much as those of
 * short ones (a constant Allan variance).
 */
export function flickerGrowth(stretches: number): number {
  return (2 * (stretches - 1) * Math.LN2) / Math.log(stretches)
}
