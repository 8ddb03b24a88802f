import type { LabelCount } from '../compare/precursors/label-difference.ts'
import type { EdgeVariance } from '../explain/variance/category-variance.ts'
import type { CategorySpreadTest, SpreadComparison } from '../explain/variance/compare-spreads.ts'
import type { Anomalies, AnomalousEdge, Anomaly } from '../explain/variance/find-anomalies.ts'
import {
  type CategorySpread,
  VARIANCE_OPTIONS,
  type VarianceSources,
} from '../explain/variance/find-variance.ts'
import type { MergedBehaviors } from '../explain/variance/merged-behaviors.ts'
import {
  about,
  COUNT,
  document,
  FLAG,
  listOf,
  MEASURED,
  made,
  optional,
  orNull,
  type Part,
  record,
  TEXT,
  truncated,
  WARNINGS,
  words,
} from './document.ts'
import type { PrintedWarning } from './printing.ts'

export interface VarianceResults {
  readonly variance: VarianceSources
  /** Anomalies, with `--anomalies`. */
  readonly anomalies: Anomalies | null
  readonly spreads: SpreadComparison | null
  readonly warnings: readonly PrintedWarning[]
  readonly limit: number
}

const MAX_EDGES = 50

const EDGE = record<EdgeVariance>({
  from: TEXT,
  to: TEXT,
  occurrence: COUNT,
  fromRoundBefore: made(
    ({ fromRoundBefore }) => fromRoundBefore || undefined,
    optional(FLAG),
    'Present where the edge leads to the next round of a loop.',
  ),
  varianceUs2: MEASURED,
  varianceShare: made(({ share }) => share, MEASURED),
  onCriticalPath: about('Share of requests whose critical path has the edge.', MEASURED),
  mark: made(({ mark }) => mark ?? undefined, optional(TEXT as Part<string>)),
})

const BEHAVIOR = record<MergedBehaviors['faster']>({ requests: COUNT, medianUs: MEASURED })

const MERGED = record<MergedBehaviors>({
  category: COUNT,
  period: TEXT,
  from: TEXT,
  to: TEXT,
  occurrence: COUNT,
  varianceShare: made(({ share }) => share, MEASURED),
  dip: MEASURED,
  p: MEASURED,
  q: MEASURED,
  toldBy: about('Parameter that tells both apart; null: instrument there.', orNull(TEXT)),
  faster: BEHAVIOR,
  slower: BEHAVIOR,
})

const MAX_LABELS = 20
const LABELS = listOf(record<LabelCount>({ label: TEXT, count: COUNT }), MAX_LABELS)

const ANOMALY = record<Anomaly>({
  kind: TEXT,
  category: COUNT,
  period: TEXT,
  root: TEXT,
  requests: COUNT,
  of: about('Requests of the category; of a rare structure, all with its root.', COUNT),
  farOut: about('False where they are only the slowest 1 %.', FLAG),
  medianUs: MEASURED,
  usualUs: MEASURED,
  excessUs: MEASURED,
  usual: about('Category they are compared with.', COUNT),
  edges: listOf(
    record<AnomalousEdge>({
      from: TEXT,
      to: TEXT,
      occurrence: COUNT,
      meanUs: MEASURED,
      usualUs: MEASURED,
      share: about('Share of what they take longer.', MEASURED),
    }),
    MAX_EDGES,
  ),
  added: LABELS,
  removed: LABELS,
  exemplars: listOf(TEXT),
})

type SpreadOf = CategorySpread & {
  readonly results: VarianceResults
  readonly found: ReturnType<VarianceSources['category']>
}

const CATEGORY = record<SpreadOf>({
  id: made(({ category }) => category, COUNT),
  root: TEXT,
  requests: COUNT,
  meanUs: MEASURED,
  varianceUs2: MEASURED,
  c2: MEASURED,
  timeShare: about('Share of all response time that the category takes.', MEASURED),
  importance: about('C² times timeShare.', MEASURED),
  note: made(({ found }) => found.note, TEXT),
  edges: made(
    ({ found }) => found.edges,
    listOf(EDGE, MAX_EDGES),
    `Largest share of the variance first, at most ${MAX_EDGES}; edgesInAll when there are more.`,
  ),
  edgesInAll: made(
    ({ found }) => (found.edges.length > MAX_EDGES ? found.edges.length : undefined),
    optional(COUNT),
  ),
  period: made(
    ({ results, period }) => (results.spreads === null ? undefined : period),
    optional(words('before', 'after')),
    'Present with --after.',
  ),
})

const SPREAD = record<CategorySpreadTest & { readonly root: string }>({
  id: made(({ category }) => category, COUNT),
  root: TEXT,
  before: made(({ test }) => test.beforeCount, COUNT),
  after: made(({ test }) => test.afterCount, COUNT),
  beforeDeviationUs: made(({ test }) => test.beforeDeviation, MEASURED),
  afterDeviationUs: made(({ test }) => test.afterDeviation, MEASURED),
  statistic: made(({ test }) => test.statistic, MEASURED),
  p: made(({ test }) => test.p, MEASURED),
  q: MEASURED,
  direction: made(({ test }) => test.direction, TEXT),
  changed: made(({ rejected }) => rejected, FLAG),
})

const SPREADS = record<{ readonly spreads: SpreadComparison; readonly limit: number }>({
  overall: made(
    ({ spreads }) => spreads.overall,
    record<SpreadComparison['overall']>({ statistic: MEASURED, p: MEASURED }),
  ),
  categories: made(
    ({ spreads: { tests, categories }, limit }) =>
      tests.slice(0, limit).map((test) => ({ ...test, root: categories.root(test.category) })),
    listOf(SPREAD),
  ),
})

export const VARIANCE_DOCUMENT = document<VarianceResults>(
  'variance',
  'What `flowdelta variance --json` prints.',
  {
    shareBelowOne: made(
      ({ variance }) => variance.shareBelowOne(),
      MEASURED,
      'Share of categories whose C² is below 1.',
    ),
    large: made(({ variance }) => variance.options.large, COUNT, VARIANCE_OPTIONS.large.sentence),
    smallCategories: made(({ variance }) => variance.small, COUNT),
    categories: made(
      (results) =>
        results.variance.ranked
          .slice(0, results.limit)
          .map((spread) => ({ ...spread, results, found: results.variance.category(spread) })),
      listOf(CATEGORY),
      'Highest C² first, with --order importance highest importance; cut at --limit.',
    ),
    truncated: truncated('categories', ({ variance, limit }) => ({
      all: variance.ranked.length,
      limit,
    })),
    merged: made(
      ({ variance }) => variance.merged,
      listOf(MERGED, MAX_EDGES),
      `Edges whose latencies have more than one mode, at most ${MAX_EDGES}.`,
    ),
    anomalies: made(
      ({ anomalies, limit }) => anomalies?.anomalies.slice(0, limit),
      optional(listOf(ANOMALY)),
      'With --anomalies: far out first; cut at --limit.',
    ),
    spreads: made(
      ({ spreads, limit }) => (spreads === null ? undefined : { spreads, limit }),
      optional(SPREADS),
      'With --after: whether the spread of response times changed.',
    ),
    warnings: WARNINGS,
  },
)
