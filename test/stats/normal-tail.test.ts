import { describe, expect, test } from 'vitest'
import { normalP, normalTail } from '../../src/stats/distributions.ts'
import { expectRelative } from './expect-relative.ts'

describe('the normal tail', () => {
  // scipy.stats.norm.sf 1.17.1.
  test.each([
    [0, 0.5],
    [1.959963984540054, 0.025],
    [-1.959963984540054, 0.975],
    [10, 7.619853024160527e-24],
    [37, 5.725571222524576e-300],
    [Number.POSITIVE_INFINITY, 0],
    [Number.NEGATIVE_INFINITY, 1],
    [Number.NaN, Number.NaN],
  ])('beyond %d is %d', (z, p) => {
    expectRelative(normalTail(z), p, 1e-13)
  })
})

describe('the p of a z that is positive where after is slower', () => {
  test('two-sided counts both tails, one-sided its own', () => {
    const z = 1.959963984540054
    expectRelative(normalP(z, 'two-sided'), 0.05, 1e-14)
    expectRelative(normalP(-z, 'two-sided'), 0.05, 1e-14)
    expectRelative(normalP(z, 'slower'), 0.025, 1e-14)
    expectRelative(normalP(z, 'faster'), 0.975, 1e-14)
    expectRelative(normalP(-z, 'faster'), 0.025, 1e-14)
  })

  test('of 0 is 1, one-sided ½', () => {
    expect(normalP(0, 'two-sided')).toBe(1)
    expect([normalP(0, 'slower'), normalP(0, 'faster')]).toEqual([0.5, 0.5])
  })
})
