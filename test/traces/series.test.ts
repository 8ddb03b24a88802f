import { describe, expect, test } from 'vitest'
import { loadTraces } from '../../src/traces/load-traces.ts'

const NOON_S = Date.UTC(2026, 9, 1, 12) / 1000

/** Where a span ran, and how many seconds after noon it began. */
type Begun = readonly [host: string, second: number]

function zipkin(spans: readonly Begun[]) {
  const traces = spans.map(([host, second], i) => ({
    traceId: `a${i}`,
    id: 'b',
    name: 'get',
    timestamp: (NOON_S + second) * 1e6,
    duration: 1000,
    localEndpoint: { serviceName: 'web', ipv4: host },
  }))
  return { name: 'traces.json', bytes: JSON.stringify(traces) }
}

const load = (series: string, ...spans: readonly Begun[]) =>
  loadTraces(zipkin(spans), { series: { name: 'folder/queue.json', bytes: series } })
const valuesOf = (traces: Awaited<ReturnType<typeof load>>) =>
  [...traces.ids.keys()].map((span) => Object.fromEntries(traces.attributes?.entries(span) ?? []))
const ONLY = /series/
const seriesOf = async (...args: Parameters<typeof load>) =>
  valuesOf(await load(...args)).map((all) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => ONLY.test(key))),
  )

describe('a monitoring series', () => {
  test('of CSV gives spans of its host the last value before they begin', async () => {
    const csv = `time,host,cpu,queue\n2026-10-01T12:00:00Z,a,0.1,3\n${NOON_S + 10},a,0.9,\n${NOON_S * 1000},b,0.5,7\n`
    expect(await seriesOf(csv, ['a', 0], ['a', 9.9], ['a', 10], ['b', 5], ['c', 5])).toEqual([
      { 'series.cpu': 0.1, 'series.queue': 3 },
      { 'series.cpu': 0.1, 'series.queue': 3 },
      { 'series.cpu': 0.9, 'series.queue': 3 },
      { 'series.cpu': 0.5, 'series.queue': 7 },
      {},
    ])
  })

  test('without hosts is one of all hosts', async () => {
    const csv = `timestamp,load\n${NOON_S},1\n${NOON_S + 10},2\n`
    expect(await seriesOf(csv, ['a', 5], ['b', 15])).toEqual([
      { 'series.load': 1 },
      { 'series.load': 2 },
    ])
  })

  test('of Prometheus belongs to the host that a label names, with or without a port', async () => {
    const result = [
      { metric: { __name__: 'cpu', instance: 'a:9100' }, values: [[NOON_S, '0.25']] },
      {
        metric: { node: 'b' },
        values: [
          [NOON_S, '4'],
          [NOON_S + 1, 'NaN'],
        ],
      },
    ]
    const json = JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } })
    expect(await seriesOf(json, ['a', 5], ['b', 5])).toEqual([
      { 'series.cpu': 0.25 },
      { 'series.queue': 4 },
    ])
  })

  test('says nothing before it begins, and long after its last value, which is counted', async () => {
    const csv = `time,cpu\n${NOON_S},1\n${NOON_S + 10},2\n`
    const traces = await load(csv, ['a', -1], ['a', 40], ['a', 41])
    expect(valuesOf(traces).map((all) => all['series.cpu'])).toEqual([undefined, 2, undefined])
    expect(traces.quality().counts.get('no-sample')).toBe(1)
  })

  test.each([
    ['cpu\n1\n', 'A file of series has no column time'],
    ['time,cpu\nsoon,1\n', '"soon" is no time'],
    ['{"data":{}}', 'has no data.result with values'],
    ['{', 'is no JSON'],
    [`time,host,cpu\n${NOON_S},z,1\n`, 'whose hosts are a; series name z'],
    [`time,cpu\n${NOON_S + 9},1\n`, 'No sample of the series is of a host and a time'],
    [
      JSON.stringify({
        data: {
          result: ['idle', 'user'].map((mode) => ({
            metric: { __name__: 'cpu', instance: 'a', mode },
            values: [[NOON_S, '1']],
          })),
        },
      }),
      'Host a has more than one series cpu',
    ],
  ])('is refused where it cannot be joined: %j', async (series, message) => {
    await expect(load(series, ['a', 5])).rejects.toThrow(message)
  })
})
