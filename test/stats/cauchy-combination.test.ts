import { mean } from 'd3-array'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cauchyCombination } from '../../src/stats/cauchy-combination.ts'
import { normalTail } from '../../src/stats/distributions.ts'
import { randomSource } from '../../src/stats/random.ts'

const oneP = fc.double({ min: 1e-12, max: 0.98, noNaN: true })

describe('Cauchy combination', () => {
  test('of tests that agree is what each says', () => {
    fc.assert(
      fc.property(oneP, fc.integer({ min: 1, max: 9 }), (p, tests) => {
        expect(cauchyCombination(new Array(tests).fill(p)) / p).toBeCloseTo(1, 6)
      }),
    )
  })

  test('of one that is small among many is about as many times its p', () => {
    expect(cauchyCombination([1e-6, 0.5, 0.5, 0.5]) / 4e-6).toBeCloseTo(1, 3)
    expect(cauchyCombination([1e-30, 0.5]) / 2e-30).toBeCloseTo(1, 6)
    expect(cauchyCombination([1e-6, 0.5], [0.1, 0.9]) / 1e-5).toBeCloseTo(1, 3)
  })

  test('lies between the smallest p and 1, whatever the order', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (p) => {
        const all = cauchyCombination(p)
        expect(all).toBeGreaterThanOrEqual(Math.min(...p))
        expect(all).toBeLessThanOrEqual(1)
        expect(cauchyCombination(p.toReversed())).toBeCloseTo(all, 9)
      }),
    )
  })

  test('of one that cannot differ is less than three times that of the other', () => {
    for (const p of [0.001, 0.01, 0.03]) expect(cauchyCombination([p, 1]) / p).toBeLessThan(3)
  })

  test('leaves out tests that were not made', () => {
    expect(cauchyCombination([Number.NaN, 0.02])).toBeCloseTo(0.02, 12)
    expect(cauchyCombination([])).toBeNaN()
  })

  test.each([0, 0.5, 0.95])(
    'is small by chance as often as it says, of tests that correlate by %s',
    (r) => {
      const random = randomSource(7)
      const runs = 40_000
      const small = Array.from({ length: runs }, () => {
        const common = random.normal()
        const p = Array.from({ length: 6 }, () =>
          normalTail(Math.sqrt(r) * common + Math.sqrt(1 - r) * random.normal()),
        )
        return Number(cauchyCombination(p) < 0.01)
      })
      expect(mean(small)).toBeGreaterThan(0.007)
      expect(mean(small)).toBeLessThan(0.0125)
    },
  )
})
