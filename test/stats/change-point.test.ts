import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  changePoint,
  constantLevel,
  passingChange,
  positionTail,
} from '../../src/stats/change-point.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import { expectRelative } from './expect-relative.ts'

const oracle = JSON.parse(
  readFileSync(new URL('oracles/change-point.json', import.meta.url), 'utf8'),
) as { cases: { name: string; values: number[]; at: number; statistic: number; p: number }[] }

describe('against strucchange', () => {
  test.each(oracle.cases)('$name', ({ values, at, statistic, p }) => {
    expect(changePoint(values, { from: 2, to: values.length - 2 }).at).toBe(at)
    const test = constantLevel(values)
    expectRelative(test.statistic, statistic, 1e-12)
    // strucchange says 0 where less than its rounding is left.
    if (p > 1e-12) expectRelative(test.p, p, 1e-6)
  })
})

test('critical values of the position are those that Hansen 2000 prints, table I', () => {
  const printed = { 0.8: 4.5, 0.85: 5.1, 0.9: 5.94, 0.95: 7.35, 0.975: 8.75, 0.99: 10.59 }
  for (const [level, ratio] of Object.entries(printed)) {
    expect(Math.abs(1 - positionTail(ratio) - Number(level))).toBeLessThan(5e-4)
  }
})

test("the Nile fell after 1898; 1895 to 1902 hold at 95 %, as Bai's interval of strucchange does", () => {
  const { values } = oracle.cases[0] as (typeof oracle.cases)[number]
  const { at, low, high, before, after } = changePoint(values)
  expect([at, Math.round(before), Math.round(after)]).toEqual([28, 1098, 850])
  expect(low).toBeGreaterThanOrEqual(23)
  expect(high).toBeLessThanOrEqual(33)
})

const series = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 6, maxLength: 60 })

test('moving or stretching a series moves no position', () => {
  fc.assert(
    fc.property(series, fc.integer({ min: -9, max: 9 }), (values, shift) => {
      const [a, b] = [changePoint(values), changePoint(values.map((value) => 4 * value + shift))]
      expect([b.at, b.low, b.high]).toEqual([a.at, a.low, a.high])
      expect(constantLevel(values.map((value) => shift - value)).at).toBe(constantLevel(values).at)
    }),
  )
})

test('the interval holds the position, and a higher level makes it no shorter', () => {
  fc.assert(
    fc.property(series, (values) => {
      const [a, b] = [0.9, 0.99].map((level) => changePoint(values, { level }))
      expect(a?.low).toBeLessThanOrEqual(a?.at as number)
      expect(a?.high).toBeGreaterThanOrEqual(a?.at as number)
      expect(b?.low).toBeLessThanOrEqual(a?.low as number)
      expect(b?.high).toBeGreaterThanOrEqual(a?.high as number)
      expect(a?.pAt(a.at)).toBe(1)
    }),
  )
})

test('no position is left between from and to: all is NaN', () => {
  expect(changePoint([1]).at).toBeNaN()
  expect(changePoint([1, 2, 3], { from: 3 }).pAt(1)).toBeNaN()
  expect(constantLevel([1])).toEqual({ statistic: Number.NaN, p: Number.NaN, at: Number.NaN })
  expect(constantLevel([2, 2, 2]).p).toBe(1)
})

/** Standard normal values, each leaning on the one before. */
function noise(count: number, leaning: number, random: RandomSource): number[] {
  let last = random.normal()
  return Array.from({ length: count }, () => {
    last = leaning * last + Math.sqrt(1 - leaning ** 2) * random.normal()
    return last
  })
}

test.each([
  { leaning: 0, step: 1, count: 300 },
  { leaning: 0, step: 2, count: 40 },
  { leaning: 0.5, step: 1.5, count: 300 },
  { leaning: 0.8, step: 3, count: 300 },
])('$count values that lean $leaning on the last: a step of $step is covered in 95 %', (given) => {
  const { leaning, step, count } = given
  const random = randomSource(7)
  let covered = 0
  for (let round = 0; round < 300; round++) {
    const at = Math.floor(count * (0.3 + 0.4 * random.next()))
    const values = noise(count, leaning, random).map((value, i) => (i < at ? value : value + step))
    const { low, high } = changePoint(values)
    if (low <= at && at <= high) covered++
  }
  expect(covered / 300).toBeGreaterThanOrEqual(0.93)
})

describe('a level that comes back', () => {
  const noise = [0.1, -0.2, 0.2, -0.1]
  const found = (count: number, levelAt: (i: number) => number, options = {}) =>
    passingChange(
      Array.from({ length: count }, (_, i) => levelAt(i) + noise[i % 4]!),
      options,
    )

  test('is placed where it goes and where it comes back, and is no lasting change', () => {
    const { at, end, size, ratioOfEnd } = found(40, (i) => (i >= 10 && i < 18 ? -5 : 0))
    expect([at, end]).toEqual([10, 18])
    expect(size).toBeCloseTo(-5, 0)
    expect(ratioOfEnd).toBeGreaterThan(100)
  })

  test('is placed within a two-hundredth of many values', () => {
    const { at, end } = found(10_000, (i) => (i >= 3120 && i < 4333 ? 5 : 0))
    expect(Math.abs(at - 3120)).toBeLessThanOrEqual(50)
    expect(Math.abs(end - 4333)).toBeLessThanOrEqual(50)
  })

  test('a change that lasts has no end, and there is none where no position lies between the limits', () => {
    expect(found(40, (i) => (i < 20 ? 0 : 5)).ratioOfEnd).toBeLessThan(4)
    expect(found(4, (i) => i, { from: 4 })).toMatchObject({ ratio: 0, ratioOfEnd: 0 })
  })
})
