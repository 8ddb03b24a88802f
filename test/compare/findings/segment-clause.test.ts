import { expect, test } from 'vitest'
import type { Categories } from '../../../src/compare/categories/categories.ts'
import type { Draft } from '../../../src/compare/findings/finding.ts'
import { withSegments } from '../../../src/compare/findings/segment-findings.ts'
import type { Segment } from '../../../src/compare/segments/segments.ts'
import type { StepChanges } from '../../../src/compare/steps/step-changes.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { segmentClause } from '../../../src/comparison/words/segment-words.ts'
import { every, makeSpans, requestsAt } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'

const PRO_TEXT = { text: 'tier = pro', conditions: [{ text: 'tier = pro' }] }
const PRO = { step: null, callingOperation: null, within: null, ...PRO_TEXT }

test('calls that a segment is restricted to are named unless the title did', () => {
  const segment = {
    ...PRO,
    measure: 'time',
    operation: 'query',
    callingOperation: 'GET /orders',
  } as unknown as Segment
  const clause = (what: string) => segmentClause({ segment, steps: [], what })
  expect(clause('its work takes 5 ms longer')).toBe(
    ', only in query for GET /orders where tier = pro',
  )
  expect(clause('query itself takes 5 ms longer')).toBe(', only for GET /orders where tier = pro')
  expect(clause('query itself for GET /orders takes 5 ms longer')).toBe(', only where tier = pro')
})

test('a segment that leaves much of the change to other requests holds most of it, not all', () => {
  const segment = { ...PRO, measure: 'time', operation: null } as unknown as Segment
  const clause = (shareOfChange: number) =>
    segmentClause({ segment: { ...segment, shareOfChange }, steps: [], what: '' })
  expect(clause(0.67)).toBe(', mostly where tier = pro')
  expect(clause(0.95)).toBe(', only where tier = pro')
})

test.each(['/shop.Cart/PutItem', 'GET /a or b', 'PUT /cart', 'a "b" and c'])(
  'what stands behind "only where" can be given as a condition: %s',
  (operation) => {
    const segment = { ...PRO, measure: 'errors', operation } as unknown as Segment
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
    made: [0, 10],
    chances: [40, 40],
  })
  const draft = {
    kind: 'structure',
    calls: [
      { ...choice('put', 'write'), made: [0, 30], chances: [40, 40] },
      { ...choice('put', 'append'), made: [26, 0], chances: [40, 40] },
      { ...choice('put', 'sync'), made: [0, 10], chances: [40, 40] },
      { ...choice('get', 'read'), made: [0, 30], chances: [40, 40] },
    ],
    steps: [],
    evidence: { of: 'calls' },
  } as unknown as Draft
  const side = { before: 10, after: 10, beforeMean: 0, afterMean: 1, change: 1, error: 0 }
  const segment = {
    measure: 'structure',
    step: null,
    within: null,
    ...PRO_TEXT,
    inside: side,
    outside: { ...side, after: 30 },
    equivalents: [],
    shareOfChange: 1,
  } as unknown as Segment
  const flows = { runs: [0] }
  const sources = {
    categories: { flows } as unknown as Categories,
    steps: { flows, steps: [] } as unknown as StepChanges,
  }
  const isTold = (call: Segment['call']) =>
    withSegments([draft], [{ ...segment, call }], sources).some((one) => one.segment !== undefined)
  expect(isTold(choice('put', 'write'))).toBe(true)
  // Instead of the other, in nearly as many requests.
  expect(isTold(choice('put', 'append'))).toBe(true)
  expect(isTold(choice('put', 'sync'))).toBe(false)
  expect(isTold(choice('get', 'read'))).toBe(false)
})

/** `catalog` is asked for three things; what is named takes 1.6 times as long after. */
function catalogs(...slower: readonly string[]) {
  const period = (seed: number, names: readonly string[]) =>
    record({ seed, requests: 1500, everyUs: 1e5, fromUs: seed * 1e10 }, (r) => {
      const operation = r.pick(['List', 'Get', 'Batch'])
      const us = r.about(names.includes(operation) ? 8000 : 5000, 0.3)
      const attributes = { 'rpc.method': operation, page: r.integer(4) }
      return call(`catalog ${operation}`, us, { attributes })
    })
  return compare(period(1, []), period(2, slower))
}

test('a condition that only tells the operations that changed from others is left out', () => {
  const { findings } = catalogs('List', 'Get').findings
  expect(findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^catalog: (List itself .*, as does Get|Get itself .*, as does List)$/),
  ])
})

test('a segment that its operation is all of says so in its text, too', () => {
  const { segments } = catalogs('List').segments
  const found = segments.find(({ conditions }) => conditions.length === 0)
  expect(found).toMatchObject({ operation: 'List', text: 'catalog operation = List' })
})
