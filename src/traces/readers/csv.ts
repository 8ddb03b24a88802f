import { OptionError, TraceFormatError } from '../../core/errors.ts'
import type { Microseconds } from '../../core/units.ts'
import type { EpochClock } from '../epoch-clock.ts'
import { CsvRows } from './csv-rows.ts'
import { type AttributeEntry, numberOrText } from './json-values.ts'
import { otlpKind, otlpStatus } from './otlp-values.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

export type CsvTimeUnit = 'ns' | 'us' | 'ms' | 's'

/** The names of the columns that hold the parts of a span. */
export interface CsvColumns {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly service: string
  readonly operation: string
  /** Start since 1970, in `timeUnit`. */
  readonly start: string
  /** End since 1970, in `timeUnit`. Either this or `duration` is needed; this goes first. */
  readonly end?: string
  /** In `durationUnit`. */
  readonly duration?: string
  readonly host?: string
  /** `server`, `SPAN_KIND_SERVER`, `2` and the like. */
  readonly kind?: string
  /** `error`, `STATUS_CODE_ERROR`, `2` and the like. */
  readonly status?: string
}

/** How to read spans from a CSV file with a header line, one span a row. */
export interface CsvOptions {
  readonly columns: CsvColumns
  /** Columns to keep as low-level parameters. Default: none. */
  readonly attributes?: readonly string[]
  /** Unit of `start` and `end`. Default: `'ns'`. */
  readonly timeUnit?: CsvTimeUnit
  /** Unit of `duration`. Default: `'us'`. */
  readonly durationUnit?: CsvTimeUnit
  /** Parent ids of a root. Default: `['', 'root', '0']`, and any id of zeros. */
  readonly rootIds?: readonly string[]
  /** The service, from what its column holds. Default: as it is. */
  readonly serviceOf?: (text: string) => string
  /** Default: `','`. */
  readonly delimiter?: string
}

/**
 * `TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration`, as
 * the Nezha and TraStrainer data have it. The service is the pod's name without the hashes of
 * replica set and pod; the host is the pod, by which two replicas of a service can be told apart.
 */
export const POD_CSV: CsvOptions = {
  columns: {
    traceId: 'TraceID',
    spanId: 'SpanID',
    parentId: 'ParentID',
    service: 'PodName',
    operation: 'OperationName',
    host: 'PodName',
    start: 'StartTimeUnixNano',
    end: 'EndTimeUnixNano',
    duration: 'Duration',
  },
  serviceOf: (pod) => pod.replace(/(.)-[^-]+-[^-]+$/, '$1'),
}

const REQUIRED = ['traceId', 'spanId', 'parentId', 'service', 'operation', 'start'] as const
/** Decimal places from a unit down to nanoseconds, and the unit in microseconds. */
const UNITS: Readonly<Record<CsvTimeUnit, readonly [toNanos: number, inUs: number]>> = {
  ns: [0, 1e-3],
  us: [3, 1],
  ms: [6, 1e3],
  s: [9, 1e6],
}

/**
 * Spans from CSV, one a row, under a header line; columns that are not asked for are left out.
 *
 * @throws OptionError for an unknown unit, or when neither `end` nor `duration` has a column.
 */
export function csvReader(options: CsvOptions = POD_CSV): TraceReader {
  const { columns, timeUnit = 'ns', durationUnit = 'us', delimiter = ',' } = options
  for (const [name, unit] of Object.entries({ timeUnit, durationUnit })) {
    if (!Object.hasOwn(UNITS, unit)) throw new OptionError(`csv.${name}`, unit, 'ns, us, ms or s')
  }
  if (columns.end === undefined && columns.duration === undefined) {
    throw new OptionError('csv.columns.end', undefined, 'a column for end or for duration')
  }
  return {
    format: 'csv',
    recognizes: (head) => missingColumns(options, headerOf(head, delimiter)).length === 0,
    async read(chunks, sink, file) {
      let table: CsvTable | undefined
      const rows = new CsvRows(delimiter, (fields, line) => {
        if (table === undefined) table = new CsvTable(options, fields, sink, file)
        else table.read(fields, line)
      })
      for await (const chunk of chunks) {
        const line = rows.push(chunk)
        if (line !== undefined) throw endlessRow(file, line)
      }
      const open = rows.end()
      if (open !== undefined) noteRow('The file ends within a quoted field', sink, file, open)
    },
  }
}

/** Returns the column names in the first line of `head`. */
export function headerOf(head: string, delimiter = ','): readonly string[] {
  const line = /^\uFEFF?([^\r\n]*)/.exec(head)?.[1] ?? ''
  return line.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
}

function missingColumns({ columns, attributes = [] }: CsvOptions, header: readonly string[]) {
  return [...Object.values(columns), ...attributes].filter((name) => !header.includes(name))
}

/** One file: where its columns stand. */
class CsvTable {
  readonly #options: CsvOptions
  readonly #sink: ReadSink
  readonly #file: string
  readonly #width: number
  readonly #at: Readonly<Record<keyof CsvColumns, number>>
  readonly #attributes: readonly (readonly [name: string, at: number])[]
  readonly #roots: ReadonlySet<string>
  /** Services by what their column holds. */
  readonly #services = new Map<string, string>()

  constructor(options: CsvOptions, header: readonly string[], sink: ReadSink, file: string) {
    const missing = missingColumns(
      options,
      header.map((name) => name.trim()),
    )
    if (missing.length > 0) {
      throw new TraceFormatError(
        `The header line has no column ${missing.join(', ')}; it has ${header.join(', ')}`,
        { file, line: 1 },
        MAPPING_HINT,
      )
    }
    const at = (name: string | undefined) =>
      name === undefined ? -1 : header.findIndex((column) => column.trim() === name)
    const { columns, attributes = [], rootIds = ['', 'root', '0'] } = options
    this.#options = options
    this.#sink = sink
    this.#file = file
    this.#width = header.length
    this.#at = {
      traceId: at(columns.traceId),
      spanId: at(columns.spanId),
      parentId: at(columns.parentId),
      service: at(columns.service),
      operation: at(columns.operation),
      host: at(columns.host),
      start: at(columns.start),
      end: at(columns.end),
      duration: at(columns.duration),
      kind: at(columns.kind),
      status: at(columns.status),
    }
    this.#attributes = attributes.map((name) => [name, at(name)])
    this.#roots = new Set(rootIds)
  }

  read(fields: readonly string[], line: number): void {
    if (fields.length !== this.#width) {
      const message = `A row has ${fields.length} fields where the header has ${this.#width}`
      noteRow(message, this.#sink, this.#file, line)
      return
    }
    const { timeUnit = 'ns' } = this.#options
    const at = this.#at
    const { spans } = this.#sink
    const parentId = fields[at.parentId] ?? ''
    const startUs = offsetOf(spans.clock, fields[at.start] ?? '', timeUnit)
    spans.add(
      {
        traceId: fields[at.traceId] ?? '',
        spanId: fields[at.spanId] ?? '',
        parentId: this.#roots.has(parentId) ? null : parentId,
        service: this.#service(fields[at.service] ?? ''),
        operation: fields[at.operation] ?? '',
        host: fields[at.host] ?? '',
        kind: otlpKind(fields[at.kind]),
        status: otlpStatus(fields[at.status]),
        startUs,
        durationUs: this.#durationUs(fields, startUs),
        followsFrom: false,
        attributes: this.#attributesOf(fields),
      },
      { file: this.#file, line },
    )
  }

  #service(text: string): string {
    const { serviceOf } = this.#options
    if (serviceOf === undefined) return text
    const known = this.#services.get(text)
    if (known !== undefined) return known
    const service = serviceOf(text)
    this.#services.set(text, service)
    return service
  }

  #durationUs(fields: readonly string[], startUs: Microseconds): Microseconds {
    const { timeUnit = 'ns', durationUnit = 'us' } = this.#options
    const end = fields[this.#at.end] ?? ''
    if (end !== '') {
      const endUs = offsetOf(this.#sink.spans.clock, end, timeUnit)
      return Math.round((endUs - startUs) * 1e3) / 1e3
    }
    const duration = fields[this.#at.duration] ?? ''
    return duration === '' ? Number.NaN : Number(duration) * UNITS[durationUnit][1]
  }

  #attributesOf(fields: readonly string[]): AttributeEntry[] {
    return this.#attributes
      .filter(([, at]) => fields[at] !== '')
      .map(([name, at]) => [name, numberOrText(fields[at] ?? '')])
  }
}

/** What to do about a CSV file whose columns are not known. */
export const MAPPING_HINT = `Name the columns: loadTraces(files, { format: 'csv', csv: { columns: { ${REQUIRED.map(
  (part) => `${part}: '…'`,
).join(', ')}, end: '…' } } })`

/** Decimal digits in any unit are turned into nanoseconds without passing through a double. */
function offsetOf(clock: EpochClock, text: string, unit: CsvTimeUnit): Microseconds {
  const [places] = UNITS[unit]
  if (places === 0) return clock.offsetOfNanos(text)
  const [whole = '', fraction = ''] = text.trim().split('.')
  if (whole === '') return Number.NaN
  return clock.offsetOfNanos(whole + fraction.slice(0, places).padEnd(places, '0'))
}

function endlessRow(file: string, line: number): TraceFormatError {
  return new TraceFormatError(
    'A row is longer than 16 million characters',
    { file, line },
    'Look for a quote that is not closed',
  )
}

function noteRow(message: string, sink: ReadSink, file: string, line: number): void {
  sink.quality.skip({
    code: 'bad-row',
    effect: 'span skipped',
    place: { file, line },
    message,
    next: 'Correct the row, or load without `strict` to leave it out',
  })
}
