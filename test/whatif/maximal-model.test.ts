import { describe, expect, test } from 'vitest'
import { learnExecutionModels } from '../../src/whatif/models/learn-execution-models.ts'
import { maximalModel } from '../../src/whatif/models/maximal-model.ts'
import { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { makeSpans } from '../make-traces.ts'
import { describeWithShared, sharedJson } from '../shared.ts'

interface Interval {
  readonly id: string
  readonly s: number
  readonly e: number
}
interface Case {
  readonly name: string
  readonly parent: Interval
  readonly children: readonly Interval[]
  readonly covering: readonly (readonly [string, string])[]
  readonly returnPreds: readonly string[]
  readonly preprocessing: Readonly<Record<string, number>>
  readonly returnPre: number
  readonly whatIf: readonly {
    readonly newLatency: Readonly<Record<string, number>>
    readonly parentLatency: number
    readonly startEnd: Readonly<Record<string, readonly [number, number]>>
  }[]
}

describeWithShared('maximal models agree with the oracle', () => {
  const { cases } = sharedJson<{ cases: Case[] }>('oracles/execmodel.json')

  test.each(cases)('$name: order, reply, preprocessing', (one) => {
    const { children, parent, covering, returnPreds, preprocessing, returnPre } = one
    const model = maximalModel(
      { startUs: children.map(({ s }) => s), endUs: children.map(({ e }) => e) },
      { replyUs: parent.e, slackUs: 0.001 },
    )
    const id = (child: number) => children[child]?.id
    const pairs = model.predecessors.flatMap((before, child) =>
      before.map((other) => [id(other), id(child)]),
    )
    expect(pairs).toEqual(covering)
    expect(model.returnPredecessors.map(id)).toEqual(returnPreds)
    expect(Array.from(model.preprocessingUs)).toEqual(
      children.map((child) => preprocessing[child.id]),
    )
    expect(model.ownReplyUs).toBe(returnPre)
  })

  const whatIfs = cases.flatMap((one) => one.whatIf.map((whatIf) => ({ ...one, whatIf })))

  test.each(whatIfs)('$name: what if latencies were $whatIf.newLatency?', (one) => {
    const { children, parent, whatIf } = one
    const spans = [
      { id: 'p', startUs: 0, endUs: 1000 * parent.e },
      ...children.map(({ id, s, e }) => ({
        ...{ id, parent: 'p', startUs: 1000 * s, endUs: 1000 * e },
      })),
    ]
    const model = new RequestModel(learnExecutionModels(makeSpans(spans)), 0)
    const { paths } = model.models
    const calls = model.forest.path.map((_, call) => call)
    const nameOf = (call: number) => paths.service(model.forest.path[call] as number)
    const serverUs = Float64Array.from(calls, (call) => {
      const ms = whatIf.newLatency[nameOf(call)]
      return ms === undefined ? Number.NaN : 1000 * ms
    })
    const change = { calls, serverUs }
    expect(model.responseTimes([change])[0]).toBeCloseTo(1000 * whatIf.parentLatency, 9)
    const { offsetUs, latencyUs } = model.calls([change])
    for (const call of calls.subarray(1)) {
      const [start, end] = whatIf.startEnd[nameOf(call)] as readonly [number, number]
      expect(offsetUs[call]).toBeCloseTo(1000 * start, 9)
      expect((offsetUs[call] as number) + (latencyUs[call] as number)).toBeCloseTo(1000 * end, 9)
    }
  })
})

describe('the maximal model of a call', () => {
  test('closes the order before it reduces it: a, b and c overlap within the slack', () => {
    const times = { startUs: [0, 10, 19.5], endUs: [10.9, 20.4, 30] }
    const { predecessors } = maximalModel(times, { replyUs: 30 })
    expect(predecessors).toEqual([[], [0], [1]])
  })

  test('makes no circle of two calls that take no time', () => {
    const { predecessors } = maximalModel({ startUs: [5, 5], endUs: [5, 5] }, { replyUs: 9 })
    expect(predecessors).toEqual([[], [0]])
  })

  test('takes children in any order', () => {
    const times = { startUs: [62, 12, 10], endUs: [90, 60, 30] }
    const { predecessors, returnPredecessors } = maximalModel(times, { replyUs: 100 })
    expect([predecessors, returnPredecessors]).toEqual([[[1, 2], [], []], [0]])
  })

  test('waits for no detached child', () => {
    const times = { startUs: [10, 40], endUs: [30, 60], detached: [1, 0] }
    const { predecessors, asynchronous } = maximalModel(times, { replyUs: 100 })
    expect([predecessors, asynchronous]).toEqual([[[], []], [0]])
  })
})
