import { TraceFormatError } from '../../core/errors.ts'
import type { OpenableSource } from '../../traces/trace-source.ts'
import { readCsvLog } from './csv-log.ts'
import { readJsonLines } from './json-lines.ts'
import { log4jLayout, templateLayout, textLayout } from './line-layouts.ts'
import { LogClock } from './log-clock.ts'
import { LOG_FORMATS, type LogFormat, type ReadSettings } from './log-read-options.ts'
import type { LogFile, LogSink } from './log-sink.ts'
import { readLogfmt } from './logfmt.ts'
import { readOtlpLog } from './otlp-log.ts'
import { recogniseLogFormat } from './recognise-log-format.ts'
import { readTextMessages } from './text-messages.ts'

interface FileOptions {
  readonly settings: ReadSettings
  readonly sink: LogSink
  /** Whether a file in no known format is an error, and not just noted. */
  readonly isRequired: boolean
}

/**
 * Reads one file in its format into a sink.
 *
 * @throws TraceFormatError for a required file in no known format, or one that cannot be read at all
 */
export async function readLogFile(
  source: OpenableSource,
  { settings, sink, isRequired }: FileOptions,
): Promise<void> {
  const { head: bytes, chunks } = await source.open(() => {})
  const head = new TextDecoder().decode(bytes)
  // A file without a line is a log without messages.
  const isEmpty = head.trim() === ''
  const format = formatOf(head, settings)
  if (isEmpty || format === undefined) {
    // Starting to read is what makes it possible to close the file.
    for await (const _ of chunks) break
    if (isEmpty) return
    if (isRequired) throw unknownFormat(head, source.name)
    sink.skipFile()
    return
  }
  await readInFormat(format, { name: source.name, chunks, sink }, { settings, head })
}

/**
 * Whether a file has free text: lines of text always, records if those at the beginning do. OTLP is
 * taken to have some.
 */
export async function hasFreeText(
  source: OpenableSource,
  settings: ReadSettings,
): Promise<boolean> {
  const { head: bytes, chunks } = await source.open(() => {})
  for await (const _ of chunks) break
  const head = new TextDecoder().decode(bytes)
  const format = formatOf(head, settings)
  if (format === undefined || head.trim() === '') return false
  if (format !== 'jsonl' && format !== 'csv' && format !== 'logfmt') return true
  let found = false
  const sink: LogSink = {
    record({ isText }) {
      found ||= isText
    },
    skip() {},
    skipFile() {},
    countLines() {},
  }
  const file = { name: source.name, chunks: only(bytes), sink }
  await readInFormat(format, file, { settings, head })
  return found
}

function formatOf(head: string, settings: ReadSettings): LogFormat | undefined {
  return settings.format === 'auto' ? recogniseLogFormat(head, settings) : settings.format
}

/** Each file has a clock of its own: what it learnt of one says nothing of the next. */
function readInFormat(
  format: LogFormat,
  file: LogFile,
  { settings, head }: { readonly settings: ReadSettings; readonly head: string },
): Promise<void> {
  const clock = new LogClock(settings)
  switch (format) {
    case 'jsonl':
      return readJsonLines(file, settings, clock)
    case 'csv':
      return readCsvLog(file, settings, { clock, head })
    case 'logfmt':
      return readLogfmt(file, settings, clock)
    case 'otlp':
      return readOtlpLog(file, settings, clock)
    case 'log4j':
      return readTextMessages(file, { layout: log4jLayout(settings), clock, isOpen: true })
    case 'text': {
      const hasTemplate = settings.template.length > 0
      const layout = hasTemplate ? templateLayout(settings) : textLayout(settings)
      return readTextMessages(file, { layout, clock, isOpen: !hasTemplate })
    }
  }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function unknownFormat(head: string, file: string): TraceFormatError {
  return new TraceFormatError(
    `This is in no log format that is known; it begins ${beginning(head)}`,
    { file },
    `Known formats are ${LOG_FORMATS.join(', ')}. If it is one of these, name it in option format; if lines begin with a time of another form, say in option dateFormat how it is written; for other lines, give option template`,
  )
}

function beginning(head: string): string {
  const printable = head.slice(0, 60).replace(/[^\P{C}\s]|\uFFFD/gu, '·')
  return JSON.stringify(printable.replace(/\s+/g, ' '))
}
