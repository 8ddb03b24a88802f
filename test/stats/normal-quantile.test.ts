import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalTail } from '../../src/stats/distributions.ts'
import { normalQuantile } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

describe('the normal quantile', () => {
  // scipy.stats.norm.ppf 1.17.1.
  test.each([
    [0.5, 0],
    [0.975, 1.959963984540054],
    [0.95, 1.6448536269514722],
    [0.025, -1.9599639845400545],
    [1e-300, -37.0471],
  ])('of %d is %d', (p, z) => {
    expect(normalQuantile(p)).toBeCloseTo(z, 3)
  })

  test('of 0 and 1 is infinite', () => {
    expect([normalQuantile(0), normalQuantile(1)]).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ])
  })

  test('is the inverse of the tail, over all its range', () => {
    fc.assert(
      fc.property(fc.double({ min: -37, max: 8, noNaN: true }), (z) => {
        expect(normalQuantile(normalTail(-z))).toBeCloseTo(z, z > 5 ? 1 : 9)
      }),
    )
  })

  test('is odd around ½', () => {
    for (const p of [0.25, 0.125, 0.0625, 2 ** -10]) {
      expectRelative(normalQuantile(1 - p), -normalQuantile(p), 1e-14)
    }
  })

  test('rises across the joints of its three formulas', () => {
    for (const p of [0.075, 0.925, Math.exp(-25), 1 - Math.exp(-25)]) {
      const step = 1e-4 * Math.min(p, 1 - p)
      const around = [p - step, p, p + step].map(normalQuantile)
      expect(around).toEqual([...around].sort((x, y) => x - y))
      expect((around[2] ?? 0) - (around[0] ?? 0)).toBeLessThan(1e-3)
    }
  })

  test.each([-0.1, 1.1, Number.NaN])('of %d is refused', (p) => {
    expect(() => normalQuantile(p)).toThrow(`Option p is ${p}. Give a probability from 0 to 1.`)
  })
})
