import { max, min, sum } from 'd3-array'
import { nameStatements, type Statement } from '../logs/traced/statements.ts'
import { welch } from '../stats/welch.ts'
import { AFTER, BEFORE, type Period } from '../traces/period.ts'
import type { SpanTraces } from '../traces/span-traces.ts'

/** A statement that a service logs more or less often, or anew. */
export interface ServiceLogChange extends Statement {
  readonly service: string
  /** Messages before and after, and per window of time. */
  readonly messages: readonly [number, number]
  readonly means: readonly [number, number]
  readonly p: number
}

/** Windows of the shorter recording. */
const WINDOWS = 20
const ALPHA = 0.05
/** A statement must come so many times as often, or as seldom. */
const MIN_FACTOR = 2

/**
 * What services log otherwise, by records that name no trace: messages of each statement in windows of
 * time are compared by Welch's t-test, corrected for all statements of all services. Windows lie within
 * the time that both traces and logs cover.
 */
export function serviceLogChanges(
  recordings: readonly SpanTraces[],
  runs: number,
): readonly ServiceLogChange[] {
  const logs = recordings.flatMap((traces) => traces.serviceLogs ?? [])
  if (logs.length < recordings.length || logs.some(({ timeUs }) => timeUs.length === 0)) return []
  const ranges = recordings.map(({ spans: { startUs } }, i): readonly [number, number] => {
    const own = logs[i]?.timeUs ?? []
    return [Math.max(min(startUs) ?? 0, min(own) ?? 0), Math.min(max(startUs) ?? 0, max(own) ?? 0)]
  })
  const windowUs = (min(ranges, ([from, to]) => to - from) ?? 0) / WINDOWS
  if (!(windowUs > 0)) return []
  const windows = ranges.map(([from, to]) => Math.floor((to - from) / windowUs + 1e-9))
  const ofPeriod = (recording: number): Period => (recording < runs ? BEFORE : AFTER)
  const starts = windows.map((_, i) => {
    const earlier = windows.slice(0, i).filter((__, other) => ofPeriod(other) === ofPeriod(i))
    return sum(earlier)
  })
  const sizes = [BEFORE, AFTER].map((period) =>
    sum(windows.filter((_, recording) => ofPeriod(recording) === period)),
  )
  const { statements, codes } = nameStatements(logs, runs)
  const counts = new Map<string, readonly [Float64Array, Float64Array]>()
  logs.forEach(({ timeUs, service, services, statement }, recording) => {
    const [from] = ranges[recording] as readonly [number, number]
    const last = Number(windows[recording]) - 1
    const endUs = from + (last + 1) * windowUs + 1
    timeUs.forEach((us, record) => {
      if (us < from || us > endUs) return
      const window = Math.min(last, Math.floor((us - from) / windowUs))
      const code = codes[recording]?.[Number(statement[record])]
      const key = `${code}\t${services.value(Number(service[record]))}`
      const own = counts.get(key) ?? [
        new Float64Array(sizes[0] ?? 0),
        new Float64Array(sizes[1] ?? 0),
      ]
      counts.set(key, own)
      const at = Number(starts[recording]) + window
      own[ofPeriod(recording)][at] = Number(own[ofPeriod(recording)][at]) + 1
    })
  })
  return Array.from(counts, ([key, [before, after]]): ServiceLogChange => {
    const [code, service = ''] = key.split('\t')
    const { p, beforeMean, afterMean } = welch(before, after)
    const means = [beforeMean, afterMean] as const
    const of = statements[Number(code)] as Statement
    return { ...of, service, messages: [sum(before), sum(after)], means, p: p * counts.size }
  })
    .filter(({ p, means }) => p < ALPHA && Math.max(...means) >= MIN_FACTOR * Math.min(...means))
    .sort((a, b) => a.p - b.p || b.messages[1] - a.messages[1])
}
