import { describe, expect, test } from 'vitest'
import type { Comparison } from '../../../src/compare/comparison.ts'
import { explore } from '../../../src/views/explore.ts'
import { valueAt } from '../../../src/views/widgets/table/table-columns.ts'
import {
  keptRows,
  stateFilters,
  tableCode,
  untouched,
} from '../../../src/views/widgets/table/use-table.ts'
import {
  categoryScatter,
  frameFilters,
  MEASURE_NAMES,
  measureAxis,
} from '../../../src/views/widgets/variance/category-scatter.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { expectDrawable, manyCategories } from '../charts/fixture.ts'
import { categoriesOf, columns, comparison, data, pasted } from './categories-fixture.ts'

describe('the table of all categories', () => {
  test('has their tests, and its code gives the same rows', () => {
    expect(columns.map(({ name }) => name)).toEqual([
      'category',
      'root',
      ...MEASURE_NAMES,
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

describe('scales', () => {
  test('are the same for both periods', () => {
    expect(measureAxis(columns, 'beforeC2').domain).toEqual(measureAxis(columns, 'afterC2').domain)
  })

  test('have a place for what is 0 or missing, before all others', () => {
    const { domain, axis } = measureAxis(columns, 'afterMeanUs')
    const times = (columns.find(({ name }) => name === 'afterMeanUs')?.values ?? []) as number[]
    expect(times.some(Number.isNaN)).toBe(true)
    expect(domain[0]).toBeLessThan(Math.min(...times.filter((time) => time > 0)))
    expect((axis['values'] as number[])[0]).toBe(domain[0])
    expect(axis['labelExpr']).toContain("'none'")
  })
})

test('a frame filters the table, and the code gives the same categories', () => {
  let most = 0
  for (const across of MEASURE_NAMES) {
    for (const up of MEASURE_NAMES.filter((measure) => measure !== across)) {
      for (const [from, to] of [
        [0, 1],
        [0, 0.05],
        [0.3, 0.7],
        [0.9, 0.2],
      ] as const) {
        const rangeOf = (measure: typeof across) => {
          const { domain, scale } = measureAxis(columns, measure)
          const [low, high] = domain
          const at = (share: number) =>
            scale.type === 'log' ? low * (high / low) ** share : low + share * (high - low)
          return [at(from), at(to)] as const
        }
        const found = frameFilters(columns, { [across]: rangeOf(across), [up]: rangeOf(up) })
        const filters = columns.map(({ name }) => found[name as typeof across] ?? '')
        const state = { ...untouched(columns), filters }
        const kept = keptRows(data.table.rows, stateFilters(columns, state))
        expect(categoriesOf(pasted(tableCode(data.table, columns, state)))).toEqual([...kept])
        most = Math.max(most, kept.length)
      }
    }
  }
  expect(most).toBe(comparison.categories.size)
})

test('the scatter is valid for every pair of measures', () => {
  for (const across of MEASURE_NAMES) {
    for (const up of MEASURE_NAMES) expectDrawable(categoryScatter(columns, [across, up]))
  }
})

describe('the plots of all categories', () => {
  const still = (of: Comparison, options: object = {}) =>
    explore(of, 'variance', { categories: true, ...options }).svg()

  test('stand in the picture without scripts when they are open', () => {
    const svg = still(comparison, { across: 'beforeMeanUs', up: 'afterMeanUs' })
    expect(svg).toContain('mean response time after')
    expect(svg).toContain('% below 1')
    expect(svg).not.toMatch(/NaN|undefined|var\(--/)
  })

  test('are drawn of very many categories, and without any large one', () => {
    expect(still(manyCategories(), { large: 2 })).toContain('All categories by two measures')
    const none = still(compareShops({ requests: 1 }, { requests: 1 }))
    expect(none).toContain('before: no category is large enough')
    expect(none).not.toMatch(/NaN|undefined/)
  })

  test('take only measures that there are', () => {
    expect(() => still(comparison, { up: 'c2' })).toThrow('Option up is "c2".')
  })
})
