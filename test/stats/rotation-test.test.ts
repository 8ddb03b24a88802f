import { describe, expect, test } from 'vitest'
import { randomSource, rotationTest } from '../../src/stats/index.ts'

describe('the statistic', () => {
  test('is the sum of products in standard errors over all rotations', () => {
    const result = rotationTest([0, 0, 9, 0, 0, 0], [0, 0, 1, 0, 0, 0], { stretches: 1 })
    expect(result.excess).toBe(7.5)
    expect(result.variance).toBe(11.25)
    expect(result.statistic).toBeCloseTo(Math.sqrt(5), 12)
    expect(result.p).toBeCloseTo(0.012674, 6)
  })

  test('is negative where one is high while the other is low', () => {
    expect(rotationTest([0, 9, 0, 0], [1, 0, 1, 1], { stretches: 1 }).statistic).toBeCloseTo(
      -Math.sqrt(3),
      12,
    )
  })

  test('does not count what both do over several stretches', () => {
    const rising = Array.from({ length: 40 }, (_, i) => Math.floor(i / 10))
    expect(rotationTest(rising, rising, { stretches: 4 }).statistic).toBeNaN()
    expect(rotationTest(rising, rising, { stretches: 1 }).statistic).toBeGreaterThan(1.5)
  })

  test('is NaN for series that never vary, and for none', () => {
    expect(rotationTest([1, 1, 1], [1, 2, 3]).statistic).toBeNaN()
    expect(rotationTest([], []).p).toBeNaN()
  })
})

test('series that stay high for a while by themselves are told to be together in 5 %', () => {
  const random = randomSource(1)
  const waves = () => {
    let level = 0
    return Array.from({ length: 600 }, () => {
      level = 0.9 * level + random.normal()
      return level > 2 ? 1 : 0
    })
  }
  const rejected = Array.from({ length: 400 }, () => rotationTest(waves(), waves()).p < 0.05)
  const share = rejected.filter(Boolean).length / rejected.length
  expect(share).toBeGreaterThan(0.02)
  expect(share).toBeLessThan(0.08)
})

test('what it cannot test is refused with the next step', () => {
  expect(() => rotationTest([1, 2], [1])).toThrow(
    'other is 1. Give as many values as the other series (2).',
  )
  expect(() => rotationTest([1], [1], { stretches: 0 })).toThrow(
    'stretches is 0. Give a whole number from 1.',
  )
})
