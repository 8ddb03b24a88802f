import { describe, expect, test } from 'vitest'
import { learnExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { heldOutErrors } from './held-out-errors.ts'
import { loadCase } from './real-systems.ts'

test('latencies of callers in a recorded case are best predicted by models', async () => {
  const all = heldOutErrors(learnExecutionModels(await loadCase('rmw', 'before')))
  expect(all.model).toBeLessThan(all.criticalPath)
  expect(all.model).toBeLessThan(all.regression)
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
    const all = heldOutErrors(models)
    expect(all.model).toBe(0)
    expect(all.criticalPath).toBeCloseTo(30 / 130, 12)
    expect(all.calls).toBe(40)
  })

  test('counts calls that are like none learned from', () => {
    const odd = [
      { trace: 'odd', id: 'web', startUs: 0, endUs: 50 },
      { trace: 'odd', id: 'c', parent: 'web', startUs: 10, endUs: 40 },
    ]
    const all = heldOutErrors(learnExecutionModels(makeSpans([...spans.flat(), ...odd])))
    expect([all.calls, all.unlike]).toEqual([40, 1])
  })
})
