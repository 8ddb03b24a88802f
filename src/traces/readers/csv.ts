import { OptionError } from '../../core/errors.ts'
import { memoized } from '../../core/remembered.ts'
import { readCsvTable } from './csv-rows.ts'
import { type AttributeEntry, numberOrText } from './json-values.ts'
import { otlpKind, otlpStatus } from './otlp-values.ts'
import type { TraceReader } from './trace-reader.ts'

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
 * The columns of Nezha and TraStrainer. The service is the pod's name without the hashes of replica
 * set and pod; the host is the pod, which tells replicas apart.
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

/** Decimal places from a unit down to nanoseconds, and the unit in microseconds. */
const UNITS: Readonly<Record<CsvTimeUnit, readonly [toNanos: number, inUs: number]>> = {
  ns: [0, 1e-3],
  us: [3, 1],
  ms: [6, 1e3],
  s: [9, 1e6],
}

export function requireTimeUnit(option: string, unit: CsvTimeUnit): void {
  if (!Object.hasOwn(UNITS, unit)) throw new OptionError(option, unit, 'ns, us, ms or s')
}

/** A time in digits as nanoseconds, which a double would not hold; `''` for anything else. */
export function nanosOfDigits(text: string, unit: CsvTimeUnit): string {
  const [, whole, fraction = ''] = /^\s*(\d+)(?:\.(\d*))?\s*$/.exec(text) ?? []
  if (whole === undefined) return ''
  const [places] = UNITS[unit]
  return whole + fraction.slice(0, places).padEnd(places, '0')
}

/** Columns to keep as parameters, kept apart from the parts that have names of their own. */
export function attributeColumns(names: readonly string[]): {
  [part: `attribute ${string}`]: string
} {
  return Object.fromEntries(names.map((name) => [`attribute ${name}`, name]))
}

export const MAPPING_HINT =
  "Name the columns: loadTraces(files, { format: 'csv', csv: { columns: { traceId: '…', spanId: '…', parentId: '…', service: '…', operation: '…', start: '…', end: '…' } } })"

/** Spans from CSV, one a row under a header line; needs a column for `end` or `duration`. */
export function csvReader(options: CsvOptions = POD_CSV): TraceReader {
  const { attributes = [], timeUnit = 'ns', durationUnit = 'us', delimiter = ',' } = options
  requireTimeUnit('csv.timeUnit', timeUnit)
  requireTimeUnit('csv.durationUnit', durationUnit)
  const { end, duration } = options.columns
  if (end === undefined && duration === undefined) {
    throw new OptionError('csv.columns.end', undefined, 'a column for end or for duration')
  }
  const columns = { ...options.columns, ...attributeColumns(attributes) }
  const { rootIds = ['', 'root', '0'], serviceOf = (text: string) => text } = options
  const roots = new Set(rootIds)
  return {
    format: 'csv',
    recognizes(head) {
      const header = headerOf(head, delimiter)
      return Object.values(columns).every((name) => header.includes(name))
    },
    async read(chunks, { spans, quality }, file) {
      const serviceNamed = memoized(serviceOf)
      const offsetOf = (text: string) =>
        spans.clock.offsetOfNanos(timeUnit === 'ns' ? text : nanosOfDigits(text, timeUnit))
      const table = { delimiter, columns, next: MAPPING_HINT }
      await readCsvTable<keyof CsvColumns | `attribute ${string}`>({ name: file, chunks }, table, {
        quality,
        onRow(field, line) {
          const [parentId, end, duration] = [field('parentId'), field('end'), field('duration')]
          const startUs = offsetOf(field('start'))
          const span = {
            traceId: field('traceId'),
            spanId: field('spanId'),
            parentId: roots.has(parentId) ? null : parentId,
            service: serviceNamed(field('service')),
            operation: field('operation'),
            host: field('host'),
            kind: otlpKind(field('kind') || undefined),
            status: otlpStatus(field('status')),
            startUs,
            durationUs:
              end === ''
                ? Number(duration || Number.NaN) * UNITS[durationUnit][1]
                : Math.round((offsetOf(end) - startUs) * 1e3) / 1e3,
            followsFrom: false,
            attributes: attributesOf(attributes, field),
          }
          spans.add(span, { file, line })
        },
      })
    },
  }
}

export function attributesOf(
  names: readonly string[],
  field: (part: `attribute ${string}`) => string,
): AttributeEntry[] {
  const entries: AttributeEntry[] = []
  for (const name of names) {
    const text = field(`attribute ${name}`)
    if (text !== '') entries.push([name, numberOrText(text)])
  }
  return entries
}

export function headerOf(head: string, delimiter = ','): readonly string[] {
  const line = /^\uFEFF?([^\r\n]*)/.exec(head)?.[1] ?? ''
  return line.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
}
