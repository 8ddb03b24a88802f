import { describe, expect, test } from 'vitest'
import {
  type ExecutionModel,
  learnExecutionModels,
} from '../../src/whatif/models/execution-models.ts'
import { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { describeWithShared, sharedJson } from '../shared.ts'

interface Interval {
  readonly id: string
  readonly s: number
  readonly e: number
  readonly kind?: 'producer'
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

/** A request `p` with these children, which begin with it at 0; times in ms. */
function requestOf(endMs: number, children: readonly Interval[]): RequestModel {
  const spans: SpanSketch[] = [
    { id: 'p', startUs: 0, endUs: 1000 * endMs },
    ...children.map(({ id, s, e, kind }) => ({
      id,
      parent: 'p',
      startUs: 1000 * s,
      endUs: 1000 * e,
      ...(kind && { kind }),
    })),
  ]
  return new RequestModel(learnExecutionModels(makeSpans(spans)), 0)
}

/** What each awaited child, and the reply, waits for. */
function waitsOf({ models }: RequestModel): Readonly<Record<string, string>> {
  const { nodes, predecessors, returnPredecessors } = models.models[0] as ExecutionModel
  const named = (numbers: readonly number[]) =>
    numbers.map((node) => nodes[node]?.service).join(' ')
  return Object.fromEntries([
    ...nodes.map(({ service }, node) => [service, named(predecessors[node] ?? [])]),
    ['reply', named(returnPredecessors)],
  ])
}

describeWithShared('maximal models agree with the oracle', () => {
  const { cases } = sharedJson<{ cases: Case[] }>('oracles/execmodel.json')

  test.each(cases)('$name: order, reply, preprocessing', (one) => {
    const { children, parent, covering, returnPreds, preprocessing, returnPre } = one
    const model = requestOf(parent.e, children)
    const waits = waitsOf(model)
    const expected = Object.keys(waits).map((id) => {
      const before = covering.filter(([, after]) => after === id).map(([earlier]) => earlier)
      return [id, (id === 'reply' ? returnPreds : before).toSorted().join(' ')]
    })
    expect(waits).toEqual(Object.fromEntries(expected))
    const { forest, models, preprocessingUs, replyUs } = model
    for (const [call, path] of [...forest.path].entries()) {
      const ms = preprocessing[models.paths.service(path)]
      if (ms !== undefined) expect(preprocessingUs[call]).toBeCloseTo(1000 * ms, 9)
    }
    expect(replyUs[0]).toBeCloseTo(1000 * returnPre, 9)
  })

  const whatIfs = cases.flatMap((one) => one.whatIf.map((whatIf) => ({ ...one, whatIf })))

  test.each(whatIfs)('$name: what if latencies were $whatIf.newLatency?', (one) => {
    const { children, parent, whatIf } = one
    const model = requestOf(parent.e, children)
    const { paths } = model.models
    const calls = model.forest.path.map((_, call) => call)
    const nameOf = (call: number) => paths.service(model.forest.path[call] as number)
    const serverUs = Float64Array.from(calls, (call) => {
      const ms = whatIf.newLatency[nameOf(call)]
      return ms === undefined ? Number.NaN : 1000 * ms
    })
    const change = { calls, serverUs }
    expect(model.responseTimes([change])[0]).toBeCloseTo(1000 * whatIf.parentLatency, 9)
  })
})

describe('the maximal model of a call', () => {
  const [a, b, c] = [
    { id: 'a', s: 10, e: 30 },
    { id: 'b', s: 12, e: 60 },
    { id: 'c', s: 62, e: 90 },
  ]

  test('closes the order before it reduces it: a, b and c overlap within the slack', () => {
    const times = [
      { id: 'a', s: 0, e: 0.0109 },
      { id: 'b', s: 0.01, e: 0.0204 },
      { id: 'c', s: 0.0195, e: 0.03 },
    ]
    expect(waitsOf(requestOf(0.03, times))).toEqual({ a: '', b: 'a', c: 'b', reply: 'c' })
  })

  test('makes no circle of two calls that take no time', () => {
    const times = ['a', 'b'].map((id) => ({ id, s: 5, e: 5 }))
    expect(waitsOf(requestOf(9, times))).toEqual({ a: '', b: 'a', reply: 'b' })
  })

  test('takes children in any order', () => {
    expect(waitsOf(requestOf(100, [c, b, a]))).toEqual({ a: '', b: '', c: 'a b', reply: 'c' })
  })

  test('waits for no detached child', () => {
    expect(waitsOf(requestOf(100, [{ ...a, kind: 'producer' }, c]))).toEqual({ c: '', reply: 'c' })
  })
})
