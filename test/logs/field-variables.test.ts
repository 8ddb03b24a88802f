import { expect, test } from 'vitest'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { eventCounts, finalValues } from './readers/log-messages.ts'

const STATUS = [200, 503]
const line = (i: number) =>
  JSON.stringify({
    ...{ time: 1.7e12 + i, level: i % 4 === 0 ? 'error' : 'info', msg: 'request completed' },
    ...{
      status: STATUS[Number(i % 4 === 0)],
      route: i % 2 === 0 ? '/cart' : '/pay',
      version: '1.2',
    },
    ...{
      took: `${i}ms`,
      bytes: i * 1.5,
      request_id: `r${i}`,
      user: { id: i },
      tenant_id: `t${i % 2}`,
    },
    ...{ agent: `browser ${i}`, client_ip: '10.0.0.1', ...(i % 5 === 0 && { retried: true }) },
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
    ...{ effect: 'no variable', count: 40, example: 'r1' },
  })
})
