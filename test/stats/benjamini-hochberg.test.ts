import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { benjaminiHochberg } from '../../src/stats/index.ts'
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
