import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { encodeColumns } from '../../../src/core/columns.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { sortedRows } from '../../../src/views/drawing/data-table.tsx'
import { explore } from '../../../src/views/explore.ts'
import {
  c2Text,
  varianceCode,
  varianceData,
} from '../../../src/views/widgets/variance/variance-widget.tsx'
import { makeGraphs } from '../../make-traces.ts'
import { manyCategories } from '../charts/fixture.ts'
import { compareChain, comparison, data, dataOf, pasted, variance } from './variance-fixture.ts'

describe('the data', () => {
  test('is tier 1 as findVariance ranks it, with every request in a bin', () => {
    expect(data.spreads.map(({ category, period }) => [category, period])).toEqual(
      variance.ranked.map(({ category, period }) => [category, period]),
    )
    for (const { bins, requests } of data.spreads) {
      expect(bins.reduce((sum, count) => sum + count, 0)).toBe(requests)
    }
    expect(data.periods.map(({ belowOne }) => belowOne)).toEqual([
      variance.shareBelowOne('before'),
      variance.shareBelowOne('after'),
    ])
  })

  test('is tier 2 with shares that add up to 1', () => {
    data.details.forEach(({ edges }, place) => {
      const { category, period } = data.spreads[place] as (typeof data.spreads)[number]
      const found = variance.category(category, { period })
      expect(edges.length).toBe(found.edges.length)
      const sum = edges.reduce((all, { share }) => all + (share ?? 0), 0)
      expect(sum).toBeCloseTo(1 - found.restShare, 9)
    })
  })

  test('holds edges of as many categories as the limit says, and of the one asked for', () => {
    expect(dataOf(comparison, { limit: 1 }).details.length).toBe(1)
    const last = variance.ranked.at(-1)?.category as number
    const opened = dataOf(comparison, { limit: 0, category: last })
    expect(opened.spreads[opened.open as number]?.category).toBe(last)
    expect(opened.spreads[opened.open as number]?.detail).not.toBeNull()
  })

  test('of 1,602 categories stays small', () => {
    const many = dataOf(manyCategories(), { large: 2 })
    expect(many.ranked).toBeGreaterThan(1500)
    expect(many.spreads.length).toBe(300)
    expect(JSON.stringify(encodeColumns(many)).length).toBeLessThan(150_000)
  })

  test('says how many more edges vary together with one than it lists', () => {
    const chain = dataOf(compareChain(18), { period: 'after' })
    const [edge] = chain.details[0]?.edges ?? []
    expect([edge?.covarying?.length, edge?.moreCovarying, edge?.tested]).toEqual([12, 5, 17])
    const few = dataOf(compareChain(13), { period: 'after' })
    const [other] = few.details[0]?.edges ?? []
    expect([other?.covarying?.length, other?.moreCovarying]).toEqual([12, 0])
  })

  test('leaves labels out that are too long to be read', () => {
    const long = 'x'.repeat(100_000)
    const graphs = Array.from({ length: 20 }, (_, i) => ({
      labels: [`m__t__${long}a`, `m__t__${long}b`],
      edges: [[0, 1] as const],
      latencyUs: [100 + i],
    }))
    const found = findVariance(compare(makeGraphs(graphs), makeGraphs(graphs)))
    const taken = varianceData(found, null, { limit: 5, category: null, name: 'variance' })
    expect(taken.details[0]?.edges[0]?.from).toBe('')
    expect(JSON.stringify(taken)).not.toContain('x'.repeat(500))
    expect(JSON.stringify(taken.details.map(({ edges }) => edges)).length).toBeLessThan(10_000)
  })
})

test('rows are sorted by any column either way, ties as they were, and no value last', () => {
  const rows = [0.5, Number.NaN, 2, 0.5].map((c2, category) => ({ category, c2 }))
  const columns = [{ title: 'C²', value: ({ c2 }: { c2: number }) => c2 }, { title: 'other' }]
  const order = (title: string, descending: boolean) =>
    sortedRows(rows, columns, { title, descending }).map(({ category }) => category)
  expect(order('C²', true)).toEqual([2, 0, 3, 1])
  expect(order('C²', false)).toEqual([0, 3, 2, 1])
  expect(order('other', true)).toEqual([0, 1, 2, 3])
  expect(sortedRows(rows, columns, null)).toBe(rows)
})

describe('code', () => {
  test('gives the stage, the category and the edge', () => {
    const open = data.spreads[0] ?? null
    expect(varianceCode({ ...data, name: 'comparison' }, { open: null, edge: null })).toBe(
      'findVariance(comparison)',
    )
    const code = varianceCode(
      { isStage: false, name: 'comparison', of: { ...data.of, large: 5 } },
      { open, edge: 1 },
    )
    expect(code).toBe(
      `findVariance(comparison, { large: 5 }).category(${open?.category}, { period: '${open?.period}' }).covariances(1)`,
    )
    expect((pasted(code) as { edge: { edge: number } }).edge.edge).toBe(1)
  })
})

describe('the widget', () => {
  test('is a picture of tier 1 without scripts', () => {
    const svg = explore(comparison, 'variance').svg()
    expect(svg).toContain('100 %')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('is drawn where no category is large as well', () => {
    const none = explore(comparison, 'variance', { large: 100_000 })
    expect(none.svg()).toContain('none is large before, none is large after')
  })

  test('opens from a stage of findVariance, without the tests of a comparison', () => {
    const alone = dataOf(variance)
    expect(alone.all.table.totalColumns).toBe(data.all.table.totalColumns - 4)
    expect(alone.spreads).toEqual(data.spreads)
    expect(varianceCode({ ...alone, name: 'variance' }, { open: null, edge: null })).toBe(
      'variance',
    )
  })

  test('checks its options', () => {
    expect(() => explore(comparison, 'variance', { limit: -1 })).toThrow('Option limit is -1.')
    expect(() => explore(comparison, 'variance', { large: -1 })).toThrow('Option large is -1.')
    expect(() => explore(comparison, 'variance', { category: 99 })).toThrow(
      'Option category is 99.',
    )
    expect(() => explore(comparison, 'variance', { top: 3 } as never)).toThrow('no option top')
  })

  test('says C² with two digits', () => {
    expect([0, 0.00001, 0.04, 5.97, 12.4, 1234, Number.NaN].map(c2Text)).toEqual([
      '0',
      'under 0.001',
      '0.040',
      '6.0',
      '12',
      '1,234',
      'none',
    ])
  })
})
