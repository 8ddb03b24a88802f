import { describe, expect, test, vi } from 'vitest'
import { rankMutations } from '../../src/compare/ranking/rank-mutations.ts'
import {
  type Comparison,
  type ComparisonOptions,
  compare,
} from '../../src/comparison/comparison.ts'
import { around, chains, makeGraphs, makeSpans } from '../make-traces.ts'

const HIT = ['READ', 'HIT', 'REPLY']
const MISS = ['READ', 'MISS', 'DISK', 'REPLY']
const WRITE = ['WRITE', 'REPLY']

const before = makeGraphs(
  [
    ...chains(HIT, around(100, 100)),
    ...chains(MISS, around(1000, 20)),
    ...chains(WRITE, around(500, 40)),
  ],
  'before',
)
const after = makeGraphs(
  [
    ...chains(HIT, around(100, 40)),
    ...chains(MISS, around(1000, 80)),
    ...chains(WRITE, around(900, 40)),
  ],
  'after',
)

const STAGES = [
  'flows',
  'categories',
  'responseTime',
  'structural',
  'precursors',
  'ranking',
] as const

describe('compare', () => {
  test('finds, matches and ranks what changed', () => {
    const { ranking, categories } = compare(before, after)
    expect(
      ranking.mutations.map(({ rank, category, kind, requests, precursors }) => ({
        rank,
        kind,
        requests,
        precursors: precursors.length,
        root: categories.structure(category).root,
      })),
    ).toEqual([
      { rank: 1, kind: 'structural', requests: 60, precursors: 1, root: 'READ' },
      { rank: 2, kind: 'response-time', requests: 40, precursors: 0, root: 'WRITE' },
    ])
    const contributions = ranking.mutations.map(({ contributionUs }) => contributionUs)
    // 60 × (1000 − 100) and 40 × (900 − 500).
    expect(contributions[0]).toBeCloseTo(54_000, 6)
    expect(contributions[1]).toBeCloseTo(16_000, 6)
  })

  test('computes no stage before it is asked for', () => {
    const label = vi.fn(({ operation }: { operation: string }) => operation)
    const comparison = compare(before, after, { label })
    expect(comparison.flows.size).toBe(320)
    expect(comparison.with({ smPThreshold: 1 }).flows).toBe(comparison.flows)
    expect(label).not.toHaveBeenCalled()
    expect(comparison.categories.size).toBe(3)
    const calls = label.mock.calls.length
    expect(comparison.ranking.mutations).toHaveLength(2)
    expect(label).toHaveBeenCalledTimes(calls)
  })

  test('refuses periods of different kinds only when flows are asked for', () => {
    const mixed = compare(makeSpans([], 'spring'), makeGraphs([], 'autumn'))
    expect(() => mixed.flows).toThrow(
      'Period spring holds spans, period autumn holds graphs: these cannot be compared. ' +
        'Load both periods from the same kind of file.',
    )
  })

  test('refuses an unknown option and names the nearest', () => {
    const options = { smThreshold: 10 } as Partial<ComparisonOptions>
    const text = 'There is no option smThreshold. Did you mean smPThreshold?'
    expect(() => compare(before, after, options)).toThrow(text)
    expect(() => compare(before, after).with(options)).toThrow(text)
  })

  test.each<[Partial<ComparisonOptions>, string]>([
    [{ alpha: 1 }, 'Option alpha is 1. Give a level between 0 and 1.'],
    [
      { correction: 'bonferroni' as 'bh' },
      "Option correction is \"bonferroni\". Give 'none' or 'bh'.",
    ],
    [
      { smPThreshold: -1 },
      "Option smPThreshold is -1. Give a number of requests, 0 or more, or 'auto'.",
    ],
    [
      { counts: 'relative' as 'raw' },
      "Option counts is \"relative\". Give 'auto', 'raw', 'scaled' or 'weighted'.",
    ],
    [
      { editTokens: 'words' as 'edges' },
      "Option editTokens is \"words\". Give 'preorder' or 'edges'.",
    ],
  ])('refuses %o', (options, text) => {
    expect(() => compare(before, after, options).ranking).toThrow(text)
  })

  test('of empty periods finds nothing', () => {
    const comparison = compare(makeGraphs([]), makeGraphs([]))
    expect(comparison.ranking.mutations).toEqual([])
    expect(comparison.table().numRows()).toBe(0)
    expect(comparison.warnings().map(({ code }) => code)).toEqual(['small-periods'])
  })
})

describe('with', () => {
  const sharedStages = (one: Comparison, other: Comparison) =>
    STAGES.filter((stage) => one[stage] === other[stage])

  test.each<[Partial<ComparisonOptions>, readonly string[]]>([
    [{}, STAGES],
    [{ smPThreshold: 50 }, STAGES],
    [{ editTokens: 'edges' }, ['flows', 'categories', 'responseTime', 'structural']],
    [{ oneToN: false }, ['flows', 'categories', 'responseTime', 'structural']],
    [{ smPThreshold: 10 }, ['flows', 'categories', 'responseTime']],
    [{ counts: 'scaled' }, ['flows', 'categories', 'responseTime']],
    [{ alpha: 0.01 }, ['flows', 'categories', 'structural', 'precursors']],
    [{ alternative: 'slower' }, ['flows', 'categories', 'structural', 'precursors']],
    [{ correction: 'bh' }, ['flows', 'categories', 'structural', 'precursors']],
    [{ method: 'exact' }, ['flows', 'categories', 'structural', 'precursors']],
    [{ omitHosts: true }, ['flows']],
    [{ label: ({ operation }) => operation }, ['flows']],
    [{ concurrency: 'observed' }, []],
    [{ slackUs: 2 }, []],
    [{ fold: 'exact' }, []],
    [{ alpha: 0.01, editTokens: 'edges' }, ['flows', 'categories', 'structural']],
  ])('%o shares the stages it does not reach: %o', (changes, expected) => {
    const comparison = compare(before, after)
    expect(sharedStages(comparison, comparison.with(changes))).toEqual(expected)
  })

  test('shares a stage that was not computed yet, whichever asks first', () => {
    const comparison = compare(before, after)
    const changed = comparison.with({ smPThreshold: 10 })
    const { categories } = changed
    expect(comparison.categories).toBe(categories)
  })

  test('leaves the comparison it comes from as it was', () => {
    const comparison = compare(before, after)
    const { ranking } = comparison
    comparison.with({ smPThreshold: 70 })
    expect(comparison.options.smPThreshold).toBe(50)
    expect(comparison.ranking).toBe(ranking)
  })

  test.each([0, 10, 59, 60, 100])(
    'smPThreshold %d gives what a fresh comparison gives',
    (value) => {
      const slid = compare(before, after).with({ smPThreshold: 200 }).with({ smPThreshold: value })
      const fresh = compare(before, after, { smPThreshold: value })
      expect(slid.options).toEqual(fresh.options)
      expect(slid.ranking.mutations).toEqual(fresh.ranking.mutations)
      expect(slid.structural.table().objects()).toEqual(fresh.structural.table().objects())
      expect(slid.precursors.table().objects()).toEqual(fresh.precursors.table().objects())
    },
  )
})

describe('rankMutations', () => {
  test('refuses stages from different categories', () => {
    const [one, other] = [compare(before, after), compare(before, after)]
    expect(() => rankMutations(one.responseTime, other.precursors)).toThrow(
      'The response-time and the structural mutations come from different categories. ' +
        'Find both from one `categorize` result.',
    )
  })
})
