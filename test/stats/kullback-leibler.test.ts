import { describe, expect, test } from 'vitest'
import { kullbackLeibler } from '../../src/stats/kullback-leibler.ts'

describe('the Kullback-Leibler divergence', () => {
  test('of equal shares is 0 without padding, whatever the sums', () => {
    expect(kullbackLeibler([1, 2, 3], [10, 20, 30], { padding: 0 })).toBeCloseTo(0, 15)
  })

  test('is finite where only the first has anything, and infinite without padding', () => {
    expect(kullbackLeibler([10, 0], [0, 10])).toBeCloseTo(Math.log(22), 12)
    expect(kullbackLeibler([10, 0], [0, 10], { padding: 0 })).toBe(Infinity)
  })

  test('pads the second argument only: exchanged, it is another number', () => {
    const there = kullbackLeibler([9, 1], [5, 5])
    const back = kullbackLeibler([5, 5], [9, 1])
    expect([there, back].map((kl) => Number(kl.toFixed(4)))).toEqual([0.3681, 0.3764])
  })

  test('takes weights that are no whole numbers', () => {
    expect(kullbackLeibler([0.5, 1.5], [2.5, 7.5], { padding: 0 })).toBeCloseTo(0, 15)
  })

  test('is NaN where one is all 0', () => {
    expect(kullbackLeibler([0, 0], [1, 2])).toBeNaN()
    expect(kullbackLeibler([1, 2], [0, 0])).toBeNaN()
  })

  test('refuses other lengths, negative counts and padding', () => {
    expect(() => kullbackLeibler([1], [1, 2])).toThrow('Option q is "2 bins". Give 1 bins')
    expect(() => kullbackLeibler([1, -1], [1, 2])).toThrow('Option p[1] is -1')
    expect(() => kullbackLeibler([1], [1], { padding: -1 })).toThrow('Option padding is -1')
  })
})
