import type { LogComparison } from '../logs/compare-logs.ts'
import { logsTitle } from '../views/report/log-headline.ts'
import {
  about,
  COUNT,
  document,
  type Each,
  FLAG,
  listOf,
  MEASURED,
  made,
  NUMBER,
  optional,
  type Part,
  record,
  TEXT,
  truncated,
  WARNINGS,
  words,
} from './document.ts'
import type { PrintedWarning } from './printing.ts'

/** The document's names of the periods, which are Distalyzer's. */
const CLASSES = { before: 'good', after: 'bad' } as const

/** Reasons for skipped lines that are listed. */
const MAX_ISSUES = 50

export interface PrintedLogs {
  readonly compared: LogComparison
  readonly warnings: readonly PrintedWarning[]
  readonly limit: number
}

type Variable = Each<LogComparison['divergence']['variables']>
type Graph = Each<LogComparison['attention']['graphs']>

const CLASS = words('good', 'bad')
const ANYTHING: Part<unknown> = { schema: {}, write: (value) => value }

const BY_CLASS = record<{ readonly before: number; readonly after: number }>({
  good: made(({ before }) => before, COUNT),
  bad: made(({ after }) => after, COUNT),
})

const PARAMETERS = record<LogComparison['options']>({
  metric: about('Measure of performance.', ANYTHING),
  alpha: NUMBER,
  correction: words('bonferroni', 'bh', 'none'),
  weights: ANYTHING,
  minSplit: NUMBER,
  mostVariables: COUNT,
  stop: words('significance', 'orange'),
  balance: NUMBER,
  score: words('sum', 'mean'),
  class: made((options) => CLASSES[options.class], CLASS),
})

const OF_CLASS = record<NonNullable<LogComparison['records']>['before']>({
  count: COUNT,
  mean: MEASURED,
  median: MEASURED,
  p99: MEASURED,
})

const PERFORMANCE = record<LogComparison>({
  metric: made(({ options }) => options.metric, ANYTHING),
  node: made(({ tail }) => tail.metric.name, TEXT, 'Name of performance in graphs.'),
  tested: made(({ divergence }) => divergence.performance.tested, FLAG),
  significant: made(({ divergence }) => divergence.performance.significant, FLAG),
  goodCount: made(({ divergence }) => divergence.performance.beforeCount, COUNT),
  badCount: made(({ divergence }) => divergence.performance.afterCount, COUNT),
  leftOut: made(({ networks }) => networks.leftOut, BY_CLASS, 'Instances without the metric.'),
  weighted: made(({ options }) => options.weights !== 'none', FLAG),
  goodMean: made(({ divergence }) => divergence.performance.beforeMean, MEASURED),
  badMean: made(({ divergence }) => divergence.performance.afterMean, MEASURED),
  t: made(({ divergence }) => divergence.performance.t, MEASURED),
  p: made(({ divergence }) => divergence.performance.p, MEASURED),
  heavyTail: made(({ tail }) => tail.isHeavy, FLAG),
  unit: made(({ tail }) => tail.metric.quantity?.text, optional(TEXT)),
  records: made(
    ({ records }) => records,
    optional(
      record<NonNullable<LogComparison['records']>>({
        good: made(({ before }) => before, OF_CLASS),
        bad: made(({ after }) => after, OF_CLASS),
      }),
    ),
    'Records of a metric that instances log many times; median and p99 are of an instance.',
  ),
  suggestion: made(({ tail }) => tail.suggestion || undefined, optional(TEXT)),
})

const FEATURE = record<Each<Variable['features']>>({
  feature: TEXT,
  t: MEASURED,
  df: MEASURED,
  p: MEASURED,
  q: MEASURED,
  tested: FLAG,
  significant: FLAG,
  goodCount: made(({ beforeCount }) => beforeCount, COUNT),
  badCount: made(({ afterCount }) => afterCount, COUNT),
  goodMean: made(({ beforeMean }) => beforeMean, MEASURED),
  badMean: made(({ afterMean }) => afterMean, MEASURED),
})

const VARIABLE = record<Variable>({
  name: TEXT,
  kind: words('event', 'state'),
  score: about('null for an infinite one: two constants differ.', MEASURED),
  presence: about(
    'Instances that have the variable.',
    record<Variable['presence']>({
      good: made(({ before }) => before, COUNT),
      bad: made(({ after }) => after, COUNT),
      p: MEASURED,
    }),
  ),
  features: listOf(FEATURE),
})

const GRAPH = record<Graph>({
  kind: words('event', 'state'),
  class: made((graph) => CLASSES[graph.class], CLASS),
  featureType: TEXT,
  score: MEASURED,
  variablesLeftOut: made(({ variablesLeftOut }) => variablesLeftOut ?? 0, COUNT),
  nodes: made(({ nodes }) => nodes.map(({ name }) => name), listOf(TEXT)),
  edges: listOf(
    record<Each<Graph['edges']>>({
      from: TEXT,
      to: TEXT,
      weight: MEASURED,
      r2: MEASURED,
      directed: FLAG,
    }),
  ),
})

export const LOGS_DOCUMENT = document<PrintedLogs>('logs', 'What `flowdelta logs --json` prints.', {
  parameters: made(({ compared }) => compared.options, PARAMETERS),
  instances: made(({ compared }) => compared.logs.counts, BY_CLASS),
  messages: made(
    ({ compared }) => compared.logs.report.messages,
    record<Readonly<Record<'event' | 'state', number>>>({ event: COUNT, state: COUNT }),
  ),
  performance: made(({ compared }) => compared, PERFORMANCE),
  headline: made(
    ({ compared }) => compared,
    record<LogComparison>({
      title: made(logsTitle, TEXT),
      path: made(
        ({ leading }) => leading.map(({ name }) => name),
        listOf(TEXT),
        'From the cause to what performance depends on directly; empty where no path says so.',
      ),
    }),
  ),
  variables: made(
    ({ compared, limit }) => compared.variables.slice(0, limit),
    listOf(VARIABLE),
    'Best first; cut at --limit.',
  ),
  graphs: made(({ compared }) => compared.attention.graphs, listOf(GRAPH), 'Best first.'),
  warnings: WARNINGS,
  issues: made(
    ({ compared }) => compared.logs.report.table().objects({ limit: MAX_ISSUES }),
    listOf(ANYTHING),
    'Lines that were skipped, by reason.',
  ),
  truncated: truncated('variables', ({ compared, limit }) => ({
    all: compared.divergence.variables.length,
    limit,
  })),
})
