// Runs once a span: the loops index with `!`.
import { max } from 'd3-array'
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
  const size = 1 + Math.max(-1, ...names.map((ofSpans) => max(ofSpans) ?? -1))
  const counts = () => new Uint32Array(size)
  const [spans, starts, wholeStarts, wholeEnds] = [counts(), counts(), counts(), counts()]
  const latestUs = new Float64Array(size).fill(Number.NaN)
  periods.forEach(({ traces }, period) => {
    const { startUs, durationUs } = traces.spans
    const phaseUs = Number(traces.epochNs % MILLISECOND_NS) / 1000
    const ofSpans = names[period] ?? []
    for (let span = 0; span < ofSpans.length; span++) {
      const name = ofSpans[span]!
      const start = phaseUs + startUs[span]!
      const end = start + durationUs[span]!
      spans[name]!++
      if (latestUs[name] !== start) starts[name]!++
      latestUs[name] = start
      if (isWhole(start)) wholeStarts[name]!++
      if (isWhole(end)) wholeEnds[name]!++
    }
  })
  return Float64Array.from(spans, (count, name) =>
    wholeStarts[name] === count && wholeEnds[name] !== count && starts[name]! >= ENOUGH_STARTS
      ? MILLISECOND_US
      : 0,
  )
}

/** `%` takes several times as long. */
function isWhole(us: number): boolean {
  return Math.floor(us / MILLISECOND_US) * MILLISECOND_US === us
}
