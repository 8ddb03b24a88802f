import { describe, expect, test } from 'vitest'
import { categoryCountsChart } from '../../../src/views/charts/category-counts.ts'
import {
  chain,
  comparisonOf,
  dataOf,
  expectDrawable,
  manyCategories,
  pick,
  smallComparison,
  upFrom,
} from './fixture.ts'

const [BAND, POINTS] = [0, 2]

test('a point is a category with its requests before and after, by kind', () => {
  const chart = categoryCountsChart(smallComparison().structural)
  const points = dataOf(chart)[POINTS]
  expect(points).toEqual([
    {
      before: 10,
      after: 10,
      change: 0,
      kind: 'no change beyond the threshold',
      categories: 2,
      ids: '0, 1',
      root: 'READ, WRITE',
    },
    {
      before: 12,
      after: 0,
      change: -12,
      kind: 'precursor (lost requests)',
      categories: 1,
      ids: '2',
      root: 'GET',
    },
    {
      before: 0,
      after: 12,
      change: 12,
      kind: 'structural mutation (gained requests)',
      categories: 1,
      ids: '3',
      root: 'GET',
    },
  ])
  expect(chart.description).toBe(
    '4 categories: 1 gained and 1 lost more than 5 requests. Inside the gray band the number of ' +
      'requests changed by no more than that.',
  )
  expectDrawable(chart)
})

test('the band is the threshold above and below equal counts', () => {
  const rows = dataOf(categoryCountsChart(smallComparison().structural))[BAND] ?? []
  const inside = rows.filter(({ before }) => (before as number) > 5.5 && (before as number) < 9)
  expect(inside.length).toBeGreaterThan(0)
  for (const { before, low, high, same } of inside) {
    expect((high as number) - (before as number)).toBeCloseTo(5, 9)
    expect((before as number) - (low as number)).toBeCloseTo(5, 9)
    expect(same).toBeCloseTo(before as number, 9)
  }
  expect(rows).toHaveLength(61)
})

test('with scaled counts the band follows the load of the periods', () => {
  const before = chain(['A', 'B'], upFrom(1, 10))
  const after = chain(['A', 'B'], upFrom(1, 40))
  const { structural } = comparisonOf(before, after, { counts: 'scaled', smPThreshold: 2 })
  const chart = categoryCountsChart(structural)
  const row = dataOf(chart)[BAND]?.find(({ before: x }) => (x as number) > 6)
  expect(row?.['high']).toBeCloseTo(((row?.['before'] as number) + 2) * 4, 9)
  expect(pick(dataOf(chart)[POINTS], 'change', 'kind')).toEqual([
    [0, 'no change beyond the threshold'],
  ])
  expect(chart.description).toContain('after scaled to the number of requests before')
})

test('the largest changes are listed by name beside the points, unless none are wanted', () => {
  const texts = dataOf(categoryCountsChart(smallComparison().structural))
    .slice(POINTS + 1)
    .flat()
  expect(pick(texts, 'label', 'text')).toEqual([
    ['GET (3)', '+12'],
    ['GET (2)', '−12'],
  ])
  const none = categoryCountsChart(smallComparison().structural, { labels: 0 })
  expect(dataOf(none).slice(POINTS + 1)).toEqual([])
})

describe('bounds', () => {
  test('1,602 categories stand on far fewer points, and none is lost', () => {
    const chart = categoryCountsChart(manyCategories().structural)
    const points = dataOf(chart)[POINTS] ?? []
    expect(points).toHaveLength(6)
    expect(points.reduce((sum, { categories }) => sum + (categories as number), 0)).toBe(1602)
    expect(points[0]?.['ids']).toMatch(/^\d+, \d+, \d+ and 26\d more$/)
    expectDrawable(chart)
  })

  test('beyond the limit the smallest changes are left out, and the chart says how many', () => {
    const chart = categoryCountsChart(smallComparison().structural, { limit: 2 })
    expect(pick(dataOf(chart)[POINTS], 'change')).toEqual([[-12], [12]])
    expect(chart.description).toContain('Leaves out 2 categories with the smallest changes.')
  })

  test.each([0, Number.NaN])('a limit of %s is refused', (limit) => {
    expect(() => categoryCountsChart(smallComparison().structural, { limit })).toThrow(
      `Option limit is ${limit}. Give a whole number of points, 1 or more.`,
    )
  })
})

test('a period without requests leaves points on the axis', () => {
  const { structural } = comparisonOf(chain(['A', 'B'], [1, 2, 3]), [])
  const chart = categoryCountsChart(structural)
  expect(pick(dataOf(chart)[POINTS], 'before', 'after')).toEqual([[3, 0]])
  expectDrawable(chart)
})

test('no requests at all make an empty chart', () => {
  const chart = categoryCountsChart(comparisonOf([], []).structural)
  expect(dataOf(chart)[POINTS]).toEqual([])
  expectDrawable(chart)
})
