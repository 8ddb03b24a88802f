import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { weighedSpans } from '../../make-traces.ts'
import { call, requestSpans } from '../../worlds.ts'

interface Request {
  readonly weight: number
  readonly fails: boolean
  /** How often it asks the database, and whether it then asks the cache. */
  readonly queries: number
  readonly isCached: boolean
  readonly tenant?: string
}

/** @param isRepeated each request as often as it weighs, instead of once with its weight */
function period(all: readonly Request[], fromUs: number, isRepeated = false) {
  const given = { isRepeated, fromUs, everyUs: 1e5 }
  return weighedSpans(all, given, ({ fails, queries, isCached, tenant }, root) => {
    const calls = Array.from({ length: queries }, () => call('db get', 100, { fails, gapUs: 100 }))
    const attributes: Record<string, string> = tenant === undefined ? {} : { tenant }
    const { trace, startUs, ...weight } = root
    const cache = isCached && call('cache get', 100, { gapUs: 100 })
    const web = call('web', 2000, { ...weight, fails, attributes }, [...calls, cache])
    return requestSpans(web, trace, startUs)
  })
}

function requests(seed: number, more: number): Request[] {
  const random = randomSource(seed)
  return Array.from({ length: 300 }, () => {
    const fails = random.next() < 0.1 + more
    return {
      fails,
      weight: fails ? 1 : 1 + Math.floor(random.next() * 4),
      queries: 1 + Math.floor(random.next() * 2 + 2 * more),
      isCached: random.next() < 0.5 - more,
    }
  })
}

/** Columns that tell how much, without those that tell how sure. */
function amounts(table: { objects(): object[] }) {
  const left = new Set('difference p q changed why'.split(' '))
  const rows = table
    .objects()
    .map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !left.has(name))))
  return rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

test('failures and calls of a request of weight w are those of w requests, and less sure', () => {
  const all = [requests(1, 0), requests(2, 0.2)] as const
  const of = (isRepeated: boolean) =>
    compare(period(all[0], 0, isRepeated), period(all[1], 1e9, isRepeated), {
      counts: isRepeated ? 'raw' : 'weighted',
    }).steps
  const [weighted, repeated] = [of(false), of(true)]
  expect(amounts(weighted.errorTable())).toEqual(amounts(repeated.errorTable()))
  expect(amounts(weighted.callTable())).toEqual(amounts(repeated.callTable()))
  const times = ({ repeats }: typeof weighted) =>
    repeats.map(({ call, beforeTimes, afterTimes, made }) => ({
      call,
      beforeTimes,
      afterTimes,
      made,
    }))
  expect(times(weighted)).toEqual(times(repeated))
  expect(times(weighted).length).toBeGreaterThan(0)
  const [worth, most] = [weighted, repeated].map(({ errors: [first] }) => first?.worth)
  expect(worth?.[0]).toBeLessThan(most?.[0] as number)
  expect(worth?.[1]).toBeLessThan(most?.[1] as number)
  expect(weighted.errors[0]?.p).toBeLessThan(0.05)
})

/** Keeps all requests that fail and one in ten of others; or all. */
function tailSampled(isSampled: boolean, rate: number, seed: number): Request[] {
  const random = randomSource(seed)
  const length = isSampled ? 6000 : 1500
  return Array.from({ length }, (): Request & { readonly isKept: boolean } => {
    const fails = random.next() < rate
    const weight = isSampled && !fails ? 10 : 1
    const isKept = random.next() < 1 / weight
    return { fails, weight, isKept, queries: 1, isCached: fails }
  }).filter(({ isKept }) => isKept)
}

const found = (rate: number, seed: number, counts: 'raw' | 'weighted') =>
  compare(
    period(tailSampled(false, 0.04, seed), 0),
    period(tailSampled(true, rate, seed + 1), 1e9),
    {
      counts,
    },
  ).findings.findings

test('failing requests that are kept while others are thinned out are no finding', () => {
  expect(found(0.04, 10, 'raw').map(({ kind }) => kind)).toContain('errors')
  const falseOnes = [10, 20, 30, 40, 50, 60].map((seed) => found(0.04, seed, 'weighted').length)
  expect(falseOnes.filter((count) => count > 0)).toEqual([])
})

test('and if more fail, the finding counts all requests that the recorded ones stand for', () => {
  const [first] = found(0.2, 10, 'weighted')
  expect(first?.kind).toBe('errors')
  const [call] = first?.calls ?? []
  const rate = (call?.made[1] ?? 0) / (call?.chances[1] ?? 1)
  expect(rate).toBeGreaterThan(0.18)
  expect(rate).toBeLessThan(0.22)
  expect(call?.chances[1]).toBeGreaterThan(5500)
  expect(first?.requests).toBeGreaterThan(800)
})

test('where others than failures are thinned out in both periods, 2.2 % → 6.2 % is a finding', () => {
  const [before, after] = [0.022, 0.062].map((rate, i) =>
    period(tailSampled(true, rate, 70 + i), i * 1e9),
  ) as [ReturnType<typeof period>, ReturnType<typeof period>]
  const [first] = compare(before, after, { counts: 'weighted' }).findings.findings
  expect(first?.kind).toBe('errors')
  expect(first?.size.value).toBeCloseTo(0.04, 2)
})

test('the interval of a rate in JSON is that of as many calls as the weighted ones are worth', () => {
  const headSampled = (rate: number, seed: number) => {
    const random = randomSource(seed)
    return Array.from({ length: 500 }, (): Request => {
      const fails = random.next() < rate
      return { fails, weight: 10, queries: 1, isCached: false }
    })
  }
  const all = [headSampled(0.05, 1), headSampled(0.2, 2)] as const
  const sizes = (['raw', 'weighted'] as const).map((counts) => {
    const { findings } = compare(period(all[0], 0), period(all[1], 1e9), { counts })
    return findings.findings[0]?.size
  })
  expect(sizes[0]?.unit).toBe('rate')
  expect(sizes[1]?.value).toBeCloseTo(sizes[0]?.value as number, 9)
  expect(sizes[1]?.interval[0]).toBeCloseTo(sizes[0]?.interval[0] as number, 9)
  expect(sizes[1]?.interval[1]).toBeCloseTo(sizes[0]?.interval[1] as number, 9)
})

/** Requests of four tenants; after, only those of one fail more, and the sample prefers what fails, of one tenant yet more. */
function ofTenants(after: boolean, rate: number): Request[] {
  const random = randomSource(after ? 8 : 7)
  return Array.from({ length: after ? 8000 : 2000 }, (): Request & { readonly isKept: boolean } => {
    const tenant = ['iron', 'bronze', 'silver', 'gold'][Math.floor(random.next() * 4)] as string
    const fails = random.next() < (after && tenant === 'gold' ? rate : 0.03)
    const weight = !after ? 1 : fails ? 1 : tenant === 'iron' ? 20 : 5
    const isKept = random.next() < 1 / weight
    return { fails, weight, isKept, tenant, queries: 1, isCached: false }
  }).filter(({ isKept }) => isKept)
}

test.each([
  [0.03, []],
  [0.15, ['tenant = gold']],
])('where gold fails at %s after, segments are %s', (rate, told) => {
  const { segments } = compare(
    period(ofTenants(false, rate), 0),
    period(ofTenants(true, rate), 1e9),
    { counts: 'weighted' },
  )
  expect([...new Set(segments.segments.map(({ text }) => text))]).toEqual(told)
  for (const { inside, outside, requests } of segments.segments) {
    const [before, after] = [false, true].map((isAfter) => ofTenants(isAfter, rate))
    const ofGold = (some: Request[] = []) => some.filter(({ tenant }) => tenant === 'gold')
    const weigh = (some: Request[] = []) => some.reduce((sum, { weight }) => sum + weight, 0)
    expect(inside.before).toBe(ofGold(before).length)
    expect(inside.after + outside.after).toBe(weigh(after))
    expect(inside.after).toBe(weigh(ofGold(after)))
    expect(new Set(requests).size).toBe(requests.length)
  }
})
