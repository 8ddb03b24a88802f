import { expect, test } from 'vitest'
import { segmentClause } from '../../../src/compare/findings/segment-findings.ts'
import type { Segment } from '../../../src/compare/segments/segments.ts'
import { every, makeSpans, requestsAt } from '../../make-traces.ts'

test.each(['/shop.Cart/PutItem', 'GET /a or b', 'PUT /cart', 'a "b" and c'])(
  'what stands behind "only where" can be given as a condition: %s',
  (operation) => {
    const segment = { measure: 'errors', operation, step: null, text: 'tier = pro' } as Segment
    const clause = segmentClause({ segment, steps: [], what: '' })
    const traces = makeSpans([
      ...requestsAt(every(1000, 3), { operation, attributes: { tier: 'pro' } }),
      ...requestsAt(every(1000, 2), { trace: 'other', attributes: { tier: 'pro' } }),
    ])
    expect(traces.where(clause.replace(/^, only where /, '')).size).toBe(3)
  },
)
