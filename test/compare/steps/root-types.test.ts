import { sum } from 'd3-array'
import { describe, expect, test } from 'vitest'
import { rootTypes } from '../../../src/compare/steps/root-types.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { call, record } from '../../worlds.ts'

interface Gateway {
  readonly seed: number
  /** Shares of orders and users; the rest are products. */
  readonly mix: readonly [orders: number, users: number]
  /** Whether every request asks `auth` first. */
  readonly hasAuth?: boolean
  /** Share that ends there. */
  readonly denied?: number
  /** Share of users that has one. */
  readonly sessions?: number
}

//  gateway  ├──────────────────────────────────────────┤   /*
//  auth      ├───┤                                         CHECK, of all or none
//  orders          ├────────┤                              or users and mostly sessions,
//  db                ├───┤                                 or products, stock and often users
function gateway({
  seed,
  mix: [orders, users],
  hasAuth = false,
  denied = 0,
  sessions = 0.7,
}: Gateway) {
  return record({ seed, requests: 400, everyUs: 5e4, name: `gateway ${seed}` }, (r) => {
    const ask = (service: string, us: number) => {
      const client = { us: [100 + 20 * r.next(), 100], operation: `GET ${service}` } as const
      const query = service === 'orders' && call('db SELECT', r.about(us, 0.3))
      const operation = service === 'auth' ? 'CHECK' : `/${service}`
      const own = query ? 100 : r.about(us, 0.3)
      return call(`${service} ${operation}`, own, { client, gapUs: 50 }, [query])
    }
    const products = () => [
      ask('products', 9000),
      ask('stock', 3000),
      r.is(0.5) && ask('users', 1500),
    ]
    const others = (type: number) => {
      if (r.is(denied)) return []
      if (type < orders) return [ask('orders', 4000)]
      if (type >= orders + users) return products()
      return [ask('users', 1500), r.is(sessions) && ask('sessions', 800)]
    }
    const own = [r.about(250, 0.3), 100] as const
    return call('gateway /*', own, {}, [hasAuth && ask('auth', 500), ...others(r.next())])
  })
}

describe('a root that all requests have', () => {
  test.each([false, true])('has the types of its first distinct calls (auth: %s)', (hasAuth) => {
    const traces = gateway({ seed: 1, mix: [0.2, 0.3], hasAuth })
    const { names, typeOf } = rootTypes(buildFlows([traces, traces]))
    expect(names.toSorted()).toEqual([
      'gateway /* → orders /orders',
      'gateway /* → products /products',
      'gateway /* → users /users',
    ])
    const share = (name: string) =>
      typeOf.filter((type) => names[type] === name).length / typeOf.length
    expect(share('gateway /* → orders /orders')).toBeCloseTo(0.2, 1)
    expect(share('gateway /* → products /products')).toBeCloseTo(0.5, 1)
  })

  const RUNS = 60
  test.each([false, true])(
    'gives a warning with numbers, and no finding in 95 %, when only the mix changes (auth: %s)',
    { tags: 'full', timeout: 120_000 },
    (hasAuth) => {
      let found = 0
      for (let run = 0; run < RUNS; run++) {
        const comparison = compare(
          gateway({ seed: 2 * run, mix: [1 / 3, 1 / 3], hasAuth }),
          gateway({ seed: 2 * run + 1, mix: [0.6, 0.2], hasAuth }),
        )
        if (comparison.findings.findings.length > 0) found++
        const [mix] = comparison.warnings().filter(({ code }) => code === 'request-mix')
        expect(mix?.finding).toMatch(/gateway \/\* → orders \/orders [234]\d % → [56]\d %/)
      }
      expect(found / RUNS).toBeLessThanOrEqual(0.05)
    },
  )

  test('that no longer goes on after a common call, or after one of its types, is a finding', () => {
    const mix = [1 / 3, 1 / 3] as const
    const before = gateway({ seed: 1, mix, hasAuth: true })
    const titles = (change: Partial<Gateway>) =>
      compare(before, gateway({ seed: 2, mix, hasAuth: true, ...change }))
        .findings.findings.map(({ title }) => title)
        .join('\n')
    expect(titles({})).toBe('')
    expect(titles({ denied: 0.2 })).toContain('gateway: /* returns right after auth CHECK')
    expect(titles({ sessions: 0.2 })).toMatch(/gateway: .*users \/users.* in \d+ of \d+ calls/)
  })
})

describe('a root of some requests', () => {
  //  edge       ├────────────────────────┤   POST /graphql, or GET /eta of half of all requests
  //  gateway      ├───────────────────┤
  //  gateway        ├───────────────┤        mutation ride, or query home
  //  cache        ├┤                         asked first, of which that may depend, or not at all
  //  proxy           ├───────────┤           of either, then
  //  prices            ├──────┤              QUOTE, or GET
  //  users                          ├─┤      of either
  function edge(seed: number, rides: number, { isAsked = false } = {}) {
    return record({ seed, requests: 1200, everyUs: 5e4, name: `edge ${seed}` }, (r) => {
      if (r.is(0.5)) return call('edge GET /eta', r.about(2000))
      const isRide = r.is(rides)
      const price = call(`prices ${isRide ? 'QUOTE' : 'GET'}`, r.about(isRide ? 20_000 : 5000))
      const below = [call('proxy /*', 200, {}, [price]), call('users READ', 80)]
      const type = call(isRide ? 'gateway mutation ride' : 'gateway query home', 200, {}, below)
      const asked = [isAsked && call('cache GET', 100), type]
      return call('edge POST /graphql', 200, {}, [call('gateway POST /graphql', 300, {}, asked)])
    })
  }
  const compared = (options = {}) => compare(edge(1, 0.2, options), edge(2, 0.4, options))

  test('has the types that are called first below it, wherever that is: more of one is no finding', () => {
    const comparison = compared()
    expect(comparison.findings.findings.map(({ title }) => title)).toEqual([])
    const [mix] = comparison.warnings().filter(({ code }) => code === 'request-mix')
    // Of half of the requests, 20 % more take 15 ms longer.
    expect(mix?.finding).toMatch(
      / which alone makes requests take 1\.[2-8]\d? ms longer on average/,
    )
    expect(mix?.finding).toMatch(
      /edge POST \/graphql → gateway mutation ride (9|10|11) % → (19|20|21) %/,
    )
  })

  test('that asks something before it chooses has one type: another choice is one finding', () => {
    const comparison = compared({ isAsked: true })
    const [found, ...others] = comparison.findings.findings
    expect(found?.title).toMatch(
      /^gateway: POST \/graphql calls mutation ride instead of query home, in 2\d\d of \d+ calls/,
    )
    expect(found?.consequences[0]?.title).toContain('proxy: /* calls prices QUOTE')
    expect(others.map(({ title }) => title)).toEqual([])
    expect(comparison.warnings().map(({ code }) => code)).not.toContain('request-mix')
  })
})

describe('a system with one endpoint', () => {
  const RUNS = 40

  /** Every request reads an item, asks the shop, and saves; what it calls to read is drawn. */
  function endpoint(
    seed: number,
    reads: readonly (readonly [calls: readonly string[], share: number])[],
    isAtOnce = false,
  ) {
    return record({ seed, requests: 300, everyUs: 5e4, name: `endpoint ${seed}` }, (r) => {
      const drawn = r.next()
      const upTo = (place: number) => sum(reads.slice(0, place + 1), ([, share]) => share)
      const [first = []] = reads.find((_, place) => drawn < upTo(place)) ?? []
      const calls = [...first, 'prices', 'audit'].map((service, place) => {
        const beside = isAtOnce && place > 0 && place < first.length
        const gapUs = beside ? r.integer(200) - 100 : 300
        return call(`${service} /${service}`, r.about(900), { beside, gapUs })
      })
      return call('shop GET /item', [100 + 50 * r.next(), 70], {}, calls)
    })
  }
  type Reads = Parameters<typeof endpoint>[1]
  const titles = (before: Reads, after: Reads, isAtOnce = false) =>
    compare(endpoint(1, before, isAtOnce), endpoint(2, after, isAtOnce))
      .findings.findings.map(({ title }) => title)
      .join('\n')

  test('takes a detour more often: a finding, not another type of request', () => {
    expect(titles([[['disk'], 0.05]], [[['disk'], 0.4]])).toMatch(
      /shop: GET \/item calls disk .*in 1[0-3]\d of 300 calls/,
    )
  })

  test('goes another way than ever before: a finding', () => {
    const after = [
      [['new'], 0.3],
      [['old'], 0.7],
    ] as const
    expect(titles([[['old'], 1]], after)).toMatch(
      /shop: GET \/item calls new \/new instead of old \/old, in [789]\d of 300 calls/,
    )
  })

  test('makes a new call at once with others, whichever begins first: a finding', () => {
    const after = [
      [['old', 'new'], 0.15],
      [['old'], 0.85],
    ] as const
    expect(titles([[['old'], 1]], after, true)).toMatch(
      /shop: GET \/item now calls new .*in [345]\d of 300 calls/,
    )
  })

  test('reports nothing in 95 % of the comparisons where it makes the same choice as before', {
    tags: 'full',
  }, () => {
    let found = 0
    for (let run = 0; run < RUNS; run++) {
      const [before, after] = [0, 1].map((i) =>
        endpoint(100 + 2 * run + i, [
          [['disk'], 0.1],
          [['peer'], 0.3],
        ]),
      )
      if (compare(before!, after!).findings.findings.length > 0) found++
    }
    expect(found / RUNS).toBeLessThanOrEqual(0.05)
  })
})
