import { expect, test } from 'vitest'
import type { Categories } from '../../../src/compare/categories/categories.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'
import { describeWithShared, sharedJson } from '../../shared.ts'

interface Pair {
  name: string
  a: GraphSketch
  b: GraphSketch
  isomorphic: boolean
  same_wl: boolean
}

function categoriesOf(...graphs: GraphSketch[]): Categories {
  return categorize(buildFlows(makeGraphs(graphs)))
}

describeWithShared('categories are isomorphism classes, as networkx sees them', () => {
  const { pairs } = sharedJson<{ pairs: Pair[] }>('oracles/canon.json')

  test('there are 27 pairs, one of which colour refinement cannot tell apart', () => {
    expect(pairs).toHaveLength(27)
    expect(pairs.filter((pair) => pair.same_wl && !pair.isomorphic)).toHaveLength(1)
  })

  test.each(pairs)('$name: the same structure: $isomorphic', ({ a, b, isomorphic }) => {
    const categories = categoriesOf(a, b)
    expect(Array.from(categories.categoryOf)).toEqual(isomorphic ? [0, 0] : [0, 1])
    expect(categories.undecided).toBe(0)
  })

  test.each(pairs.filter(({ isomorphic }) => isomorphic))(
    '$name: both are described alike, edge by edge',
    ({ a, b }) => {
      const [shownByA, shownByB] = [categoriesOf(a, b), categoriesOf(b, a)].map((categories) => {
        const { labels, preorder, edgeClasses } = categories.structure(0)
        return { nodes: Array.from(preorder, (node) => labels[node]), edgeClasses }
      })
      expect(shownByA).toEqual(shownByB)
    },
  )
})
