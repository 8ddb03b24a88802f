import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mannWhitney } from '../../src/stats/index.ts'
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

  test('z is moved half a step towards the null hypothesis', () => {
    // Excess 6 over a mean of 6; variance 3·4·8/12 = 8.
    expectRelative(mannWhitney(range(3), range(4, 10)).z, 5.5 / Math.sqrt(8), 1e-15)
  })

  test('z of a difference smaller than half a step is 0', () => {
    const { z, p } = mannWhitney([1, 3], [2, 2])
    expect([z, p]).toEqual([0, 1])
  })

  test('the alternative changes z by a step at most, and not the direction', () => {
    const [before, after] = [range(5), [3, 4, 5, 6]]
    for (const alternative of ['two-sided', 'slower', 'faster'] as const) {
      expect(mannWhitney(before, after, { alternative }).direction).toBe('slower')
    }
  })
})

describe('ties', () => {
  test('all values equal: z is 0 and p 1', () => {
    for (const alternative of ['two-sided', 'slower', 'faster'] as const) {
      expect(mannWhitney([7, 7, 7], [7, 7], { alternative })).toMatchObject({
        statistic: 3,
        z: 0,
        p: 1,
        direction: 'none',
      })
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
  test('NaN and infinities are left out', () => {
    const before = Object.freeze([3, Number.NaN, 1, Number.POSITIVE_INFINITY])
    const after = Object.freeze([Number.NEGATIVE_INFINITY, 4])
    expect(mannWhitney(before, after)).toMatchObject({
      statistic: 2,
      beforeCount: 2,
      afterCount: 1,
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

  test('p of slower and of faster overlap by the correction', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const slower = mannWhitney(before, after, { alternative: 'slower' }).p
        const faster = mannWhitney(before, after, { alternative: 'faster' }).p
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
  })

  test('samples said to be sorted must be', () => {
    expect(mannWhitney([1, 2, 2], [2, 3], { sorted: true }).statistic).toBe(5)
    expect(() => mannWhitney([1, 2], [3, 1], { sorted: true })).toThrow(
      'Option sorted is true. Give false, or ascending samples: 1 follows 3 at index 1.',
    )
  })
})
