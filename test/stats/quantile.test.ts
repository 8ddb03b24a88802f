import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quantile } from '../../src/stats/index.ts'
import { pooledQuantile } from '../../src/stats/quantile.ts'

// numpy.quantile([1, 2, 4, 8, 16, 32, 64], p)
test.each([
  [0, 1],
  [0.05, 1.3],
  [0.25, 3],
  [0.5, 8],
  [0.75, 24],
  [0.9, 44.8],
  [0.99, 62.08],
  [1, 64],
])('the %d-quantile interpolates as NumPy does: %d', (p, expected) => {
  expect(quantile(Object.freeze([1, 2, 4, 8, 16, 32, 64]), p)).toBeCloseTo(expected, 12)
})

test('the median of four values lies between the middle two', () => {
  expect(quantile([10, 20, 30, 40], 0.5)).toBe(25)
})

test('of one value it is that value, of none it is NaN', () => {
  expect(quantile([7], 0.3)).toBe(7)
  expect(quantile([], 0.3)).toBe(Number.NaN)
})

test('a p outside 0 to 1 is refused', () => {
  expect(() => quantile([1], 95)).toThrow('Option p is 95. Give a share from 0 to 1.')
  expect(() => quantile([1], Number.NaN)).toThrow('Option p is NaN. Give a share from 0 to 1.')
})

test('a larger p never gives a smaller quantile, and all lie within the sample', () => {
  const sample = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1 })
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(sample, share, share, (values, p, q) => {
      const sorted = new Float64Array(values).sort()
      const low = quantile(sorted, Math.min(p, q))
      const high = quantile(sorted, Math.max(p, q))
      expect(low).toBeLessThanOrEqual(high)
      expect(low).toBeGreaterThanOrEqual(sorted[0] ?? Number.NaN)
      expect(high).toBeLessThanOrEqual(sorted.at(-1) ?? Number.NaN)
    }),
  )
})

test('of two samples, it is that of all their values together', () => {
  const sample = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 20 })
  fc.assert(
    fc.property(sample, sample, fc.double({ min: 0, max: 1, noNaN: true }), (one, other, p) => {
      fc.pre(one.length + other.length > 0)
      const [first, second] = [one, other].map((values) => Float64Array.from(values).sort())
      const pooled = Float64Array.from([...one, ...other]).sort()
      expect(pooledQuantile(first as Float64Array, second as Float64Array, p)).toBe(
        quantile(pooled, p),
      )
    }),
  )
})
