import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { compareFlowGraphs } from '../../../src/explain/flow-pair/compare-flow-graphs.ts'
import { explore } from '../../../src/views/explore.ts'
import { plot } from '../../../src/views/plot.ts'
import { type FlowData, failureSentences } from '../../../src/views/widgets/flows/flow-scene.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { propsOf } from '../../views/widgets/flow-fixture.ts'

//  shop    ├──────────────────┤   BUY, asks both at once, in either order
//  stock     ├─────────┤          TAKE fails in the first `failing` requests
//  ads       ├────────┤           LIST
function shop(name: string, requests: number, failing: number) {
  const spans = Array.from({ length: requests }, (_, i): SpanSketch[] => {
    const [trace, start] = [`${name}-${i}`, 10_000 * i]
    const call = (service: string, operation: string, from: number, to: number) => ({
      trace,
      id: service,
      parent: 'r',
      service,
      operation,
      startUs: start + from,
      endUs: start + to + (i % 7),
    })
    const take = call('stock', 'TAKE', 100, 900)
    const calls = [
      i < failing ? { ...take, status: 'error' as const } : take,
      call('ads', 'LIST', 110, 800),
    ]
    const root = { trace, id: 'r', service: 'shop', operation: 'BUY' }
    return [
      { ...root, startUs: start, endUs: start + 1_000 + (i % 11) },
      ...(i % 2 === 0 ? calls : calls.toReversed()),
    ]
  })
  return makeSpans(spans.flat(), name)
}

const comparison = compare(shop('before', 60, 2), shop('after', 50, 20))

test('a step of a flow says in how many requests of each side it failed', () => {
  const { nodes } = compareFlowGraphs(comparison.responseTime, { category: 0 })
  const failing = nodes.filter(({ failed }) => failed.before + failed.after > 0)
  expect(failing.map(({ label, failed }) => [label, failed])).toEqual([
    ['stock TAKE reply', { before: 2, after: 20 }],
  ])
})

test('the widget and the picture of a flow mark failing steps, and only these', () => {
  const widget = explore(comparison, 'flows', { category: 0 })
  const data: FlowData = propsOf(widget).data
  expect(data.nodes.flatMap(({ id }) => failureSentences(data, [id]))).toEqual([
    'Failed in 2 of 60 requests before, 20 of 50 requests after.',
  ])
  expect(widget.svg()).toContain('failed in some requests (how many: tooltip)')
  const drawn = plot(comparison, 'flow', { category: 0 }).svg()
  expect(drawn).toContain('Failed in 2 of 60 requests before, 20 of 50 requests after.')
  const well = compare(shop('before', 60, 0), shop('after', 50, 0))
  expect(explore(well, 'flows', { category: 0 }).svg()).not.toContain('failed')
  expect(plot(well, 'flow', { category: 0 }).svg()).not.toContain('failed')
})
