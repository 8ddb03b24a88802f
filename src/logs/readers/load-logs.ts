import { greatest } from 'd3-array'
import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { grouped } from '../../core/words.ts'
import { FieldVariables } from '../features/field-variables.ts'
import { LogBuilder } from '../features/log-builder.ts'
import {
  LOG_CLASSES,
  type LogClass,
  type LogSet,
  membersOf,
  type SkippedLines,
} from '../features/log-set.ts'
import { DividedLogs, type Division } from './divided-logs.ts'
import { LogTemplates, TemplateMatcher } from './drain/log-templates.ts'
import { mineInputs } from './drain/mine-log-templates.ts'
import { type LogInput, type LogPaths, logInputs } from './log-inputs.ts'
import { type LogReadOptions, type ReadSettings, readSettings } from './log-read-options.ts'
import { LogWriter, optionsIn, skipAdvice, skipText } from './log-sink.ts'
import { hasFreeText, readLogFile } from './read-log-file.ts'

/** Logs to compare: those of good runs, and those of bad ones; `[]` if there are none. */
export interface LogsToCompare {
  readonly before: LogPaths
  readonly after: LogPaths
}

/**
 * Loads two sets of logs and keeps the features of their messages; files are streamed.
 *
 * Each path, a file or a directory with everything below it, is one instance (a node, a run, a request),
 * unless option `instance` names a field. Files may be gzipped, and messages may be in any order. Formats
 * are recognized by content, in layers: what carries lines (Docker, CRI, kubectl, Loki, CloudWatch, GCP,
 * journald, syslog and others) is unwrapped, then the line inside is read. docs/log-formats.md lists them:
 *
 * - JSON (lines, lists, nested, OTLP), logfmt (`key=value`), and CSV with a header line. A named message with a value
 *   is a state message, any other an event. Fields that are numbers are state variables `<event>.<field>`.
 * - Lines of text in usual layouts: `2015-10-17 21:47:48,288 INFO [main] org.example.Peer: connected`. The
 *   event is the class and template of the message; numbers in it are state variables `<event> #2`, for
 *   the second wildcard of the template.
 * - Any text with a time at the start of lines.
 *
 * In text, a line that begins no message belongs to the message before it. An exception in a message or
 * its stack trace is an event too, `threw java.io.IOException: No space left`, once for each message,
 * whatever language it is of and whatever its type is called.
 *
 * Free text is read twice: first templates are mined from both periods together, then each message gets
 * the name of its template. `mineLogTemplates` returns the templates, to look at and edit.
 *
 * One stream of messages becomes many instances with option `window` (`'1m'`), or `instance`, which names a
 * field of requests, pods, containers or hosts. One source instead of two is divided by `splitAt`, a time, or
 * by `badIf`, conditions on fields that make an instance one of after. Of instances that `badIf` divides,
 * how long after the message before it each message came is a state `ms until EVENT` (option `waits`), and
 * the number that the condition goes by is their performance.
 *
 * The result's `report` counts lines that gave no message, with file and line.
 *
 * @param options see {@link LOG_READ_OPTIONS}
 * @throws OptionError for an unknown option or a bad value, no logs at all, or a period whose logs give no message
 * @throws TraceFormatError for a file that is damaged or in no known format
 * @throws FlowdeltaError for a path that cannot be opened
 *
 * @example
 * const logs = await loadLogs({
 *   before: { name: 'node 1', bytes: '{"time":0,"name":"start"}\n{"time":90,"name":"queue","value":3}' },
 *   after: { name: 'node 2', bytes: '{"time":0,"name":"start"}\n{"time":70,"name":"queue","value":8}' },
 * })
 * logs.counts // { before: 1, after: 1 }
 * logs.states.of(0, 'maximum') // Float64Array(2) [ 3, 8 ]
 */
export async function loadLogs(
  logs: LogsToCompare | LogPaths,
  options: LogReadOptions = {},
): Promise<LogSet> {
  const settings = readSettings(options)
  const { division, instance, isByPath } = settings
  const isDivided = division !== null && (division.splitAt !== null || division.isByBad)
  const { before, after } = periodsOf(logs, isDivided)
  const inputs = { before: await logInputs(before), after: await logInputs(after) }
  const all = LOG_CLASSES.flatMap((logClass) =>
    inputs[logClass].map((input) => ({ logClass, ...input })),
  )
  if (all.length === 0) throw new OptionError('logs', '[]', '{ before: paths, after: paths }')
  const templates = await namingOf(all, settings)
  const { derive, exclude } = options
  const builder = new LogBuilder({ derive, exclude, hasWaits: settings.hasWaits })
  const names = LOG_CLASSES.map((of) =>
    all.flatMap(({ logClass, files }) => (logClass === of ? files.map(sourceOf) : [])),
  ).filter((own) => own.length > 0)
  // The files of a class are one log if its windows are instances.
  const hasWindows = division?.windowUs != null && instance === undefined && !isByPath
  const isShared = hasWindows && names.some(({ length }) => length > 1)
  // Files of other names in the other period tell the periods apart, and nothing else.
  const areSame = new Set(names.map((own) => [...new Set(own)].sort().join())).size === 1
  // One log a class may be cut into windows.
  const isOneEach = all.length === 2 && all[0]?.logClass !== all[1]?.logClass
  const fields = new FieldVariables(builder)
  const divided = division === null ? undefined : new DividedLogs(division, builder)
  const matcher = templates === 'none' ? undefined : new TemplateMatcher(templates)
  for (const { logClass, id, files, isFile } of all) {
    // If paths are divided, the number only tells that the path names the instance.
    const ofPath = () => (divided === undefined ? builder.instanceCode(logClass, id) : 0)
    const pathInstance = instance === undefined ? ofPath() : -1
    for (const source of files) {
      const file = source.name
      // If files share their windows, each message names its file.
      const whose = isShared ? { id: '', ...(areSame && { source: sourceOf(source) }) } : { id }
      if (isShared) builder.notes.sharedFiles.push(file)
      const to = { builder, fields, divided, matcher, ...whose }
      const sink = new LogWriter({ ...to, logClass, file, pathInstance })
      await readLogFile(source, { settings, sink, isRequired: isFile })
    }
    if (pathInstance >= 0 && divided === undefined && !isOneEach) builder.close(pathInstance)
  }
  // The class of an instance tells which field names it.
  divided?.finish()
  fields.finish(division?.badIf.map(({ attribute }) => attribute))
  const built = builder.build()
  for (const logClass of LOG_CLASSES) {
    requireMessages(built, logClass, { inputs: inputs[logClass], isDivided: division !== null })
  }
  if (isDivided) requireBoth(built, division)
  return built
}

function sourceOf({ name }: LogInput['files'][number]): string {
  return name.replace(/^.*[\\/]/, '')
}

function periodsOf(logs: LogsToCompare | LogPaths, isDivided: boolean): LogsToCompare {
  if (!isPeriods(logs)) {
    if (isDivided) return { before: logs, after: [] }
    const wanted = '{ before: paths, after: paths }, or one source with `splitAt` or `badIf`'
    throw new OptionError('logs', logs, wanted, { splitAt: null, badIf: null })
  }
  rejectUnknownOptions(logs, LOG_CLASSES)
  for (const logClass of LOG_CLASSES) {
    if (logs[logClass] === undefined) throw new OptionError(logClass, undefined, 'paths of logs')
  }
  if (!isDivided || [logs.after].flat().length === 0) return logs
  throw new OptionError(
    'logs',
    'before and after',
    'one source, as `splitAt` and `badIf` divide it',
  )
}

function isPeriods(logs: LogsToCompare | LogPaths): logs is LogsToCompare {
  return typeof logs === 'object' && logs !== null && ('before' in logs || 'after' in logs)
}

function requireBoth({ counts }: LogSet, { splitAt, text }: Division): void {
  if (counts.before > 0 && counts.after > 0) return
  const all = counts.before + counts.after
  const whose = all === 1 ? 'the only instance is' : `all ${grouped(all)} instances are`
  const found = `${whose} ${counts.before > 0 ? 'before' : 'after'}`
  if (splitAt !== null) {
    throw new OptionError('splitAt', splitAt, `a time within the logs: ${found}`)
  }
  throw new OptionError(
    'badIf',
    text,
    `conditions that some instances meet and some do not: ${found}`,
  )
}

async function namingOf(
  inputs: readonly LogInput[],
  settings: ReadSettings,
): Promise<LogTemplates | 'none'> {
  if (settings.templates !== 'mined') return settings.templates
  for (const file of inputs.flatMap(({ files }) => files)) {
    if (await hasFreeText(file, settings)) return mineInputs(inputs, settings)
  }
  return new LogTemplates([])
}

function requireMessages(
  logs: LogSet,
  logClass: LogClass,
  { inputs, isDivided }: { readonly inputs: readonly LogInput[]; readonly isDivided: boolean },
): void {
  // One source is of both.
  const members = membersOf(logs, logs.runTimeUs)
  const own = isDivided ? [...members.before, ...members.after] : members[logClass]
  if (own.length > 0 || inputs.length === 0) return
  const files = new Set(inputs.flatMap((input) => input.files.map(({ name }) => name)))
  const isOwn = ({ first }: SkippedLines) => first.some(({ file = '' }) => files.has(file))
  const most = greatest(logs.report.skipped.filter(isOwn), ({ count }) => count)
  const advice = skipAdvice(most?.reason ?? '')
  const why = most === undefined ? 'these have none' : `${skipText(most)}.${advice && ` ${advice}`}`
  throw new OptionError(
    logClass,
    inputs.map(({ id }) => id).join(', '),
    `logs with messages: ${why}`,
    optionsIn(advice),
  )
}
