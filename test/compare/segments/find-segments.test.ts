import { describe, expect, test } from 'vitest'
import { makeIncident } from '../../../evaluation/suites/varied-incidents.ts'
import { findSegments } from '../../../src/compare/segments/find-segments.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { quantile } from '../../../src/stats/quantile.ts'
import { call, record } from '../../worlds.ts'
import {
  enterpriseIncident,
  type Incident,
  type SimulatedRequest,
  simulateIncident,
} from './incident.ts'

const enterprise = enterpriseIncident()

const found = (incident: Incident) =>
  findSegments(simulateIncident(incident)).segments.map(
    ({ measure, text }) => `${measure}: ${text}`,
  )

describe('a segment that changed alone is named', () => {
  test('by the version that its hosts alone run, not by one of other hosts too; by a host alone in its zone', () => {
    const pods = (seed: number, { newer = [] as string[], zones = 5 } = {}) =>
      record({ seed, requests: 900, everyUs: 5e4 }, (r) => {
        const [pod, host] = [r.index % 5, `pod-${r.index % 5}`]
        const version = newer.includes(host) ? '2.1' : '2.0'
        const own = { host, version, attributes: { 'resource.zone': `zone-${pod % zones}` } }
        const us = r.about(5000) + (newer.length > 0 && pod === 2 ? 8000 : 0)
        return call('web', 1000, {}, [call('price', us, own)])
      })
    const told = (newer: string[], zones = 5) =>
      findSegments(compare(pods(61, { zones }), pods(62, { newer, zones }))).segments.map(
        ({ text, equivalents }) => [text, ...equivalents],
      )
    const places = ['price host = pod-2', 'price resource.zone = zone-2']
    expect(told(['pod-2'])).toEqual([['price version = 2.1', ...places]])
    expect(told(['pod-2', 'pod-3'])).toEqual([places])
    expect(told(['pod-2', 'pod-3'], 4)).toEqual([places])
  })

  test('by one value, with what the same requests have in common as equivalent', () => {
    const [segment, ...others] = findSegments(enterprise).segments
    expect(others).toEqual([])
    expect(segment).toMatchObject({ text: 'tenant.tier = enterprise', direction: 'slower' })
    expect(segment?.step).toMatchObject({ kind: 'work', service: 'store' })
    expect(segment?.equivalents).toContain('plan = plan-enterprise')
    expect(segment?.shareOfChange).toBeGreaterThan(0.95)
    expect(segment?.shareOfRequests).toBeCloseTo(0.08, 1)
  })

  test('examples of the finding are its requests, typical by the time of the step', () => {
    const { findings, flows, steps } = enterprise
    const [{ segment, exemplars } = {}] = findings.findings
    expect(segment?.text).toBe('tenant.tier = enterprise')
    const own = new Set(segment?.requests)
    const store = steps.times.find(({ kind, service }) => kind === 'work' && service === 'store')
    for (const period of ['before', 'after'] as const) {
      const times = new Map<number, number>()
      for (const { [period]: sample } of store?.strata ?? []) {
        sample.requests.forEach((request, i) => {
          if (own.has(request)) times.set(request, sample.values[i] as number)
        })
      }
      const middle = quantile(Float64Array.from(times.values()).sort(), 0.5)
      const shown = exemplars?.[period].map((id) => times.get(flows.ids.indexOf(id)) ?? 0) ?? []
      expect(shown).toHaveLength(3)
      for (const us of shown) expect(Math.abs(us / middle - 1)).toBeLessThan(0.25)
    }
  })

  test('the finding has the numbers of the segment, where many of all requests meet it', () => {
    const { findings } = simulateIncident({
      seed: 1,
      requests: 800,
      enterprise: [0.3, 0.3],
      effectOf: ({ tier }) => ({ factor: tier === 'enterprise' ? 3 : 1 }),
    })
    const [{ segment, requests, contributionUs = 0, size, concerned } = {}] = findings.findings
    const { inside } = segment ?? {}
    expect(segment?.text).toBe('tenant.tier = enterprise')
    expect([requests, concerned]).toEqual([inside?.after, [inside?.before, inside?.after]])
    expect(size?.value).toBeCloseTo(contributionUs / (requests ?? 0), 6)
    expect((size?.value ?? 0) / (inside?.change ?? 0)).toBeGreaterThan(0.8)
    expect((size?.value ?? 0) / (inside?.change ?? 0)).toBeLessThan(1.25)
  })

  test.each([
    [
      [2, 9, 10, 11, 3, 4, 5, 6],
      'candidates = 2, 9, 10 or 11',
      'shard = db-2, db-9, db-10 or db-11',
    ],
    [[-2, -1, 1.25, 1.5, 3, 4, 5, 6], 'candidates = -2, -1, 1.25 or 1.5', ''],
  ])('by several numbers in their order, not in that of their letters: %j', (all, text, same) => {
    const period = (factor: number) =>
      record({ seed: 1, requests: 1000, everyUs: 1e4 }, ({ index: i }) => {
        const candidates = all[i % 8]!
        const attributes = {
          candidates: String(candidates),
          ...(same !== '' && { shard: `db-${candidates}` }),
        }
        return call('shop GET', (i % 8 < 4 ? factor : 1) * (900 + ((7 * i) % 101)), { attributes })
      })
    const { segments } = findSegments(compare(period(1), period(5)))
    expect(segments.flatMap((segment) => [segment.text, ...segment.equivalents])).toEqual(
      [text, same].filter((each) => each !== ''),
    )
  })

  test('by two conditions where neither is enough', () => {
    const both = ({ tier, cached }: { tier: string; cached: boolean }) =>
      tier === 'enterprise' && !cached
    expect(found({ seed: 2, effectOf: (request) => ({ factor: both(request) ? 8 : 1 }) })).toEqual([
      'time: tenant.tier = enterprise and cache.hit = false',
    ])
    expect(
      found({
        seed: 3,
        requests: 2_500,
        effectOf: (request, chance) => ({ fails: both(request) && chance() < 0.4 }),
      }),
    ).toEqual(['errors: tenant.tier = enterprise and cache.hit = false'])
  })

  const bySecond = (condition: string, isMet: (request: SimulatedRequest) => boolean) => {
    const [first] = found({
      seed: 6,
      requests: 4_000,
      effectOf: (request) => ({ factor: 'bde'.includes(request.pod) && isMet(request) ? 8 : 1 }),
    })
    expect(first).toContain('host = b, d or e')
    expect(first).toContain(condition)
  }

  test('by a second condition on numbers from one upward', () =>
    bySecond('body.size ', ({ size }) => size > 10_000))

  test('by a second condition on either value of a flag', { tags: 'full' }, () => {
    bySecond('cache.hit = true', ({ cached }) => cached)
    bySecond('cache.hit = false', ({ cached }) => !cached)
  })

  test('within an operation, whose other name is no condition, among its requests', () => {
    const { segments } = findSegments(
      simulateIncident({
        seed: 8,
        requests: 3_000,
        hasRoute: true,
        effectOf: ({ operation, tier }, chance) => ({
          fails: operation === 'GET /cart' && tier === 'enterprise' && chance() < 0.4,
        }),
      }),
    )
    expect(segments).toMatchObject([
      { measure: 'errors', text: 'tenant.tier = enterprise', operation: 'GET /cart' },
    ])
    const among = segments.map(({ inside, outside }) => inside.after + outside.after)
    expect(among[0]).toBeGreaterThan(900)
    expect(among[0]).toBeLessThan(1_100)
  })

  test('by several values of one attribute together', () => {
    expect(
      found({ seed: 4, effectOf: ({ pod }) => ({ factor: 'bde'.includes(pod) ? 2.5 : 1 }) }),
    ).toEqual(['time: host = b, d or e'])
  })

  test('by numbers from one upward', () => {
    const [segment] = findSegments(
      simulateIncident({ seed: 5, effectOf: ({ size }) => ({ factor: size > 10_000 ? 5 : 1 }) }),
    ).segments
    expect(segment?.conditions).toMatchObject([{ attribute: 'body.size', op: 'from' }])
    expect(Number(segment?.conditions[0]?.values[0])).toBeGreaterThan(7_000)
    expect(Number(segment?.conditions[0]?.values[0])).toBeLessThan(14_000)
  })

  test('by numbers of one operation, whatever those of others are', () => {
    const period = (added: number) =>
      record({ seed: 1, requests: 3000, everyUs: 1e4 }, ({ index: i }) => {
        const [operation, size] = i % 2 === 0 ? ['GET', i % 100] : ['PUT', 1000 + (i % 1000)]
        const us = 900 + ((7 * i) % 101) + (operation === 'PUT' && size < 1250 ? added : 0)
        return call(`shop ${operation}`, us, { attributes: { size } })
      })
    const [segment, ...others] = findSegments(compare(period(0), period(2_000))).segments
    expect(others).toEqual([])
    expect(segment).toMatchObject({ operation: 'PUT', conditions: [{ op: 'below' }] })
    expect(segment?.inside.after).toBe(375)
  })

  test.each([
    ['the same requests have numbers below one', [5, 400, 500], ['size < 500']],
    ['but not where these have the lowest and the highest', [5, 995, 500], []],
  ])('with numbers as equivalent: %s', (_, [own, second, other], same) => {
    const period = (added: number) =>
      record({ seed: 1, requests: 1500, everyUs: 1e4 }, ({ index: i }) => {
        const tier = i % 2 === 0 ? 'pro' : 'free'
        const base = tier === 'free' ? other! : i % 4 === 0 ? own! : second!
        const us = 900 + ((7 * i) % 101) + (tier === 'pro' ? added : 0)
        return call('shop GET', us, { attributes: { tier, size: base + (i % 17) / 4 } })
      })
    const [segment] = findSegments(compare(period(0), period(2_000))).segments
    expect([segment?.text, segment?.equivalents]).toEqual(['tier = pro', same])
  })

  test('by what was recorded', () => {
    expect(
      found({
        seed: 6,
        effectOf: ({ coupon }) => ({ addedUs: coupon === undefined ? 0 : 60_000 }),
      }),
    ).toEqual(['time: coupon is recorded'])
  })

  test('by what its callers recorded, and neither roots nor itself', () => {
    const { segments } = compare(...makeIncident('retries', 1_500, 9).periods)
    expect(segments.segments).toMatchObject([
      { measure: 'errors', step: { service: 'pricing' }, text: 'orders messaging.partition = 7' },
    ])
  })

  test('where one in five of its requests changed', () => {
    expect(
      found({
        seed: 7,
        requests: 2_000,
        effectOf: ({ region }, chance) => ({
          addedUs: region === 'eu' && chance() < 0.2 ? 500_000 : 0,
        }),
      }),
    ).toEqual(['time: region = eu'])
  })
})

describe('a call that more requests make, though not surely more of all', () => {
  const comparison = compare(...makeIncident('cache', 300, 24).periods)

  test('is a finding where a segment shows it, counted in that', () => {
    expect(comparison.steps.calls.filter(({ changed }) => changed)).toEqual([])
    expect(comparison.segments.segments).toMatchObject([
      { measure: 'structure', text: 'tenant.id = acme', inside: { before: 23, after: 24 } },
    ])
    const [finding, ...others] = comparison.findings.findings
    expect(others).toEqual([])
    expect(finding).toMatchObject({
      title:
        'orders: list calls db query in 24 of 24 calls (1 of 23 before), only where tenant.id = acme',
      concerned: [1, 24],
    })
    expect(finding?.q).toBe(comparison.segments.segments[0]?.q)
  })
})

describe('no segment is named', { tags: 'full' }, () => {
  const alike: Readonly<Record<string, Omit<Incident, 'seed'>>> = {
    'where nothing changed, though levels wander': { drift: 0.15 },
    'where all took twice as long': { effectOf: () => ({ factor: 2 }) },
    'where all took 30 ms longer': { effectOf: () => ({ addedUs: 30_000 }) },
    'where a tenth of all requests stalled': {
      effectOf: (_, chance) => ({ addedUs: chance() < 0.1 ? 300_000 : 0 }),
    },
    'where a twentieth of all requests failed': {
      effectOf: (_, chance) => ({ fails: chance() < 0.05 }),
    },
    'where only the mix of requests changed': { enterprise: [0.08, 0.2] },
  }
  for (const [title, incident] of Object.entries(alike)) {
    test(title, () => {
      const seeds = [11, 12, 13, 14]
      const named = seeds.flatMap((seed) => found({ ...incident, requests: 1_000, seed }))
      expect(named).toEqual([])
    })
  }
})

test('identifiers are left out, and listed', () => {
  const { leftOut } = findSegments(simulateIncident({ seed: 8, requests: 1_500 }))
  expect(leftOut).toContainEqual({ attribute: 'user.id', service: null, reason: 'identifier' })
  expect(leftOut).toContainEqual({ attribute: 'session.key', service: null, reason: 'unique' })
})

describe('a comparison of a segment alone', () => {
  const comparison = enterprise
  const [finding] = comparison.findings.findings

  test('opens from the finding that names it, and stays it with other options', () => {
    expect(finding?.title).toMatch(
      /^store: query itself takes .* longer.*, only where tenant\.tier = enterprise$/,
    )
    const inside = comparison.where(finding!)
    const requests = finding?.segment?.requests.length
    expect(inside.flows.size).toBe(requests)
    expect(inside.with({ concurrency: 'none' }).flows.size).toBe(requests)
    const [same] = inside.findings.findings
    expect(same?.where).toBe('store')
    expect(same?.segment).toBeUndefined()
  })

  test('needs a segment, and requests of both periods', () => {
    expect(() => comparison.where({})).toThrow('which has no segment')
    expect(() => comparison.where(() => false)).toThrow('leaves no request before')
  })

  test('is switched off', () => {
    expect(comparison.with({ segments: false }).segments.segments).toEqual([])
  })

  test('is none where it is small beside all requests, or beside what its own take', () => {
    expect(comparison.with({ minimumShare: 0.9 }).segments.segments).toEqual([])
    expect(comparison.with({ minimumEffect: 10 }).segments.segments).toEqual([])
  })
})
