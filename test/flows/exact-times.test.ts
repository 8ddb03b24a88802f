import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { randomSource } from '../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

const HOUR_US = 3600e6

/** Requests whose steps take one of three times, from a moment on, one every so often. */
function period({ seed, fromUs, everyUs }: { seed: number; fromUs: number; everyUs: number }) {
  const random = randomSource(seed)
  const time = () => [50, 50.001, 70.3][Math.floor(3 * random.next())] as number
  const spans = Array.from({ length: 200 }, (_, i): SpanSketch[] => {
    const trace = `t${seed}-${i}`
    const startUs = fromUs + everyUs * i
    const called = startUs + time()
    const replied = called + time()
    const call = { trace, id: 'db', parent: 'root', service: 'db', operation: 'GET' }
    const root = { trace, id: 'root', service: 'shop', operation: 'BUY' }
    return [
      { ...call, startUs: called, endUs: replied },
      { ...root, startUs, endUs: replied + 50 },
    ]
  })
  return makeSpans(spans.flat())
}

test('when a period begins and how long it lasts changes no latency, test or finding', () => {
  const before = period({ seed: 1, fromUs: 0, everyUs: 1000 })
  const told = (after: typeof before) => {
    const { flows, responseTime, edges, steps, findings } = compare(before, after)
    return {
      latencies: Array.from(flows.latencyUs),
      responseTimes: responseTime.table().objects(),
      edges: edges.table().objects(),
      steps: steps.table().objects(),
      findings: findings.text(),
    }
  }
  const expected = told(period({ seed: 2, fromUs: 0, everyUs: 1000 }))
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 24 * HOUR_US }),
      fc.integer({ min: 200, max: HOUR_US / 10 }),
      (fromUs, everyUs) => {
        expect(told(period({ seed: 2, fromUs, everyUs }))).toEqual(expected)
      },
    ),
    { numRuns: 6 },
  )
})
