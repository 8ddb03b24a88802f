import { describe, expect, test } from 'vitest'
import { fisherExact } from '../../src/stats/index.ts'
import { tailTest } from '../../src/stats/tail-test.ts'
import { expectRelative } from './expect-relative.ts'

const range = (n: number, start = 1) =>
  Object.freeze(Array.from({ length: n }, (_, i) => start + i)) as readonly number[]
const SLOW_TAIL = Object.freeze(range(100).map((value) => (value <= 90 ? value : 10 * value)))

describe('the tail', () => {
  test('begins at the quantile of both samples together', () => {
    // Of 200 values the ten multiplied ones lie highest.
    expect(tailTest(range(100), SLOW_TAIL)).toMatchObject({
      beforeInTail: 0,
      afterInTail: 10,
      statistic: 0.1,
      direction: 'slower',
    })
  })

  test('counts shares, not numbers, of unequal samples', () => {
    const { beforeInTail, afterInTail, statistic, beyond } = tailTest(range(40), [38.5, 39.5], {
      quantile: 0.9,
    })
    expect({ beforeInTail, afterInTail, beyond }).toEqual({
      beforeInTail: 3,
      afterInTail: 2,
      beyond: 37.9,
    })
    expectRelative(statistic, 1 - 3 / 40, 1e-15)
  })

  test('does not hold values equal to the quantile', () => {
    expect(tailTest([1, 1, 1, 1], [1, 1, 2], { quantile: 0.5 })).toMatchObject({
      beyond: 1,
      beforeInTail: 0,
      afterInTail: 1,
    })
  })

  test('of all values equal is empty: p is 1', () => {
    expect(tailTest([7, 7, 7], [7, 7])).toMatchObject({
      beforeInTail: 0,
      afterInTail: 0,
      statistic: 0,
      p: 1,
      direction: 'none',
    })
  })
})

describe('p', () => {
  test('is that of Fisher’s exact test of the two counts', () => {
    const { p } = tailTest(range(100), SLOW_TAIL)
    expect(p).toBe(fisherExact(0, 100, 10, 100).p)
  })

  test('one-sided is the tail of the counts, not half of both', () => {
    // The chance that both of after are among the 5 largest of 42; no tail lies on the other side.
    const options = { quantile: 0.88 }
    const { p, beforeInTail, afterInTail } = tailTest(range(40), [38.5, 39.5], {
      ...options,
      alternative: 'slower',
    })
    expect([beforeInTail, afterInTail]).toEqual([3, 2])
    expectRelative(p, (5 * 4) / (42 * 41), 1e-13)
    expectRelative(tailTest(range(40), [38.5, 39.5], options).p, (5 * 4) / (42 * 41), 1e-13)
    const faster = tailTest(range(40), [38.5, 39.5], { ...options, alternative: 'faster' })
    expect(faster).toMatchObject({ p: 1, direction: 'slower' })
  })

  test('sees nothing of a shift below the tail', () => {
    const before = range(100)
    const after = before.map((value) => (value <= 50 ? value / 2 : value))
    expect(tailTest(before, after)).toMatchObject({ statistic: 0, p: 1, direction: 'none' })
  })

  test('swapping the periods keeps p and mirrors statistic and direction', () => {
    const there = tailTest(range(60), SLOW_TAIL)
    const back = tailTest(SLOW_TAIL, range(60))
    expectRelative(back.p, there.p, 1e-12)
    expect(back.statistic).toBe(-there.statistic)
    expect([there.direction, back.direction]).toEqual(['slower', 'faster'])
    const slower = tailTest(range(60), SLOW_TAIL, { alternative: 'slower' }).p
    expectRelative(tailTest(SLOW_TAIL, range(60), { alternative: 'faster' }).p, slower, 1e-12)
  })
})

describe('what is not a number', () => {
  test('is left out', () => {
    expect(
      tailTest([1, 2, Number.NaN], [Number.POSITIVE_INFINITY, 4], { quantile: 0.5 }),
    ).toMatchObject({
      beforeCount: 2,
      afterCount: 1,
      beyond: 2,
      afterInTail: 1,
    })
  })

  test('an empty sample has no statistic and no p', () => {
    const nothing = { statistic: Number.NaN, p: Number.NaN, direction: 'none', testable: false }
    expect(tailTest([], [1, 2])).toMatchObject(nothing)
    expect(tailTest([1, 2], [])).toMatchObject(nothing)
    expect(tailTest([], [])).toMatchObject({ ...nothing, beyond: Number.NaN, beforeInTail: 0 })
  })
})

describe('options', () => {
  test.each([
    [{ quantile: 1 }, 'Option quantile is 1. Give a share above 0 and below 1.'],
    [{ quantile: 95 }, 'Option quantile is 95. Give a share above 0 and below 1.'],
    [
      { alternative: 'more' as never },
      `Option alternative is "more". Give 'two-sided', 'slower', 'faster'.`,
    ],
  ])('%j is refused', (options, message) => {
    expect(() => tailTest([1, 2], [3], options)).toThrow(message)
  })

  test('samples said to be sorted must be', () => {
    expect(() => tailTest([2, 1], [3], { sorted: true })).toThrow('1 follows 2 at index 1.')
  })
})
