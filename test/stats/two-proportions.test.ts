import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { twoProportionsTest } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

describe('two proportions', () => {
  test('50 of 100 against 65 of 100', () => {
    const { statistic, p, difference } = twoProportionsTest(50, 100, 65, 100)
    expect(difference).toBeCloseTo(0.15, 15)
    expectRelative(statistic, 2.1455956195564547, 1e-14)
    expectRelative(p, 0.03190525523659656, 1e-13)
  })

  // Newcombe 1998, table II, method 10; differences there are first less second.
  test.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
  ])('%d of %d against %d of %d has the published interval', (x1, n1, x2, n2, low, high) => {
    const { interval } = twoProportionsTest(x2, n2, x1, n1)
    expect(interval[0]).toBeCloseTo(low, 4)
    expect(interval[1]).toBeCloseTo(high, 4)
  })

  test('unequal sizes: 3 of 40 against 27 of 120', () => {
    const { statistic, p } = twoProportionsTest(3, 40, 27, 120)
    expectRelative(statistic, 2.1049392463368704, 1e-14)
    expectRelative(p, 0.03529659684140793, 1e-13)
  })

  test('the tail keeps its digits', () => {
    const { p } = twoProportionsTest(100, 1000, 600, 1000)
    expectRelative(p, 1.6577462398070217e-121, 1e-12)
  })

  test('all or nothing in both groups is no evidence', () => {
    expect(twoProportionsTest(0, 5, 0, 9)).toMatchObject({ statistic: 0, p: 1, difference: 0 })
    expect(twoProportionsTest(5, 5, 9, 9)).toMatchObject({ statistic: 0, p: 1, difference: 0 })
  })

  test('an empty group leaves nothing to compare', () => {
    const none = Number.NaN
    const nothing = { statistic: none, p: none, difference: none, interval: [none, none] }
    expect(twoProportionsTest(0, 0, 3, 9)).toEqual(nothing)
    expect(twoProportionsTest(3, 9, 0, 0)).toEqual(nothing)
    expect(twoProportionsTest(0, 0, 0, 0)).toEqual(nothing)
  })

  test('more successes than trials are refused', () => {
    expect(() => twoProportionsTest(6, 5, 0, 5)).toThrow(
      'Option successes1 is 6. Give a number from 0 to n1 (5).',
    )
    expect(() => twoProportionsTest(1, 5, -1, 5)).toThrow('Option successes2 is -1.')
    expect(() => twoProportionsTest(1, 5, 0, Number.NaN)).toThrow(
      'Option n2 is NaN. Give a number of trials, 0 or more.',
    )
  })

  test('swapping the groups mirrors statistic and difference and keeps p', () => {
    const group = fc.tuple(fc.nat(50), fc.nat(50)).map(([hit, missed]) => [hit, hit + missed + 1])
    fc.assert(
      fc.property(group, group, ([s1 = 0, n1 = 1], [s2 = 0, n2 = 1]) => {
        const there = twoProportionsTest(s1, n1, s2, n2)
        const back = twoProportionsTest(s2, n2, s1, n1)
        expect(back.statistic + 0).toBeCloseTo(-there.statistic + 0, 12)
        expect(back.difference + 0).toBe(-there.difference + 0)
        expect(back.p).toBeCloseTo(there.p, 12)
      }),
    )
  })
})
