import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { arrivalsChart } from '../../../src/views/charts/arrivals.ts'
import { shop } from '../../compare/onset/shop.ts'
import { NOON_US } from '../../make-traces.ts'
import {
  chain,
  comparisonOf,
  dataOf,
  expectDrawable,
  pick,
  smallComparison,
  upFrom,
} from './fixture.ts'

const at = (startUs: number, responseTimeUs: number) => ({
  labels: ['A', 'B'],
  edges: [[0, 1] as const],
  latencyUs: [responseTimeUs],
  startUs,
})

const overlapping = () => comparisonOf([at(0, 10), at(5, 10), at(10, 5), at(40, 1)], [at(2, 30)])

test('bars count arrivals and dots show response times, on one scale', () => {
  const chart = arrivalsChart(overlapping().flows)
  const [bars, dots, , after] = dataOf(chart)
  expect(pick(bars, 'fromUs', 'toUs', 'arrivals')).toEqual([
    [0, 10, 2],
    [10, 20, 1],
    [40, 41, 1],
  ])
  expect(pick(dots, 'low', 'darkness')).toEqual(expect.arrayContaining([[1, 1]]))
  expect(pick(after, 'fromUs', 'arrivals')).toEqual([[0, 1]])
  expect(chart.description).toContain(
    'Longest pause without requests: before 25 µs (from 15 µs on), after none.',
  )
  const svg = expectDrawable(chart)
  expect(svg).toContain('before: 4 requests, up to 2 in 10 µs')
})

test('a part of the time with enough requests has its median', () => {
  const five = upFrom(0, 5).map((i) => at(i, 10 * (i + 1)))
  const [, , medians] = dataOf(arrivalsChart(comparisonOf([...five, at(900, 7)], five).flows))
  expect(pick(medians, 'atUs', 'medianUs', 'run')).toEqual([
    [0, 30, 1],
    [5, 30, 1],
    [10, 30, 1],
  ])
})

test('requests of 0 µs stand at the lower edge, and are counted', () => {
  const chart = arrivalsChart(comparisonOf([at(0, 0), at(5, 10)], [at(2, 0)]).flows)
  expect(chart.description).toContain('2 requests of 0 µs or less: drawn at the lower edge.')
  expectDrawable(chart)
})

test('events and onsets of findings are marked in the period where they lie', () => {
  const after = shop('after', NOON_US + 600e6, { seed: 2, slowFrom: 30, slowUs: 8000 })
  const comparison = compare(shop('before', NOON_US, { seed: 1 }), after)
  const events = ['2023-11-14T22:24:10Z deploy <stock> 2.0', '2023-11-14T23:59Z too late']
  const svg = expectDrawable(arrivalsChart(comparison, { events }))
  expect(svg).toContain('deploy &lt;stock&gt; 2.0')
  expect(svg).toContain('#1 stock: LOOKUP itself takes')
  expect(svg).not.toContain('too late')
  const between = arrivalsChart(comparison, { events: ['2023-11-14T22:23:15Z flag on'] })
  expect(JSON.stringify(between.spec)).toContain('flag on, 5 s before this period')
  expect(expectDrawable(between)).toContain('‹ flag on')
  expect(() => arrivalsChart(comparison, { events: ['yesterday deploy'] })).toThrow(
    /events.*yesterday deploy.*2026-10-01T11:15Z deploy checkout 2\.0/,
  )
})

test('a range shows what arrives in it', () => {
  const chart = arrivalsChart(overlapping().flows, { rangeUs: [2, 30] })
  expect(dataOf(chart)[0]?.reduce((sum, row) => sum + Number(row['arrivals']), 0)).toBe(2)
  expectDrawable(chart)
})

test('a range of nothing is drawn empty', () => {
  expectDrawable(arrivalsChart(overlapping().flows, { rangeUs: [1000, 2000] }))
})

test('the requests of one category', () => {
  const chart = arrivalsChart(smallComparison().categories, { category: 1 })
  const counts = [0, 3].map((at) =>
    dataOf(chart)[at]?.reduce((sum, row) => sum + Number(row['arrivals']), 0),
  )
  expect(counts).toEqual([10, 10])
  expect(chart.title).toBe('When requests of WRITE (category 1) arrived and how long they took')
  expectDrawable(chart)
})

test('20,000 requests are bounded', () => {
  const times = (count: number) =>
    chain(
      ['A', 'B'],
      Array.from({ length: count }, (_, i) => 100 + ((i * 7919) % 5000)),
    )
  const chart = arrivalsChart(comparisonOf(times(20_000), times(10_000)).flows)
  const arrivals = dataOf(chart)[0]?.reduce((sum, row) => sum + (row['arrivals'] as number), 0)
  expect(arrivals).toBe(20_000)
  expect(JSON.stringify(chart.spec).length).toBeLessThan(250_000)
  expectDrawable(chart)
})

test('no requests at all', () => {
  expectDrawable(arrivalsChart(comparisonOf([], []).flows))
})

describe('wrong options', () => {
  test('a category without categories', () => {
    expect(() => arrivalsChart(smallComparison().flows, { category: 1 })).toThrow(
      "Option category is 1. Give no category with flows, or categories: plot(comparison.categories, 'arrivals', { category: 3 }).",
    )
  })

  test('a range that ends before it begins', () => {
    expect(() => arrivalsChart(smallComparison().flows, { rangeUs: [5, 2] })).toThrow(
      'Option rangeUs is [5, 2]. Give two numbers in µs, the smaller first.',
    )
  })

  test('an unknown category', () => {
    expect(() => arrivalsChart(smallComparison().categories, { category: 77 })).toThrow(
      'There is no category 77; there are 0 to 3.',
    )
  })
})

test('requests that arrive late keep their times', () => {
  const late = upFrom(0, 3).map((i) => at(5e6 + i * 1000, 10))
  const chart = arrivalsChart(comparisonOf(late, late).flows)
  const svg = expectDrawable(chart)
  expect(svg).toContain('>5 s<')
})
