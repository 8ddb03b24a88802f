import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { selectDifference, splitAt } from '../../src/stats/hodges-lehmann.ts'

const pair = (first: number[], second: number[], weight = 1) => ({
  first: Object.freeze(first),
  second: Object.freeze(second),
  weight,
})

describe('selecting a difference by weight', () => {
  const pairs = [pair([1, 4], [5, 9])] // differences 1, 4, 5, 8

  test.each([
    [0, false, 1],
    [1, false, 1],
    [1, true, 4],
    [1.5, false, 4],
    [3, false, 5],
    [3, true, 8],
    [4, false, 8],
    [4, true, Number.POSITIVE_INFINITY],
    [5, false, Number.POSITIVE_INFINITY],
  ])('at weight %d, strictly %s, it is %d', (target, strictly, expected) => {
    expect(selectDifference(pairs, target, { strictly })).toBe(expected)
  })

  test('finds one among equal ones', () => {
    expect(selectDifference([pair([2, 2, 2], [2, 2])], 3)).toBe(0)
  })

  test('finds one between values of very different size', () => {
    const wide = [pair([0, 1e-300], [5e-324, 1e300])]
    expect(selectDifference(wide, 2)).toBe(5e-324)
    expect(selectDifference(wide, 3)).toBe(1e300)
  })

  test('is what sorting all weighted differences gives', () => {
    const sample = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), {
      minLength: 1,
      maxLength: 9,
    })
    const sorted = sample.map((values) => values.sort((a, b) => a - b))
    const weighted = fc.record({
      first: sorted,
      second: sorted,
      weight: fc.integer({ min: 1, max: 5 }),
    })
    const several = fc.array(weighted, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(several, fc.nat(60), fc.boolean(), (pairs, target, strictly) => {
        const listed = pairs
          .flatMap(({ first, second, weight }) =>
            first.flatMap((x) => second.map((y) => ({ difference: y - x, weight }))),
          )
          .sort((a, b) => a.difference - b.difference)
        let sum = 0
        const found = listed.find(({ weight }) => {
          sum += weight
          return strictly ? sum > target : sum >= target
        })
        const expected = found?.difference ?? Number.POSITIVE_INFINITY
        expect(selectDifference(pairs, target, { strictly }) + 0).toBe(expected + 0)
      }),
    )
  })
})

describe('splitting at a value', () => {
  test('weighs what is at most the value and finds its neighbors', () => {
    const pairs = [pair([1, 4], [5, 9]), pair([0], [6], 0.5)]
    expect(splitAt(pairs, 5)).toEqual({ weight: 3, below: 5, above: 6 })
    expect(splitAt(pairs, 0)).toEqual({ weight: 0, below: Number.NEGATIVE_INFINITY, above: 1 })
    expect(splitAt(pairs, 8)).toEqual({ weight: 4.5, below: 8, above: Number.POSITIVE_INFINITY })
  })
})
