import { describe, expect, test } from 'vitest'
import type { Comparison } from '../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../src/comparison/snapshot.ts'
import { compareShops } from '../compare/findings/fixture.ts'
import { recordedCase } from '../recorded.ts'

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value))
const mutationsOf = ({ ranking }: Comparison) =>
  ranking.mutations.map(({ rank, category, kind, requests, contributionUs, precursors }) => ({
    rank,
    category,
    kind,
    requests,
    contributionUs,
    precursors,
  }))

describe('a comparison from its snapshot', async () => {
  const comparison = await recordedCase('mds-config')
  const restored = restoreComparison(throughJson(takeSnapshot(comparison)))

  test('has the same categories', () => {
    expect(restored.categories.table().objects()).toEqual(comparison.categories.table().objects())
  })

  test.each([
    {},
    { smPThreshold: 'auto' as const },
    { alpha: 0.001, correction: 'bh' as const, oneToN: false, editTokens: 'edges' as const },
    { omitHosts: true, alternative: 'slower' as const, centre: 'median' as const },
    { counts: 'scaled' as const },
  ])('gives the same ranking with %j', (options) => {
    const expected = mutationsOf(comparison.with(options))
    expect(expected.length).toBeGreaterThan(0)
    expect(mutationsOf(restored.with(options))).toEqual(expected)
  })
})

describe('what a snapshot takes along', () => {
  const comparison = compareShops({}, { payUs: 2600 })

  test('ids and arrivals if asked for', () => {
    const { flows } = restoreComparison(
      throughJson(takeSnapshot(comparison, { ids: true, arrivals: true })),
    )
    expect(flows.ids).toEqual(comparison.flows.ids)
    expect(flows.startUs).toEqual(comparison.flows.startUs)
    expect(restoreComparison(takeSnapshot(comparison)).flows.ids.slice(0, 2)).toEqual(['0', '1'])
  })

  test('latencies of chosen requests, so that their edges can be tested', () => {
    const { categories, responseTime } = comparison
    const [chosen, other] = [0, 1] as const
    const restored = restoreComparison(
      throughJson(
        takeSnapshot(comparison, {
          latenciesOf: (request) => categories.categoryOf[request] === chosen,
        }),
      ),
    )
    expect(restored.responseTime.edges(chosen)).toEqual(responseTime.edges(chosen))
    expect(restored.flows.latencies(categories.members(other, 0)[0] as number)).toHaveLength(0)
  })

  test('how spans ended', () => {
    const failing = compareShops({}, { failing: 0.2 })
    const { outcomes } = failing.flows
    const all = takeSnapshot(failing, { latenciesOf: () => true })
    const restored = restoreComparison(throughJson(all)).flows
    expect(Array.from({ length: failing.flows.size }, (_, i) => outcomes?.failing(i))).toEqual(
      Array.from({ length: restored.size }, (_, i) => restored.outcomes?.failing(i)),
    )
    expect(restored.outcomes?.kinds).toContainEqual({
      outcome: 'error',
      code: 'HTTP 503',
      message: 'no stock',
    })
    const { flows } = restoreComparison(throughJson(takeSnapshot(failing)))
    expect(flows.outcomes?.ofSpan).toEqual(outcomes?.roots().ofSpan)
  })

  test('labels of an own rule', () => {
    const label = ({ operation }: { operation: string }) => operation.slice(0, 3)
    const own = comparison.with({ label })
    const restored = restoreComparison(throughJson(takeSnapshot(own)))
    expect(restored.categories.structure(0).labels).toEqual(own.categories.structure(0).labels)
  })
})
