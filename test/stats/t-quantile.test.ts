import { expect, test } from 'vitest'
import { tQuantile } from '../../src/stats/distributions.ts'

test.each([
  [0.05, 3, 3.1824463052837086],
  [0.5, 10, 0.6998120613124317],
  [1e-6, 1.5, 8285.391195025039],
  [1e-12, 2, 999999.9999992499],
  [1e-9, 1, 636619772.3675814],
  [1e-20, 4, 156508.45799667967],
])('the t of p = %d at %d degrees of freedom is that of scipy.stats.t.isf(p / 2)', (p, df, t) => {
  expect(tQuantile(p, df) / t).toBeCloseTo(1, 9)
})

test('is 0 for p = 1, and unknown without degrees of freedom', () => {
  expect(tQuantile(1, 5)).toBe(0)
  expect(tQuantile(0.05, 0)).toBeNaN()
})
