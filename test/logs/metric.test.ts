import { describe, expect, test } from 'vitest'
import { LogBuilder } from '../../src/logs/features/log-builder.ts'
import {
  heavyTail,
  instanceWeights,
  latencyWeights,
  type Metric,
  metricTail,
  performanceMetric,
  usualDoubling,
} from '../../src/logs/performance/performance-metric.ts'
import { describeWithShared, sharedJson } from '../shared.ts'

interface Oracle {
  readonly tail: readonly {
    readonly name: string
    readonly x: readonly number[]
    readonly n: number
    readonly fraction: number
    readonly heavy: boolean
  }[]
  readonly weights: readonly (readonly [latencyMs: number, weight: number])[]
}

describeWithShared('tails and weights agree with the oracle', () => {
  const { tail, weights } = sharedJson<Oracle>('oracles/variance.json')

  test.each(tail)('the tail of $name', ({ x, n, fraction, heavy }) => {
    const found = heavyTail(x)
    expect([found.count, found.fraction]).toEqual([n, fraction])
    // That one value is no tail is our own rule.
    expect(found.isHeavy).toBe(heavy && found.outliers >= 2)
  })

  test('weights', () => {
    const latencies = weights.map(([ms]) => ms * 1000)
    expect([...latencyWeights(latencies, 150_000, 1e9)]).toEqual(weights.map(([, w]) => w))
  })
})

describe('heavyTail', () => {
  test('one outlier among 90 is more than 1.1 %, but no tail', () => {
    const values = Array.from({ length: 90 }, (_, i) => Number(i === 0) * 1000)
    expect(heavyTail(values)).toMatchObject({ outliers: 1, isHeavy: false })
  })

  test('of nothing there is none', () => {
    expect(heavyTail([])).toMatchObject({ count: 0, outliers: 0, isHeavy: false })
  })
})

describe('latencyWeights', () => {
  const weightsOf = (latencies: readonly number[], cap = latencies.length) => [
    ...latencyWeights(latencies, usualDoubling(latencies), cap),
  ]

  test('are at most as many as they may', () => {
    expect(weightsOf([0, 3_600e6, Number.NaN])).toEqual([1, 3, Number.NaN])
  })

  test('go by the slowest, whether it takes a second or an hour', () => {
    const seconds = [0.1, 0.3, 1]
    for (const unit of [1e6, 2_992e6]) {
      expect(
        weightsOf(
          seconds.map((each) => each * unit),
          1e9,
        ),
      ).toEqual([1, 4, 101])
    }
  })
})

describe('performanceMetric', () => {
  const builder = new LogBuilder()
  for (const id of ['a', 'b']) {
    builder.setInstance('before', id)
    builder.logEvent(0, 'start')
    if (id === 'a') builder.logEvent(30, 'done')
    builder.logState(40, 'rate', 5)
    builder.logState(40, 'start', 1)
  }
  const logs = builder.build()
  const valuesOf = (metric: Parameters<typeof performanceMetric>[1]) => [
    ...performanceMetric(logs, metric).values,
  ]

  test('is the run time, an event’s last time, or the mean of a state’s values', () => {
    expect(valuesOf('runTime')).toEqual([40, 40])
    expect(valuesOf('done')).toEqual([30, Number.NaN])
    expect(valuesOf('rate')).toEqual([5, 5])
    expect(valuesOf({ variable: 'start', feature: 'count' })).toEqual([1, 1])
  })

  const fields = new LogBuilder()
  const says = (instance: string, event: string, ms: readonly number[]) => {
    fields.setInstance('before', instance)
    for (const value of ms) {
      fields.logEvent(10, event)
      fields.logState(10, `${event}.ms`, value)
      fields.logState(10, `${event} #1`, value * 1000)
      fields.logState(10, `${event} #2`, 200)
    }
  }
  says('a', 'GET done', [7])
  says('b', 'PUT done', [4])
  says('c', 'GET done', [3, 9])
  says('c', 'PUT done', [30])
  fields.setInstance('before', 'd')
  fields.logEvent(1, 'start')
  const ofFields = fields.build()

  test('is a field of several events: the mean of its values unless another feature is named', () => {
    const values = (metric: Metric) => [...performanceMetric(ofFields, metric).values]
    expect(values('ms')).toEqual([7, 4, 14, Number.NaN])
    expect(values({ variable: 'ms', feature: 'minimum' })).toEqual([7, 4, 3, Number.NaN])
    expect(values({ variable: 'ms', feature: 'maximum' })).toEqual([7, 4, 30, Number.NaN])
    expect(() => values({ variable: 'ms', feature: 'final' })).toThrow(
      'Option metric.feature is "final". Give maximum, minimum or mean: 2 events have "ms".',
    )
    // Nor does the same number in the text explain it.
    expect(performanceMetric(ofFields, 'ms').variable?.states).toEqual([
      'GET done.ms',
      'PUT done.ms',
      'GET done #1',
      'PUT done #1',
    ])
    expect(() => values('us')).toThrow(
      `Metric "us" is no event of these logs. Give 'runTime' or one of their variables: "GET done"`,
    )
  })

  test('says what is wrong with what it is not', () => {
    expect(() => performanceMetric(logs, 'finished')).toThrow(
      'Metric "finished" is no event of these logs. Give \'runTime\' or one of their variables: "done", "start", "rate"',
    )
    expect(() => performanceMetric(logs, 'start')).toThrow('is an event and a state variable')
    expect(() =>
      performanceMetric(logs, { variable: 'rate', feature: 'average' as 'mean' }),
    ).toThrow('Option metric.feature is "average". Give one of firstAbsolute,')
  })

  test('a variable called run time leaves the node of the run time its own name', () => {
    const own = new LogBuilder()
    own.setInstance('before', 'a')
    own.logEvent(0, 'run time')
    expect(performanceMetric(own.build(), 'runTime').name).toBe('run time (P)')
  })

  test('weights by latency need a latency', () => {
    expect(() => instanceWeights(logs, { weights: { doublingMs: 150 }, metric: 'rate' })).toThrow(
      "Option weights is { doublingMs: 150 }. Give 'latency', latency=150 in whatever rate is in, or numbers: it is not known to be a time.",
    )
    expect(() => instanceWeights(logs, { weights: { doublingMs: 0 }, metric: 'runTime' })).toThrow(
      'Option weights is { doublingMs: 0 }. Give a latency above 0 that doubles the weight.',
    )
    expect(() => instanceWeights(logs, { weights: [1], metric: 'runTime' })).toThrow(
      "Give 'none', 'latency' or 2 numbers.",
    )
    expect(() => instanceWeights(logs, { weights: [1, -1], metric: 'runTime' })).toThrow(
      'Option weights[1] is -1. Give a number above 0.',
    )
  })
})

describe('metricTail', () => {
  const builder = new LogBuilder()
  for (let i = 0; i < 400; i++) {
    builder.setInstance(i < 200 ? 'before' : 'after', `r${i}`)
    builder.logEvent(0, 'received')
    builder.logEvent(i % 200 < 195 || i < 200 ? 1_000 + (i % 7) : 900_000, 'answered')
  }
  const logs = builder.build()
  const tail = metricTail(logs, performanceMetric(logs, 'runTime'))

  test('says what to do', () => {
    expect(tail.suggestion).toBe(
      "5 of 200 instances after (3 %) have a run time beyond three standard deviations, and averages do not show them; weights: 'latency' makes the slow ones count.",
    )
  })
})

test('a metric is told apart from a variable of the other kind with its name', () => {
  const builder = new LogBuilder()
  builder.setInstance('before', 'node 1')
  builder.logEvent(0, 'finish')
  builder.logState(5, 'finish', 3)
  const logs = builder.build()
  const event = performanceMetric(logs, { variable: 'finish', feature: 'lastAbsolute' })
  const state = performanceMetric(logs, { variable: 'finish', feature: 'final' })
  expect([event.name, state.name]).toEqual(['finish (P)', 'finish (P)'])
})
