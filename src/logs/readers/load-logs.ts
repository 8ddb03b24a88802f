import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { LogBuilder } from '../features/log-builder.ts'
import { LOG_CLASSES, type LogClass } from '../features/log-class.ts'
import type { LogSet } from '../features/log-set.ts'
import { TemplateMatcher } from './drain/template-matcher.ts'
import { type LogInput, type LogPaths, logInputs } from './log-inputs.ts'
import { type LogReadOptions, type ReadSettings, readSettings } from './log-read-options.ts'
import { mineInputs } from './mine-log-templates.ts'
import { hasFreeText } from './read-log-file.ts'
import { matcherOf, readInputsInto } from './read-logs-into.ts'
import { requireMessages } from './require-messages.ts'

/** The logs to compare: of what went well, and of what did not; `[]` where there are none. */
export interface LogsToCompare {
  readonly before: LogPaths
  readonly after: LogPaths
}

/**
 * Reads two sets of logs, and keeps the features of what they say; messages are read as a stream.
 *
 * Each path, a file or a directory with everything below it, is one instance (a node, a run, a
 * request), unless option `instance` names a field that says which. A file may be compressed with gzip, and its
 * messages may be in any order. Formats, recognised by content:
 *
 * - JSON lines, logfmt (`key=value`), and CSV under a header line: fields as `LogFields` says. A
 *   message with a value is a state message, any other an event.
 * - log4j and its relatives: `2015-10-17 21:47:48,288 INFO [main] org.example.Peer: connected`. The
 *   event is class and template of the message; numbers in it are state variables `<event> #2`, the
 *   second wildcard of the template.
 * - OTLP JSON logs: service and event name, or template of the body; attributes that are numbers are
 *   state variables `<event>.<attribute>`.
 * - Any text with a time at the beginning of lines, or as option `template` says.
 *
 * In text, lines that begin no message belong to the one before. An exception that a message or its
 * stack trace names is an event too, `threw java.io.IOException: No space left`, once a message.
 *
 * Free text is read twice: templates are mined from the logs of both classes together, then every
 * message is named by the template it matches, whatever came first. `mineLogTemplates` gives them to
 * look at and to edit.
 *
 * Lines that give no message are counted in `.report` of the result, with file and line.
 *
 * @throws OptionError for options that are unknown or cannot be, no logs at all, or logs of a class
 *   that give not one message: why not, as in which line, and what to do
 * @throws TraceFormatError for a file that is in no known format, or damaged
 * @throws FlowdeltaError for a path that cannot be opened
 *
 * @example
 * const logs = await loadLogs({
 *   before: { name: 'node 1', bytes: '{"time":0,"name":"start"}\n{"time":90,"name":"queue","value":3}' },
 *   after: { name: 'node 2', bytes: '{"time":0,"name":"start"}\n{"time":70,"name":"queue","value":8}' },
 * })
 * logs.counts // { before: 1, after: 1 }
 * logs.states.values('maximum') // Float64Array(2) [ 3, 8 ]
 */
export async function loadLogs(logs: LogsToCompare, options: LogReadOptions = {}): Promise<LogSet> {
  rejectUnknownOptions(logs, LOG_CLASSES)
  const settings = readSettings(options)
  for (const logClass of LOG_CLASSES) {
    if (logs[logClass] === undefined) throw new OptionError(logClass, undefined, 'paths of logs')
  }
  const inputs = { before: await logInputs(logs.before), after: await logInputs(logs.after) }
  const all = [...inputs.before, ...inputs.after]
  if (all.length === 0) throw new OptionError('logs', '[]', '{ before: paths, after: paths }')
  const matcher = matcherOf(settings) ?? (await minedMatcher(all, settings))
  const builder = new LogBuilder()
  for (const logClass of LOG_CLASSES) {
    await readInputsInto(builder, logClass, inputs[logClass], { settings, matcher })
  }
  builder.noteBoth(pathsInBoth(inputs))
  const built = builder.build()
  for (const logClass of LOG_CLASSES) {
    await requireMessages(built, { logClass, inputs: inputs[logClass] }, { settings, matcher })
  }
  return built
}

/** Files that are of both classes. Content in memory may have one name twice. */
function pathsInBoth({ before, after }: Readonly<Record<LogClass, readonly LogInput[]>>): string[] {
  const paths = (inputs: readonly LogInput[]) =>
    inputs
      .filter(({ isPath }) => isPath)
      .flatMap(({ files }) => files.map(({ name }) => name.replace(/(^|\/)(?:\.\/)+/g, '$1')))
  const ofBefore = new Set(paths(before))
  return paths(after).filter((path) => ofBefore.has(path))
}

async function minedMatcher(
  inputs: readonly LogInput[],
  settings: ReadSettings,
): Promise<TemplateMatcher | undefined> {
  for (const file of inputs.flatMap(({ files }) => files)) {
    if (await hasFreeText(file, settings)) {
      return new TemplateMatcher(await mineInputs(inputs, settings))
    }
  }
  return undefined
}
