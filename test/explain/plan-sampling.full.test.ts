import { expect, test } from 'vitest'
import { compare } from '../../src/compare/comparison.ts'
import { planSampling } from '../../src/explain/plan-sampling.ts'
import { mailPeriod } from './plan-world.ts'

const WINDOWS = 200

/** Share of simulated pairs of periods with so many requests in which a finding names the step. */
function foundIn(requests: number, slowerUs: number): number {
  let found = 0
  for (let i = 0; i < WINDOWS; i++) {
    const before = mailPeriod({ requests, seed: 1000 + 2 * i })
    const after = mailPeriod({ requests, seed: 1001 + 2 * i, slowerUs })
    const { findings } = compare(before, after).findings
    if (findings.some((one) => one.services[0] === 'db' && one.direction === 'slower')) found++
  }
  return found / WINDOWS
}

test.each([1000, 2000])(
  'as many requests as planned find %i µs in three of four simulated pairs of periods, half as many in fewer than six of ten',
  { timeout: 600_000 },
  (shiftUs) => {
    const recording = mailPeriod({ requests: 3000, seed: 99 })
    const [db] = planSampling(recording, { shiftUs, service: 'db' }).steps
    const needed = db?.needed ?? Number.NaN
    expect(foundIn(needed, shiftUs)).toBeGreaterThanOrEqual(0.75)
    expect(foundIn(Math.round(needed / 2), shiftUs)).toBeLessThan(0.6)
  },
)
