import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OptionError } from '../../src/core/errors.ts'
import { type Alternative, mannWhitney } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

const range = (n: number, start = 1) =>
  Object.freeze(Array.from({ length: n }, (_, i) => start + i)) as readonly number[]

describe('the statistic', () => {
  test('counts the pairs in which after is larger, ties half', () => {
    const result = mannWhitney([1, 2, 3, 4], [3, 5, 6, 7, 8])
    expect(result).toMatchObject({ statistic: 18.5, probabilitySlower: 0.925, direction: 'slower' })
  })

  test('of disjoint samples is all pairs, or none', () => {
    expect(mannWhitney(range(3), range(5, 10))).toMatchObject({
      statistic: 15,
      probabilitySlower: 1,
      direction: 'slower',
    })
    expect(mannWhitney(range(5, 10), range(3))).toMatchObject({
      statistic: 0,
      probabilitySlower: 0,
      direction: 'faster',
    })
  })

  test('z is moved half a step towards the null hypothesis, whatever the method', () => {
    // Excess 6 over a mean of 6; variance 3·4·8/12 = 8.
    for (const method of ['exact', 'asymptotic'] as const) {
      expectRelative(mannWhitney(range(3), range(4, 10), { method }).z, 5.5 / Math.sqrt(8), 1e-15)
    }
  })

  test('z of a difference smaller than half a step is 0', () => {
    const { z, p } = mannWhitney([1, 3], [2, 2], { method: 'asymptotic' })
    expect([z, p]).toEqual([0, 1])
  })

  test('the alternative changes z by a step at most, and not the direction', () => {
    const [before, after] = [range(5), [3, 4, 5, 6]]
    for (const alternative of ['two-sided', 'slower', 'faster'] as const) {
      expect(mannWhitney(before, after, { alternative }).direction).toBe('slower')
    }
  })
})

describe('the exact p', () => {
  test('of 3 against 4 disjoint is 1 of 35 ways, 2 when two-sided, all in the other direction', () => {
    const p = (alternative: Alternative) => mannWhitney(range(3), range(4, 10), { alternative }).p
    expect([p('slower'), p('two-sided'), p('faster')]).toEqual([1 / 35, 2 / 35, 1])
  })

  test('of one value against one is 1, and ½ in its direction', () => {
    expect(mannWhitney([1], [2]).p).toBe(1)
    expect(mannWhitney([1], [2], { alternative: 'slower' }).p).toBe(0.5)
    expect(mannWhitney([1], [2], { alternative: 'faster' }).p).toBe(1)
  })

  test('is what dealing the values out in every way gives, with ties', () => {
    const sample = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 })
    const side = fc.constantFrom<Alternative>('two-sided', 'slower', 'faster')
    fc.assert(
      fc.property(sample, sample, side, (before, after, alternative) => {
        const { p } = mannWhitney(before, after, { alternative, method: 'exact' })
        expectRelative(p, countWays(before, after, alternative), 1e-12)
      }),
    )
  })

  test('keeps its digits where it is 1 of 9e58', { tags: 'full' }, () => {
    const { p } = mannWhitney(range(100), range(100, 101), {
      method: 'exact',
      alternative: 'slower',
    })
    expectRelative(p, 1 / 9.05485146561033e58, 1e-13)
  })

  test('auto is exact up to 400 pairs', () => {
    expect(mannWhitney(range(20), range(20)).method).toBe('exact')
    expect(mannWhitney(range(21), range(20)).method).toBe('asymptotic')
    expect(mannWhitney(range(1), range(400)).method).toBe('exact')
  })

  test('of more than 10,000 pairs is refused', () => {
    // 10,000 are counted: see 1 of 9e58.
    expect(() => mannWhitney(range(101), range(100), { method: 'exact' })).toThrow(
      new OptionError('method', 'exact', `'asymptotic': 10100 pairs are too many to count`),
    )
  })
})

describe('ties', () => {
  test('all values equal: z is 0 and p 1, in both methods', () => {
    for (const method of ['exact', 'asymptotic'] as const) {
      for (const alternative of ['two-sided', 'slower', 'faster'] as const) {
        expect(mannWhitney([7, 7, 7], [7, 7], { method, alternative })).toMatchObject({
          statistic: 3,
          z: 0,
          p: 1,
          direction: 'none',
        })
      }
    }
  })

  test('make the variance smaller', () => {
    // 5 zeros, 5 ones: variance 25/12·(11 − 240/90).
    const { z } = mannWhitney([0, 0, 0, 0, 1], [0, 1, 1, 1, 1])
    expectRelative(z, 7 / Math.sqrt((25 / 12) * (11 - 240 / 90)), 1e-14)
  })

  test('−0 and 0 are the same value', () => {
    expect(mannWhitney([-0, 0], [0]).statistic).toBe(1)
  })
})

describe('what is not a number', () => {
  test('NaN and infinities are left out and counted', () => {
    const before = Object.freeze([3, Number.NaN, 1, Number.POSITIVE_INFINITY])
    const after = Object.freeze([Number.NEGATIVE_INFINITY, 4])
    expect(mannWhitney(before, after)).toMatchObject({
      statistic: 2,
      beforeCount: 2,
      afterCount: 1,
      droppedBefore: 2,
      droppedAfter: 1,
      testable: false,
    })
  })

  test.each([
    [[], [1, 2]],
    [[1, 2], []],
    [[], []],
    [[Number.NaN], [1]],
  ])('an empty sample has no statistic and no p: %j against %j', (before, after) => {
    expect(mannWhitney(before, after)).toMatchObject({
      statistic: Number.NaN,
      z: Number.NaN,
      p: Number.NaN,
      probabilitySlower: Number.NaN,
      direction: 'none',
      testable: false,
    })
  })
})

describe('for all samples', () => {
  const sample = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 30 })

  test('swapping the periods mirrors U and z and keeps p', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const there = mannWhitney(before, after)
        const back = mannWhitney(after, before)
        expect(back.statistic).toBe(before.length * after.length - there.statistic)
        expect(back.z + 0).toBe(-there.z + 0)
        expectRelative(back.p, there.p, 1e-12)
      }),
    )
  })

  test('shuffling and scaling change nothing', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const grown = (values: number[]) => values.map((value) => 1000 * value + 7).reverse()
        expect(mannWhitney(grown(before), grown(after))).toEqual(mannWhitney(before, after))
      }),
    )
  })

  test('slower and faster share the ways, those at the observed U in both', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const options = { method: 'asymptotic' } as const
        const slower = mannWhitney(before, after, { ...options, alternative: 'slower' }).p
        const faster = mannWhitney(before, after, { ...options, alternative: 'faster' }).p
        expect(slower + faster).toBeGreaterThanOrEqual(1 - 1e-12)
      }),
    )
  })
})

describe('options', () => {
  test('an unknown one is refused by name', () => {
    expect(() => mannWhitney([1], [2], { alternative: 'less' as never })).toThrow(
      `Option alternative is "less". Give 'two-sided', 'slower', 'faster'.`,
    )
    expect(() => mannWhitney([1], [2], { method: 'normal' as never })).toThrow(
      `Option method is "normal". Give 'auto', 'exact', 'asymptotic'.`,
    )
  })

  test('samples said to be sorted must be', () => {
    expect(mannWhitney([1, 2, 2], [2, 3], { sorted: true }).statistic).toBe(5)
    expect(() => mannWhitney([1, 2], [3, 1], { sorted: true })).toThrow(
      'Option sorted is true. Give false, or ascending samples: 1 follows 3 at index 1.',
    )
  })
})

/** The share of all ways to deal the pooled values out whose U is as extreme. */
function countWays(before: number[], after: number[], alternative: Alternative): number {
  const pooled = [...before, ...after]
  const mean = (before.length * after.length) / 2
  const excess = (first: number[], second: number[]) => {
    let u = 0
    for (const x of first) for (const y of second) u += x < y ? 1 : x === y ? 0.5 : 0
    return u - mean
  }
  const evidence = (value: number) =>
    alternative === 'two-sided' ? Math.abs(value) : alternative === 'slower' ? value : -value
  const observed = evidence(excess(before, after))
  let extreme = 0
  let total = 0
  for (let ways = 0; ways < 2 ** pooled.length; ways++) {
    const second = pooled.filter((_, i) => (ways >> i) & 1)
    if (second.length !== after.length) continue
    const first = pooled.filter((_, i) => !((ways >> i) & 1))
    total++
    if (evidence(excess(first, second)) >= observed) extreme++
  }
  return extreme / total
}
