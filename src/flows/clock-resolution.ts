import type { SpanCalls } from './span-calls.ts'

const MILLISECOND_US = 1000
const MILLISECOND_NS = 1_000_000n
/** Of fewer different starts it may be chance that all of them are on a whole millisecond. */
const ENOUGH_STARTS = 20

/**
 * How far off the start of each operation's spans may be, in µs: 1000 where all of them (at
 * 20 or more different times) start on a whole millisecond of the epoch but not all end on one:
 * starts were cut to milliseconds, durations were not. 0 otherwise. Spans whose ends are cut as well keep their order
 * among themselves.
 *
 * @param names which operation each span of a period is, from 0
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
      const start = phaseUs + (startUs[span] as number)
      const end = start + (durationUs[span] as number)
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

function isWhole(us: number): boolean {
  return us % MILLISECOND_US === 0
}
