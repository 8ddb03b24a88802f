import { describe, expect, test } from 'vitest'
import { encodeColumns } from '../../../src/core/columns.ts'
import { sortedRows } from '../../../src/views/drawing/data-table.tsx'
import { explore } from '../../../src/views/explore.ts'
import { c2Text, varianceCode } from '../../../src/views/widgets/variance/variance-widget.tsx'
import { manyCategories } from '../charts/fixture.ts'
import { comparison, data, dataOf, pasted, variance } from './variance-fixture.ts'

describe('the data', () => {
  test('is tier 1 as findVariance ranks it', () => {
    expect(data.spreads.map(({ category, period }) => [category, period])).toEqual(
      variance.ranked.map(({ category, period }) => [category, period]),
    )
    expect(data.periods.map(({ belowOne }) => belowOne)).toEqual([
      variance.shareBelowOne('before'),
      variance.shareBelowOne('after'),
    ])
  })

  test('is tier 2 with shares that add up to 1', () => {
    data.details.forEach(({ rows }, place) => {
      const { category, period } = data.spreads[place] as (typeof data.spreads)[number]
      const { edges, restShare } = variance.category(category, { period })
      const own = rows.filter(({ from }) => from !== '–')
      expect(own.length).toBe(Math.min(20, edges.length))
      expect(own.at(-1)?.end).toBeCloseTo(1 - restShare, 5)
      expect(rows.at(-1)).toMatchObject({ start: 0, end: 1 })
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
  test('gives the stage and the category', () => {
    const open = data.spreads[0] ?? null
    expect(varianceCode({ ...data, name: 'comparison' }, null)).toBe('findVariance(comparison)')
    const code = varianceCode(
      { isStage: false, name: 'comparison', of: { ...data.of, large: 5 } },
      open,
    )
    expect(code).toBe(
      `findVariance(comparison, { large: 5 }).category(${open?.category}, { period: '${open?.period}' })`,
    )
    expect((pasted(code) as { category: number }).category).toBe(open?.category)
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
    expect(varianceCode({ ...alone, name: 'variance' }, null)).toBe('variance')
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
