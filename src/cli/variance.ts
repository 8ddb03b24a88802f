import type { Command } from 'commander'
import {
  COUNT,
  countBeyond,
  document,
  FLAG,
  listOf,
  MEASURED,
  optional,
  orNull,
  record,
  TEXT,
  truncated,
  words,
} from '../core/json-parts.ts'
import { count, defineOptions, flag } from '../core/options.ts'
import type { EdgeVariance } from '../explain/variance/category-variance.ts'
import type { AnomalousEdge, Anomaly } from '../explain/variance/find-anomalies.ts'
import {
  type CategorySpread,
  compareVariances,
  findVariance,
  VARIANCE_OPTIONS,
  type VarianceSources,
} from '../explain/variance/find-variance.ts'
import type { MergedBehaviors } from '../explain/variance/merged-behaviors.ts'
import type { KsResult } from '../stats/ks-two-sample.ts'
import { noneLarge, type VarianceResults, varianceText } from '../views/text/variance-text.ts'
import { addOptions, type Flags, type FlagsOf, optionsFrom, paths } from './flags.ts'
import { addOnePeriod, categorizeFiles, SPLIT_FLAGS, type SplitFlags } from './load-period.ts'
import { JSON_FLAG, printResults, WARNINGS } from './printing.ts'

const MAX_EDGES = 50

const EDGE = record<EdgeVariance>({
  from: TEXT,
  to: TEXT,
  occurrence: COUNT,
  fromRoundBefore: optional(FLAG).from(
    ({ fromRoundBefore }) => fromRoundBefore || undefined,
    'Present where the edge leads to the next round of a loop.',
  ),
  varianceUs2: MEASURED,
  varianceShare: MEASURED.from(({ share }) => share),
  onCriticalPath: MEASURED.about('Share of requests whose critical path has the edge.'),
})

const BEHAVIOR = record<MergedBehaviors['faster']>({ requests: COUNT, medianUs: MEASURED })

const MERGED = record<MergedBehaviors>({
  category: COUNT,
  period: TEXT,
  from: TEXT,
  to: TEXT,
  occurrence: COUNT,
  varianceShare: MEASURED.from(({ share }) => share),
  toldBy: orNull(TEXT).about('Parameter that tells both apart; null: instrument there.'),
  faster: BEHAVIOR,
  slower: BEHAVIOR,
})

const ANOMALY = record<Anomaly>({
  category: COUNT,
  period: TEXT,
  root: TEXT,
  requests: COUNT,
  of: COUNT.about('Requests of the category.'),
  medianUs: MEASURED,
  usualUs: MEASURED,
  excessUs: MEASURED,
  edges: listOf(
    record<AnomalousEdge>({
      from: TEXT,
      to: TEXT,
      occurrence: COUNT,
      meanUs: MEASURED,
      usualUs: MEASURED,
      share: MEASURED.about('Share of what they take longer.'),
    }),
    MAX_EDGES,
  ),
  exemplars: listOf(TEXT),
})

const CATEGORY = record<
  CategorySpread & { results: VarianceResults; found: ReturnType<VarianceSources['category']> }
>({
  id: COUNT.from(({ category }) => category),
  root: TEXT,
  requests: COUNT,
  meanUs: MEASURED,
  varianceUs2: MEASURED,
  c2: MEASURED,
  timeShare: MEASURED.about('Share of all response time that the category takes.'),
  importance: MEASURED.about('C² times timeShare.'),
  note: TEXT.from(({ found }) => found.note),
  edges: listOf(EDGE, MAX_EDGES).from(
    ({ found }) => found.edges,
    `Largest share of the variance first, at most ${MAX_EDGES}; edgesInAll when there are more.`,
  ),
  edgesInAll: countBeyond(MAX_EDGES, ({ found }) => found.edges.length),
  period: optional(words('before', 'after')).from(
    ({ results, period }) => (results.spreads === null ? undefined : period),
    'Present with --after.',
  ),
})

const SPREADS = record({ overall: record<KsResult>({ statistic: MEASURED, p: MEASURED }) })

export const VARIANCE_DOCUMENT = document<VarianceResults>(
  'variance',
  'What `flowdelta variance --json` prints.',
  {
    shareBelowOne: MEASURED.from(
      ({ variance }) => variance.shareBelowOne(),
      'Share of categories whose C² is below 1.',
    ),
    large: COUNT.from(({ variance }) => variance.options.large, VARIANCE_OPTIONS.large.sentence),
    smallCategories: COUNT.from(({ variance }) => variance.small),
    categories: listOf(CATEGORY).from(
      (results) =>
        results.variance.ranked
          .slice(0, results.limit)
          .map((spread) => ({ ...spread, results, found: results.variance.category(spread) })),
      'Highest C² first, with --order importance highest importance; cut at --limit.',
    ),
    truncated: truncated('categories', ({ variance, limit }) => ({
      all: variance.ranked.length,
      limit,
    })),
    merged: listOf(MERGED, MAX_EDGES).from(
      ({ variance }) => variance.merged,
      `Edges whose latencies have more than one mode, at most ${MAX_EDGES}.`,
    ),
    anomalies: optional(listOf(ANOMALY)).from(
      ({ anomalies, limit }) => anomalies?.anomalies.slice(0, limit),
      'With --anomalies: what takes most time longer first; cut at --limit.',
    ),
    spreads: optional(SPREADS).from(
      ({ spreads }) => (spreads === null ? undefined : { overall: spreads }),
      'With --after: whether the variances within categories changed.',
    ),
    warnings: WARNINGS,
  },
)

const VARIANCE_FLAGS = defineOptions({
  anomalies: flag({
    default: false,
    sentence:
      'Also find requests far slower than the others of their kind, and what sets them apart',
  }),
  json: JSON_FLAG,
  limit: count({ default: 1000, sentence: 'List at most this many categories' }),
})

const AFTER_FLAGS = defineOptions({
  after: paths('after <file...>', 'Traces of a second period, to compare variances with'),
})

type VarianceFlags = FlagsOf<typeof VARIANCE_FLAGS & typeof AFTER_FLAGS> & SplitFlags

export function addVariance(command: Command): void {
  addOptions(addOnePeriod(command), AFTER_FLAGS, SPLIT_FLAGS, VARIANCE_OPTIONS, VARIANCE_FLAGS)
  command.action(runVariance)
}

async function runVariance(files: string[], flags: VarianceFlags & Flags): Promise<void> {
  const { json, limit, after, anomalies } = flags
  const { categories, warnings } = await categorizeFiles(files, flags, after)
  const options = optionsFrom(VARIANCE_OPTIONS, flags)
  const isOne = after === undefined && flags.split === undefined
  const period = isOne ? 'before' : 'both'
  const variance = findVariance(categories, { ...options, period })
  const { large } = variance.options
  const results: VarianceResults = {
    variance,
    anomalies: anomalies ? variance.anomalies() : null,
    spreads: isOne ? null : compareVariances(categories, { large }),
    warnings: [...warnings, ...noneLarge(variance)],
    limit,
  }
  printResults(results, { json, document: VARIANCE_DOCUMENT, text: varianceText })
}
