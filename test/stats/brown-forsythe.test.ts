import { describe, expect, test } from 'vitest'
import { brownForsythe } from '../../src/stats/brown-forsythe.ts'
import { incompleteBeta } from '../../src/stats/distributions.ts'
import { randomSource } from '../../src/stats/random.ts'
import { expectRelative } from './expect-relative.ts'
import { scipyOracle } from './oracles/read.ts'

const scipy = scipyOracle()

describe('against SciPy’s levene(center="median")', () => {
  const pairs = scipy.pairs.filter(({ brownForsythe }) => brownForsythe !== undefined)

  test.each(pairs)('$name', ({ before, after, brownForsythe: expected }) => {
    const { statistic, p } = brownForsythe(before, after)
    expectRelative(statistic, expected?.statistic ?? Number.NaN, 1e-12)
    expectRelative(p, expected?.p ?? Number.NaN, 1e-11)
  })

  test('there are fourteen', () => expect(pairs.length).toBe(14))
})

test('the incomplete beta function is SciPy’s', () => {
  expect(scipy.incompleteBeta.length).toBeGreaterThan(100)
  for (const [a, b, x, expected] of scipy.incompleteBeta) {
    expectRelative(incompleteBeta(a, b, x), expected, 2e-11)
  }
})

test('the incomplete beta function at its ends and outside', () => {
  expect([incompleteBeta(3, 2, 0), incompleteBeta(3, 2, 1)]).toEqual([0, 1])
  expect(() => incompleteBeta(0, 1, 0.5)).toThrow('Option a is 0. Give a number above 0.')
  expect(() => incompleteBeta(1, -1, 0.5)).toThrow('Option b is -1. Give a number above 0.')
  expect(() => incompleteBeta(1, 1, 1.5)).toThrow('Option x is 1.5. Give a number from 0 to 1.')
})

test('swapping the periods swaps the direction and keeps the rest', () => {
  const [before, after] = [
    [9, 10, 11, 12, 40],
    [5, 10, 15, 20],
  ]
  const one = brownForsythe(before, after)
  const other = brownForsythe(after, before)
  expect(other.statistic).toBe(one.statistic)
  expect([one.direction, other.direction]).toEqual(['narrower', 'wider'])
})

test('a shift of one sample changes nothing', () => {
  const before = [3, 1, 4, 1, 5, 9, 2, 6]
  const after = [2, 7, 1, 8, 2, 8]
  const shifted = after.map((value) => value + 1024)
  expect(brownForsythe(before, shifted).p).toBe(brownForsythe(before, after).p)
})

test('equal constants are equally spread, a constant against two values is not', () => {
  expect(brownForsythe([5, 5, 5], [8, 8])).toMatchObject({ statistic: 0, p: 1, direction: 'none' })
  expect(brownForsythe([5, 5, 5], [8, 9])).toMatchObject({
    statistic: Number.POSITIVE_INFINITY,
    p: 0,
    direction: 'wider',
    testable: false,
  })
})

test('nothing can be said of an empty sample or of one value against one', () => {
  expect(brownForsythe([], [1, 2, 3])).toMatchObject({ statistic: Number.NaN, p: Number.NaN })
  expect(brownForsythe([1], [2])).toMatchObject({ statistic: Number.NaN, p: Number.NaN })
})

test('what is not finite is left out and counted', () => {
  const found = brownForsythe([1, 2, Number.NaN, 4], [2, Number.POSITIVE_INFINITY, 9, 10])
  expect(found).toMatchObject({ droppedBefore: 1, droppedAfter: 1, beforeCount: 3, afterCount: 3 })
  expect(found.p).toBe(brownForsythe([1, 2, 4], [2, 9, 10]).p)
})

test('of exponential samples of one spread, about 5 % are rejected at 5 %', () => {
  const random = randomSource(7)
  const sample = () => Float64Array.from({ length: 40 }, () => -Math.log(1 - random.next()))
  let rejected = 0
  for (let i = 0; i < 2000; i++) if (brownForsythe(sample(), sample()).p < 0.05) rejected++
  expect(rejected / 2000).toBeGreaterThan(0.03)
  expect(rejected / 2000).toBeLessThan(0.065)
})
