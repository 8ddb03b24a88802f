import { FlowdeltaError } from '../../core/errors.ts'
import type { LogBuilder } from '../features/log-builder.ts'
import type { LogClass } from '../features/log-class.ts'
import { LogTemplates } from './drain/log-templates.ts'
import { TemplateMatcher } from './drain/template-matcher.ts'
import { type LogInput, type LogPaths, logInputs } from './log-inputs.ts'
import { type LogReadOptions, type ReadSettings, readSettings } from './log-read-options.ts'
import { LogWriter } from './log-writer.ts'
import { hasFreeText, readLogFile } from './read-log-file.ts'

/**
 * Reads the logs of one class into a builder, to which other messages may be added as well. See
 * `loadLogs`, whose options these are; but the templates of free text are not mined, since those of
 * one class would not fit the other: mine them with `mineLogTemplates` and give them.
 *
 * @throws FlowdeltaError for free text without templates; else as `loadLogs`
 *
 * @example
 * const builder = new LogBuilder()
 * const bytes = '{"time":1,"name":"queue length","value":3}'
 * await readLogsInto(builder, 'before', { name: 'node 1', bytes })
 * builder.build().instances // [ 'node 1' ]
 */
export async function readLogsInto(
  builder: LogBuilder,
  logClass: LogClass,
  paths: LogPaths,
  options: LogReadOptions = {},
): Promise<void> {
  const settings = readSettings(options)
  const inputs = await logInputs(paths)
  if (settings.templates === 'mined') await refuseFreeText(inputs, settings)
  await readInputsInto(builder, logClass, inputs, { settings, matcher: matcherOf(settings) })
}

/** What gives free text its names, if the options say so already. */
export function matcherOf({ templates }: ReadSettings): TemplateMatcher | 'none' | undefined {
  if (templates instanceof LogTemplates) return new TemplateMatcher(templates)
  return templates === 'none' ? 'none' : undefined
}

export async function readInputsInto(
  builder: LogBuilder,
  logClass: LogClass,
  inputs: readonly LogInput[],
  {
    settings,
    matcher,
  }: {
    readonly settings: ReadSettings
    readonly matcher: TemplateMatcher | 'none' | undefined
  },
): Promise<void> {
  const isByPath = settings.instance === undefined
  for (const { id, files, isFile } of inputs) {
    const pathInstance = isByPath ? builder.instanceCode(logClass, id) : -1
    for (const source of files) {
      const sink = new LogWriter({ builder, logClass, file: source.name, pathInstance, matcher })
      await readLogFile(source, { settings, sink, isRequired: isFile })
    }
    if (isByPath) builder.close(pathInstance)
  }
}

async function refuseFreeText(inputs: readonly LogInput[], settings: ReadSettings): Promise<void> {
  for (const file of inputs.flatMap(({ files }) => files)) {
    if (!(await hasFreeText(file, settings))) continue
    throw new FlowdeltaError(
      `${file.name} has free text, whose names must be the same in both classes. Mine them from the logs of both with mineLogTemplates, and give option templates.`,
    )
  }
}
