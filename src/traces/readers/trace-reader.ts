import type { GraphTracesBuilder } from '../graph-traces.ts'
import type { QualityLog } from '../quality.ts'
import type { SpanTracesBuilder } from '../span-traces-builder.ts'

/** Where a reader puts what it finds: span trees in `spans`, trace-point graphs in `graphs`. */
export interface ReadSink {
  readonly spans: Pick<SpanTracesBuilder, 'add' | 'clock' | 'size'>
  readonly graphs: GraphTracesBuilder
  readonly quality: QualityLog
  /** Whether attributes of resources become attributes of their spans. Default: `false`. */
  readonly resourceAttributes?: boolean
}

/** Formats of which each file stands for itself; of several that fit a file, the first reads it. */
export const FILE_FORMATS = ['dot', 'otlp', 'jaeger', 'zipkin', 'csv', 'xtrace'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

/** One trace file format. */
export interface TraceReader {
  /** What `--format` and `loadTraces({ format })` call it. */
  readonly format: FileFormat
  /**
   * Returns whether a file is in this format.
   *
   * @param head how it begins: a few kilobytes as text
   * @param bytes the same as it is
   */
  recognizes(head: string, bytes: Uint8Array): boolean
  /** Reads a whole file, chunk by chunk, into `sink`; `file` is its name for messages. */
  read(chunks: AsyncIterable<Uint8Array>, sink: ReadSink, file: string): Promise<void>
}
