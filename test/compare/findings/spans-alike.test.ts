import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

/** Requests of `search` that ask four indices at the same time; a third of them are fuzzy. */
function searches(seed: number, fuzzyUs: (index: number) => number) {
  const random = randomSource(seed)
  let totalUs = 0
  const spans = Array.from({ length: 600 }, (_, i): SpanSketch[] => {
    const of = { trace: `t${i}`, service: 'search', startUs: i * 1e6 }
    const mode = random.next() < 1 / 3 ? 'fuzzy' : 'exact'
    const indices = [0, 1, 2, 3].map((index): SpanSketch => {
      const us = 15_000 * random.logNormal(0, 0.2) + (mode === 'fuzzy' ? fuzzyUs(index) : 0)
      const [operation, endUs] = [`titles-${index}`, of.startUs + us]
      const attributes = { 'search.mode': mode }
      return { ...of, id: operation, parent: 'r', operation, kind: 'client', endUs, attributes }
    })
    const endUs = Math.max(...indices.map((one) => one.endUs)) + 2000
    totalUs += endUs - of.startUs
    return [{ ...of, id: 'r', operation: 'GET', endUs }, ...indices]
  })
  return { traces: makeSpans(spans.flat()), totalUs }
}

const foundWith = (fuzzyUs: (index: number) => number) => {
  const after = searches(2, fuzzyUs)
  const { findings } = compare(searches(1, () => 0).traces, after.traces).findings
  return { findings, trulyUs: after.totalUs - searches(2, () => 0).totalUs }
}

test('calls beside each other that changed alike are one finding, which has the time of all', () => {
  const { findings, trulyUs } = foundWith(() => 60_000)
  expect(findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(
      /^search: (titles-\d, ){2}titles-\d and 1 more within GET take \d+(\.\d+)? ms longer per call, only where search\.mode = fuzzy$/,
    ),
  ])
  expect(Math.abs((findings[0]?.contributionUs ?? 0) / trulyUs - 1)).toBeLessThan(0.1)
})

test('one of them that changed is told alone', () => {
  const { findings } = foundWith((index) => (index === 2 ? 60_000 : 0))
  expect(findings.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^search: titles-2 within GET takes .* only where search\.mode = fuzzy$/),
  ])
})
