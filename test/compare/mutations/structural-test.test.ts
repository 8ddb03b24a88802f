import { describe, expect, test } from 'vitest'
import {
  findStructuralMutations,
  suggestThreshold,
} from '../../../src/compare/mutations/find-structural-mutations.ts'
import { categories } from './reads-and-writes.ts'

const labels = (before: readonly number[], after: readonly number[]) => {
  const mutations = findStructuralMutations(categories(before, after), { smPThreshold: 'auto' })
  return Object.fromEntries(
    mutations.changes.reduce<[string, string][]>((all, _, category) => {
      const structure = mutations.categories.structure(category)
      all.push([structure.labels.join(' '), mutations.label(category)])
      return all
    }, []),
  )
}

describe("smPThreshold: 'auto'", () => {
  test('finds 20 more of 100, which a threshold of 50 does not see', () => {
    expect(labels([90, 10, 0], [70, 30, 0])).toEqual({
      'READ HIT REPLY': 'precursor',
      'READ MISS DISK REPLY': 'structural-mutation',
    })
  })

  test('six more of 100 may be chance', () => {
    expect(Object.values(labels([90, 10, 0], [84, 16, 0]))).toEqual(['unchanged', 'unchanged'])
  })

  test('twice the load is no change', () => {
    expect(Object.values(labels([900, 100, 500], [1800, 200, 1000]))).toEqual([
      'unchanged',
      'unchanged',
      'unchanged',
    ])
  })

  test('more requests of one type are no change of the structure of any', () => {
    expect(Object.values(labels([90, 10, 100], [90, 10, 900]))).toEqual([
      'unchanged',
      'unchanged',
      'unchanged',
    ])
  })

  test('counts a change from what the share before would have given of the requests after', () => {
    const { changes } = findStructuralMutations(categories([90, 10, 0], [100, 100, 0]), {
      smPThreshold: 'auto',
    })
    expect(Array.from(changes)).toEqual([100 - 180, 100 - 20])
  })

  test('a stricter level finds less', () => {
    const found = categories([90, 10, 0], [78, 22, 0])
    const at = (alpha: number) =>
      findStructuralMutations(found, { smPThreshold: 'auto', alpha }).mutations.length
    expect([at(0.05), at(0.005)]).toEqual([1, 0])
  })

  test('a category too small to differ significantly is not tested', () => {
    const mutations = findStructuralMutations(categories([97, 3, 0], [98, 2, 0]), {
      smPThreshold: 'auto',
    })
    expect(mutations.test(1)).toMatchObject({ testable: false, q: Number.NaN, rejected: false })
  })
})

describe('counts', () => {
  const twice = categories([900, 100, 500], [1800, 200, 1000])

  test('as they are, twice the load makes a structural mutation of every category', () => {
    expect(findStructuralMutations(twice).mutations).toHaveLength(3)
  })

  test('scaled, of none', () => {
    expect(findStructuralMutations(twice, { counts: 'scaled' }).mutations).toEqual([])
  })

  test('weighted, without recorded weights, as they are', () => {
    const weighted = findStructuralMutations(twice, { counts: 'weighted' })
    expect(Array.from(weighted.changes)).toEqual(Array.from(findStructuralMutations(twice).changes))
  })
})

describe('the suggested threshold', () => {
  test('grows with the square root of the load', () => {
    const small = suggestThreshold(categories([100, 100, 100], [100, 100, 100]))
    const large = suggestThreshold(categories([1600, 1600, 1600], [1600, 1600, 1600]))
    expect(large / small).toBeCloseTo(4, 0)
  })
})
