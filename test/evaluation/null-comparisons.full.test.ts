import { expect, test } from 'vitest'
import { compareHalves } from '../../evaluation/null-comparisons.ts'
import { flows } from './two-edge-flows.ts'

test('halves of one period are rejected as often as the level says, within three standard errors', () => {
  const rates = compareHalves(flows, { comparisons: 200 })
  expect(rates.testableCategories).toBe(800)
  const standardError = Math.sqrt((0.05 * 0.95) / rates.testableCategories)
  expect(rates.categoryRejectionRate).toBeLessThan(0.05 + 3 * standardError)
  expect(rates.categoryRejectionRate).toBeGreaterThan(0.01)
  expect(rates.testableEdges).toBe(1600)
})

test('with Benjamini-Hochberg, few comparisons find anything', () => {
  const rates = compareHalves(flows, { comparisons: 200, correction: 'bh' })
  expect(rates.anyFindingRate).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / 200))
})
