import { type Command, InvalidArgumentError, Option } from 'commander'
import { FlowdeltaError, show } from '../core/errors.ts'
import { shortText } from '../core/shown-text.ts'
import { formatDuration } from '../core/units.ts'
import { counted, grouped, percent, pValue, shortNumber } from '../core/words.ts'
import {
  type AttentionEdge,
  type AttentionGraph,
  type AttentionNode,
  attentionTree,
} from '../logs/attention/focus-attention.ts'
import { compareLogs, LOG_OPTIONS, type LogComparison } from '../logs/compare-logs.ts'
import { type FeatureTest, strongestDifference } from '../logs/divergence/divergence.ts'
import { featureText, VARIABLE_KINDS, type VariableKind } from '../logs/features/features.ts'
import type { LogClass, LogSet } from '../logs/features/log-set.ts'
import type { Metric } from '../logs/performance/performance-metric.ts'
import { loadLogs } from '../logs/readers/load-logs.ts'
import { LOG_READ_OPTIONS, type LogFields } from '../logs/readers/log-read-options.ts'
import { skipAdvice, skipText } from '../logs/readers/log-sink.ts'
import { tText, valueText } from '../views/charts/log-values.ts'
import { addOptions, adviceSentence, type Flags, type FlagsOf, optionsFrom } from './flags.ts'
import { LOGS_DOCUMENT, type PrintedLogs } from './logs-document.ts'
import {
  leftOutLines,
  listFlags,
  MAX_IN_JSON,
  MAX_IN_TEXT,
  print,
  textTable,
  warningLines,
} from './printing.ts'

/** Options with flags of their own: names of metrics and Distalyzer's names of periods are read here. */
const { metric: _metric, class: _class, ...COMPARE_OPTIONS } = LOG_OPTIONS

const PRINT_FLAGS = listFlags('variables')

interface LogsFlags extends FlagsOf<typeof PRINT_FLAGS> {
  /** One source, which is divided. */
  readonly files?: readonly string[]
  readonly by?: string
  readonly window?: string
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  /** Distalyzer's names of the two. */
  readonly good?: readonly string[]
  readonly bad?: readonly string[]
  readonly template?: readonly string[]
  readonly fields?: LogFields
  readonly metric: string
  readonly class: LogClass
}

/** `flowdelta logs`: what differs between two sets of logs, and what performance depends on. */
export function addLogs(command: Command): void {
  command
    .argument('[file...]', 'Logs of one source, for --split-at and --bad-if')
    .option(
      '--before <path...>',
      'Logs that went well (or --good); a file or directory is an instance',
    )
    .option('--after <path...>', 'Logs that did not (or --bad)')
    .addOption(new Option('--good <path...>').hideHelp().conflicts('before'))
    .addOption(new Option('--bad <path...>').hideHelp().conflicts('after'))
    .addOption(new Option('--by <field>', 'Same as --instance').conflicts('instance'))
    .option(
      '--metric <name>',
      "What performance is: 'runTime', an event (its last time) or a state variable (its final value); event:NAME or state:NAME where both have the name",
      'runTime',
    )
    .option(
      '--template <expression...>',
      'Regular expressions for lines of text, with groups time and name or message',
    )
    .option(
      '--fields <role=field,...>',
      'Fields of JSON lines, logfmt and CSV: time=F,name=F,value=F,instance=F',
      logFields,
    )
    .addOption(
      new Option('--class <name>', 'Period whose dependencies are learned')
        .default('after')
        .argParser(logClass),
    )
  for (const table of [LOG_READ_OPTIONS, COMPARE_OPTIONS, PRINT_FLAGS]) addOptions(command, table)
  command.action((files: readonly string[], flags: LogsFlags & Flags) =>
    runLogs({ ...flags, files }, command),
  )
}

async function runLogs(flags: LogsFlags & Flags, command: Command): Promise<void> {
  const { template, fields, json, limit, by } = flags
  const logs = await loadLogs(sourcesOf(flags), {
    ...optionsFrom(LOG_READ_OPTIONS, flags),
    ...(by !== undefined && { instance: by }),
    ...(template !== undefined && { template }),
    ...(fields !== undefined && { fields }),
  })
  const compared = compareLogs(logs, {
    ...optionsFrom(COMPARE_OPTIONS, flags),
    metric: metricOf(logs, flags),
    class: flags.class,
  })
  const warnings = compared.warnings().map(({ code, message, advice }) => ({
    code,
    message: `${message}${adviceSentence(command.options, advice)}`,
  }))
  print(
    json,
    () => LOGS_DOCUMENT.write({ compared, warnings, limit: limit ?? MAX_IN_JSON }),
    () => logsText({ compared, warnings, limit: limit ?? MAX_IN_TEXT }, command.options),
  )
}

/** Two periods, or the one source that is divided. */
function sourcesOf({ files = [], before, after, good, bad }: LogsFlags) {
  const periods = [before ?? good, after ?? bad] as const
  if (files.length > 0 && periods.every((one) => one === undefined)) return files
  return { before: pathsOf('before', periods[0]), after: pathsOf('after', periods[1]) }
}

function pathsOf(period: LogClass, paths: readonly string[] | undefined): readonly string[] {
  if (paths !== undefined) return paths
  throw new FlowdeltaError(`There are no logs to compare. Name them in --${period}.`)
}

/** Takes Distalyzer's names as well. */
function logClass(given: string): LogClass {
  if (given === 'before' || given === 'good') return 'before'
  if (given === 'after' || given === 'bad') return 'after'
  throw new InvalidArgumentError('Allowed choices are before, after.')
}

/**
 * Reads `--metric`: `runTime`, the name of a variable (of a state, its final value, or its mean with
 * `--window`), or one with its kind before it, `event:q` or
 * `state:q`, where an event and a state variable have one name.
 *
 * @throws FlowdeltaError for a name that both kinds have
 */
function metricOf({ events, states }: LogSet, { metric: given, window }: LogsFlags): Metric {
  const isEvent = events.indexOf(given) !== undefined
  const isState = states.indexOf(given) !== undefined
  if (isEvent && isState && given !== 'runTime') {
    throw new FlowdeltaError(
      `Metric ${show(given)} is an event and a state variable. Give --metric ${show(`event:${given}`)} (its last time) or --metric ${show(`state:${given}`)} (its final value).`,
    )
  }
  const [, kind, variable] = /^(event|state):(.*)$/s.exec(given) ?? []
  // Of a window its mean tells more than its end.
  if (isState && window !== undefined) return { variable: given, feature: 'mean' }
  if (isEvent || isState || kind === undefined || variable === undefined) return given
  return { variable, feature: (kind as VariableKind) === 'event' ? 'lastAbsolute' : 'final' }
}

const ROLES: readonly string[] = ['time', 'name', 'value', 'instance']

/** Reads `time=ts,name=msg,value=latency,value=bytes`: which fields of records hold what. */
function logFields(given: string): LogFields {
  const roles = new Map<string, string[]>()
  for (const pair of given.split(',')) {
    const at = pair.indexOf('=')
    const role = pair.slice(0, Math.max(0, at)).trim()
    const field = pair.slice(at + 1).trim()
    if (!ROLES.includes(role) || field === '') {
      throw new InvalidArgumentError(
        `${JSON.stringify(pair)} is none of time=FIELD, name=FIELD, value=FIELD, instance=FIELD.`,
      )
    }
    const fields = roles.get(role) ?? []
    if (fields.length > 0 && role !== 'value') {
      throw new InvalidArgumentError(`Give ${role}=… once.`)
    }
    roles.set(role, [...fields, field])
  }
  const single = Array.from(roles, ([role, fields]) => [
    role,
    fields.length === 1 ? fields[0] : fields,
  ])
  return Object.fromEntries(single)
}

const MAX_NAME_LENGTH = 70
/** Of what is new, all tells. */
const MAX_MESSAGE_LENGTH = 200
const MAX_FIELDS = 6
const NODES = 10
/** The gravity of errors. */
const GRAVE = 2

/**
 * A comparison of logs as text: what to read it with, is performance different, what differs, where to
 * look first.
 */
function logsText({ compared, warnings, limit }: PrintedLogs, flags: readonly Option[]): string {
  const { divergence } = compared
  const differs = divergence.variables.some(({ score }) => score > 0)
  const isGrave = divergence.onlyIn('after').some(({ gravity }) => gravity >= GRAVE)
  const onlyAfter = newMessagesText(compared, limit)
  // Where tests cannot speak, or errors are new, what is new comes first.
  const isFirst = !differs || isGrave
  return [
    ...(isFirst ? [onlyAfter] : []),
    warningLines(warnings).join('\n'),
    inputText(compared, flags),
    performanceText(compared),
    variablesText(compared, limit),
    ...(isFirst ? [] : [onlyAfter]),
    ...VARIABLE_KINDS.map((kind) => graphText(compared, kind)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function inputText(compared: LogComparison, flags: readonly Option[]): string {
  const { logs } = compared
  const { before, after } = logs.counts
  const { messages, skippedLines, lines } = logs.report
  const read =
    `${counted(before, 'instance')} before and ${grouped(after)} after: ` +
    `${counted(messages.event, 'event message')} of ${counted(logs.events.names.length, 'event')}, ` +
    `${counted(messages.state, 'state message')} of ${counted(logs.states.names.length, 'variable')}.`
  const { fieldsLeftOut } = logs.report
  const shown = fieldsLeftOut.slice(0, MAX_FIELDS).map(({ field, reason }) => `${field} ${reason}`)
  const more = fieldsLeftOut.length - shown.length
  const fields =
    shown.length === 0
      ? ''
      : ` No variables: ${shown.join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}.`
  const [first] = logs.report.skipped
  const isSaid = compared.warnings().some(({ code }) => code === 'lines-skipped')
  if (first === undefined || isSaid) return read + fields
  const { text, options } = skipAdvice(first.reason)
  const said = `${read} ${counted(skippedLines, 'line')} of ${grouped(lines)} skipped: ${skipText(first)}.${fields}`
  return text === '' ? said : `${said} ${text}.${adviceSentence(flags, options)}`
}

function performanceText({ divergence, tail, logs, options }: LogComparison): string {
  const { beforeMean, afterMean, beforeCount, afterCount, tested, p, significant } =
    divergence.performance
  const { unit } = tail.metric
  const name = shortText(tail.metric.name, MAX_NAME_LENGTH)
  const { before, after } = logs.counts
  const text = (value: number) =>
    unit === 'absolute time' ? formatDuration(value) : shortNumber(value)
  const says = !tested
    ? `too few instances to test: ${grouped(beforeCount)} before, ${grouped(afterCount)} after`
    : `${pValue(p)}${significant ? '' : ', no significant difference'}`
  const first = `Performance is ${name}: ${text(beforeMean)} on average before, ${text(afterMean)} after (${says}).`
  return [
    first,
    ...(beforeCount < before || afterCount < after
      ? [
          `${grouped(beforeCount)} of ${counted(before, 'instance')} before and ${grouped(afterCount)} of ${grouped(after)} after have it; the others count in no mean of it, and teach no dependency.`,
        ]
      : []),
    ...(options.weights === 'none'
      ? []
      : ['Means are weighted: instances that took longer count more (--weights latency).']),
    ...(tail.suggestion === '' || options.weights !== 'none' ? [] : [tail.suggestion]),
  ].join('\n')
}

function variablesText({ divergence, logs }: LogComparison, limit: number): string {
  const differing = divergence.variables.filter(({ score }) => score > 0)
  const all = counted(divergence.variables.length, 'variable')
  if (VARIABLE_KINDS.every((kind) => divergence.tests(kind) === 0)) {
    const { before, after } = logs.counts
    return `None of ${all} could be tested (${counted(before, 'instance')} before, ${grouped(after)} after): a test takes two of each class that have the variable.`
  }
  if (differing.length === 0) return `None of ${all} differs significantly.`
  const table = textTable(
    ['variable', 'kind', 'score', 'what differs most', 't'],
    differing.slice(0, limit).map((variable) => {
      const { feature, beforeMean, afterMean, t } = strongestDifference(variable) as FeatureTest
      return [
        shortText(variable.name, MAX_NAME_LENGTH),
        variable.kind,
        tText(variable.score),
        `${featureText(feature)} ${valueText(feature, beforeMean)} → ${valueText(feature, afterMean)}`,
        tText(t),
      ]
    }),
  )
  return [
    `${grouped(differing.length)} of ${all} differ${differing.length === 1 ? 's' : ''} significantly:`,
    table,
    ...leftOutLines(differing.length - limit),
  ].join('\n')
}

/**
 * What was logged only after, the gravest first: with few instances no test says so, but a reader sees it.
 * Of an event that is new, what tells its messages apart is no news.
 */
function newMessagesText({ divergence, logs }: LogComparison, limit: number): string {
  const all = divergence.onlyIn('after').filter(({ kind }) => kind === 'event')
  const names = new Set(all.map(({ name }) => name))
  const found = all.filter(({ name }) => !names.has(name.slice(0, name.lastIndexOf(' · '))))
  if (found.length === 0) return ''
  const rows = found.slice(0, limit).map(({ name, presence: { after, afterMessages } }) => {
    const counts = `${grouped(after)} of ${counted(logs.counts.after, 'instance')}, ${counted(afterMessages, 'message')}`
    return { counts, name: shortText(name, MAX_MESSAGE_LENGTH) }
  })
  const width = Math.max(...rows.map(({ counts }) => counts.length))
  return [
    `Logged only after, the gravest first (${counted(found.length, 'event')}):`,
    ...rows.map((row) => `${row.counts.padEnd(width)}  ${row.name}`),
    ...leftOutLines(found.length - limit),
  ].join('\n')
}

/**
 * What the metric depends on, and below each variable what leads there: by the feature that tells most, if a
 * variable that differs is among them.
 */
function graphText({ attention }: LogComparison, ofKind: VariableKind): string {
  const graph = attention
    .of(ofKind)
    .find(({ nodes }) => nodes.slice(1).some(({ significant }) => significant))
  if (graph === undefined) return ''
  const { kind, featureType, score, variablesLeftOut = 0 } = graph
  const metric = shortText(graph.metric, MAX_NAME_LENGTH)
  const leftOut =
    variablesLeftOut === 0
      ? []
      : [
          `Learned from the most telling variables; ${grouped(variablesLeftOut)} more are left out (raise --most-variables).`,
        ]
  const by = `${kind}s by ${featureText(featureType)}`
  const lines = treeLines(graph)
  const left = lines.length - NODES
  return [
    `Look first at ${by} (score ${score.toPrecision(2)}). In the ${graph.class} period ${metric} depends on`,
    ...lines.slice(0, NODES),
    ...(left > 0 ? [`   and ${grouped(left)} more`] : []),
    ...leftOut,
  ].join('\n')
}

function treeLines(graph: AttentionGraph): string[] {
  const { order, depth, parentEdge } = attentionTree(graph)
  const nodeOf = new Map(graph.nodes.map((node) => [node.name, node]))
  return order.slice(1).map((name) => {
    const { t, significant } = nodeOf.get(name) as AttentionNode
    const edge = parentEdge.get(name) as AttentionEdge
    const says = significant ? `t = ${tText(t)}` : 'does not differ'
    const when = !edge.directed
      ? ''
      : edge.from === name
        ? ', always before it'
        : ', always after it'
    return `${'   '.repeat(depth.get(name) as number)}${shortText(name, MAX_NAME_LENGTH)} (${says}; ${percent(edge.weight)} of the instances${when})`
  })
}
