import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ksTwoSample, moments, randomSource } from '../../src/stats/index.ts'

const draw = (n: number, next: () => number) => Float64Array.from({ length: n }, next)

describe('random source', () => {
  // Computed apart, by sfc32, splitmix32 and Leva's method written in Python.
  test('seed 1 gives this stream on every platform', () => {
    const { next, integer, normal } = randomSource(1)
    expect([next(), next(), next()]).toEqual([
      0.5636717720710586, 0.8959073941886353, 0.2723428182814803,
    ])
    expect(Array.from({ length: 8 }, () => integer(100))).toEqual([59, 66, 22, 87, 8, 33, 33, 27])
    expect([normal(), normal(), normal()]).toEqual([
      -2.907010293965026, 0.44268330836971603, -0.41851086785530894,
    ])
  })

  test('one seed gives one stream, neighboring seeds give unrelated ones', () => {
    expect(draw(100, randomSource(7).next)).toEqual(draw(100, randomSource(7).next))
    const [first, second] = [draw(20_000, randomSource(7).next), draw(20_000, randomSource(8).next)]
    const products = first.map((value, i) => (value - 0.5) * ((second[i] ?? 0) - 0.5) * 12)
    expect(Math.abs(moments(products).mean)).toBeLessThan(4 / Math.sqrt(20_000))
  })

  test('a seed counts by its lowest 32 bits', () => {
    expect(randomSource(2 ** 32 + 5).next()).toBe(randomSource(5).next())
  })

  test('next is uniform in [0, 1)', () => {
    const sample = draw(20_000, randomSource(3).next)
    const even = Float64Array.from(sample, (_, i) => (i + 0.5) / sample.length)
    expect(ksTwoSample(sample, even).p).toBeGreaterThan(0.05)
    const { min, max } = moments(sample)
    expect(min).toBeGreaterThanOrEqual(0)
    expect(max).toBeLessThan(1)
  })

  test('integer gives every number below n about equally often', () => {
    const { integer } = randomSource(4)
    const counts = new Uint32Array(6)
    for (let i = 0; i < 60_000; i++) {
      const face = integer(6)
      counts[face] = (counts[face] ?? 0) + 1
    }
    const chiSquared = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0)
    expect(chiSquared).toBeLessThan(15.09)
    expect(integer(1)).toBe(0)
  })

  test('normal has mean 0, standard deviation 1 and the right tails', () => {
    const sample = draw(100_000, randomSource(5).normal)
    const { mean, sd } = moments(sample)
    expect(Math.abs(mean)).toBeLessThan(0.01)
    expect(Math.abs(sd - 1)).toBeLessThan(0.01)
    const beyond = (z: number) => sample.filter((value) => Math.abs(value) > z).length / 100_000
    expect(beyond(1)).toBeCloseTo(0.3173, 2)
    expect(beyond(1.96)).toBeCloseTo(0.05, 2)
    expect(beyond(3)).toBeCloseTo(0.0027, 3)
  })

  test('the logarithm of logNormal(mu, sigma) is normal with that mean and deviation', () => {
    const { logNormal } = randomSource(6)
    const { mean, sd } = moments(draw(50_000, () => Math.log(logNormal(3, 0.5))))
    expect(mean).toBeCloseTo(3, 1)
    expect(sd).toBeCloseTo(0.5, 1)
  })

  test('shuffle gives a new array with the same elements', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer(), (array, seed) => {
        const frozen = Object.freeze([...array])
        const shuffled = randomSource(seed).shuffle(frozen)
        expect(shuffled.toSorted()).toEqual(array.toSorted())
        expect(shuffled).not.toBe(frozen)
      }),
    )
    expect(randomSource(1).shuffle(['a', 'b', 'c', 'd'])).toEqual(['b', 'a', 'd', 'c'])
  })

  test('shuffle gives every order about equally often', () => {
    const { shuffle } = randomSource(9)
    const counts = new Map<string, number>()
    for (let i = 0; i < 24_000; i++) {
      const order = shuffle(['a', 'b', 'c', 'd']).join('')
      counts.set(order, (counts.get(order) ?? 0) + 1)
    }
    const chiSquared = [...counts.values()].reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0)
    expect(counts.size).toBe(24)
    expect(chiSquared).toBeLessThan(41.64)
  })

  test('a seed or a bound that is not an integer is refused', () => {
    expect(() => randomSource(0.5)).toThrow('Option seed is 0.5. Give an integer.')
    expect(() => randomSource(1).integer(0)).toThrow(
      'Option n is 0. Give an integer from 1 to 4294967296.',
    )
    expect(() => randomSource(1).integer(2.5)).toThrow('Option n is 2.5.')
  })
})
