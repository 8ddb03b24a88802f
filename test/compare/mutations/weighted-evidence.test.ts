import { expect, test } from 'vitest'
import { SAMPLE_TESTS } from '../../../src/compare/mutations/compare-samples.ts'
import { typicalTimeUs } from '../../../src/compare/ranking/rank-mutations.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { AFTER, BEFORE } from '../../../src/flows/flow-set.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { weighedSpans } from '../../make-traces.ts'
import { call, requestSpans } from '../../worlds.ts'

type Request = {
  readonly weight: number
  readonly workUs: number
  readonly dbUs: number
  readonly isRead: boolean
}

/** Reads, and after more writes; slow ones were recorded more often than others, and stand for fewer. */
function requests(after: boolean, count: number, seed: number): Request[] {
  const random = randomSource(seed)
  return Array.from({ length: count }, (_, i) => {
    const isRead = i % (after ? 2 : 3) > 0
    const weight = [1, 2, 4, 8][Math.floor(random.next() * 4)] as number
    const workUs = Math.round(random.logNormal(6, 0.4) + (isRead && after ? 400 : 0) + 500 / weight)
    return { weight, isRead, workUs, dbUs: Math.round(random.logNormal(5, 0.5)) }
  })
}

/** @param isRepeated each request as often as it weighs, instead of once with its weight */
function period(all: readonly Request[], fromUs: number, isRepeated: boolean) {
  const given = { isRepeated, fromUs, everyUs: 1e5 }
  return weighedSpans(all, given, ({ workUs, dbUs, isRead }, { trace, startUs, ...weight }) => {
    const db = call(isRead ? 'db get' : 'db put', dbUs)
    return requestSpans(call('web', workUs, weight, [db]), trace, startUs)
  })
}

const BEFORE_ALL = requests(false, 150, 1)
const AFTER_ALL = requests(true, 220, 2)
const comparison = (
  isRepeated: boolean,
  counts: 'raw' | 'weighted',
  all = [BEFORE_ALL, AFTER_ALL],
) =>
  compare(
    period(all[0] as Request[], 0, isRepeated),
    period(all[1] as Request[], 1e9, isRepeated),
    { counts, smPThreshold: 20 },
  )
const WEIGHTED = comparison(false, 'weighted')
const REPEATED = comparison(true, 'raw')

/** Numbers to nine digits; columns that count what was recorded, or tell of chance, are left out. */
function rows(table: { objects(): object[] }) {
  const left = new Set(
    'before after requests p q significant mutation changed why rejected'.split(' '),
  )
  return table.objects().map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([name]) => !left.has(name))
        .map(([name, value]) => [
          name,
          typeof value === 'number' ? Number(value.toPrecision(9)) : value,
        ]),
    ),
  )
}

test('a request of weight w has the means, variances and C² of w requests', () => {
  expect(rows(WEIGHTED.categories.table())).toEqual(rows(REPEATED.categories.table()))
})

test.each(['mean', 'median', 'trimmed'] as const)(
  'and their %s, in contributions too',
  (centre) => {
    const typical = ({ categories }: typeof WEIGHTED) =>
      [BEFORE, AFTER].map((period) => typicalTimeUs(categories, { category: 0, period, centre }))
    const [was, is] = typical(WEIGHTED)
    expect([was, is]).toEqual(typical(REPEATED).map((time) => expect.closeTo(time, 6)))
    const ranked = (one: typeof WEIGHTED) =>
      one
        .with({ centre })
        .ranking.mutations.map(({ category, kind, requests, contributionUs }) => [
          category,
          kind,
          requests,
          Number(contributionUs.toPrecision(9)),
        ])
    // What is sure of so many requests need not be of the fewer that were recorded.
    expect(ranked(REPEATED)).toEqual(expect.arrayContaining(ranked(WEIGHTED)))
    expect(ranked(WEIGHTED).length).toBeGreaterThan(1)
  },
)

test('their Kolmogorov-Smirnov distance, of response times and of edges, with p of fewer', () => {
  const tests = ({ responseTime }: typeof WEIGHTED) => rows(responseTime.table())
  expect(tests(WEIGHTED)).toEqual(tests(REPEATED))
  const edges = ({ responseTime }: typeof WEIGHTED) => rows(responseTime.edgeTable(0))
  expect(edges(WEIGHTED)).toEqual(edges(REPEATED))
  const p = ({ responseTime }: typeof WEIGHTED) => responseTime.test(0).p
  expect(p(WEIGHTED)).toBeGreaterThan(p(REPEATED))
})

test('their shifts of mean, median and quantiles', () => {
  const shifts = ({ responseTime }: typeof WEIGHTED) => {
    const { meanShiftUs, medianShiftUs, p95ShiftUs, p99ShiftUs } = responseTime.effect(0)
    return [meanShiftUs, medianShiftUs, p95ShiftUs, p99ShiftUs]
  }
  expect(shifts(WEIGHTED)).toEqual(shifts(REPEATED).map((shift) => expect.closeTo(shift, 6)))
  const { interval, medianShiftUs } = WEIGHTED.responseTime.effect(0)
  expect(interval[0]).toBeLessThan(medianShiftUs)
  expect(interval[1]).toBeGreaterThan(medianShiftUs)
})

test('their sources of variance', () => {
  const variance = (one: typeof WEIGHTED) => findVariance(one, { order: 'importance' })
  expect(rows(variance(WEIGHTED).table())).toEqual(rows(variance(REPEATED).table()))
  const edges = (one: typeof WEIGHTED) => rows(variance(one).category(0).table())
  expect(edges(WEIGHTED)).toEqual(edges(REPEATED))
})

test('and where time is spent', () => {
  const spent = (one: typeof WEIGHTED) => rows(one.account.table())
  expect(spent(WEIGHTED)).toEqual(spent(REPEATED))
})

test('where all weights are 1, results are those of raw counts, to the digit', () => {
  const ones = [BEFORE_ALL, AFTER_ALL].map((all) => all.map((one) => ({ ...one, weight: 1 })))
  const told = (counts: 'raw' | 'weighted') => {
    const one = comparison(false, counts, ones)
    const { responseTime, ranking, findings, categories, steps } = one
    return [responseTime, categories, ranking, findings, steps].map((stage) =>
      stage.table().objects(),
    )
  }
  expect(told('weighted')).toEqual(told('raw'))
})

/** One in four was recorded, and after one in sixteen of those that are slow. */
function preferring(after: boolean) {
  const random = randomSource(after ? 6 : 5)
  return Array.from({ length: 4000 }, () => {
    const workUs = Math.round(random.logNormal(6, 0.6))
    const weight = after && workUs > 500 ? 16 : 4
    return { workUs, dbUs: 100, isRead: true, weight, isKept: random.next() < 1 / weight }
  }).filter(({ isKept }) => isKept)
}

const preferred = (counts: 'raw' | 'weighted') =>
  comparison(false, counts, [preferring(false), preferring(true)])

// The slowest hundredth of so few requests tells nothing.
test.each(SAMPLE_TESTS.filter((name) => name !== 'p99'))(
  'the sample preferring fast requests after is no change to the test %s',
  (name) => {
    const p = (counts: 'raw' | 'weighted') =>
      preferred(counts).with({ test: name }).responseTime.test(0).p
    expect(p('raw')).toBeLessThan(1e-3)
    expect(p('weighted')).toBeGreaterThan(0.05)
  },
)

test('nor to findings', () => {
  const found = (counts: 'raw' | 'weighted') => preferred(counts).findings.findings.length
  expect(found('raw')).toBeGreaterThan(0)
  expect(found('weighted')).toBe(0)
})
