import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { power } from '../../../src/explain/headline.ts'
import { listedFindings } from '../../../src/explain/listed-findings.ts'
import { SpanTraces } from '../../../src/traces/span-traces.ts'
import { comparisonText } from '../../../src/views/text/comparison-text.ts'
import { call, record } from '../../worlds.ts'
import { HOSTS, type Period, period as services } from './five-services.ts'

/**
 * 200 requests a second apart: half of them are recorded each, the others (`rare`) one in ten. All
 * that are rare take 1 ms longer after.
 */
function period(after: boolean, probabilities: readonly [usual: number, rare: number] | null) {
  const given = { seed: 1, requests: 400, fromUs: after ? 1000e6 : 0, name: `${after}` }
  return record(given, ({ index: i }) => {
    const isRare = i % 2 === 1
    const us = 2000 + ((i * 37) % 100) + (isRare && after ? 1000 : 0)
    const probability = probabilities?.[isRare ? 1 : 0]
    return call(isRare ? 'rare' : 'usual', us, probability === undefined ? {} : { probability })
  })
}

const PLAIN = compare(period(false, null), period(true, null))
const of = (probabilities: readonly [number, number]) =>
  compare(period(false, probabilities), period(true, probabilities), { counts: 'weighted' })

test('where each request stands for a hundred, all of the ranking and findings grow as much', () => {
  const weighted = of([0.01, 0.01])
  const ranked = ({ ranking }: typeof PLAIN) =>
    ranking.mutations.map(({ kind, requests, contributionUs }) => [kind, requests, contributionUs])
  expect(ranked(weighted)).toEqual(
    ranked(PLAIN).map(([kind, requests, contributionUs]) => [
      kind,
      expect.closeTo(Number(requests) * 100, 6),
      expect.closeTo(Number(contributionUs) * 100, 0),
    ]),
  )
  const [one, plain] = [weighted.findings.findings[0], PLAIN.findings.findings[0]]
  expect([one?.id, one?.q, one?.size]).toEqual([plain?.id, plain?.q, plain?.size])
  expect([one?.requests, plain?.requests]).toEqual([20_000, 200])
  expect(one?.contributionUs).toBeCloseTo(100 * (plain?.contributionUs as number), 0)
  expect(one?.shareOfChange).toBeCloseTo(plain?.shareOfChange as number, 9)
  expect(weighted.findings.summary()).toContain(
    'Together, 40,000 requests (400 of them recorded) took',
  )
})

test('requests that were recorded one in ten count ten times, the others once', () => {
  const weighted = of([1, 0.1])
  const [one] = weighted.findings.findings
  expect(one?.requests).toBe(2000)
  expect(one?.contributionUs).toBeCloseTo(
    10 * (PLAIN.findings.findings[0]?.contributionUs as number),
    0,
  )
  expect(weighted.findings.requests).toBe(2200)
  expect(weighted.findings.observedChangeUs).toBeCloseTo(2000 * 1000, -3)
})

test('mean and median of what is printed are of the requests stood for, and so are counts', () => {
  const comparison = of([1, 0.1])
  const printed = { comparison, limit: 9, budget: 0, explained: null }
  // Ten in eleven of them take 1 ms more after.
  expect(comparisonText(printed, { verbose: false })).toMatch(
    /^2,200 \(400 recorded\) requests before, 2,200 \(400 recorded\) after, in 2 different call structures\nResponse time: mean 2\.05 ms → 2\.96 ms, median 2\.05 ms → 3\.0\d ms\n/,
  )
  expect(listedFindings(comparison)[0]).toMatchObject({
    concerned: [2000, 2000],
    all: [2200, 2200],
  })
  expect(listedFindings(PLAIN)[0]).toMatchObject({ concerned: [200, 200], all: [400, 400] })
})

test('what would have been noticed is told of the requests stood for', () => {
  // Ten times as many are rare.
  const { kinds, testableShare } = power(of([1, 0.1]), 1)
  expect(kinds.map(({ name, before, after }) => [name, before, after])).toEqual([
    ['rare call', 2000, 2000],
  ])
  expect(testableShare).toBe(1)
})

test('what more failures change in all is of the requests stood for', () => {
  const failing = (name: string, every: number, probability?: number) =>
    record({ seed: 1, requests: 200, name }, ({ index: i }) => {
      const fails = i % every === 0
      const weight = probability === undefined ? {} : { probability }
      return call('root', fails ? 1000 : 3000, { fails, ...weight })
    })
  const costUs = (probability?: number) => {
    const periods = [failing('b', 10, probability), failing('a', 4, probability)] as const
    const [first] = compare(...periods, { counts: 'weighted' }).findings.findings
    expect(first).toMatchObject({ kind: 'errors' })
    return first!.contributionUs
  }
  expect(costUs()).toBeCloseTo(-2000 * 30, 6)
  expect(costUs(0.1)).toBeCloseTo(-2000 * 300, 6)
})

const slow = (isSlow: (service: string, host: string) => boolean): Omit<Period, 'seed'> => ({
  slower: (service, host) => (isSlow(service, host) ? 2 : 1),
})
const SLOWER: Readonly<Record<string, Omit<Period, 'seed'>>> = {
  'one service on one host': slow((one, host) => one === 'price' && host === HOSTS[1]),
  'all on one host': slow((_, host) => host === HOSTS[1]),
  'a database': { database: (one) => (one === 'stock' ? 3 : 1) },
}

describe.each([
  { tags: [], whats: ['one service on one host'] },
  { tags: ['full'], whats: ['all on one host', 'a database'] },
])('where each request of five services stands for a hundred', ({ tags, whats }) => {
  test.each(whats)('all that is told is so much: %s takes longer', { tags }, (what) => {
    const changes = SLOWER[what]!
    const [plain, hundredfold] = [1, 100].map((weight) => {
      const [before, after] = [services({ seed: 1 }), services({ seed: 2, ...changes })].map(
        (traces) =>
          new SpanTraces(
            traces.name,
            { ...traces, weight: new Float64Array(traces.size).fill(weight) },
            traces.quality(),
          ),
      ) as [SpanTraces, SpanTraces]
      const { findings } = compare(before, after).findings
      return findings
        .flatMap((one) => [one, ...one.consequences])
        .map(({ title, requests, contributionUs }) => [
          title,
          requests / weight,
          Math.round(contributionUs / weight),
        ])
    }) as [unknown[], unknown[]]
    expect(plain.length).toBeGreaterThan(0)
    expect(hundredfold).toEqual(plain)
  })
})
