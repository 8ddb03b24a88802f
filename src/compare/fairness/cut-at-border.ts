import { fisherExact } from '../../stats/fisher-exact.ts'
import { quantile } from '../../stats/quantile.ts'
import { NO_PARENT, type SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'

const LEVEL = 0.001
/** A trace with fewer than this part of the usual number of spans of its type is small. */
const SMALL = 0.5
/** Types with fewer spans than this have no small traces. */
const LEAST_SPANS = 4
/** Where more of the traces than this lie at a border, there is no inside to compare with. */
const MOST_AT_BORDER = 0.5

/** A trace with a root. */
interface RootedTrace {
  readonly type: number
  readonly spans: number
  readonly startUs: number
  readonly durationUs: number
}

/**
 * How many traces that were under way at the first or the last moment of a period lost spans: those
 * that began within a typical response time of it and have less than half the spans usual for
 * their root. 0 unless small traces are more frequent there than inside the period (Fisher's exact
 * test at 0.001).
 */
export function cutAtBorder(traces: TraceSet): number {
  if (traces.kind !== 'spans') return 0
  const rooted = rootedTraces(traces)
  if (rooted.length === 0) return 0
  const starts = Float64Array.from(rooted, ({ startUs }) => startUs).sort()
  const typicalUs = median(rooted.map(({ durationUs }) => durationUs))
  const fromUs = (starts[0] as number) + typicalUs
  const toUs = (starts.at(-1) as number) - typicalUs
  const inside = rooted.filter(({ startUs }) => startUs > fromUs && startUs < toUs)
  if (inside.length < (1 - MOST_AT_BORDER) * rooted.length) return 0
  const usual = usualSpans(inside)
  const isSmall = ({ type, spans }: RootedTrace) => {
    const typical = usual.get(type) ?? 0
    return typical >= LEAST_SPANS && spans < SMALL * typical
  }
  const smallInside = inside.filter(isSmall).length
  const small = rooted.filter(isSmall).length - smallInside
  const atBorder = rooted.length - inside.length
  const isMore = small * inside.length > smallInside * atBorder
  const { p } = fisherExact(smallInside, inside.length, small, atBorder)
  return isMore && p < LEVEL ? small : 0
}

function rootedTraces({ spans, spanOffsets, operations, size }: SpanTraces): RootedTrace[] {
  const rooted: RootedTrace[] = []
  for (let trace = 0; trace < size; trace++) {
    const first = spanOffsets[trace] as number
    const end = spanOffsets[trace + 1] as number
    const root = first + spans.parent.subarray(first, end).indexOf(NO_PARENT)
    if (root < first) continue
    rooted.push({
      type: (spans.service[root] as number) * operations.size + (spans.operation[root] as number),
      spans: end - first,
      startUs: spans.startUs[root] as number,
      durationUs: spans.durationUs[root] as number,
    })
  }
  return rooted
}

/** The median number of spans by type. */
function usualSpans(traces: readonly RootedTrace[]): Map<number, number> {
  const byType = new Map<number, number[]>()
  for (const { type, spans } of traces) {
    const known = byType.get(type)
    if (known === undefined) byType.set(type, [spans])
    else known.push(spans)
  }
  return new Map([...byType].map(([type, sizes]) => [type, median(sizes)]))
}

function median(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5)
}
