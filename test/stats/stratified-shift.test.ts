import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stratifiedShift, vanElteren } from '../../src/stats/index.ts'

const sample = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 12 })
const stratum = fc.record({ before: sample, after: sample })

describe('the shift', () => {
  test('is that of the differences within strata', () => {
    const reads = { before: [1, 2, 3], after: [6, 7, 8] }
    const writes = { before: [100, 200], after: [105, 205] }
    expect(stratifiedShift([reads, writes])).toMatchObject({
      shift: 5,
      strata: 2,
      beforeCount: 5,
      afterCount: 5,
    })
  })

  test('does not mistake another mixture of strata for a shift', () => {
    const fast = { before: [1, 2, 3, 4], after: [2, 3] }
    const slow = { before: [102, 103], after: [101, 102, 103, 104] }
    expect(stratifiedShift([fast, slow]).shift).toBe(0)
  })

  test('weighs the pairs of a stratum by 1/(N + 1)', () => {
    // One pair of weight 1/3 at 100, four of weight 1/5 at 1, 1, 11, 11: half of 17/15 is
    // 17/30, reached at the third, 3/5.
    const small = { before: [0], after: [100] }
    const large = { before: [0, 10], after: [11, 11] }
    expect(stratifiedShift([small, large]).shift).toBe(11)
    const spread = { before: [0, 10], after: [10, 11] }
    expect(stratifiedShift([small, spread]).shift).toBe(10)
  })
})

describe('the interval', () => {
  test('holds what van Elteren’s test does not reject, and at most half a step more', () => {
    const strata = [
      { before: [12, 25, 31, 48, 53, 67], after: [26.5, 41.5, 58.5, 77.5, 83.5] },
      { before: [100, 131, 170], after: [111.25, 142.25, 187.25, 203.25] },
      { before: [5], after: [9.125, 4.125] },
    ]
    const p = (shift: number) =>
      vanElteren(
        strata.map(({ before, after }) => ({ before, after: after.map((v) => v - shift) })),
      ).p
    const { low, high } = stratifiedShift(strata)
    const listed = Array.from({ length: 2001 }, (_, i) => low + ((high - low) * i) / 2000)
    for (const shift of [low - 1e-6, high + 1e-6]) expect(p(shift)).toBeLessThan(0.05)
    const kept = listed.slice(1, -1).filter((shift) => p(shift) > 0.05)
    expect(kept.length / 1999).toBeGreaterThan(0.9)
  })

  test('many small strata bound a shift together, one of them does not', () => {
    const strata = Array.from({ length: 12 }, (_, i) => ({
      before: [10 * i, 10 * i + 2],
      after: [10 * i + 5, 10 * i + 6 + i / 10],
    }))
    const { low, high } = stratifiedShift(strata)
    expect(low).toBeGreaterThan(2)
    expect(high).toBeLessThan(7)
    expect(stratifiedShift(strata.slice(0, 1))).toMatchObject({
      low: Number.NEGATIVE_INFINITY,
      high: Number.POSITIVE_INFINITY,
    })
  })

  test('moving all of after moves it, swapping the periods mirrors it', () => {
    fc.assert(
      fc.property(stratum, stratum, fc.integer({ min: -99, max: 99 }), (one, other, by) => {
        const strata = [one, other]
        const there = stratifiedShift(strata)
        const moved = stratifiedShift(
          strata.map(({ before, after }) => ({ before, after: after.map((v) => v + by) })),
        )
        const back = stratifiedShift(
          strata.map(({ before: after, after: before }) => ({ before, after })),
        )
        expect([moved.low, moved.shift, moved.high]).toEqual(
          [there.low, there.shift, there.high].map((value) => value + by),
        )
        expect([back.high, back.shift, back.low].map((value) => -value + 0)).toEqual(
          [there.low, there.shift, there.high].map((value) => value + 0),
        )
      }),
    )
  })
})

describe('strata without a pair', () => {
  test('contribute nothing', () => {
    const full = { before: [1, 2, 3], after: [2, 4] }
    const lonely = { before: [7, 8], after: [Number.NaN] }
    expect(stratifiedShift([lonely, full, { before: [], after: [1] }])).toEqual(
      stratifiedShift([full]),
    )
  })

  test('alone, or no strata, have no shift', () => {
    for (const strata of [[], [{ before: [], after: [1] }]]) {
      expect(stratifiedShift(strata)).toEqual({
        shift: Number.NaN,
        low: Number.NaN,
        high: Number.NaN,
        level: 0.95,
        strata: 0,
        beforeCount: 0,
        afterCount: 0,
      })
    }
  })
})

describe('options', () => {
  test('a level of 1, or unsorted samples said to be sorted, are refused', () => {
    expect(() => stratifiedShift([], { level: 1 })).toThrow(
      'Option level is 1. Give a share above 0 and below 1.',
    )
    expect(() => stratifiedShift([{ before: [1], after: [4, 3] }], { sorted: true })).toThrow(
      'Option sorted is true. Give false, or ascending samples: 3 follows 4 at index 1.',
    )
  })
})
