import { describe, expect, test } from 'vitest'
import { stepTimes } from '../../../src/compare/steps/step-times.ts'
import { testFarTimes } from '../../../src/compare/steps/tail-counts.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { type MinorityPeriod, minorityPeriod } from './minority-traces.ts'

const compared = (of: Partial<MinorityPeriod>, seed = 1, requests = 500) => {
  const noise = { sigma: 0.4 }
  const before = minorityPeriod('before', { requests, seed, noise, wander: of.wander ?? 0 })
  const after = minorityPeriod('after', { requests, noise, ...of, seed: seed + 1000 })
  return compare(before.traces, after.traces)
}
const farOf = ({ flows }: ReturnType<typeof compare>) => testFarTimes(flows, stepTimes(flows))

describe('a few calls that take far longer', () => {
  test('are one finding, of the service in which they do, too few as they are for a test of it alone', () => {
    const comparison = compared({ share: 0.02, factor: 30 })
    const far = farOf(comparison)
    expect(far?.step.service).toBe('s3')
    expect(far?.p).toBeLessThan(0.005)
    const [finding, ...others] = comparison.findings.findings
    expect(others).toEqual([])
    expect(finding?.services[0]).toBe('s3')
    expect(finding?.requests).toBeLessThan(30)
  })

  test('within one short stretch of time count once', () => {
    const far = farOf(compared({ share: 1, factor: 30, within: [0.5, 0.51] }))
    expect(far === null || far.p > 0.05).toBe(true)
  })

  test('which are as rare before are none', () => {
    const swapped = compared({}).flows
    expect(testFarTimes(swapped, stepTimes(swapped))?.p ?? 1).toBeGreaterThan(0.05)
  })
})

test('of periods alike, about 5 % have p below 0.05, also where levels wander', () => {
  for (const wander of [0, 0.2]) {
    const p = Array.from(
      { length: 60 },
      (_, seed) => farOf(compared({ wander }, seed, 150))?.p ?? 1,
    )
    expect(p.filter((one) => one < 0.05).length).toBeLessThanOrEqual(8)
  }
})
