import { describe, expect, test } from 'vitest'
import { type CallForest, indexCalls, shownName } from '../../src/calls/call-forest.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

function indexed(spans: readonly SpanSketch[]) {
  const { paths, forests } = indexCalls([makeSpans(spans)])
  const forest = forests[0] as CallForest
  return { forest, texts: Array.from(forest.path, (path) => paths.text(path)) }
}

//  web GET  |--------------- 100 ---------------|
//  client        |20---------------80|
//  server             |1030---1070|              the server's clock is 1 s ahead
//  query                 |1040-60|
const PAIR: readonly SpanSketch[] = [
  { id: 'web', kind: 'server', startUs: 0, endUs: 100 },
  { id: 'client', parent: 'web', service: 'web', kind: 'client', startUs: 20, endUs: 80 },
  { id: 'store', parent: 'client', kind: 'server', startUs: 1030, endUs: 1070 },
  {
    id: 'query',
    parent: 'store',
    service: 'store',
    operation: 'query',
    startUs: 1040,
    endUs: 1060,
  },
]

describe('calls of spans', () => {
  test('a client and its server are one call, its children on the clock of the server', () => {
    const { forest, texts } = indexed(PAIR)
    expect(texts).toEqual([
      'web call',
      'web call › store call',
      'web call › store call › store query',
    ])
    expect([...forest.offsetUs]).toEqual([0, 20, 10])
    expect([...forest.latencyUs]).toEqual([100, 60, 20])
    expect([...forest.serverUs]).toEqual([100, 40, 20])
    expect([...forest.clientSpan]).toEqual([-1, 1, -1])
    expect([...forest.serverSpan]).toEqual([0, 2, 3])
    expect([...forest.detached]).toEqual([0, 0, 0])
  })

  test('a client that makes two calls is a call of its own', () => {
    const second = { ...PAIR[2], id: 'other', parent: 'client', kind: 'server' } as SpanSketch
    expect(indexed([...PAIR, second]).texts).toContain('web call › web call › store call')
  })

  test('a server that only follows from its client is no part of it, and detached', () => {
    const spans = PAIR.map((span) => (span.id === 'store' ? { ...span, followsFrom: true } : span))
    const { forest, texts } = indexed(spans)
    expect(texts[2]).toBe('web call › web call › store call')
    expect([...forest.detached]).toEqual([0, 0, 1, 0])
  })

  test('without kinds, a step that does nothing but call another service is a client', () => {
    const { texts } = indexed(PAIR.map(({ kind: _, ...span }) => span))
    expect(texts[1]).toBe('web call › store call')
  })

  test('without kinds, a service that does nothing but call another keeps its own call', () => {
    const { texts } = indexed([
      { id: 'web', startUs: 0, endUs: 100 },
      { id: 'proxy', parent: 'web', startUs: 10, endUs: 90 },
      { id: 'store', parent: 'proxy', startUs: 20, endUs: 80 },
    ])
    expect(texts[2]).toBe('web call › proxy call › store call')
  })

  test('children come by start, then end; a start before the caller is kept', () => {
    const { forest, texts } = indexed([
      { id: 'web', startUs: 10, endUs: 100 },
      { id: 'b', parent: 'web', startUs: 30, endUs: 50 },
      { id: 'a', parent: 'web', startUs: 30, endUs: 40 },
      { id: 'early', parent: 'web', startUs: 5, endUs: 20 },
    ])
    expect(texts.slice(1).map((text) => text.split(' › ')[1])).toEqual([
      'early call',
      'a call',
      'b call',
    ])
    expect([...forest.offsetUs]).toEqual([0, -5, 20, 20])
  })

  test('what lies wholly outside its caller, and producers, are detached', () => {
    const { forest } = indexed([
      { id: 'web', startUs: 0, endUs: 100 },
      { id: 'send', parent: 'web', kind: 'producer', startUs: 10, endUs: 20 },
      { id: 'late', parent: 'web', startUs: 200, endUs: 300 },
    ])
    expect([...forest.detached]).toEqual([0, 1, 1])
  })

  test('every root is a request, spans whose caller was lost are none, weighed as its trace was sampled', () => {
    const { forest } = indexed([
      { trace: 'one', id: 'web', startUs: 0, endUs: 10, probability: 0.1 },
      { trace: 'one', id: 'lost', parent: 'missing', startUs: 0, endUs: 10 },
      { trace: 'two', id: 'web', startUs: 0, endUs: 10 },
      { trace: 'two', id: 'store', parent: 'web', startUs: 1, endUs: 9 },
    ])
    expect([...forest.requestTrace]).toEqual([0, 1])
    expect([...forest.requestOffsets]).toEqual([0, 1, 3])
    expect([...forest.weight]).toEqual([10, 1])
    expect([...forest.request]).toEqual([0, 1, 1])
  })

  test('a span whose caller was lost is a request only where it is a root elsewhere', () => {
    const own: SpanSketch = { trace: 'own', id: 'web', startUs: 0, endUs: 9 }
    const alike: SpanSketch = { ...own, trace: 'handed on', parent: 'missing' }
    const other: SpanSketch = { trace: 'rest', id: 'db', parent: 'missing', startUs: 0, endUs: 9 }
    expect([...indexed([own, alike, other]).forest.requestTrace]).toEqual([0, 1])
    expect(indexed([own, alike, other]).forest.path).toHaveLength(2)
    // Nothing above was traced at all.
    expect([...indexed([alike, other]).forest.requestTrace]).toEqual([0, 1])
  })

  test('calls of a server whose clock is behind are waited for', () => {
    const behind = PAIR.map((span) =>
      ['store', 'query'].includes(span.id ?? '')
        ? { ...span, startUs: (span.startUs ?? 0) - 5000, endUs: (span.endUs ?? 0) - 5000 }
        : span,
    )
    const { forest } = indexed(behind)
    expect([...forest.offsetUs]).toEqual([0, 20, 10])
    expect([...forest.detached]).toEqual([0, 0, 0])
  })

  test('two periods number their paths alike', () => {
    const [before, after] = [PAIR.slice(0, 1), PAIR].map((spans) => makeSpans(spans))
    const { paths, forests } = indexCalls([before, after] as never)
    expect(forests.map(({ path }) => [...path])).toEqual([[0], [0, 1, 2]])
    expect([paths.parent(2), paths.above(2)]).toEqual([1, [0, 1]])
  })
})

describe('calls of a service as requests', () => {
  const requestsOf = (population: Parameters<typeof indexCalls>[1]) => {
    const { paths, forests } = indexCalls([makeSpans(PAIR)], population)
    const forest = forests[0] as CallForest
    return {
      texts: Array.from(forest.path, (path) => paths.text(path)),
      times: [...forest.latencyUs],
    }
  }

  test('begin at the client, with all below it', () => {
    const found = { texts: ['store call', 'store call › store query'], times: [60, 20] }
    expect(requestsOf({ service: 'store' })).toEqual(found)
    expect(requestsOf({ service: 'store', operation: 'call', caller: 'web' })).toEqual(found)
    expect(requestsOf({ caller: 'web' })).toEqual(found)
    expect(requestsOf({ service: 'web' }).times).toEqual([100, 60, 20])
  })

  test('steps within a service are none, nor what nobody calls', () => {
    expect(() => requestsOf({ service: 'store', operation: 'query' })).toThrow(
      'Option operation is "query". Give one of call.',
    )
    expect(() => requestsOf({ service: 'stroe' })).toThrow(
      'Option service is "stroe". Give store, or another of store, web.',
    )
    expect(() => requestsOf({ service: 'web', caller: 'web' })).toThrow('has calls of together')
  })

  test('a step whose caller was lost is none', () => {
    const spans: SpanSketch[] = [
      { id: 'web', startUs: 0, endUs: 100 },
      { id: 'store', parent: 'web', startUs: 10, endUs: 90 },
      {
        id: 'step',
        parent: 'absent',
        service: 'store',
        operation: 'query',
        startUs: 20,
        endUs: 30,
      },
      { id: 'again', parent: 'absent', service: 'store', startUs: 40, endUs: 50 },
    ]
    const { latencyUs, requestOffsets } = indexCalls([makeSpans(spans)], { service: 'store' })
      .forests[0] as CallForest
    expect(Array.from(requestOffsets.subarray(0, -1), (call) => latencyUs[call])).toEqual([80, 10])
  })

  test('of calls within each other, the outermost is one', () => {
    const spans: SpanSketch[] = [
      { id: 'web', startUs: 0, endUs: 100 },
      { id: 'a', parent: 'web', service: 'node', startUs: 10, endUs: 90 },
      { id: 'b', parent: 'a', service: 'other', startUs: 20, endUs: 80 },
      { id: 'c', parent: 'b', service: 'node', startUs: 30, endUs: 70 },
    ]
    const [forest] = indexCalls([makeSpans(spans)], { service: 'node' }).forests
    expect([...(forest as CallForest).requestOffsets]).toEqual([0, 3])
  })
})

test.each([
  ['/home/me/runs/after.json.gz', 'after.json.gz'],
  ['runs/after.json', 'after.json'],
  ['C:\\runs\\after', 'after'],
  ['../runs/after', 'after'],
  ['after', 'after'],
  ['us/east on Monday', 'us/east on Monday'],
])('a period named %s is shown as %s', (name, shown) => {
  expect(shownName({ name } as Parameters<typeof shownName>[0])).toBe(shown)
})
