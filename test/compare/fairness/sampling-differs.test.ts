import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { every, makeSpans, requestsAt, type SpanSketch } from '../../make-traces.ts'
import { coded } from './coded.ts'

/** Requests of one type, sampled with a probability. */
function sampled(count: number, probability?: number, id = 'web'): SpanSketch[] {
  return requestsAt(every(1000, count), {
    id,
    trace: id,
    ...(probability !== undefined && { probability }),
  })
}

describe('sampling-differs', () => {
  test('says with which probability, and how many requests the recorded ones stand for', () => {
    const [found] = coded('sampling-differs', sampled(200, 0.1), sampled(400, 0.2))
    expect(found?.finding).toBe(
      'The sampling probability changed: web call: one in 10 before, one in 5 after.',
    )
    expect(found?.effect).toContain(
      '200 recorded requests stand for 2,000 before, 400 recorded requests stand for 2,000 after',
    )
    expect(found?.answer).toBe("Count each request by its weight with `counts: 'weighted'`.")
    expect(found?.advice).toEqual({ counts: 'weighted' })
  })

  test('weighted counts answer it, and then nothing changed', () => {
    const options = { counts: 'weighted' } as const
    expect(coded('sampling-differs', sampled(200, 0.1), sampled(400, 0.2), options)).toEqual([])
    const { structural } = compare(makeSpans(sampled(200, 0.1)), makeSpans(sampled(400, 0.2)))
    expect([...structural.changes]).toEqual([200])
    const weighted = compare(
      makeSpans(sampled(200, 0.1)),
      makeSpans(sampled(400, 0.2)),
      options,
    ).structural
    expect([...weighted.changes]).toEqual([0])
  })

  test('a type is compared with itself: another mix of types is not another sampling', () => {
    const period = (list: number, buy: number) => [
      ...sampled(list, 0.01, 'list'),
      ...sampled(buy, 1, 'buy'),
    ]
    expect(coded('sampling-differs', period(300, 100), period(100, 300))).toEqual([])
  })

  test('silent when every probability is nearly the same', () => {
    expect(coded('sampling-differs', sampled(100, 0.1), sampled(100, 0.105))).toEqual([])
  })

  test('silent when none was recorded', () => {
    expect(coded('sampling-differs', sampled(100), sampled(300))).toEqual([])
  })

  test('of a period that does not say, even with weighted counts', () => {
    const [found] = coded('sampling-differs', sampled(100, 0.1), sampled(100), {
      counts: 'weighted',
    })
    expect(found?.finding).toBe(
      'The sampling probability was recorded for 100 % of the requests before and 0 % after.',
    )
  })

  test('silent about a few requests that do not say', () => {
    const few = [...sampled(96, 0.1), ...sampled(4, undefined, 'other')]
    expect(coded('sampling-differs', sampled(100, 0.1), few)).toEqual([])
  })
})
