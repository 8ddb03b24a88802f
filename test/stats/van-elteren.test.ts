import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mannWhitney, type Stratum, vanElteren } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

const READS = Object.freeze({
  before: Object.freeze([1, 2, 3, 4, 5]),
  after: Object.freeze([4, 5, 6, 7, 8]),
})
const WRITES = Object.freeze({
  before: Object.freeze([100, 200, 300]),
  after: Object.freeze([250, 350, 450, 550]),
})
const swap = ({ before, after }: Stratum) => ({ before: after, after: before })

describe('the statistic', () => {
  test('is the U of each stratum over its number of values plus 1, summed', () => {
    // U is 23 of 25 (two ties counted half) and 11 of 12.
    const { statistic, probabilitySlower, strata } = vanElteren([READS, WRITES])
    expectRelative(statistic, 23 / 11 + 11 / 8, 1e-15)
    expectRelative(probabilitySlower, (23 / 11 + 11 / 8) / (25 / 11 + 12 / 8), 1e-15)
    expect(strata).toBe(2)
  })

  test('of one stratum has the z of Mann-Whitney without continuity correction', () => {
    const stratum = { before: [1, 2, 3], after: [4, 5, 6, 7] }
    expectRelative(vanElteren([stratum]).z, 6 / Math.sqrt(8), 1e-14)
    expect(vanElteren([stratum]).probabilitySlower).toBe(1)
  })

  test('has a variance given the ties', () => {
    const stratum = { before: [0, 0, 0, 0, 1], after: [0, 1, 1, 1, 1] }
    expectRelative(vanElteren([stratum]).z, 7.5 / Math.sqrt((25 / 12) * (11 - 240 / 90)), 1e-14)
  })

  test('swapping the periods mirrors z and direction and keeps p', () => {
    const there = vanElteren([READS, WRITES])
    const back = vanElteren([READS, WRITES].map(swap))
    expect([there.direction, back.direction]).toEqual(['slower', 'faster'])
    expectRelative(back.z, -there.z, 1e-14)
    expectRelative(back.p, there.p, 1e-13)
  })
})

describe('values are compared only within their stratum', () => {
  test('another mixture of strata is no evidence', () => {
    const fast = { before: [1, 2, 3, 4], after: [2, 3] }
    const slow = { before: [102, 103], after: [101, 102, 103, 104] }
    expect(vanElteren([fast, slow])).toMatchObject({ z: 0, p: 1, direction: 'none' })
    const pooled = mannWhitney([...fast.before, ...slow.before], [...fast.after, ...slow.after])
    expect(pooled.direction).toBe('slower')
  })

  test('opposite shifts cancel, and leave no direction by rounding', () => {
    const strata = [3, 5, 7, 9].flatMap((n) => {
      const before = Array.from({ length: n }, (_, i) => i)
      const shifted = before.map((value) => value + 1.5)
      return [
        { before, after: shifted },
        { before: shifted, after: before },
      ]
    })
    expect(vanElteren([...strata, ...strata.slice(2, 4)])).toMatchObject({
      z: 0,
      p: 1,
      direction: 'none',
    })
  })

  test('moving or stretching one stratum changes nothing, nor does the order of strata', () => {
    const sample = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 8 })
    const stratum = fc.record({ before: sample, after: sample })
    fc.assert(
      fc.property(stratum, stratum, fc.integer({ min: 1, max: 9 }), (one, other, factor) => {
        const moved = {
          before: one.before.map((value) => factor * value + 1000),
          after: one.after.map((value) => factor * value + 1000),
        }
        const there = vanElteren([one, other])
        const back = vanElteren([other, moved])
        expect(back.z).toBeCloseTo(there.z, 12)
        expect(back.direction).toBe(there.direction)
      }),
    )
  })
})

describe('p', () => {
  test('two-sided is twice that in the direction', () => {
    const strata = [READS, WRITES]
    const { p } = vanElteren(strata)
    expectRelative(vanElteren(strata, { alternative: 'slower' }).p, p / 2, 1e-13)
    expectRelative(vanElteren(strata, { alternative: 'faster' }).p, 1 - p / 2, 1e-13)
  })

  test('of values all equal within each stratum is 1, though strata differ', () => {
    for (const alternative of ['two-sided', 'slower', 'faster'] as const) {
      const strata = [
        { before: [1, 1], after: [1] },
        { before: [5], after: [5, 5, 5] },
      ]
      expect(vanElteren(strata, { alternative })).toMatchObject({ z: 0, p: 1, direction: 'none' })
    }
  })

  test('gathers what strata of one pair each show', () => {
    const pair = (i: number) => ({ before: [10 * i], after: [10 * i + 1] })
    // Each has a variance of ¼ around ½.
    const { z } = vanElteren(Array.from({ length: 16 }, (_, i) => pair(i)))
    expectRelative(z, 4, 1e-14)
  })
})

describe('strata without a pair', () => {
  test('contribute nothing, also not to the counts', () => {
    const lonely = { before: [1, 2, Number.NaN], after: [] }
    const dirty = { before: [Number.NaN], after: [1] }
    const alone = vanElteren([READS])
    expect(vanElteren([lonely, READS, dirty])).toEqual(alone)
    expect(alone).toMatchObject({ strata: 1, beforeCount: 5, afterCount: 5 })
  })

  test('alone, or no strata, have no statistic and no p', () => {
    for (const strata of [[], [{ before: [1], after: [] }]]) {
      expect(vanElteren(strata)).toEqual({
        statistic: Number.NaN,
        z: Number.NaN,
        p: Number.NaN,
        probabilitySlower: Number.NaN,
        direction: 'none',
        strata: 0,
        beforeCount: 0,
        afterCount: 0,
        testable: false,
      })
    }
  })

  test('the summed counts decide what is testable', () => {
    const pair = { before: [1, 2, 3], after: [2, 3, 4] }
    expect(vanElteren([pair, pair]).testable).toBe(false)
    expect(vanElteren([pair, pair, pair])).toMatchObject({ beforeCount: 9, testable: true })
  })

  test('NaN and infinities are left out', () => {
    const dirty = { before: [1, Number.NaN], after: [2, Number.POSITIVE_INFINITY, Number.NaN] }
    expect(vanElteren([dirty])).toMatchObject({
      statistic: 1 / 3,
    })
  })
})

describe('options', () => {
  test('an unknown alternative, or unsorted samples said to be sorted, are refused', () => {
    expect(() => vanElteren([READS], { alternative: 'up' as never })).toThrow(
      `Option alternative is "up". Give 'two-sided', 'slower', 'faster'.`,
    )
    expect(() => vanElteren([{ before: [2, 1], after: [1] }], { sorted: true })).toThrow(
      'Option sorted is true. Give false, or ascending samples: 1 follows 2 at index 1.',
    )
  })
})
