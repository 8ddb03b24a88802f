import type { Command, Option } from 'commander'
import { FlowdeltaError, type OptionAdvice, visibleText } from '../core/errors.ts'
import {
  COUNT,
  document,
  type Each,
  FLAG,
  listOf,
  MEASURED,
  NUMBER,
  optional,
  plain,
  record,
  TEXT,
  truncated,
  words,
} from '../core/json-parts.ts'
import { defineOptions, flag, optionalText } from '../core/options.ts'
import type { Terms } from '../core/result-conditions.ts'
import {
  differences,
  logsTitle,
  newErrors,
  performanceSentences,
} from '../explain/logs/log-words.ts'
import { compareLogs, LOG_OPTIONS, type LogComparison } from '../logs/compare-logs.ts'
import type { LogClass } from '../logs/features/log-set.ts'
import { loadLogs } from '../logs/readers/load-logs.ts'
import { LOG_READ_OPTIONS } from '../logs/readers/log-read-options.ts'
import { connectCharts } from '../views/notebook/connect-charts.ts'
import { reportMarkdown } from '../views/report/report.ts'
import { type LogResults, logsText } from '../views/text/logs-text.ts'
import { conditions, failOn } from './conditions.ts'
import {
  addOptions,
  type Flags,
  type FlagsOf,
  inFlags,
  optionsFrom,
  paths,
  rarely,
} from './flags.ts'
import { listFlags, MAX_IN_JSON, MAX_IN_TEXT, printResults, WARNINGS } from './printing.ts'
import { FORMAT_NAMES, formatOf, MADE_BY, REPORT_FORMATS, writeReport } from './report.ts'

/** The document's names of the periods, which are Distalyzer's. */
const CLASSES = { before: 'good', after: 'bad' } as const

/** Reasons for skipped lines that are listed. */
const MAX_ISSUES = 50

type Variable = Each<LogComparison['divergence']['variables']>
type Graph = Each<LogComparison['attention']['graphs']>

const CLASS = words('good', 'bad')
const ANYTHING = plain<unknown>({})

const BY_CLASS = record<{ readonly before: number; readonly after: number }>({
  good: COUNT.from(({ before }) => before),
  bad: COUNT.from(({ after }) => after),
})

const PARAMETERS = record<LogComparison['options']>({
  metric: ANYTHING.about('Measure of performance.'),
  alpha: NUMBER,
  correction: words('bonferroni', 'bh', 'none'),
  weights: ANYTHING,
  minSplit: NUMBER,
  mostVariables: COUNT,
  stop: words('significance', 'orange'),
  balance: NUMBER,
  score: words('sum', 'mean'),
  class: CLASS.from((options) => CLASSES[options.class]),
})

const OF_CLASS = record({ count: COUNT, mean: MEASURED, median: MEASURED, p99: MEASURED })

const PERFORMANCE = record<LogComparison>({
  metric: ANYTHING.from(({ options }) => options.metric),
  node: TEXT.from(({ tail }) => tail.metric.name, 'Name of performance in graphs.'),
  tested: FLAG.from(({ divergence }) => divergence.performance.tested),
  significant: FLAG.from(({ divergence }) => divergence.performance.significant),
  goodCount: COUNT.from(({ divergence }) => divergence.performance.beforeCount),
  badCount: COUNT.from(({ divergence }) => divergence.performance.afterCount),
  leftOut: BY_CLASS.from(({ networks }) => networks.leftOut, 'Instances without the metric.'),
  weighted: FLAG.from(({ options }) => options.weights !== 'none'),
  goodMean: MEASURED.from(({ divergence }) => divergence.performance.beforeMean),
  badMean: MEASURED.from(({ divergence }) => divergence.performance.afterMean),
  t: MEASURED.from(({ divergence }) => divergence.performance.t),
  p: MEASURED.from(({ divergence }) => divergence.performance.p),
  heavyTail: FLAG.from(({ tail }) => tail.isHeavy),
  unit: optional(TEXT).from(({ tail }) => tail.metric.quantity?.text),
  records: optional(
    record<NonNullable<LogComparison['records']>>({
      good: OF_CLASS.from(({ before }) => before),
      bad: OF_CLASS.from(({ after }) => after),
    }),
  ).from(
    ({ records }) => records,
    'Records of a metric that instances log many times; median and p99 are of an instance.',
  ),
  suggestion: optional(TEXT).from(({ tail }) => tail.suggestion || undefined),
})

const FEATURE = record<Each<Variable['features']>>({
  feature: TEXT,
  t: MEASURED,
  df: MEASURED,
  p: MEASURED,
  q: MEASURED,
  tested: FLAG,
  significant: FLAG,
  goodCount: COUNT.from(({ beforeCount }) => beforeCount),
  badCount: COUNT.from(({ afterCount }) => afterCount),
  goodMean: MEASURED.from(({ beforeMean }) => beforeMean),
  badMean: MEASURED.from(({ afterMean }) => afterMean),
})

const VARIABLE = record<Variable>({
  name: TEXT,
  kind: words('event', 'state'),
  score: MEASURED.about('null for an infinite one: two constants differ.'),
  presence: record<Variable['presence']>({
    good: COUNT.from(({ before }) => before),
    bad: COUNT.from(({ after }) => after),
    p: MEASURED,
  }).about('Instances that have the variable.'),
  features: listOf(FEATURE),
})

const GRAPH = record<Graph>({
  kind: words('event', 'state'),
  class: CLASS.from((graph) => CLASSES[graph.class]),
  featureType: TEXT,
  score: MEASURED,
  variablesLeftOut: COUNT.from(({ variablesLeftOut }) => variablesLeftOut ?? 0),
  nodes: listOf(TEXT).from(({ nodes }) => nodes.map(({ name }) => name)),
  edges: listOf(record({ from: TEXT, to: TEXT, weight: MEASURED, r2: MEASURED, directed: FLAG })),
})

export const LOGS_DOCUMENT = document<LogResults>('logs', 'What `flowdelta logs --json` prints.', {
  parameters: PARAMETERS.from(({ compared }) => compared.options),
  instances: BY_CLASS.from(({ compared }) => compared.logs.counts),
  messages: record({ event: COUNT, state: COUNT }).from(
    ({ compared }) => compared.logs.report.messages,
  ),
  performance: PERFORMANCE.from(({ compared }) => compared),
  headline: record<LogComparison>({
    title: TEXT.from(logsTitle),
    path: listOf(TEXT).from(
      ({ leading }) => leading.map(({ name }) => name),
      'From the cause to what performance depends on directly; empty where no path says so.',
    ),
  }).from(({ compared }) => compared),
  variables: listOf(VARIABLE).from(
    ({ compared, limit }) => compared.variables.slice(0, limit),
    'Best first; cut at --limit.',
  ),
  graphs: listOf(GRAPH).from(({ compared }) => compared.attention.graphs, 'Best first.'),
  warnings: WARNINGS,
  issues: listOf(ANYTHING).from(
    ({ compared }) => compared.logs.report.table().objects({ limit: MAX_ISSUES }),
    'Lines that were skipped, by reason.',
  ),
  truncated: truncated('variables', ({ compared, limit }) => ({
    all: compared.divergence.variables.length,
    limit,
  })),
})

/** The metric has a flag of its own: its name is looked up in the logs. */
const { metric: _metric, ...COMPARE_OPTIONS } = LOG_OPTIONS

const PRINT_FLAGS = defineOptions({
  ...listFlags('variables'),
  details: flag({
    default: false,
    sentence: 'Print every difference as a table, and what performance depends on',
  }),
  markdown: flag({ default: false, sentence: 'Print GitHub-flavored Markdown instead of text' }),
  out: optionalText('Also write a report, to FILE.html or FILE.md', 'out <file>'),
})

const TERMS: Terms<Readonly<Record<'kind' | 'name', string>>, LogComparison> = {
  things: (compared) => {
    const slower = slowdown(compared) > 0 ? performanceSentences(compared).slice(0, 1) : []
    return [
      ...newErrors(compared).map(({ name }) => ({ kind: 'new-errors', name })),
      ...differences(compared).told.map(({ name }) => ({ kind: 'differs', name })),
      ...slower.map((name) => ({ kind: 'performance', name })),
    ]
  },
  nameOf: ({ name }) => name,
  words: {
    any: ({ kind }) => kind !== 'differs',
    'new-errors': ({ kind }) => kind === 'new-errors',
    differs: ({ kind }) => kind === 'differs',
  },
  quantities: {
    performance: {
      percent: ({ kind }, compared) => (kind === 'performance' ? slowdown(compared) : 0),
    },
  },
  examples: "'new-errors', 'performance>5%', 'differs' or 'any'",
}

/** Returns the increase of performance after, in per cent; 0 if it may be chance. */
function slowdown({ divergence }: LogComparison): number {
  const { significant, beforeMean, afterMean } = divergence.performance
  return significant ? (100 * (afterMean - beforeMean)) / Math.abs(beforeMean) : 0
}

const OWN_FLAGS = defineOptions({
  before: paths('before <path...>', 'Logs of good runs; each file or directory is an instance'),
  after: paths('after <path...>', 'Logs of bad runs'),
  // The words of Distalyzer, whose classes these are.
  good: { ...paths('good <path...>', ''), isHidden: true, conflictsWith: ['before'] },
  bad: { ...paths('bad <path...>', ''), isHidden: true, conflictsWith: ['after'] },
  by: { ...optionalText('Same as --instance', 'by <field>'), conflictsWith: ['instance'] },
  metric: optionalText(
    "Measure of performance: 'runTime', an event (its last time), or a state variable or field (its mean; maximum:NAME, minimum:NAME or final:NAME for others); event:NAME or state:NAME if both exist (default: the number in --bad-if, else runTime)",
    'metric <name>',
  ),
})

const FAIL_FLAGS = defineOptions({
  failOn: conditions(
    'fail-on',
    "End with exit code 1 when it holds: 'new-errors' (logged only after), 'performance>5%' (worse), 'differs' (any variable), or 'any'",
    TERMS,
  ),
})

const { fields, derive: _derive, ...READ_OPTIONS } = LOG_READ_OPTIONS
const FIELD_FLAGS = defineOptions({
  fields: {
    ...fields,
    flag: 'fields <role=field,...>',
    sentence: 'Fields of JSON lines, logfmt and CSV: time=F,name=F,value=F',
  },
})

interface LogsFlags extends FlagsOf<typeof OWN_FLAGS & typeof FAIL_FLAGS & typeof PRINT_FLAGS> {}

export function addLogs(command: Command): void {
  command.argument(
    '[file...]',
    'Logs of good runs and of bad ones, or of one source for --split-at and --bad-if',
  )
  addOptions(command, OWN_FLAGS, FIELD_FLAGS, FAIL_FLAGS)
  addOptions(command, rarely(READ_OPTIONS, 'format', 'instance', 'window', 'splitAt', 'badIf'))
  addOptions(command, rarely(COMPARE_OPTIONS), PRINT_FLAGS).action(
    (files: readonly string[], flags: LogsFlags & Flags) => runLogs(files, flags, command.options),
  )
}

async function runLogs(
  files: readonly string[],
  flags: LogsFlags & Flags,
  known: readonly Option[],
): Promise<void> {
  const { json, limit, by, out, before = flags.good, after = flags.bad } = flags
  // A wrong name is reported before minutes are spent on the logs.
  const format = out === undefined ? undefined : formatOf(out)
  const isOne = files.length > 0 && before === undefined && after === undefined
  const periods = () => ({ before: pathsOf('before', before), after: pathsOf('after', after) })
  const logs = await loadLogs(isOne ? files : periods(), {
    ...optionsFrom({ ...READ_OPTIONS, ...FIELD_FLAGS }, flags),
    ...(by !== undefined && { instance: by }),
  })
  const compared = compareLogs(logs, {
    ...optionsFrom(COMPARE_OPTIONS, flags),
    ...(flags.metric !== undefined && { metric: flags.metric }),
  })
  const inOwnFlags = (message: string, advice: OptionAdvice) => inFlags(known, message, advice)
  const warnings = compared.warnings().map(({ code, message, advice }) => {
    return { code, message: inOwnFlags(message, advice) }
  })
  if (out !== undefined || flags.markdown) connectCharts()
  if (out !== undefined && format !== undefined) {
    const options = { files: { before: before ?? files, after: after ?? files }, madeBy: MADE_BY }
    writeReport(out, REPORT_FORMATS[format](compared, options))
    process.stderr.write(`flowdelta: ${visibleText(out)} is ${FORMAT_NAMES[format]}\n`)
  }
  if (flags.markdown) process.stdout.write(reportMarkdown(compared, { madeBy: MADE_BY }))
  else {
    const most = limit ?? (json ? MAX_IN_JSON : MAX_IN_TEXT)
    const results = { compared, warnings, limit: most }
    const options = { isWhole: flags.details, inFlags: inOwnFlags }
    printResults(results, {
      json,
      document: LOGS_DOCUMENT,
      text: (of, width) => logsText(of, { ...options, ...width }),
    })
  }
  failOn(compared, flags.failOn, TERMS)
}

function pathsOf(period: LogClass, paths: readonly string[] | undefined): readonly string[] {
  if (paths !== undefined) return paths
  throw new FlowdeltaError(`There are no logs to compare. Name them in --${period}.`)
}
