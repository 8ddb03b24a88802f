import { expect, test } from 'vitest'
import { breakdownChart } from '../../../src/views/charts/edges.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { chain, comparisonOf, dataOf, expectDrawable, pick, upFrom } from './fixture.ts'

/** A frontend m1 that calls so many other machines, each for `stepUs` after it. */
const calls = (machines: number, stepUs: (machine: number) => number) => {
  const steps = upFrom(1, machines)
  return upFrom(0, 12).map((i) => ({
    labels: ['m0__t1__START', ...steps.map((machine) => `m${machine}__t1__WORK`)],
    edges: steps.map((machine) => [machine - 1, machine] as const),
    latencyUs: steps.map(stepUs),
    responseTimeUs: steps.reduce((sum, machine) => sum + stepUs(machine), 0),
    startUs: 1000 * i,
  }))
}

test('a place has two bars, before and after, and its change beside the longer one', () => {
  const before = calls(2, () => 100)
  const after = calls(2, (machine) => (machine === 2 ? 400 : 90))
  const chart = breakdownChart(comparisonOf(before, after).edges)
  expect(dataOf(chart)[0]).toEqual([
    { label: 'm2__t1 · network', period: 'before', timeUs: 100, time: '100 µs' },
    { label: 'm2__t1 · network', period: 'after', timeUs: 400, time: '400 µs' },
    { label: 'm1__t1 · network', period: 'before', timeUs: 100, time: '100 µs' },
    { label: 'm1__t1 · network', period: 'after', timeUs: 90, time: '90 µs' },
  ])
  expect(dataOf(chart)[1]).toEqual([
    { label: 'm2__t1 · network', endUs: 400, change: '+300 µs' },
    { label: 'm1__t1 · network', endUs: 100, change: '−10 µs' },
  ])
  expect(chart.description).toContain('It took 200 µs before and 490 µs after.')
  expect(chart.description).toContain('Largest change: m2__t1 · network, +300 µs.')
  expectDrawable(chart)
})

test('beyond the limit the other places are one row, so that all bars add up', () => {
  const before = calls(6, () => 100)
  const after = calls(6, (machine) => 100 + machine)
  const chart = breakdownChart(comparisonOf(before, after).edges, { limit: 2 })
  expect(pick(dataOf(chart)[0], 'label', 'timeUs')).toEqual([
    ['m6__t1 · network', 100],
    ['m6__t1 · network', 106],
    ['m5__t1 · network', 100],
    ['m5__t1 · network', 105],
    ['4 other places', 400],
    ['4 other places', 410],
  ])
  expectDrawable(chart)
})

test('a single other place keeps its own name', () => {
  const periods = [calls(3, () => 100), calls(3, (machine) => 100 + machine)] as const
  const chart = breakdownChart(comparisonOf(...periods).edges, { limit: 2 })
  expect(pick(dataOf(chart)[1], 'label')).toEqual([
    ['m3__t1 · network'],
    ['m2__t1 · network'],
    ['m1__t1 · network'],
  ])
})

test('work and network of a service are told apart', () => {
  const chart = breakdownChart(compareShops({}, { stockUs: 1300 }).edges)
  expect(pick(dataOf(chart)[1], 'label')[0]).toEqual(['stock · work'])
  expect(pick(dataOf(chart)[1], 'label')).toContainEqual(['stock · network'])
  expectDrawable(chart)
})

test('places with one name when shortened keep rows of their own', () => {
  const name = (end: string) => `${'x'.repeat(40)}${end}${'y'.repeat(40)}`
  const period = upFrom(0, 12).map(() => ({
    labels: ['m0__t__A', `${name('1')}__t__B`, `${name('2')}__t__C`],
    edges: [[0, 1] as const, [1, 2] as const],
    latencyUs: [10, 20],
    responseTimeUs: 30,
  }))
  const labels = pick(dataOf(breakdownChart(comparisonOf(period, period).edges))[1], 'label')
  expect(new Set(labels.flat()).size).toBe(2)
})

test('an empty period leaves bars of one colour, and the words say so', () => {
  const requests = chain(['A', 'B'], upFrom(100, 10))
  const without = breakdownChart(comparisonOf([], requests).edges)
  expect(without.description).toContain('No requests before')
  expectDrawable(without)
  const after = breakdownChart(comparisonOf(requests, []).edges)
  expect(after.description).toContain('No requests after')
  expectDrawable(after)
})

test('a limit of 0 is refused', () => {
  const { edges } = comparisonOf([], [])
  expect(() => breakdownChart(edges, { limit: 0 })).toThrow(
    'Option limit is 0. Give a whole number of places, 1 or more.',
  )
})
