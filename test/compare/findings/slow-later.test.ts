import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { HOSTS, period } from './five-services.ts'

test.each([0.4, 0.6])('a host that is slow from %d of the period on is one finding', (from) => {
  const slower = (_: string, host: string, { at }: { at: number }) =>
    host === HOSTS[1] && at >= from ? 1.6 : 1
  const { findings } = compare(period({ seed: 1 }), period({ seed: 2, slower })).findings
  expect(findings[0]?.title).toMatch(/^host = node-2: the work of \d services there/)
  expect(findings).toHaveLength(1)
})
