import { expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compareVariances } from '../../../src/explain/variance/find-variance.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeGraphs } from '../../make-traces.ts'

/** 20 kinds of requests, 12 of each, with response times of mean 100 and the given spread. */
function period(spreadUs: number, seed: number, perKind = 12) {
  const random = randomSource(seed)
  return makeGraphs(
    Array.from({ length: 20 * perKind }, (_, i) => {
      const responseTimeUs = 100 + spreadUs * (random.next() - 0.5)
      return {
        labels: [`root ${i % 20}`, 'end'],
        edges: [[0, 1]] as const,
        latencyUs: [responseTimeUs],
        responseTimeUs,
      }
    }),
  )
}

const categoriesOf = (...spreads: [number, number]) =>
  categorize(buildFlows([period(spreads[0], 1), period(spreads[1], 2)]))

test('equal spreads are not rejected', () => {
  const { p, beforeCount, afterCount } = compareVariances(categoriesOf(20, 20))
  expect([beforeCount, afterCount]).toEqual([20, 20])
  expect(p).toBeGreaterThan(0.05)
})

test('three times the spread is', () => {
  expect(compareVariances(categoriesOf(20, 60)).p).toBeLessThan(1e-6)
})

test('categories of ten requests or fewer do not count', () => {
  const small = categorize(buildFlows([period(20, 1, 10), period(20, 2, 10)]))
  expect(compareVariances(small)).toMatchObject({ beforeCount: 0, testable: false })
})
