// Runs once a record: the loops index with `!`.
import { bisectLeft, bisectRight } from 'd3-array'
import { Dictionary } from './dictionary.ts'
import { gather } from './growing-columns.ts'

export interface LoggedTraces {
  readonly epochNs: bigint
  readonly ids: readonly string[]
  /** The spans of trace `i` are rows `spanOffsets[i]` to `spanOffsets[i + 1]`. */
  readonly spanOffsets: Uint32Array
  /** Log records of spans; undefined if no logs were loaded. */
  readonly logs?: SpanLogs | undefined
  /** Log records of services that name no trace. */
  readonly serviceLogs?: ServiceLogs | undefined
}

/** Returns columns without records. */
export function emptyRecords() {
  return {
    traceIds: [] as string[],
    spanIds: [] as string[],
    timeUs: [] as number[],
    statement: [] as number[],
    source: [] as number[],
    statements: new Dictionary(),
    /** Possible names of the place where a record was written: values of fields, one per line; the file is the last. */
    sources: new Dictionary(),
    /** Records that name no trace: one entry each. */
    loose: { timeUs: [] as number[], statement: [] as number[], source: [] as number[] },
  }
}

export type LogRecords = ReturnType<typeof emptyRecords>

/** Log records of saved traces, as JSON has them. */
export interface SavedLogs {
  readonly traces: readonly string[]
  /** Columns: index in `traces`; the number that is the span's id; µs since 1970; index in `statements`. */
  readonly trace: readonly number[]
  readonly span: readonly number[]
  readonly timeUs: readonly (number | null)[]
  readonly statement: readonly number[]
  readonly statements: readonly string[]
  /** Records of services, whose names are `sources`. */
  readonly loose?: {
    readonly timeUs: readonly (number | null)[]
    readonly statement: readonly number[]
    readonly source: readonly number[]
    readonly sources: readonly string[]
  }
}

/** Returns the id that saved files give to a span: its place in the file, from 1. */
export function savedSpanId(place: number): string {
  return place.toString(16).padStart(16, '0')
}

/** Returns the logs of traces `from` to `to`, with the first trace also those of services; `undefined` for none. */
export function savedLogs(
  { epochNs, ids, spanOffsets, logs, serviceLogs }: LoggedTraces,
  from: number,
  to: number,
): SavedLogs | undefined {
  if (logs === undefined) return undefined
  const [first, after] = [from, to].map((trace) => bisectLeft(logs.span, spanOffsets[trace]!))
  const rows = logs.span.subarray(first, after)
  const [traces, statements] = [new Dictionary(), new Dictionary()]
  const sinceEpoch = (times: Float64Array) =>
    Array.from(times, (timeUs) => timeUs + Number(epochNs) / 1e3)
  const said = (codes: Uint32Array, texts: Dictionary) =>
    Array.from(codes, (code) => statements.code(texts.value(code)))
  return {
    traces: traces.values,
    statements: statements.values,
    trace: Array.from(rows, (row) => traces.code(ids[bisectRight(spanOffsets, row) - 1]!)),
    span: Array.from(rows, (row) => row + 1),
    timeUs: sinceEpoch(logs.timeUs.subarray(first, after)),
    statement: said(logs.statement.subarray(first, after), logs.statements),
    ...(from === 0 &&
      serviceLogs && {
        loose: {
          timeUs: sinceEpoch(serviceLogs.timeUs),
          statement: said(serviceLogs.statement, serviceLogs.statements),
          source: Array.from(serviceLogs.service),
          sources: serviceLogs.services.values,
        },
      }),
  }
}

/** Issue noted if saved log records cannot be believed. */
export const DAMAGED_LOGS = {
  code: 'damaged-logs',
  effect: 'log record skipped',
  message: 'Log records of saved traces are not as flowdelta writes them',
} as const

/** Whether a file that says it was saved has log records as they are saved. */
export function areSavedLogs(value: unknown): value is SavedLogs {
  if (!isColumns(value, ['trace', 'span', 'statement'], ['traces', 'statements'])) return false
  const { loose, traces, statements, trace, statement } = value as unknown as SavedLogs
  const isWithin = (indexes: readonly number[], list: readonly string[]) =>
    indexes.every((index) => list[index] !== undefined)
  const { span } = value as unknown as SavedLogs
  return (
    span.every((place, i) => place >= (span[i - 1] ?? 1)) &&
    isWithin(trace, traces) &&
    isWithin(statement, statements) &&
    (loose === undefined ||
      (isColumns(loose, ['source', 'statement'], ['sources']) &&
        isWithin(loose.source, loose.sources) &&
        isWithin(loose.statement, statements)))
  )
}

/** Whether a value has columns of whole numbers as long as `timeUs`, and lists of texts. */
function isColumns(value: unknown, numbers: readonly string[], texts: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { timeUs, ...columns } = value as Record<string, unknown>
  const isList = (list: unknown, holds: (item: unknown) => boolean): list is unknown[] =>
    Array.isArray(list) && list.every(holds)
  return (
    isList(timeUs, (time) => time === null || typeof time === 'number') &&
    numbers.every((name) => isList(columns[name], Number.isSafeInteger)) &&
    numbers.every((name) => (columns[name] as unknown[]).length === timeUs.length) &&
    texts.every((name) => isList(columns[name], (text) => typeof text === 'string'))
  )
}

/** Adds saved records of traces that were loaded to others; makes these where there are none. */
export function withSavedLogs(
  records: LogRecords | undefined,
  saved: SavedLogs,
  isLoaded: (traceId: string) => boolean = () => true,
): LogRecords {
  const all = records ?? emptyRecords()
  const { traceIds, spanIds, timeUs, statement, source, statements, sources, loose } = all
  const code = saved.statements.map((text) => statements.code(text))
  const known = saved.traces.map(isLoaded)
  saved.trace.forEach((trace, record) => {
    if (!known[trace]) return
    traceIds.push(saved.traces[trace]!)
    spanIds.push(savedSpanId(saved.span[record]!))
    timeUs.push(saved.timeUs[record] ?? Number.NaN)
    statement.push(code[saved.statement[record]!]!)
    source.push(sources.code(''))
  })
  saved.loose?.timeUs.forEach((time, record) => {
    loose.timeUs.push(time ?? Number.NaN)
    loose.statement.push(code[saved.loose!.statement[record]!]!)
    loose.source.push(sources.code(saved.loose!.sources[saved.loose!.source[record]!]!))
  })
  return all
}

/** Log records of services, whatever request they were written in. */
export interface ServiceLogs {
  /** µs since the traces' `epochNs`. */
  readonly timeUs: Float64Array
  /** Code in `services`. */
  readonly service: Uint32Array
  readonly services: Dictionary
  readonly statement: Uint32Array
  readonly statements: Dictionary
}

/** Returns the records written from a first to a last moment, in µs since the traces' `epochNs`. */
export function logsWithin(
  { timeUs, service, statement, ...names }: ServiceLogs,
  [fromUs, toUs]: readonly [number, number],
): ServiceLogs {
  const isWithin = (_: number, record: number) =>
    timeUs[record]! >= fromUs && timeUs[record]! <= toUs
  return {
    ...names,
    timeUs: timeUs.filter(isWithin),
    service: service.filter(isWithin),
    statement: statement.filter(isWithin),
  }
}

/** Log records of requests, those of one span next to each other, in order of time. */
export interface SpanLogs {
  /** Row of the span that each was written in. */
  readonly span: Uint32Array
  /** When, µs since the traces' `epochNs`. */
  readonly timeUs: Float64Array
  /** Code in `statements`. */
  readonly statement: Uint32Array
  /** Statements: level, writer, and text without the matches of masks; see `statementKey`. */
  readonly statements: Dictionary
}

/** Returns the key of a statement while it is read: level, class or service, text. */
export function statementKey(level: string, component: string, text: string): string {
  return `${level}\t${component}\t${text}`
}

export function statementParts(key: string): { level: string; source: string; text: string } {
  // Text may have tabs itself, as stack traces do.
  const [level = '', source = '', ...text] = key.split('\t')
  return { level, source, text: text.join('\t') }
}

export const GRAVE_LEVELS: ReadonlySet<string> = new Set(['warn', 'error', 'fatal'])

/** Returns the log records of a span, in order of time, in µs since `epochNs`. */
export function logsOfSpan({ span, timeUs, statement, statements }: SpanLogs, row: number) {
  const [first, end] = [span.indexOf(row), span.lastIndexOf(row) + 1]
  return Array.from({ length: first < 0 ? 0 : end - first }, (_, i) => ({
    timeUs: timeUs[first + i]!,
    ...statementParts(statements.value(statement[first + i]!)),
  }))
}

export function pickLogs(logs: SpanLogs, rows: Uint32Array): SpanLogs {
  const placeOf = new Map(Array.from(rows, (row, place) => [row, place]))
  const kept = Array.from(logs.span.keys()).filter((record) => placeOf.has(logs.span[record]!))
  // Rows may come in another order than they were in.
  kept.sort((a, b) => placeOf.get(logs.span[a]!)! - placeOf.get(logs.span[b]!)! || a - b)
  return {
    span: Uint32Array.from(kept, (record) => placeOf.get(logs.span[record]!)!),
    timeUs: gather(logs.timeUs, kept),
    statement: gather(logs.statement, kept),
    statements: logs.statements,
  }
}
