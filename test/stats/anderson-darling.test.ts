import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { andersonDarlingTail } from '../../src/stats/anderson-darling.ts'
import { andersonDarlingTwoSample, randomSource } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

const range = (n: number, start = 1) =>
  Object.freeze(Array.from({ length: n }, (_, i) => start + i)) as readonly number[]

describe('the limit distribution', () => {
  // Upper percentage points of A² for one sample, Anderson and Darling 1952; Stephens 1974.
  test.each([
    [1.248, 0.25],
    [1.933, 0.1],
    [2.492, 0.05],
    [3.07, 0.025],
    [3.857, 0.01],
  ])('beyond %d lies %d', (x, p) => {
    expect(andersonDarlingTail(x)).toBeCloseTo(p, 3)
  })

  // T of Scholz and Stephens 1987, table 1, standardized by the variance of the limit.
  test.each([
    [1.96, 0.05],
    [3.752, 0.01],
  ])('T beyond %d has p %d', (t, p) => {
    const sd = Math.sqrt(2 * (Math.PI ** 2 / 3 - 3))
    expect(Math.abs(andersonDarlingTail(1 + t * sd) - p)).toBeLessThan(0.03 * p)
  })

  test('has neither floor nor cap, and falls all the way', () => {
    expect(andersonDarlingTail(0)).toBe(1)
    expect(andersonDarlingTail(-3)).toBe(1)
    expect(andersonDarlingTail(Number.NaN)).toBe(Number.NaN)
    const points = Array.from({ length: 50 }, (_, i) => andersonDarlingTail(0.2 * 1.15 ** i))
    for (const [i, p] of points.entries()) {
      expect(p).toBeLessThanOrEqual(points[i - 1] ?? 1)
      expect(p).toBeGreaterThan(0)
    }
  })
})

describe('two-sample Anderson-Darling', () => {
  test('of {1} against {2, 3} is 3/2 by hand, too few values to be standardized', () => {
    // (N − 1)/N · Σ over the first two places of (1/N) · Σᵢ (N·Mᵢ − j·nᵢ)²/nᵢ / (j(N − j) − N/4).
    const byHand = (2 / 3) * ((1 / 3) * (6 / 1.25) + (1 / 3) * (1.5 / 1.25) + 0)
    const { a2, statistic, p } = andersonDarlingTwoSample([1], [2, 3])
    expectRelative(a2, byHand, 1e-14)
    expect([statistic, p]).toEqual([Number.NaN, Number.NaN])
  })

  test('does not change with the order of the samples, their values, nor their unit', () => {
    const sample = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 9 })
    fc.assert(
      fc.property(sample, sample, (a, b) => {
        const there = andersonDarlingTwoSample(a, b)
        const scaled = (values: readonly number[]) => values.map((x) => 3 * x).reverse()
        const back = andersonDarlingTwoSample(scaled(b), scaled(a))
        expect(back.a2).toBeCloseTo(there.a2, 10)
        expect(back.p).toBeCloseTo(there.p, 10)
      }),
    )
  })

  test('p under ties is that of dealing the values out at random, about', () => {
    const few = (n: number, most: number) =>
      Array.from({ length: n }, (_, i) => Math.floor((i * most) % 5))
    const [before, after] = [few(20, 3.1), few(30, 4.7)]
    const { a2, p } = andersonDarlingTwoSample(before, after)
    const random = randomSource(1)
    const pooled = [...before, ...after]
    let extreme = 1
    for (let round = 0; round < 1999; round++) {
      const all = random.shuffle(pooled)
      const dealt = andersonDarlingTwoSample(all.slice(0, 20), all.slice(20))
      if (dealt.a2 >= a2 * (1 - 1e-12)) extreme++
    }
    expect(p).toBeGreaterThan(0.01)
    expect(p).toBeLessThan(0.99)
    expect(Math.abs(extreme / 2000 - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / 1999))
  })

  test('p of all values equal is 1, with a2 0', () => {
    expect(andersonDarlingTwoSample([7, 7, 7], [7, 7])).toMatchObject({ p: 1, a2: 0 })
  })

  test('samples said to be sorted must be', () => {
    expect(() => andersonDarlingTwoSample([1, 2], [2, 1], { sorted: true })).toThrow(
      'Option sorted is true. Give false, or ascending samples: 1 follows 2 at index 1.',
    )
  })

  test('is slower or faster by most pairs; swapping the periods keeps p', () => {
    const there = andersonDarlingTwoSample(range(9), range(12, 4))
    const back = andersonDarlingTwoSample(range(12, 4), range(9))
    expect([there.direction, back.direction]).toEqual(['slower', 'faster'])
    expect(back.p).toBeCloseTo(there.p, 14)
  })

  test('a wider spread around the same center is seen, but has no direction', () => {
    const before = Array.from({ length: 41 }, (_, i) => i - 20)
    const after = before.map((value) => 10 * value)
    const { direction, p } = andersonDarlingTwoSample(before, after)
    expect(direction).toBe('none')
    expect(p).toBeLessThan(0.001)
  })

  test('9 against 9 is testable, 8 against 8 and 4 against a million are not', () => {
    expect(andersonDarlingTwoSample(range(9), range(9)).testable).toBe(true)
    expect(andersonDarlingTwoSample(range(8), range(8)).testable).toBe(false)
    expect(andersonDarlingTwoSample(range(4), range(100)).testable).toBe(false)
  })

  test('what is not finite is left out and counted', () => {
    expect(
      andersonDarlingTwoSample([1, Number.NaN, 2], [Number.NEGATIVE_INFINITY, 3]),
    ).toMatchObject({ beforeCount: 2, afterCount: 1, droppedBefore: 1, droppedAfter: 1 })
  })

  test('one value against one has neither statistic nor p, but a direction', () => {
    expect(andersonDarlingTwoSample([2], [1])).toMatchObject({
      statistic: Number.NaN,
      p: Number.NaN,
      direction: 'faster',
    })
  })

  test('an empty sample has nothing', () => {
    expect(andersonDarlingTwoSample([], [1, 2])).toMatchObject({
      statistic: Number.NaN,
      p: Number.NaN,
      a2: Number.NaN,
      direction: 'none',
      testable: false,
    })
  })
})
