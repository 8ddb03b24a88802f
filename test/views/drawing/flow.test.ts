import { describe, expect, test } from 'vitest'
import { drawingOf } from '../../../src/views/drawing/drawn-stages.tsx'
import { INK } from '../../../src/views/drawing/figure.tsx'
import { type FlowPicture, flowPicture } from '../../../src/views/drawing/flow.tsx'
import type { GraphSketch } from '../../make-traces.ts'
import { chain, comparisonOf, smallComparison, upFrom } from '../charts/fixture.ts'

const changed = ({ lines }: FlowPicture) => lines.filter(({ kind }) => kind === 'changed')
const rest = ({ lines }: FlowPicture) => lines.filter(({ kind }) => kind !== 'changed')
const texts = (lines: readonly { text: string }[]) => lines.map(({ text }) => text)

test('an edge has its mean latency before and after; a changed one is red and bold', () => {
  const picture = flowPicture(smallComparison().responseTime, 1)
  expect(changed(picture).map(({ text, tooltip }) => [text, tooltip])).toEqual([
    [
      '502 µs → 1.5 ms',
      'm1__t1__WRITE → m1__t1__LOG\nmean latency, before → after: 502 µs → 1.5 ms\n' +
        'KS test: D = 1.00, p = 2e-5, corrected for the number of edges tested; 10 requests before, 10 after',
    ],
    [
      '502 µs → 1.5 ms',
      'm1__t1__LOG → m1__t1__WRITE_REPLY\nmean latency, before → after: 502 µs → 1.5 ms\n' +
        'KS test: D = 1.00, p = 2e-5, corrected for the number of edges tested; 10 requests before, 10 after',
    ],
  ])
  expect(rest(picture)).toEqual([])
  expect(picture.subtitle).toEqual([
    'Time runs down. Beside each edge stands its mean latency, before → after.',
    'Response time: 1 ms on average over 10 requests before, 3 ms on average over 10 requests after.',
    '2 latencies changed enough to matter, most from m1__t1__WRITE to m1__t1__LOG: 1 ms more.',
  ])
  expect(drawingOf(picture).svg()).toContain(INK.light.change)
  expect(drawingOf(picture).svg()).not.toMatch(/NaN|undefined|var\(/)
})

test('nodes have short names, and hosts below them', () => {
  const { boxes } = flowPicture(smallComparison().responseTime, 1)
  expect(boxes).toEqual([
    { name: 'WRITE', detail: 'm1__t1', tooltip: 'm1__t1__WRITE' },
    { name: 'LOG', detail: 'm1__t1', tooltip: 'm1__t1__LOG' },
    { name: 'WRITE_REPLY', detail: 'm1__t1', tooltip: 'm1__t1__WRITE_REPLY' },
  ])
})

test('with a label rule of one’s own, nodes are called by it', () => {
  const graphs = chain(['A', 'B'], upFrom(1, 9))
  const label = ({ operation }: { operation: string }) => `<${operation}>`
  const picture = flowPicture(comparisonOf(graphs, graphs, { label }).responseTime, 0)
  expect(picture.boxes.map(({ name, detail }) => [name, detail])).toEqual([
    ['<A>', ''],
    ['<B>', ''],
  ])
  expect(picture.title).toBe('Flow of <A> (category 0)')
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
  const picture = flowPicture(comparisonOf(fork(500), fork(900)).responseTime, 0)
  const placeOf = (name: string) => {
    const place = picture.layout.nodes[picture.boxes.findIndex((box) => box.name === name)]
    if (place === undefined) throw new Error(`${name} is not drawn`)
    return place
  }
  expect(placeOf('LEFT').y).toBe(placeOf('RIGHT').y)
  expect(placeOf('START').y).toBeLessThan(placeOf('LEFT').y)
  expect(placeOf('LEFT').y).toBeLessThan(placeOf('JOIN').y)
  const [left, right] = [placeOf('LEFT'), placeOf('RIGHT')].sort((a, b) => a.x - b.x)
  expect((left?.x ?? 0) + (left?.width ?? 0) / 2).toBeLessThan(
    (right?.x ?? 0) - (right?.width ?? 0) / 2,
  )
  expect(picture.layout.edges).toHaveLength(4)
  for (const { points } of picture.layout.edges) {
    const ys = points.map(({ y }) => y)
    expect(ys.length).toBeGreaterThan(3)
    expect(ys).toEqual([...ys].sort((a, b) => a - b))
  }
  expect(texts(changed(picture))).toEqual(['505 µs → 905 µs'])
  expect(texts(rest(picture))).toContain('never waited for')
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
  const picture = flowPicture(comparisonOf(twins(10), twins(90)).responseTime, 0)
  expect(texts(changed(picture))).toEqual(['14.5 µs → 94.5 µs', '14.5 µs → 94.5 µs'])
  expect(picture.subtitle).toContain('1 latency changed enough to matter: from A to B: 80 µs more.')
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
  const { lines, layout } = flowPicture(comparisonOf(loop(30), loop(700)).responseTime, 0)
  const downwards = lines
    .map(({ text }, i) => ({ text, y: layout.edges[i]?.label.y ?? 0 }))
    .sort((a, b) => a.y - b.y)
  expect(texts(downwards)).toEqual([
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

  test('60 nodes are drawn whole, and the drawing grows', () => {
    const graphs = steps(60, 10)
    const picture = flowPicture(comparisonOf(graphs, graphs).responseTime, 0)
    expect(picture.boxes).toHaveLength(60)
    expect(picture.height).toBeGreaterThan(60 * 60)
  })

  test('of 200 nodes those at what changed and at the slowest edges are drawn, joined by gaps', () => {
    const { responseTime } = comparisonOf(steps(200, 10), steps(200, 500))
    const picture = flowPicture(responseTime, 0, { keep: 5 })
    expect(picture.boxes.map(({ name }) => name)).toEqual([
      'STEP_0',
      'STEP_1',
      'STEP_2',
      'STEP_70',
      'STEP_71',
    ])
    expect(texts(changed(picture))).toEqual(['10.4 µs → 500 µs'])
    expect(texts(rest(picture))).toEqual(['10.4 µs → 10.4 µs', '10.4 µs → 10.4 µs', '… 67 nodes'])
    expect(picture.omissions[0]).toContain('5 of 200 nodes are drawn')
  })
})

test('a flow of one node is drawn, and a period without requests is named', () => {
  const single = [{ labels: ['ALONE'], edges: [], responseTimeUs: 4 }]
  const picture = flowPicture(comparisonOf(single, []).responseTime, 0)
  expect(picture.subtitle.slice(1)).toEqual([
    'Response time: 4 µs on average over 1 request before, no request after.',
    'No latency could be tested.',
  ])
  expect(drawingOf(picture).svg()).not.toMatch(/NaN|undefined/)
})

test('a limit of 0 and an unknown category are refused', () => {
  const { responseTime } = smallComparison()
  expect(() => flowPicture(responseTime, 0, { limit: 0 })).toThrow('Option limit is 0.')
  expect(() => flowPicture(responseTime, 0, { keep: 0 })).toThrow('Option keep is 0.')
  expect(() => flowPicture(responseTime, 40)).toThrow('There is no category 40')
})
