import { EVENT_FEATURES, type LogSet, STATE_FEATURES } from '../../../src/logs/features/log-set.ts'
import { loadLogs } from '../../../src/logs/readers/load-logs.ts'
import type { LogReadOptions } from '../../../src/logs/readers/log-read-options.ts'

/** One log in memory, as the only instance. */
export function readText(bytes: string, options: LogReadOptions = {}): Promise<LogSet> {
  return loadLogs({ before: { name: 'a.log', bytes }, after: [] }, options)
}

/** How often each event happened in each instance. */
export function eventCounts({ events }: LogSet): Record<string, number[]> {
  return Object.fromEntries(events.names.map((name, i) => [name, [...events.of(i, 'count')]]))
}

/** The last value of each state variable in each instance. */
export function finalValues({ states }: LogSet): Record<string, number[]> {
  return Object.fromEntries(states.names.map((name, i) => [name, [...states.of(i, 'final')]]))
}

/** When each event happened first, in microseconds since its instance's start. */
export function firstTimes({ events }: LogSet): Record<string, number[]> {
  return Object.fromEntries(
    events.names.map((name, i) => [name, [...events.of(i, 'firstAbsolute')]]),
  )
}

/** All there is in a set: what must be equal where two readings are. */
export function contentOf(logs: LogSet): unknown {
  const { events, states } = logs
  return {
    instances: logs.instances,
    runTimeUs: [...logs.runTimeUs],
    events: events.names.map((name, i) => [name, events.rows(i, EVENT_FEATURES)]),
    states: states.names.map((name, i) => [name, states.rows(i, STATE_FEATURES)]),
    messages: logs.report.messages,
  }
}

/** How many lines were skipped, by reason, and where the first of them stands. */
export function skipped({ report }: LogSet): Record<string, readonly [number, string]> {
  return Object.fromEntries(
    report.skipped.map(({ reason, count, first: [first] }) => [
      reason,
      [count, `${first?.file}:${first?.line}`] as const,
    ]),
  )
}
