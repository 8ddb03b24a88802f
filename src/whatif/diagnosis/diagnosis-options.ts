import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { requireCount, requireOneOf, requireShare } from '../../stats/require-option.ts'
import { requireSimilarity } from '../models/learn-execution-models.ts'
import { chooseFeature, type FeatureChoice } from '../scenarios/features.ts'
import { DIVERGENCES, type DivergenceName } from './target-divergence.ts'

export interface DiagnosisOptions {
  /**
   * How the distance to the target is measured: `'kl'` Kullback-Leibler divergence over log bins,
   * `'wasserstein'` by how much requests would have to move on average (µs), `'ks'` the largest gap
   * between the distribution functions. Default `'kl'`.
   */
  readonly divergence: DivergenceName
  /**
   * How many levels the tree has at most. Default `'auto'`: 5, and 3 where the sampled traces have more
   * than 100,000 calls.
   */
  readonly depth: number | 'auto'
  /** How many scenarios of a level are taken further, best first. Default 5. */
  readonly beam: number
  /** Scenarios with a higher score among their siblings than this are not taken further. Default 0.5. */
  readonly pruning: number
  /** Nor are those that bring the profile closer to the target by less than this share. Default 0.01. */
  readonly minimumGain: number
  /** How many traces of each period are looked at, chosen at random. Default 5,000. */
  readonly sampleSize: number
  /** Kinds of requests or calls that are fewer than this are not looked at by themselves. Default 30. */
  readonly minimumPartition: number
  /** Whether a service's calls are also looked at together, wherever they are made. Default `true`. */
  readonly services: boolean
  /** Whether kinds of requests are looked at: as fast as others, or more or less frequent. Default `true`. */
  readonly structural: boolean
  /**
   * What kinds of requests and calls are told apart by. Default `'auto'`: host, calls, load,
   * concurrency, and attributes of at most 16 values.
   */
  readonly features: readonly FeatureChoice[] | 'auto'
  /** How many times as long calls take, where the target is no set of traces. Default 0.5, 0.8, 1.25, 2. */
  readonly factors: readonly number[]
  /** As of `learnExecutionModels`: orders of calls that are less alike are different flows. Default 0.3. */
  readonly similarity: number
  /** The level of tests. Default 0.05. */
  readonly alpha: number
  /** Of samples. Default 1. */
  readonly seed: number
  /** Stops the diagnosis, which then is of the scenarios that were tried by then. Default: none. */
  readonly signal: AbortSignal | null
}

const DEFAULTS: DiagnosisOptions = {
  divergence: 'kl',
  depth: 'auto',
  beam: 5,
  pruning: 0.5,
  minimumGain: 0.01,
  sampleSize: 5000,
  minimumPartition: 30,
  services: true,
  structural: true,
  features: 'auto',
  factors: [0.5, 0.8, 1.25, 2],
  similarity: 0.3,
  alpha: 0.05,
  seed: 1,
  signal: null,
}

/** @throws FlowdeltaError for an unknown option, OptionError for one out of range. */
export function diagnosisOptions(given: Partial<DiagnosisOptions>): DiagnosisOptions {
  rejectUnknownOptions(given, Object.keys(DEFAULTS))
  const options: DiagnosisOptions = { ...DEFAULTS, ...given }
  requireOneOf('divergence', options.divergence, DIVERGENCES)
  if (options.depth !== 'auto') requireCount('depth', options.depth)
  requireCount('beam', options.beam)
  requireCount('sampleSize', options.sampleSize)
  requireCount('minimumPartition', options.minimumPartition)
  for (const name of ['pruning', 'minimumGain'] as const) {
    const value = options[name]
    if (!(value >= 0 && value <= 1)) throw new OptionError(name, value, 'a share from 0 to 1')
  }
  requireSimilarity(options.similarity)
  requireShare('alpha', options.alpha)
  if (!Number.isSafeInteger(options.seed)) throw new OptionError('seed', options.seed, 'an integer')
  if (options.features !== 'auto') {
    for (const feature of options.features) chooseFeature(feature, 'features')
  }
  options.factors.forEach((factor, i) => {
    if (factor >= 0 && factor < Number.POSITIVE_INFINITY) return
    throw new OptionError(`factors[${i}]`, factor, 'a number from 0 up')
  })
  return options
}
