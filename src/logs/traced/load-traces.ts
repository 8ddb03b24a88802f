import { type LoadOptions, loadTraces as loadWith } from '../../traces/load-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import type { TraceSource } from '../../traces/trace-source.ts'
import { readTracedLogs } from './read-records.ts'

/**
 * Reads the traces of one period from one or more files (paths, URLs of files, or content in
 * memory), compressed with gzip, zstd or neither, in Spectroscope's DOT, OTLP (JSON or protobuf),
 * Jaeger JSON, Zipkin v2 JSON, CSV, or X-Trace reports; from Parquet; from stores, by their addresses
 * (`'jaeger://host:16686?between=…'`; docs/stores.md lists them); or from directories of tables: of
 * events and edges, with the columns of option `tables` (format `'event-tables'`) or of TraceBench
 * (`'tracebench'`, which `'auto'` finds).
 *
 * A trace or span that cannot be used is left out, counted and listed in `.quality()` of the
 * result.
 *
 * Parameters in CSV have a header line: `spanId` and `traceId` (which may be absent), or `node`,
 * the node id as it stands in the DOT file, name what a row is about, in any capitals; every other
 * column is a parameter. A dump has `CREATE TABLE` and `INSERT INTO` with the same columns, or the
 * two halves of a DOT node id first, as Spectroscope's have. Empty fields and NULL are missing.
 * `.quality()` counts rows about nothing in the traces (`unused-parameters`), rows that more than
 * one trace has (`ambiguous-parameters`), contradictions (`repeated-parameter`), and trace points
 * or spans without a row (`no-parameters`).
 *
 * Logs (option `logs`) may be in any format that `loadLogs` reads: OTLP, JSON lines, CSV, text, within
 * what carries them or not. Records whose fields or text name a trace id (`trace_id`, `TraceID`) become
 * trace points of that request, within the span that they name, or else the shortest one under way; the
 * comparison of two periods that both have logs tells which statements spans log no more, or anew. Records
 * that name no trace count for the service that a field, a pod or the file is named after: findings tell
 * what their service logs anew, more often or more seldom.
 * `.quality()` counts records that name no trace (`log-without-id`), one that was not loaded
 * (`log-without-trace`), or no span of it (`log-without-span`), lines without a record (`unread-log`), and
 * logs of which no record was laid to a trace (`unused-logs`).
 *
 * @param options see `LOAD_OPTIONS`
 *
 * @throws TraceFormatError for a file that is not a trace file, is damaged, or has no traces; for
 *   parameters that cannot be read, or none of which belongs to the traces.
 * @throws OptionError for an unknown format or an empty list of files.
 *
 * @example
 * const before = await loadTraces({
 *   name: 'monday.json',
 *   bytes: '[{ "traceId": "a", "id": "b", "name": "get", "timestamp": 1, "duration": 250 }]',
 * })
 * before.size // 1
 *
 * const sized = await loadTraces(
 *   {
 *     name: 'monday.json',
 *     bytes: '[{ "traceId": "a", "id": "b", "name": "get", "timestamp": 1, "duration": 250 }]',
 *   },
 *   { parameters: { name: 'sizes.csv', bytes: 'traceId,spanId,size\na,b,4096' } },
 * )
 * [...sized.attributes.entries(0)] // [ [ 'size', 4096 ] ]
 */
export function loadTraces(
  files: TraceSource | readonly TraceSource[],
  options: LoadOptions = {},
): Promise<TraceSet> {
  return loadWith(files, options, readTracedLogs)
}
