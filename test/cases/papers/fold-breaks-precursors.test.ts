import { expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { makeSpans } from '../../make-traces.ts'
import { recordedCase } from '../../recorded.ts'
import { describeWithShared } from '../../shared.ts'
import { paperCase, period, type Request, some } from './sketches.ts'

const structuralUs = ({ ranking }: Comparison) =>
  ranking.mutations.reduce(
    (sum, { kind, contributionUs }) => sum + (kind === 'structural' ? contributionUs : 0),
    0,
  )

describeWithShared('CREATEs that loop four times instead of once', () => {
  test.each(['none', 'exact', 'log2'] as const)('are found with fold: %s', async (fold) => {
    const comparison = compare(...(await paperCase('fold-breaks-precursors')), { fold })
    const [finding, ...others] = comparison.findings.findings
    expect(others).toEqual([])
    expect(finding?.title).toBe('CREATE_CALL DEFAULT: requests do RPC DEFAULT 4 times instead of 1')
    expect(finding?.shareOfChange).toBeGreaterThan(0.95)
    expect(comparison.ranking.mutations.map(({ precursors }) => precursors.length)).toEqual([1])
  })
})

/** Scans that read `rounds` pages, one after the other. */
const scan = (rounds: number): Request => ({
  steps: [
    ['SCAN', 0],
    ...some(rounds, () => [['SEEK', 20] as const, ['PAGE', 80] as const]).flat(),
    ['DONE', 5],
  ],
})

test('scans that read seven pages instead of three are found, folded or not', () => {
  const before = period([...some(180, () => scan(3)), ...some(20, () => scan(7))], 1)
  const after = period([...some(60, () => scan(3)), ...some(140, () => scan(7))], 2)
  for (const fold of ['none', 'exact', 'log2'] as const) {
    const { findings } = compare(before, after, { fold }).findings
    expect(findings.map(({ title }) => title)).toEqual([
      'SCAN: requests do SEEK 7 times instead of 3',
    ])
  }
})

test('where sizes share a category, steps are told by how often they come on average', () => {
  const before = period([...some(180, (i) => scan(2 + (i % 2))), ...some(20, () => scan(5))], 1)
  const after = period([...some(60, (i) => scan(2 + (i % 2))), ...some(140, () => scan(5))], 2)
  const { findings } = compare(before, after, { fold: 'log2' }).findings
  expect(findings.map(({ title }) => title)).toEqual([
    'SCAN: requests do SEEK 5 times instead of 2.5 on average',
  ])
})

test('requests of another tenant may be precursors: labels differ by it, kinds do not', () => {
  const calls = (free: number, gold: number) =>
    makeSpans(
      some(free + gold, (i) => ({
        trace: `t${i}`,
        id: 'web',
        startUs: 0,
        endUs: (i < free ? 100 : 500) + (i % 7),
        attributes: { tenant: i < free ? 'free' : 'gold' },
      })),
    )
  const comparison = compare(calls(180, 20), calls(60, 140), { labelBy: ['tenant'] })
  const [mutation] = comparison.ranking.mutations
  expect(mutation?.precursors).toEqual([{ category: 0, nsed: 1, weight: 1 }])
  expect(mutation?.contributionUs).toBeGreaterThan(120 * 390)
})

test.each(['mds-prefetch', 'create-behaviour'])(
  '%s contributes as much folded as unfolded',
  { tags: 'full' },
  async (name) => {
    const comparison = await recordedCase(name)
    const us = structuralUs(comparison)
    expect(us).toBeGreaterThan(300_000)
    expect(Math.abs(structuralUs(comparison.with({ fold: 'exact' })) / us - 1)).toBeLessThan(0.05)
  },
)
