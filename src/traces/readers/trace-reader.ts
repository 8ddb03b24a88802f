import type { GraphTracesBuilder } from '../graph-traces.ts'
import type { QualityLog } from '../quality.ts'
import type { SpanTracesBuilder } from '../span-traces-builder.ts'

export interface ReadSink {
  readonly spans: Pick<SpanTracesBuilder, 'add' | 'addLogs' | 'clock' | 'size'> &
    Partial<Pick<SpanTracesBuilder, 'addUsual' | 'takesUsual'>>
  readonly graphs: GraphTracesBuilder
  readonly quality: QualityLog
  /** Whether attributes of resources become attributes of their spans. Default: `false`. */
  readonly resourceAttributes?: boolean
}

/** Formats of which each file stands for itself; of several that fit a file, the first reads it. */
export const FILE_FORMATS = ['dot', 'otlp', 'xtrace', 'spans'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

export interface TraceReader {
  readonly format: FileFormat
  /** Whether a file is in this format, by its head as text and as bytes. */
  recognizes(head: string, bytes: Uint8Array): boolean
  /** Reads a file; may give the name of the format that its spans were in. */
  read(chunks: AsyncIterable<Uint8Array>, sink: ReadSink, file: string): Promise<unknown>
}
