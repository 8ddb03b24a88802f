import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { minorityPeriod } from './minority-traces.ts'

describe('a service that becomes slow within after', () => {
  const noise = { sigma: 0.3 } as const
  const found = (within: readonly [number, number], seed: number) => {
    const before = minorityPeriod('b', { requests: 300, seed: 2 * seed, noise })
    const slow = { share: 1, factor: 2, within }
    const after = minorityPeriod('a', { requests: 300, seed: 2 * seed + 1, noise, ...slow })
    const [first] = compare(before.traces, after.traces).findings.findings
    return first?.kind === 'latency' && first.direction === 'slower' && first.services[0] === 's3'
  }

  test.each<[what: string, within: [number, number]]>([
    ['from its beginning', [0, 1]],
    ['after a fifth of it', [0.2, 1]],
    ['half-way', [0.5, 1]],
    ['and recovers half-way', [0, 0.5]],
  ])('%s is the first finding', (_, within) => {
    expect(found(within, 1)).toBe(true)
  })
})
