import { describe, expect, test } from 'vitest'
import { randomSource } from '../../src/stats/random.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { randomRequests } from './random-requests.ts'

function modelOf(traces: SpanTraces): RequestModel {
  return new RequestModel(learnExecutionModels(traces), 0)
}

/** The calls to a service, ascending. */
function callsTo({ forest, models }: RequestModel, service: string): Uint32Array {
  return forest.path
    .map((_, call) => call)
    .filter((call) => models.paths.service(forest.path[call] as number) === service)
}

const every = (calls: Uint32Array, us: number) => new Float64Array(calls.length).fill(us)

//  web     |---------------- 100 ----------------|
//  auth      |10|30|
//  cache            |40-45|
//  store                   |50-------------90|      client 50-90, server 60-85
const REQUEST: readonly SpanSketch[] = [
  { id: 'web', startUs: 0, endUs: 100 },
  { id: 'auth', parent: 'web', startUs: 10, endUs: 30 },
  { id: 'cache', parent: 'web', startUs: 40, endUs: 45 },
  { id: 'call', parent: 'web', service: 'web', kind: 'client', startUs: 50, endUs: 90 },
  { id: 'store', parent: 'call', kind: 'server', startUs: 1060, endUs: 1085 },
]

describe('a request model', () => {
  const model = modelOf(makeSpans(REQUEST))
  const timeOf = (service: string, change: object) =>
    model.responseTimes([{ calls: callsTo(model, service), ...change }])[0]

  test('has the recorded response time without a change', () => {
    expect(model.responseTimes([])).toEqual(Float64Array.of(100))
  })

  test('measures preprocessing and reply times', () => {
    const { preprocessingUs, replyUs } = model
    expect([...preprocessingUs]).toEqual([0, 10, 10, 5])
    expect([...replyUs]).toEqual([10, 20, 5, 25])
  })

  test('changes server, network, preprocessing and reply time, each by itself', () => {
    const calls = callsTo(model, 'store')
    expect(timeOf('store', { serverUs: every(calls, 125) })).toBe(200)
    expect(timeOf('store', { networkUs: every(calls, 0) })).toBe(85)
    expect(timeOf('store', { preprocessingUs: every(calls, 0) })).toBe(95)
    expect(timeOf('web', { replyUs: every(calls, 0) })).toBe(90)
    expect(timeOf('store', { serverUs: every(calls, 0), networkUs: every(calls, 0) })).toBe(60)
  })

  test('lets the last of several changes of one time count', () => {
    const calls = callsTo(model, 'store')
    const [slow, fast] = [125, 5].map((us) => ({ calls, serverUs: every(calls, us) }))
    expect(model.responseTimes([slow, fast] as never)[0]).toBe(80)
    const network = { calls, networkUs: every(calls, 0) }
    expect(model.responseTimes([slow, network] as never)[0]).toBe(185)
  })

  test('takes a given server time as final, whatever changes below', () => {
    const web = callsTo(model, 'web')
    const store = callsTo(model, 'store')
    const changes = [
      { calls: web, serverUs: every(web, 70) },
      { calls: store, serverUs: every(store, 1e6) },
    ]
    expect(model.responseTimes(changes)[0]).toBe(70)
  })

  test('gives no negative durations', () => {
    const calls = callsTo(model, 'web')
    expect(timeOf('web', { replyUs: every(calls, -500) })).toBe(0)
    expect(timeOf('store', { networkUs: every(calls, -1000) })).toBe(60)
  })

  test('changes nothing where a time is NaN', () => {
    const calls = callsTo(model, 'store')
    expect(timeOf('store', { serverUs: every(calls, Number.NaN) })).toBe(100)
  })
})

describe('random requests', () => {
  const models = [1, 2, 3].map((seed) => modelOf(randomRequests(randomSource(seed), 300)))

  test('recomputed without a change are exactly as recorded', () => {
    for (const model of models) {
      const { forest, preprocessingUs, replyUs } = model
      const calls = forest.path.map((_, call) => call)
      const recordedUs = forest.latencyUs.filter((_, call) => forest.parent[call] === -1)
      const networkUs = forest.latencyUs.map((us, i) => us - (forest.serverUs[i] as number))
      const same = { calls, preprocessingUs, replyUs, networkUs }
      expect(model.responseTimes([same])).toEqual(recordedUs)
      expect(model.responseTimes([{ ...same, serverUs: forest.serverUs }])).toEqual(recordedUs)
    }
  })

  test('never get faster when calls get slower, nor slower when they get faster', () => {
    const random = randomSource(7)
    for (const model of models) {
      const { forest } = model
      const recordedUs = model.responseTimes([])
      for (let round = 0; round < 40; round++) {
        const calls = forest.path.map((_, call) => call).filter(() => random.next() < 0.1)
        const longer = (timesUs: Float64Array) =>
          Float64Array.from(calls, (call) => (timesUs[call] as number) + random.logNormal(3, 2))
        const slower = [
          { calls, serverUs: longer(forest.serverUs) },
          { calls, preprocessingUs: longer(model.preprocessingUs) },
          { calls, replyUs: longer(model.replyUs) },
        ]
        for (const change of slower) {
          const timesUs = model.responseTimes([change])
          expect(timesUs.every((us, i) => us >= (recordedUs[i] as number))).toBe(true)
        }
        const faster = Float64Array.from(calls, (call) => (forest.serverUs[call] as number) / 2)
        const timesUs = model.responseTimes([{ calls, serverUs: faster }])
        expect(timesUs.every((us, i) => us <= (recordedUs[i] as number))).toBe(true)
      }
    }
  })
})

test('synchronisation points give what plain edges give: 120 calls after 120 others', () => {
  const random = randomSource(5)
  const stage = (name: string, fromUs: number) =>
    Array.from({ length: 120 }, (_, i) => ({
      id: `${name}${i}`,
      parent: 'p',
      service: `${name}${i}`,
      startUs: fromUs + random.integer(2),
      endUs: fromUs + 50 + random.integer(50),
    }))
  const [first, second] = [stage('a', 10), stage('b', 200)]
  const spans = [{ id: 'p', startUs: 0, endUs: 400 }, ...first, ...second]
  const model = modelOf(makeSpans(spans))
  const plan = model.models.period(0).plans.find(({ nodes }) => nodes === 240)
  expect(plan?.setNodes.length).toBe(240)
  for (let round = 0; round < 20; round++) {
    const slow = [random.integer(120), random.integer(120)] as const
    const us = 100 + random.integer(100)
    const calls = [callsTo(model, `a${slow[0]}`), callsTo(model, `b${slow[1]}`)]
    const after = model.responseTimes(
      calls.map((rows) => ({ calls: rows, serverUs: every(rows, us) })),
    )
    const ends = (all: readonly SpanSketch[], changed: number) =>
      all.map(({ startUs, endUs }, i) => (i === changed ? startUs + us : endUs))
    const lastA = Math.max(...ends(first, slow[0]))
    const shift = lastA - Math.max(...first.map(({ endUs }) => endUs))
    const lastB = Math.max(...ends(second, slow[1])) + shift
    const expected = 400 + lastB - Math.max(...second.map(({ endUs }) => endUs))
    expect(after[0]).toBeCloseTo(expected, 6)
  }
})

test('a chain of 50,000 calls does not overflow the stack', () => {
  const depth = 50_000
  const spans = Array.from({ length: depth }, (_, i) => ({
    id: `${i}`,
    parent: i === 0 ? null : `${i - 1}`,
    service: `s${i % 3}`,
    startUs: i,
    endUs: 3 * depth - i,
  }))
  const model = modelOf(makeSpans(spans))
  const calls = Uint32Array.of(depth - 1)
  expect(model.responseTimes([{ calls, replyUs: every(calls, 5 * depth) }])[0]).toBe(
    3 * depth + 5 * depth - (depth + 2),
  )
  expect(model.models.paths.text(model.forest.path[depth - 1] as number).length).toBeGreaterThan(
    depth,
  )
})
