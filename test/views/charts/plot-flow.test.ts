import { describe, expect, test } from 'vitest'
import { plotFlow } from '../../../src/views/charts/plot-flow.ts'
import type { GraphSketch } from '../../make-traces.ts'
import {
  chain,
  comparisonOf,
  dataOf,
  expectDrawable,
  pick,
  smallComparison,
  upFrom,
} from './fixture.ts'

const [LINES, ARROWS, NODES, CHANGED, REST] = [0, 1, 2, 3, 4]

test('an edge has its mean latency before and after; a changed one is red and bold', () => {
  const chart = plotFlow(smallComparison().responseTime, 1)
  expect(pick(dataOf(chart)[CHANGED], 'text', 'from', 'to', 'test')).toEqual([
    [
      '502 µs → 1.5 ms',
      'm1__t1__WRITE',
      'm1__t1__LOG',
      'D = 1.00, p < 0.001; 10 requests before, 10 after',
    ],
    [
      '502 µs → 1.5 ms',
      'm1__t1__LOG',
      'm1__t1__WRITE_REPLY',
      'D = 1.00, p < 0.001; 10 requests before, 10 after',
    ],
  ])
  expect(dataOf(chart)[REST]).toEqual([])
  expect(chart.description).toBe(
    'Time runs down. Beside each edge stands its mean latency, before → after. The whole took ' +
      '1 ms on average over 10 requests before, 3 ms on average over 10 requests after. 2 ' +
      'latencies changed significantly, most from m1__t1__WRITE to m1__t1__LOG: 1 ms more.',
  )
  expect(expectDrawable(chart)).toContain('#D55E00')
})

test('nodes have short names, and hosts below them', () => {
  const nodes = dataOf(plotFlow(smallComparison().responseTime, 1))[NODES]
  expect(pick(nodes, 'name', 'where', 'full')).toEqual([
    ['WRITE', 'm1__t1', 'm1__t1__WRITE'],
    ['LOG', 'm1__t1', 'm1__t1__LOG'],
    ['WRITE_REPLY', 'm1__t1', 'm1__t1__WRITE_REPLY'],
  ])
})

test('with a label rule of one’s own, nodes are called by it', () => {
  const graphs = chain(['A', 'B'], upFrom(1, 9))
  const label = ({ operation }: { operation: string }) => `<${operation}>`
  const { responseTime } = comparisonOf(graphs, graphs, { label })
  const chart = plotFlow(responseTime, 0)
  expect(pick(dataOf(chart)[NODES], 'name', 'where')).toEqual([
    ['<A>', ''],
    ['<B>', ''],
  ])
  expect(chart.title).toBe('Flow of <A> (category 0)')
})

const fork = (slowUs: number): GraphSketch[] =>
  upFrom(0, 10).map((i) => ({
    labels: ['START', 'LEFT', 'RIGHT', 'JOIN'],
    edges: [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
    ],
    latencyUs: [100 + i, 10, slowUs + i, 20],
  }))

test('branches stand side by side and every edge leads down', () => {
  const chart = plotFlow(comparisonOf(fork(500), fork(900)).responseTime, 0)
  const nodes = dataOf(chart)[NODES] ?? []
  const placeOf = (name: string) => nodes.find((node) => node['name'] === name)
  const y = (name: string) => placeOf(name)?.['y'] as number
  expect(y('LEFT')).toBe(y('RIGHT'))
  expect(y('START')).toBeLessThan(y('LEFT'))
  expect(y('LEFT')).toBeLessThan(y('JOIN'))
  const [left, right] = [placeOf('LEFT'), placeOf('RIGHT')].sort(
    (a, b) => (a?.['x'] as number) - (b?.['x'] as number),
  )
  expect(left?.['right'] as number).toBeLessThan(right?.['left'] as number)
  const lines = dataOf(chart)[LINES] ?? []
  for (const edge of [0, 1, 2, 3]) {
    const ys = lines.filter((row) => row['edge'] === edge).map((row) => row['y'] as number)
    expect(ys.length).toBeGreaterThan(3)
    expect(ys).toEqual([...ys].sort((a, b) => a - b))
  }
  expect(dataOf(chart)[ARROWS]).toHaveLength(4)
  expect(pick(dataOf(chart)[CHANGED], 'text')).toEqual([['505 µs → 905 µs']])
  expect(pick(dataOf(chart)[REST], 'text')).toContainEqual(['never waited for'])
  expectDrawable(chart)
})

test('identical branches share what is known of their edges', () => {
  const twins = (us: number): GraphSketch[] =>
    upFrom(0, 10).map((i) => ({
      labels: ['A', 'B', 'B', 'C'],
      edges: [
        [0, 1],
        [0, 2],
        [1, 3],
        [2, 3],
      ],
      latencyUs: [us + i, us + i, 5, 5],
    }))
  const chart = plotFlow(comparisonOf(twins(10), twins(90)).responseTime, 0)
  expect(pick(dataOf(chart)[CHANGED], 'text')).toEqual([
    ['14.5 µs → 94.5 µs'],
    ['14.5 µs → 94.5 µs'],
  ])
  expect(chart.description).toContain('1 latency changed significantly: from A to B: 80 µs more.')
})

test('latencies stand at the edge they belong to where names recur', () => {
  const loop = (slow: number): GraphSketch[] =>
    upFrom(0, 10).map((i) => ({
      labels: ['A', 'B', 'A', 'B', 'A', 'B'],
      edges: [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 4],
        [4, 5],
      ],
      latencyUs: [10 + i, 20 + i, slow + i, 40 + i, 50 + i],
    }))
  const chart = plotFlow(comparisonOf(loop(30), loop(700)).responseTime, 0)
  const labels = [CHANGED, REST].flatMap((layer) => dataOf(chart)[layer] ?? [])
  const downwards = labels.sort((a, b) => (a['y'] as number) - (b['y'] as number))
  expect(pick(downwards, 'text').flat()).toEqual([
    '14.5 µs → 14.5 µs',
    '24.5 µs → 24.5 µs',
    '34.5 µs → 705 µs',
    '44.5 µs → 44.5 µs',
    '54.5 µs → 54.5 µs',
  ])
})

describe('large flows', () => {
  const steps = (count: number, slow: number) =>
    upFrom(0, 10).map((i) => ({
      labels: upFrom(0, count).map((step) => `STEP_${step}`),
      edges: upFrom(0, count - 1).map((step) => [step, step + 1] as const),
      latencyUs: upFrom(0, count - 1).map((step) => (step === 70 ? slow : 10) + i / 10),
    }))

  test('60 nodes are drawn whole, and the chart grows', () => {
    const graphs = steps(60, 10)
    const chart = plotFlow(comparisonOf(graphs, graphs).responseTime, 0)
    expect(dataOf(chart)[NODES]).toHaveLength(60)
    expect(chart.spec['height']).toBeGreaterThan(60 * 60)
    expectDrawable(chart)
  })

  test('of 200 nodes those at what changed and at the slowest edges are drawn, joined by gaps', () => {
    const chart = plotFlow(comparisonOf(steps(200, 10), steps(200, 500)).responseTime, 0, {
      keep: 5,
    })
    expect(pick(dataOf(chart)[NODES], 'name').flat()).toEqual([
      ...['STEP_0', 'STEP_1', 'STEP_2', 'STEP_70', 'STEP_71'],
    ])
    expect(pick(dataOf(chart)[CHANGED], 'text')).toEqual([['10.4 µs → 500 µs']])
    expect(pick(dataOf(chart)[REST], 'text').flat()).toEqual([
      ...['10.4 µs → 10.4 µs', '10.4 µs → 10.4 µs', '… 67 nodes'],
    ])
    expect(chart.description).toContain('5 of 200 nodes are drawn')
    expectDrawable(chart)
  })
})

test('one node, and a period without requests', () => {
  const single = [{ labels: ['ALONE'], edges: [], responseTimeUs: 4 }]
  const chart = plotFlow(comparisonOf(single, []).responseTime, 0)
  expect(chart.description).toContain(
    '4 µs on average over 1 request before; no request took this way after. No latency could be tested.',
  )
  expectDrawable(chart)
})

test('a limit of 0 and an unknown category are refused', () => {
  const { responseTime } = smallComparison()
  expect(() => plotFlow(responseTime, 0, { limit: 0 })).toThrow('Option limit is 0.')
  expect(() => plotFlow(responseTime, 0, { keep: 0 })).toThrow('Option keep is 0.')
  expect(() => plotFlow(responseTime, 40)).toThrow('There is no category 40')
})
