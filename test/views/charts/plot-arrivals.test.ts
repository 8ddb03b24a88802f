import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
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

test('requests under way at the same time stand in lanes above each other', () => {
  const chart = arrivalsChart(overlapping().flows)
  const [before, after] = dataOf(chart)
  expect(pick(before, 'startUs', 'endUs', 'lane', 'trace', 'took', 'arrived')).toEqual([
    [0, 10, 0, 'g0', '10 µs', '0 µs'],
    [5, 15, 1, 'g1', '10 µs', '5 µs'],
    [10, 15, 0, 'g2', '5 µs', '10 µs'],
    [40, 41, 0, 'g3', '1 µs', '40 µs'],
  ])
  expect(pick(after, 'startUs', 'endUs', 'lane')).toEqual([[2, 32, 0]])
  expect(chart.description).toContain(
    'Longest pause without requests: before 25 µs (from 15 µs on), after none.',
  )
  const svg = expectDrawable(chart)
  expect(svg).toContain('before: 4 requests, at most 2 at once')
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

test('a range shows what is under way in it', () => {
  const chart = arrivalsChart(overlapping().flows, { rangeUs: [12, 30] })
  expect(pick(dataOf(chart)[4], 'startUs')).toEqual([[5], [10]])
  expect(chart.description).toContain(
    'Drawn one by one: 12 µs to 30 µs (framed in the overview), 2 of 4 requests before, 1 of 1 request after.',
  )
  expectDrawable(chart)
})

test('a range of nothing is drawn empty', () => {
  expectDrawable(arrivalsChart(overlapping().flows, { rangeUs: [1000, 2000] }))
})

test('the requests of one category', () => {
  const chart = arrivalsChart(smallComparison().categories, { category: 1 })
  expect(dataOf(chart).map(({ length }) => length)).toEqual([10, 10])
  expect(chart.title).toBe('When requests of WRITE (category 1) arrived and how long they took')
  expectDrawable(chart)
})

test('20,000 requests are bounded: an overview of all and the first stretch one by one', () => {
  const times = (count: number) =>
    chain(
      ['A', 'B'],
      Array.from({ length: count }, () => 100),
    )
  const chart = arrivalsChart(comparisonOf(times(20_000), times(10_000)).flows)
  const sizes = dataOf(chart).map(({ length }) => length)
  expect(sizes).toEqual([240, 1, 120, 1, 400, 400])
  const arrivals = dataOf(chart)[0]?.reduce((sum, row) => sum + (row['arrivals'] as number), 0)
  expect(arrivals).toBe(20_000)
  expect(chart.description).toContain(
    'Drawn one by one: the first 399 ms (framed in the overview), 400 of 20,000 requests before, 400 of 10,000 requests after.',
  )
  expect(JSON.stringify(chart.spec).length).toBeLessThan(250_000)
  expectDrawable(chart)
})

test('more requests at once than the limit are cut off at the limit', () => {
  const crowd = Array.from({ length: 50 }, () => at(7, 100))
  const chart = arrivalsChart(comparisonOf(crowd, []).flows, { limit: 20 })
  expect(dataOf(chart).at(-2)).toHaveLength(20)
  expect(chart.description).toContain('20 of 50 requests before, 0 of 0 requests after')
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
