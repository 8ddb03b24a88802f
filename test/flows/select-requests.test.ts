import { expect, test } from 'vitest'
import { categorize } from '../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { NodeRecords } from '../../src/flows/node-records.ts'
import { selectRequests } from '../../src/flows/select-requests.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { every, makeGraphs, makeSpans, requestsAt } from '../make-traces.ts'

const flows = buildFlows(
  makeGraphs([
    { labels: ['a', 'b'], edges: [[0, 1]], latencyUs: [1], responseTimeUs: 1 },
    {
      labels: ['a', 'b', 'c'],
      edges: [
        [0, 1],
        [1, 2],
      ],
      latencyUs: [2, 3],
      responseTimeUs: 5,
    },
    { labels: ['a', 'b'], edges: [[0, 1]], latencyUs: [7], responseTimeUs: 7 },
  ]),
)

test('selected requests keep their ids, times and latencies, in the order given', () => {
  const { ids, responseTimeUs, period, ...selected } = selectRequests(flows, {
    before: [2],
    after: [1, 0],
  })
  expect(ids).toEqual([flows.ids[2], flows.ids[1], flows.ids[0]])
  expect(Array.from(responseTimeUs)).toEqual([7, 5, 1])
  expect(Array.from(period)).toEqual([0, 1, 1])
  expect(Array.from(selected.latencyUs)).toEqual([7, 2, 3, 1])
})

test('categories of a selection count only what was selected', () => {
  const categories = categorize(selectRequests(flows, { before: [0], after: [2] }))
  expect(categories.size).toBe(1)
  expect([categories.count(0, 0), categories.count(0, 1)]).toEqual([1, 1])
})

test('nothing selected is no request', () => {
  expect(selectRequests(flows, { before: [], after: [] }).size).toBe(0)
})

test('selected requests keep their weights; where none was recorded there is none', () => {
  const sampled = (count: number, probability: number) =>
    makeSpans(requestsAt(every(1000, count), { probability }))
  const weighted = buildFlows([sampled(2, 0.5), sampled(1, 0.1)])
  expect(weighted.weight).toEqual(Float64Array.of(2, 2, 10))
  expect(selectRequests(weighted, { before: [2], after: [1] }).weight).toEqual(
    Float64Array.of(10, 2),
  )
  expect(selectRequests(flows, { before: [0], after: [1] }).weight).toBeUndefined()
})

test('a period that recorded no weights has none beside one that did', () => {
  const mixed = buildFlows([
    makeSpans(requestsAt(every(1000, 1))),
    makeSpans(requestsAt(every(1000, 1), { probability: 0.5 })),
  ])
  expect(mixed.weight).toEqual(Float64Array.of(Number.NaN, 2))
})

test('what was recorded of a request is found in whichever period it is put', async () => {
  const spans = ['a', 'b', 'c'].map((trace, at) => ({
    traceId: trace.repeat(16),
    id: `${trace}${'0'.repeat(15)}`,
    name: 'o',
    timestamp: 1_700_000_000_000_000 + at,
    duration: 5,
    localEndpoint: { serviceName: 's' },
    tags: { cause: `cause of ${trace}` },
  }))
  const file = { name: 'x.json', bytes: JSON.stringify(spans) }
  const recorded = buildFlows(await loadTraces(file, { format: 'zipkin' }))
  const halves = selectRequests(recorded, { before: [2], after: [0, 1] })
  const causes = halves.ids.map((_, request) =>
    new NodeRecords(halves).of(request, 0).find(([key]) => key === 'cause'),
  )
  expect(causes.map((found) => found?.[1])).toEqual(['cause of c', 'cause of a', 'cause of b'])
  expect(halves.ids.map(([first]) => first)).toEqual(['c', 'a', 'b'])
})
