import { describe, expect, test } from 'vitest'
import { andersonDarling, andersonDarlingTwoSample } from '../../src/stats/index.ts'

const range = (n: number, start = 1) =>
  Object.freeze(Array.from({ length: n }, (_, i) => start + i)) as readonly number[]

describe('two-sample Anderson-Darling', () => {
  test('has the statistic and p of the k-sample test', () => {
    const [before, after] = [range(9), range(12, 4)]
    const { statistic, p, a2 } = andersonDarling([before, after])
    expect(andersonDarlingTwoSample(before, after)).toMatchObject({ statistic, p, a2 })
  })

  test('hands the options on', () => {
    const options = { method: 'permutation', permutations: 199, seed: 5 } as const
    const [before, after] = [range(9), range(12, 4)]
    const { p } = andersonDarling([before, after], options)
    expect(andersonDarlingTwoSample(before, after, options)).toMatchObject({
      p,
      method: 'permutation',
    })
  })

  test('is slower or faster by most pairs; swapping the periods keeps p', () => {
    const there = andersonDarlingTwoSample(range(9), range(12, 4))
    const back = andersonDarlingTwoSample(range(12, 4), range(9))
    expect([there.direction, back.direction]).toEqual(['slower', 'faster'])
    expect(back.p).toBeCloseTo(there.p, 14)
  })

  test('a wider spread around the same center is seen, but has no direction', () => {
    const before = Array.from({ length: 41 }, (_, i) => i - 20)
    const after = before.map((value) => 10 * value)
    const { direction, p } = andersonDarlingTwoSample(before, after)
    expect(direction).toBe('none')
    expect(p).toBeLessThan(0.001)
  })

  test('9 against 9 is testable, 8 against 8 and 4 against a million are not', () => {
    expect(andersonDarlingTwoSample(range(9), range(9)).testable).toBe(true)
    expect(andersonDarlingTwoSample(range(8), range(8)).testable).toBe(false)
    expect(andersonDarlingTwoSample(range(4), range(100)).testable).toBe(false)
  })

  test('what is not finite is left out and counted', () => {
    expect(
      andersonDarlingTwoSample([1, Number.NaN, 2], [Number.NEGATIVE_INFINITY, 3]),
    ).toMatchObject({ beforeCount: 2, afterCount: 1, droppedBefore: 1, droppedAfter: 1 })
  })

  test('one value against one has neither statistic nor p, but a direction', () => {
    expect(andersonDarlingTwoSample([2], [1])).toMatchObject({
      statistic: Number.NaN,
      p: Number.NaN,
      direction: 'faster',
    })
  })

  test('an empty sample has nothing', () => {
    expect(andersonDarlingTwoSample([], [1, 2])).toMatchObject({
      statistic: Number.NaN,
      p: Number.NaN,
      a2: Number.NaN,
      direction: 'none',
      testable: false,
    })
  })
})
