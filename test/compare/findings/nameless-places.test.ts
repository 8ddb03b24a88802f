import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { chains, makeGraphs } from '../../make-traces.ts'

test('where no host or service is named, the finding names none', () => {
  const period = (us: number) =>
    makeGraphs(
      chains(
        ['A', 'B'],
        Array.from({ length: 60 }, (_, i) => us + i / 10),
      ),
    )
  const [finding] = compare(period(100), period(200)).findings.findings
  expect(finding?.services).toEqual([])
  expect(finding?.look).toBe('the work between these two points')
})
