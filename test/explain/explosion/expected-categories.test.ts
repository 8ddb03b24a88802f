import { describe, expect, test } from 'vitest'
import { expectedCategories } from '../../../src/explain/explosion/expected-categories.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { describeWithShared, sharedJson } from '../../shared.ts'
import { expectRelative } from '../../stats/expect-relative.ts'

interface HdfsCase {
  readonly N: number
  readonly R: number
  readonly k: number
  readonly C: number
  readonly expected: number
  readonly sd: number
}

describeWithShared('oracle hdfs_categories.json', () => {
  const { cases } = sharedJson<{ cases: HdfsCase[] }>('oracles/hdfs_categories.json')

  test.each(cases)('N $N, R $R, k $k', ({ N, R, k, C, expected, sd }) => {
    const found = expectedCategories(N, R, k)
    expect(found.possible).toBe(C)
    expectRelative(found.expected, expected, 1e-12)
    // The oracle subtracts large numbers: its own sd for k = 1,000,000 is 1 % off, see below.
    expect(Math.abs(found.sd - sd)).toBeLessThanOrEqual(k === 1e6 ? 0.3 : 4e-4 * sd)
  })
})

test('the thesis’s 126, 8 and 2 of Table 3.7', () => {
  const printed = [139, 8, 2].map((k) => Math.round(expectedCategories(10, 3, k).expected))
  expect(printed).toEqual([126, 8, 2])
})

test.each([
  [10, 3, 139, 3.1135705103617792],
  [1000, 3, 1e6, 22.375552949368952],
  [100, 3, 1e5, 65.88919957977032],
  [50, 3, 1000, 2.0464037732692657],
])('the standard deviation of %d hosts, %d replicas, %d requests to 60 digits', (N, R, k, sd) => {
  expectRelative(expectedCategories(N, R, k).sd, sd, 1e-9)
})

test('the standard deviation of two requests among a billion', () => {
  expectRelative(expectedCategories(1000, 3, 2).sd, 3.167028597952724e-5, 1e-8)
})

test('is what random choices give', () => {
  const random = randomSource(1)
  const counts = Array.from({ length: 2000 }, () => {
    const seen = new Set<number>()
    for (let i = 0; i < 8; i++) seen.add(Math.floor(random.next() * 6))
    return seen.size
  })
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  expect(mean).toBeCloseTo(expectedCategories(3, 3, 8).expected, 1)
})

describe('edges', () => {
  test('no request, one request, no replica, two ways', () => {
    expect(expectedCategories(10, 3, 0)).toEqual({ expected: 0, sd: 0, possible: 720 })
    expect(expectedCategories(10, 3, 1)).toEqual({ expected: 1, sd: 0, possible: 720 })
    expect(expectedCategories(5, 0, 4)).toEqual({ expected: 1, sd: 0, possible: 1 })
    expect(expectedCategories(2, 1, 3).expected).toBe(1.75)
    expect(expectedCategories(2, 1, 3).sd).toBeCloseTo(Math.sqrt(3) / 4, 15)
  })

  test('more ways than a number can hold make every request a category', () => {
    expect(expectedCategories(1000, 200, 50)).toMatchObject({ expected: 50, sd: 0 })
  })

  test('more replicas than hosts, or half a request, are refused', () => {
    expect(() => expectedCategories(2, 3, 1)).toThrow('Option replicas is 3. Give at most 2')
    expect(() => expectedCategories(2, 1, 0.5)).toThrow('Option requests is 0.5.')
    expect(() => expectedCategories(0, 0, 1)).toThrow('Option hosts is 0.')
  })
})
