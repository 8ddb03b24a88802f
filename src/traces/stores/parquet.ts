import { TraceFormatError } from '../../core/errors.ts'
import { defineOptions } from '../../core/options.ts'
import { parsedJson } from '../readers/json-values.ts'
import { readBeside } from '../readers/otlp.ts'
import { isFlatSpans, readFlatSpans } from './flat-spans.ts'
import { damagedParquet, openParquet, type ParquetFile } from './parquet-file.ts'
import { SAVED_KEY } from './saved-parquet.ts'
import { storeKind } from './store.ts'

/** Parquet files of spans in flat columns. */
export const parquetStore = storeKind({
  parameters: defineOptions({}),
  isFile: true,
  async read({ location }, { signal, onProgress }, sink) {
    const files = await openParquet(location)
    const whole = files.reduce((sum, { bytes }) => sum + bytes, 0)
    let bytes = 0
    try {
      for (const file of files) {
        signal?.throwIfAborted()
        await file.requireIntact()
        readBeside(parsedJson(file.said(SAVED_KEY) ?? ''), sink, file.name)
        requireFlatSpans(file)
        await readFlatSpans(file, sink)
        bytes += file.bytes
        onProgress(file.bytes, bytes / whole)
      }
    } catch (error) {
      throw isOfData(error) ? damagedParquet(location, error) : error
    } finally {
      for (const file of files) await file.close()
    }
  },
})

/** Whether an error comes from values that contradict the file's own schema. */
function isOfData(error: unknown): error is Error {
  return [RangeError, SyntaxError, TypeError].some((kind) => error instanceof kind)
}

function requireFlatSpans(file: ParquetFile): void {
  if (isFlatSpans(file)) return
  const columns = [...new Set(file.columns.map(({ path }) => path[0]))].slice(0, 12).join(', ')
  throw new TraceFormatError(
    `The Parquet file has no columns for trace id, span id, service and start; it has ${columns}`,
    { file: file.name },
    'Name them TraceId, SpanId, ParentSpanId, ServiceName, SpanName, Timestamp and Duration; ask for the traces in blocks of Tempo as tempo://host:3200',
  )
}
