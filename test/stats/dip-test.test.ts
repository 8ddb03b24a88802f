import { describe, expect, it } from 'vitest'
import { benjaminiHochberg, dipTest } from '../../src/stats/index.ts'
import { randomSource } from '../../src/stats/random.ts'

const ofIndex = (count: number, value: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => value(i + 1))

describe('dipTest', () => {
  it('has the dip of R diptest 0.76', () => {
    const bent = [...ofIndex(40, (i) => i ** 2 / 10), ...ofIndex(60, (i) => 300 + i / 3)]
    const apart = [3.1, 3.4, 3.2, 9.8, 9.9, 10.4, 10.1, 3.3, 3.6, 9.7, 3.05, 10.2]
    expect(dipTest([10, 11, 12, 13, 50, 51, 52, 53]).statistic).toBeCloseTo(0.23125, 12)
    expect(dipTest(bent).statistic).toBeCloseTo(0.093874764072388123, 12)
    expect(dipTest(ofIndex(30, (i) => i ** 1.5)).statistic).toBeCloseTo(0.016666666666666666, 12)
    expect(dipTest(apart).statistic).toBeCloseTo(0.22426470588235289, 12)
  })

  it('has p of the published quantiles of uniform values', () => {
    // Hartigan and Hartigan 1985, table 1: 5 % of dips of 50 values exceed 0.0702, 1 % 0.0819.
    const [five, one] = [0.0702, 0.0819].map((dip) => chanceOfDip(dip, 50))
    expect(five).toBeGreaterThan(0.04)
    expect(five).toBeLessThan(0.06)
    expect(one).toBeGreaterThan(0.007)
    expect(one).toBeLessThan(0.013)
  })

  it('rejects at most 5 % of samples with one mode, rounded ones too', () => {
    const random = randomSource(7).next
    const rejected = (sample: () => number) =>
      ofIndex(300, () => dipTest(ofIndex(80, sample)).p).filter((p) => p < 0.05).length / 300
    expect(rejected(random)).toBeLessThan(0.09)
    expect(rejected(() => -Math.log(1 - random()))).toBeLessThan(0.02)
    expect(rejected(() => Math.round(-20 * Math.log(1 - random())))).toBeLessThan(0.02)
  })

  it('sees two modes in 40 values', () => {
    const random = randomSource(3).next
    const p = ofIndex(50, () => dipTest(ofIndex(40, (i) => random() + (i % 2) * 3)).p)
    expect(benjaminiHochberg(p).filter((q) => q < 0.05)).toHaveLength(50)
  })

  it('takes few or equal values to have one mode, and counts what is no number', () => {
    expect(dipTest([]).p).toBe(1)
    expect(dipTest([1, 50, 51]).p).toBe(1)
    expect(dipTest([5, 5, 5, 5, 5, 5]).p).toBe(1)
    expect(dipTest([1, 2, Number.NaN, 3, 4, Number.POSITIVE_INFINITY])).toMatchObject({
      count: 4,
      ignored: 2,
    })
  })

  it('does not depend on order, unit or origin', () => {
    const values = [3, 9, 4, 1, 12, 14, 15, 2, 13, 16]
    const { statistic } = dipTest(values)
    expect(dipTest(values.toReversed()).statistic).toBe(statistic)
    expect(dipTest(values.map((value) => 4 * value - 8)).statistic).toBeCloseTo(statistic, 12)
    expect(dipTest(values.map((value) => -value)).statistic).toBeCloseTo(statistic, 12)
  })
})

/** Of `count` values whose dip is as large: two blocks of even values, further and further apart. */
function chanceOfDip(dip: number, count: number): number {
  let [near, far] = [0, 1e6]
  for (let step = 0; step < 60; step++) {
    const middle = (near + far) / 2
    const found = dipTest(ofIndex(count, (i) => i + (i > count / 2 ? middle : 0)))
    if (found.statistic < dip) near = middle
    else far = middle
  }
  return dipTest(ofIndex(count, (i) => i + (i > count / 2 ? far : 0))).p
}
