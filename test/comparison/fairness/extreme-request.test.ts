import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { around, chains, makeGraphs, makeSpans } from '../../make-traces.ts'
import { coded } from './coded.ts'

const HIT = ['READ', 'HIT', 'REPLY']
const usual = (count: number) => chains(HIT, around(1000, count))

describe('extreme-request', () => {
  const hour = 3.6e9
  test('of one request that takes most of the time', () => {
    const [found, ...others] = coded(
      'extreme-request',
      makeGraphs([...usual(60), ...chains(HIT, [hour])]),
      makeGraphs(usual(60)),
    )
    expect(others).toEqual([])
    expect(found?.finding).toMatch(/^One request before, trace .+, took [12](\.\d+)? h, over 99 %/)
    expect(found?.answer).toContain("`centre: 'median'`")
    expect(found?.advice).toEqual({ centre: 'median' })
  })

  test('silent when ten share it, or the period is short', () => {
    const many = makeGraphs([...usual(60), ...chains(HIT, Array(10).fill(hour))])
    expect(coded('extreme-request', many, makeGraphs(usual(60)))).toEqual([])
    const short = makeGraphs([...usual(10), ...chains(HIT, [hour])])
    expect(coded('extreme-request', short, makeGraphs(usual(10)))).toEqual([])
  })
})

describe('no-durations', () => {
  test('of a period whose requests take no time', () => {
    const zero = makeGraphs(chains(HIT, Array(60).fill(0)))
    const found = coded('no-durations', makeGraphs(usual(60)), zero)
    expect(found.map(({ finding }) => finding)).toEqual(['100 % of the requests after took 0 µs.'])
    expect(coded('no-durations', makeGraphs(usual(60)), makeGraphs(usual(60)))).toEqual([])
  })
})

test('no-weights: of counts that nothing weights', () => {
  const traces = () => makeGraphs(usual(60))
  const codes = (counts: 'raw' | 'weighted') =>
    compare(traces(), traces(), { counts })
      .warnings()
      .map(({ code }) => code)
  expect(codes('weighted')).toContain('no-weights')
  expect(codes('raw')).not.toContain('no-weights')
  const [found] = coded('no-weights', traces(), traces(), { counts: 'weighted' })
  expect(found?.finding).toContain('no trace state `ot=th:`, no')
})

test('no-weights: of a sample that should be evened out, but says nothing of its weights', () => {
  const traces = [
    makeSpans([{ id: 'a', trace: 't', startUs: 0, endUs: 9 }]),
    makeSpans([{ id: 'a', trace: 't', startUs: 0, endUs: 9 }]),
  ] as const
  const [found] = coded('no-weights', ...traces, { sampling: 'even', counts: 'raw' })
  expect(found?.effect).toBe("`sampling: 'even'` leaves nothing out.")
  expect(found?.advice).toEqual({ sampling: 'recorded' })
})
