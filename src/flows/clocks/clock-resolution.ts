import type { SpanCalls } from '../span-calls.ts'

const MILLISECOND_US = 1000
const MILLISECOND_NS = 1_000_000n
/** Of fewer different starts it may be chance that all of them are on a whole millisecond. */
const ENOUGH_STARTS = 20

/**
 * How far off each operation's starts may be: 1000 µs where all, at 20 or more times, are on a
 * whole millisecond and not all ends are: starts were cut, durations were not. Else 0.
 */
export function clockResolutionUs(
  periods: readonly SpanCalls[],
  names: readonly Uint32Array[],
): Float64Array {
  const spans: number[] = []
  const wholeStarts: number[] = []
  const wholeEnds: number[] = []
  const starts: number[] = []
  const latestUs: number[] = []
  periods.forEach(({ traces }, period) => {
    const { startUs, durationUs } = traces.spans
    const phaseUs = Number(traces.epochNs % MILLISECOND_NS) / 1000
    names[period]?.forEach((name, span) => {
      const start = phaseUs + startUs[span]!
      const end = start + durationUs[span]!
      spans[name] = (spans[name] ?? 0) + 1
      if (latestUs[name] !== start) starts[name] = (starts[name] ?? 0) + 1
      latestUs[name] = start
      if (isWhole(start)) wholeStarts[name] = (wholeStarts[name] ?? 0) + 1
      if (isWhole(end)) wholeEnds[name] = (wholeEnds[name] ?? 0) + 1
    })
  })
  return Float64Array.from(spans, (count = 0, name) =>
    wholeStarts[name] === count && wholeEnds[name] !== count && (starts[name] ?? 0) >= ENOUGH_STARTS
      ? MILLISECOND_US
      : 0,
  )
}

/** `%` takes several times as long. */
function isWhole(us: number): boolean {
  return Math.floor(us / MILLISECOND_US) * MILLISECOND_US === us
}
