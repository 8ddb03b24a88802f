import { describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { findingCalled } from '../../../src/explain/listed-findings.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { findingText } from '../../../src/views/text/comparison-text.ts'
import { NOON_US } from '../../make-traces.ts'
import { type Call, call, type Details, type Draw, record } from '../../worlds.ts'

type World = (r: Draw) => Call

interface Period {
  readonly roots: readonly (readonly [requests: number, root: World])[]
  readonly fromUs?: number
  readonly everyUs?: number
}

const [HOUR_US, DAY_US] = [3.6e9, 24 * 3.6e9]

/** Records the requests of a period in random order. */
function recorded(name: string, seed: number, { roots, ...times }: Period) {
  const drawn = randomSource(seed).shuffle(
    roots.flatMap(([count, root]) => Array(count).fill(root)),
  )
  const given = {
    seed: seed + 1e6,
    requests: drawn.length,
    fromUs: NOON_US,
    name: `${name} ${seed}`,
  }
  return record({ ...given, ...times }, (r) => drawn[r.index](r))
}

/** An operation of a server, of which its caller says `client` too. */
function serve(r: Draw, of: string, us: number, details: Details = {}, calls: Call[] = []): Call {
  const client = { us: [r.about(300), r.about(300)], operation: 'POST', ...details.client } as const
  return call(of, r.about(us), { kind: 'server', ...details, client }, calls)
}

/** A query of a database that only its caller records. */
function query(
  r: Draw,
  of: string,
  us: number,
  { moreUs = 0, ...details }: Details & { moreUs?: number } = {},
): Call {
  return call(of, r.about(us) + moreUs, { kind: 'client', ...details })
}

/** The way to payments takes `slowUs` more. */
const checkout =
  (version: string, slowUs = 0): World =>
  (r) => {
    const client = { us: [r.about(300 + slowUs), r.about(300)], version } as const
    return serve(r, 'checkout POST /pay', 4000, { version }, [
      query(r, 'checkout SELECT cart', 2000, { version }),
      serve(r, 'payments POST /charge', 20_000, { client }),
    ])
  }
/** One of three replicas is `slowUs` farther away. */
const search =
  (slowUs: number): World =>
  (r) => {
    const replica = r.index % 3
    const wayUs = () => r.about(300 + (replica === 1 ? slowUs / 2 : 0))
    const attributes = { 'server.address': `10.4.0.${7 + replica}` }
    const client = { us: [wayUs(), wayUs()], attributes } as const
    return serve(r, 'search GET /find', 3000, {}, [serve(r, 'index query', 8000, { client })])
  }
const items = (r: Draw) => serve(r, 'items list', 8000)
const browse: World = (r) => serve(r, 'web GET /browse', 5000, {}, [items(r)])
const cart =
  (us: number): World =>
  (r) =>
    serve(r, 'web GET /cart', 4000, {}, [serve(r, 'carts get', us)])
const report: World = (r) =>
  serve(r, 'web GET /report', 9000, {}, [serve(r, 'reports sum', 60_000)])
const exports: World = (r) =>
  serve(r, 'web POST /export', 9000, {}, [items(r), serve(r, 'files write', 40_000)])
/** Of 17 logins one fails, by itself or in the database. */
const login =
  (failing?: 'login' | 'database'): World =>
  (r) => {
    const fails = r.index % 17 === 5 && failing !== undefined
    const within = { fails: fails && failing === 'database' }
    const select = query(r, 'users SELECT users', 1500, within)
    const find = serve(r, 'users find', 3000, within, [select])
    return serve(r, 'login POST /login', 5000, { fails }, [find])
  }
/** Two calls, at once or one after the other, on pods of a release. */
const page =
  (release: string, isAtOnce: boolean): World =>
  (r) => {
    const pod = `${release}-${['x7k2p', 'q9m4d', 'b3n8s'][r.index % 3]}`
    const on = (service: string) => ({
      host: `${service}-${pod}`,
      client: { us: [r.about(300), r.about(300)], host: `front-${pod}` } as const,
    })
    return serve(r, 'front GET /page', 3000, on('front'), [
      serve(r, 'ads pick', 12_000, on('ads')),
      serve(r, 'news list', 15_000, { ...on('news'), beside: isAtOnce }),
    ])
  }
/** Three queries, each of which takes more from some request on. */
const orders =
  (slowUs: number, fromRequest = 0): World =>
  (r) => {
    const moreUs = r.index >= fromRequest ? slowUs : 0
    const lines = [0, 1, 2].map(() => query(r, 'orders SELECT lines', 2000, { moreUs }))
    return serve(r, 'orders GET /orders', 3000, {}, lines)
  }

interface Truth {
  /** What the first finding says; `null` for none. */
  readonly title: RegExp | null
  /** How much longer per call takes. */
  readonly us?: number
  /** Share of the change. */
  readonly share?: number
  readonly text?: readonly RegExp[]
  /** What neither findings nor the mix explain is less than a tenth. */
  readonly isExplained?: true
}

const one = (requests: number, root: World, more: Partial<Period> = {}): Period => ({
  roots: [[requests, root]],
  ...more,
})
const MONTH = { everyUs: (30 * DAY_US) / 600 }

const WORLDS: Readonly<Record<string, readonly [before: Period, after: Period, Truth]>> = {
  'in transit, whose: a release of the caller opens a connection for each call': [
    one(300, checkout('2.3')),
    one(300, checkout('2.4', 12_000)),
    {
      title: /^checkout → payments: POST \/charge takes \S+ ms longer in transit$/,
      us: 12_000,
      share: 1,
      text: [
        /on the way to the called service, not back/,
        /look at checkout and payments \(network/,
      ],
    },
  ],
  'in transit, whose: one of three replicas is far away': [
    one(300, search(0)),
    one(300, search(14_000)),
    {
      title: /^search → index: .* in transit, only in query where server\.address = 10\.4\.0\.8$/,
      us: 14_000,
      share: 1,
      text: [
        /[45]\d % of it on the way to the called service/,
        /look at index and search \(network/,
      ],
    },
  ],
  'new kinds of request: nothing else changed': [
    {
      roots: [
        [70, browse],
        [60, cart(6000)],
      ],
    },
    {
      roots: [
        [60, browse],
        [46, cart(6000)],
        [34, report],
        [25, exports],
      ],
    },
    { title: null, text: [/the changed request mix (explains|alone)/], isExplained: true },
  ],
  'new kinds of request: one of the known is slower, too': [
    {
      roots: [
        [140, browse],
        [120, cart(6000)],
      ],
    },
    {
      roots: [
        [130, browse],
        [120, cart(11_000)],
        [60, report],
      ],
    },
    { title: /^carts: get itself takes \S+ ms longer$/, us: 5000, isExplained: true },
  ],
  'failing requests: roots fail by themselves': [
    one(198, login()),
    one(346, login('login')),
    { title: /^login: POST \/login fails in 2[01] of 346 calls \(0 of 198 before\)$/ },
  ],
  'failing requests: a query fails, and all that wait for it': [
    one(250, login()),
    one(250, login('database')),
    {
      title: /^users: SELECT users within find fails in 1[45] of 250 calls \(0 of 250 before\)$/,
      text: [/also seen in login: POST \/login fails in 1[45] of 250 calls/],
    },
  ],
  'all pods are new: nothing else changed': [
    one(300, page('6d8f7c9b5', true)),
    one(300, page('7f5b4d6c8', true)),
    { title: null },
  ],
  'all pods are new: calls are made one after the other': [
    one(300, page('6d8f7c9b5', true)),
    one(300, page('7f5b4d6c8', false)),
    {
      title: /^front: GET \/page calls ads pick and news list one after the other, no longer at/,
      share: 1,
    },
  ],
  'dates: a month of which the second half is slower': [
    one(600, orders(0), MONTH),
    one(600, orders(4000, 300), { ...MONTH, fromUs: NOON_US + 40 * DAY_US }),
    {
      title: /^orders: SELECT lines within GET \/orders takes \S+ ms longer per call$/,
      us: 4000,
      // 55 days after 2023-11-14 22:13:20.
      text: [/since 2024-01-0[789] \d\d:\d\d:\d\d UTC \(95 % CI /],
    },
  ],
  'sums: each of three calls takes longer, of few requests': [
    one(20, orders(0)),
    one(20, orders(4000)),
    {
      title: /^orders: SELECT lines within GET \/orders takes \S+ ms longer per call$/,
      us: 4000,
      share: 1,
      text: [/ 1[123](\.\d+)? ms longer/],
    },
  ],
}

/** What is found beside the cause may be chance, if this unlikely or more. */
const BY_CHANCE = 1e-3

function expectTruth(comparison: Comparison, truth: Truth) {
  const { findings } = comparison
  const sure = findings.findings.filter(({ p }) => p < BY_CHANCE)
  if (truth.title === null) expect(sure.map(({ title }) => title)).toEqual([])
  else {
    const [first] = findings.findings
    expect(first?.title).toMatch(truth.title)
    expect(sure.length).toBeLessThan(2)
    const [, ms] = /takes ([\d.]+) ms longer/.exec(first!.title) ?? []
    if (truth.us !== undefined)
      expect(Math.abs((1000 * Number(ms)) / truth.us - 1)).toBeLessThan(0.15)
    if (truth.share !== undefined)
      expect(Math.abs(first!.shareOfChange - truth.share)).toBeLessThan(0.1)
    const finding = findingCalled(comparison, '1')
    expect(findingText({ comparison, finding, explained: null })).not.toContain('NaN')
  }
  const text = findings.text().replaceAll(/\s+/g, ' ')
  for (const says of truth.text ?? []) expect(text).toMatch(says)
  if (truth.isExplained) expect(findings.unexplainedShare).toBeLessThan(0.1)
}

describe.each([
  { seeds: [1, 2], tags: [] },
  { seeds: [3, 4, 5, 6, 7, 8, 9, 10], tags: ['full'] },
])('worlds of seeds $seeds', ({ seeds, tags }) => {
  test.each(Object.entries(WORLDS))('%s', { tags }, (_, [before, after, truth]) => {
    for (const seed of seeds) {
      const later = { fromUs: NOON_US + HOUR_US, ...after }
      expectTruth(
        compare(recorded('before', 2 * seed, before), recorded('after', 2 * seed + 1, later)),
        truth,
      )
    }
  })
})
