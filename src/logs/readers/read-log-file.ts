import { TraceFormatError } from '../../core/errors.ts'
import { HEAD_BYTES } from '../../traces/readers/recognize-format.ts'
import type { OpenableSource } from '../../traces/trace-source.ts'
import { columnNames, delimiterOf, readCsvLog } from './csv-log.ts'
import { parsedObject, readJsonLines } from './json-lines.ts'
import { LogClock } from './log-clock.ts'
import { LOG_FORMATS, type LogFormat, type ReadSettings } from './log-read-options.ts'
import { type LogFile, type LogSink, onlyMessages } from './log-sink.ts'
import { logfmtPairs, readLogfmt } from './logfmt.ts'
import { readOtlpLog } from './otlp-log.ts'
import { log4jLayout, readTextMessages, templateLayout, textLayout } from './text-log.ts'

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
  const sink = onlyMessages(({ isText }) => {
    found ||= isText
  })
  const file = { name: source.name, chunks: only(bytes), sink }
  await readInFormat(format, file, { settings, head })
  return found
}

function formatOf(head: string, settings: ReadSettings): LogFormat | undefined {
  return settings.format === 'auto' ? recognizeLogFormat(head, settings) : settings.format
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
    `Known formats are ${LOG_FORMATS.join(', ')}. If it is one of these, name it with \`format\`; if lines begin with a time in another form, say how it is written with \`dateFormat\`; for other lines, give a \`template\``,
    { format: null, dateFormat: null, template: null },
  )
}

function beginning(head: string): string {
  const printable = head.slice(0, 60).replace(/[^\P{C}\s]|\uFFFD/gu, '·')
  return JSON.stringify(printable.replace(/\s+/g, ' '))
}

const LINES = 50

/** The format of a file that begins with `head`, `undefined` if it is in none that is known. */
export function recognizeLogFormat(head: string, settings: ReadSettings): LogFormat | undefined {
  const text = head.replace(/^\uFEFF/, '')
  if (/^[\s[]*\{\s*"resourceLogs"/.test(text)) return 'otlp'
  // The last line may be cut off in the middle; not if this is less than would have been read.
  const end = text.length * 4 < HEAD_BYTES ? -1 : text.lastIndexOf('\n')
  const whole = (end < 0 ? text : text.slice(0, end))
    .split('\n', LINES)
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line.trim() !== '')
  const [header = ''] = whole
  const most = (fits: (line: string) => boolean) => whole.filter(fits).length * 2 > whole.length
  if (most((line) => parsedObject(line) !== undefined)) return 'jsonl'
  const fields = header.split(delimiterOf(header)).map((name) => name.replace(/"/g, ''))
  const columns = columnNames(fields, settings)
  const has = (names: readonly string[]) => names.some((name) => columns.includes(name))
  const { time, name } = settings
  // Where a column was named that is not there, the error should be that, and not another format's.
  const isNamed = time.length === 1 || name.length === 1
  if (isNamed ? has(time) || has(name) : has(time) && has(name)) return 'csv'
  if (most((line) => logfmtPairs(line, [], []) > 1)) return 'logfmt'
  const log4j = log4jLayout(settings)
  const plain = textLayout(settings)
  const log4jLines = whole.filter((line) => log4j(line) !== undefined).length
  const timed = whole.filter((line) => plain(line) !== undefined).length
  if (timed === 0) return undefined
  return log4jLines * 2 > timed ? 'log4j' : 'text'
}
