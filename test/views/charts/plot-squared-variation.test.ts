import { expect, test } from 'vitest'
import { logAxis } from '../../../src/views/charts/axes.ts'
import { curves } from '../../../src/views/charts/builders.ts'
import { squaredVariationChart } from '../../../src/views/charts/variance.ts'
import {
  chain,
  comparisonOf,
  dataOf,
  expectDrawable,
  manyCategories,
  pick,
  smallComparison,
} from './fixture.ts'

test('the rows are the distribution of C² over categories large enough', () => {
  const before = [
    ...chain(['A', 'B'], [1, 3]),
    ...chain(['C', 'D'], [1, 1, 10]),
    ...chain(['E', 'F'], [7]),
  ]
  const { categories } = comparisonOf(before, chain(['A', 'B'], [1, 3]))
  const chart = squaredVariationChart(categories, { large: 1 })
  const rows = dataOf(chart)[0]
  expect(pick(rows, 'set', 'share')).toEqual([
    ['before: 50 % below 1', 0],
    ['before: 50 % below 1', 0.5],
    ['before: 50 % below 1', 1],
    ['before: 50 % below 1', 1],
    ['after: 100 % below 1', 0],
    ['after: 100 % below 1', 1],
    ['after: 100 % below 1', 1],
  ])
  expect(rows?.[1]?.['c2']).toBeCloseTo(0.5, 12)
  expect(rows?.[2]?.['c2']).toBeCloseTo(27 / 16, 12)
  expect(chart.description).toContain(
    'before: C² is below 1 in 1 of 2 large categories (50 %). after: C² is below 1 in 1 of 1 large category (100 %).',
  )
  expectDrawable(chart)
})

test('lines that coincide say so, and both are seen', () => {
  const graphs = [...chain(['A', 'B'], [1, 3]), ...chain(['C', 'D'], [1, 1, 10])]
  const chart = squaredVariationChart(comparisonOf(graphs, graphs).categories, { large: 1 })
  const [, , notes] = dataOf(chart)
  expect(notes).toEqual([{ note: 'before and after are one line' }])
  const svg = expectDrawable(chart)
  expect(svg).toContain('before and after are one line')
  expect(svg).toContain('stroke-dasharray="7,7"')
  const other = comparisonOf(graphs, chain(['A', 'B'], [1, 3])).categories
  expect(dataOf(squaredVariationChart(other, { large: 1 })).length).toBe(2)
})

test('lines that are apart on a logarithmic axis do not coincide', () => {
  const curve = (name: string, share: number) => ({
    name,
    color: '#000000',
    points: [
      [1, share],
      [10, share / 2],
    ] as const,
  })
  const axes = { x: logAxis([1, 10], 'x'), y: logAxis([0.001, 1], 'y') }
  const fields = ['name', 'x', 'y'] as const
  const drawn = (...all: ReturnType<typeof curve>[]) =>
    JSON.stringify(curves({ curves: all, ...axes, fields }))
  expect(drawn(curve('A', 0.004), curve('B', 0.003))).not.toContain('are one line')
  expect(drawn(curve('A', 0.004), curve('B', 0.00402))).toContain('A and B are one line')
})

test('no category is large enough', () => {
  const chart = squaredVariationChart(smallComparison().categories, { large: 100 })
  expect(dataOf(chart)[0]).toEqual([])
  expect(chart.description).toContain('before: no category is large enough.')
  expectDrawable(chart)
})

test('categories that never vary stand at the left edge, and those of no time are left out', () => {
  const before = [...chain(['A', 'B'], [5, 5, 5]), ...chain(['C', 'D'], [0, 0, 0])]
  const chart = squaredVariationChart(comparisonOf(before, []).categories, { large: 2 })
  expect(pick(dataOf(chart)[0], 'share')).toEqual([[0], [1], [1]])
  expect(chart.description).toContain('C² is 0 in 1 category (before): drawn at the left edge.')
  expectDrawable(chart)
})

test('1,602 categories are bounded', () => {
  const chart = squaredVariationChart(manyCategories().categories, { large: 1 })
  expect(dataOf(chart)[0]?.length).toBeLessThan(1100)
  expectDrawable(chart)
})

test('a negative size is refused', () => {
  expect(() => squaredVariationChart(smallComparison().categories, { large: -1 })).toThrow(
    'Option large is -1. Give a whole number of requests, 0 or more.',
  )
})
