import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fTail, incompleteBeta } from '../../src/stats/distributions.ts'
import { welch } from '../../src/stats/welch.ts'
import { describeWithShared, sharedJson } from '../shared.ts'

interface Case {
  readonly name: string
  readonly x: number[]
  readonly y: number[]
  readonly mean1: number | null
  readonly mean2: number | null
  readonly var1: number | null
  readonly var2: number | null
  readonly t: number | string | null
  readonly df: number | null
  readonly p: number | null
  readonly testable: boolean
}

interface Oracle {
  readonly cases: readonly Case[]
  readonly t_two_sided: readonly [t: number, df: number, p: number][]
  readonly betainc: readonly [a: number, b: number, x: number, value: number][]
}

function expectRelative(found: number, expected: number, tolerance = 1e-10): void {
  if (expected < 1e-290) expect(found).toBeLessThan(1e-290)
  else expect(Math.abs(found / expected - 1)).toBeLessThan(tolerance)
}

describeWithShared('welch agrees with SciPy', () => {
  const { cases, t_two_sided, betainc } = sharedJson<Oracle>('oracles/welch.json')

  test.each(cases)('$name', ({ x, y, mean1, mean2, var1, var2, t, df, p, testable }) => {
    // The oracle's difference is the first mean less the second.
    const found = welch(y, x)
    expect(found.tested).toBe(testable)
    if (!testable) {
      expect([found.statistic, found.df, found.p]).toEqual([Number.NaN, Number.NaN, Number.NaN])
      return
    }
    expect(found.afterMean).toBeCloseTo(Number(mean1), 9)
    expect(found.beforeMean).toBeCloseTo(Number(mean2), 9)
    expect(found.afterVariance).toBeCloseTo(Number(var1), 9)
    expect(found.beforeVariance).toBeCloseTo(Number(var2), 9)
    if (Number(t) === 0 || !Number.isFinite(Number(t))) expect(found.statistic).toBe(Number(t))
    else expectRelative(found.statistic, Number(t))
    if (df === null) expect(found.df).toBe(Number.NaN)
    else expectRelative(found.df, df)
    expectRelative(found.p, Number(p))
  })

  test('two-sided p of t on a grid', () => {
    for (const [t, df, p] of t_two_sided) expectRelative(fTail(t * t, 1, df), p)
  })

  test('the incomplete beta function on a grid', () => {
    for (const [a, b, x, value] of betainc) expectRelative(incompleteBeta(a, b, x), value)
  })
})

describe('welch', () => {
  test('leaves NaN and infinite values out', () => {
    const found = welch([1, Number.NaN, 2, 3], [2, 3, Number.POSITIVE_INFINITY, 4])
    expect(found).toEqual({ ...welch([1, 2, 3], [2, 3, 4]) })
  })

  test('constants of 0.1 in samples of different size have equal means', () => {
    const found = welch(new Float64Array(7).fill(0.1), new Float64Array(10).fill(0.1))
    expect(found).toMatchObject({ statistic: 0, p: 1, beforeVariance: 0, afterVariance: 0 })
  })

  test('two constants that differ are infinitely far apart, with the sign of the difference', () => {
    expect(welch([1, 1], [2, 2, 2])).toMatchObject({ statistic: Number.POSITIVE_INFINITY, p: 0 })
    expect(welch([2, 2], [1, 1, 1])).toMatchObject({ statistic: Number.NEGATIVE_INFINITY, p: 0 })
  })

  test('weights that are all alike change nothing', () => {
    const [before, after] = [
      [1, 4, 2, 8],
      [9, 7, 8],
    ]
    const plain = welch(before as number[], after as number[])
    const ones = { beforeWeights: [1, 1, 1, 1], afterWeights: [1, 1, 1] }
    expect(welch(before as number[], after as number[], ones)).toEqual(plain)
    const threes = { beforeWeights: [3, 3, 3, 3], afterWeights: [0.5, 0.5, 0.5] }
    const scaled = welch(before as number[], after as number[], threes)
    expect(scaled.statistic).toBeCloseTo(plain.statistic, 12)
    expect(scaled.p).toBeCloseTo(plain.p, 12)
  })

  test('a weighted sample is worth fewer values, not more', () => {
    const before = [1, 2, 3, 4, 5]
    const weighted = welch(before, [2, 3, 4, 5, 6], { beforeWeights: [100, 1, 1, 1, 1] })
    expect(weighted.beforeMean).toBeCloseTo((100 + 2 + 3 + 4 + 5) / 104, 12)
    // 104² / (100² + 4) = 1.08 values: next to no degrees of freedom.
    expect(weighted.df).toBeLessThan(1)
  })

  test('weights are one a value and above 0', () => {
    expect(() => welch([1, 2], [1, 2], { beforeWeights: [1] })).toThrow(
      'Option beforeWeights is "1 weights". Give 2, one a value.',
    )
    expect(() => welch([1, 2], [1, 2], { afterWeights: [1, 0] })).toThrow(
      'Option afterWeights[1] is 0. Give a number above 0.',
    )
  })

  test('swapping the samples changes the sign of t only', () => {
    const sample = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { maxLength: 20 })
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const [one, other] = [welch(before, after), welch(after, before)]
        expect(one.statistic + 0).toEqual(-other.statistic + 0)
        expect([one.df, one.p]).toEqual([other.df, other.p])
      }),
    )
  })
})

describe('fTail', () => {
  test('0 exceeds nothing and infinity everything', () => {
    expect([fTail(0, 1, 5), fTail(-1, 2, 5), fTail(Number.POSITIVE_INFINITY, 1, 5)]).toEqual([
      1, 1, 0,
    ])
  })

  test('has no p for NaN', () => {
    expect(() => fTail(Number.NaN, 1, 5)).toThrow('Option f is NaN. Give a number.')
  })
})
