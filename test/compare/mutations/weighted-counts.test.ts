import { expect, test } from 'vitest'
import { COMPARISON_DOCUMENT } from '../../../src/cli/comparison-document.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { findStructuralMutations } from '../../../src/compare/mutations/find-structural-mutations.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { every, makeSpans, requestsAt } from '../../make-traces.ts'

const sampled = (count: number, probability?: number) =>
  makeSpans(requestsAt(every(1000, count), { ...(probability !== undefined && { probability }) }))
const changes = (before: [number, number?], after: [number, number?], counts: 'raw' | 'weighted') =>
  Array.from(
    findStructuralMutations(categorize(buildFlows([sampled(...before), sampled(...after)])), {
      counts,
    }).changes,
  )

test('weighted counts are sums of 1 / probability', () => {
  expect(changes([10, 0.5], [10, 0.1], 'weighted')).toEqual([80])
  expect(changes([10, 0.5], [10, 0.1], 'raw')).toEqual([0])
})

test('without weights they are the raw counts', () => {
  expect(changes([10], [25], 'weighted')).toEqual(changes([10], [25], 'raw'))
})

test('a request without a weight counts once', () => {
  expect(changes([10], [10, 0.1], 'weighted')).toEqual([90])
})

test('documents have the requests that were recorded, and those that they stand for', () => {
  const documentOf = (probability?: number) =>
    COMPARISON_DOCUMENT.write({
      comparison: compare(sampled(10, probability), sampled(30, probability)),
      limit: 10,
      budget: 0,
      explained: null,
    })
  const requests = { before: 10, after: 30 }
  expect(documentOf(0.1)).toMatchObject({ requests, requestsStoodFor: { before: 100, after: 300 } })
  expect(documentOf()).toMatchObject({ requests })
  expect(documentOf()['requestsStoodFor']).toBeUndefined()
})
