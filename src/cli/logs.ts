import { type Command, InvalidArgumentError, Option } from 'commander'
import { FlowdeltaError, show } from '../core/errors.ts'
import { count, defineOptions, flag } from '../core/options.ts'
import { compareLogs, LOG_OPTIONS } from '../logs/compare-logs.ts'
import type { VariableKind } from '../logs/features/features.ts'
import type { LogClass, LogSet } from '../logs/features/log-set.ts'
import type { Metric } from '../logs/performance/performance-metric.ts'
import { loadLogs } from '../logs/readers/load-logs.ts'
import { LOG_READ_OPTIONS, type LogFields } from '../logs/readers/log-read-options.ts'
import { addOptions, adviceSentence, type Flags, optionsFrom } from './flags.ts'
import { LOGS_DOCUMENT } from './logs-document.ts'
import { logsText } from './logs-text.ts'
import { print } from './printing.ts'

/** Options with flags of their own: names of metrics and Distalyzer's names of periods are read here. */
const { metric: _metric, class: _class, ...COMPARE_OPTIONS } = LOG_OPTIONS

const PRINT_FLAGS = defineOptions({
  json: flag({ default: false, sentence: 'Print a JSON document instead of text' }),
  limit: count({
    default: null,
    or: null,
    sentence: 'List at most this many variables (default: 12 in text, 1000 in JSON)',
  }),
})

/** Listed unless `--limit` says otherwise. */
const MAX_IN_TEXT = 12
const MAX_IN_JSON = 1000

interface LogsFlags {
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  /** Distalyzer's names of the two. */
  readonly good?: readonly string[]
  readonly bad?: readonly string[]
  readonly template?: readonly string[]
  readonly fields?: LogFields
  readonly metric: string
  readonly class: LogClass
  readonly json: boolean
  readonly limit?: number
}

/** `flowdelta logs`: what differs between two sets of logs, and what performance depends on. */
export function addLogs(command: Command): void {
  command
    .option(
      '--before <path...>',
      'Logs that went well (or --good); a file or directory is an instance',
    )
    .option('--after <path...>', 'Logs that did not (or --bad)')
    .addOption(new Option('--good <path...>').hideHelp().conflicts('before'))
    .addOption(new Option('--bad <path...>').hideHelp().conflicts('after'))
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
  command.action(runLogs)
}

async function runLogs(flags: LogsFlags & Flags, command: Command): Promise<void> {
  const { template, fields, json, limit } = flags
  const before = pathsOf('before', flags.before ?? flags.good)
  const after = pathsOf('after', flags.after ?? flags.bad)
  const logs = await loadLogs(
    { before, after },
    {
      ...optionsFrom(LOG_READ_OPTIONS, flags),
      ...(template !== undefined && { template }),
      ...(fields !== undefined && { fields }),
    },
  )
  const compared = compareLogs(logs, {
    ...optionsFrom(COMPARE_OPTIONS, flags),
    metric: metricOf(logs, flags.metric),
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
 * Reads `--metric`: `runTime`, the name of a variable, or one with its kind before it, `event:q` or
 * `state:q`, where an event and a state variable have one name.
 *
 * @throws FlowdeltaError for a name that both kinds have
 */
function metricOf({ events, states }: LogSet, given: string): Metric {
  const isEvent = events.indexOf(given) !== undefined
  const isState = states.indexOf(given) !== undefined
  if (isEvent && isState && given !== 'runTime') {
    throw new FlowdeltaError(
      `Metric ${show(given)} is an event and a state variable. Give --metric ${show(`event:${given}`)} (its last time) or --metric ${show(`state:${given}`)} (its final value).`,
    )
  }
  const [, kind, variable] = /^(event|state):(.*)$/s.exec(given) ?? []
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
