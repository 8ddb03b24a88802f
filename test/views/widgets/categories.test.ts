import { describe, expect, test } from 'vitest'
import { squaredVariation } from '../../../src/compare/categories/categories.ts'
import type { Comparison } from '../../../src/compare/comparison.ts'
import { AFTER, BEFORE, type Period } from '../../../src/flows/flow-set.ts'
import { ecdf } from '../../../src/stats/ecdf.ts'
import { explore } from '../../../src/views/explore.ts'
import {
  boundsBetween,
  categoriesWithin,
  curveOf,
  FRAME_ROOM,
  keyedSpot,
  MEASURE_NAMES,
  measureScale,
  nearestSpot,
  type Region,
  regionBetween,
  regionCode,
  type Spot,
  scatterPlot,
} from '../../../src/views/widgets/variance/category-points.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { manyCategories } from '../charts/fixture.ts'
import { categoriesOf, comparison, data, pasted } from './categories-fixture.ts'

describe('the distribution', () => {
  test.each([BEFORE, AFTER])('is that of C² over the large categories of period %i', (period) => {
    const { categories } = comparison
    const large = Array.from({ length: categories.size }, (_, category) => category).filter(
      (category) => categories.count(category, period) > 10,
    )
    const values = large.map((of) => squaredVariation(categories.responseTimeMoments(of, period)))
    const { x, y } = ecdf(values)
    const curve = curveOf(data, period, 10)
    expect(curve.length).toBe(values.length)
    expect(curve.map(({ c2 }) => c2)).toEqual(Array.from(x))
    expect(curve.map(({ share }) => share)).toEqual(Array.from(y))
  })

  test('has only categories of more requests than asked for', () => {
    const sizes = (large: number, period: Period) => curveOf(data, period, large).length
    expect(sizes(100, BEFORE)).toBeLessThan(sizes(10, BEFORE))
    expect(sizes(1e9, BEFORE)).toBe(0)
  })
})

describe('scales', () => {
  test('are the same for both periods', () => {
    expect(measureScale(data, 'beforeC2', 6).ticks).toEqual(measureScale(data, 'afterC2', 6).ticks)
  })

  test('have a place for what is 0 or missing, before all others', () => {
    const scale = measureScale(data, 'afterMeanUs', 6)
    expect(scale.ticks[0]).toEqual({ value: 0, text: 'none' })
    const least = Math.min(...data.measures.afterMeanUs.filter((mean) => mean > 0))
    expect(scale.share(Number.NaN)).toBeLessThan(scale.share(least))
    expect(scale.value(scale.share(Number.NaN))).toBe(0)
    expect(scale.value(scale.share(least))).toBeCloseTo(least)
  })

  test('say durations as people do', () => {
    const texts = measureScale(data, 'beforeMeanUs', 7).ticks.map(({ text }) => text)
    expect(texts).toContain('1 ms')
    expect(texts).toContain('100 µs')
  })
})

describe('a frame and its code', () => {
  const shares: readonly (readonly [number, number])[] = [
    ...([
      [0, 1],
      [0, 0.05],
      [0.3, 0.7],
      [0.9, 0.2],
    ] as const),
  ]

  test('hold the same categories, whatever lies across and up', () => {
    let most = 0
    for (const across of MEASURE_NAMES) {
      for (const up of MEASURE_NAMES) {
        for (const one of shares) {
          for (const other of shares) {
            const region: Region = [
              boundsBetween(across, measureScale(data, across, 6), one),
              boundsBetween(up, measureScale(data, up, 6), other),
            ]
            const found = categoriesWithin(data, region)
            const code = regionCode('comparison', region)
            expect(categoriesOf(pasted(code))).toEqual([...found].sort((a, b) => a - b))
            most = Math.max(most, found.length)
          }
        }
      }
    }
    expect(most).toBe(comparison.categories.size)
  })

  test('around two categories hold both, in wide plots and in narrow ones', () => {
    for (const axes of [
      ['before', 'after'],
      ['beforeC2', 'afterMeanUs'],
    ] as const) {
      for (const width of [300, 460, 900]) {
        const plot = scatterPlot(data, axes, width)
        const [one, ...others] = plot.spots as [Spot, ...Spot[]]
        for (const other of others) {
          const region = regionBetween(plot, axes, { one, other, room: FRAME_ROOM })
          const found = categoriesWithin(data, region)
          expect(found).toEqual(expect.arrayContaining([one.category, other.category]))
        }
      }
    }
  })
})

describe('spots', () => {
  const spots = [
    { category: 0, x: 10, y: 90 },
    { category: 1, x: 50, y: 10 },
    { category: 2, x: 90, y: 50 },
  ]

  test('are found near the pointer, and only there', () => {
    expect(nearestSpot(spots, { x: 52, y: 15 })?.category).toBe(1)
    expect(nearestSpot(spots, { x: 52, y: 60 })).toBe(undefined)
  })

  test('are gone through from left to right, and from the bottom up', () => {
    expect(keyedSpot(spots, undefined, 'ArrowRight')?.category).toBe(0)
    expect(keyedSpot(spots, undefined, 'End')?.category).toBe(2)
    expect(keyedSpot(spots, spots[0], 'ArrowRight')?.category).toBe(1)
    expect(keyedSpot(spots, spots[0], 'ArrowUp')?.category).toBe(2)
    expect(keyedSpot(spots, spots[2], 'ArrowRight')?.category).toBe(2)
    expect(keyedSpot(spots, spots[1], 'Home')?.category).toBe(0)
    expect(keyedSpot(spots, spots[1], 'Tab')).toBe(undefined)
  })
})

describe('the plots of all categories', () => {
  const still = (of: Comparison, options: object = {}) =>
    explore(of, 'variance', { categories: true, ...options }).svg()

  test('stand in the picture without scripts when they are open', () => {
    const svg = still(comparison, { across: 'beforeMeanUs', up: 'afterMeanUs' })
    expect(svg).toContain('mean response time after')
    expect(svg).toContain('of 10 below 1')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('draw categories that lie on top of each other a few times only', () => {
    expect(still(manyCategories(), { large: 2 }).match(/<circle/g)?.length).toBeLessThan(300)
  })

  test('are drawn without any large category as well', () => {
    const none = still(compareShops({ requests: 1 }, { requests: 1 }))
    expect(none).toContain('before: none as large')
    expect(none).not.toMatch(/NaN|undefined/)
  })

  test('take only measures that there are', () => {
    expect(() => still(comparison, { up: 'c2' })).toThrow('Option up is "c2".')
  })
})
