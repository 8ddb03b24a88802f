import { describe, expect, test } from 'vitest'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import type { LogReadOptions } from '../../src/logs/readers/log-read-options.ts'
import { eventCounts } from './readers/log-messages.ts'

const START_MS = Date.UTC(2026, 10, 22, 10, 0, 20)

/** One service's log, a request a second from 10:00:20 on; from 10:20 on requests take longer. */
function serviceLog(seconds: number): { name: string; bytes: string } {
  const lines = Array.from({ length: seconds }, (_, i) => {
    const ms = START_MS + i * 1000
    const duration_ms = (i % 7) + (ms >= Date.UTC(2026, 10, 22, 10, 20) ? 150 : 10)
    const request = { request_id: `r${i}`, pod: `web-${i % 3}`, status: i % 9 === 0 ? 503 : 200 }
    return [
      JSON.stringify({ time: ms, msg: 'request received', ...request, status: undefined }),
      JSON.stringify({ time: ms + duration_ms, msg: 'request completed', ...request, duration_ms }),
    ]
  })
  return { name: 'web.log', bytes: lines.flat().join('\n') }
}

const load = (options: LogReadOptions, seconds = 2400) => loadLogs(serviceLog(seconds), options)

describe('one continuous log', () => {
  test('is divided in time, into windows that it covers wholly', async () => {
    const logs = await load({ window: '1m', splitAt: '2026-11-22T10:20Z' })
    expect(logs.counts).toEqual({ before: 19, after: 20 })
    expect(logs.instances[0]).toBe('web.log 2026-11-22T10:01Z')
    expect(new Set(eventCounts(logs)['request completed'])).toEqual(new Set([60]))
    const metric = { variable: 'request completed.duration_ms', feature: 'mean' } as const
    const { performance } = compareLogs(logs, { metric }).divergence
    expect(Math.round(performance.beforeMean)).toBe(13)
    expect(Math.round(performance.afterMean)).toBe(153)
  })

  test('may be split at a time of day', async () => {
    const logs = await load({ window: '5min', splitAt: '10:20Z' })
    expect(logs.counts).toEqual({ before: 4, after: 4 })
  })

  test('is divided into requests, good and bad by what they say', async () => {
    const logs = await load({ instance: 'request_id', badIf: 'duration_ms > 100' }, 1500)
    expect(logs.counts).toEqual({ before: 1180, after: 320 })
    const both = await load(
      { instance: 'request_id', badIf: 'duration_ms > 100ms and status is not 503' },
      1500,
    )
    expect(both.counts.after).toBe(320 - 35)
  })

  test.each([
    ['level = ERROR', 1],
    ['severity = err', 1],
    ['level is not INFO', 2],
    ['level = WARNING or error', 2],
    ['level = warn', 1],
    ['word = ERROR', 1],
  ])('is divided by levels, however they are written: %s', async (badIf, after) => {
    const lines = [
      ['INFO', 'up'],
      ['ERROR', 'down'],
      ['WARN', 'ERROR'],
    ].map(([severity, word], i) => ({
      time: START_MS + i,
      msg: 'said',
      severity,
      word,
      pod: `p${i}`,
    }))
    const log = { name: 'pods.log', bytes: lines.map((line) => JSON.stringify(line)).join('\n') }
    const { counts } = await loadLogs(log, { instance: 'pod', badIf })
    expect(counts).toEqual({ before: 3 - after, after })
  })

  test('is divided by pod, and two logs into windows', async () => {
    expect((await load({ instance: 'pod', badIf: 'status = 503' })).counts).toEqual({
      before: 2,
      after: 1,
    })
    const periods = { before: serviceLog(600), after: serviceLog(900) }
    expect((await loadLogs(periods, { window: '1m' })).counts).toEqual({ before: 9, after: 14 })
  })
})

describe('what cannot be is refused', () => {
  const fails = (options: LogReadOptions) => expect(load(options, 10)).rejects

  test('one source that nothing divides, or two that something does', async () => {
    await fails({}).toThrow('or one source with `splitAt` or `badIf`')
    const log = serviceLog(5)
    await expect(loadLogs({ before: log, after: log }, { badIf: 'a = 1' })).rejects.toThrow(
      'Option logs is "before and after". Give one source, as `splitAt` and `badIf` divide it.',
    )
  })

  test('a division that leaves all on one side', async () => {
    await fails({ splitAt: '2027-01-01' }).toThrow(
      'Option splitAt is "2027-01-01". Give a time within the logs: the only instance is before.',
    )
    await fails({ instance: 'pod', badIf: 'status > 1000' }).toThrow(
      'Option badIf is "status > 1000". Give conditions that some instances meet and some do not: all 3 instances are before.',
    )
  })

  test('windows, times and conditions', async () => {
    await fails({ window: 'soon' }).toThrow("Give a duration, as '1m' or '30s'.")
    await fails({ splitAt: 'noon' }).toThrow("a time, as '2026-10-01T11:15Z' or '11:15Z'")
    await fails({ badIf: 'slow' }).toThrow('"slow" is no condition')
    await fails({ badIf: 'database is called' }).toThrow('Logs do not say what is called')
  })
})
