import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
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
    const [found] = coded('sampling-differs', sampled(200, 0.1), sampled(400, 0.2), {
      counts: 'raw',
    })
    expect(found?.finding).toBe(
      'The sampling probability changed: web call: one in 10 before, one in 5 after.',
    )
    expect(found?.effect).toContain(
      '200 recorded requests stand for 2,000 before, 400 recorded requests stand for 2,000 after',
    )
    expect(found?.answer).toBe("Count each request by its weight with `counts: 'weighted'`.")
    expect(found?.advice).toEqual({ counts: 'weighted' })
  })

  test.each([{}, { counts: 'weighted' }] as const)(
    'weighted counts, the default, answer it, and then nothing changed: %o',
    (options) => {
      expect(coded('sampling-differs', sampled(200, 0.1), sampled(400, 0.2), options)).toEqual([])
      const changes = (given: Parameters<typeof compare>[2]) =>
        Array.from(
          compare(makeSpans(sampled(200, 0.1)), makeSpans(sampled(400, 0.2)), given).structural
            .changes,
        )
      expect(changes({ counts: 'raw' })).toEqual([200])
      expect(changes(options)).toEqual([0])
    },
  )

  test('by default, requests of which a period does not say how many they stand for count once', () => {
    const counted = (before: SpanSketch[], after: SpanSketch[]) => {
      const { flows } = compare(makeSpans(before), makeSpans(after))
      return [flows.countedIn(0), flows.countedIn(1)]
    }
    expect(counted(sampled(100, 0.1), sampled(50, 0.5))).toEqual([1000, 100])
    expect(counted(sampled(100, 0.1), sampled(50))).toEqual([100, 50])
    expect(counted(sampled(100, 1), sampled(50, 1))).toEqual([100, 50])
    const half = [...sampled(100, 0.1), ...sampled(50, undefined, 'other')]
    expect(counted(half, sampled(50, 0.1))).toEqual([1050, 500])
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
