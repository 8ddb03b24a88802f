import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bootstrapInterval, randomSource } from '../../src/stats/index.ts'

const range = (n: number, start = 1) =>
  Object.freeze(Array.from({ length: n }, (_, i) => start + i)) as readonly number[]

function logNormals(n: number, seed: number): readonly number[] {
  const { logNormal } = randomSource(seed)
  return Object.freeze(Array.from({ length: n }, () => logNormal(4, 1)))
}

describe('the estimate', () => {
  test.each([
    ['median', 30],
    ['mean', 30],
    [{ quantile: 0 }, 20],
    [{ quantile: 0.5 }, 30],
    [{ quantile: 1 }, 40],
  ] as const)('is the measure of after − that of before: %j', (measure, difference) => {
    const [before, after] = [range(40, 100), range(60, 120)]
    expect(bootstrapInterval(before, after, { measure }).estimate).toBe(difference)
    expect(bootstrapInterval(after, before, { measure }).estimate).toBe(-difference)
  })
})

describe('the interval', () => {
  test('lies around the estimate and is wider for a higher level', () => {
    const [before, after] = [logNormals(30, 1), logNormals(45, 2)]
    for (const measure of ['mean', 'median', { quantile: 0.9 }] as const) {
      const narrow = bootstrapInterval(before, after, { measure, level: 0.5 })
      const wide = bootstrapInterval(before, after, { measure, level: 0.99 })
      expect(wide.low).toBeLessThan(narrow.low)
      expect(narrow.low).toBeLessThanOrEqual(narrow.estimate)
      expect(narrow.high).toBeGreaterThanOrEqual(narrow.estimate)
      expect(wide.high).toBeGreaterThan(narrow.high)
    }
  })

  test('narrows with the root of the size', () => {
    const width = (n: number) => {
      const { low, high } = bootstrapInterval(range(n), range(n), { measure: 'mean' })
      return (high - low) / n
    }
    expect(width(1600) / width(100)).toBeGreaterThan(0.22)
    expect(width(1600) / width(100)).toBeLessThan(0.28)
  })

  test.each([
    [300, 500],
    [1000, 1200],
  ])('of the mean of %i and %i values is ± 1.96 standard errors', (n1, n2) => {
    // Variance of 1 to n is n(n + 1)/12.
    const error = Math.sqrt((n1 + 1) / 12 + (n2 + 1) / 12)
    const options = { measure: 'mean', resamples: 4000 } as const
    const { low, high } = bootstrapInterval(range(n1), range(n2), options)
    expect(((n2 - n1) / 2 - low) / error).toBeCloseTo(1.96, 0)
    expect((high - low) / error / 2).toBeGreaterThan(1.86)
    expect((high - low) / error / 2).toBeLessThan(2.06)
  })

  test('of a mean is symmetric around the estimate', () => {
    const found = bootstrapInterval(logNormals(20, 3), logNormals(30, 4), { measure: 'mean' })
    expect(found.high - found.estimate).toBeCloseTo(found.estimate - found.low, 10)
  })

  test('of a median has values of the samples as its differences', () => {
    const { low, high } = bootstrapInterval([1, 10, 100], [1000, 2000, 4000])
    for (const end of [low, high]) {
      expect([900, 990, 999, 1900, 1990, 1999, 3900, 3990, 3999]).toContain(end)
    }
  })

  test('moves with after and scales with the unit', () => {
    const [before, after] = [logNormals(15, 5), logNormals(22, 6)]
    for (const measure of ['mean', 'median'] as const) {
      const there = bootstrapInterval(before, after, { measure })
      const moved = bootstrapInterval(
        before,
        after.map((value) => value + 1000),
        { measure },
      )
      expect(moved.low).toBeCloseTo(there.low + 1000, 8)
      expect(moved.high).toBeCloseTo(there.high + 1000, 8)
      const grown = bootstrapInterval(
        before.map((value) => 1024 * value),
        after.map((value) => 1024 * value),
        { measure },
      )
      expect([grown.low, grown.high]).toEqual([1024 * there.low, 1024 * there.high])
    }
  })
})

describe('values all equal', () => {
  test.each(['mean', 'median'] as const)(
    'in each sample: %s: the interval is the estimate',
    (measure) => {
      const before = Array(3).fill(0.1)
      const after = Array(7).fill(0.7)
      const { estimate, low, high } = bootstrapInterval(before, after, { measure })
      expect(estimate).toBeCloseTo(0.6, 15)
      expect([low, high]).toEqual([estimate, estimate])
    },
  )

  test('in resamples leave no rounding that passes for a standard error', () => {
    // One in nine resamples of 3 repeats a value; its standard error must not be 1e-17.
    const { low, high } = bootstrapInterval([5, 5, 5, 5], [0.1, 0.4, 1.1], { measure: 'mean' })
    expect(high - low).toBeLessThan(20)
  })
})

describe('repeatability', () => {
  test('one seed gives one interval, whatever the order of the values', () => {
    const [before, after] = [logNormals(15, 5), logNormals(22, 6)]
    const there = bootstrapInterval(before, after)
    const back = bootstrapInterval([...before].reverse(), [...after].sort(), { seed: 1 })
    expect(back).toEqual(there)
    expect(bootstrapInterval(before, after, { seed: 2 }).low).not.toBe(there.low)
  })

  test('sorted samples are read as they stand', () => {
    const [before, after] = [range(15), range(22)]
    expect(bootstrapInterval(before, after, { sorted: true })).toEqual(
      bootstrapInterval(before, after),
    )
  })
})

describe('for all samples', () => {
  test('low is never above high, whatever the level and sample', () => {
    const sample = fc.array(fc.constantFrom(0, 1, 2, 3, 1e6), { minLength: 2, maxLength: 6 })
    const level = fc.constantFrom(0.5, 0.9, 0.999)
    fc.assert(
      fc.property(sample, sample, level, (before, after, level) => {
        const options = { measure: 'mean', level, resamples: 100 } as const
        const { low, high } = bootstrapInterval(before, after, options)
        expect(low).toBeLessThanOrEqual(high)
      }),
    )
  })
})

describe('small samples and what is not a number', () => {
  test('a single value has an estimate but no interval', () => {
    expect(bootstrapInterval([1], [2, 3, 4])).toMatchObject({
      estimate: 2,
      low: Number.NaN,
      high: Number.NaN,
    })
    expect(bootstrapInterval([2, 3, 4], [1])).toMatchObject({ estimate: -2, low: Number.NaN })
  })

  test('an empty sample has nothing', () => {
    for (const measure of ['mean', 'median'] as const) {
      expect(bootstrapInterval([], [1, 2], { measure })).toMatchObject({
        estimate: Number.NaN,
        low: Number.NaN,
        high: Number.NaN,
        beforeCount: 0,
        afterCount: 2,
      })
    }
  })

  test('NaN and infinities are left out', () => {
    const dirty = Object.freeze([1, Number.NaN, 2, Number.POSITIVE_INFINITY, 3])
    expect(bootstrapInterval(dirty, [4, 5, Number.NaN])).toMatchObject({
      estimate: 2.5,
      beforeCount: 3,
      afterCount: 2,
    })
  })
})

describe('options', () => {
  test.each([
    [{ level: 95 }, 'Option level is 95. Give a share above 0 and below 1.'],
    [{ resamples: 99 }, 'Option resamples is 99. Give an integer, 100 or more.'],
    [{ seed: 1.5 }, 'Option seed is 1.5. Give an integer.'],
    [
      { measure: 'max' as never },
      `Option measure is "max". Give 'mean', 'median' or { quantile: 0 to 1 }.`,
    ],
    [
      { sorted: true },
      'Option sorted is true. Give false, or ascending samples: 1 follows 2 at index 1.',
    ],
  ])('%j is refused', (options, message) => {
    expect(() => bootstrapInterval([2, 1], [3, 4], options)).toThrow(message)
  })
})

describe('one value that carries the variance', () => {
  test('does not blow the interval of the mean up beyond it', () => {
    const after = [...logNormals(299, 3), 1e6]
    const { low, high } = bootstrapInterval(logNormals(300, 4), after, { measure: 'mean' })
    // The mean of after moves by 3333 for each time the value is drawn, rarely more than 4 times.
    expect(high).toBeLessThan(4 * 3334 + 200)
    expect(low).toBeGreaterThan(-200)
  })
})
