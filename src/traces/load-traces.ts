import { OptionError, rejectUnknownOptions, TraceFormatError } from '../errors.ts'
import { GraphTracesBuilder } from './graph-traces-builder.ts'
import { QualityLog } from './quality.ts'
import { type CsvOptions, csvReader } from './readers/csv.ts'
import { dotReader } from './readers/dot.ts'
import { jaegerReader } from './readers/jaeger.ts'
import { otlpReader } from './readers/otlp.ts'
import { recogniseFormat } from './readers/recognise-format.ts'
import type { ReadSink, TraceReader } from './readers/trace-reader.ts'
import { zipkinReader } from './readers/zipkin.ts'
import { SpanTracesBuilder } from './span-traces-builder.ts'
import type { TraceSet } from './trace-set.ts'
import { openSource, type TraceSource } from './trace-source.ts'

export type TraceFormat = 'dot' | 'otlp' | 'jaeger' | 'zipkin' | 'csv'

/** How far a load has come. */
export interface LoadProgress {
  readonly file: string
  /** Bytes read of all files so far, as they are on disk. */
  readonly bytesRead: number
  /** Bytes of all files. */
  readonly bytesTotal: number
}

export interface LoadOptions {
  /** What to call the period in messages and charts. Default: the name of the first file. */
  readonly name?: string
  /** The format of all the files, or `'auto'`: each is recognised by its content. Default: `'auto'`. */
  readonly format?: TraceFormat | 'auto'
  /** Whether the first trace or span that cannot be used stops the load. Default: `false`. */
  readonly strict?: boolean
  /** The columns of CSV files. Default: `POD_CSV`. */
  readonly csv?: CsvOptions
  /** Called from time to time while files are read. */
  readonly onProgress?: (progress: LoadProgress) => void
}

/**
 * Reads the traces of one period from one or more files (paths, URLs of files, or content in
 * memory), compressed with gzip or not, in Spectroscope's DOT, OTLP JSON, Jaeger JSON, Zipkin v2
 * JSON, or CSV.
 *
 * A trace or span that cannot be used is left out, counted and listed in `.quality()` of the result.
 *
 * @throws TraceFormatError for a file that is not a trace file, is damaged, or has no traces.
 * @throws OptionError for an unknown format or an empty list of files.
 *
 * @example
 * const before = await loadTraces({
 *   name: 'monday.json',
 *   bytes: '[{ "traceId": "a", "id": "b", "name": "get", "timestamp": 1, "duration": 250 }]',
 * })
 * before.size // 1
 */
export async function loadTraces(
  files: TraceSource | readonly TraceSource[],
  options: LoadOptions = {},
): Promise<TraceSet> {
  rejectUnknownOptions(options, ['name', 'format', 'strict', 'csv', 'onProgress'])
  const { name, format = 'auto', strict = false, csv, onProgress } = options
  rejectRepeated(files)
  const readers = [dotReader, otlpReader, jaegerReader, zipkinReader, csvReader(csv)]
  const sources = await Promise.all([files].flat().map((file) => openSource(file as TraceSource)))
  const [first] = sources
  if (first === undefined) throw new OptionError('files', '[]', 'at least one trace file')
  const fixed = format === 'auto' ? undefined : readers.find((one) => one.format === format)
  if (format !== 'auto' && fixed === undefined) {
    throw new OptionError('format', format, `auto, ${readers.map((one) => one.format).join(', ')}`)
  }
  const quality = new QualityLog({ strict })
  const sink = {
    spans: new SpanTracesBuilder(quality),
    graphs: new GraphTracesBuilder(),
    quality,
  }
  const bytesTotal = sources.reduce((sum, { bytes }) => sum + bytes, 0)
  let bytesRead = 0
  for (const source of sources) {
    const { head, chunks } = await source.open((bytes) => {
      bytesRead += bytes
      onProgress?.({ file: source.name, bytesRead, bytesTotal })
    })
    const reader = recogniseUnless(fixed, head, readers, source.name)
    await readInto(sink, reader, chunks, source.name)
  }
  const periodName = name ?? first.name
  return sink.graphs.size > 0
    ? sink.graphs.finish(periodName, quality)
    : sink.spans.finish(periodName)
}

/** A file named twice would count its requests twice. */
function rejectRepeated(files: TraceSource | readonly TraceSource[]): void {
  const paths = [files].flat().filter((file) => typeof file === 'string')
  const repeated = paths.find((path, i) => paths.indexOf(path) !== i)
  if (repeated !== undefined) {
    throw new OptionError('files', `a list with ${repeated} in it twice`, 'each file once')
  }
}

function recogniseUnless(
  fixed: TraceReader | undefined,
  head: Uint8Array,
  readers: readonly TraceReader[],
  file: string,
): TraceReader {
  // An empty or binary file is refused even where its format was named.
  if (fixed !== undefined && new TextDecoder().decode(head).trim() !== '') return fixed
  return recogniseFormat(head, readers, file)
}

/** Reads one file, and sees to it that it had something of the same kind as those before. */
async function readInto(
  sink: ReadSink,
  reader: TraceReader,
  chunks: AsyncIterable<Uint8Array>,
  file: string,
): Promise<void> {
  const sizeBefore = sink.spans.size + sink.graphs.size
  await reader.read(chunks, sink, file)
  if (sink.spans.size > 0 && sink.graphs.size > 0) {
    throw new TraceFormatError(
      'Span files and trace-point graphs cannot be mixed in one period: graphs say which work waits for which, spans only when it happened',
      { file },
      'Load them as two trace sets',
    )
  }
  if (sink.spans.size + sink.graphs.size === sizeBefore) {
    const first = sink.quality.firstIn(file)
    throw new TraceFormatError(
      `The file, read as ${reader.format}, has no usable traces${first === undefined ? '' : ` (first problem: ${first})`}`,
      { file },
      'Leave it out, or name its format in option format if it is another',
    )
  }
}
