import { sum } from 'd3-array'
import { expect, test } from 'vitest'
import { compare } from '../../src/compare/comparison.ts'
import { findSubmitters } from '../../src/explain/submitters.ts'
import { plot } from '../../src/index.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

/** Tenants `a` and `b` share a `store`; each request of `b` asks it so many times. */
function period(asksOfB: number) {
  const spans = Array.from({ length: 120 }, (_, i): SpanSketch[] => {
    const trace = `${asksOfB}-${i}`
    const tenant = i % 3 === 0 ? 'b' : 'a'
    const startUs = 100_000 * i
    const asks = tenant === 'b' ? asksOfB : 1
    const calls = Array.from({ length: asks }, (_, k): SpanSketch => {
      const begins = startUs + 100 + 1100 * k
      return {
        trace,
        id: `s${k}`,
        parent: 'w',
        service: 'store',
        operation: 'read',
        startUs: begins,
        endUs: begins + 1000,
      }
    })
    const web = { trace, id: 'w', service: 'web', operation: `GET /${tenant}`, startUs }
    return [{ ...web, endUs: startUs + 200 + 1100 * asks, attributes: { tenant } }, ...calls]
  })
  return makeSpans(spans.flat())
}

const comparison = compare(period(1), period(4))

test.each([
  ['tenant', 'b'],
  [null, 'web GET /b'],
])('by %s, who asks more causes more work', (by, name) => {
  const { submitters } = findSubmitters(comparison, 'store', { by })
  expect(submitters[0]).toMatchObject({
    submitter: name,
    before: { requests: 40, calls: 40, waitedUs: 1000 },
    after: { requests: 40, calls: 160, waitedUs: 4000 },
  })
  expect(submitters[0]?.before.causedShare).toBeCloseTo(1 / 3)
  expect(submitters[0]?.after.causedShare).toBeCloseTo(2 / 3)
  expect(submitters[1]?.after).toMatchObject({ calls: 80, waitedUs: 1000 })
})

test('work of all submitters adds up to that for a mean request', () => {
  const { submitters } = findSubmitters(comparison, 'store')
  expect(sum(submitters, ({ after }) => after.causedUs)).toBeCloseTo(2000)
  expect(sum(submitters, ({ after }) => after.causedShare)).toBeCloseTo(1)
})

test('a chart names whose requests make it work most', () => {
  expect(plot(findSubmitters(comparison, 'store', { by: 'tenant' })).description).toContain(
    'Most changed: b, 333 µs → 1.33 ms.',
  )
})

test('an attribute that roots do not have is refused with those there are', () => {
  expect(() => findSubmitters(comparison, 'store', { by: 'tenants' })).toThrow(
    "Did you mean 'tenant'?",
  )
})
