import { expect, test } from 'vitest'
import { compare } from '../../../src/index.ts'
import { type MinorityPeriod, minorityPeriod } from './minority-traces.ts'

const RUNS = 60

test.each<Pick<MinorityPeriod, 'noise' | 'wander' | 'kept'> & { name: string; seed: number }>([
  { name: 'light tails', noise: { sigma: 0.3 }, seed: 1000 },
  { name: 'log-normal times of sigma 1.5', noise: { sigma: 1.5 }, seed: 2000 },
  { name: 'Pareto times of infinite variance', noise: { pareto: 1.8 }, seed: 3000 },
  { name: 'load that wanders', noise: { pareto: 1.8 }, wander: 0.3, kept: 0.5, seed: 4000 },
])('of periods alike with $name, at most 5 % report anything', ({ name, seed, ...how }) => {
  let reporting = 0
  for (let run = 0; run < RUNS; run++) {
    const draw = (period: number) =>
      minorityPeriod(`p${period}`, { requests: 300, seed: seed + 2 * run + period, ...how }).traces
    if (compare(draw(0), draw(1)).findings.findings.length > 0) reporting++
  }
  console.log(`${name}: ${reporting} of ${RUNS} comparisons report something`)
  expect(reporting / RUNS).toBeLessThanOrEqual(0.05 + 3 * Math.sqrt((0.05 * 0.95) / RUNS))
})
