import { describe, expect, test } from 'vitest'
import { detectableShift, mannWhitney, randomSource } from '../../src/stats/index.ts'

const even = Object.freeze(Array.from({ length: 100 }, (_, i) => 1000 + 10 * i))

describe('the detectable shift', () => {
  test('of 100 against 100 evenly spread values is an eighth of their range', () => {
    // A shift d of a uniform of width 1 gives P(after > before) = ½ + d − d²/2.
    const { shift, power } = detectableShift(even, 100)
    expect(shift).toBe(130)
    expect(power).toBeGreaterThanOrEqual(0.8)
    expect(power).toBeLessThan(0.85)
  })

  test('shrinks with more values, less power and a laxer level', () => {
    const { shift } = detectableShift(even, 100)
    expect(detectableShift(even, 400).shift).toBeLessThan(shift)
    expect(detectableShift(even, 25).shift).toBeGreaterThan(shift)
    expect(detectableShift(even, 100, { power: 0.5 }).shift).toBeLessThan(shift)
    expect(detectableShift(even, 100, { alpha: 0.001 }).shift).toBeGreaterThan(shift)
  })

  test('moves with the unit and not with the place', () => {
    const { shift } = detectableShift(even, 40)
    const moved = even.map((value) => 8 * value - 3000)
    expect(detectableShift(moved, 40).shift).toBe(8 * shift)
  })

  test.each([
    ['normal', 40, 25],
    ['log-normal', 100, 60],
  ] as const)('of %s samples is seen with the power asked for, on average', (shape, n1, n2) => {
    const random = randomSource(11)
    const value = () => (shape === 'normal' ? random.normal() : random.logNormal(0, 1))
    const sample = (n: number, shift = 0) => Float64Array.from({ length: n }, () => shift + value())
    const rounds = 2000
    let seen = 0
    for (let round = 0; round < rounds; round++) {
      const { shift } = detectableShift(sample(n1), n2)
      const { p } = mannWhitney(sample(n1), sample(n2, shift))
      if (p <= 0.05) seen++
    }
    expect(Math.abs(seen / rounds - 0.8)).toBeLessThan(3 * Math.sqrt(0.16 / rounds))
  })
})

describe('ties', () => {
  test('of latencies in whole milliseconds: the shift is in whole milliseconds, not none', () => {
    const whole = Array.from({ length: 400 }, (_, i) => i % 4)
    const { shift, power } = detectableShift(whole, 400)
    expect(shift).toBe(1)
    expect(power).toBeGreaterThan(0.99)
  })

  test('of values all equal: any shift is seen where sizes allow, else none', () => {
    expect(detectableShift(Array(10).fill(7), 10)).toMatchObject({ shift: 0, power: 1 })
    expect(detectableShift(Array(3).fill(7), 3)).toMatchObject({
      shift: Number.POSITIVE_INFINITY,
      power: 0,
    })
  })
})

describe('small samples', () => {
  test('3 against 3 see no shift at all at 5 %', () => {
    expect(detectableShift([1, 2, 3], 3)).toMatchObject({
      shift: Number.POSITIVE_INFINITY,
      power: 0,
    })
  })

  test('4 against 4 see only a shift past the whole range', () => {
    const { shift, power } = detectableShift([1, 2, 3, 4], 4, { alpha: 0.05 })
    expect(shift).toBeCloseTo(3, 4)
    expect(power).toBeGreaterThanOrEqual(0.8)
  })

  test.each([
    [[], 5],
    [[1], 5],
    [[1, Number.NaN], 5],
    [[1, 2, 3], 0],
  ])('%j against %i values: NaN', (before, afterCount) => {
    expect(detectableShift(before, afterCount)).toMatchObject({
      shift: Number.NaN,
      power: Number.NaN,
    })
  })

  test('NaN and infinities are left out', () => {
    const dirty = [...even, Number.NaN, Number.NEGATIVE_INFINITY]
    expect(detectableShift(dirty, 100)).toEqual({
      ...detectableShift(even, 100),
    })
  })
})

describe('options', () => {
  test.each([
    [5, { alpha: 0 }, 'Option alpha is 0. Give a share above 0 and below 1.'],
    [5, { power: 80 }, 'Option power is 80. Give a share above 0 and below 1.'],
    [-1, {}, 'Option afterCount is -1. Give an integer, 0 or more.'],
    [2.5, {}, 'Option afterCount is 2.5. Give an integer, 0 or more.'],
    [
      5,
      { sorted: true },
      'Option sorted is true. Give false, or ascending samples: 1 follows 2 at index 1.',
    ],
  ])('%d values after with %j are refused', (afterCount, options, message) => {
    expect(() => detectableShift([2, 1], afterCount, options)).toThrow(message)
  })
})
