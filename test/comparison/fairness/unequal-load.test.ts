import { describe, expect, test } from 'vitest'
import type { ComparisonOptions } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { chains, every, makeGraphs, makeSpans, NOON_US, requestsAt } from '../../make-traces.ts'
import { coded } from './coded.ts'

/** Of each period, how many requests took the longer way and how many the shorter one. */
function load(
  [missesBefore, hitsBefore]: readonly [number, number],
  [missesAfter, hitsAfter]: readonly [number, number],
  options: Partial<ComparisonOptions> = {},
) {
  const requests = (misses: number, hits: number) =>
    makeGraphs([
      ...chains(['READ', 'MISS', 'REPLY'], new Array(misses).fill(2)),
      ...chains(['READ', 'HIT', 'REPLY'], new Array(hits).fill(1)),
    ])
  return coded(
    'unequal-load',
    requests(missesBefore, hitsBefore),
    requests(missesAfter, hitsAfter),
    options,
  )
}

describe('unequal-load', () => {
  test('says how many categories the load alone would make mutations', () => {
    expect(load([100, 900], [150, 1350])).toEqual([
      {
        code: 'unequal-load',
        finding: 'There are 1,000 requests before and 1,500 after.',
        effect:
          'Every category gains requests with the load, which alone lifts 1 of 2 categories over ' +
          'the threshold of 50 requests, as structural mutations.',
        answer:
          "Compare periods of equal load, scale counts with `counts: 'scaled'`, " +
          "or test shares instead of counts with `smPThreshold: 'auto'`.",
        advice: { counts: 'scaled', smPThreshold: 'auto' },
        message: 'There are 1,000 requests before and 1,500 after.',
        detail: expect.stringMatching(/^Every.* mutations\. Compare/),
      },
    ])
  })

  test('says from which rate to which the load grew, where requests surely come more often', () => {
    const random = randomSource(1)
    const period = (count: number, eachUs: number, fromUs: number) => {
      let nowUs = fromUs
      return makeSpans(
        Array.from({ length: count }, (_, i) => {
          nowUs -= eachUs * Math.log(1 - random.next())
          return { id: 'web', trace: `t${i}`, startUs: nowUs, endUs: nowUs + 1000 }
        }),
      )
    }
    const twice = coded('unequal-load', period(500, 1e5, NOON_US), period(1000, 5e4, NOON_US + 1e9))
    expect(twice[0]?.finding).toMatch(
      /: load grew from (9|1\d)(\.\d+)? to (19|2\d)(\.\d+)? requests a second\.$/,
    )
    expect(twice[0]?.effect).toMatch(/^Under more load, services short of workers/)
    // Twice as long as before, with as many requests a second.
    const longer = coded(
      'unequal-load',
      period(500, 1e5, NOON_US),
      period(1000, 1e5, NOON_US + 1e9),
    )
    expect(longer[0]?.finding).toBe('There are 500 requests before and 1,000 after.')
  })

  test('less load would make precursors', () => {
    expect(load([150, 1350], [100, 900])[0]?.effect).toContain(
      'loses requests with the load, which alone lifts 1 of 2 categories over the threshold of 50 requests, as precursors',
    )
  })

  test('a change of exactly the threshold passes in no category', () => {
    expect(load([100, 100], [150, 150])[0]?.effect).toContain('none of 2 categories over')
    expect(load([100, 100], [150, 150], { smPThreshold: 49 })[0]?.effect).toContain('2 of 2')
  })

  test('silent up to a tenth more or less', () => {
    expect(load([50, 50], [55, 55])).toEqual([])
    expect(load([55, 55], [50, 50])).toEqual([])
    expect(load([50, 50], [56, 55])).toHaveLength(1)
    expect(load([56, 55], [50, 50])).toHaveLength(1)
  })

  test('silent where options answer it already', () => {
    expect(load([100, 100], [300, 300], { counts: 'scaled' })).toEqual([])
    expect(load([100, 100], [300, 300], { smPThreshold: 'auto' })).toEqual([])
  })

  test('weighted counts answer it only where weights were recorded', () => {
    expect(load([100, 100], [300, 300], { counts: 'weighted' })).toHaveLength(1)
    const requests = (count: number) => requestsAt(every(100, count), { probability: 0.5 })
    expect(coded('unequal-load', requests(100), requests(200), { counts: 'raw' })).toHaveLength(1)
    expect(coded('unequal-load', requests(100), requests(200), { counts: 'weighted' })).toEqual([])
  })

  test('of an empty period no category is counted', () => {
    expect(load([0, 0], [30, 30])[0]?.effect).toContain('none of 2 categories')
  })

  test('speaks of one request in the singular', () => {
    const [found] = load([1, 0], [3, 0])
    expect(found?.finding).toBe('There is 1 request before and 3 after.')
  })
})
