import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { findStructuralMutations } from '../../../src/compare/mutations/find-structural-mutations.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { call, record } from '../../worlds.ts'

const KINDS = ['plain', 'cached', 'retried'] as const

/**
 * A sample of one period: requests of one root and three structures, the rarest the most likely to
 * be recorded. `probabilities` of the three; `more` times as many of the rarest are there.
 */
function sampled(seed: number, probabilities: readonly number[], more = 1) {
  return record({ seed, requests: 3000, name: `${seed}` }, (r) => {
    const kind = r.is(0.1 * more) ? 2 : r.is(0.4) ? 1 : 0
    const probability = probabilities[kind]!
    if (!r.is(probability)) return false
    return call('web', 50, { probability }, [kind > 0 && call(KINDS[kind]!, 50)])
  })
}

const BEFORE_SHARES = [0.05, 0.05, 0.5]
const AFTER_SHARES = [0.1, 0.05, 0.2]
const ROUNDS = 60
const found = (
  seed: number,
  { more = 1, ...options }: Parameters<typeof findStructuralMutations>[1] & { more?: number },
) => {
  const periods = [sampled(2 * seed, BEFORE_SHARES), sampled(2 * seed + 1, AFTER_SHARES, more)]
  const structural = findStructuralMutations(
    categorize(buildFlows(periods as [never, never])),
    options,
  )
  return structural.mutations.length + structural.precursors.length
}
const rounds = (options: Parameters<typeof found>[1]) =>
  Array.from({ length: ROUNDS }, (_, seed) => found(seed, options)).filter((some) => some > 0)
    .length

describe('of two weighted samples whose probabilities differ by structure and period', {
  tags: ['full'],
}, () => {
  test('counts differ for no other reason than chance in at most one comparison of twenty', () => {
    // 0.05 × 60 = 3; 7 or more would come by chance once in thirty times.
    expect(rounds({ counts: 'weighted' })).toBeLessThan(7)
    expect(rounds({ counts: 'weighted', smPThreshold: 'auto' })).toBeLessThan(7)
    expect(rounds({ counts: 'raw', smPThreshold: 'auto' })).toBe(ROUNDS)
  }, 60_000)

  test('three times as many of a structure are found, by counts and by shares', () => {
    expect(rounds({ more: 3, counts: 'weighted' })).toBeGreaterThan(0.9 * ROUNDS)
    expect(rounds({ more: 3, counts: 'weighted', smPThreshold: 'auto' })).toBeGreaterThan(
      0.9 * ROUNDS,
    )
  }, 60_000)
})

test('of each request recorded, weighted tests and labels are those of raw counts', () => {
  const periods = [sampled(1, [1, 1, 1]), sampled(2, [1, 1, 1], 1.5)]
  const categories = categorize(buildFlows(periods as [never, never]))
  for (const smPThreshold of [20, 'auto'] as const) {
    const of = (counts: 'raw' | 'weighted') =>
      findStructuralMutations(categories, { counts, smPThreshold }).table().objects()
    expect(of('weighted')).toEqual(of('raw'))
  }
})

test('weighted shares are those of the weights: they are not rounded, and add up to 1', () => {
  const periods = [sampled(1, BEFORE_SHARES), sampled(2, AFTER_SHARES, 1.5)]
  const categories = categorize(buildFlows(periods as [never, never]))
  const { flows } = categories
  const tests = findStructuralMutations(categories, { counts: 'weighted', smPThreshold: 'auto' })
  const shares = Array.from({ length: categories.size }, (_, one) => tests.test(one))
  for (const [period, share] of [
    [0, shares.map(({ beforeShare }) => beforeShare)],
    [1, shares.map(({ afterShare }) => afterShare)],
  ] as const) {
    const sums = shares.map((_, one) =>
      categories.members(one, period).reduce((sum, request) => sum + flows.weightOf(request), 0),
    )
    const all = sums.reduce((sum, own) => sum + own, 0)
    const wanted = sums.map((own) => Number((own / all).toPrecision(12)))
    expect(share.map((own) => Number(own.toPrecision(12)))).toEqual(wanted)
  }
})
