import { expect, test } from 'vitest'
import { Comparison, compare } from '../../../src/comparison/comparison.ts'
import { explainMutation } from '../../../src/explain/parameters/explain.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { type Chart, Drawing } from '../../../src/views/charts/chart.ts'
import { PLOTTED, plot } from '../../../src/views/plot.ts'
import { makeGraphs, makeSpans } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { HOSTILE } from '../notebook/fixture.ts'
import {
  chain,
  comparisonOf,
  dataOf,
  EXPRESSIONS,
  expectDrawable,
  manyCategories,
  partsOf,
  smallComparison,
  upFrom,
} from './fixture.ts'

function everyChart(comparison: Comparison): (Chart | Drawing)[] {
  const { flows, responseTime, edges, ranking } = comparison
  const category = ranking.mutations[0]?.category ?? 0
  const explanation = explainMutation(comparison, category)
  const kinds = Object.keys(PLOTTED.find(([Of]) => Of === Comparison)?.[1] ?? {})
  return [
    ...kinds.map((kind) => plot(comparison, kind as 'findings')),
    plot(flows, 'arrivals'),
    plot(comparison.categories, 'arrivals', { category }),
    plot(edges, 'shifts', { small: true }),
    plot(comparison, 'flow', { category }),
    plot(responseTime, 'response-times', { category }),
    plot(responseTime, 'edge', { category, each: 'round' }),
    plot(comparison, 'variation', { large: 2 }),
    plot(explanation, 'differences'),
    plot(explanation),
    plot(findVariance(comparison).anomalies()),
  ]
}

function specOf(chart: Chart | Drawing) {
  return chart instanceof Drawing ? undefined : chart.spec
}

/** Attacks on markup and on Vega's expressions, and words that turn a line around. */
const NAMES = [
  HOSTILE,
  `'+datum.constructor('alert(1)')()+'`,
  '"]}}, \u202etxt',
  '__proto__',
  'a\nb\u0000',
]

const hostile = () => {
  const points = (us: number) => chain(NAMES, upFrom(us, 12))
  return comparisonOf(points(100), points(900), { smPThreshold: 5 })
}

test('names from traces are data only: no expression, field or format holds one', () => {
  for (const chart of everyChart(hostile())) {
    for (const [key, value] of partsOf(specOf(chart))) {
      if (!EXPRESSIONS.includes(key) || typeof value !== 'string') continue
      expect(value).not.toMatch(/alert|onerror|proto|constructor/)
    }
    const svg = expectDrawable(chart)
    expect(svg).not.toContain('<img')
    expect(svg).not.toContain('<script')
    expect(svg).not.toContain('\u202e')
  }
})

test('megabytes of a name do not become megabytes of chart', () => {
  const points = chain(['x'.repeat(3_000_000), 'y'.repeat(3_000_000)], upFrom(1, 12))
  for (const chart of everyChart(comparisonOf(points, points))) {
    expect(JSON.stringify(specOf(chart) ?? chart.svg()).length).toBeLessThan(50_000)
  }
})

test('fields of data are flowdelta’s own words', () => {
  for (const chart of everyChart(hostile())) {
    for (const row of dataOf(chart).flat()) {
      for (const name of Object.keys(row)) expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9]*$/)
    }
  }
})

test.each([
  ['a small comparison', smallComparison],
  [
    'one category',
    () => comparisonOf(chain(['A', 'B'], upFrom(1, 20)), chain(['A', 'B'], upFrom(5, 30))),
  ],
  ['an empty period before', () => comparisonOf([], chain(['A', 'B'], upFrom(1, 20)))],
  ['an empty period after', () => comparisonOf(chain(['A', 'B'], upFrom(1, 20)), [])],
  ['1,602 categories', manyCategories],
])('every chart of %s is valid, compiles without a warning and draws no NaN', (_, make) => {
  for (const chart of everyChart(make())) expectDrawable(chart)
})

test('the same comparison always gives the same charts', () => {
  const [first, second] = [smallComparison(), smallComparison()].map((comparison) =>
    JSON.stringify(everyChart(comparison).map((chart) => specOf(chart) ?? chart.svg())),
  )
  expect(first).toBe(second)
})

test('charts of span trees call nodes by operation, service and phase', () => {
  const period = (us: number) =>
    makeSpans(
      upFrom(0, 10).flatMap((i) => [
        {
          trace: `t${i}`,
          id: `web${i}`,
          service: 'web',
          operation: 'GET /',
          host: 'web-1',
          startUs: i * 1000,
          endUs: i * 1000 + us + 50 + i,
        },
        {
          trace: `t${i}`,
          id: `db${i}`,
          parent: `web${i}`,
          service: 'db',
          operation: 'query',
          startUs: i * 1000 + 20,
          endUs: i * 1000 + 20 + us + i,
        },
      ]),
    )
  const comparison = compare(period(100), period(400))
  const chart = plot(comparison, 'flow', { category: 0 })
  expect(chart.title).toBe('Flow of web GET /, category 0')
  const svg = expectDrawable(chart)
  for (const text of ['GET /', 'query', 'db · call', 'db · reply']) expect(svg).toContain(text)
})

test('stages are only read', () => {
  const traces = makeGraphs(chain(['A', 'B'], upFrom(1, 10)))
  const comparison = compare(traces, traces)
  const { startUs, responseTimeUs, latencyUs } = comparison.flows
  const copies = [startUs, responseTimeUs, latencyUs].map((column) => column.slice())
  everyChart(comparison)
  expect([startUs, responseTimeUs, latencyUs]).toEqual(copies)
})

describeWithShared('charts of the authors’ example', () => {
  test('show what their program found', async () => {
    const file = (name: string) => sharedFile(`oracles/spectroscope2013/${name}`) as string
    const before = await loadTraces(file('before.dot.gz'))
    const comparison = compare(before, await loadTraces(file('after.dot.gz')))
    for (const chart of everyChart(comparison)) expectDrawable(chart)
    expect(plot(comparison, 'counts').description).toContain(
      '14 categories: 4 gained and 3 lost more than 50 requests.',
    )
    expect(dataOf(plot(comparison, 'contributions'))[0]?.[0]).toMatchObject({
      rank: 1,
      root: 'NFS3_READ_CALL_TYPE DEFAULT',
      kind: 'structural mutation',
      contribution: '+795 ms',
    })
  })
})
