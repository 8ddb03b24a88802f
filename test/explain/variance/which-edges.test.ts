import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'

/** Requests that wait `us(i)` for a disk, then 10 µs. */
function waits(us: (request: number) => number, count = 40): GraphSketch[] {
  return Array.from({ length: count }, (_, i) => ({
    labels: ['start', 'disk', 'end'],
    edges: [
      [0, 1],
      [1, 2],
    ],
    latencyUs: [us(i), 10],
  }))
}

describe('the period that a category is explained in', () => {
  const wild = makeGraphs(
    waits((i) => (i % 20 === 0 ? 10_000 : 10)),
    'before',
  )
  const calm = makeGraphs(
    waits((i) => 10 + (i % 3)),
    'after',
  )
  const variance = findVariance(compare(wild, calm))

  test('is the one it is ranked in, the higher C² first', () => {
    expect(variance.ranked.map(({ period }) => period)).toEqual(['before', 'after'])
    expect(variance.category(0).period).toBe('before')
    expect(variance.category(0, { period: 'after' }).period).toBe('after')
  })

  test('is that of the ranked entry that is given, and its table says so', () => {
    const [first, second] = variance.ranked
    expect(variance.category(first as never).period).toBe('before')
    expect(variance.category(second as never).period).toBe('after')
    expect(
      variance
        .category(second as never)
        .table()
        .array('period'),
    ).toEqual(['after', 'after'])
  })

  test('is refused where it is none', () => {
    expect(() => variance.shareBelowOne('x' as never)).toThrow('Option period is "x"')
  })
})

test('an edge that few requests have comes behind those with a larger share', () => {
  const rareUs = (i: number) => (i === 0 ? 150 : i === 300 ? 400 : 1)
  const random = randomSource(4)
  const graphs = Array.from({ length: 600 }, (_, i) => ({
    labels: ['start', 'often', 'rarely', 'join'],
    edges: [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
    ] as const,
    latencyUs: [100 * random.next(), rareUs(i), 20, 1],
  }))
  const { edges } = findVariance(categorize(buildFlows(makeGraphs(graphs)))).category(0)
  const shares = edges.map(({ share }) => share)
  expect(shares).toEqual([...shares].sort((a, b) => b - a))
  expect(edges[0]).toMatchObject({ from: 'start', to: 'often' })
  const rarely = edges.find(({ to }) => to === 'rarely')
  expect(rarely?.requests).toBe(2)
  expect(rarely?.varianceUs2).toBeGreaterThan(10 * (edges[0]?.varianceUs2 as number))
})

test('flows that are not categorized are refused with what to do', () => {
  const flows = buildFlows(makeGraphs(waits((i) => i)))
  expect(() => findVariance(flows as never)).toThrow('findVariance(categorize(flows))')
  expect(() => findVariance(null as never)).toThrow('findVariance(comparison) got null')
})
