import { describe, expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import {
  type ExecutionModel,
  learnExecutionModels,
} from '../../src/whatif/models/execution-models.ts'
import { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

type Child = readonly [service: string, startUs: number, endUs: number]

/** As many requests as asked for: a root `web` from 0 to 100, request `i` with `children(i)`. */
function requests(count: number, children: (i: number) => readonly Child[]) {
  const spans = Array.from({ length: count }, (_, i): SpanSketch[] => [
    { trace: `t${i}`, id: 'web', startUs: 0, endUs: 100 },
    ...children(i).map(([service, startUs, endUs], child) => ({
      trace: `t${i}`,
      id: `${child}`,
      parent: 'web',
      service,
      startUs,
      endUs,
    })),
  ])
  return makeSpans(spans.flat())
}

const SEQUENTIAL: readonly Child[] = [
  ['a', 10, 40],
  ['b', 50, 90],
]
const PARALLEL: readonly Child[] = [
  ['a', 10, 60],
  ['b', 20, 90],
]

/** The models of `web`, each as its nodes and, for every node and the reply, what it waits for. */
function webModels(models: readonly ExecutionModel[]) {
  return models
    .filter(({ service }) => service === 'web')
    .map(({ nodes, predecessors, returnPredecessors, calls, ownCalls }) => ({
      nodes: nodes.map(({ service, occurrence }) => service + (occurrence || '')).join(' '),
      waits: [...predecessors, returnPredecessors].map((nodes) => nodes.join(' ')),
      calls,
      ownCalls,
    }))
}

describe('execution models', () => {
  test('accidental orders of parallel calls are one flow, recomputed by each call’s own order', () => {
    const traces = requests(100, (i) => (i < 2 ? SEQUENTIAL : PARALLEL))
    const { models } = learnExecutionModels(traces)
    expect(webModels(models)).toEqual([
      { nodes: 'a b', waits: ['', '', '0 1'], calls: 98, ownCalls: 0 },
      { nodes: 'a b', waits: ['', '0', '1'], calls: 2, ownCalls: 0 },
    ])
  })

  test('one call in a hundred that breaks its model keeps its own order', () => {
    // Of a ≺ b ≺ c ≺ d, this one has all but a ≺ b.
    const usual: readonly Child[] = [...'abcd'].map((name, i) => [name, 20 * i, 20 * i + 10])
    const odd = usual.map(([name, from, to]): Child => [name, name === 'b' ? 5 : from, to])
    const traces = requests(200, (i) => (i === 7 ? odd : usual))
    const learned = learnExecutionModels(traces)
    expect(webModels(learned.models)).toEqual([
      { nodes: 'a b c d', waits: ['', '0', '1', '2', '3'], calls: 200, ownCalls: 1 },
    ])
    const model = new RequestModel(learned, 0)
    const calls = model.forest.path
      .map((_, call) => call)
      .filter((call) => learned.paths.service(model.forest.path[call] as number) === 'a')
    const timesUs = model.responseTimes([
      { calls, serverUs: calls.reduce((us) => us, new Float64Array(200).fill(15)) },
    ])
    expect([timesUs[6], timesUs[7]]).toEqual([105, 100])
  })

  test('other children are another flow, with its share: a cache that hits or misses', () => {
    const hit: readonly Child[] = [['cache', 10, 20]]
    const miss: readonly Child[] = [...hit, ['store', 30, 90]]
    const { models } = learnExecutionModels(requests(10, (i) => (i < 7 ? hit : miss)))
    const web = models.filter(({ service }) => service === 'web')
    expect(web.map(({ nodes, probability }) => [nodes.length, probability])).toEqual([
      [1, 0.7],
      [2, 0.3],
    ])
  })

  test('the second call to one service is another node than the first', () => {
    const twice: readonly Child[] = [
      ['a', 10, 20],
      ['a', 30, 40],
    ]
    expect(webModels(learnExecutionModels(requests(3, () => twice)).models)).toEqual([
      { nodes: 'a a1', waits: ['', '0', '1'], calls: 3, ownCalls: 0 },
    ])
  })

  test('periods are learned apart: what was parallel and became sequential is two flows', () => {
    const [before, after] = [PARALLEL, SEQUENTIAL].map((children) => requests(50, () => children))
    const learned = learnExecutionModels([before, after] as never)
    const web = learned.models.filter(({ service }) => service === 'web')
    expect(web.map(({ period, flow }) => [period, flow])).toEqual([
      [0, web[0]?.flow],
      [1, web[1]?.flow],
    ])
    expect(web[0]?.flow).not.toBe(web[1]?.flow)
  })

  test('the same flow has one number in both periods', () => {
    const learned = learnExecutionModels([requests(9, () => PARALLEL), requests(5, () => PARALLEL)])
    expect(learned.flowOf(1)).toEqual(learned.flowOf(0).slice(0, learned.flowOf(1).length))
  })

  test('concurrent siblings are one flow however chance orders them', () => {
    const random = randomSource(1)
    const traces = requests(500, () =>
      ['a', 'b', 'c', 'd'].map((name): Child => {
        const startUs = 5 + 10 * random.next()
        return [name, startUs, startUs + 80 * random.next()]
      }),
    )
    const { models } = learnExecutionModels(traces)
    const [most] = webModels(models)
    expect(most?.calls).toBeGreaterThan(250)
  })

  test('of more than 256 calls, one waits for those that take longest', () => {
    const wide = (i: number) =>
      Array.from(
        { length: 300 },
        (_, child): Child => [`s${child}`, (child + i) % 9, child < 44 ? 10 : 50 + (child % 7)],
      )
    const [web] = webModels(learnExecutionModels(requests(4, wide)).models)
    expect(web?.nodes.split(' ').sort()).toEqual(
      Array.from({ length: 256 }, (_, i) => `s${i + 44}`).sort(),
    )
  })

  test('name what is called without waiting apart', () => {
    const late: readonly Child[] = [
      ['a', 10, 40],
      ['log', 50, 300],
    ]
    const { models } = learnExecutionModels(requests(3, (i) => (i === 0 ? [['a', 10, 40]] : late)))
    const [web] = models.filter(({ service }) => service === 'web')
    expect([web?.nodes.length, web?.calls]).toEqual([1, 3])
    expect(web?.asynchronous).toEqual([{ service: 'log', operation: 'call', calls: 2 }])
  })

  test('show themselves as a table of models and one of their nodes', () => {
    const learned = learnExecutionModels(requests(4, () => SEQUENTIAL))
    expect(learned.table().objects()[0]).toEqual({
      model: 0,
      period: 'spans',
      service: 'web',
      operation: 'call',
      flow: 0,
      nodes: 2,
      edges: 2,
      asynchronous: 0,
      calls: 4,
      ownCalls: 0,
      probability: 1,
    })
    expect(learned.nodeTable().slice(0, 3).objects()).toEqual([
      {
        model: 0,
        node: 0,
        service: 'a',
        operation: 'call',
        occurrence: 0,
        waitsFor: '',
        preprocessingUs: 10,
        p10Us: 10,
        p90Us: 10,
      },
      {
        model: 0,
        node: 1,
        service: 'b',
        operation: 'call',
        occurrence: 0,
        waitsFor: '0',
        preprocessingUs: 10,
        p10Us: 10,
        p90Us: 10,
      },
      {
        model: 0,
        node: 2,
        service: '',
        operation: 'reply',
        occurrence: 0,
        waitsFor: '1',
        preprocessingUs: 10,
        p10Us: 10,
        p90Us: 10,
      },
    ])
  })

  test('refuse options that they do not have or that are out of range', () => {
    const traces = requests(1, () => PARALLEL)
    expect(() => learnExecutionModels(traces, { slack: 1 } as never)).toThrow('no option slack')
    expect(() => learnExecutionModels(traces, { slackUs: -1 })).toThrow('Option slackUs is -1')
    expect(() => learnExecutionModels(traces, { similarity: 1 })).toThrow('Option similarity is 1')
    expect(() => learnExecutionModels(traces, { share: 0.5 })).toThrow('Option share is 0.5')
  })
})
