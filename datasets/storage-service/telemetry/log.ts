import { context, TraceFlags, trace } from '@opentelemetry/api'
import { type Period, periodOf } from '../volumes/period.ts'
import type { Clock } from './clock.ts'

/** Records of this process that nobody asked for yet; `undefined` where it keeps no log. */
let kept: Record<Period, string[]> | undefined
let service = ''
let clock: Clock

/** Lets this process keep a log: JSON lines with the ids of the span that each was written in. */
export function keepLog(ofService: string, timedBy: Clock): void {
  kept = { before: [], after: [] }
  service = ofService
  clock = timedBy
}

/** Logs a message in the span that is active, if the process keeps a log and the request is traced. */
export function log(level: 'info' | 'warn', logger: string, message: string): void {
  const span = trace.getSpanContext(context.active())
  if (kept === undefined || span === undefined) return
  if ((span.traceFlags & TraceFlags.SAMPLED) === 0) return
  const [seconds, nanos] = clock()
  const time = `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`
  const ids = { trace_id: span.traceId, span_id: span.spanId }
  kept[periodOf()].push(JSON.stringify({ time, level, service, logger, message, ...ids }))
}

/** Hands out and forgets the log of a period. */
export function drainLog(period: Period): string[] {
  const lines = kept?.[period] ?? []
  if (kept !== undefined) kept[period] = []
  return lines
}
