import { expect, test } from 'vitest'
import type { Categories } from '../../../src/compare/categories/categories.ts'
import type { Draft } from '../../../src/compare/findings/finding.ts'
import { segmentClause, withSegments } from '../../../src/compare/findings/segment-findings.ts'
import type { Segment } from '../../../src/compare/segments/segments.ts'
import { every, makeSpans, requestsAt } from '../../make-traces.ts'

const PRO = { step: null, callingOperation: null, text: 'tier = pro' }

test('calls that a segment is restricted to are named unless the title did', () => {
  const segment = {
    ...PRO,
    measure: 'time',
    operation: 'query',
    callingOperation: 'GET /orders',
  } as Segment
  const clause = (what: string) => segmentClause({ segment, steps: [], what })
  expect(clause('its work takes 5 ms longer')).toBe(
    ', only in query for GET /orders where tier = pro',
  )
  expect(clause('query itself takes 5 ms longer')).toBe(', only for GET /orders where tier = pro')
  expect(clause('query itself for GET /orders takes 5 ms longer')).toBe(', only where tier = pro')
})

test.each(['/shop.Cart/PutItem', 'GET /a or b', 'PUT /cart', 'a "b" and c'])(
  'what stands behind "only where" can be given as a condition: %s',
  (operation) => {
    const segment = { ...PRO, measure: 'errors', operation } as Segment
    const clause = segmentClause({ segment, steps: [], what: '' })
    const traces = makeSpans([
      ...requestsAt(every(1000, 3), { operation, attributes: { tier: 'pro' } }),
      ...requestsAt(every(1000, 2), { trace: 'other', attributes: { tier: 'pro' } }),
    ])
    expect(traces.where(clause.replace(/^, only where /, '')).size).toBe(3)
  },
)

test('a segment is told of the calls that the title names, not of others of the same finding', async () => {
  const of = (operation: string) => ({ service: 'mds', operation })
  const choice = (operation: string, called: string) => ({
    kind: 'calls' as const,
    of: of(operation),
    previous: null,
    call: { service: 'disk', operation: called },
  })
  const draft = {
    kind: 'structure',
    calls: [choice('put', 'write'), choice('get', 'read')],
    notes: [],
  } as unknown as Draft
  const side = { before: 10, after: 10, beforeMean: 0, afterMean: 1, change: 1, error: 0 }
  const segment = {
    measure: 'structure',
    step: null,
    text: 'tier = pro',
    inside: side,
    outside: { ...side, after: 30 },
    equivalents: [],
    shareOfChange: 1,
  } as unknown as Segment
  const oneRun = { flows: { runs: [0] } } as unknown as Categories
  const told = (call: Segment['call']) =>
    withSegments([draft], [{ ...segment, call }], oneRun).map(({ notes }) => notes)
  expect(told(choice('put', 'write'))).toEqual([
    ['10 of 40 requests with mds put meet it: 100 % of the change'],
  ])
  expect(told(choice('get', 'read'))).toEqual([[]])
})
