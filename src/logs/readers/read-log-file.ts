import { greatest } from 'd3-array'
import { joined } from '../../core/entries.ts'
import { TraceFormatError } from '../../core/errors.ts'
import { beginning } from '../../core/words.ts'
import { QualityLog } from '../../traces/quality.ts'
import { readCsvRecords } from '../../traces/readers/csv-rows.ts'
import { JsonElements } from '../../traces/readers/json-elements.ts'
import { isJsonObject, type JsonObject } from '../../traces/readers/json-values.ts'
import { HEAD_BYTES } from '../../traces/readers/recognize-format.ts'
import { closeChunks, type OpenableSource, openSource } from '../../traces/trace-source.ts'
import { type Role, roleOf } from './field-roles.ts'
import { endOfLine, LineBytes } from './line-bytes.ts'
import { BEGINS_WITH_PAIR, type LineOptions, LineReader } from './line-reader.ts'
import { LogClock } from './log-clock.ts'
import { LOG_FORMATS, type LogFormat, type ReadSettings } from './log-read-options.ts'
import { type LogFile, onlyMessages, SKIPPED } from './log-sink.ts'
import { logfmtPairs, parsedObject } from './logfmt.ts'

/**
 * Reads one file in its format into a sink, with a clock of its own, because files may differ; one in no known format is
 * an error if it `isRequired`, else noted.
 */
export async function readLogFile(
  source: OpenableSource,
  { settings, sink, isRequired }: Pick<LineOptions, 'settings' | 'sink'> & { isRequired: boolean },
): Promise<void> {
  const { head: bytes, chunks } = await source.open(() => {})
  const head = new TextDecoder().decode(bytes)
  const format = settings.format === 'auto' ? recognizeLogFormat(head, settings) : settings.format
  const isEmpty = head.trim() === ''
  if (isEmpty || format === undefined) {
    await closeChunks(chunks)
    if (isEmpty) return
    if (!isRequired) return sink.skipFile()
    throw new TraceFormatError(
      `This is in no log format that is known; it begins ${beginning(head)}`,
      { file: source.name },
      `Known formats are ${LOG_FORMATS.join(', ')}. If it is one of these, name it with \`format\`; if lines begin with a time in another form, say how it is written with \`dateFormat\``,
      { format: null, dateFormat: null },
    )
  }
  const file: LogFile = { name: source.name, chunks, sink }
  const reader = new LineReader({ sink, settings, clock: new LogClock(settings), format })
  if (format === 'csv') await readCsvLog(file, reader, head)
  else if (format === 'json' || format === 'otlp') await readJsonRecords(file, reader)
  else await readLines(file, (text, line) => reader.line(text, line), reader)
  reader.end()
}

/** Whether a file has free text, by its beginning. */
export async function hasFreeText(
  source: OpenableSource,
  settings: ReadSettings,
): Promise<boolean> {
  const { head, chunks } = await source.open(() => {})
  await closeChunks(chunks)
  const text = new TextDecoder().decode(head)
  const format = settings.format === 'auto' ? recognizeLogFormat(text, settings) : settings.format
  if (format === 'text' || format === 'log4j') return true
  let found = false
  const sink = onlyMessages(({ isText }) => {
    found ||= isText
  })
  const beginning = await openSource({ name: source.name, bytes: head })
  await readLogFile(beginning, { settings, sink, isRequired: false })
  return found
}

const LINES = 50

/** Returns the format of a file that begins with `head`, `undefined` if it is in none that is known. */
export function recognizeLogFormat(head: string, settings: ReadSettings): LogFormat | undefined {
  const text = head.replace(/^\uFEFF/, '')
  const lines = linesOf(text)
  const [header = ''] = lines
  const most = (fits: (line: string) => boolean) => lines.filter(fits).length * 2 > lines.length
  const objects = lines.map(parsedObject)
  if (/^\s*(?:\{|\[\s*(?:\{|$))/.test(text)) {
    const first = objects.find((one) => one !== undefined)
    const isRecord = first !== undefined && !holdsRecords(first)
    // JSON that is cut off, on several lines, or around records.
    if (!isRecord || !most((line) => objects[lines.indexOf(line)] !== undefined)) {
      if (first !== undefined || JSON_KEY.test(text)) return isRecord ? 'jsonl' : 'json'
    }
  }
  if (most((line) => parsedObject(line) !== undefined)) return 'jsonl'
  const columns = header.split(delimiterOf(header)).map(nameOf)
  const roles = columns.map((column) => roleOf(column).role)
  const has = (wanted: 'time' | 'name') => {
    const given = settings[wanted]?.toLowerCase()
    if (given !== undefined) return columns.some((column) => column.toLowerCase() === given)
    return roles.some((role) => (wanted === 'time' ? role === 'time' : SAYS_WHAT.has(role)))
  }
  // If a named column is missing, the error should say that, rather than another format's problem.
  const isNamed = settings.time !== null || settings.name !== null
  const hasColumns = isNamed ? has('time') || has('name') : has('time') && has('name')
  if (columns.length > 1 && hasColumns) return 'csv'
  const countOf = (line: string) => (BEGINS_WITH_PAIR.test(line) ? logfmtPairs(line)?.length : 0)
  if (most((line) => Number(countOf(line)) > 1)) return 'logfmt'
  let format: LogFormat | undefined
  const sink = onlyMessages(() => {
    format = 'text'
  })
  const reader = new LineReader({ sink, settings, clock: new LogClock(settings), format: 'text' })
  for (const [i, line] of lines.entries()) reader.line(line, i + 1)
  return format
}

const JSON_KEY = /^\s*(?:\[\s*)?\{\s*"/

function linesOf(text: string): string[] {
  const end = text.length * 4 < HEAD_BYTES ? -1 : text.lastIndexOf('\n')
  return (end < 0 ? text : text.slice(0, end))
    .split('\n', LINES)
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line.trim() !== '')
}

const RETURN = 13
const MAX_LINE_LENGTH = 1 << 24
const decoder = new TextDecoder()

/** Splits UTF-8 text into lines that end in LF or CRLF, and counts them; also hands blank ones on. */
export async function readLines(
  { chunks, sink }: LogFile,
  onLine: (text: string, line: number) => void,
  planned?: Pick<LineReader, 'bytes' | 'endBytes'>,
): Promise<void> {
  const own = new LineBytes()
  let rest: Uint8Array[] = []
  let restLength = 0
  let line = 1
  let isTooLong = false
  const take = (bytes: Uint8Array, start: number, to: number) => {
    const end = to > start && bytes[to - 1] === RETURN ? to - 1 : to
    if (!isTooLong) {
      own.set(bytes, start, end)
      own.lineNumber = line
      if (planned?.bytes(own) !== true) {
        onLine(decoder.decode(bytes.subarray(start, end)), line)
      }
    }
    isTooLong = false
    line++
  }
  const takeRest = (end: Uint8Array) => {
    const whole = rest.length === 0 ? end : joined([...rest, end], Uint8Array)
    take(whole, 0, whole.length)
    rest = []
    restLength = 0
  }
  for await (const chunk of chunks) {
    let from = endOfLine(chunk, 0) + 1
    if (from > 0) takeRest(chunk.subarray(0, from - 1))
    for (let end = endOfLine(chunk, from); from > 0 && end >= 0; end = endOfLine(chunk, from)) {
      take(chunk, from, end)
      from = end + 1
    }
    // The chunk may be filled anew by whoever reads it.
    planned?.endBytes()
    if (!isTooLong && from < chunk.length) {
      rest.push(chunk.slice(from))
      restLength += chunk.length - from
    }
    if (restLength > MAX_LINE_LENGTH) {
      sink.skip(SKIPPED.tooLong, line, decoder.decode(joined(rest, Uint8Array).subarray(0, 200)))
      rest = []
      restLength = 0
      isTooLong = true
    }
  }
  if (restLength > 0 || isTooLong) takeRest(new Uint8Array(0))
  sink.countLines(line - 1)
}

function delimiterOf(header: string): string {
  return greatest([',', ';', '\t'], (delimiter) => header.split(delimiter).length) ?? ','
}

/** Returns the name of a column, without the zone that Azure puts behind `TimeGenerated [UTC]`. */
function nameOf(field: string): string {
  return field
    .replace(/^"|"$/g, '')
    .replace(/ \[\w+\]$/, '')
    .trim()
}

/** @throws TraceFormatError for a row that does not end */
async function readCsvLog(
  { sink, name, chunks }: LogFile,
  reader: LineReader,
  head: string,
): Promise<void> {
  let last = 0
  await readCsvRecords(chunks, {
    file: name,
    delimiter: delimiterOf(head.split('\n', 1)[0] ?? ''),
    nameOf,
    onRecord: (record, line) => {
      last = line
      reader.object(record, { line, text: () => Object.values(record).join() })
    },
    onBadRow: (_, message, line) => {
      last = line
      sink.skip(SKIPPED.broken, line, message)
    },
  })
  sink.countLines(last)
}

const SAYS_WHAT = new Set<Role | undefined>(['event', 'message', 'line', 'name', 'path'])

/**
 * Names of lists that hold records, in answers of Loki, CloudWatch, Azure and Elasticsearch and in exports of
 * OpenTelemetry; what stands around a list and says where it is from belongs to each of its records.
 */
const LISTS = (
  'resourceLogs resource_logs scopeLogs scope_logs instrumentationLibraryLogs logRecords log_records ' +
  'records events logEvents entries logs hits data result results streams values tables rows items'
).split(' ')
const IS_LIST = new Set(LISTS)
const AROUND = ['resource', 'stream', 'labels', 'logStream', 'logStreamName'] as const

/** Reads records of JSON: a list, one object around lists, or several objects, on however many lines. */
export async function readJsonRecords(
  { name: file, chunks, sink }: LogFile,
  reader: LineReader,
): Promise<void> {
  const quality = new QualityLog()
  const elements = new JsonElements({
    file,
    quality,
    lost: 'span skipped',
    cutAt: [...LISTS, ''],
    onElement: ({ value, line }) => {
      for (const record of recordsIn(value)) {
        reader.object(record, { line, text: () => JSON.stringify(record) })
      }
    },
  })
  let lines = 0
  for await (const chunk of chunks) {
    elements.push(chunk)
    for (const byte of chunk) if (byte === 10) lines++
  }
  elements.end()
  const { issues } = quality.finish(0)
  for (const { place, message } of issues) sink.skip(SKIPPED.broken, place.line ?? 0, message)
  sink.countLines(lines)
}

export function holdsRecords(value: object): boolean {
  return Array.isArray(value) || listIn(value as JsonObject) !== undefined
}

function recordsIn(value: unknown, around: JsonObject = {}): readonly JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((one) => recordsIn(one, around))
  if (!isJsonObject(value)) return []
  const key = listIn(value)
  if (key === undefined) return [{ ...around, ...value }]
  const known: Record<string, unknown> = { ...around }
  for (const name of AROUND) if (name in value) known[name] = value[name]
  const { [key]: list, columns } = value
  if (Array.isArray(list) && key === 'values') return list.map((entry) => lokiRecord(entry, known))
  if (Array.isArray(list) && key === 'rows' && Array.isArray(columns)) {
    const names = columns.map((column) => String(column?.name ?? column))
    return list.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])))
  }
  return recordsIn(list, known)
}

function listIn(value: JsonObject): string | undefined {
  const keys = Object.keys(value)
  const key = keys.find((one) => IS_LIST.has(one) && holdsObjects(value[one]))
  // An object with a time is a record, whatever lists it has.
  return key === undefined || keys.some((one) => roleOf(one).role === 'time') ? undefined : key
}

function holdsObjects(value: unknown): boolean {
  if (isJsonObject(value)) return listIn(value) !== undefined
  return Array.isArray(value) && value.length > 0 && typeof value[0] === 'object'
}

/** Returns a record of Loki: the time in nanoseconds, the line, and maybe further labels. */
function lokiRecord(entry: unknown, around: JsonObject): JsonObject {
  const [time, line, labels] = entry as unknown[]
  const { stream, ...rest } = around
  const own = isJsonObject(stream) ? stream : {}
  return { ...rest, ...own, ...(isJsonObject(labels) ? labels : {}), time, line }
}
