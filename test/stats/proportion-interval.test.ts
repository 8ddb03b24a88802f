import { expect, test } from 'vitest'
import { proportionInterval } from '../../src/stats/proportion-interval.ts'

// binom.test(x, n)$conf.int of R 4.3, and Clopper and Pearson by scipy.stats.binomtest.
test.each([
  [7, 20, 0.1539092, 0.5921885],
  [0, 20, 0, 0.1684335],
  [20, 20, 0.8315665, 1],
  [1, 1000, 0.00002531749, 0.005558924],
])('%d of %d lies from %d to %d', (successes, trials, low, high) => {
  const interval = proportionInterval(successes, trials)
  expect(interval[0]).toBeCloseTo(low, 7)
  expect(interval[1]).toBeCloseTo(high, 7)
})

test('nothing is known without trials, and more successes than trials are refused', () => {
  expect(proportionInterval(0, 0)).toEqual([0, 1])
  expect(() => proportionInterval(3, 2)).toThrow('successes is 3')
})
