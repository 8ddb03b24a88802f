import { type Command, InvalidArgumentError, Option } from 'commander'
import { FlowdeltaError } from '../core/errors.ts'
import type { AttentionOptions } from '../logs/attention/attention.ts'
import { compareLogs, type LogComparison } from '../logs/compare-logs.ts'
import type { DivergenceOptions } from '../logs/divergence/divergence.ts'
import type { LogClass } from '../logs/features/log-set.ts'
import { loadLogs } from '../logs/readers/load-logs.ts'
import { TIME_UNITS } from '../logs/readers/log-clock.ts'
import { LOG_FORMATS, type LogReadOptions } from '../logs/readers/log-read-options.ts'
import { logsDocument } from './logs-document.ts'
import { logFields } from './logs-fields.ts'
import { withFlagWords } from './logs-flag-words.ts'
import { logsMetric } from './logs-metric.ts'
import { logsText } from './logs-text.ts'
import { countFrom, numberBetween } from './option-values.ts'

interface LogsFlags
  extends Pick<
    LogReadOptions,
    'format' | 'instance' | 'fields' | 'timeZone' | 'dateFormat' | 'timeUnit'
  > {
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  /** Distalyzer's names of the two. */
  readonly good?: readonly string[]
  readonly bad?: readonly string[]
  readonly template?: readonly string[]
  readonly metric: string
  readonly alpha: number
  readonly correction: DivergenceOptions['correction']
  readonly weights: 'none' | 'latency'
  readonly minSplit: number
  readonly mostVariables: number
  readonly balance: number
  readonly class: AttentionOptions['class']
  readonly json: boolean
  readonly limit: number
}

/** `flowdelta logs`: what differs between two sets of logs, and what performance depends on. */
export function addLogsCommand(program: Command): void {
  program
    .command('logs')
    .description('compare the logs of what went well with those of what did not')
    .option(
      '--before <path...>',
      'logs that went well (or --good); a file or directory is an instance',
    )
    .option('--after <path...>', 'logs that did not (or --bad)')
    .addOption(new Option('--good <path...>').hideHelp().conflicts('before'))
    .addOption(new Option('--bad <path...>').hideHelp().conflicts('after'))
    .option(
      '--metric <name>',
      "what performance is: 'runTime', an event (its last time) or a state variable (its final value); event:NAME or state:NAME where both have the name",
      'runTime',
    )
    .option(
      '--instance <field>',
      "the field, attribute or group that says which instance a message is of; 'path' for the path",
    )
    .addOption(
      new Option('--format <name>', 'format of all files')
        .choices(['auto', ...LOG_FORMATS])
        .default('auto'),
    )
    .option(
      '--template <expression...>',
      'regular expressions for lines of text, with groups time and name or message',
    )
    .option(
      '--fields <roles>',
      'which fields of JSON lines, logfmt and CSV hold what: time=F,name=F,value=F,instance=F',
      logFields,
    )
    .option('--time-zone <zone>', 'of dates that say none', 'UTC')
    .option(
      '--date-format <pattern>',
      "how dates are written, as 'dd.MM.yyyy HH:mm:ss,SSS'",
      'auto',
    )
    .addOption(
      new Option('--time-unit <unit>', 'of times that are numbers')
        .choices([...TIME_UNITS])
        .default('auto'),
    )
    .option('--alpha <share>', 'level of significance', numberBetween(0, 1), 0.05)
    .addOption(
      new Option('--correction <name>', 'for many tests')
        .choices(['bonferroni', 'bh', 'none'])
        .default('bonferroni'),
    )
    .addOption(
      new Option('--weights <name>', "'latency' makes slow instances count more")
        .choices(['none', 'latency'])
        .default('none'),
    )
    .option(
      '--min-split <share>',
      'share of the instances that a dependency must hold for',
      numberBetween(0, 1),
      1 / 3,
    )
    .option(
      '--most-variables <n>',
      'learn dependencies from at most so many variables',
      countFrom(1),
      500,
    )
    .option(
      '--balance <share>',
      'α: 0 goes only by how strong dependencies are, 1 only by how far variables differ',
      numberBetween(0, 1),
      0.5,
    )
    .addOption(
      new Option('--class <name>', 'of which class to learn dependencies')
        .default('after')
        .argParser(logClass),
    )
    .option('--json', 'print a JSON document instead of text', false)
    .option('--limit <n>', 'list at most this many variables', countFrom(1))
    .action((flags: LogsFlags) => withFlagWords(() => runLogs(flags)))
}

function pathsOf(flag: LogClass, paths: readonly string[] | undefined): readonly string[] {
  if (paths !== undefined) return paths
  throw new FlowdeltaError(`There are no logs to compare. Name them in --${flag}.`)
}

/** Takes Distalyzer's names as well. */
function logClass(text: string): LogClass {
  if (text === 'before' || text === 'good') return 'before'
  if (text === 'after' || text === 'bad') return 'after'
  throw new InvalidArgumentError('Allowed choices are before, after.')
}

/** Listed unless asked otherwise. */
const MAX_IN_TEXT = 12
const MAX_IN_JSON = 1000

async function runLogs(flags: LogsFlags): Promise<void> {
  const { format, instance, template, fields, json, limit } = flags
  const before = pathsOf('before', flags.before ?? flags.good)
  const after = pathsOf('after', flags.after ?? flags.bad)
  const { timeZone, dateFormat, timeUnit } = flags
  const logs = await loadLogs(
    { before, after },
    {
      ...(format !== undefined && { format }),
      ...(instance !== undefined && { instance }),
      ...(template !== undefined && { template }),
      ...(fields !== undefined && { fields }),
      ...(timeZone !== undefined && { timeZone }),
      ...(dateFormat !== undefined && { dateFormat }),
      ...(timeUnit !== undefined && { timeUnit }),
    },
  )
  const { alpha, correction, weights, minSplit, mostVariables, balance } = flags
  const metric = logsMetric(logs, flags.metric)
  const compared: LogComparison = compareLogs(logs, {
    ...{ metric, alpha, correction, weights, minSplit, mostVariables, balance },
    class: flags.class,
  })
  process.stdout.write(
    json
      ? `${JSON.stringify(logsDocument(compared, limit ?? MAX_IN_JSON), null, 1)}\n`
      : `${logsText(compared, limit ?? MAX_IN_TEXT)}\n`,
  )
}
