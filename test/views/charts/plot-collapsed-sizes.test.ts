import { expect, test } from 'vitest'
import { hdfsTraces } from '../../../datasets/hdfs-writes/hdfs-traces.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import { foldedSizesChart } from '../../../src/views/charts/explosion.ts'
import { makeSpans } from '../../make-traces.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { dataOf, expectDrawable } from './fixture.ts'

test('the largest flows come first, with their size as recorded and folded', () => {
  const flows = buildFlows(hdfsTraces({ writes: 6, others: 0, portions: 40 }))
  const chart = foldedSizesChart(foldFlows(flows))
  const values = dataOf(chart).flat() as Record<string, number>[]
  const [first] = values
  expect(first?.['recorded']).toBe(26 + 15 * 40)
  expect(first?.['folded']).toBe(41)
  expect(chart.description).toContain('626 nodes, folded 41')
  expectDrawable(chart)
})

test('names that attack are text, and what is left out is said', () => {
  const spans = Array.from({ length: 5 }, (_, i) => [
    { trace: `t${i}`, id: 'r', service: `${HOSTILE}${i}`, startUs: 0, endUs: 100 },
    ...Array.from({ length: 2 + i }, (_, k) => ({
      trace: `t${i}`,
      id: `c${k}`,
      parent: 'r',
      service: 'db',
      startUs: 5 + 10 * k,
      endUs: 10 + 10 * k,
    })),
  ]).flat()
  const chart = foldedSizesChart(foldFlows(buildFlows(makeSpans(spans))), { limit: 2 })
  expect(chart.description).toContain('Leaves out 3 smaller kinds.')
  expectDrawable(chart)
  expectDrawable(foldedSizesChart(foldFlows(buildFlows(makeSpans([])))))
  expect(() => foldedSizesChart(foldFlows(buildFlows(makeSpans(spans))), { limit: 0 })).toThrow(
    'Option limit is 0',
  )
})
