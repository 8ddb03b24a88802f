import { describe, expect, test } from 'vitest'
import { COMPARISON_DOCUMENT } from '../../../src/cli/comparison-document.ts'
import { compare } from '../../../src/compare/comparison.ts'
import type { Finding } from '../../../src/compare/findings/finding.ts'
import { findSlowStretch, slowRequests } from '../../../src/compare/findings/slow-stretch.ts'
import { stretchText } from '../../../src/compare/words/slow-words.ts'
import { headline } from '../../../src/explain/headline.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'
import { MINUTES, type Shop, shop } from '../onset/shop.ts'

const LATER_US = NOON_US + MINUTES * 60e6

/** Four minutes of two requests a second, before and after. */
const compared = (after: Omit<Shop, 'seed'>, before: Omit<Shop, 'seed'> = {}, seed = 2) =>
  compare(
    shop('before', NOON_US, { ...before, seed }),
    shop('after', LATER_US, { ...after, seed: seed + 50 }),
  )
const INCIDENT = { slowFrom: 120, slowUntil: 126, slowUs: 900_000 }

describe('six seconds in which stock takes 900 ms longer', () => {
  const comparison = compared(INCIDENT)
  const { findings } = comparison

  test('are no finding, and are told with when, how many, where and the slowest traces', () => {
    expect(findings.findings).toEqual([])
    expect(findings.slowStretch).toMatchObject({
      fromUs: LATER_US + 120e6,
      untilUs: LATER_US + 125.5e6,
      inside: { slow: 12, requests: 12 },
      where: 'stock LOOKUP itself',
    })
    expect(findings.slowStretch?.examples).toHaveLength(3)
    expect(findings.text()).toMatch(
      /^No lasting change found, but one slow stretch\. .*\nSlow stretch: from 22:19:20 to 22:19:25 UTC, 12 of 12 requests took longer than 99\.9 % of their type before \(at other times 6 of 468, before 1 of 480\), typically 899 ms longer than usual, mostly in stock LOOKUP itself\. This adds 22\.5 ms to the mean; one stretch may be chance\. Slowest: after-250, after-248, after-240\.$/,
    )
    expect(findings.text()).not.toContain('Closest to a change')
  })

  test('stand alone, without the step that changed but too little to matter', () => {
    expect(compared({ payUs: 2040 }).findings.text()).toMatch(
      /Changed, but too little to matter: pay CHARGE itself, 40 µs longer/,
    )
    const beside = compared({ ...INCIDENT, payUs: 2040 }).findings
    expect(beside.text()).toMatch(/^No lasting change found, but one slow stretch\./)
    expect(beside.text()).not.toContain('Changed')
    expect(beside.nearest).toBeNull()
  })

  test('are in JSON and in reports, which do not say that chance alone explains the difference', () => {
    const printed = { comparison, limit: 10, budget: 0, explained: null }
    const { slowStretch } = COMPARISON_DOCUMENT.write(printed) as Record<string, { text: string }>
    const { title, sentences } = headline(comparison)
    expect(slowStretch?.text).toBe(findings.slowStretchText)
    expect(title).toBe('No lasting change found, but one slow stretch')
    expect(sentences.join(' ')).toContain(slowStretch?.text)
    expect(sentences.join(' ')).not.toContain('Chance alone')
  })
})

describe('six requests in which stock takes five seconds longer, apart in time', () => {
  const rare = compared({ slowFrom: 0, slowEvery: 120, slowUs: 5_000_000 })
  const { findings } = rare

  test('are no finding, and are told with how many, where and the slowest traces', () => {
    expect(findings.findings).toEqual([])
    expect(findings.slowStretch).toBeNull()
    expect(findings.fewSlow).toMatchObject({ requests: 6, where: 'stock LOOKUP itself' })
    expect(findings.text()).toMatch(
      /\nFew but slow: 6 requests took more than 2 times the longest of their type before, typically 5 s longer than usual, mostly in stock LOOKUP itself\. This adds 62\.\d ms to the mean, but may be chance\. They come in 2 bursts, from 22:17:20 and 22:19:20 UTC\. Slowest: (after-\d+(, )?){3}\.$/,
    )
    expect(findings.text()).not.toContain('no single step')
  })

  test('are in JSON and in reports', () => {
    const printed = { comparison: rare, limit: 10, budget: 0, explained: null }
    const { fewSlow } = COMPARISON_DOCUMENT.write(printed) as Record<string, { text: string }>
    expect(fewSlow?.text).toBe(findings.fewSlowText)
    expect(headline(rare).sentences.join(' ')).toContain(fewSlow?.text)
  })

  test('are not told where before has a request like them, nor beside a finding of the same service', () => {
    const before = { slowFrom: 0, slowUntil: 1, slowUs: 4_000_000 }
    const alike = compared({ slowFrom: 0, slowEvery: 120, slowUs: 5_000_000 }, before)
    expect(alike.findings.fewSlow).toBeNull()
    const { steps } = rare
    const told = slowRequests(steps, [{ kind: 'latency', services: ['stock'] } as never])
    expect(told).toEqual({ slowStretch: null, fewSlow: null })
  })
})

test('stretches before that are nearly as slow silence one after; stretches of both periods are usual', () => {
  const before = { slowFrom: 60, slowUntil: 66, slowUs: 900_000 }
  expect(compared(INCIDENT, before).findings.slowStretch).toBeNull()
})

test('slow requests apart in time are no stretch', () => {
  const { slowStretch } = compared({ slowFrom: 0, slowEvery: 24, slowUs: 900_000 }).findings
  expect(slowStretch).toBeNull()
})

test('a finding of the same service leaves the stretch out', () => {
  const { findings, slowStretch } = compared({ slowFrom: 120, slowUs: 9000 }).findings
  expect(findings[0]?.title).toContain('stock')
  expect(slowStretch).toBeNull()
})

describe.each([
  { pairs: 4, tags: [] },
  { pairs: 100, tags: ['full'] },
])('of $pairs pairs of periods alike, whose slow requests come at any time', ({ pairs, tags }) => {
  test('none has a slow stretch or a few slow ones', { tags }, () => {
    const told = Array.from({ length: pairs }, (_, seed) => compared({}, {}, 100 + seed)).map(
      ({ steps }) => slowRequests(steps, []),
    )
    expect(told.filter((one) => one.slowStretch ?? one.fewSlow)).toEqual([])
  })
})

/*
 * A gateway verifies a token, then works on one of three kinds of request; of one of them, the time
 * varies so much that 40 ms more is not slow for its kind:
 *
 *   gateway  GET /cards   |------------|
 *   gateway  verify        |--|
 */
function gateway(name: string, { fromUs = NOON_US, slowUs = 0, slowEvery = 0, seed = 1 } = {}) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 2400; i++) {
    const startUs = fromUs + i * 100_000
    const isSlow = slowEvery > 0 ? i % slowEvery === 200 : i >= 1200 && i < 1500
    const kind = ['cards', 'rates', 'statements'][Math.floor(3 * random.next())]!
    const verifyUs = 2000 * Math.exp(0.2 * random.normal()) + (isSlow ? slowUs : 0)
    const spread = kind === 'statements' ? 1 : 0.2
    const endUs = startUs + verifyUs + 20_000 * Math.exp(spread * random.normal())
    const id = `${name}-${i}`
    const span = { trace: id, service: 'gateway', startUs }
    spans.push({ ...span, id, operation: `GET /${kind}`, endUs })
    const within = { parent: id, startUs: startUs + 100, endUs: startUs + 100 + verifyUs }
    spans.push({ ...span, ...within, id: `${id}-verify`, operation: 'verify' })
  }
  return makeSpans(spans, name)
}

test('a stretch that slows all kinds of requests counts all of them, and names the span within', () => {
  const { flows, steps } = compare(
    gateway('before'),
    gateway('after', { fromUs: LATER_US, slowUs: 40_000, seed: 2 }),
  )
  const stretch = findSlowStretch(steps, [])!
  expect(stretch.where).toBe('gateway verify')
  expect(stretch.inside.slow).toBeLessThan(230)
  expect(stretch.affected).toBeGreaterThan(0.9 * 300)
  expect(stretch.affected).toBeLessThanOrEqual(stretch.inside.requests)
  expect(stretch.typicalUs / 40_000).toBeCloseTo(1, 1)
  expect(stretch.excessUs / (300 * 40_000)).toBeCloseTo(1, 1)
  expect(stretchText(stretch, flows)).toContain(
    `, mostly in gateway verify, where ${stretch.affected} requests were slow. This adds`,
  )
})

/*
 * A table is locked for a minute, in which profile waits for its end:
 *
 *   gateway  GET /home     |-----------------------|
 *   profile  Get             |-------------------|
 *   profile  SELECT            |---------------|     where that is recorded
 *   gateway  GET /search   |--------|
 */
function withLock(
  name: string,
  { fromUs = NOON_US, isLocked = false, isQuery = false, seed = 1 } = {},
) {
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  for (let i = 0; i < 3000; i++) {
    const isHome = random.next() < 0.2
    const startUs = fromUs + i * 200_000
    const seconds = i / 5
    const waitUs = isLocked && seconds >= 240 && seconds < 300 ? (300 - seconds) * 1e6 : 0
    const profileUs = 20_000 * Math.exp(0.4 * random.normal()) + waitUs
    const usualUs = 30_000 * Math.exp(0.4 * random.normal())
    const endUs = startUs + usualUs + (isHome ? profileUs : 0)
    const trace = `${name}-${i}`
    const attributes = { 'http.route': isHome ? '/home' : '/search' }
    const root = { trace, id: trace, startUs, endUs, attributes }
    spans.push({ ...root, service: 'gateway', operation: 'GET' })
    const own = { startUs: startUs + 5000, endUs: startUs + 5000 + profileUs }
    const profile = { trace, id: `${trace}-profile`, parent: trace, service: 'profile', ...own }
    if (isHome) spans.push({ ...profile, operation: 'Get' })
    const query = { id: `${trace}-query`, parent: profile.id, operation: 'SELECT' }
    const within = { startUs: own.startUs + 1000, endUs: own.endUs - 1000 }
    if (isHome && isQuery) spans.push({ ...profile, ...query, ...within, kind: 'client' })
  }
  return makeSpans(spans, name)
}

describe.each([
  { seeds: [3], tags: [] },
  { seeds: [4, 5], tags: ['full'] },
])('a lock of a minute', ({ seeds, tags }) => {
  const title = 'is told with the requests that arrive then, and where they wait, seed %i'
  test.each(seeds)(title, { tags }, (seed) => {
    const { findings } = compare(
      withLock('before', { seed }),
      withLock('after', { fromUs: NOON_US + 600e6, isLocked: true, seed: seed + 50 }),
    )
    const [{ title, look, services, requests, size, since }] = findings.findings as [Finding]
    expect(title).toMatch(/mostly in profile Get itself, only in GET where http\.route = \/home$/)
    expect(look).toContain('profile')
    expect(services).toEqual(['profile'])
    // 300 requests arrive in that minute, 60 of them to /home, which wait half a minute on average.
    expect(Math.abs(requests - 54)).toBeLessThan(10)
    expect(size.interval[0]).toBeLessThan(30e6)
    expect(size.interval[1]).toBeGreaterThan(30e6)
    expect(Math.abs((since?.until?.timeUs ?? 0) - (NOON_US + 900e6))).toBeLessThan(2e6)
    expect(findings.slowStretch).toBeNull()
  })
})

test('requests that wait in a span within a service name that span', () => {
  const after = { fromUs: NOON_US + 600e6, isLocked: true, isQuery: true, seed: 53 }
  const before = withLock('before', { isQuery: true, seed: 3 })
  const [{ title }] = compare(before, withLock('after', after)).findings.findings as [Finding]
  expect(title).toMatch(/mostly in profile SELECT, only in GET/)
})

test('a few slow requests name the span within a service that holds their time, too', () => {
  const after = { fromUs: LATER_US, slowUs: 5_000_000, slowEvery: 400, seed: 2 }
  const { steps } = compare(gateway('before'), gateway('after', after))
  expect(slowRequests(steps, []).fewSlow).toMatchObject({ requests: 6, where: 'gateway verify' })
})

describe('a few slow requests of a quick kind', () => {
  const period = (name: string, waitUs: number, fails = false) => {
    const random = randomSource(name.length)
    const spans = Array.from({ length: 960 }, (_, i): SpanSketch[] => {
      const [trace, startUs] = [`${name}-${i}`, LATER_US + 250_000 * i]
      const workUs = (i % 2 === 0 ? 10_000 : 500_000) * Math.exp(0.3 * random.normal())
      const isSlow = i % 160 === 40
      const endUs = startUs + workUs + (isSlow ? waitUs : 0)
      const operation = i % 2 === 0 ? 'GET /search' : 'POST /chat'
      const failed = isSlow && fails && { status: 'error' as const }
      const call = { trace, parent: trace, service: 'fares', operation: 'QUOTE', ...failed }
      return [
        { trace, id: trace, service: 'web', operation, startUs, endUs, ...failed },
        { ...call, id: `${trace}-call`, startUs: startUs + 100, endUs: endUs - 100 },
      ]
    })
    return makeSpans(spans.flat(), name)
  }
  const told = (waitUs: number, fails = false) =>
    compare(period('before', 0), period('after', waitUs, fails)).findings.text()

  test('are told beside a kind that takes most of the time', () => {
    expect(told(0)).toMatch(/^No significant change\. .* may be missed/)
    // 6 s in total: 60 % of what searches take, 2 % of what all do.
    expect(told(1_000_000)).toMatch(
      /^Most requests did not change, but a few took far longer\.\nFew but slow: 6 requests took more than 2 times the longest of their type before, typically 1 s longer than usual, mostly in fares QUOTE/,
    )
  })

  test('that fail, too few to be a finding, are told with what fails', () => {
    expect(told(1_000_000, true)).toMatch(
      /Few but slow: 6 requests took .* mostly in fares, where QUOTE fails in 6 of 960 calls \(0 of 960 before\)/,
    )
  })
})

//  shop   ├──────────────────┤  GET
//  fraud   ├────┤               CHECK, six seconds in one of 100, a cold start
//  db            ├───────────┤  SELECT, a second more in one of 50 after
test('a few calls far slower than any before are told where other causes keep whole requests as long', () => {
  const period = (name: string, stallUs: number) => {
    const random = randomSource(name.length)
    const spans = Array.from({ length: 300 }, (_, i): SpanSketch[] => {
      const trace = `${name}-${i}`
      const start = LATER_US + 250_000 * i
      const workUs = (us: number) => Math.round(us * Math.exp(0.3 * random.normal()))
      const checked = start + 100 + workUs(20_000) + (i % 100 === 7 ? 6_000_000 : 0)
      const read = checked + 100 + workUs(5000) + (i % 60 === 40 ? stallUs : 0)
      const own = { trace, parent: 'r', startUs: start + 100 }
      return [
        { trace, id: 'r', service: 'shop', operation: 'GET', startUs: start, endUs: read + 100 },
        { ...own, id: 'f', service: 'fraud', operation: 'CHECK', endUs: checked },
        {
          ...own,
          id: 'd',
          service: 'db',
          operation: 'SELECT',
          startUs: checked + 100,
          endUs: read,
        },
      ]
    })
    return makeSpans(spans.flat(), name)
  }
  const told = (stallUs: number) => compare(period('before', 0), period('after', stallUs)).findings
  expect(told(0).fewSlow).toBeNull()
  const { findings, fewSlow, fewSlowText } = told(1_000_000)
  expect(findings).toEqual([])
  expect(fewSlow).toMatchObject({ of: 'calls', requests: 5, where: 'db SELECT' })
  expect(fewSlowText).toMatch(
    /^Few but slow: 5 requests took more than 2 times the longest in db SELECT before, typically 1 s longer than usual\. This adds 16\.7 ms to the mean, but may be chance\./,
  )
})

//  booking  ├──────────┤  POST         quote  ├──────────┤  GET
//  booking     ├────┤  INSERT          quote     ├────┤  SELECT, both of a database that stalls
describe('a database that stalls three times, for a few requests of each of two services', () => {
  const period = (name: string, saying: readonly Record<string, string>[], stallUs = 0) => {
    const random = randomSource(name.length)
    const spans = Array.from({ length: 900 }, (_, i): SpanSketch[] => {
      const [trace, startUs] = [`${name}-${i}`, LATER_US + 250_000 * i]
      const [service, operation, query] =
        i % 2 === 0 ? ['booking', 'POST', 'INSERT'] : ['quote', 'GET', 'SELECT']
      const isStalled = [100, 400, 700].some((from) => i >= from && i < from + 8 && i % 4 < 2)
      const queryUs = 5000 * Math.exp(0.3 * random.normal()) + (isStalled ? stallUs : 0)
      const own = { trace, service, startUs: startUs + 5000, endUs: startUs + 5000 + queryUs }
      return [
        { trace, id: trace, service, operation, startUs, endUs: own.endUs + 20_000 },
        {
          ...own,
          id: `${trace}-query`,
          parent: trace,
          operation: query,
          kind: 'client',
          attributes: saying[i % 2]!,
        },
      ]
    })
    return makeSpans(spans.flat(), name)
  }
  const told = (...saying: readonly Record<string, string>[]) =>
    compare(period('before', saying), period('after', saying, 3e6)).findings
  const of = (system: string, host: string) => ({ 'db.system': system, 'server.address': host })

  test('is a finding where both call one host, whoever calls it', () => {
    const { findings } = told(of('postgresql', 'main.db'), of('postgresql', 'main.db'))
    const [first, ...others] = findings
    expect(others).toEqual([])
    expect(first).toMatchObject({
      where: 'main.db',
      services: ['booking', 'quote', 'main.db'],
      requests: 12,
    })
    expect(first?.steps[0]).toMatchObject({ kind: 'call', service: 'main.db', caller: null })
    expect(first!.contributionUs / (12 * 3e6)).toBeCloseTo(1, 1)
  })

  test('is a few slow requests of one where each service calls a host of its own', () => {
    const { findings, fewSlow } = told(of('postgresql', 'booking.db'), of('postgresql', 'quote.db'))
    expect(findings).toEqual([])
    expect(fewSlow).toMatchObject({ requests: 6, where: 'booking.db INSERT' })
    expect(fewSlow!.excessUs / (6 * 3e6)).toBeCloseTo(1, 1)
  })
})
