import { sum } from 'd3-array'
import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { rootTypes } from '../../../src/compare/steps/root-types.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/index.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(seed)
  const spans = Array.from({ length: 400 }, (_, i): SpanSketch[] => {
    const start = 50_000 * i
    const made: SpanSketch[] = []
    let now = start + 200 * (1 + 0.3 * Math.abs(random.normal()))
    const span = (id: string, parent: string, [service, operation]: string[], us: number[]) => {
      const [startUs, endUs] = us.map(Math.round) as [number, number]
      const own = { service: service ?? '', operation: operation ?? '' }
      made.push({ trace: `${seed}-${i}`, id, parent, ...own, startUs, endUs })
    }
    const call = (service: string, workUs: number) => {
      const begins = now + 100 + 20 * random.next()
      const ends = begins + workUs * Math.exp(0.3 * random.normal())
      span(`c ${service}`, 'r', ['gateway', `GET ${service}`], [now, ends + 100])
      span(
        service,
        `c ${service}`,
        [service, service === 'auth' ? 'CHECK' : `/${service}`],
        [begins, ends],
      )
      if (service === 'orders') span('db', service, ['db', 'SELECT'], [begins + 50, ends - 50])
      now = ends + 150
    }
    if (hasAuth) call('auth', 500)
    const type = random.next()
    if (random.next() < denied) now += 10
    else if (type < orders) call('orders', 4000)
    else if (type < orders + users) {
      call('users', 1500)
      if (random.next() < sessions) call('sessions', 800)
    } else {
      call('products', 9000)
      call('stock', 3000)
      if (random.next() < 0.5) call('users', 1500)
    }
    const root = { id: 'r', service: 'gateway', operation: '/*', startUs: start }
    return [{ trace: `${seed}-${i}`, ...root, endUs: Math.round(now + 100) }, ...made]
  })
  return makeSpans(spans.flat(), `gateway ${seed}`)
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
    const random = randomSource(seed)
    const spans = Array.from({ length: 1200 }, (_, i): SpanSketch[] => {
      const made: SpanSketch[] = []
      const workUs = (meanUs: number) => meanUs * Math.exp(0.2 * random.normal())
      const span = (names: string, [parent, fromUs, toUs]: readonly [string, number, number]) => {
        const [service = '', operation = ''] = names.split(': ')
        const [startUs, endUs] = [50_000 * i + Math.round(fromUs), 50_000 * i + Math.round(toUs)]
        made.push({ trace: `${seed}-${i}`, id: names, parent, service, operation, startUs, endUs })
      }
      if (random.next() < 0.5) {
        span('edge: GET /eta', ['', 0, workUs(2000)])
        return made
      }
      const isRide = random.next() < rides
      const endUs = 1000 + workUs(isRide ? 20_000 : 5000)
      const type = isRide ? 'gateway: mutation ride' : 'gateway: query home'
      span('edge: POST /graphql', ['', 0, endUs])
      span('gateway: POST /graphql', ['edge: POST /graphql', 100, endUs - 100])
      if (isAsked) span('cache: GET', ['gateway: POST /graphql', 200, 300])
      span(type, ['gateway: POST /graphql', 400, endUs - 200])
      span('proxy: /*', [type, 500, endUs - 300])
      span('users: READ', [type, endUs - 290, endUs - 210])
      span(`prices: ${isRide ? 'QUOTE' : 'GET'}`, ['proxy: /*', 600, endUs - 400])
      return made
    })
    return makeSpans(spans.flat(), `edge ${seed}`)
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
    const random = randomSource(seed)
    const spans = Array.from({ length: 300 }, (_, i): SpanSketch[] => {
      const drawn = random.next()
      const upTo = (place: number) => sum(reads.slice(0, place + 1), ([, share]) => share)
      const [first = []] = reads.find((_, place) => drawn < upTo(place)) ?? []
      const trace = `${seed}-${i}`
      const [root, start] = [{ service: 'shop', operation: 'GET /item' }, 50_000 * i]
      let now = start + 100 + Math.round(50 * random.next())
      const calls = [...first, 'prices', 'audit'].map((service, place): SpanSketch => {
        const startUs = now + (isAtOnce ? random.integer(200) : 0)
        const endUs = startUs + Math.round(900 * Math.exp(0.2 * random.normal()))
        const own = { trace, id: service, parent: 'r', startUs, endUs }
        if (!isAtOnce || place >= first.length - 1) now = endUs + 300
        return { ...own, service, operation: `/${service}` }
      })
      return [
        {
          trace,
          id: 'r',
          ...root,
          startUs: start,
          endUs: Math.max(...calls.map(({ endUs }) => endUs)) + 70,
        },
        ...calls,
      ]
    })
    return makeSpans(spans.flat(), `endpoint ${seed}`)
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
