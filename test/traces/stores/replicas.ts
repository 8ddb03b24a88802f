import { QualityLog } from '../../../src/traces/quality.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { SpanTracesBuilder } from '../../../src/traces/span-traces-builder.ts'

/**
 * Saves two periods of recorded requests, each request several times, at another time and all of it
 * longer or shorter by up to a fifth. After, one operation of each of some services takes longer, and so
 * does what contains it.
 *
 * @returns paths of the two files
 */
export async function saveReplicas(
  recorded: SpanTraces,
  { times, planted, path }: { times: number; planted: number; path: string },
): Promise<readonly [before: string, after: string]> {
  const delays = plannedDelays(recorded, planted)
  const paths = [`${path}-before.parquet`, `${path}-after.parquet`] as const
  for (const [period, to] of paths.entries()) {
    const builder = new SpanTracesBuilder(new QualityLog())
    for (let copy = 0; copy < times; copy++) {
      addCopy(recorded, builder, { copy, period, delays: period === 1 ? delays : new Map() })
    }
    await builder.finish(to).save(to)
  }
  return paths
}

const keyOf = ({ spans }: SpanTraces, span: number) =>
  `${spans.service[span]} ${spans.operation[span]}`

/** Of each of the services most called, the operation most called: as much as 30 ms more at its end, each next one a tenth less. */
function plannedDelays(recorded: SpanTraces, planted: number): Map<string, number> {
  const { spans } = recorded
  const totals = new Map<string, { service: number; count: number; us: number }>()
  spans.durationUs.forEach((us, span) => {
    if (spans.parent[span]! < 0) return
    const key = keyOf(recorded, span)
    const sum = totals.get(key) ?? { service: spans.service[span]!, count: 0, us: 0 }
    totals.set(key, { ...sum, count: sum.count + 1, us: sum.us + us })
  })
  const frequent = [...totals].sort(([, a], [, b]) => b.count - a.count)
  const first = frequent.filter(
    ([, { service }], i) => frequent.findIndex(([, other]) => other.service === service) === i,
  )
  return new Map(first.slice(0, planted).map(([key], i) => [key, 30e3 * 0.9 ** i]))
}

function addCopy(
  traces: SpanTraces,
  builder: SpanTracesBuilder,
  { copy, period, delays }: { copy: number; period: number; delays: ReadonlyMap<string, number> },
): void {
  const { spans, spanOffsets } = traces
  traces.ids.forEach((id, trace) => {
    const random = randomOf(trace * 1000 + copy * 2 + period)
    const stretch = 0.8 + 0.4 * random()
    const [from, to] = [spanOffsets[trace]!, spanOffsets[trace + 1]!]
    const rows = Array.from({ length: to - from }, (_, i) => from + i)
    const first = Math.min(...rows.map((row) => spans.startUs[row]!))
    const at = period * 3600e6 + random() * 3600e6
    const starts = rows.map((row) => (spans.startUs[row]! - first) * stretch)
    const ends = rows.map((row, i) => starts[i]! + spans.durationUs[row]! * stretch)
    rows.forEach((row, i) => {
      const delayUs = (delays.get(keyOf(traces, row)) ?? 0) * (0.8 + 0.4 * random())
      if (delayUs === 0) return
      const [start, end] = [starts[i]!, ends[i]!]
      rows.forEach((_, other) => {
        if (starts[other]! >= end && other !== i) starts[other]! += delayUs
        if (
          ends[other]! >= end &&
          (other === i || starts[other]! <= start || starts[other]! >= end)
        )
          ends[other]! += delayUs
      })
    })
    rows.forEach((row, i) => {
      const parent = spans.parent[row]!
      builder.add(
        {
          traceId: `${id.slice(0, 24)}${(copy * 2 + period).toString(16).padStart(8, '0')}`,
          spanId: `${row - from + 1}`.padStart(16, '0'),
          parentId: parent < 0 ? null : `${parent - from + 1}`.padStart(16, '0'),
          service: traces.services.value(spans.service[row]!),
          operation: traces.operations.value(spans.operation[row]!),
          host: traces.hosts.value(spans.host[row]!),
          kind: 'internal',
          status: 'unset',
          startUs: builder.clock.offsetOfMicros(1_790_000_000_000_000 + at + starts[i]!),
          durationUs: Math.max(0, ends[i]! - starts[i]!),
          followsFrom: false,
          attributes: [],
        },
        {},
      )
    })
  })
}

/** Numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
