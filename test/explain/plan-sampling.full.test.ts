import { expect, test } from 'vitest'
import { compare } from '../../src/compare/comparison.ts'
import { planSampling } from '../../src/explain/plan-sampling.ts'
import { mailPeriod } from './plan-world.ts'

const WINDOWS = 200

type Service = 'db' | 'mail'

/** Share of simulated pairs of periods with so many requests in which a finding names the step. */
function foundIn(requests: number, slower: { slowerUs: number; service: Service }): number {
  let found = 0
  for (let i = 0; i < WINDOWS; i++) {
    const before = mailPeriod({ requests, seed: 1000 + 2 * i })
    const after = mailPeriod({ requests, seed: 1001 + 2 * i, ...slower })
    const { findings } = compare(before, after).findings
    const isFound = findings.some(
      (one) => one.services[0] === slower.service && one.direction === 'slower',
    )
    if (isFound) found++
  }
  return found / WINDOWS
}

test.each<[Service, number]>([
  ['db', 1000],
  ['db', 2000],
  ['db', 4000],
  ['db', 8000],
  ['mail', 1500],
  ['mail', 4000],
])(
  'as many requests as planned find %s slower by %i µs in three of four simulated pairs of periods, half as many in fewer than six of ten',
  { timeout: 600_000 },
  (service, shiftUs) => {
    const recording = mailPeriod({ requests: 3000, seed: 99 })
    const plan = planSampling(recording, { shiftUs, service })
    const slower = { slowerUs: shiftUs, service }
    const requests = Math.round(plan.rate(0) * plan.allRequests)
    expect(foundIn(requests, slower)).toBeGreaterThanOrEqual(0.75)
    expect(foundIn(Math.round(requests / 2), slower)).toBeLessThan(0.6)
  },
)
