import { ascending, greatest, group, sort, sum } from 'd3-array'
import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { grouped } from '../../core/words.ts'
import {
  nodeFiles,
  type OpenableSource,
  openSource,
  type TraceSource,
} from '../../traces/trace-source.ts'
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
import {
  DrainTree,
  LogTemplates,
  type MessageGroup,
  masked,
  TemplateMatcher,
  templateName,
  tokensOf,
} from './drain/log-templates.ts'
import type { LinePlan } from './line-plans.ts'
import type { LogRecord } from './log-draft.ts'
import { type LogReadOptions, type ReadSettings, readSettings } from './log-read-options.ts'
import {
  type LogSink,
  LogWriter,
  onlyMessages,
  optionsIn,
  skipAdvice,
  skipText,
} from './log-sink.ts'
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
  const { division, instance } = settings
  const isDivided = division !== null && (division.splitAt !== null || division.isByBad)
  const { before, after } = periodsOf(logs, isDivided)
  const inputs = { before: await logInputs(before), after: await logInputs(after) }
  const all = LOG_CLASSES.flatMap((logClass) =>
    inputs[logClass].map((input) => ({ logClass, ...input })),
  )
  if (all.length === 0) throw new OptionError('logs', '[]', '{ before: paths, after: paths }')
  const templates =
    settings.templates === 'mined' ? await mineInputs(all, settings) : settings.templates
  const { derive, exclude } = options
  const builder = new LogBuilder({ derive, exclude, hasWaits: settings.hasWaits })
  const names = LOG_CLASSES.map((of) =>
    inputs[of].flatMap(({ files }) => files.map(sourceOf)),
  ).filter((own) => own.length > 0)
  const hasWindows = division?.windowUs != null && instance === undefined
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
      const whose = isShared ? { id: '', ...(areSame && { source: sourceOf(source) }) } : { id }
      if (isShared) builder.notes.sharedFiles.push(file)
      const to = { builder, fields, divided, matcher, logClass, file, pathInstance, ...whose }
      const sink = new LogWriter(to)
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
  const arePeriods =
    typeof logs === 'object' && logs !== null && ('before' in logs || 'after' in logs)
  if (!arePeriods) {
    if (isDivided) return { before: logs, after: [] }
    const wanted = '{ before: paths, after: paths }, or one source with `splitAt` or `badIf`'
    throw new OptionError('logs', logs, wanted, { splitAt: null, badIf: null })
  }
  rejectUnknownOptions(logs, LOG_CLASSES)
  for (const logClass of LOG_CLASSES) {
    if (logs[logClass] === undefined) throw new OptionError(logClass, undefined, 'paths of logs')
  }
  if (!isDivided || [logs.after].flat().length === 0) return logs
  const wanted = 'one source, as `splitAt` and `badIf` divide it'
  throw new OptionError('logs', 'before and after', wanted)
}

function requireBoth({ counts }: LogSet, { splitAt, text }: Division): void {
  if (counts.before > 0 && counts.after > 0) return
  const all = counts.before + counts.after
  const whose = all === 1 ? 'the only instance is' : `all ${grouped(all)} instances are`
  const found = `${whose} ${counts.before > 0 ? 'before' : 'after'}`
  if (splitAt !== null) {
    throw new OptionError('splitAt', splitAt, `a time within the logs: ${found}`)
  }
  const wanted = `conditions that some instances meet and some do not: ${found}`
  throw new OptionError('badIf', text, wanted)
}

function requireMessages(
  logs: LogSet,
  logClass: LogClass,
  { inputs, isDivided }: { readonly inputs: readonly LogInput[]; readonly isDivided: boolean },
): void {
  const members = membersOf(logs, logs.runTimeUs)
  const own = isDivided ? [...members.before, ...members.after] : members[logClass]
  if (own.length > 0 || inputs.length === 0) return
  const files = new Set(inputs.flatMap((input) => input.files.map(({ name }) => name)))
  const isOwn = ({ first }: SkippedLines) => first.some(({ file = '' }) => files.has(file))
  const most = greatest(logs.report.skipped.filter(isOwn), ({ count }) => count)
  const advice = skipAdvice(most?.reason ?? '')
  const why = most === undefined ? 'these have none' : `${skipText(most)}.${advice && ` ${advice}`}`
  const ids = inputs.map(({ id }) => id).join(', ')
  throw new OptionError(logClass, ids, `logs with messages: ${why}`, optionsIn(advice))
}

export type LogPaths = TraceSource | readonly TraceSource[]

export interface LogInput {
  readonly id: string
  readonly files: readonly OpenableSource[]
  readonly isFile: boolean
}

export async function logInputs(paths: LogPaths): Promise<readonly LogInput[]> {
  const inputs = await Promise.all(([paths].flat() as TraceSource[]).map(inputOf))
  const ids = inputs.map(({ id }) => id)
  const twice = ids.find((id, i) => ids.indexOf(id) < i)
  if (twice === undefined) return inputs
  throw new OptionError('paths', twice, 'each file and directory once')
}

async function inputOf(source: TraceSource): Promise<LogInput> {
  const isPath = typeof source === 'string' || source instanceof URL
  const below = isPath ? await (await nodeFiles()).filesBelow(source) : undefined
  if (below === undefined) {
    const file = await openSource(source)
    return { id: file.name, files: [file], isFile: true }
  }
  const name = source instanceof URL ? decodeURIComponent(source.pathname) : String(source)
  if (below.length === 0) throw new OptionError('paths', name, 'a directory with files in it')
  const id = name.replace(/(.)[\\/]+$/, '$1')
  return { id, files: await Promise.all(below.map(openSource)), isFile: false }
}

/**
 * Mines templates from free text: which kinds of messages there are. Look at them, rename and merge them, and pass them
 * to `loadLogs` as option `templates`. Mine both periods together, so that one kind of message has one name.
 *
 * @param paths files, directories or content in memory
 * @param options of `loadLogs`
 * @throws as `loadLogs`
 *
 * Source: He et al., ICWS 2017 (Drain).
 *
 * @example
 * const templates = await mineLogTemplates({
 *   name: 'node.log',
 *   bytes: '2015-10-17 21:47:48,288 INFO [main] org.example.Peer: connected to 10.0.0.7:50010\n',
 * })
 * templates.templates[0].name // 'Peer: connected to <ip>'
 */
export async function mineLogTemplates(
  paths: LogPaths,
  options: Omit<LogReadOptions, 'templates'> = {},
): Promise<LogTemplates> {
  return mineInputs(await logInputs(paths), readSettings(options))
}

const MAX_KNOWN = 1 << 16
const SHOWN_CHARACTERS = 200

export async function mineInputs(
  inputs: readonly LogInput[],
  settings: ReadSettings,
): Promise<LogTemplates> {
  const files = inputs.flatMap((input) => input.files)
  const haveText = await Promise.all(files.map((file) => hasFreeText(file, settings)))
  if (!haveText.includes(true)) return new LogTemplates([])
  const tree = new DrainTree()
  /** Groups of texts that came lately: most texts come again and again. */
  const known = new Map<string, { count: number }>()
  const groupOf = ({ name, component }: LogRecord): { count: number } | undefined => {
    const { text } = masked(name)
    const key = `${component}\n${text}`
    const found = known.get(key)
    if (found !== undefined) {
      found.count++
      return found
    }
    // A slice of a file's text would keep all of it alive.
    const own = ` ${text}`.slice(1)
    const example = ` ${name.slice(0, SHOWN_CHARACTERS)}`.slice(1)
    const added = tree.add(component, tokensOf(own), example)
    if (known.size === MAX_KNOWN) known.clear()
    if (added !== undefined) known.set(key, added)
    return added
  }
  const add = (record: LogRecord) => (record.isText ? groupOf(record) : undefined)
  // The texts of a plan equal each other but for the matches of masks.
  const taker = ({ record }: LinePlan) => {
    let group: { count: number } | undefined
    return () => {
      if (group === undefined) group = add(record)
      else group.count++
    }
  }
  const sink: LogSink = { ...onlyMessages(add), taker, isTimeless: true }
  // Groups depend on the order of messages, which must not depend on the names of classes.
  for (const { files, isFile } of sort(inputs, ({ id }) => id)) {
    for (const file of files) await readLogFile(file, { settings, sink, isRequired: isFile })
  }
  const named = group(tree.groups, ({ component, tokens }) =>
    templateName(component, tokens.join(' ')),
  )
  const templates = Array.from(named, ([name, [first, ...others]]) => {
    const { component, tokens, example, count } = first as MessageGroup
    const patterns = [{ component, text: tokens.join(' ') }]
    return { name, patterns, count: count + sum(others, (one) => one.count), example }
  }).sort((a, b) => b.count - a.count || ascending(a.name, b.name))
  return new LogTemplates(templates.map((template, i) => ({ id: i + 1, ...template })))
}
