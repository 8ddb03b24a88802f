import { TraceFormatError } from '../../core/errors.ts'
import { defineOptions } from '../../core/options.ts'
import { counted } from '../../core/words.ts'
import { parsedJson } from '../readers/json-values.ts'
import { readBeside } from '../readers/otlp.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { isFlatSpans, readFlatSpans } from './flat-spans.ts'
import { damagedParquet, openParquet, type ParquetFile } from './parquet-file.ts'
import { type Wanted, wantedBy } from './pushed-conditions.ts'
import { SAVED_KEY } from './saved-parquet.ts'
import { storeKind } from './store.ts'

/** Parquet files of spans in flat columns; row groups without a span of a request asked for are not read. */
export const parquetStore = storeKind({
  parameters: defineOptions({}),
  isFile: true,
  async open({ name, location }) {
    // Opened when they are read: another source of the period may be wrong.
    let opened: Promise<readonly ParquetFile[]> | undefined
    const open = () => {
      opened ??= openParquet(location)
      return opened
    }
    const closing = async <T>(use: (files: readonly ParquetFile[]) => Promise<T>) => {
      const files = await open()
      try {
        return await use(files)
      } catch (error) {
        throw isOfData(error) ? damagedParquet(location, error) : error
      } finally {
        for (const file of files) await file.close()
      }
    }
    return {
      name,
      read: (query, sink) =>
        closing(async (files) => {
          const whole = files.reduce((sum, { bytes }) => sum + bytes, 0)
          const wanted = wantedBy(query)
          const sizeBefore = sink.spans.size
          let bytes = 0
          for (const file of files) {
            query.signal?.throwIfAborted()
            await file.requireIntact()
            readBeside(parsedJson(file.said(SAVED_KEY) ?? ''), sink, file.name)
            const passedOver = await readSpans(file, sink, wanted)
            bytes += file.bytes
            query.onProgress(file.bytes, bytes / whole)
            if (passedOver > 0) {
              const message = `${counted(passedOver, 'row group')} of ${file.metadata.row_groups.length} were not read: no request asked for has a span there`
              sink.quality.note('not-read', { file: file.name }, message)
            }
          }
          if (wanted === null || sink.spans.size > sizeBefore) return
          // All of it says why nothing was selected: what there is instead.
          for (const file of files) await readSpans(file, sink, null)
        }),
    }
  },
})

/** Whether an error comes from values that contradict the file's own schema. */
function isOfData(error: unknown): error is Error {
  return [RangeError, SyntaxError, TypeError].some((kind) => error instanceof kind)
}

function readSpans(file: ParquetFile, sink: ReadSink, wanted: Wanted | null): Promise<number> {
  if (isFlatSpans(file)) return readFlatSpans(file, sink, wanted)
  const columns = [...new Set(file.columns.map(({ path }) => path[0]))].slice(0, 12).join(', ')
  throw new TraceFormatError(
    `The Parquet file has no columns for trace id, span id, service and start; it has ${columns}`,
    { file: file.name },
    'Name them TraceId, SpanId, ParentSpanId, ServiceName, SpanName, Timestamp and Duration; ask for the traces in blocks of Tempo as tempo://host:3200',
  )
}
