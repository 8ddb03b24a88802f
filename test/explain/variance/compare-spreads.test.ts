import { expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compareSpreads, compareVariances } from '../../../src/explain/variance/compare-spreads.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { chains, makeGraphs } from '../../make-traces.ts'

/** Two kinds of request: reads of mean 100, writes of mean 500; writes spread as told. */
function period(writeSpreadUs: number, { seed = 1, shiftUs = 0, count = 60 } = {}) {
  const random = randomSource(seed)
  const times = (meanUs: number, spreadUs: number) =>
    Array.from({ length: count }, () => meanUs + shiftUs + spreadUs * (random.next() - 0.5))
  return makeGraphs([
    ...chains(['read', 'end'], times(100, 20)),
    ...chains(['write', 'end'], times(500, writeSpreadUs)),
  ])
}

const spreads = (...periods: [ReturnType<typeof period>, ReturnType<typeof period>]) =>
  compareSpreads(categorize(buildFlows(periods)))

test('the category that spreads further is found, with its direction; the other is not', () => {
  const { changed, tests } = spreads(period(20), period(200, { seed: 2 }))
  expect(changed.map(({ category, test }) => [category, test.direction])).toEqual([[1, 'wider']])
  expect(tests.length).toBe(2)
})

test('swapping the periods makes it narrower', () => {
  const { changed } = spreads(period(200), period(20, { seed: 2 }))
  expect(changed.map(({ test }) => test.direction)).toEqual(['narrower'])
})

test('a shift alone is no difference', () => {
  expect(spreads(period(20), period(20, { shiftUs: 300 })).changed).toEqual([])
})

test('categories of ten requests or fewer are not compared', () => {
  expect(spreads(period(20, { count: 10 }), period(200, { count: 99 })).tests).toEqual([])
})

test('over all categories it is compareVariances', () => {
  const categories = categorize(buildFlows([period(20), period(200, { seed: 2 })]))
  expect(compareSpreads(categories).overall).toEqual(compareVariances(categories))
})

test('options are checked', () => {
  const categories = categorize(buildFlows([period(20), period(20)]))
  expect(() => compareSpreads(categories, { alpha: 1 })).toThrow('Option alpha is 1.')
  expect(() => compareSpreads(categories, { large: Number.NaN })).toThrow('Option large is NaN.')
  expect(() => compareSpreads(categories, { lrge: 3 } as object)).toThrow('no option lrge')
})
