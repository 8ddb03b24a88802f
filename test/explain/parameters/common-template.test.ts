import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { flowForm } from '../../../src/explain/flow-pair/flow-form.ts'
import { commonTemplate } from '../../../src/explain/parameters/explain.ts'
import { makeGraphs } from '../../make-traces.ts'
import { flow } from '../flow-pair/fixture.ts'

/** Labels of the nodes that both flows have in common. */
function shared(before: string, after: string): string[] {
  const { categories } = compare(makeGraphs(flow(before)), makeGraphs(flow(after)))
  const [a, b] = [flowForm(categories, 0), flowForm(categories, categories.size - 1)]
  return commonTemplate(a, b).map((node) => {
    expect(b.labels[node.after]).toBe(a.labels[node.before])
    return a.labels[node.before] as string
  })
}

describe('the part that two flows share', () => {
  test('is all of a flow and itself', () => {
    expect(shared('A>B B>C B>D C>E D>E', 'A>B B>C B>D C>E D>E')).toEqual(['A', 'B', 'C', 'E', 'D'])
  })

  test('ends at the first difference of a path, and only of that path', () => {
    expect(shared('A>B B>C C>D A>F F>G', 'A>B B>X X>D A>F F>G')).toEqual(['A', 'B', 'F', 'G'])
    expect(shared('A>B B>C', 'A>B B>C C>D')).toEqual(['A', 'B', 'C'])
  })

  test('has a join once', () => {
    expect(shared('A>B A>C B>D C>D D>E', 'A>B A>C B>D C>D D>F')).toEqual(['A', 'B', 'D', 'C'])
  })

  test('takes children of one name in their order', () => {
    expect(shared('A>B.1 A>B.2', 'A>B.1 A>B.2 A>B.3')).toEqual(['A', 'B', 'B'])
  })

  test('is nothing where flows begin differently', () => {
    expect(shared('A>B', 'X>B')).toEqual([])
  })
})
