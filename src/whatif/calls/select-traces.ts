// Over every span of the selected traces: the loops index with `!`.
import { randomSource } from '../../stats/random.ts'
import { AttributesBuilder } from '../../traces/attributes.ts'
import { SpanTraces } from '../../traces/span-traces.ts'

/**
 * Some traces of a period, as a period of its own; its quality is that of the whole.
 *
 * @param rows rows of `traces`, each once
 *
 * @example
 * selectTraces(before, [0, 2, 4]).size // 3
 */
export function selectTraces(traces: SpanTraces, rows: ArrayLike<number>): SpanTraces {
  const { name, ids, spanOffsets, spans, weight } = traces
  const { epochNs, services, operations, hosts, versions } = traces
  const chosen = Uint32Array.from(rows)
  const offsets = new Uint32Array(chosen.length + 1)
  const position = new Int32Array(spans.parent.length).fill(-1)
  const kept: number[] = []
  chosen.forEach((trace, i) => {
    for (let span = spanOffsets[trace]!; span < spanOffsets[trace + 1]!; span++) {
      position[span] = kept.push(span) - 1
    }
    offsets[i + 1] = kept.length
  })
  const attributes = new AttributesBuilder()
  kept.forEach((span, i) => {
    for (const [key, value] of traces.attributes.entries(span)) attributes.add(i, key, value)
  })
  const bytes = (column: Uint8Array) => Uint8Array.from(kept, (span) => column[span]!)
  const codes = (column: Uint32Array) => Uint32Array.from(kept, (span) => column[span]!)
  const times = (column: Float64Array) => Float64Array.from(kept, (span) => column[span]!)
  return new SpanTraces(
    name,
    {
      ...{ epochNs, services, operations, hosts, versions, spanOffsets: offsets },
      ids: Array.from(chosen, (trace) => ids[trace]!),
      spans: {
        // What is negative says why there is no parent.
        parent: Int32Array.from(
          kept,
          (span) => position[spans.parent[span]!] ?? spans.parent[span]!,
        ),
        startUs: times(spans.startUs),
        durationUs: times(spans.durationUs),
        service: codes(spans.service),
        operation: codes(spans.operation),
        host: codes(spans.host),
        kind: bytes(spans.kind),
        status: bytes(spans.status),
        followsFrom: bytes(spans.followsFrom),
      },
      attributes: attributes.finish(kept.length),
      weight: weight && Float64Array.from(chosen, (trace) => weight[trace]!),
    },
    traces.quality(),
  )
}

/** At most `size` traces of a period, each as likely as the others, in their order. */
export function sampleTraces(traces: SpanTraces, size: number, seed: number): SpanTraces {
  if (traces.size <= size) return traces
  const random = randomSource(seed)
  const chosen: number[] = []
  for (let row = 0; chosen.length < size; row++) {
    // Each further row is taken with the chance that is left.
    if (random.next() * (traces.size - row) < size - chosen.length) chosen.push(row)
  }
  return selectTraces(traces, chosen)
}
