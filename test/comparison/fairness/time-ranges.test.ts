import { describe, expect, test } from 'vitest'
import { randomSource } from '../../../src/stats/random.ts'
import { every, NOON_US, requestsAt, type SpanSketch } from '../../make-traces.ts'
import { coded } from './coded.ts'

const MINUTE_US = 60e6
/** Requests that come every second, from so many minutes after noon on. */
const from = (minute: number, count = 600, stepUs = 1e6, trace = `from-${minute}`) =>
  requestsAt(every(stepUs, count, NOON_US + minute * MINUTE_US), { trace })

describe('time-ranges', () => {
  test('of periods that overlap: how long, and how many requests lie in it', () => {
    const [found, ...others] = coded('time-ranges', from(0), from(7.5 + 1 / 120))
    expect(others).toEqual([])
    expect(found?.finding).toBe(
      'The periods overlap for 2.48 min: 149 of 600 (25 %) requests before and 149 of 600 (25 %) after arrived in it.',
    )
  })

  test('asks whether periods are swapped where the after period came first, also if they overlap', () => {
    const asked = (before: SpanSketch[], after: SpanSketch[]) =>
      coded('time-ranges', before, after).flatMap(({ finding }) =>
        finding.endsWith('Are they swapped?') ? finding : [],
      )
    expect(asked(from(30), from(0))).toEqual([
      'The after period ends 20 min before the before period begins. Are they swapped?',
    ])
    expect(asked(from(7.5), from(0))).toEqual([
      'The after period begins 7.5 min before the before period. Are they swapped?',
    ])
    const straggler = from(31, 1, 1e6, 'straggler')
    expect(asked(from(30), [...from(0), ...straggler])).toHaveLength(1)
    expect(asked(from(0), from(7.5))).toEqual([])
    expect(asked(from(4, 60), from(0))).toEqual([])
  })

  test('of an after period that is a part of the before period', () => {
    expect(coded('time-ranges', from(0), from(4 + 1 / 120, 60))[0]?.finding).toContain(
      '60 of 60 (100 %) after',
    )
  })

  test('silent when one period follows the other at once', () => {
    expect(coded('time-ranges', from(0), from(10))).toEqual([])
  })

  test('silent when both were recorded side by side, or in turns', () => {
    expect(coded('time-ranges', from(0), from(1 / 120))).toEqual([])
    const turns = (first: number) =>
      [0, 1, 2, 3].flatMap((turn) => from(2 * turn + first, 60, 1e6, `${first}-${turn}`))
    expect(coded('time-ranges', turns(0), turns(1))).toEqual([])
  })

  test('silent about random halves of 76 requests: by chance one begins or ends later', () => {
    const all = from(0, 76)
    for (let seed = 2; seed <= 50; seed++) {
      const shuffled = randomSource(seed).shuffle(all)
      expect(coded('time-ranges', shuffled.slice(0, 38), shuffled.slice(38))).toEqual([])
    }
  })

  test('of equal counts that took other times', () => {
    const found = coded('time-ranges', from(0), from(30, 600, 3e6))
    expect(found.map(({ finding }) => finding)).toEqual([
      'The before period lasts 9.98 min, the after period 29.9 min, with 1 and 0.333 requests per second.',
    ])
    expect(coded('time-ranges', from(0, 600, 3e6), from(60))).toHaveLength(1)
  })

  test('silent when a longer period has accordingly more requests: their number says it', () => {
    expect(coded('time-ranges', from(0), from(30, 1800))).toEqual([])
  })

  test('the rate of a period with a gap in it is that of the time in which requests came', () => {
    const bursts = (every: number) => [
      ...from(0, 150, every, 'early'),
      ...from(60, 150, every, 'late'),
    ]
    expect(coded('time-ranges', bursts(1e6), from(90, 300))).toEqual([])
    const [found] = coded('time-ranges', bursts(3e6), from(90, 300))
    expect(found?.finding).toBe(
      'The before period lasts 14.9 min without 52.5 min of gaps, the after period 4.98 min, with 0.334 and 1 requests per second.',
    )
  })

  test('silent about a single request, which has no rate', () => {
    expect(coded('time-ranges', from(0, 1), from(30))).toEqual([])
    expect(coded('time-ranges', from(0), from(30, 1))).toEqual([])
  })

  test('silent about few requests: three in one minute, three in three', () => {
    expect(coded('time-ranges', from(0, 3, 30e6), from(30, 3, 90e6))).toEqual([])
  })

  test('silent when times count from nowhere', () => {
    const nowhere = (count: number, stepUs: number) => requestsAt(every(stepUs, count, 0))
    expect(coded('time-ranges', nowhere(600, 1e6), nowhere(600, 3e6))).toEqual([])
    expect(coded('time-ranges', nowhere(600, 1e6), from(0, 600, 3e6))).toEqual([])
  })
})
