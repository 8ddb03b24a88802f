import type { Command } from 'commander'
import { rollup } from 'd3-array'
import type { Categories } from '../compare/categories/categories.ts'
import { categorize } from '../compare/categories/categorize.ts'
import type { LabelCount } from '../compare/precursors/label-difference.ts'
import { count, defineOptions, flag } from '../core/options.ts'
import { formatAmount, TIME } from '../core/quantity.ts'
import { leftOutLines, tableOf } from '../core/text-layout.ts'
import { counted, grouped, percent, pValue, shortTexts, tooltipText } from '../core/words.ts'
import { findBlindSpots, MIN_REQUESTS, recordText } from '../explain/blind-spots.ts'
import type { EdgeVariance } from '../explain/variance/category-variance.ts'
import {
  type CategorySpreadTest,
  compareSpreads,
  type SpreadComparison,
} from '../explain/variance/compare-spreads.ts'
import type { Anomalies, AnomalousEdge, Anomaly } from '../explain/variance/find-anomalies.ts'
import {
  type CategorySpread,
  findVariance,
  VARIANCE_OPTIONS,
  type VarianceSources,
} from '../explain/variance/find-variance.ts'
import type { MergedBehaviors } from '../explain/variance/merged-behaviors.ts'
import { AFTER, BEFORE } from '../flows/flow-set.ts'
import { rootName } from '../views/charts/node-names.ts'
import {
  COUNT,
  document,
  FLAG,
  listOf,
  MEASURED,
  optional,
  orNull,
  record,
  TEXT,
  truncated,
  WARNINGS,
  words,
} from './document.ts'
import { addOptions, type Flags, type FlagsOf, optionsFrom } from './flags.ts'
import { addOnePeriod, categorizeFiles, SPLIT_FLAGS, type SplitFlags } from './load-period.ts'
import {
  JSON_FLAG,
  type PrintedWarning,
  printJson,
  printText,
  textWidth,
  warningLines,
} from './printing.ts'

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
  dip: MEASURED,
  p: MEASURED,
  q: MEASURED,
  toldBy: orNull(TEXT).about('Parameter that tells both apart; null: instrument there.'),
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
  of: COUNT.about('Requests of the category; of a rare structure, all with its root.'),
  farOut: FLAG.about('False where they are only the slowest 1 %.'),
  medianUs: MEASURED,
  usualUs: MEASURED,
  excessUs: MEASURED,
  usual: COUNT.about('Category they are compared with.'),
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
  added: LABELS,
  removed: LABELS,
  exemplars: listOf(TEXT),
})

type SpreadOf = CategorySpread & {
  readonly results: VarianceResults
  readonly found: ReturnType<VarianceSources['category']>
}

const CATEGORY = record<SpreadOf>({
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
  edgesInAll: optional(COUNT).from(({ found }) =>
    found.edges.length > MAX_EDGES ? found.edges.length : undefined,
  ),
  period: optional(words('before', 'after')).from(
    ({ results, period }) => (results.spreads === null ? undefined : period),
    'Present with --after.',
  ),
})

const SPREAD = record<CategorySpreadTest & { readonly root: string }>({
  id: COUNT.from(({ category }) => category),
  root: TEXT,
  before: COUNT.from(({ test }) => test.beforeCount),
  after: COUNT.from(({ test }) => test.afterCount),
  beforeDeviationUs: MEASURED.from(({ test }) => test.beforeDeviation),
  afterDeviationUs: MEASURED.from(({ test }) => test.afterDeviation),
  statistic: MEASURED.from(({ test }) => test.statistic),
  p: MEASURED.from(({ test }) => test.p),
  q: MEASURED,
  direction: TEXT.from(({ test }) => test.direction),
  changed: FLAG.from(({ rejected }) => rejected),
})

const SPREADS = record<{ readonly spreads: SpreadComparison; readonly limit: number }>({
  overall: record<SpreadComparison['overall']>({ statistic: MEASURED, p: MEASURED }).from(
    ({ spreads }) => spreads.overall,
  ),
  categories: listOf(SPREAD).from(({ spreads: { tests, categories }, limit }) =>
    tests.slice(0, limit).map((test) => ({ ...test, root: categories.root(test.category) })),
  ),
})

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
      'With --anomalies: far out first; cut at --limit.',
    ),
    spreads: optional(SPREADS).from(
      ({ spreads, limit }) => (spreads === null ? undefined : { spreads, limit }),
      'With --after: whether the spread of response times changed.',
    ),
    warnings: WARNINGS,
  },
)

const VARIANCE_FLAGS = defineOptions({
  anomalies: flag({
    default: false,
    sentence: 'Also find the slowest and the rarest requests, and what sets them apart',
  }),
  json: JSON_FLAG,
  limit: count({ default: 1000, sentence: 'List at most this many categories' }),
})

interface VarianceFlags extends FlagsOf<typeof VARIANCE_FLAGS>, SplitFlags {
  readonly after?: string[]
}

export function addVariance(command: Command): void {
  addOnePeriod(command).option(
    '--after <file...>',
    'Traces of a second period, to compare variances with',
  )
  addOptions(command, SPLIT_FLAGS, VARIANCE_OPTIONS, VARIANCE_FLAGS).action(runVariance)
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
    spreads: isOne ? null : compareSpreads(categories, { large }),
    warnings: [...warnings, ...noneLarge(variance)],
    limit,
  }
  if (json) printJson(VARIANCE_DOCUMENT.write(results))
  else printText(varianceText(results))
}

const MAX_NAME_LENGTH = 160
const MOST = { categories: 5, edges: 3, merged: 3, spots: 3, spreads: 5 } as const
/** Smallest share of the variance that is worth another span. */
const MIN_GAIN = 0.05

function varianceText(results: VarianceResults): string {
  const { variance, anomalies, spreads, warnings, limit } = results
  const { ranked } = variance
  const shown = ranked.slice(0, limit)
  const both = spreads !== null
  const spots = blindSpotsText(variance, both)
  const { quantity } = variance.categories.flows
  const nameOf = kindNames(ranked, variance.categories)
  const names = shortTexts(shown.map(nameOf), MAX_NAME_LENGTH)
  const apartBy = rowsApart(shown, variance.categories, nameOf)
  const table = tableOf(
    shown,
    {
      'kind of request': (spread, i) => `${names[i]}${apartBy(spread)}`,
      category: ({ category }) => String(category),
      steps: ({ category }) => String(variance.categories.nodeCount(category)),
      ...(both && { period: ({ period }: CategorySpread) => period }),
      requests: ({ requests }) => String(requests),
      mean: ({ meanUs }) => formatAmount(meanUs, quantity),
      'C²': ({ c2 }) => (Number.isNaN(c2) ? '–' : c2.toPrecision(3)),
    },
    { width: textWidth() },
  )
  return [
    summary(variance),
    ...warningLines(warnings),
    ...(shown.length === 0 ? [] : [table]),
    ...shown
      .slice(0, MOST.categories)
      .map((spread) => sourceText(variance, spread, { name: nameOf(spread), both })),
    ...mergedText(variance, both, spots.length > 0),
    ...spots,
    ...(anomalies === null ? [] : [anomalies.text()]),
    ...(spreads === null ? [] : [spreadsText(spreads)]),
    ...leftOutLines(ranked.length - shown.length),
  ].join('\n\n')
}

function summary(variance: VarianceSources): string {
  const { ranked, small, options } = variance
  const below = variance.shareBelowOne()
  return (
    `${counted(ranked.length, 'category', 'categories')} of more than ${options.large} requests` +
    (Number.isNaN(below)
      ? ''
      : `; C², the variance over the square of the mean, is below 1 in ${percent(below)} of them`) +
    (ranked.length > 0 && Number.isNaN(below) ? '; none has a C²: all took 0 µs' : '') +
    (small === 0 ? '.' : `; ${counted(small, 'smaller one')} left out${smallText(variance)}.`)
  )
}

/** Returns the share of requests in categories that are not large, as Tables 3.2 and 3.3 of the thesis have it. */
function smallText({ categories, options: { large } }: VarianceSources): string {
  const shares = categories.sizes({ large }).array('inLargeShare') as number[]
  return `, with ${shares.map((share) => percent(1 - share)).join(' and ')} of the requests`
}

/**
 * Returns advice if no category is large. If hosts make them small, `--omit-hosts` helps, and a lower limit does not.
 */
function noneLarge({ ranked, categories, options: { large } }: VarianceSources): PrintedWarning[] {
  if (ranked.length > 0) return []
  const { flows, options } = categories
  const most = Math.max(0, ...sizesOf(categories))
  const without = categorize(flows, { ...options, omitHosts: true })
  const largest = Math.max(0, ...sizesOf(without))
  const size = `The largest category has ${counted(most, 'request')}`
  const more = 'more traces, or see flowdelta explosion'
  const message =
    largest > large
      ? `${size}, and without hosts ${grouped(largest)}. Give --omit-hosts to merge requests that different hosts served.`
      : most < 2
        ? 'No category has two requests, so there is no variance. Give more traces, or see flowdelta explosion.'
        : most > USUAL_LARGE
          ? `${size}. Give --large ${USUAL_LARGE}, ${more}.`
          : `${size}. Give ${more}.`
  return [{ code: 'none-large', message }]
}

const USUAL_LARGE = VARIANCE_OPTIONS.large.default

function sizesOf(categories: Categories): number[] {
  return Array.from({ length: categories.size }, (_, category) =>
    Math.max(categories.count(category, BEFORE), categories.count(category, AFTER)),
  )
}

/** Names kinds of request as elsewhere; those that differ by their first step alone, as by its host, by that. */
function kindNames(ranked: readonly CategorySpread[], categories: Categories) {
  const whole = ({ category }: CategorySpread) => rootName(categories, category, MAX_NAME_LENGTH)
  const roots = rollup(ranked, (own) => new Set(own.map(({ root }) => root)).size, whole)
  return (spread: CategorySpread) => (roots.get(whole(spread)) === 1 ? whole(spread) : spread.root)
}

/** Says what distinguishes a row from others of its name: a place or call that the fewest of these have. */
function rowsApart(
  rows: readonly CategorySpread[],
  categories: Categories,
  nameOf: (spread: CategorySpread) => string,
): (spread: CategorySpread) => string {
  const partsOf = ({ category }: CategorySpread) => {
    const labels = Array.from({ length: categories.nodeCount(category) }, (_, node) =>
      categories.shownNode(category, node),
    )
    return new Set([
      ...labels.map(({ service, host }) => (host === '' ? service : `${service}@${host}`)),
      ...labels.map(({ service, operation }) => `${service} ${operation}`),
    ])
  }
  const all = rollup(rows, (own) => own.map(partsOf), nameOf)
  return (spread) => {
    const others = all.get(nameOf(spread)) ?? []
    const having = (part: string) => others.filter((other) => other.has(part)).length
    const apart = [...partsOf(spread)].filter((part) => having(part) < others.length)
    const [first] = apart.sort((a, b) => having(a) - having(b))
    return first === undefined ? '' : ` · with ${tooltipText(first)}`
  }
}

function sourceText(
  variance: VarianceSources,
  spread: CategorySpread,
  { name: kind, both }: { readonly name: string; readonly both: boolean },
): string {
  const { edges, note } = variance.category(spread)
  const lines = edges
    .filter(({ share }) => Number.isFinite(share))
    .slice(0, MOST.edges)
    .map((edge) => `   ${percent(edge.share)}: ${edgeText(edge, edges)}`)
  const period = both ? `, ${spread.period}` : ''
  const name = `category ${spread.category}, ${tooltipText(kind)}${period}`
  return [`Variance of ${name}. ${note}`, ...lines].join('\n')
}

/** Returns the text of an edge, distinct from others between the same two labels. */
function edgeText(edge: EdgeVariance, edges: readonly EdgeVariance[]): string {
  const { from, to, occurrence, fromRoundBefore } = edge
  const isOne = edges.filter((other) => other.from === from && other.to === to).length === 1
  const number = isOne && occurrence === 0 ? '' : ` (no. ${occurrence + 1} of that name)`
  const round = fromRoundBefore ? ' of the next round' : ''
  return `${tooltipText(from)} → ${tooltipText(to)}${round}${number}`
}

/** @param isRanked whether steps to instrument are ranked elsewhere */
function mergedText(
  { merged, categories }: VarianceSources,
  both: boolean,
  isRanked: boolean,
): string[] {
  if (merged.length === 0) return []
  const { quantity } = categories.flows
  const part = ({ requests, medianUs }: MergedBehaviors['faster']) =>
    `${counted(requests, 'request')} about ${formatAmount(medianUs, quantity)}`
  const block = (title: string, edges: readonly MergedBehaviors[]) => {
    if (edges.length === 0) return []
    const lines = edges
      .slice(0, MOST.merged)
      .flatMap((edge) => [
        `   ${tooltipText(edge.from)} → ${tooltipText(edge.to)} (category ${edge.category}${both ? `, ${edge.period}` : ''})`,
        `      ${part(edge.faster)}, ${part(edge.slower)}; dip test ${pValue(edge.q, 'q')}`,
        ...(edge.toldBy === null ? [] : [`      told apart by ${tooltipText(edge.toldBy)}`]),
      ])
    const more = edges.length - MOST.merged
    return [[title, ...lines, ...(more > 0 ? [`   … and ${more} more`] : [])].join('\n')]
  }
  return [
    ...block(
      'Instrument here: these steps do two things that the trace does not tell apart.',
      merged.filter(({ toldBy }) => toldBy === null && !isRanked),
    ),
    ...block(
      'These steps do two things; an attribute tells which:',
      merged.filter(({ toldBy }) => toldBy !== null),
    ),
  ]
}

function blindSpotsText({ categories: { flows } }: VarianceSources, both: boolean): string[] {
  const period = both ? AFTER : BEFORE
  if (flows.quantity !== TIME || flows.wholes(period) < MIN_REQUESTS) return []
  const { spots } = findBlindSpots(flows, { period: both ? 'after' : 'before' })
  const lines = spots
    .filter(({ gain }) => gain >= MIN_GAIN)
    .slice(0, MOST.spots)
    .map((spot, i) => `   ${i + 1}. ${percent(spot.gain)}: ${recordText(spot)}`)
  if (lines.length === 0) return []
  const title = `Record next${both ? ' (after)' : ''}, by share of the response-time variance that nothing recorded explains:`
  return [[title, ...lines].join('\n')]
}

function spreadsText({ overall, tests, changed, categories }: SpreadComparison): string {
  if (tests.length === 0)
    return 'No category is large enough in both periods to compare its spread.'
  const { quantity } = categories.flows
  const lines = changed.slice(0, MOST.spreads).map(({ category, test, q }) => {
    const [before, after] = [test.beforeDeviation, test.afterDeviation].map((amount) =>
      formatAmount(amount, quantity),
    )
    return `   category ${category}, ${tooltipText(categories.root(category))}: ${before} → ${after} from the median, ${pValue(q, 'q')}`
  })
  const more = changed.length - lines.length
  return [
    `Spread of ${quantity === TIME ? 'response times' : quantity.name}, before against after: ${pValue(overall.p)} over all categories; ` +
      `it changed in ${changed.length} of ${counted(tests.length, 'category', 'categories')}` +
      `${changed.length === 0 ? '.' : ':'}`,
    ...lines,
    ...(more > 0 ? [`   … and ${more} more`] : []),
  ].join('\n')
}
