import { Dictionary } from '../../traces/dictionary.ts'
import type { LoadOptions } from '../../traces/load-options.ts'
import { loadTraces as loadWith } from '../../traces/load-traces.ts'
import { emptyRecords, type LogRecords, statementKey } from '../../traces/log-records.ts'
import type { QualityLog } from '../../traces/quality.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import type { TraceSource } from '../../traces/trace-source.ts'
import type { LogField } from '../features/field-variables.ts'
import { masked } from '../readers/drain/log-templates.ts'
import { logInputs } from '../readers/load-logs.ts'
import { classOf, type LogRecord } from '../readers/log-draft.ts'
import { readSettings } from '../readers/log-read-options.ts'
import { isLost, type LogSink } from '../readers/log-sink.ts'
import { readLogFile } from '../readers/read-log-file.ts'

/**
 * Reads the traces of one period from one or more files (paths, URLs of files, or content in
 * memory), compressed with gzip, zstd or neither, in Spectroscope's DOT, OTLP (JSON or protobuf),
 * Jaeger JSON, Zipkin v2 JSON, CSV, or X-Trace reports; from Parquet; or from stores, by their
 * addresses (`'jaeger://host:16686?between=…'`; docs/stores.md lists them).
 *
 * A trace or span that cannot be used is left out, counted and listed in `.quality()` of the result.
 *
 * Parameters in CSV have a header line: `spanId` and `traceId` (which may be absent), or `node`, the node id as it
 * stands in the DOT file (or `breadcrumb` and `timestamp`, its halves), name the subject of a row, in any capitals;
 * every other column is a parameter. Empty fields and NULL are missing. `.quality()` counts rows about nothing in the
 * traces (`unused-parameters`), rows that more than one trace has (`ambiguous-parameters`), contradictions
 * (`repeated-parameter`), and trace points or spans without a row (`no-parameters`).
 *
 * Logs (option `logs`) may be in any format that `loadLogs` reads. Records whose fields or text name a trace id
 * (`trace_id`, `TraceID`) become trace points of that request, within the span that they name; else the shortest one
 * under way of the service, host or pod that their fields or their file name, or of all. Records that name no trace
 * count for the service that a field, a pod, a host or the file is named after. `.quality()` counts records that name no
 * trace (`log-without-id`), one that was not loaded (`log-without-trace`), no span of it and no place that it passed
 * (`log-without-span`), lines without a record (`unread-log`), and logs that belong to no trace (`unused-logs`).
 *
 * @param options see `LOAD_OPTIONS`
 *
 * @throws TraceFormatError for a file that is not a trace file, is damaged, or has no traces; for
 *   parameters that cannot be read, or none of which belongs to the traces.
 * @throws OptionError for an unknown format or an empty list of files.
 *
 * @example
 * const before = await loadTraces(
 *   {
 *     name: 'monday.json',
 *     bytes: '[{ "traceId": "a", "id": "b", "name": "get", "timestamp": 1, "duration": 250 }]',
 *   },
 *   { parameters: { name: 'sizes.csv', bytes: 'traceId,spanId,size\na,b,4096' } },
 * )
 * before.size // 1
 * [...before.attributes.entries(0)] // [ [ 'size', 4096 ] ]
 */
export function loadTraces(
  files: TraceSource | readonly TraceSource[],
  options: LoadOptions = {},
): Promise<TraceSet> {
  return loadWith(files, options, readTracedLogs)
}

const ID_FIELDS = { trace: 'traceid', span: 'spanid' } as const
/** Ids within a line of text: `TraceID: 4bf9…`, `[trace_id=4bf9… span_id=00f0…]`. */
const ID_TEXTS = {
  trace: /\btrace[._-]?id["']?\s*[:=]\s*["']?([\w-]{8,})/i,
  span: /\bspan[._-]?id["']?\s*[:=]\s*["']?([\w-]{8,})/i,
} as const

/** Reads the records of logs that name the trace they belong to; counts the others and lines that give none. */
async function readTracedLogs(
  logs: readonly TraceSource[],
  quality: QualityLog,
): Promise<LogRecords> {
  const records = emptyRecords()
  const ids = new Dictionary()
  const own = (id: string) => ids.value(ids.code(id))
  const sinkOf = (file: string): LogSink => {
    const note = (code: string, line: number, message: string) => {
      const effect = code === 'log-without-id' ? 'kept' : 'log record skipped'
      quality.note(code, line > 0 ? { file, line } : { file }, message, effect)
    }
    return {
      record: (record) => {
        const { fields = [], of = fields, name, line, timeUs } = record
        if (Number.isNaN(timeUs)) {
          note('unread-log', line, 'A line has no time')
          return
        }
        const trace = idIn('trace', of, name)
        const list = trace === '' ? records.loose : records
        list.timeUs.push(timeUs)
        list.statement.push(records.statements.code(statementOf(record)))
        list.source.push(records.sources.code(placesOf(record, file)))
        if (trace === '') {
          const message = 'A log record names no trace: it counts for its service alone'
          note('log-without-id', line, message)
          return
        }
        records.traceIds.push(own(trace))
        records.spanIds.push(own(idIn('span', of, name)))
      },
      skip: (reason, line, _, count = 1) => {
        for (let i = 0; i < count && isLost(reason); i++) {
          note('unread-log', line, `A line ${reason}`)
        }
      },
      skipFile: () => note('unread-log', 0, 'The file is in no known format'),
      countLines: () => {},
    }
  }
  // The place where a record was written is its instance.
  const settings = readSettings({ instance: 'host' })
  for (const { files, isFile } of await logInputs(logs)) {
    for (const file of files) {
      await readLogFile(file, { settings, sink: sinkOf(file.name), isRequired: isFile })
    }
  }
  return records
}

function statementOf(record: LogRecord): string {
  const { name, component = '', level = '', isText } = record
  const [whole, source = ''] = (component === '' ? SOURCE.exec(name) : null) ?? ['']
  const said = isText ? masked(name.slice(whole.length)).text : name
  return statementKey(level, component || classOf(source), said)
}

function placesOf(
  { fields = [], of = fields, origin = '', instance = '' }: LogRecord,
  file: string,
): string {
  const named = of.flatMap(([key, value]) => (NAMES_SERVICE.test(key) ? String(value) : []))
  const [base = ''] = file.replace(/^.*[\\/]/, '').split('.')
  return [...origin.split('\n'), ...named, instance, base].join('\n')
}

/** Fields whose value names the service, or begins with its name. */
const NAMES_SERVICE =
  /(?:service|app|application|container|pod|deployment|job|program|process)(?:[._-]?name)?$/i

const SOURCE = /^((?:[A-Za-z_$[/][\w$[\]/-]*\.)+[\w$.[\]/-]*#\d+|[A-Z]\w+#\d+)[:,]?\s+/

function idIn(kind: keyof typeof ID_FIELDS, fields: readonly LogField[], text: string): string {
  const field = fields.find(([key, value]) => {
    const letters = key.toLowerCase().replace(/[^a-z]/g, '')
    return letters.endsWith(ID_FIELDS[kind]) && !letters.includes('parent') && value !== ''
  })
  return field === undefined ? (ID_TEXTS[kind].exec(text)?.[1] ?? '') : String(field[1])
}
