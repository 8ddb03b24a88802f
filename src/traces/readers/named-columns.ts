import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { wordsIn } from '../../core/words.ts'
import { type Role, SPAN_FORMATS, type SpanFormat } from './span-formats.ts'
import { ROLES } from './span-layout.ts'
import type { SpanReading } from './span-records.ts'
import { requireTimeUnit, type TimeUnit } from './span-times.ts'

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

/** Options for reading spans from a CSV file with a header line, one span per row. */
export interface CsvOptions {
  readonly columns: CsvColumns
  /** Columns to keep as low-level parameters. Default: none. */
  readonly attributes?: readonly string[]
  /** Unit of `start` and `end`. Default: derived from the size of the times. */
  readonly timeUnit?: TimeUnit
  /** Unit of `duration`. Default: `'us'`. */
  readonly durationUnit?: TimeUnit
  /** Parent ids of a root, in addition to empty ones, `root`, `-1` and zeros. */
  readonly rootIds?: readonly string[]
  /** Returns the service from the text of its column. Default: the text. */
  readonly serviceOf?: (text: string) => string
  /** Delimiter. Default: that of the header line: a comma, tab, semicolon or bar. */
  readonly delimiter?: string
}

/** Roles of columns that are named otherwise. */
const OTHER_ROLES: Readonly<Record<string, Role>> = {
  traceId: 'trace',
  spanId: 'span',
  parentId: 'parent',
}
const CSV_COLUMNS = wordsIn(`
  traceId spanId parentId service operation start end duration host kind status
`)
const CSV_OPTIONS = wordsIn('columns attributes timeUnit durationUnit rootIds serviceOf delimiter')

/** Returns how to read spans, from the options. */
export function readingOf({
  format,
  csv,
  columns,
}: {
  readonly format: string
  readonly csv: CsvOptions | null
  readonly columns: string | null
}): SpanReading {
  const named: SpanFormat | undefined = SPAN_FORMATS.find(({ name }) => name === format)
  if (columns !== null) {
    if (csv !== null) throw new OptionError('csv', csv, 'either csv or columns')
    return { formats: [columnsFormat(columns, named)], isOnly: true }
  }
  if (csv !== null) return readingOfCsv(csv)
  return named === undefined ? {} : { formats: [named], isOnly: true }
}

/** Returns the format that `trace=tid,start=begin:ms` says; other roles are found by their names. */
function columnsFormat(text: string, named: SpanFormat | undefined): SpanFormat {
  const columns: { [role in Role]?: string } = {}
  for (const part of text.split(/,(?=\s*[a-z]+=)/)) {
    const [, role = '', column = ''] = /^\s*([a-z]+)\s*=\s*(.+?)\s*$/.exec(part) ?? []
    const known = ROLES.find((one) => one === role)
    if (known === undefined) {
      throw new OptionError(
        'columns',
        text,
        `parts as trace=NAME or start=NAME:ms, of ${ROLES.join(', ')}`,
      )
    }
    columns[known] = column
  }
  return { by: '', ...named, name: 'columns', has: [], columns: { ...named?.columns, ...columns } }
}

function readingOfCsv(csv: CsvOptions): SpanReading {
  rejectUnknownOptions(csv, CSV_OPTIONS, 'csv.')
  const { columns, attributes = [], timeUnit, durationUnit = 'us', serviceOf, ...reading } = csv
  rejectUnknownOptions(columns, CSV_COLUMNS, 'csv.columns.')
  if (timeUnit !== undefined) requireTimeUnit('csv.timeUnit', timeUnit)
  requireTimeUnit('csv.durationUnit', durationUnit)
  if (columns.end === undefined && columns.duration === undefined) {
    throw new OptionError('csv.columns.end', undefined, 'a column for end or for duration')
  }
  const units: { readonly [role in Role]?: string | undefined } = {
    start: timeUnit,
    end: timeUnit,
    duration: durationUnit,
  }
  const none = Object.fromEntries(ROLES.map((role) => [role, []]))
  const given = Object.entries(columns).map(([part, column]) => {
    const role = OTHER_ROLES[part] ?? (part as Role)
    const unit = units[role]
    return [role, unit === undefined ? column : `${column}:${unit}`]
  })
  const format: SpanFormat = {
    name: 'csv',
    by: '',
    has: [],
    columns: { ...none, ...Object.fromEntries(given) },
    attributes,
    ...(serviceOf === undefined ? {} : { serviceOf }),
  }
  return { formats: [format], isOnly: true, isOfTables: true, ...reading }
}
