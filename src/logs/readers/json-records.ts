import { QualityLog } from '../../traces/quality.ts'
import { JsonElements } from '../../traces/readers/json-elements.ts'
import { isJsonObject, type JsonObject } from '../../traces/readers/json-values.ts'
import { roleOf } from './field-roles.ts'
import type { LineReader } from './line-reader.ts'
import { type LogFile, SKIPPED } from './log-sink.ts'

/**
 * Names of lists that hold records, in answers of Loki, CloudWatch, Azure and Elasticsearch and in exports of
 * OpenTelemetry; what stands around a list and says where it is from belongs to each of its records.
 */
const LISTS = (
  'resourceLogs resource_logs scopeLogs scope_logs instrumentationLibraryLogs logRecords log_records ' +
  'records events logEvents entries logs hits data result results streams values tables rows items'
).split(' ')
const IS_LIST = new Set(LISTS)
/** Fields around a list that name the source of its records. */
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

/** Whether an object is none by itself, but has records in it. */
export function holdsRecords(value: object): boolean {
  return Array.isArray(value) || listIn(value as JsonObject) !== undefined
}

function* recordsIn(value: unknown, around: JsonObject = {}): Generator<JsonObject> {
  if (Array.isArray(value)) {
    for (const one of value) yield* recordsIn(one, around)
    return
  }
  if (!isJsonObject(value)) return
  const key = listIn(value)
  if (key === undefined) {
    yield { ...around, ...value }
    return
  }
  const known: Record<string, unknown> = { ...around }
  for (const name of AROUND) if (name in value) known[name] = value[name]
  const { [key]: list, columns } = value
  if (isJsonObject(list)) yield* recordsIn(list, known)
  else if (key === 'values') yield* (list as unknown[]).map((entry) => lokiRecord(entry, known))
  else if (key === 'rows' && Array.isArray(columns)) {
    for (const row of list as unknown[][]) {
      yield Object.fromEntries(row.map((cell, i) => [String(columns[i]?.name ?? columns[i]), cell]))
    }
  } else yield* recordsIn(list, known)
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
