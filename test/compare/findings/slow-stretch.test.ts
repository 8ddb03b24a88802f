import { describe, expect, test } from 'vitest'
import { COMPARISON_DOCUMENT } from '../../../src/cli/comparison-document.ts'
import type { Finding } from '../../../src/compare/findings/finding.ts'
import { findSlowStretch, slowRequests } from '../../../src/compare/findings/slow-stretch.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { stretchText } from '../../../src/comparison/words/findings.ts'
import { headline } from '../../../src/explain/headline.ts'
import { NOON_US } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'
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
    const told = slowRequests({ steps }, [{ kind: 'latency', services: ['stock'] } as never])
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
      ({ steps }) => slowRequests({ steps }, []),
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
  return record({ seed, requests: 2400, everyUs: 1e5, fromUs, name }, (r) => {
    const { index: i } = r
    const isSlow = slowEvery > 0 ? i % slowEvery === 200 : i >= 1200 && i < 1500
    const kind = ['cards', 'rates', 'statements'][Math.floor(3 * r.next())]!
    const verify = call('gateway verify', r.about(2000) + (isSlow ? slowUs : 0))
    const ownUs = r.about(20_000, kind === 'statements' ? 1 : 0.2)
    return call(`gateway GET /${kind}`, [100, ownUs - 100], {}, [verify])
  })
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
  return record({ seed, requests: 3000, everyUs: 2e5, fromUs, name }, (r) => {
    const [isHome, { seconds }] = [r.is(0.2), r]
    const waitUs = isLocked && seconds >= 240 && seconds < 300 ? (300 - seconds) * 1e6 : 0
    const [profileUs, usualUs] = [r.about(20_000, 0.4) + waitUs, r.about(30_000, 0.4)]
    const query = isQuery && call('profile SELECT', profileUs - 2000, { kind: 'client' })
    const profile = isHome && call('profile Get', query ? 2000 : profileUs, {}, [query])
    const attributes = { 'http.route': isHome ? '/home' : '/search' }
    return call('gateway GET', [5000, usualUs - 5000], { attributes }, [profile])
  })
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
  expect(slowRequests({ steps }, []).fewSlow).toMatchObject({
    requests: 6,
    where: 'gateway verify',
  })
})

test('a few slow requests name the host that all of them ran on, not one that others share', () => {
  const period = (seed: number, isSlow: (index: number, host: string) => boolean) =>
    record({ seed, requests: 900, fromUs: seed * 1e10 }, (r) => {
      const host = r.pick(['h1', 'h2', 'h3'])
      const us = isSlow(r.index, host) ? 1_000_000 : 0
      return call('web GET', 2000, { host: 'w' }, [
        call('stock LOOKUP', r.about(5000) + us, { host }),
      ])
    })
  const usual = period(1, () => false)
  const told = (isSlow: (index: number, host: string) => boolean) =>
    compare(usual, period(2, isSlow)).findings
  const pauses = (i: number) => i % 300 < 15
  const ofOne = told((i, host) => pauses(i) && host === 'h2')
  expect(ofOne.fewSlow?.condition).toBe('stock host = h2')
  expect(ofOne.fewSlowText).toContain('in stock LOOKUP itself, nearly all where stock host = h2. ')
  expect(told((i) => pauses(i) && i % 2 === 0).fewSlow?.condition ?? null).toBeNull()
})

test('a few calls that their callers give up are told with how many of them fail', () => {
  const period = (seed: number, isGivenUp: (index: number) => boolean) =>
    record({ seed, requests: 600, fromUs: seed * 1e10 }, (r) => {
      const fails = isGivenUp(r.index)
      const client = { us: [200, fails ? 400_000 : 200], fails } as const
      return call('web GET', r.about(5000), {}, [call('stock LOOKUP', r.about(3000), { client })])
    })
  const { fewSlowText } = compare(
    period(1, () => false),
    period(2, (index) => index % 80 === 40),
  ).findings
  expect(fewSlowText).toMatch(
    /^Few but slow: 7 requests took more than 2 times .*, mostly in web → stock, where LOOKUP fails in 7 of 600 calls \(0 of 600 before\)\. /,
  )
})

describe('a few slow requests of a quick kind', () => {
  const period = (name: string, waitUs: number, fails = false) => {
    const given = { seed: name.length, requests: 960, everyUs: 250_000, fromUs: LATER_US, name }
    return record(given, (r) => {
      const root = r.index % 2 === 0 ? 'web GET /search' : 'web POST /chat'
      const workUs = r.about(r.index % 2 === 0 ? 10_000 : 500_000, 0.3)
      const isSlow = r.index % 160 === 40
      const how = { fails: isSlow && fails }
      const quote = call('fares QUOTE', workUs - 200 + (isSlow ? waitUs : 0), how)
      return call(root, 200, how, [quote])
    })
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
  const period = (name: string, stallUs: number) =>
    record({ seed: name.length, everyUs: 250_000, fromUs: LATER_US, name }, (r) => {
      const checkUs = r.about(20_000, 0.3) + (r.index % 100 === 7 ? 6_000_000 : 0)
      const readUs = r.about(5000, 0.3) + (r.index % 60 === 40 ? stallUs : 0)
      const calls = [call('fraud CHECK', checkUs), call('db SELECT', readUs, { gapUs: 100 })]
      return call('shop GET', [100, 100], {}, calls)
    })
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
    const given = { seed: name.length, requests: 900, everyUs: 250_000, fromUs: LATER_US, name }
    return record(given, (r) => {
      const { index: i } = r
      const [root, query] =
        i % 2 === 0 ? ['booking POST', 'booking INSERT'] : ['quote GET', 'quote SELECT']
      const isStalled = [100, 400, 700].some((from) => i >= from && i < from + 8 && i % 4 < 2)
      const us = r.about(5000, 0.3) + (isStalled ? stallUs : 0)
      const how = { kind: 'client', attributes: saying[i % 2]! } as const
      return call(root!, [5000, 20_000], {}, [call(query!, us, how)])
    })
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
