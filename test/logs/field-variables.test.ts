import { expect, test } from 'vitest'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { eventCounts, finalValues } from './readers/log-messages.ts'

const STATUS = [200, 503]
const line = (i: number) =>
  JSON.stringify({
    time: 1.7e12 + i,
    level: i % 4 === 0 ? 'error' : 'info',
    msg: 'request completed',
    status: STATUS[Number(i % 4 === 0)],
    route: i % 2 === 0 ? '/cart' : '/pay',
    version: '1.2',
    took: `${i}ms`,
    bytes: i * 1.5,
    request_id: `r${i}`,
    user: { id: i },
    tenant_id: `t${i % 2}`,
    agent: `browser ${i}`,
    client_ip: '10.0.0.1',
    ...(i % 5 === 0 && { retried: true }),
  })

test('fields of messages are variables: numbers are states, texts of few values tell messages apart', async () => {
  const bytes = Array.from({ length: 40 }, (_, i) => line(i + 1)).join('\n')
  const logs = await loadLogs({ before: { name: 'a', bytes }, after: [] })
  expect(eventCounts(logs)).toEqual({
    'request completed': [40],
    'request completed · level=error': [10],
    'request completed · level=info': [30],
    'request completed · retried=true': [8],
    'request completed · route=/cart': [20],
    'request completed · route=/pay': [20],
    'request completed · status=200': [30],
    'request completed · status=503': [10],
    'request completed · tenant_id=t0': [20],
    'request completed · tenant_id=t1': [20],
  })
  expect(finalValues(logs)).toEqual({
    'request completed.bytes': [60],
    'request completed.took': [40],
  })
  expect(logs.report.messages).toEqual({ event: 40, state: 80 })
  expect(logs.report.fieldsLeftOut).toEqual([
    { field: 'request_id', reason: 'is named as an identifier', messages: 40, example: 'r1' },
    { field: 'user.id', reason: 'is named as an identifier', messages: 40, example: '1' },
    { field: 'agent', reason: 'has more than 20 values', messages: 40, example: 'browser 1' },
    { field: 'client_ip', reason: 'is an address', messages: 40, example: '10.0.0.1' },
  ])
  expect(logs.report.table().objects()).toContainEqual({
    issue: 'field request_id is named as an identifier',
    effect: 'no variable',
    count: 40,
    example: 'r1',
  })
})

test('variables are left out, and others computed from what is left or not', async () => {
  const log = (name: string, requests: number, bytes: number) => {
    const lines = Array.from({ length: requests }, (_, i) =>
      JSON.stringify({ time: 1e12 + i * 1000, msg: 'sent', bytes: bytes / requests, port: i }),
    )
    return { name, bytes: lines.join('\n') }
  }
  const options = {
    exclude: ['sent*'],
    derive: {
      'bytes each': (of: (name: string) => number) => of('sent.bytes') * of('sent'),
      'seconds a message': (of: (name: string, feature: 'lastAbsolute') => number) =>
        of('sent', 'lastAbsolute') / 1e6,
      unknown: (of: (name: string) => number) => 1 / of('never'),
    },
  }
  const before = [log('a', 4, 100), log('b', 5, 100)]
  const logs = await loadLogs({ before, after: [log('c', 4, 300), log('d', 2, 300)] }, options)
  expect(logs.events.names).toEqual([])
  expect(logs.states.names).toEqual(['bytes each', 'seconds a message'])
  expect([...logs.states.of(0, 'mean')]).toEqual([100, 100, 300, 300])
  expect([...logs.states.of(1, 'mean')]).toEqual([3, 4, 3, 1])
  expect(compareLogs(logs).warnings()).toEqual([])
  const misspelt = await loadLogs({ before, after: before }, { exclude: ['sent.byte', 'sent'] })
  expect(compareLogs(misspelt).warnings()).toContainEqual({
    code: 'nothing-excluded',
    message: 'No variable is called "sent.byte", so nothing was excluded for it.',
    advice: {},
  })
})
