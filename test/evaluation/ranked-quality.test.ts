import { expect, test } from 'vitest'
import { rankedQuality } from '../../evaluation/ranked-quality.ts'

test('an empty list has nothing to divide by', () => {
  expect(rankedQuality([], { requests: 5, covered: 0 })).toEqual({
    results: 0,
    top10RelevantPct: null,
    falsePositivesPct: null,
    coveragePct: 0,
    ndcg: null,
    firstRelevantRank: null,
  })
})

test('a list shorter than ten is judged by its length', () => {
  expect(rankedQuality([true, false, true, true], null)).toMatchObject({
    results: 4,
    top10RelevantPct: 75,
    falsePositivesPct: 25,
    coveragePct: null,
    firstRelevantRank: 1,
  })
})

test('of a longer list the first ten count for the top, all for false positives', () => {
  const relevant = [...Array(10).fill(true), ...Array(10).fill(false)]
  expect(rankedQuality(relevant, null)).toMatchObject({
    top10RelevantPct: 100,
    falsePositivesPct: 50,
  })
})

test('nDCG discounts from the second result on: rel₀ + Σ relᵢ / log₂(i + 1), i from 0', () => {
  // 0 + 1/log₂2 + 0 + 1/log₂4 = 1.5, ideally 1 + 1/log₂2 = 2.
  expect(rankedQuality([false, true, false, true], null).ndcg).toBeCloseTo(0.75, 12)
  expect(rankedQuality([true, true, false], null).ndcg).toBe(1)
  expect(rankedQuality([false, false], null).ndcg).toBeNull()
})

test('the rank of the first relevant result counts from 1', () => {
  expect(rankedQuality([false, false, true], null).firstRelevantRank).toBe(3)
})

test('coverage is the share of affected requests that relevant results hold', () => {
  expect(rankedQuality([true], { requests: 8, covered: 6 }).coveragePct).toBe(75)
  expect(rankedQuality([true], { requests: 0, covered: 0 }).coveragePct).toBeNull()
})
