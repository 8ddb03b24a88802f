import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { minorityPeriod } from './minority-traces.ts'

// Without parts of after, 6 of 100: the price of changes that begin within after.
test('periods of 100 pairs that wander by 10 % have findings in 13, no more', () => {
  const wandering = { requests: 200, noise: { sigma: 0.3 }, wander: 0.1, kept: 0.5 } as const
  let alarms = 0
  for (let seed = 0; seed < 100; seed++) {
    const [before, after] = [
      minorityPeriod('b', { ...wandering, seed: 2 * seed }),
      minorityPeriod('a', { ...wandering, seed: 2 * seed + 1 }),
    ]
    if (compare(before.traces, after.traces).findings.findings.length > 0) alarms++
  }
  expect(alarms).toBeLessThanOrEqual(13)
})
