import { GraphTracesBuilder } from '../../src/traces/graph-traces.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import { SPAN_FORMATS, type SpanFormatName } from '../../src/traces/readers/span-formats.ts'
import { spansReader } from '../../src/traces/readers/span-records.ts'
import type { TraceReader } from '../../src/traces/readers/trace-reader.ts'
import {
  NO_PARENT,
  PARENT_MISSING,
  SPAN_KINDS,
  SPAN_STATUSES,
} from '../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { SpanTracesBuilder } from '../../src/traces/span-traces-builder.ts'

/** The reader of spans in one format alone. */
export function readerOf(name: SpanFormatName): TraceReader {
  return spansReader({ formats: SPAN_FORMATS.filter((one) => one.name === name), isOnly: true })
}

/** Reads `content`, handed over in the pieces `cut` makes of it, as spans. */
export async function readSpans(
  reader: TraceReader,
  content: string | Uint8Array,
  { strict = false, cut = (bytes: Uint8Array) => [bytes] } = {},
): Promise<SpanTraces> {
  const quality = new QualityLog({ strict })
  const sink = { spans: new SpanTracesBuilder(quality), graphs: new GraphTracesBuilder(), quality }
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  await reader.read(streamOf(cut(bytes)), sink, 'test.file')
  return sink.spans.finish('test')
}

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield chunk.slice()
}

/** Everything a trace set of spans says, one object a span. */
export function plainSpans(set: SpanTraces) {
  const { spans, spanOffsets, epochNs } = set
  return set.ids.flatMap((trace, i) =>
    Array.from({ length: (spanOffsets[i + 1] ?? 0) - (spanOffsets[i] ?? 0) }, (_, n) => {
      const row = (spanOffsets[i] ?? 0) + n
      const parent = spans.parent[row] ?? NO_PARENT
      const startUs = spans.startUs[row] ?? Number.NaN
      return {
        trace,
        startNs: epochNs + BigInt(Math.round(startUs * 1e3)),
        durationUs: spans.durationUs[row],
        parent:
          parent === NO_PARENT
            ? 'none'
            : parent === PARENT_MISSING
              ? 'missing'
              : set.operations.value(spans.operation[parent] ?? 0),
        service: set.services.value(spans.service[row] ?? 0),
        operation: set.operations.value(spans.operation[row] ?? 0),
        host: set.hosts.value(spans.host[row] ?? 0),
        kind: SPAN_KINDS[spans.kind[row] ?? 0],
        status: SPAN_STATUSES[spans.status[row] ?? 0],
        followsFrom: spans.followsFrom[row] === 1,
        attributes: Object.fromEntries(set.attributes.entries(row)),
      }
    }),
  )
}

/** Counts by kind of issue. */
export function issueCounts(set: SpanTraces): Record<string, number> {
  return Object.fromEntries(set.quality().counts)
}
