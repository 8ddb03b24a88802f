import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import {
  accounting,
  certainty,
  chanceText,
  headline,
  intervalText,
  power,
  powerNote,
  shareText,
} from '../../../src/explain/headline.ts'
import { mutationRows } from '../../../src/views/report/comparison-report.ts'
import { compareShops } from '../../compare/findings/fixture.ts'
import { makeSpans } from '../../make-traces.ts'
import { chain, comparisonOf, smallComparison, upFrom } from '../charts/fixture.ts'

describe('the headline', () => {
  test('says how much longer the mean request takes, and that a finding accounts for it', () => {
    const { title, sentences, shifts } = headline(compareShops({}, { stockUs: 1600 }))
    expect(title).toMatch(/^Requests take \d{3} µs longer on average \(\d\d %\)$/)
    expect(sentences[0]).toMatch(
      /^The mean request took .* before and .* after, the median request .*, over 300 requests before and 300 after\.$/,
    )
    expect(sentences[1]).toMatch(/^1 change found; it explains (over )?\d+ % of the slowdown\.$/)
    const [mean, median] = shifts
    expect(mean?.interval[0]).toBeGreaterThan(0)
    expect(mean?.interval[0]).toBeLessThan(mean?.shiftUs ?? 0)
    expect(median?.afterUs).toBeCloseTo((median?.beforeUs ?? 0) + (median?.shiftUs ?? 0), 6)
  })

  test('turns to the other direction when the periods are swapped', () => {
    const { title, shifts } = headline(compareShops({ stockUs: 1600 }, {}))
    expect(title).toMatch(/^Requests take \d{3} µs less on average \(\d\d %\)$/)
    expect(shifts[0]?.shiftUs).toBeLessThan(0)
  })

  test('says how many times as long from twice on', () => {
    const slow = comparisonOf(
      chain(['A', 'B'], upFrom(100, 30)),
      chain(['A', 'B'], upFrom(900, 30)),
    )
    expect(headline(slow).title).toBe(
      'Requests take 800 µs longer on average: 8 times as long as before',
    )
  })

  test('is the median where a few extreme requests hide the change of the mean', () => {
    const extreme = [40_000, 1, 80_000]
    const before = chain(['A', 'B'], [...upFrom(100, 60), ...extreme])
    const after = chain(['A', 'B'], [...upFrom(300, 60), ...extreme])
    expect(headline(comparisonOf(before, after)).title).toBe(
      'The median request takes 200 µs longer: 2.5 times as long as before',
    )
  })

  test('is the requests of the first finding where the change of all may be chance', () => {
    const extreme = chain(['A', 'B'], [...upFrom(100, 300), 4e7, 1, 8e7])
    const few = (timeUs: number) => [...extreme, ...chain(['C', 'D'], upFrom(timeUs, 30))]
    expect(headline(comparisonOf(few(100), few(900))).title).toBe(
      '30 of 333 requests take 800 µs longer',
    )
  })

  test('says that nothing was found, and that chance alone does as much', () => {
    const { title, sentences } = headline(compareShops({}, {}))
    expect(title).toBe('No change found')
    expect(sentences[1]).toMatch(
      /^Chance alone can explain the difference\. With 300 requests before, 300 after, changes under [\d.]+ µs may be missed\.$/,
    )
  })

  test('has nothing to compare when a period is empty', () => {
    const head = headline(comparisonOf([], chain(['A', 'B'], [1, 2])))
    expect(head).toEqual({
      title: 'Nothing to compare: a period has no requests',
      sentences: ['There are 0 requests before and 2 after.'],
      shifts: [],
    })
    expect(certainty(head.shifts)).toBe('')
  })
})

describe('the accounting', () => {
  test('findings, mix and rest are the observed change, in all and per request', () => {
    const comparison = compareShops({}, { stockUs: 1300, payUs: 2600 })
    const { findings, others, observed } = accounting(comparison)
    expect(findings.map(({ rank }) => rank)).toEqual([1, 2])
    const parts = [...findings, ...others]
    const sum = (value: (part: (typeof parts)[number]) => number) =>
      parts.reduce((total, part) => total + value(part), 0)
    expect(sum(({ totalUs }) => totalUs)).toBeCloseTo(observed.totalUs, 3)
    expect(sum(({ perRequestUs }) => perRequestUs)).toBeCloseTo(observed.perRequestUs, 6)
    expect(sum(({ share }) => share)).toBeCloseTo(1, 9)
    expect(observed.totalUs).toBe(comparison.findings.observedChangeUs)
    expect(observed.perRequestUs).toBe(observed.totalUs / 300)
  })

  test('of weighted counts is per request that is stood for, as the headline is', () => {
    const period = (slowerUs: number) =>
      makeSpans(
        Array.from({ length: 400 }, (_, i) => {
          const [isRare, startUs] = [i % 2 === 1, i * 1e6]
          const endUs = startUs + 2000 + ((i * 37) % 100) + (isRare ? slowerUs : 0)
          const service = isRare ? 'rare' : 'usual'
          const probability = isRare ? 0.1 : 1
          return { id: 'root', trace: `${slowerUs}-${i}`, service, startUs, endUs, probability }
        }),
      )
    const comparison = compare(period(0), period(1000), { counts: 'weighted' })
    const { findings, others, observed } = accounting(comparison)
    const { sentences, shifts } = headline(comparison)
    expect(observed.perRequestUs).toBeCloseTo(shifts[0]?.shiftUs as number, 6)
    expect(observed.perRequestUs).toBeCloseTo((1000 * 2000) / 2200, 6)
    const [finding] = findings
    const otherUs = others.reduce((sum, { perRequestUs }) => sum + perRequestUs, 0)
    expect((finding?.perRequestUs as number) + otherUs).toBeCloseTo(observed.perRequestUs, 6)
    expect(sentences[0]).toMatch(
      /over 2,200 \(400 recorded\) requests before and 2,200 \(400 recorded\) after\.$/,
    )
  })

  test('has no shares of no change', () => {
    const same = chain(['A', 'B'], upFrom(1, 10))
    expect(accounting(comparisonOf(same, same)).observed).toMatchObject({
      totalUs: 0,
      share: Number.NaN,
    })
  })
})

describe('what would have been seen', () => {
  test('is smaller with more requests, and is told by what requests begin with', () => {
    const few = power(compareShops({ requests: 60 }, { requests: 60 }), 5)
    const many = power(compareShops({ requests: 600 }, { requests: 600 }), 5)
    expect(many.kinds[0]?.shiftUs).toBeLessThan(few.kinds[0]?.shiftUs ?? 0)
    expect(many.kinds.map(({ after }) => after)).toEqual([600])
    expect(powerNote(many)).toContain(
      '1 of 1 type has enough requests for a test: 100 % of the requests after',
    )
  })

  test('is nothing where no kind has enough requests', () => {
    const known = power(comparisonOf(chain(['A', 'B'], [1, 2]), chain(['A', 'B'], [1, 2])), 5)
    expect(known).toMatchObject({ kinds: [], testableKinds: 0, allKinds: 1, testableShare: 0 })
  })
})

test('mutations are rows: other time against the same kind, other work against what it was', () => {
  const rows = mutationRows(smallComparison(), 10)
  expect(rows).toMatchObject([
    { rank: 1, kind: 'structural', name: 'GET', category: 3, beforeUs: 55.5, afterUs: 9005.5 },
    {
      rank: 2,
      kind: 'response-time',
      name: 'WRITE',
      category: 1,
      beforeUs: 1004.5,
      afterUs: 3004.5,
    },
  ])
  expect(mutationRows(smallComparison(), 1)).toHaveLength(1)
  const [unknown] = mutationRows(
    comparisonOf([], chain(['A', 'B'], upFrom(1, 9)), { smPThreshold: 5 }),
    10,
  )
  expect(unknown).toMatchObject({
    beforeUs: Number.NaN,
    afterUs: 5,
    interval: [Number.NaN, Number.NaN],
  })
})

test('amounts are said as a person would', () => {
  expect([0.714, -0.06, -0.004, 0, Number.NaN].map(shareText)).toEqual([
    '71 %',
    '−6 %',
    'under 1 %',
    '0 %',
    '–',
  ])
  expect([1e-9, 0.0341, Number.NaN].map(chanceText)).toEqual(['under 0.001', '0.034', '–'])
  expect(intervalText([-8.2, 1042.4])).toBe('−8.2 µs to +1.04 ms')
  expect(intervalText([Number.NaN, 3])).toBe('–')
  expect(intervalText([1007.7, 1010.4])).toBe('+1.01 ms ± 1.35 µs')
  expect(intervalText([3, 3])).toBe('+3 µs')
})
