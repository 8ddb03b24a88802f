import { describe, expect, test } from 'vitest'
import { counted, percent, pValue, shortText } from '../../../src/core/words.ts'
import { ecdf } from '../../../src/stats/ecdf.ts'
import { linearDurationAxis, logDurationAxis, logTicks } from '../../../src/views/charts/axes.ts'
import { shareAt, thinnedSteps } from '../../../src/views/charts/ecdf-curves.ts'
import { lanesOf, longestPause } from '../../../src/views/charts/lanes.ts'
import { brokenInto, textWidth } from '../../../src/views/charts/text-width.ts'

describe('an axis of durations', () => {
  test('has round steps in the unit of its largest value', () => {
    const { axis, domain } = linearDurationAxis({ lowUs: 1200, highUs: 3900, title: 't' })
    expect(axis['values']).toEqual([1000, 1500, 2000, 2500, 3000, 3500, 4000])
    expect(axis['labelExpr']).toContain("' ms'")
    expect(domain).toEqual([1000, 4000])
  })

  test('counts minutes in minutes', () => {
    const { axis } = linearDurationAxis({ lowUs: 0, highUs: 300e6, title: 't' })
    expect(axis['values']).toEqual([0, 60e6, 120e6, 180e6, 240e6, 300e6])
  })

  test('without nice, ends where the data end', () => {
    const { axis, domain } = linearDurationAxis({ lowUs: -3, highUs: 11, title: 't', nice: false })
    expect(domain).toEqual([-3, 11])
    expect(axis['values']).toEqual([-2, 0, 2, 4, 6, 8, 10])
  })

  test('has room for a single value', () => {
    expect(linearDurationAxis({ lowUs: 7, highUs: 7, title: 't' }).domain).toEqual([7, 8])
  })

  test('has decades when logarithmic', () => {
    const { axis, scale } = logDurationAxis({ lowUs: 90, highUs: 2e6, title: 't' })
    expect(axis['values']).toEqual([100, 1000, 10_000, 100_000, 1_000_000])
    expect(scale.type).toBe('log')
  })

  test('has steps between few decades, and not every one of many', () => {
    expect(logTicks(1, 30)).toEqual([1, 2, 5, 10, 20])
    expect(logTicks(1e-9, 1e9)).toEqual([1e-8, 1e-6, 1e-4, 0.01, 1, 100, 1e4, 1e6, 1e8])
  })
})

describe('texts in lines', () => {
  test('leave no word alone, where words allow it', () => {
    const text = 'one two three four five six seven eight nine'
    expect(brokenInto(text, textWidth('one two three four five six seven eight', 1))).toEqual([
      'one two three four five six',
      'seven eight nine',
    ])
  })

  test('keep signs and units with their numbers', () => {
    expect(brokenInto('takes 20 ms longer, p < 0.05', 1)).toEqual([
      'takes',
      '20 ms',
      'longer,',
      'p < 0.05',
    ])
  })
})

describe('thinned steps', () => {
  test('keep all of a short curve', () => {
    expect(thinnedSteps(ecdf([1, 2, 2]), 10)).toEqual([
      [1, 1 / 3],
      [2, 1],
    ])
  })

  test('are nowhere further from the curve than 1 / limit', () => {
    const sample = Array.from({ length: 100_000 }, (_, i) => Math.exp(((i * 7919) % 100_000) / 1e4))
    const full = ecdf(sample)
    const steps = thinnedSteps(full, 500)
    expect(steps.length).toBeLessThan(510)
    expect(steps[0]?.[0]).toBe(full.x[0])
    expect(steps.at(-1)).toEqual([full.x.at(-1), 1])
    let at = 0
    let furthest = 0
    full.x.forEach((x, i) => {
      while (at + 1 < steps.length && (steps[at + 1]?.[0] as number) <= x) at++
      furthest = Math.max(furthest, (full.y[i] as number) - (steps[at]?.[1] as number))
    })
    expect(furthest).toBeLessThanOrEqual(1 / 500)
  })

  test('a share is 0 before the first value and includes the value itself', () => {
    const curve = ecdf([10, 20])
    expect([9, 10, 15, 20, 99].map((x) => shareAt(curve, x))).toEqual([0, 0.5, 0.5, 1, 1])
    expect(shareAt(ecdf([]), 5)).toBe(0)
  })
})

describe('lanes', () => {
  test('a request may follow in the lane of one that ends as it begins', () => {
    const { lanes, count } = lanesOf([
      { startUs: 0, endUs: 5 },
      { startUs: 1, endUs: 9 },
      { startUs: 5, endUs: 6 },
      { startUs: 8, endUs: 9 },
    ])
    expect([...lanes]).toEqual([0, 1, 0, 0])
    expect(count).toBe(2)
  })

  test('a pause is the time with nothing under way', () => {
    const stretches = [
      { startUs: 0, endUs: 50 },
      { startUs: 10, endUs: 20 },
      { startUs: 57, endUs: 60 },
      { startUs: 63, endUs: 64 },
    ]
    expect(longestPause(stretches)).toEqual({ fromUs: 50, lengthUs: 7 })
    expect(longestPause([])).toEqual({ fromUs: 0, lengthUs: 0 })
  })
})

describe('texts from traces', () => {
  test('long ones keep both ends', () => {
    expect(shortText('recommendation-7d9f/ListRecommendations', 16)).toBe('recommen…dations')
    expect(shortText('short', 16)).toBe('short')
  })

  test('what does not print becomes a space', () => {
    expect(shortText('a\nb\u202ec\u0000\ud800d', 99)).toBe('a b c d')
  })

  test('characters outside the first plane are not cut in two', () => {
    expect(shortText('😀😀😀😀', 3)).toBe('😀…😀')
  })
})

test('numbers are said as people say them', () => {
  expect(counted(1, 'request')).toBe('1 request')
  expect(counted(1602, 'category', 'categories')).toBe('1,602 categories')
  expect([0, 0.001, 0.5, 0.999, 1].map(percent)).toEqual([
    '0 %',
    'under 1 %',
    '50 %',
    'over 99 %',
    '100 %',
  ])
  expect([0, 0.0432, 0.41, 0.999].map((p) => pValue(p))).toEqual([
    'p < 0.001',
    'p = 0.043',
    'p = 0.41',
    'p > 0.99',
  ])
})
