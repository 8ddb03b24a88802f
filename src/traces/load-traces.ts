import { OptionError, TraceFormatError } from '../core/errors.ts'
import { readOptions } from '../core/options.ts'
import { GraphTracesBuilder } from './graph-traces.ts'
import { LOAD_OPTIONS, type LoadOptions } from './load-options.ts'
import type { LogRecords } from './log-records.ts'
import { QualityLog } from './quality.ts'
import { dotReader } from './readers/dot.ts'
import { otlpReader } from './readers/otlp.ts'
import { readParameters } from './readers/read-parameters.ts'
import { readSeries, withSeries } from './readers/read-series.ts'
import { recognizeFormat } from './readers/recognize-format.ts'
import { SPAN_FORMATS } from './readers/span-formats.ts'
import { readingOf, spansReader } from './readers/span-records.ts'
import {
  FILE_FORMATS,
  type FileFormat,
  type ReadSink,
  type TraceReader,
} from './readers/trace-reader.ts'
import { xtraceReader } from './readers/xtrace.ts'
import { SpanTracesBuilder } from './span-traces-builder.ts'
import { type Selection, type StoreSource, selectionOf, storeOf } from './stores/address.ts'
import type { TraceSet } from './trace-set.ts'
import {
  closeChunks,
  nodeFiles,
  type OpenableSource,
  openSource,
  type TraceSource,
} from './trace-source.ts'

/** Implements the public `loadTraces`; `readLogs` reads the files of option `logs`. */
export async function loadTraces(
  files: TraceSource | readonly TraceSource[],
  options: LoadOptions = {},
  readLogs?: LogReader,
): Promise<TraceSet> {
  const given = readOptions(LOAD_OPTIONS, options)
  given.signal?.throwIfAborted()
  const selection = selectionOf([files].flat() as TraceSource[], given)
  if (given.threads && [given.logs].flat().length === 0) {
    const loaded = await loadInThread([files].flat() as TraceSource[], options)
    if (loaded !== undefined) return loaded
  }
  const { where: _, between: __, ...read } = options
  const all = await whileReading('here', () => readTraces(files, read, { selection, readLogs }))
  const { from, to, where } = selection
  const during = from === null && to === null ? all : all.between(from, to)
  return where === null ? during : during.where(where)
}

export type LogReader = (logs: readonly TraceSource[], quality: QualityLog) => Promise<LogRecords>

function names(sources: readonly TraceSource[]): string {
  return sources
    .map((one) => (typeof one === 'object' && 'name' in one ? one.name : one))
    .join(', ')
}

async function readTraces(
  files: TraceSource | readonly TraceSource[],
  options: LoadOptions,
  { selection, readLogs }: { selection: Selection; readLogs?: LogReader | undefined },
): Promise<TraceSet> {
  const given = readOptions(LOAD_OPTIONS, options)
  const { name, format, strict, columns, parameters, series } = given
  const { resourceAttributes, joinLinks, onProgress, signal } = given
  const logs = [options.logs ?? []].flat() as TraceSource[]
  if (joinLinks && logs.length > 0) {
    throw new OptionError('joinLinks', true, 'false where logs are read, which name single traces')
  }
  rejectRepeated('files', files)
  rejectRepeated('parameters', parameters)
  rejectRepeated('series', series)
  rejectRepeated('logs', logs)
  const readers: Readonly<Record<FileFormat, TraceReader>> = {
    dot: dotReader,
    otlp: otlpReader,
    xtrace: xtraceReader,
    spans: spansReader(readingOf(format, columns)),
  }
  const sources = await openAll([files].flat() as TraceSource[], format, selection)
  const [first] = sources
  if (first === undefined) throw new OptionError('files', '[]', 'at least one trace file')
  const parameterFiles = await Promise.all([parameters].flat().map(openSource))
  const seriesFiles = await Promise.all([series].flat().map(openSource))
  const quality = new QualityLog({ strict })
  const bytesTotal = [
    ...sources.filter((source) => 'bytes' in source),
    ...parameterFiles,
    ...seriesFiles,
  ].reduce((sum, { bytes }) => sum + bytes, 0)
  let bytesRead = 0
  const open = (source: OpenableSource) =>
    source.open((bytes) => {
      signal?.throwIfAborted()
      bytesRead += bytes
      onProgress?.({ file: source.name, bytesRead, bytesTotal })
    })
  const beside =
    parameterFiles.length > 0 ? await readParameters(parameterFiles, quality, open) : undefined
  const monitored = await readSeries(seriesFiles, open)
  const sink = {
    spans: new SpanTracesBuilder(quality, beside, { joinLinks }),
    graphs: new GraphTracesBuilder(beside),
    quality,
    resourceAttributes,
  }
  for (const source of sources) {
    if ('read' in source) {
      const { name: file } = source
      const onShare = (bytes: number, share: number) => {
        bytesRead += bytes
        onProgress?.({ file, bytesRead, bytesTotal: bytesRead / share })
      }
      const how = { signal, onProgress: onShare }
      await readInto(sink, { format: null, file }, () => source.read(how, sink))
      continue
    }
    const { head, chunks } = await open(source)
    try {
      // An empty or binary file is refused even where its format was named.
      const isText = new TextDecoder().decode(head).trim() !== ''
      const isOfSpans = columns !== null || SPAN_FORMATS.some((one) => one.name === format)
      const chosen = isOfSpans ? 'spans' : FILE_FORMATS.find((one) => one === format)
      const named = isText ? chosen : undefined
      const all = FILE_FORMATS.map((one) => readers[one])
      const reader = named ? readers[named] : recognizeFormat(head, all, source.name)
      await readInto(sink, { format: reader.format, file: source.name }, () =>
        reader.read(chunks, sink, source.name),
      )
    } finally {
      await closeChunks(chunks)
    }
  }
  beside?.finish()
  const periodName = name ?? first.name
  const records = logs.length === 0 ? undefined : await readLogs?.(logs, quality)
  if (sink.graphs.size === 0) {
    const traces = sink.spans.finish(periodName, records)
    return monitored.length === 0 ? traces : withSeries(traces, monitored, quality)
  }
  if (monitored.length > 0) {
    throw new OptionError('series', names([series].flat()), 'series beside traces of spans')
  }
  if (records === undefined) return sink.graphs.finish(periodName, quality)
  throw new OptionError(
    'logs',
    names(logs),
    'logs beside traces of spans: trace points have no spans',
  )
}

/** Files that are smaller, in bytes on disk, are read before a thread would have started. */
const MIN_BYTES_FOR_THREAD = 1e6

/** Number of loads being read in this thread, and in others. */
const reading = { here: 0, elsewhere: 0 }

async function whileReading<T>(where: keyof typeof reading, read: () => Promise<T>): Promise<T> {
  reading[where]++
  try {
    return await read()
  } finally {
    reading[where]--
  }
}

/** Loads in another thread, where there is one and that may be worth while; else `undefined`. */
async function loadInThread(
  files: readonly TraceSource[],
  options: LoadOptions,
): Promise<TraceSet | undefined> {
  const paths = files.filter((file) => typeof file === 'string')
  const isCloneable = [options.parameters ?? [], options.series ?? []]
    .flat(2)
    .every((file) => typeof file === 'string')
  if (paths.length < files.length || !isCloneable) return undefined
  const { fileBytes, hasWorker, readInWorker } = await nodeFiles()
  const sizes = await Promise.all(paths.map(fileBytes))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  if (bytes < MIN_BYTES_FOR_THREAD) return undefined
  // While one period is read elsewhere, this thread has nothing better to do than to read the other.
  if (!hasWorker() || (reading.elsewhere > 0 && reading.here === 0)) return undefined
  return whileReading('elsewhere', () => readInWorker(paths, options))
}

async function openAll(
  files: readonly TraceSource[],
  format: string,
  selection: Selection,
): Promise<(OpenableSource | StoreSource)[]> {
  return Promise.all(
    files.map(async (file) => {
      const store = await storeOf(file, selection)
      if (store !== undefined && format !== 'auto') {
        throw new OptionError('format', format, `'auto': ${store.name} says its own format`)
      }
      return store ?? openSource(file)
    }),
  )
}

/** Rejects a file named twice, whose content would count twice. */
function rejectRepeated(option: string, files: TraceSource | readonly TraceSource[]): void {
  const paths = [files].flat().filter((file) => typeof file === 'string')
  const repeated = paths.find((path, i) => paths.indexOf(path) !== i)
  if (repeated !== undefined) {
    throw new OptionError(option, `a list with ${repeated} in it twice`, 'each file once')
  }
}

/** Reads one file or store (of no format), and sees to it that it had something of the same kind as those before. */
async function readInto(
  sink: ReadSink,
  { format, file }: { format: string | null; file: string },
  read: () => Promise<unknown>,
): Promise<void> {
  const sizeBefore = sink.spans.size + sink.graphs.size
  const name = await read()
  const readAs = typeof name === 'string' ? name : format
  if (sink.spans.size > 0 && sink.graphs.size > 0) {
    throw new TraceFormatError(
      'Span files and trace-point graphs cannot be mixed in one period: graphs say which work waits for which, spans only when it happened',
      { file },
      'Load them as two trace sets',
    )
  }
  if (sink.spans.size + sink.graphs.size === sizeBefore) {
    const first = sink.quality.firstIn(file)
    if (format === null) {
      throw new TraceFormatError(
        `No traces were found${first === undefined ? '' : ` (first problem: ${first})`}`,
        { file },
        'Check the time (between), the conditions (where) and the parameters of the address',
      )
    }
    throw new TraceFormatError(
      `The file, read as ${readAs}, has no usable traces${first === undefined ? '' : ` (first problem: ${first})`}`,
      { file },
      'Leave it out, or name its format with `format` if it is another',
      { format: null },
    )
  }
}
