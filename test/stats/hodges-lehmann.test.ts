import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mannWhitney, type ShiftOptions, stratifiedShift } from '../../src/stats/index.ts'

const range = (n: number, start = 1) =>
  Object.freeze(Array.from({ length: n }, (_, i) => start + i)) as readonly number[]
/** The estimate of Hodges and Lehmann is that of one stratum. */
function hodgesLehmann(
  before: readonly number[],
  after: readonly number[],
  options?: ShiftOptions,
) {
  return stratifiedShift([{ before, after }], options)
}

const latency = fc.integer({ min: 0, max: 1000 })
const sample = fc.array(latency, { minLength: 1, maxLength: 25 })

describe('the shift', () => {
  test('is the median of all differences after − before', () => {
    // 9 − 1, 9 − 2, 9 − 5, 3 − 1, 3 − 2, 3 − 5: −2, 1, 2, 4, 7, 8.
    expect(hodgesLehmann([1, 2, 5], [9, 3]).shift).toBe(3)
    expect(hodgesLehmann([9, 3], [1, 2, 5]).shift).toBe(-3)
    expect(hodgesLehmann([1, 2, 5], [9]).shift).toBe(7)
  })

  test('is not the difference of the medians where shapes differ', () => {
    expect(hodgesLehmann([0, 0, 10], [0, 10, 10]).shift).toBe(0)
  })

  test('is hardly moved by an outlier', () => {
    expect(hodgesLehmann(range(9), [...range(8, 11), 1e12]).shift).toBe(10)
  })

  test('is what listing all differences gives', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const differences = before.flatMap((x) => after.map((y) => y - x)).sort((a, b) => a - b)
        const half = differences.length / 2
        const lower = differences[Math.ceil(half) - 1] as number
        const upper = differences[Math.floor(half)] as number
        expect(hodgesLehmann(before, after).shift).toBe((lower + upper) / 2)
      }),
    )
  })
})

describe('the interval', () => {
  test('of 5 against 5 is from the 3rd difference to the 3rd last: 96.8 % exactly', () => {
    // P(U ≤ 2) = 4/252, P(U ≤ 3) = 7/252, more than 2.5 %.
    const before = [0, 1000, 2000, 3000, 4000]
    const after = [5, 1105, 2215, 3335, 4465]
    const differences = before.flatMap((x) => after.map((y) => y - x)).sort((a, b) => a - b)
    const { low, high } = hodgesLehmann(before, after)
    expect([low, high]).toEqual([differences[2], differences[22]])
  })

  test('holds the shifts that the Mann-Whitney test does not reject', () => {
    const before = [12, 25, 31, 48, 53, 67, 74, 88, 91, 109, 115]
    const after = [26.5, 41.5, 58.5, 77.5, 83.5, 99.5, 120.5, 131.5, 139.5]
    for (const level of [0.8, 0.9, 0.95, 0.99]) {
      const { low, high } = hodgesLehmann(before, after, { level })
      const p = (shift: number) => {
        const moved = after.map((value) => value - shift)
        return mannWhitney(before, moved).p
      }
      for (const inside of [low + 1e-6, (low + high) / 2, high - 1e-6]) {
        expect(p(inside)).toBeGreaterThan(1 - level)
      }
      for (const outside of [low - 1e-6, high + 1e-6]) {
        expect(p(outside)).toBeLessThan(1 - level)
      }
    }
  })

  test('is wider for a higher level', () => {
    const width = (level: number) => {
      const { low, high } = hodgesLehmann(range(20), range(15, 4), { level })
      return high - low
    }
    expect(width(0.5)).toBeLessThan(width(0.9))
    expect(width(0.9)).toBeLessThan(width(0.99))
  })

  test('3 against 3 are too few to bound a shift at 95 %, but not at 80 %', () => {
    expect(hodgesLehmann(range(3), range(3, 11))).toMatchObject({
      shift: 10,
      low: Number.NEGATIVE_INFINITY,
      high: Number.POSITIVE_INFINITY,
      level: 0.95,
    })
    expect(hodgesLehmann(range(3), range(3, 11), { level: 0.8 })).toMatchObject({
      low: 9,
      high: 11,
    })
  })

  test('one against one is never bounded', () => {
    expect(hodgesLehmann([3], [5], { level: 0.5 })).toMatchObject({
      shift: 2,
      low: Number.NEGATIVE_INFINITY,
      high: Number.POSITIVE_INFINITY,
    })
  })

  test('of values all equal is a point', () => {
    expect(hodgesLehmann(Array(9).fill(7), Array(12).fill(9))).toMatchObject({
      shift: 2,
      low: 2,
      high: 2,
    })
  })
})

describe('for all samples', () => {
  test('moving after moves the shift and its interval', () => {
    fc.assert(
      fc.property(sample, sample, latency, (before, after, by) => {
        const there = hodgesLehmann(before, after)
        const moved = hodgesLehmann(
          before,
          after.map((value) => value + by),
        )
        expect(moved.shift).toBe(there.shift + by)
        expect([moved.low, moved.high]).toEqual([there.low + by, there.high + by])
      }),
    )
  })

  test('swapping the periods mirrors the shift and its interval', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const there = hodgesLehmann(before, after)
        const back = hodgesLehmann(after, before)
        expect(back.shift + 0).toBe(-there.shift + 0)
        expect([back.low + 0, back.high + 0]).toEqual([-there.high + 0, -there.low + 0])
        expect(there.low).toBeLessThanOrEqual(there.shift)
        expect(there.high).toBeGreaterThanOrEqual(there.shift)
      }),
    )
  })
})

describe('what is not a number', () => {
  test('is left out', () => {
    expect(hodgesLehmann([1, Number.NaN], [Number.POSITIVE_INFINITY, 4, 6])).toMatchObject({
      shift: 4,
      beforeCount: 1,
      afterCount: 2,
    })
  })

  test('an empty sample has no shift', () => {
    const nothing = { shift: Number.NaN, low: Number.NaN, high: Number.NaN }
    expect(hodgesLehmann([], [1, 2])).toMatchObject(nothing)
    expect(hodgesLehmann([1, 2], [Number.NaN])).toMatchObject(nothing)
  })
})

describe('options', () => {
  test.each([0, 1, 95, Number.NaN])('a level of %d is refused', (level) => {
    expect(() => hodgesLehmann([1], [2], { level })).toThrow(
      `Option level is ${level}. Give a share above 0 and below 1.`,
    )
  })

  test('samples said to be sorted must be', () => {
    expect(hodgesLehmann([1, 2, 5], [3, 9], { sorted: true }).shift).toBe(3)
    expect(() => hodgesLehmann([1, 2], [9, 3], { sorted: true })).toThrow(
      'Option sorted is true. Give false, or ascending samples: 3 follows 9 at index 1.',
    )
  })
})
