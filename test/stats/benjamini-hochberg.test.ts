import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { correctedBySize } from '../../src/stats/benjamini-hochberg.ts'
import { benjaminiHochberg } from '../../src/stats/index.ts'
import { randomSource } from '../../src/stats/random.ts'
import { describeWithShared, sharedJson } from '../shared.ts'
import { expectRelative } from './expect-relative.ts'

describeWithShared('Benjamini-Hochberg against R', () => {
  const cases = sharedJson<{ p: number[]; bh: number[] }[]>('oracles/bh.json')

  test.each(cases.map(({ p, bh }, i) => ({ p, bh, i })))('family $i', ({ p, bh }) => {
    const q = benjaminiHochberg(Object.freeze(p))
    expect(q).toHaveLength(bh.length)
    for (const [i, expected] of bh.entries()) expectRelative(q[i] ?? Number.NaN, expected, 1e-14)
  })
})

describe('Benjamini-Hochberg', () => {
  test('a test that was not performed has no q and does not count', () => {
    expect([...benjaminiHochberg([0.01, 0.04, Number.NaN, 0.02])]).toEqual([
      0.03,
      0.04,
      Number.NaN,
      0.03,
    ])
  })

  test('an empty family, or one where nothing was performed, rejects nothing', () => {
    expect([...benjaminiHochberg([])]).toEqual([])
    expect([...benjaminiHochberg([Number.NaN])]).toEqual([Number.NaN])
  })

  test('the q of a single test is its p', () => {
    expect([...benjaminiHochberg([0.037])]).toEqual([0.037])
  })

  test('a p outside 0 to 1 is refused with its place', () => {
    expect(() => benjaminiHochberg([0.5, 1.2])).toThrow(
      'Option p[1] is 1.2. Give a probability, or NaN for a test not performed.',
    )
    expect(() => benjaminiHochberg([-0.1])).toThrow('Option p[0] is -0.1.')
  })

  const family = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 })

  test('q is at least p and at most 1', () => {
    fc.assert(
      fc.property(family, (p) => {
        for (const [i, q] of benjaminiHochberg(p).entries()) {
          expect(q).toBeGreaterThanOrEqual(p[i] ?? Number.NaN)
          expect(q).toBeLessThanOrEqual(1)
        }
      }),
    )
  })

  test('a smaller p never has a larger q', () => {
    fc.assert(
      fc.property(family, (p) => {
        const q = benjaminiHochberg(p)
        const order = p.map((_, i) => i).sort((i, j) => (p[i] ?? 0) - (p[j] ?? 0))
        const ascending = order.map((i) => q[i] ?? Number.NaN)
        expect(ascending).toEqual(ascending.toSorted((x, y) => x - y))
      }),
    )
  })

  test('the order of the tests does not matter', () => {
    fc.assert(
      fc.property(family, (p) => {
        const reversed = [...benjaminiHochberg(p.toReversed())].reverse()
        expect(reversed).toEqual([...benjaminiHochberg(p)])
      }),
    )
  })
})

describe('corrected by size', () => {
  const sized = (p: readonly number[], sizes: readonly number[]) => [
    ...correctedBySize(p.map((own, i) => ({ p: own, size: sizes[i] ?? 0 }))),
  ]

  test('tests of one size are corrected as ever', () => {
    const p = [0.01, 0.04, Number.NaN, 0.02]
    expect(sized(p, [7, 7, 7, 7])).toEqual([...benjaminiHochberg(p)])
  })

  test('half of the level is shared out by size, so that no q doubles', () => {
    const p = [0.001, ...Array.from({ length: 99 }, (_, i) => (i + 1) / 100)]
    expect(sized(p, [990, ...p.slice(1).map(() => 10)])[0]).toBeCloseTo(0.1 / 25.6, 3)
    expect(sized(p, [10, ...p.slice(1).map(() => 990)])[0]).toBeLessThan(0.2)
  })

  test('where nothing is true, anything is found in one of twenty families', () => {
    const random = randomSource(5)
    const sizes = Array.from({ length: 50 }, () => 1000 * random.next() ** 4)
    const found = Array.from({ length: 2000 }, () =>
      sized(
        sizes.map(() => random.next()),
        sizes,
      ).some((q) => q < 0.05),
    ).filter(Boolean).length
    expect(found / 2000).toBeLessThan(0.065)
    expect(found / 2000).toBeGreaterThan(0.035)
  })
})
