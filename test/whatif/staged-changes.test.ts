import { describe, expect, test } from 'vitest'
import { waitPlan } from '../../src/whatif/models/call-orders.ts'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

//  web  |-------------- 100 --------------|
//  a      |10------40|                         at once
//  b      |10---30|
//  c                  |50-------90|            after both
const REQUEST: readonly SpanSketch[] = [
  { id: 'web', startUs: 0, endUs: 100 },
  { id: 'a', parent: 'web', startUs: 10, endUs: 40 },
  { id: 'b', parent: 'web', startUs: 10, endUs: 30 },
  { id: 'c', parent: 'web', startUs: 50, endUs: 90 },
]
const model = new RequestModel(learnExecutionModels(makeSpans(REQUEST)), 0)
const calls = (...rows: number[]) => Uint32Array.from(rows)
const us = (...times: number[]) => Float64Array.from(times)
const timeUnder = (...changes: Parameters<RequestModel['responseTimes']>[0]) =>
  model.responseTimes(changes)[0]

describe('another order of calls', () => {
  const planOf = (predecessors: number[][], returnPredecessors: number[]) =>
    waitPlan({ order: calls(0, 1, 2), predecessors, returnPredecessors })
  const inTurn = planOf([[], [0], [1]], [2])
  const atOnce = planOf([[], [], []], [0, 1, 2])

  test('starts what waits after what it waits for, by its preprocessing time', () => {
    // b, the first to end, 10-30, a 40-70, c 80-120, and the reply 10 later
    const order = { calls: calls(0), orders: [inTurn] }
    expect(timeUnder(order)).toBe(130)
    // a 10-40, b 10-30, c 10-50
    expect(timeUnder({ calls: calls(0), orders: [atOnce] })).toBe(60)
  })

  test('goes together with other times, and null is the recorded one', () => {
    const order = { calls: calls(0), orders: [inTurn] }
    expect(timeUnder(order, { calls: calls(2), preprocessingUs: us(1) })).toBe(121)
    expect(timeUnder(order, { calls: calls(2), serverUs: us(0) })).toBe(100)
    expect(timeUnder({ calls: calls(0), orders: [null] })).toBe(100)
    expect(timeUnder()).toBe(100)
  })
})

describe('changes that say what they make of other changes', () => {
  const twice = (time: number) => 2 * time
  const later = (time: number) => time + 5

  test('are applied to what results from changes below, in any order', () => {
    const web = { calls: calls(0), serverUs: us(200), newTime: twice }
    const c = { calls: calls(3), serverUs: us(0), newTime: () => 0 }
    expect(timeUnder(web)).toBe(200)
    expect(timeUnder(web, c)).toBe(120)
    expect(timeUnder(c, web)).toBe(120)
  })

  test('and to what earlier ones made of the same time', () => {
    const network = { calls: calls(3), networkUs: us(5), newTime: later }
    expect(timeUnder(network, network)).toBe(110)
    const reply = { calls: calls(0), replyUs: us(20), newTime: twice }
    expect(timeUnder(reply, reply)).toBe(130)
    const start = { calls: calls(3), preprocessingUs: us(15), newTime: later }
    expect(timeUnder(start, start)).toBe(110)
  })

  test('a later one without hides them', () => {
    const web = { calls: calls(0), serverUs: us(200), newTime: twice }
    expect(timeUnder(web, { calls: calls(0), serverUs: us(7) })).toBe(7)
  })
})
