import { expect, test } from 'vitest'
import { compareHalves } from '../../evaluation/null-comparisons.ts'
import { flows } from './two-edge-flows.ts'

test('halves of one period are rarely rejected', () => {
  const rates = compareHalves(flows, { comparisons: 20 })
  expect([rates.testableCategories, rates.testableEdges]).toEqual([80, 160])
  const standardError = Math.sqrt((0.05 * 0.95) / rates.testableCategories)
  expect(rates.categoryRejectionRate).toBeLessThan(0.05 + 3 * standardError)
})

test('the same seed gives the same rates, another seed others', () => {
  const options = { comparisons: 20, edges: false }
  expect(compareHalves(flows, options)).toEqual(compareHalves(flows, options))
  expect(compareHalves(flows, { ...options, seed: 2 })).not.toEqual(compareHalves(flows, options))
})
