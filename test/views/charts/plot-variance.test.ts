import { describe, expect, test } from 'vitest'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { randomSource } from '../../../src/stats/random.ts'
import type { Chart } from '../../../src/views/charts/chart.ts'
import {
  edgeName,
  flowDepths,
  varianceShare,
  variationSetsChart,
} from '../../../src/views/charts/variance.ts'
import { plot } from '../../../src/views/plot.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import { chain, comparisonOf, dataOf, expectDrawable, pick, type Row, upFrom } from './fixture.ts'

/** Requests A → B → C → D whose three latencies are given, in both periods. */
function threeSteps(latencies: readonly (readonly [number, number, number])[], names = 'ABCD') {
  const graphs = latencies.map((latencyUs, i) => ({
    labels: [...names].map((point) => `m1__t1__${point}`),
    edges: [0, 1, 2].map((edge) => [edge, edge + 1] as const),
    latencyUs,
    startUs: 1000 * i,
    responseTimeUs: latencyUs.reduce((sum, us) => sum + us, 0),
  }))
  return comparisonOf(graphs, graphs)
}

/** B → C rises with A → B; C → D falls half as fast. */
const together = () => threeSteps(upFrom(0, 20).map((i) => [100 + i, 200 + i, 300 - i / 2]))

const barsOf = (chart: Chart): Row[] => dataOf(chart)[0] ?? []

describe('the waterfall', () => {
  test('stacks the shares of the edges up to 1, in the order of the flow', () => {
    const chart = plot(findVariance(together()), 'waterfall', { category: 0 })
    // Var(R) = 2.25 Var(i); Cov with R: 1.5, 1.5 and −0.75 Var(i).
    expect(pick(barsOf(chart), 'label', 'start', 'end', 'share', 'kind')).toEqual([
      ['1. m1__t1__A → m1__t1__B', 0, 0.666667, '67 %', 'adds to the variance'],
      ['2. m1__t1__B → m1__t1__C', 0.666667, 1.333333, '67 %', 'adds to the variance'],
      ['3. m1__t1__C → m1__t1__D', 1.333333, 1, '−33 %', 'evens it out'],
      ['variance of response times', 0, 1, '100 %', 'response time'],
    ])
    expect(chart.description).toContain('Shares of all parts add up to 100 %.')
    expectDrawable(chart)
  })

  test('says so where shares cannot stack up, and draws what is missing', () => {
    const graphs = upFrom(0, 20).map((i) => ({
      labels: ['A', 'B'].map((point) => `m1__t1__${point}`),
      edges: [[0, 1] as const],
      latencyUs: [100 + i],
      responseTimeUs: 200 + 2 * i,
      startUs: 1000 * i,
    }))
    const chart = plot(findVariance(comparisonOf(graphs, graphs)), 'waterfall', { category: 0 })
    expect(chart.description).toContain('Shares add up to 50 %, not 1')
    expect(pick(barsOf(chart), 'label', 'share')).toEqual([
      ['1. m1__t1__A → m1__t1__B', '50 %'],
      ['outside the recorded critical path', '50 %'],
      ['variance of response times', '100 %'],
    ])
    expectDrawable(chart)
  })

  test('draws the largest shares only, and the others together', () => {
    const chart = plot(findVariance(together()), 'waterfall', { category: 0, limit: 1 })
    expect(pick(barsOf(chart), 'label', 'end')).toEqual([
      ['1. m1__t1__A → m1__t1__B', 0.666667],
      ['2 other edges', 1],
      ['variance of response times', 1],
    ])
    expect(chart.description).toContain('Shows the 1 of 3 edges with the largest shares')
  })

  test('has no bar where response times do not vary, and says why', () => {
    const steady = findVariance(comparisonOf(chain(['A', 'B'], Array(12).fill(7)), []))
    const chart = plot(steady, 'waterfall', { category: 0, period: 'before' })
    expect(barsOf(chart)).toEqual([])
    expect(chart.description).toContain('response times do not vary at all')
    expectDrawable(chart)
    expectDrawable(plot(steady, 'waterfall', { category: 0, period: 'after' }))
  })

  test('checks its options', () => {
    const variance = findVariance(together())
    expect(() => plot(variance, 'waterfall', { category: 0, limit: 0 })).toThrow(
      'Option limit is 0.',
    )
    expect(() => plot(variance, 'waterfall', { category: 0, top: 1 } as never)).toThrow(
      'no option top',
    )
    expect(() => plot(variance, 'waterfall', { category: 9 })).toThrow(RangeError)
  })
})

describe('the covariances', () => {
  test('are correlations of every two edges, the same both ways, and none of an edge with itself', () => {
    const chart = plot(findVariance(together()), 'covariances', { category: 0 })
    const all = dataOf(chart)[0] ?? []
    expect(all.length).toBe(9)
    const cells = all.filter(({ correlation }) => correlation !== null)
    const found = cells.map(({ label, column, correlation, text }) => [
      String(label).slice(0, 1),
      column,
      Number((correlation as number).toFixed(9)),
      text,
    ])
    expect(found).toEqual([
      ['1', '2', 1, '1'],
      ['1', '3', -1, '−1'],
      ['2', '1', 1, '1'],
      ['2', '3', -1, '−1'],
      ['3', '1', -1, '−1'],
      ['3', '2', -1, '−1'],
    ])
    expectDrawable(chart)
  })

  test('stand in brackets where a test cannot tell them from 0', () => {
    const [even, odd] = [upFrom(0, 20).map((i) => (i % 2) * 10), upFrom(0, 20)]
    const latencies = upFrom(0, 20).map((i) => [even[i] as number, odd[i] as number, 5] as const)
    const chart = plot(findVariance(threeSteps(latencies)), 'covariances', { category: 0 })
    expect(pick(dataOf(chart)[0], 'text')).toEqual([[''], ['(.09)'], ['(.09)'], ['']])
    expect(chart.description).toContain('1 edge on the critical path does not vary.')
    expectDrawable(chart)
  })

  test('are in brackets on both sides of the diagonal or on neither', () => {
    const random = randomSource(4)
    const latencies = upFrom(0, 12).map((i) => {
      return [i, i / 3 + 5 * random.next(), 9 * random.next()] as const
    })
    const rows =
      dataOf(plot(findVariance(threeSteps(latencies)), 'covariances', { category: 0 }))[0] ?? []
    const text = (row: number, column: number) =>
      rows.find(
        ({ label, column: other }) => String(label)[0] === `${row}` && other === `${column}`,
      )?.['text']
    for (const [one, other] of [
      [1, 2],
      [1, 3],
      [2, 3],
    ] as const) {
      expect(text(one, other)).toBeTypeOf('string')
      expect(text(one, other)).toBe(text(other, one))
    }
  })

  test('are of no edge where none varies', () => {
    const chart = plot(
      findVariance(comparisonOf(chain(['A', 'B'], Array(12).fill(7)), [])),
      'covariances',
      { category: 0, period: 'before' },
    )
    expect(chart.description).toContain('No edge on the critical path varies.')
    expectDrawable(chart)
  })

  test('check their options', () => {
    expect(() => plot(findVariance(together()), 'covariances', { category: 0, limit: 0 })).toThrow(
      'Option limit is 0.',
    )
  })
})

describe('several sets', () => {
  const comparison = () =>
    comparisonOf(
      [...chain(['A', 'B'], upFrom(10, 20)), ...chain(['C', 'D'], [...Array(19).fill(1), 1000])],
      chain(['A', 'B'], upFrom(10, 20)),
    )

  test('a set is a curve a period, and the legend says which share is below 1', () => {
    const chart = variationSetsChart({
      all: findVariance(comparison(), { period: 'before' }),
      [HOSTILE]: findVariance(comparison()),
    })
    expect(chart.description).toContain(
      'all, before: C² is below 1 in 1 of 2 large categories (50 %).',
    )
    const names = [...new Set(pick(dataOf(chart)[0], 'set').flat())]
    expect(names.map((name) => /[a-z]+: \d+ % below 1$/.exec(String(name))?.[0])).toEqual([
      'before: 50 % below 1',
      'before: 50 % below 1',
      'after: 100 % below 1',
    ])
    expect(expectDrawable(chart)).not.toContain('<img')
  })

  test('of which none is large are said to be so', () => {
    const chart = variationSetsChart({ few: findVariance(comparison(), { large: 1000 }) })
    expect(chart.description).toContain('few, before: no category is large enough.')
    expectDrawable(chart)
  })

  test('are one at least and six at most', () => {
    const found = findVariance(comparison())
    expect(() => variationSetsChart({})).toThrow('Give one to 6 sets')
    const seven = Object.fromEntries(upFrom(0, 7).map((i) => [`set ${i}`, found]))
    expect(() => variationSetsChart(seven)).toThrow('Give one to 6 sets')
  })
})

describe('edges', () => {
  test('are named without saying twice what both ends begin with', () => {
    const edge = { from: 'node-1 disk write call', to: 'node-1 disk write reply' }
    expect(edgeName(edge, 40)).toBe('node-1 disk write call → reply')
    expect(edgeName({ from: 'a b', to: 'a b' }, 40)).toBe('a b → b')
    expect(edgeName({ from: 'x'.repeat(3_000_000), to: 'y' }, 9)).toBe('xxxx…xxxx → y')
  })

  test('come as they are passed, with the step after a join behind all that it waits for', () => {
    // 0 → 1 → 3 → 4 and 0 → 2 → 5 → 3, so that 3 waits for the longer branch.
    const from = Uint32Array.of(0, 1, 3, 0, 2, 5)
    const to = Uint32Array.of(1, 3, 4, 2, 5, 3)
    const labels = ['0', '1', '2', '3', '4', '5']
    const classOf = Uint32Array.of(0, 1, 2, 3, 4, 5)
    expect(flowDepths({ labels, from, to, classOf })).toEqual([0, 1, 3, 0, 1, 2])
  })
})

test('hardly any share is said alike whether it adds or evens out', () => {
  expect([0.37, 0.001, 0, -0.001, -0.004, -0.33].map(varianceShare)).toEqual([
    '37 %',
    'under 1 %',
    '0 %',
    'under 1 %',
    'under 1 %',
    '−33 %',
  ])
})

describe('anomalies', () => {
  /** 400 requests in two modes, and twelve at ten times the upper one. */
  const slow = upFrom(0, 400).map((i) => (i % 35 === 3 ? 50_000 + i : i % 3 ? 1000 + i : 5000 + i))

  test('are a strip a kind of request, on one scale with the others', () => {
    const one = comparisonOf(chain(['A', 'B'], slow), [])
    const chart = plot(findVariance(one, { period: 'before' }).anomalies())
    const [dots = [], texts = []] = dataOf(chart)
    const far = dots.filter(({ kind }) => kind === 'far out')
    expect(far.length).toBe(12)
    expect(far.every(({ us }) => Number(us) >= 50_000)).toBe(true)
    // Of the 388 others 150, the fastest and the slowest among them, and the median once more.
    expect(dots.length - far.length).toBe(151)
    const usual = dots.filter(({ kind }) => kind === 'usual').map(({ us }) => us)
    expect([usual[0], usual.at(-1)]).toEqual([1001, 5399])
    expect(pick(texts, 'label', 'said')).toEqual([['A (0)', '12 of 400: 50.2 ms, usually 1.3 ms']])
    expectDrawable(chart)
  })

  test('of both periods say which, and at most the limit is drawn', () => {
    const both = comparisonOf(chain(['A', 'B'], slow), chain(['A', 'B'], slow))
    const anomalies = findVariance(both).anomalies()
    const [, texts] = dataOf(plot(anomalies))
    expect(pick(texts, 'label')).toEqual([['A (0, before)'], ['A (0, after)']])
    const [, first] = dataOf(plot(anomalies, 'anomalies', { limit: 1 }))
    expect(first?.length).toBe(1)
    expect(plot(anomalies, 'anomalies', { limit: 1 }).description).toContain('first 1 of 2 kinds')
  })

  test('that there are none of are no picture', () => {
    const calm = comparisonOf(chain(['A', 'B'], upFrom(100, 50)), [])
    const chart = plot(findVariance(calm, { period: 'before' }).anomalies())
    expect(chart.description).toBe('No request is far out.')
    expectDrawable(chart)
  })
})
