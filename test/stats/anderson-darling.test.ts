import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { andersonDarlingTail } from '../../src/stats/anderson-darling.ts'
import { andersonDarling } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

const SAMPLES = Object.freeze([
  Object.freeze([1, 2, 3, 4, 5]),
  Object.freeze([2, 4, 6, 8, 10]),
  Object.freeze([11, 12, 13, 14, 15]),
])

describe('the statistic', () => {
  test('of {1} against {2, 3} is 3/2 by hand, too few values to be standardized', () => {
    // (N − 1)/N · Σ over the first two places of (1/N) · Σᵢ (N·Mᵢ − j·nᵢ)²/nᵢ / (j(N − j) − N/4).
    const byHand = (2 / 3) * ((1 / 3) * (6 / 1.25) + (1 / 3) * (1.5 / 1.25) + 0)
    const { a2, statistic, p } = andersonDarling([[1], [2, 3]])
    expectRelative(a2, byHand, 1e-14)
    expect([statistic, p]).toEqual([Number.NaN, Number.NaN])
  })

  test('of three samples of five, one apart, is SciPy’s', () => {
    const { statistic, counts, testable } = andersonDarling(SAMPLES)
    expectRelative(statistic, 5.071575587132813, 1e-12)
    expect({ counts, testable }).toEqual({ counts: [5, 5, 5], testable: true })
  })

  test('does not change with the order of the samples, their values, nor their unit', () => {
    const sample = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 9 })
    fc.assert(
      fc.property(sample, sample, sample, (a, b, c) => {
        const there = andersonDarling([a, b, c])
        const back = andersonDarling([c, a, b].map((values) => values.map((x) => 3 * x).reverse()))
        expect(back.a2).toBeCloseTo(there.a2, 10)
        expect(back.p).toBeCloseTo(there.p, 10)
      }),
    )
  })
})

describe('the limit distribution', () => {
  // Upper percentage points of A² for one sample, Anderson and Darling 1952; Stephens 1974.
  test.each([
    [1.248, 0.25],
    [1.933, 0.1],
    [2.492, 0.05],
    [3.07, 0.025],
    [3.857, 0.01],
  ])('beyond %d lies %d', (x, p) => {
    expect(andersonDarlingTail(x, 1)).toBeCloseTo(p, 3)
  })

  // T of Scholz and Stephens 1987, table 1, standardized by the variance of the limit.
  test.each([
    [1, 1.96, 0.05],
    [1, 3.752, 0.01],
    [2, 1.945, 0.05],
    [4, 1.915, 0.05],
    [8, 1.859, 0.05],
  ])('for %d degrees of freedom T beyond %d has p %d', (m, t, p) => {
    const sd = Math.sqrt(m * 2 * (Math.PI ** 2 / 3 - 3))
    expect(Math.abs(andersonDarlingTail(m + t * sd, m) - p)).toBeLessThan(0.03 * p)
  })

  test('has neither floor nor cap, and falls all the way', () => {
    expect(andersonDarlingTail(0, 1)).toBe(1)
    expect(andersonDarlingTail(-3, 2)).toBe(1)
    expect(andersonDarlingTail(Number.NaN, 1)).toBe(Number.NaN)
    const points = Array.from({ length: 50 }, (_, i) => andersonDarlingTail(0.2 * 1.15 ** i, 3))
    for (const [i, p] of points.entries()) {
      expect(p).toBeLessThanOrEqual(points[i - 1] ?? 1)
      expect(p).toBeGreaterThan(0)
    }
    // Far out only the first χ² counts: the ratio of tails tends to e^(−difference).
    expectRelative(andersonDarlingTail(201, 2) / andersonDarlingTail(200, 2), Math.exp(-1), 1e-9)
  })
})

describe('p', () => {
  test('of the permutation method is that of the limit, about', () => {
    const samples = [
      Array.from({ length: 20 }, (_, i) => i),
      Array.from({ length: 30 }, (_, i) => 0.8 * i + 3.3),
    ]
    const limit = andersonDarling(samples).p
    const permuted = andersonDarling(samples, { method: 'permutation', permutations: 1999 })
    expect(permuted.method).toBe('permutation')
    expect(Math.abs(permuted.p - limit)).toBeLessThan(4 * Math.sqrt((limit * (1 - limit)) / 1999))
  })

  test('under ties is that of the permutation method, about', () => {
    const few = (n: number, most: number) => Array.from({ length: n }, (_, i) => (i * most) % 5)
    const samples = [few(12, 2.4), few(20, 3.1), few(30, 4.7)].map((sample) =>
      sample.map(Math.floor),
    )
    const limit = andersonDarling(samples).p
    const { p } = andersonDarling(samples, { method: 'permutation', permutations: 1999 })
    expect(limit).toBeGreaterThan(0.01)
    expect(limit).toBeLessThan(0.99)
    expect(Math.abs(p - limit)).toBeLessThan(4 * Math.sqrt((limit * (1 - limit)) / 1999))
  })

  test('of the permutation method is never below 1 / (permutations + 1)', () => {
    const [sample] = SAMPLES as [number[], ...number[][]]
    const apart = [sample, sample.map((value) => value + 100)]
    const { p } = andersonDarling(apart, { method: 'permutation', permutations: 99, seed: 4 })
    expect(p).toBeGreaterThanOrEqual(0.01)
    expect(p).toBeLessThanOrEqual(0.04)
  })

  test('of all values equal is 1, with a2 0', () => {
    for (const method of ['asymptotic', 'permutation'] as const) {
      const options = { method, permutations: 99 }
      expect(andersonDarling([[7, 7, 7], [7, 7], [7]], options)).toMatchObject({ p: 1, a2: 0 })
    }
  })

  test('one value against three has one, but is not testable', () => {
    const { p, statistic, testable } = andersonDarling([[1], [2, 3, 4]])
    expect(testable).toBe(false)
    expect(Number.isFinite(statistic)).toBe(true)
    expect(p).toBeGreaterThan(0.05)
    expect(p).toBeLessThan(1)
  })

  test('5 values in every sample are enough to be testable, 4 in one are not', () => {
    expect(andersonDarling([SAMPLES[0] ?? [], SAMPLES[1] ?? []]).testable).toBe(true)
    expect(andersonDarling([SAMPLES[0] ?? [], [1, 2, 3, 4]]).testable).toBe(false)
  })
})

describe('what is not a number', () => {
  test('NaN and infinities are left out and counted', () => {
    const dirty = [
      [1, Number.NaN, 2, 3],
      [Number.POSITIVE_INFINITY, 4, 5, Number.NaN, 6],
    ]
    const found = andersonDarling(dirty)
    expect(found).toMatchObject({ counts: [3, 3], dropped: [1, 2] })
    expect(found.a2).toBe(
      andersonDarling([
        [1, 2, 3],
        [4, 5, 6],
      ]).a2,
    )
  })

  test('an empty sample has no statistic and no p', () => {
    expect(andersonDarling([[1, 2, 3, 4, 5], []])).toMatchObject({
      statistic: Number.NaN,
      p: Number.NaN,
      a2: Number.NaN,
      testable: false,
    })
  })
})

describe('options', () => {
  test('a single sample is refused', () => {
    expect(() => andersonDarling([[1, 2, 3]])).toThrow(
      'Option samples is 1. Give two samples or more.',
    )
  })

  test('an unknown method, or no permutations, are refused', () => {
    expect(() => andersonDarling([[1], [2]], { method: 'exact' as never })).toThrow(
      `Option method is "exact". Give 'asymptotic', 'permutation'.`,
    )
    expect(() => andersonDarling([[1], [2]], { permutations: 0 })).toThrow(
      'Option permutations is 0. Give an integer, 1 or more.',
    )
  })

  test('samples said to be sorted must be', () => {
    expect(() =>
      andersonDarling(
        [
          [1, 2],
          [2, 1],
        ],
        { sorted: true },
      ),
    ).toThrow('Option sorted is true. Give false, or ascending samples: 1 follows 2 at index 1.')
  })
})
