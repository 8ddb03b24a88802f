import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wassersteinDistance } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

const sample = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 20 })
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('the distance', () => {
  test('of a sample moved up is the shift, all of it slower', () => {
    expect(wassersteinDistance([1, 2, 3], [11, 12, 13])).toMatchObject({
      distance: 10,
      slower: 10,
      faster: 0,
    })
    expect(wassersteinDistance([11, 12, 13], [1, 2, 3])).toMatchObject({
      distance: 10,
      slower: 0,
      faster: 10,
    })
  })

  test('of unequal sizes: a half moves by 3, of the other half a half by 1', () => {
    // Quarter by quarter: 1→1, 1→2, 5→5 and 5→8.
    expect(wassersteinDistance([1, 5], [1, 2, 5, 8])).toMatchObject({ distance: 1, slower: 1 })
  })

  test('of a wider spread is slower and faster in equal parts', () => {
    expect(wassersteinDistance([4, 6], [2, 8])).toMatchObject({ distance: 2, slower: 1, faster: 1 })
  })

  test('of equal distributions is exactly 0, whatever the sizes', () => {
    expect(wassersteinDistance([0.1, 0.7], [0.1, 0.7, 0.1, 0.1, 0.7, 0.7])).toMatchObject({
      distance: 0,
      slower: 0,
      faster: 0,
    })
  })

  test('of one value against one is their difference', () => {
    expect(wassersteinDistance([5], [2])).toMatchObject({ distance: 3, slower: 0, faster: 3 })
  })

  test('of ties counts each value', () => {
    expect(wassersteinDistance([0, 0, 0, 3], [0, 3, 3, 3]).distance).toBe(1.5)
  })
})

describe('for all samples', () => {
  test('slower − faster is the difference of the means', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const { slower, faster } = wassersteinDistance(before, after)
        expect(slower - faster).toBeCloseTo(mean(after) - mean(before), 10)
      }),
    )
  })

  test('swapping the periods swaps the parts', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const there = wassersteinDistance(before, after)
        const back = wassersteinDistance(after, before)
        expect([back.slower, back.faster]).toEqual([there.faster, there.slower])
      }),
    )
  })

  test('of equal sizes it is the mean distance of the sorted values', () => {
    const pairs = fc.array(fc.tuple(fc.integer(), fc.integer()), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(pairs, (values) => {
        const ordered = (side: 0 | 1) => values.map((pair) => pair[side]).sort((a, b) => a - b)
        const [before, after] = [ordered(0), ordered(1)]
        const expected = mean(before.map((value, i) => Math.abs((after[i] ?? 0) - value)))
        expectRelative(wassersteinDistance(before, after).distance, expected, 1e-12)
      }),
    )
  })
})

describe('what is not a number', () => {
  test('is left out', () => {
    expect(wassersteinDistance([1, Number.NaN], [Number.NEGATIVE_INFINITY, 4])).toEqual({
      distance: 3,
      slower: 3,
      faster: 0,
      beforeCount: 1,
      afterCount: 1,
    })
  })

  test('an empty sample has no distance', () => {
    const nothing = { distance: Number.NaN, slower: Number.NaN, faster: Number.NaN }
    expect(wassersteinDistance([], [1])).toMatchObject(nothing)
    expect(wassersteinDistance([1], [Number.NaN])).toMatchObject(nothing)
  })
})

test('samples said to be sorted must be', () => {
  expect(wassersteinDistance([1, 2], [3], { sorted: true }).distance).toBe(1.5)
  expect(() => wassersteinDistance([2, 1], [3], { sorted: true })).toThrow(
    'Option sorted is true. Give false, or ascending samples: 1 follows 2 at index 1.',
  )
})
