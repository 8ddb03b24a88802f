import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, recordWithSum } from '../../worlds.ts'

/** Requests of `search` that ask four indices at the same time; a third of them are fuzzy. */
function searches(seed: number, fuzzyUs: (index: number) => number) {
  return recordWithSum({ seed, requests: 600 }, (r) => {
    const mode = r.is(1 / 3) ? 'fuzzy' : 'exact'
    const how = { kind: 'client', beside: true, attributes: { 'search.mode': mode } } as const
    const asked = [0, 1, 2, 3].map((index) => {
      const us = r.about(15_000) + (mode === 'fuzzy' ? fuzzyUs(index) : 0)
      return call(`search titles-${index}`, us, how)
    })
    return call('search GET', [0, 2000], {}, asked)
  })
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
