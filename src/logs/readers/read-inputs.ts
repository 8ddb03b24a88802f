import { sum } from 'd3-array'
import { nodeFiles } from '../../traces/trace-source.ts'
import { FieldVariables } from '../features/field-variables.ts'
import { LogBuilder } from '../features/log-builder.ts'
import { LOG_CLASSES, type LogClass } from '../features/log-set.ts'
import { DividedLogs } from './divided-logs.ts'
import { LogTemplates } from './drain/log-templates.ts'
import { TemplateMatcher } from './drain/template-matcher.ts'
import { type LogInput, logInputs } from './log-inputs.ts'
import { type LogReadOptions, type ReadSettings, readSettings } from './log-read-options.ts'
import { LogWriter } from './log-sink.ts'
import { readLogFile } from './read-log-file.ts'

/** What free text is named by; `undefined` where there is none. */
export type Naming = LogTemplates | 'none' | undefined
type ClassedInput = readonly [logClass: LogClass, input: LogInput]
type ReadInput = ReturnType<LogBuilder['pack']> & { readonly fields: FieldVariables['events'] }

/** What a file is called, whichever folder it is in. */
function sourceOf({ name }: LogInput['files'][number]): string {
  return name.replace(/^.*[\\/]/, '')
}

/** Whether the files of a class are one log, whose windows are instances. */
function sharesWindows({ division, instance, isByPath }: ReadSettings): boolean {
  return division !== null && division.windowUs !== null && instance === undefined && !isByPath
}

/** Less is read before threads have begun. */
const MIN_BYTES = 1 << 24

/** Reads inputs into a builder, one after the other; instances are closed when they are read, unless `isOpen`. */
export function inputReader(
  builder: LogBuilder,
  settings: ReadSettings,
  templates: Naming,
  {
    isOpen = false,
    all = [],
  }: { readonly isOpen?: boolean; readonly all?: readonly ClassedInput[] } = {},
) {
  const { division, hasWaits, instance } = settings
  const names = LOG_CLASSES.map((logClass) =>
    all.flatMap(([of, { files }]) => (of === logClass ? files.map(sourceOf) : [])),
  ).filter((own) => own.length > 0)
  const isShared = sharesWindows(settings) && names.some(({ length }) => length > 1)
  // Files of other names in the other period tell the periods apart, and nothing else.
  const areSame = names.every((own) =>
    names.every((other) => own.every((one) => other.includes(one))),
  )
  const sources: string[] = []
  if (hasWaits) builder.addWaits()
  const fields = new FieldVariables(builder)
  const divided = division === null ? undefined : new DividedLogs(division, builder)
  const matcher = templates instanceof LogTemplates ? new TemplateMatcher(templates) : templates
  const to = { builder, fields, divided, matcher }
  return {
    async read([logClass, { id, files, isFile }]: ClassedInput): Promise<void> {
      // Where paths are divided, the number only says that they are what is.
      const isDivided = divided !== undefined
      const pathInstance =
        instance !== undefined ? -1 : isDivided ? 0 : builder.instanceCode(logClass, id)
      for (const source of files) {
        const file = source.name
        // Of files that share their windows, each message says which it is of.
        const whose = isShared ? { id: '', ...(areSame && { source: sourceOf(source) }) } : { id }
        if (isShared) sources.push(file)
        const sink = new LogWriter({ ...to, ...whose, logClass, file, pathInstance })
        await readLogFile(source, { settings, sink, isRequired: isFile })
      }
      if (instance === undefined && !isDivided && !isOpen) builder.close(pathInstance)
    },
    /** Adds what a thread has read. */
    add(logClass: LogClass, read: ReadInput): void {
      fields.add(read.fields, builder.add(logClass, read))
    },
    /** All inputs were read. */
    finish(): FieldVariables['events'] {
      // Which class an instance is of tells what names it.
      divided?.finish()
      builder.noteShared(sources)
      fields.finish(division?.badIf.map(({ attribute }) => attribute))
      return fields.events
    },
  }
}

/**
 * Reads inputs in threads, each by itself, where they are large and none depends on another; `undefined`
 * where they must be read here, which is also where errors are told.
 */
export async function readInThreads(
  all: readonly ClassedInput[],
  options: LogReadOptions,
  templates: Naming,
): Promise<readonly ReadInput[] | undefined> {
  const settings = readSettings(options)
  const { instance, division } = settings
  const isDivided = division !== null && (division.splitAt !== null || division.isByBad)
  const bytes = sum(all, ([, { files }]) => sum(files, (file) => file.bytes))
  const isApart =
    instance === undefined &&
    !isDivided &&
    !sharesWindows(settings) &&
    options.derive === undefined &&
    !isOneEach(all)
  const isWorth = all.length > 1 && bytes >= MIN_BYTES && all.every(([, { isPath }]) => isPath)
  if (!isApart || !isWorth) return undefined
  const given = { ...options, templates: options.templates && ('mined' as const) }
  const { startThreads } = await nodeFiles()
  const threads = startThreads('log-worker', [given, JSON.stringify(templates)], all.length)
  const answers: unknown[] = all.map(() => undefined)
  const questions = all.entries()
  const work = async (thread: (typeof threads)[number]) => {
    for (const [i, [logClass, { id }]] of questions) answers[i] = await thread.ask([logClass, id])
  }
  await Promise.allSettled(threads.map(work))
  await Promise.all(threads.map((thread) => thread.end()))
  return answers.every((answer) => answer !== undefined) ? (answers as ReadInput[]) : undefined
}

/** Whether each class is one log, which may be cut into windows. */
export function isOneEach(all: readonly ClassedInput[]): boolean {
  return all.length === 2 && all[0]?.[0] !== all[1]?.[0]
}

/** What a thread does: answers what an input says. */
export function answering(options: LogReadOptions, templates: string | undefined) {
  const settings = readSettings(options)
  const given = templates === undefined ? undefined : JSON.parse(templates)
  return async (logClass: LogClass, path: string): Promise<ReadInput> => {
    const builder = new LogBuilder()
    const named = typeof given === 'object' ? LogTemplates.fromJSON(given) : given
    const reader = inputReader(builder, settings, named)
    for (const input of await logInputs(path)) await reader.read([logClass, input])
    const fields = reader.finish()
    return { ...builder.pack(), fields }
  }
}
