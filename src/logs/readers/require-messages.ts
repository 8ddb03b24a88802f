import { OptionError } from '../../core/errors.ts'
import { counted } from '../../core/words.ts'
import { LogBuilder } from '../features/log-builder.ts'
import type { LogClass } from '../features/log-class.ts'
import type { LogSet } from '../features/log-set.ts'
import type { TemplateMatcher } from './drain/template-matcher.ts'
import { fieldsOfHead } from './fields-of-head.ts'
import type { LogInput } from './log-inputs.ts'
import type { ReadSettings } from './log-read-options.ts'
import { readInputsInto } from './read-logs-into.ts'
import { recogniseLogFormat } from './recognise-log-format.ts'
import { adviceFor, skipText } from './skip-advice.ts'

interface Reading {
  readonly settings: ReadSettings
  readonly matcher: TemplateMatcher | 'none' | undefined
}

/**
 * Sees to it that the logs of a class gave a message.
 *
 * @throws OptionError where they gave none: why not, as in which line, and what to do
 */
export async function requireMessages(
  logs: LogSet,
  { logClass, inputs }: { readonly logClass: LogClass; readonly inputs: readonly LogInput[] },
  reading: Reading,
): Promise<void> {
  const hasMessage = logs.runTimeUs.some(
    (runTimeUs, instance) => !Number.isNaN(runTimeUs) && logs.classNameOf(instance) === logClass,
  )
  if (hasMessage || inputs.length === 0) return
  // Read once more, alone: what was noted of both classes does not say whose lines they were.
  const builder = new LogBuilder()
  await readInputsInto(builder, logClass, inputs, reading)
  const { lines, skipped } = builder.build().report
  const [most] = skipped.toSorted((a, b) => b.count - a.count)
  const given = inputs.map(({ id }) => id).join(', ')
  if (most === undefined) {
    const found = lines === 0 ? 'this is empty' : `${counted(lines, 'line')} gave none`
    throw new OptionError(logClass, given, `logs with messages: ${found}`)
  }
  const advice = adviceFor(most.reason, await lookAt(inputs, reading.settings))
  throw new OptionError(
    logClass,
    given,
    `logs with messages: none of ${counted(lines, 'line')} gave one; ${skipText(most)}. ${advice}`,
  )
}

/** The fields of the first file, and its format where that is not the one that was said. */
async function lookAt(
  inputs: readonly LogInput[],
  settings: ReadSettings,
): Promise<Parameters<typeof adviceFor>[1]> {
  const file = inputs.flatMap(({ files }) => files)[0]
  if (file === undefined) return { fields: [] }
  const { head: bytes, chunks } = await file.open(() => {})
  for await (const _ of chunks) break
  const head = new TextDecoder().decode(bytes)
  const found = recogniseLogFormat(head, { ...settings, format: 'auto' })
  const isOther = settings.format !== 'auto' && found !== undefined && found !== settings.format
  const fields = settings.template.length > 0 ? [] : fieldsOfHead(head, found)
  return { fields, ...(isOther && settings.template.length === 0 && { format: found }) }
}
