import { describe, expect, test } from 'vitest'
import type { Comparison } from '../../../src/comparison/comparison.ts'
import { explore } from '../../../src/views/explore.ts'
import { valueAt } from '../../../src/views/widgets/table/table-columns.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { manyCategories } from '../charts/fixture.ts'
import { columns, comparison, data, pasted } from './categories-fixture.ts'

describe('the table of all categories', () => {
  test('has their tests, and its code gives the same rows', () => {
    expect(columns.map(({ name }) => name)).toEqual([
      'category',
      'root',
      ...['before', 'after', 'beforeMeanUs', 'afterMeanUs', 'beforeC2', 'afterC2'],
      'change',
      'label',
      'q',
      'mutation',
    ])
    const table = pasted(data.table.name)
    for (const column of columns) {
      const values = Array.from({ length: data.table.rows }, (_, row) => valueAt(column, row))
      expect(values).toEqual(Array.from(table.array(column.name) as ArrayLike<unknown>))
    }
  })
})

describe('the plots of all categories', () => {
  const still = (of: Comparison, options: object = {}) =>
    explore(of, 'variance', { categories: true, ...options }).svg()

  test('stand in the picture without scripts when they are open', () => {
    const svg = still(comparison)
    expect(svg).toContain('% below 1')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('are drawn of very many categories, and without any large one', () => {
    expect(still(manyCategories(), { large: 2 })).toContain('How predictable response times are')
    const none = still(compareShops({ requests: 1 }, { requests: 1 }))
    expect(none).toContain('before: no category is large enough')
    expect(none).not.toMatch(/NaN|undefined/)
  })
})
