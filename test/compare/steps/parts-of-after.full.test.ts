import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { minorityPeriod } from './minority-traces.ts'

test('of 100 pairs of periods that wander by 10 %, at most 5 have findings', () => {
  const wandering = { requests: 200, noise: { sigma: 0.3 }, wander: 0.1, kept: 0.5 } as const
  let alarms = 0
  for (let seed = 0; seed < 100; seed++) {
    const [before, after] = [
      minorityPeriod('b', { ...wandering, seed: 2 * seed }),
      minorityPeriod('a', { ...wandering, seed: 2 * seed + 1 }),
    ]
    if (compare(before.traces, after.traces).findings.findings.length > 0) alarms++
  }
  expect(alarms).toBeLessThanOrEqual(5)
})
