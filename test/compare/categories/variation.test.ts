import { describe, expect, test } from 'vitest'
import { squaredVariation } from '../../../src/compare/categories/categories.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { moments } from '../../../src/stats/index.ts'
import { chains, makeGraphs } from '../../make-traces.ts'
import { describeWithShared, sharedJson } from '../../shared.ts'
import { expectRelative } from '../../stats/expect-relative.ts'

interface Case {
  name: string
  edgeNames: string[]
  edges: number[][]
  n: number
  mean: number
  var: number
  C2: number
  edgeVar: number[]
}

describeWithShared('the table of categories against VarianceFinder’s numbers', () => {
  const { variance } = sharedJson<{ variance: Case[] }>('oracles/variance.json')

  test.each(variance)('$name: beforeC2 and afterC2', ({ edgeNames, edges, ...expected }) => {
    const points = ['start', ...edgeNames]
    const graphs = edges.map((latencyUs) => ({
      labels: points,
      edges: latencyUs.map((_, i) => [i, i + 1] as const),
      latencyUs,
      responseTimeUs: latencyUs.reduce((sum, us) => sum + us, 0),
    }))
    const traces = makeGraphs(graphs)
    const categories = categorize(buildFlows([traces, traces]))
    const row = categories.table().object(0) as Record<string, number>
    expect(row).toMatchObject({ root: 'start', before: expected.n, after: expected.n })
    expectRelative(row['beforeMeanUs'] as number, expected.mean, 1e-12)
    expectRelative((row['beforeSdUs'] as number) ** 2, expected.var, 1e-9)
    expectRelative(row['beforeC2'] as number, expected.C2, 1e-9)
    expect(row['afterC2']).toBe(row['beforeC2'])
    const variances = categories
      .edgeSamples(0)
      .map(({ before }) => moments(before.latencyUs).variance)
    variances.forEach((found, edge) => {
      expectRelative(found, expected.edgeVar[edge] as number, 1e-9)
    })
  })
})

test('sizes: two of 14 requests are in a small category, and flows are larger over categories', () => {
  const many = chains(['a', 'b'], Array(12).fill(5))
  const few = chains(['c', 'd', 'e', 'f'], [1, 2])
  const categories = categorize(buildFlows([makeGraphs([...many, ...few]), makeGraphs(many)]))
  const [before, after] = categories.sizes().objects() as Record<string, number>[]
  expect(before).toMatchObject({ period: 'before', requests: 14, categories: 2, largeShare: 0.5 })
  expect(before?.['inLargeShare']).toBeCloseTo(12 / 14, 12)
  expect(before?.['nodesMean']).toBeCloseTo((12 * 2 + 2 * 4) / 14, 12)
  expect([before?.['categoryNodesMean'], before?.['categoryNodesSd']]).toEqual([3, Math.SQRT2])
  expect(after).toMatchObject({ period: 'after', categories: 1, largeShare: 1, inLargeShare: 1 })
  expect(categories.sizes({ large: 1 }).get('inLargeShare', 0)).toBe(1)
  expect(() => categories.sizes({ large: -1 })).toThrow('Option large is -1.')
})

describe('C²', () => {
  const table = categorize(
    buildFlows([
      makeGraphs([...chains(['a', 'b'], [7]), ...chains(['c', 'd'], [0, 0])]),
      makeGraphs(chains(['a', 'b'], [5, 5])),
    ]),
  ).table()

  test('of one request is NaN', () => {
    expect(table.get('beforeC2', 0)).toBeNaN()
  })

  test('of equal times is 0', () => {
    expect(table.get('afterC2', 0)).toBe(0)
  })

  test('of times that are all 0 is NaN', () => {
    expect(table.get('beforeC2', 1)).toBeNaN()
    expect(squaredVariation(moments([-1, 1]))).toBeNaN()
  })

  test('of no request is NaN, as is the mean', () => {
    expect(table.get('after', 1)).toBe(0)
    expect(table.get('afterMeanUs', 1)).toBeNaN()
    expect(table.get('afterC2', 1)).toBeNaN()
  })
})
