import { describe, expect, test } from 'vitest'
import { quantileMap } from '../../src/stats/quantile-map.ts'
import { randomSource } from '../../src/stats/random.ts'

describe('a quantile map', () => {
  test('of a sample to itself gives every value exactly, ties too', () => {
    const random = randomSource(1)
    for (const n of [1, 2, 3, 7, 100, 333]) {
      const sample = Array.from({ length: n }, () => random.logNormal(3, 2))
      sample.push(sample[0] as number, sample[0] as number)
      const map = quantileMap(sample, random.shuffle(sample))
      expect(sample.map(map)).toEqual(sample)
    }
  })

  test('of one value gives the median of the other sample', () => {
    expect(quantileMap([5], [1, 2, 30])(5)).toBe(2)
    expect(quantileMap([5, 5, 5, 5], [10, 20])(5)).toBe(15)
  })

  test('to one value gives that value', () => {
    expect([0, 1, 9].map(quantileMap([1, 2, 3], [7]))).toEqual([7, 7, 7])
  })

  test('never falls', () => {
    const random = randomSource(2)
    const sample = () => Array.from({ length: 50 }, () => Math.round(random.logNormal(2, 1)))
    const map = quantileMap(sample(), sample())
    const mapped = Array.from({ length: 200 }, (_, i) => map(i / 4))
    expect(mapped).toEqual(mapped.toSorted((a, b) => a - b))
  })

  test('leaves its samples as they are, and refuses empty ones and NaN', () => {
    const base = Object.freeze([3, 1, 2])
    expect(quantileMap(base, base)(1)).toBe(1)
    expect(() => quantileMap([], [1])).toThrow('Option base is "empty". Give at least one value.')
    expect(() => quantileMap([1], [1, Number.NaN])).toThrow('Option target is "NaN"')
  })
})
