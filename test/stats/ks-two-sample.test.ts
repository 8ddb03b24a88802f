import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OptionError } from '../../src/core/errors.ts'
import { type Alternative, isTestable, ksTwoSample } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

const range = (n: number, start = 1) =>
  Object.freeze(Array.from({ length: n }, (_, i) => start + i)) as readonly number[]

describe('which samples are testable', () => {
  test.each([
    [8, 8, false],
    [9, 9, true],
    [5, 20, false],
    [5, 21, true],
    [20, 5, false],
    [21, 5, true],
    [4, 1_000_000, false],
    [1, 1, false],
    [0, 100, false],
    [0, 0, false],
  ])('%i against %i: %s', (before, after, expected) => {
    expect(isTestable(before, after)).toBe(expected)
  })

  test('8 against 8 is too few for the KS test, but its statistic and p are still given', () => {
    const result = ksTwoSample(range(8), range(8, 101))
    expect(result).toMatchObject({ testable: false, statistic: 1, direction: 'slower' })
    expectRelative(result.p, 0.00015561853723100168, 1e-13)
  })

  test('9 against 9 is enough', () => {
    expect(ksTwoSample(range(9), range(9, 101)).testable).toBe(true)
  })
})

describe('direction', () => {
  test('after shifted upwards is slower', () => {
    const result = ksTwoSample(range(9), range(9, 11))
    expect(result).toMatchObject({ statistic: 1, direction: 'slower', location: 9 })
  })

  test('after shifted downwards is faster', () => {
    const result = ksTwoSample(range(9, 11), range(9))
    expect(result).toMatchObject({ statistic: 1, direction: 'faster', location: 9 })
  })

  test('identical samples have no direction, no location and p 1', () => {
    const result = ksTwoSample(range(9), range(9))
    expect(result).toMatchObject({ statistic: 0, p: 1, direction: 'none', location: Number.NaN })
  })

  test('a sample spread out both ways by the same amount has no direction, at its first gap', () => {
    const result = ksTwoSample([4, 5], [1, 9])
    expect(result).toMatchObject({ statistic: 0.5, direction: 'none', location: 1 })
  })

  test('asked for slower, a sample that only got faster has statistic 0 and p 1', () => {
    for (const method of ['stephens', 'exact'] as const) {
      const result = ksTwoSample(range(9, 11), range(9), { alternative: 'slower', method })
      expect(result).toMatchObject({ statistic: 0, p: 1, direction: 'none', location: Number.NaN })
    }
  })

  test('asked for faster, the gap in that direction is reported although the other is larger', () => {
    const result = ksTwoSample([2, 3, 4, 5], [1, 9, 9, 9], { alternative: 'faster' })
    expect(result).toMatchObject({ statistic: 0.25, direction: 'faster', location: 1 })
  })
})

describe('ties', () => {
  test('are compared at the end of their group', () => {
    const result = ksTwoSample([1, 1, 1, 2], [1, 2, 2, 2])
    expect(result).toMatchObject({ statistic: 0.5, location: 1, direction: 'slower' })
  })

  test('a constant against itself has p 1', () => {
    const result = ksTwoSample(Array(12).fill(7), Array(15).fill(7), { method: 'exact' })
    expect(result).toMatchObject({ statistic: 0, p: 1 })
  })

  test('−0 and 0 are the same value', () => {
    expect(ksTwoSample([-0, -0], [0, 0]).statistic).toBe(0)
  })
})

describe('the exact p-value', () => {
  test('of disjoint samples is 2 among all interleavings, 1 when one-sided', () => {
    expectRelative(ksTwoSample(range(5), range(5, 11), { method: 'exact' }).p, 2 / 252, 1e-14)
    const oneSided = { method: 'exact', alternative: 'slower' } as const
    expectRelative(ksTwoSample(range(5), range(5, 11), oneSided).p, 1 / 252, 1e-14)
    expectRelative(ksTwoSample(range(3), range(7, 11), oneSided).p, 1 / 120, 1e-14)
  })

  test('is what counting every interleaving gives, with ties, for each alternative', () => {
    const sample = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 })
    const alternative = fc.constantFrom<Alternative>('two-sided', 'slower', 'faster')
    fc.assert(
      fc.property(sample, sample, alternative, (before, after, side) => {
        const { p } = ksTwoSample(before, after, { alternative: side, method: 'exact' })
        expectRelative(p, countInterleavings(before, after, side), 1e-12)
      }),
    )
  })

  test('auto is exact up to 10,000,000 pairs and Stephens beyond', () => {
    const small = ksTwoSample(range(1000), range(10_000), { method: 'auto', sorted: true })
    const large = ksTwoSample(range(1001), range(10_000), { method: 'auto', sorted: true })
    expect([small.method, large.method]).toEqual(['exact', 'stephens'])
  })

  test('stays relatively exact where the two-sided p is 1e-57', () => {
    const result = ksTwoSample(range(500), range(500, 251), { method: 'exact' })
    expectRelative(result.p, 3.568664604103568e-57, 1e-12)
  })
})

describe('what is not a number', () => {
  test('NaN and infinities are left out', () => {
    const before = [3, Number.NaN, 1, Number.POSITIVE_INFINITY, 2, Number.NEGATIVE_INFINITY]
    const result = ksTwoSample(Object.freeze(before), Object.freeze([4, Number.NaN, 5]))
    expect(result).toMatchObject({
      statistic: 1,
      location: 3,
      beforeCount: 3,
      afterCount: 2,
    })
  })

  test('sorted samples may carry them at their ends', () => {
    const dirty = [Number.NEGATIVE_INFINITY, 1, 2, 3, Number.POSITIVE_INFINITY, Number.NaN]
    for (const before of [dirty, new Float64Array(dirty)]) {
      const result = ksTwoSample(before, [2, 3, 4], { sorted: true })
      expect(result).toMatchObject({ statistic: 1 / 3, beforeCount: 3 })
    }
  })

  test('an empty sample has no statistic and no p, and is not testable', () => {
    for (const [before, after] of [
      [[], [1, 2]],
      [[1, 2], []],
      [[], []],
      [[Number.NaN], [1]],
    ]) {
      for (const method of ['stephens', 'exact'] as const) {
        expect(ksTwoSample(before ?? [], after ?? [], { method })).toMatchObject({
          statistic: Number.NaN,
          p: Number.NaN,
          location: Number.NaN,
          direction: 'none',
          testable: false,
        })
      }
    }
  })

  test('1 against 1 has a statistic but is not testable', () => {
    const result = ksTwoSample([1], [2], { method: 'exact' })
    expect(result).toMatchObject({ statistic: 1, p: 1, testable: false })
  })
})

describe('options', () => {
  test('sorted gives the same result as sorting, and leaves the samples as they were', () => {
    const before = new Float64Array([5, 1, 4, 2, 2])
    const after = new Float64Array([3, 9, 2])
    const unsorted = ksTwoSample(before, after)
    expect([...before, ...after]).toEqual([5, 1, 4, 2, 2, 3, 9, 2])
    const sorted = ksTwoSample(before.toSorted(), after.toSorted(), { sorted: true })
    expect(sorted).toEqual(unsorted)
  })

  test('sorted samples that are not ascending are refused, also where a NaN hides in them', () => {
    expect(() => ksTwoSample([1, 5, 3], [1], { sorted: true })).toThrow(
      new OptionError('sorted', true, 'false, or ascending samples: 3 follows 5 at index 2'),
    )
    expect(() => ksTwoSample([1], [1, Number.NaN, 3], { sorted: true })).toThrow(
      'Option sorted is true. Give false, or ascending samples: NaN follows 1 at index 1.',
    )
  })

  test('an unknown alternative or method is refused', () => {
    expect(() => ksTwoSample([1], [2], { alternative: 'larger' as 'slower' })).toThrow(
      `Option alternative is "larger". Give 'two-sided', 'slower', 'faster'.`,
    )
    expect(() => ksTwoSample([1], [2], { method: 'asymp' as 'exact' })).toThrow(
      `Option method is "asymp". Give 'stephens', 'exact', 'auto'.`,
    )
  })
})

describe('for all samples', () => {
  const sample = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 40 })
  const mirrored = { slower: 'faster', faster: 'slower', none: 'none' } as const

  test('swapping the periods keeps statistic, p and location and mirrors the direction', () => {
    fc.assert(
      fc.property(sample, sample, fc.constantFrom('stephens', 'exact'), (before, after, method) => {
        const there = ksTwoSample(before, after, { method })
        const back = ksTwoSample(after, before, { method })
        expect(back.statistic).toBe(there.statistic)
        expect(back.location).toBe(there.location)
        expect(back.direction).toBe(mirrored[there.direction])
        expectRelative(back.p, there.p, 1e-12)
      }),
    )
  })

  test('slower of the one is faster of the other', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const slower = ksTwoSample(before, after, { alternative: 'slower' })
        const faster = ksTwoSample(after, before, { alternative: 'faster' })
        expect([faster.statistic, faster.p]).toEqual([slower.statistic, slower.p])
      }),
    )
  })

  test('the two-sided statistic is the larger of the one-sided ones', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const [both, slower, faster] = (['two-sided', 'slower', 'faster'] as const).map(
          (alternative) => ksTwoSample(before, after, { alternative }).statistic,
        )
        expect(both).toBe(Math.max(slower ?? 0, faster ?? 0))
      }),
    )
  })

  test('scaling all latencies scales only the location', () => {
    fc.assert(
      fc.property(sample, sample, fc.integer({ min: 1, max: 1000 }), (before, after, factor) => {
        const result = ksTwoSample(before, after)
        const scaled = ksTwoSample(
          before.map((value) => value * factor),
          after.map((value) => value * factor),
        )
        expect(scaled).toEqual({ ...result, location: scaled.location })
        expect(scaled.location + 0).toEqual(result.location * factor + 0)
      }),
    )
  })

  test('shuffling the requests changes nothing', () => {
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const result = ksTwoSample(before, after)
        expect(ksTwoSample(before.toReversed(), after.toReversed())).toEqual(result)
      }),
    )
  })

  test('the statistic is the largest difference of the two shares at or below the location', () => {
    const share = (values: number[], x: number) =>
      values.filter((value) => value <= x).length / values.length
    fc.assert(
      fc.property(sample, sample, (before, after) => {
        const { statistic, location } = ksTwoSample(before, after)
        const gaps = [...before, ...after].map((x) => Math.abs(share(before, x) - share(after, x)))
        expect(statistic).toBeCloseTo(Math.max(...gaps), 12)
        if (statistic === 0) return
        const gap = Math.abs(share(before, location) - share(after, location))
        expect(gap).toBeCloseTo(statistic, 12)
      }),
    )
  })
})

/** The share of the ways to deal the pooled values out that have at least the observed gap. */
function countInterleavings(before: number[], after: number[], alternative: Alternative): number {
  const pooled = [...before, ...after].sort((x, y) => x - y)
  const observed = gapOf(before, after, alternative)
  let ways = 0
  let extreme = 0
  for (let mask = 0; mask < 1 << pooled.length; mask++) {
    const first = pooled.filter((_, i) => (mask >> i) & 1)
    if (first.length !== before.length) continue
    const second = pooled.filter((_, i) => !((mask >> i) & 1))
    ways++
    if (gapOf(first, second, alternative) >= observed) extreme++
  }
  return extreme / ways
}

function gapOf(before: number[], after: number[], alternative: Alternative): number {
  const below = (values: number[], x: number) => values.filter((value) => value <= x).length
  const gaps = [...before, ...after].map(
    (x) => below(before, x) * after.length - below(after, x) * before.length,
  )
  const slower = Math.max(0, ...gaps)
  const faster = Math.max(0, ...gaps.map((gap) => -gap))
  return { slower, faster, 'two-sided': Math.max(slower, faster) }[alternative]
}
