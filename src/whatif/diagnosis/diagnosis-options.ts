import type { Finding } from '../../compare/findings/finding.ts'
import {
  count,
  custom,
  defineOptions,
  flag,
  level,
  number,
  type OptionsOf,
  oneOf,
  readOptions,
  share,
} from '../../core/options.ts'
import { EXECUTION_MODEL_OPTIONS } from '../models/execution-models.ts'
import { chooseFeature, type FeatureChoice } from '../scenarios/features.ts'
import { factorsOption, requireFactors } from '../scenarios/single-changes.ts'
import { DIVERGENCES } from './target-divergence.ts'

/** Options of `diagnoseLatency`. */
export const DIAGNOSIS_OPTIONS = defineOptions({
  divergence: oneOf(DIVERGENCES, {
    default: 'kl',
    sentence:
      "Distance to the target: 'kl' Kullback-Leibler over log bins, 'wasserstein' mean shift in µs, 'ks' largest gap between the distribution functions",
    flag: 'divergence <name>',
  }),
  depth: count({
    default: 'auto',
    or: 'auto',
    unit: 'levels',
    sentence: "Most levels of the tree; 'auto' is 5, and 3 from 100,000 calls on",
  }),
  beam: count({
    default: 5,
    unit: 'scenarios',
    sentence: 'Most scenarios of a level that are taken further, best first',
  }),
  pruning: share({
    default: 0.5,
    sentence: 'Score among siblings above which a scenario is not taken further',
  }),
  minimumGain: share({
    default: 0.01,
    sentence: 'Share of the distance by which a scenario must come closer to be taken further',
  }),
  sampleSize: count({
    default: 5000,
    unit: 'traces',
    sentence: 'Most traces of each period, chosen at random',
  }),
  minimumPartition: count({
    default: 30,
    unit: 'requests or calls',
    sentence: 'Fewest of a kind that is looked at by itself',
  }),
  services: flag({
    default: true,
    sentence: 'Whether the calls of a service are also looked at together, wherever they are made',
  }),
  structural: flag({
    default: true,
    sentence: 'Whether kinds of requests are looked at: as fast as others, more or less frequent',
  }),
  features: custom<readonly FeatureChoice[] | 'auto'>({
    default: 'auto',
    sentence:
      "Features that divide requests and calls; 'auto' is host, operation, calls, load, concurrency, attributes of at most 16 values, numbers of many or rare values, cut where they tell slow calls from fast ones, and attributes and events that some calls of an operation have; 'serviceLoad', 'attribute:KEY', 'has:KEY' and 'event:NAME' can be asked for",
    accepts: (value) => value === 'auto' || Array.isArray(value),
    expected: "'auto' or a list of features",
    flag: 'features <list>',
    parse: (text) => (text === 'auto' ? text : text.split(',').map((each) => each.trim())),
  }),
  finding: custom<Finding | null>({
    default: null,
    sentence: 'Finding of a comparison of the same periods that the first scenarios are about',
    accepts: (value) => value === null || Array.isArray((value as Finding)?.steps),
    expected: 'a finding of compare, or null',
  }),
  factors: factorsOption([0.5, 0.8, 1.25, 2]),
  similarity: EXECUTION_MODEL_OPTIONS.similarity,
  service: EXECUTION_MODEL_OPTIONS.service,
  operation: EXECUTION_MODEL_OPTIONS.operation,
  caller: EXECUTION_MODEL_OPTIONS.caller,
  alpha: level({ default: 0.05, sentence: 'Significance level of the tests' }),
  seed: number({ default: 1, sentence: 'Seed of the samples' }),
  signal: custom<AbortSignal | null>({
    default: null,
    sentence: 'Stops the diagnosis, which then holds the scenarios tried by then',
    accepts: (value) => value === null || typeof (value as AbortSignal)?.aborted === 'boolean',
    expected: 'an AbortSignal or null',
  }),
})
export type DiagnosisOptions = OptionsOf<typeof DIAGNOSIS_OPTIONS>

/** @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take */
export function diagnosisOptions(given: Partial<DiagnosisOptions>): DiagnosisOptions {
  const options = readOptions(DIAGNOSIS_OPTIONS, given)
  if (options.features !== 'auto') {
    for (const feature of options.features) chooseFeature(feature, 'features')
  }
  requireFactors(options.factors)
  return options
}
