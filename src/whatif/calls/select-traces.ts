// Over every span of the selected traces: the loops index with `!`.
import { randomSource } from '../../stats/random.ts'
import { AttributesBuilder } from '../../traces/attributes.ts'
import { type SpanColumns, SpanTraces } from '../../traces/span-traces.ts'

/**
 * Some traces of a period, as a period of its own; its quality is that of the whole.
 *
 * @param rows rows of `traces`, each once
 *
 * @example
 * selectTraces(before, [0, 2, 4]).size // 3
 */
export function selectTraces(traces: SpanTraces, rows: ArrayLike<number>): SpanTraces {
  const { spanOffsets, spans, weight } = traces
  const chosen = Uint32Array.from(rows)
  const offsets = new Uint32Array(chosen.length + 1)
  chosen.forEach((trace, i) => {
    offsets[i + 1] = offsets[i]! + spanOffsets[trace + 1]! - spanOffsets[trace]!
  })
  const spanRows = new Uint32Array(offsets[chosen.length]!)
  const position = new Int32Array(spans.parent.length).fill(-1)
  chosen.forEach((trace, i) => {
    for (let at = 0; at < offsets[i + 1]! - offsets[i]!; at++) {
      spanRows[offsets[i]! + at] = spanOffsets[trace]! + at
      position[spanOffsets[trace]! + at] = offsets[i]! + at
    }
  })
  return new SpanTraces(
    traces.name,
    {
      epochNs: traces.epochNs,
      ids: Array.from(chosen, (trace) => traces.ids[trace]!),
      spanOffsets: offsets,
      spans: spansOf(spans, spanRows, position),
      services: traces.services,
      operations: traces.operations,
      hosts: traces.hosts,
      attributes: attributesOf(traces, spanRows),
      weight: weight && Float64Array.from(chosen, (trace) => weight[trace]!),
      versions: traces.versions,
    },
    traces.quality(),
  )
}

function spansOf(spans: SpanColumns, rows: Uint32Array, position: Int32Array): SpanColumns {
  const pick8 = (column: Uint8Array) => Uint8Array.from(rows, (row) => column[row]!)
  const pick32 = (column: Uint32Array) => rows.map((row) => column[row]!)
  const pick64 = (column: Float64Array) => Float64Array.from(rows, (row) => column[row]!)
  return {
    // What is negative says why there is no parent.
    parent: Int32Array.from(rows, (row) => {
      const parent = spans.parent[row]!
      return parent < 0 ? parent : position[parent]!
    }),
    startUs: pick64(spans.startUs),
    durationUs: pick64(spans.durationUs),
    service: pick32(spans.service),
    operation: pick32(spans.operation),
    host: pick32(spans.host),
    kind: pick8(spans.kind),
    status: pick8(spans.status),
    followsFrom: pick8(spans.followsFrom),
  }
}

function attributesOf({ attributes }: SpanTraces, rows: Uint32Array) {
  const builder = new AttributesBuilder()
  rows.forEach((row, i) => {
    for (const [key, value] of attributes.entries(row)) builder.add(i, key, value)
  })
  return builder.finish(
    rows.length,
    Int32Array.from(rows, (_, i) => i),
  )
}

/** At most `size` traces of a period, each as likely as the others, in their order. */
export function sampleTraces(traces: SpanTraces, size: number, seed: number): SpanTraces {
  if (traces.size <= size) return traces
  const random = randomSource(seed)
  const chosen = new Uint32Array(size)
  let taken = 0
  for (let row = 0; taken < size; row++) {
    // Each further row is taken with the chance that is left.
    if (random.next() * (traces.size - row) < size - taken) chosen[taken++] = row
  }
  return selectTraces(traces, chosen)
}
