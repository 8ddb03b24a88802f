import { describe, expect, test } from 'vitest'
import { learnExecutionModels } from '../../src/whatif/models/learn-execution-models.ts'
import { evaluatePrediction } from '../../src/whatif/prediction/predict-latency.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { describeWithShared } from '../shared.ts'
import { CASES, loadCase, loadSystem, SYSTEMS } from './real-systems.ts'

/**
 * Where linear regression is better over all operations. Own times go with latencies of children
 * there, in operations that do little themselves (`getAdsByCategory`, `SN WRITE`): what made the one
 * slow made the other, which a model that holds them apart cannot know.
 */
const REGRESSION_IS_BETTER = [
  'nezha-onlineboutique/ob1_currency_network_delay/faulty_trace.csv.gz',
  'mds-prefetch',
]

describeWithShared('latencies of callers in real systems are best predicted by models', () => {
  test.each(SYSTEMS)('%s', async (path) => {
    const { all } = evaluatePrediction(learnExecutionModels(await loadSystem(path)))
    expect(all.calls).toBeGreaterThan(500)
    expect(all.unlike / all.calls).toBeLessThan(0.01)
    expect(all.model).toBeLessThan(all.criticalPath)
    if (REGRESSION_IS_BETTER.includes(path)) expect(all.model).toBeGreaterThan(all.regression)
    else expect(all.model).toBeLessThan(all.regression)
  })
})

describe('latencies of callers in the recorded cases are best predicted by models', () => {
  test.each(CASES)('%s', async (name) => {
    const { all } = evaluatePrediction(learnExecutionModels(await loadCase(name, 'before')))
    expect(all.model).toBeLessThan(all.criticalPath)
    if (REGRESSION_IS_BETTER.includes(name)) expect(all.model).toBeGreaterThan(all.regression)
    else expect(all.model).toBeLessThan(all.regression)
  })
})

describe('the evaluation of predictions', () => {
  //  web |-10-|a: 20 to 40|-10-|b: 100 − a|-10-|, always 10 µs of its own in between
  const spans = Array.from({ length: 40 }, (_, i): SpanSketch[] => {
    const us = 20 + (i % 21)
    const trace = `t${i}`
    return [
      { trace, id: 'web', startUs: 0, endUs: 130 },
      { trace, id: 'a', parent: 'web', startUs: 10, endUs: 10 + us },
      { trace, id: 'b', parent: 'web', startUs: 20 + us, endUs: 120 },
    ]
  })
  const models = learnExecutionModels(makeSpans(spans.flat()))

  test('finds no error where own times are always the same, and what a path lacks without them', () => {
    const { all, operations } = evaluatePrediction(models)
    expect(all.model).toBe(0)
    expect(all.criticalPath).toBeCloseTo(30 / 130, 12)
    expect(operations).toEqual([{ service: 'web', operation: 'call', ...all }])
    expect(all.calls).toBe(40)
  })

  test('counts calls that are like none learned from', () => {
    const odd = [
      { trace: 'odd', id: 'web', startUs: 0, endUs: 50 },
      { trace: 'odd', id: 'c', parent: 'web', startUs: 10, endUs: 40 },
    ]
    const { all } = evaluatePrediction(learnExecutionModels(makeSpans([...spans.flat(), ...odd])))
    expect([all.calls, all.unlike]).toEqual([40, 1])
  })

  test('shows itself as a table with all operations first', () => {
    const row = evaluatePrediction(models).table().objects()[0]
    expect(row).toMatchObject({ service: 'all', calls: 40, unlike: 0, model: 0 })
  })

  test('refuses options that it does not have', () => {
    expect(() => evaluatePrediction(models, { half: 1 } as never)).toThrow('no option half')
  })
})
