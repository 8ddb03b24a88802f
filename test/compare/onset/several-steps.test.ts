import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'

const PERIOD_US = 300e6

/*
 * web   GET    |----------------------|
 * web   GENERATE |------------------|     the call: on the way, then
 * model GENERATE      |-----------|       at work
 */
function periodOf(name: string, fromUs: number, isAfter: boolean) {
  const random = randomSource(isAfter ? 2 : 1)
  const spans = Array.from({ length: 600 }, (_, i): SpanSketch[] => {
    const [startUs, share] = [fromUs + (i / 600) * PERIOD_US, i / 600]
    const workUs = 20_000 * Math.exp(0.3 * random.normal()) + (isAfter ? 40_000 : 0)
    const wayUs = 500 + 20 * random.normal() + (isAfter ? 75_000 * Math.max(0, share - 0.3) : 0)
    const trace = `${name}-${i}`
    const [callUs, endUs] = [startUs + 100, startUs + 100 + wayUs + workUs + wayUs]
    const web = { trace, service: 'web' }
    return [
      { ...web, id: `${trace}-a`, operation: 'GET', startUs, endUs: endUs + 100 },
      {
        ...web,
        id: `${trace}-b`,
        parent: `${trace}-a`,
        operation: 'GENERATE',
        kind: 'client',
        startUs: callUs,
        endUs,
      },
      {
        trace,
        service: 'model',
        id: `${trace}-c`,
        parent: `${trace}-b`,
        operation: 'GENERATE',
        kind: 'server',
        startUs: callUs + wayUs,
        endUs: callUs + wayUs + workUs,
      },
    ]
  })
  return makeSpans(spans.flat(), name)
}

test('of several steps, the one that holds most of a finding says since when', () => {
  const { findings } = compare(
    periodOf('before', NOON_US, false),
    periodOf('after', NOON_US + PERIOD_US, true),
  ).findings
  const [{ title, since } = {}] = findings
  expect(title).toMatch(/work takes 40.* longer and calls to it take/)
  expect(since?.fromStart).toBe(true)
})
