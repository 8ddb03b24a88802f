import { expect, test } from 'vitest'
import { compareHalves } from '../../evaluation/null-comparisons.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { randomSource } from '../../src/stats/random.ts'
import { makeGraphs } from '../make-traces.ts'

const random = randomSource(5)
const flows = buildFlows(
  makeGraphs(
    Array.from({ length: 400 }, (_, i) => {
      const latencyUs = [random.logNormal(5, 1), random.logNormal(4, 1)]
      return {
        labels: [`root ${i % 4}`, 'middle', 'end'],
        edges: [
          [0, 1],
          [1, 2],
        ] as const,
        latencyUs,
        responseTimeUs: (latencyUs[0] as number) + (latencyUs[1] as number),
      }
    }),
  ),
)

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

test('the same seed gives the same rates, another seed others', () => {
  const options = { comparisons: 20, edges: false }
  expect(compareHalves(flows, options)).toEqual(compareHalves(flows, options))
  expect(compareHalves(flows, { ...options, seed: 2 })).not.toEqual(compareHalves(flows, options))
})
