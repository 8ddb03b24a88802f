import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Comparison,
  type ComparisonOptions,
  compare,
} from '../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../src/comparison/snapshot.ts'
import { shopPeriod } from '../compare/findings/fixture.ts'
import { recordedCase } from '../recorded.ts'

/** Random options of the stages after `flows`, each given or not. */
const laterOptions: fc.Arbitrary<Partial<ComparisonOptions>> = fc.record(
  {
    omitHosts: fc.boolean(),
    alpha: fc.constantFrom(0.05, 0.01, 0.2),
    alternative: fc.constantFrom('two-sided', 'slower', 'faster'),
    correction: fc.constantFrom('none', 'bh'),
    test: fc.constantFrom('ks', 'mann-whitney'),
    smPThreshold: fc.constantFrom<number | 'auto'>(50, 5, 0, 'auto'),
    findingsThreshold: fc.constantFrom<number | 'auto'>('auto', 10, 50),
    counts: fc.constantFrom('raw', 'scaled'),
    oneToN: fc.boolean(),
    editTokens: fc.constantFrom('preorder', 'edges'),
    centre: fc.constantFrom('mean', 'median', 'trimmed'),
    rankBy: fc.constantFrom('mutation', 'category'),
    minimumEffect: fc.constantFrom(0.03, 0, 0.2),
  },
  { requiredKeys: [] },
)

/** The same with those of `flows`. */
export const allOptions: fc.Arbitrary<Partial<ComparisonOptions>> = fc
  .tuple(
    laterOptions,
    fc.record(
      {
        concurrency: fc.constantFrom('learned', 'observed', 'none'),
        fold: fc.constantFrom('none', 'exact', 'log2'),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([later, flows]) => ({ ...later, ...flows }))

/** All that a comparison says: every table, and every finding and rank with what hangs on it. */
export function everything(comparison: Comparison) {
  const { categories, responseTime, structural, precursors, evidence, ranking, edges } = comparison
  const { segments, findings, account } = comparison
  const tested = { responseTime, structural, precursors, evidence, ranking, edges, segments }
  const stages = { categories, ...tested }
  const tables = Object.entries(stages).map(([name, stage]) => [name, stage.table().objects()])
  return {
    tables: Object.fromEntries(tables),
    account: account.table().objects(),
    mutations: ranking.mutations.map(({ precursors, ...mutation }) => ({
      ...mutation,
      precursors,
      edges: responseTime.edgeTable(mutation.category).objects(),
    })),
    findings: findings.findings.map(({ mutations, ...finding }) => ({
      ...finding,
      mutations: mutations.map(({ rank }) => rank),
    })),
    findingsTable: findings.table().objects(),
    text: findings.text(),
  }
}

const ALL_PARTS = { arrivals: true, ids: true, latenciesOf: () => true }

export function restored(comparison: Comparison): Comparison {
  return restoreComparison(JSON.parse(JSON.stringify(takeSnapshot(comparison, ALL_PARTS))))
}

/** How findings and the ranked list must relate, being two views of one evidence. */
export function expectAgreement({ ranking, findings, claims }: Comparison) {
  const keyOf = ({ category, kind }: { category: number; kind: string }) => `${category} ${kind}`
  const accounted = new Set(claims.map(keyOf))
  for (const mutation of ranking.mutations) {
    expect(mutation.significant).toBe(accounted.has(keyOf(mutation)))
  }
  const told = findings.findings.flatMap((finding) => [finding, ...finding.consequences])
  const claimed = told.flatMap(({ mutations }) => mutations.map(keyOf))
  expect(new Set(claimed).size).toBe(claimed.length)
  if (findings.omitted > 0) return
  const significant = ranking.mutations.filter((mutation) => mutation.significant)
  expect(claimed.sort()).toEqual(significant.map(keyOf).sort())
}

/** Tests comparisons of recorded and of made periods; `recorded` are cases of the storage service. */
export async function testSameResults(recorded: readonly string[]): Promise<void> {
  const periods = await Promise.all(
    recorded.map(async (name) => {
      const { before, after } = await recordedCase(name)
      return [before, after] as const
    }),
  )
  const shops = [
    [shopPeriod({ archive: 0.1 }), shopPeriod({ archive: 0.4, payUs: 2600, seed: 2 })],
    [shopPeriod(), shopPeriod({ stockUs: 1300, requests: 200, seed: 2 })],
  ] as const
  const cases = fc.constantFrom(...shops, ...periods)

  test('a fresh comparison, one changed by `with` and one restored from its snapshot agree', () => {
    fc.assert(
      fc.property(cases, allOptions, ([before, after], options) => {
        const fresh = compare(before, after, options)
        const expected = everything(fresh)
        expectAgreement(fresh)
        expect(everything(compare(before, after).with(options))).toEqual(expected)
        expect(everything(restored(fresh))).toEqual(expected)
      }),
      { numRuns: 6 },
    )
  })

  test('a restored comparison given other options agrees with a fresh one', () => {
    fc.assert(
      fc.property(cases, laterOptions, ([before, after], options) => {
        const expected = everything(compare(before, after, options))
        expect(everything(restored(compare(before, after)).with(options))).toEqual(expected)
      }),
      { numRuns: 4 },
    )
  })
}
