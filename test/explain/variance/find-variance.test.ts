import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { chains, type GraphSketch, makeGraphs, makeSpans } from '../../make-traces.ts'
import { describeWithShared, sharedJson } from '../../shared.ts'

/** Requests through named edges one after the other; a row of latencies a request. */
function rows(edgeNames: readonly string[], latencies: readonly (readonly number[])[]) {
  const labels = ['start', ...edgeNames.map((name) => `${name} done`)]
  const edges = edgeNames.map((_, i) => [i, i + 1] as const)
  return latencies.map((latencyUs) => ({ labels, edges, latencyUs }))
}

const varianceOf = (graphs: readonly GraphSketch[], large = 10) =>
  findVariance(categorize(buildFlows(makeGraphs(graphs))), { large })

interface VarianceCase {
  readonly name: string
  readonly edgeNames: string[]
  readonly edges: number[][]
  readonly n: number
  readonly mean: number
  readonly var: number
  readonly C2: number
  readonly edgeVar: number[]
  readonly share: (number | null)[]
  readonly cov: number[][]
}

describeWithShared('oracle variance.json', () => {
  const { variance } = sharedJson<{ variance: VarianceCase[] }>('oracles/variance.json')

  test.each(variance)('$name', (expected) => {
    const found = varianceOf(rows(expected.edgeNames, expected.edges))
    const [first] = found.ranked
    expect(first).toMatchObject({ requests: expected.n, period: 'before' })
    expect(first?.meanUs).toBeCloseTo(expected.mean, 6)
    expect(first?.varianceUs2).toBeCloseTo(expected.var, 9)
    expect(first?.c2).toBeCloseTo(expected.C2, 12)
    const { edges } = found.category(0)
    const byNumber = expected.edgeNames.map((_, edge) => edges.find((each) => each.edge === edge))
    byNumber.forEach((edge, i) => {
      expect(edge?.varianceUs2).toBeCloseTo(expected.edgeVar[i] as number, 9)
      const share = expected.share[i] ?? Number.NaN
      expect(edge?.share).toSatisfy(
        (it: number) => Object.is(it, share) || Math.abs(it - share) < 1e-9,
      )
      for (const other of found.category(0).covariances(i).others) {
        expect(other.covarianceUs2).toBeCloseTo(expected.cov[i]?.[other.edge] as number, 9)
      }
    })
  })
})

describe('edges that merge two behaviors', () => {
  const random = randomSource(11)
  const edge = (slowShare: number) =>
    random.logNormal(3, 0.3) + (random.next() < slowShare ? 200 : 0)

  test('are named with their two parts, and only they', () => {
    const latencies = Array.from({ length: 120 }, () => [edge(0), edge(0.3), edge(0)])
    const { merged } = varianceOf(rows(['read', 'cache', 'reply'], latencies))
    expect(merged.map(({ to }) => to)).toEqual(['cache done'])
    const [{ faster, slower, share } = expect.fail()] = merged
    expect(faster.requests + slower.requests).toBe(120)
    expect(faster.medianUs).toBeLessThan(30)
    expect(slower.medianUs).toBeGreaterThan(200)
    expect(share).toBeGreaterThan(0.9)
  })

  test('say which attribute tells the parts apart, where one does', () => {
    const toldBy = (isHit: (i: number, hit: boolean) => boolean) => {
      const spans = Array.from({ length: 160 }, (_, i) => {
        const hit = random.next() < 0.5
        const [trace, startUs] = [`t${i}`, 10_000 * i]
        const endUs = startUs + (hit ? 200 : 2000) * random.logNormal(0, 0.1)
        const store = { service: 'store', operation: 'get', startUs: startUs + 10, endUs }
        const attributes = { 'cache.hit': isHit(i, hit), shard: i % 3 }
        return [
          { trace, id: `w${i}`, service: 'web', operation: 'READ', startUs, endUs: endUs + 10 },
          { trace, id: `s${i}`, parent: `w${i}`, ...store, attributes },
        ]
      })
      const { merged } = findVariance(categorize(buildFlows(makeSpans(spans.flat()))), {
        large: 20,
      })
      return merged.map((edge) => edge.toldBy)
    }
    expect(toldBy((_, hit) => hit)).toEqual(['store get · cache.hit'])
    expect(toldBy((i) => i % 2 === 0)).toEqual([null])
  })

  test('are none where latencies have long tails', () => {
    const named = Array.from({ length: 40 }, () => {
      const latencies = Array.from({ length: 60 }, () => [edge(0), edge(0), edge(0)])
      return varianceOf(rows(['read', 'cache', 'reply'], latencies)).merged.length
    })
    expect(named.filter((count) => count > 0)).toHaveLength(0)
  })
})

test('importance puts a steady kind that takes most of the time before a rare one', () => {
  const busy = Array.from({ length: 200 }, (_, i) => [1000 + (i % 2) * 900])
  const rare = Array.from({ length: 20 }, (_, i) => [1, i % 10 === 0 ? 40 : 1])
  const flows = buildFlows(makeGraphs([...rows(['busy'], busy), ...rows(['rare', 'end'], rare)]))
  const ranked = (order: 'c2' | 'importance') =>
    findVariance(categorize(flows), { order }).ranked.map(({ requests }) => requests)
  expect(ranked('c2')).toEqual([20, 200])
  expect(ranked('importance')).toEqual([200, 20])
  const shares = findVariance(categorize(flows)).ranked.map(({ timeShare }) => timeShare)
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12)
})

describe('tier 1', () => {
  const steady = chains(
    ['steady', 'end'],
    Array.from({ length: 12 }, (_, i) => 100 + i),
  )
  const wild = chains(['wild', 'end'], [...Array.from({ length: 11 }, () => 1), 1000])
  const few = chains(
    ['few', 'end'],
    Array.from({ length: 10 }, (_, i) => 1 + 100 * i),
  )

  test('ranks by C², not by variance, and leaves categories of ten requests out', () => {
    const found = varianceOf([...steady, ...wild, ...few])
    expect(found.ranked.map(({ root }) => root)).toEqual(['wild', 'steady'])
    expect(found.small).toBe(1)
    expect(found.shareBelowOne()).toBe(0.5)
  })

  test('one request more makes a category large; the limit is an option', () => {
    expect(varianceOf(few, 9).ranked.length).toBe(1)
    expect(() => varianceOf(few, -1)).toThrow('Option large is -1.')
  })

  test('periods stand apart, and one may be asked for', () => {
    const flows = buildFlows([makeGraphs(steady), makeGraphs([...steady, ...wild])])
    const categories = categorize(flows)
    const both = findVariance(categories)
    expect(both.ranked.map(({ root, period }) => `${root} ${period}`)).toEqual([
      'wild after',
      'steady before',
      'steady after',
    ])
    expect([both.shareBelowOne('before'), both.shareBelowOne('after')]).toEqual([1, 0.5])
    expect(findVariance(categories, { period: 'before' }).table().numRows()).toBe(1)
    expect(() => findVariance(categories, { period: 'now' as 'after' })).toThrow(
      "Option period is \"now\". Give 'before', 'after' or 'both'.",
    )
  })

  test('the distribution of C² ends at 1', () => {
    const table = varianceOf([...steady, ...wild]).distribution()
    expect(table.array('period')).toEqual(['before', 'before'])
    expect(table.array('share')).toEqual([0.5, 1])
    const [steadyC2, wildC2] = table.array('c2') as number[]
    expect(steadyC2).toBeLessThan(1)
    expect(wildC2).toBeGreaterThan(1)
  })

  test('a mean of 0 has no C² and comes last', () => {
    const nothing = chains(
      ['nothing', 'end'],
      Array.from({ length: 12 }, () => 0),
    )
    const found = varianceOf([...nothing, ...steady])
    expect(found.ranked.map(({ c2 }) => Number.isNaN(c2))).toEqual([false, true])
    expect(found.shareBelowOne()).toBe(1)
  })

  test('takes a comparison as well', () => {
    const comparison = compare(makeGraphs(steady), makeGraphs(wild))
    expect(findVariance(comparison).ranked.length).toBe(2)
  })
})

describe('tier 2', () => {
  /** Two branches of random length; the join waits for the longer one. */
  function forked(requests: number): GraphSketch[] {
    const random = randomSource(5)
    return Array.from({ length: requests }, () => {
      const [left, right] = [10 + 100 * random.next(), 40 + 40 * random.next()]
      return {
        labels: ['start', 'left', 'right', 'join', 'end'],
        edges: [
          [0, 1],
          [0, 2],
          [1, 3],
          [2, 3],
          [3, 4],
        ] as const,
        latencyUs: [
          left,
          right,
          Math.max(left, right) - left + 1,
          Math.max(left, right) - right + 1,
          5,
        ],
        responseTimeUs: Math.max(left, right) + 6,
      }
    })
  }

  test('shares add up to 1 where requests take different paths, and the note says so', () => {
    const found = varianceOf(forked(200)).category(0)
    expect(found.onePath).toBe(false)
    expect(1 - found.restShare).toBeCloseTo(1, 9)
    expect(found.edges.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9)
    expect(found.note).toBe(
      'Shares of all parts add up to 100 %. Requests take different critical paths; an edge off the path counts as 0.',
    )
    const onPath = found.edges.filter(({ to }) => to === 'left' || to === 'right')
    expect(onPath.reduce((sum, { requests }) => sum + requests, 0)).toBe(200)
  })

  test('response time beside the recorded path is no edge’s, and the note says how much', () => {
    const graphs = rows(
      ['only'],
      Array.from({ length: 20 }, (_, i) => [10 * i]),
    ).map((graph, i) => ({ ...graph, responseTimeUs: 20 * i }))
    const found = varianceOf(graphs).category(0)
    expect(1 - found.restShare).toBeCloseTo(0.5, 12)
    expect(found.note).toContain('Shares add up to 50 %, not 1')
  })

  test('says why there are no shares', () => {
    const constant = varianceOf(
      chains(
        ['a', 'b'],
        Array.from({ length: 12 }, () => 7),
      ),
    )
    expect(constant.category(0).note).toBe(
      'There are no shares: response times do not vary at all.',
    )
    const single = varianceOf(chains(['a', 'b'], [7]))
    expect(single.category(0).note).toContain('There is no variance')
    expect(single.category(0).edges[0]).toMatchObject({ requests: 1, varianceUs2: Number.NaN })
  })

  test('there is no category 7, and no edge 9', () => {
    const found = varianceOf(chains(['a', 'b'], [7]))
    expect(() => found.category(7)).toThrow('There is no category 7; there are 0 to 0.')
    expect(() => found.category(0).covariances(9)).toThrow(
      'Category 0 has no edge 9. Give a number from the column edge of .table(), 0 to 0.',
    )
  })
})

describe('covariances', () => {
  /** A queue that waits for its service, and a parser that has nothing to do with either. */
  function queued(requests: number): GraphSketch[] {
    const random = randomSource(11)
    return rows(
      ['queue', 'service', 'parse'],
      Array.from({ length: requests }, () => {
        const service = 100 * random.next()
        return [service + 10 * random.next(), service, 50 * random.next()]
      }),
    )
  }

  test('the edge that makes another vary covaries with it, an unrelated one does not', () => {
    const found = varianceOf(queued(300)).category(0).covariances(0)
    expect(found.edge).toMatchObject({ edge: 0, from: 'start', to: 'queue done' })
    expect(found.others.filter(({ covaries }) => covaries).map(({ to }) => to)).toEqual([
      'service done',
    ])
    expect(found.others[0]?.correlation).toBeGreaterThan(0.99)
    expect(found.others[1]?.covaries).toBe(false)
  })

  test('p is that of SciPy’s pearsonr', () => {
    const graphs = rows(
      ['a', 'b'],
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((a, i) => [
        a,
        [2, 1, 4, 3, 7, 5, 4, 9, 6, 8, 12, 7][i] as number,
      ]),
    )
    const [other] = varianceOf(graphs).category(0).covariances(0).others
    expect(other?.correlation).toBeCloseTo(0.8102241472167485, 12)
    expect(other?.p).toBeCloseTo(0.0013960806916890323, 12)
    expect(other?.q).toBe(other?.p)
  })

  test('ten requests are too few, eleven are enough', () => {
    const tested = (n: number) => varianceOf(queued(n)).category(0).covariances(0).others[0]?.p
    expect(tested(10)).toBeNaN()
    expect(tested(11)).toBeLessThan(0.05)
  })

  test('an edge that does not vary has no correlation and no p', () => {
    const graphs = rows(
      ['a', 'b'],
      Array.from({ length: 12 }, (_, i) => [i, 3]),
    )
    const [other] = varianceOf(graphs).category(0).covariances(0).others
    expect(other).toMatchObject({ covarianceUs2: 0, correlation: Number.NaN, p: Number.NaN })
    expect(other?.covaries).toBe(false)
  })

  test('a level that is none is refused', () => {
    const found = varianceOf(queued(12)).category(0)
    expect(() => found.covariances(0, { alpha: 0 })).toThrow('Option alpha is 0.')
  })
})
