import { expect, test } from 'vitest'
import { SAMPLE_TESTS } from '../../../src/compare/mutations/compare-samples.ts'
import {
  edgeTimesChart,
  responseTimesChart,
  stepTimesChart,
} from '../../../src/views/charts/response-times.ts'
import { simulateIncident } from '../../compare/segments/incident.ts'
import {
  chain,
  comparisonOf,
  dataOf,
  expectDrawable,
  partsOf,
  pick,
  smallComparison,
  upFrom,
} from './fixture.ts'

const WRITE = 1

test('the rows are the steps of both distributions, from end to end of the axis', () => {
  const { responseTime } = comparisonOf(
    chain(['A', 'B'], [10, 20, 20, 40]),
    chain(['A', 'B'], [30, 50]),
  )
  expect(dataOf(responseTimesChart(responseTime, { category: 0 }))[0]).toEqual([
    { period: 'before', timeUs: 10, share: 0 },
    { period: 'before', timeUs: 10, share: 0.25 },
    { period: 'before', timeUs: 20, share: 0.75 },
    { period: 'before', timeUs: 40, share: 1 },
    { period: 'before', timeUs: 50, share: 1 },
    { period: 'after', timeUs: 10, share: 0 },
    { period: 'after', timeUs: 30, share: 0.5 },
    { period: 'after', timeUs: 50, share: 1 },
    { period: 'after', timeUs: 50, share: 1 },
  ])
})

test.each(SAMPLE_TESTS.filter((one) => one !== 'ks'))(
  'of the test %s, its own result is told',
  (test) => {
    const { responseTime } = smallComparison().with({ test })
    for (const { description } of [
      responseTimesChart(responseTime, { category: WRITE }),
      edgeTimesChart(responseTime, { category: WRITE }),
    ]) {
      expect(description).not.toMatch(/NaN|KS/)
      expect(description).toMatch(/^Median .*\. .*test.*: .* = -?[\d.,]+( ms)?, p /i)
    }
  },
)

test('the largest gap is marked and said in words', () => {
  const chart = responseTimesChart(smallComparison().responseTime, { category: WRITE })
  expect(chart.title).toBe('Response times of WRITE (category 1)')
  expect(chart.description).toBe(
    'After is slower: by 1.01 ms, 100 % of the requests before and 0 % of those after had ' +
      'finished. KS test: D = 1.00, p = 2e-5; significant at the 5 % level; 10 requests before, ' +
      '10 after.',
  )
  expect(dataOf(chart)[1]).toEqual([
    {
      timeUs: 1009,
      textUs: 1009,
      low: 0,
      high: 1,
      middle: 0.5,
      text: 'D = 1.00 at 1.01 ms',
      p: 'p < 0.001',
      finishedBefore: '100 %',
      finishedAfter: '0 %',
    },
  ])
  expectDrawable(chart)
})

test('swapped periods are faster', () => {
  const slow = chain(['A', 'B'], upFrom(100, 10))
  const quick = chain(['A', 'B'], upFrom(10, 10))
  const { description } = responseTimesChart(comparisonOf(slow, quick).responseTime, {
    category: 0,
  })
  expect(description).toContain('After is faster: by 19 µs, 0 % of the requests before')
})

test('too few requests are no finding', () => {
  const before = chain(['A', 'B'], upFrom(100, 8))
  const after = chain(['A', 'B'], upFrom(900, 8))
  const chart = responseTimesChart(comparisonOf(before, after).responseTime, { category: 0 })
  expect(chart.description).toBe(
    'Largest gap: by 107 µs, 100 % of the requests before and 0 % of those after had finished. ' +
      'Too few requests for a test: 8 requests before, 8 after.',
  )
  expectDrawable(chart)
})

test('equal samples have no gap to mark', () => {
  const same = chain(['A', 'B'], upFrom(100, 10))
  const chart = responseTimesChart(comparisonOf(same, same).responseTime, { category: 0 })
  const [, ...others] = dataOf(chart)
  expect(others).toEqual([[{ note: 'before and after are one line' }]])
  expect(chart.description).toContain('Response times are the same in both periods.')
  expectDrawable(chart)
})

test('curves that cross are not called the same', () => {
  const { responseTime } = comparisonOf(chain(['A', 'B'], [5]), chain(['A', 'B'], [1, 9]))
  const chart = responseTimesChart(responseTime, { category: 0 })
  expect(responseTime.test(0).direction).toBe('none')
  expect(chart.description).toContain(
    'Largest gap: by 1 µs, 0 % of the requests before and 50 % of those after had finished.',
  )
  expect(pick(dataOf(chart)[1], 'timeUs', 'low', 'high')).toEqual([[1, 0, 0.5]])
})

test('a corrected test tells q as well', () => {
  const options = { correction: 'bh' } as const
  const before = chain(['A', 'B'], upFrom(100, 10))
  const { responseTime } = comparisonOf(before, chain(['A', 'B'], upFrom(200, 10)), options)
  expect(responseTimesChart(responseTime, { category: 0 }).description).toContain(
    'p = 2e-5, p = 2e-5 corrected;',
  )
})

test('a period without requests is missing, not NaN', () => {
  const { responseTime } = comparisonOf(chain(['A', 'B'], [5, 6]), [])
  const chart = responseTimesChart(responseTime, { category: 0 })
  expect(new Set(pick(dataOf(chart)[0], 'period').flat())).toEqual(new Set(['before']))
  expect(chart.description).toContain('No requests of this category after')
  expectDrawable(chart)
})

test('one request, and one that took no time', () => {
  const { responseTime } = comparisonOf(chain(['A', 'B'], [0]), chain(['A', 'B'], [0]))
  expectDrawable(responseTimesChart(responseTime, { category: 0 }))
})

test('times that span more than 50 times have a logarithmic axis', () => {
  const { responseTime } = comparisonOf(chain(['A', 'B'], [1, 100]), chain(['A', 'B'], [5, 9000]))
  const chart = responseTimesChart(responseTime, { category: 0 })
  expect(JSON.stringify(chart.spec)).toContain('"type":"log"')
  const svg = expectDrawable(chart)
  expect(svg).toContain('>10 µs<')
  expect(svg).toContain('>1 ms<')
})

test('100,000 requests are thinned to some 500 steps a curve, by less than can be seen', {
  tags: 'full',
}, () => {
  const times = Array.from({ length: 100_000 }, (_, i) => 1000 + Math.sqrt(i) * 7)
  const { responseTime } = comparisonOf(chain(['A', 'B'], times), chain(['A', 'B'], times))
  const chart = responseTimesChart(responseTime, { category: 0 })
  expect(dataOf(chart)[0]?.length).toBeLessThan(1100)
  expect(dataOf(chart)[0]?.length).toBeGreaterThan(900)
})

test('a category that is not there is refused', () => {
  expect(() => responseTimesChart(smallComparison().responseTime, { category: 9 })).toThrow(
    'There is no category 9; there are 0 to 3.',
  )
})

test('the chart of an edge takes the one that changed most, with its own test', () => {
  const through = (us: number) =>
    upFrom(us, 20).map((time) => ({
      labels: ['A', 'B', 'C'],
      edges: [
        [0, 1],
        [1, 2],
      ] as const,
      latencyUs: [5, time],
    }))
  const { responseTime } = comparisonOf(through(10), through(100))
  const chart = edgeTimesChart(responseTime)
  expect(chart.title).toBe('B → C (category 0)')
  expect(chart.description).toContain('100 % of the requests before and 0 % of those after were')
  expect(edgeTimesChart(responseTime, { edge: 0 }).title).toBe('A → B (category 0)')
  expect(() => edgeTimesChart(responseTime, { edge: 7 })).toThrow('Option edge is 7. Give 0 to 1.')
})

test('of folded flows, rounds can be drawn one by one', () => {
  const rounds = (us: number) =>
    upFrom(us, 12).map((time) => ({
      labels: ['ROOT', ...Array(3).fill(['X', 'Y']).flat()] as string[],
      edges: upFrom(0, 6).map((from) => [from, from + 1] as const),
      latencyUs: [1, time, 2, time + 50, 2, time],
    }))
  const { responseTime, categories } = comparisonOf(rounds(10), rounds(300), { fold: 'exact' })
  const { edgeClasses } = categories.structure(0)
  const edge = edgeClasses.findIndex(({ from, to }) => from === 'X' && to === 'Y')
  const chart = edgeTimesChart(responseTime, { category: 0, edge, each: 'round' })
  expect(chart.description).toContain('Median 18 µs → 308 µs: 36 rounds before, 36 after')
  const ends = dataOf(chart)[0]?.filter(({ period }) => period === 'before') ?? []
  expect([ends[1]?.['timeUs'], ends.at(-2)?.['timeUs']]).toEqual([10, 10 + 11 + 50])
  expectDrawable(chart)
})

test('the chart of a step draws what a finding of a segment is about', () => {
  const comparison = simulateIncident({
    seed: 1,
    requests: 3000,
    effectOf: ({ tier }) => ({ factor: tier === 'enterprise' ? 6 : 1 }),
  })
  const [{ id = '', segment } = {}] = comparison.findings.findings
  const chart = stepTimesChart(comparison)
  expect(chart.title).toBe('store: query, where tenant.tier = enterprise')
  const { before = 0, after = 0 } = segment?.inside ?? {}
  expect(chart.description).toMatch(
    new RegExp(`^Median .* ms → .* ms: ${before} requests before, ${after} after, p < 1e-6\\.$`),
  )
  expect(stepTimesChart(comparison, { finding: id })).toEqual(chart)
  expectDrawable(chart)
  expect(() => stepTimesChart(comparison, { finding: 'x' })).toThrow(
    `Option finding is "x". Give ${id}.`,
  )
  const nothing = stepTimesChart(smallComparison())
  expect(nothing.description).toBe('No finding rests on a step.')
  expectDrawable(nothing)
})

test('the gap is named beside its line where there is room before the next curve', () => {
  const sided = (before: number[], after: number[]) => {
    const { responseTime } = comparisonOf(chain(['A', 'B'], before), chain(['A', 'B'], after))
    const marks = partsOf(responseTimesChart(responseTime, { category: 0 }).spec)
    return marks.find(([key]) => key === 'align')?.[1]
  }
  const slow = [...upFrom(900, 19), 1500]
  const spread = Array.from({ length: 20 }, (_, i) => 100 + 42 * i)
  // The gap ends at 898 µs, near the curve after; then at 119 µs, near the curve before.
  expect(sided(spread, slow)).toBe('right')
  expect(sided(upFrom(100, 20), slow)).toBe('left')
})

test('the name of a gap between close curves stands beyond both', () => {
  const times = [...upFrom(100, 19), 1500]
  const { responseTime } = comparisonOf(
    chain(['A', 'B'], times),
    chain(
      ['A', 'B'],
      times.map((us) => us + 15),
    ),
  )
  const chart = responseTimesChart(responseTime, { category: 0 })
  const [gap] = dataOf(chart)[1] as { timeUs: number; textUs: number }[]
  expect(gap?.textUs).toBeGreaterThan(gap?.timeUs as number)
  expectDrawable(chart)
})
