import { describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/compare/comparison.ts'
import { findingCalled } from '../../../src/explain/listed-findings.ts'
import { type RandomSource, randomSource } from '../../../src/stats/random.ts'
import { findingText } from '../../../src/views/text/comparison-text.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'

/** An operation of a server, or of a database that only its callers record. */
interface Call {
  /** `service operation`; the service of a database is its caller. */
  readonly of: string
  /** Its own time, half of it before its calls. */
  readonly us: number
  /** Time added to a call, by its number. */
  readonly moreUs?: (call: number) => number
  readonly wayUs?: (call: number) => readonly [there: number, back: number]
  /** Calls one after the other, of which some begin `beside` the last. */
  readonly calls?: readonly Call[]
  readonly beside?: boolean
  readonly times?: number
  readonly isDatabase?: boolean
  readonly fails?: (call: number) => boolean
  readonly version?: string
  /** What the caller says of a call. */
  readonly says?: (call: number) => SpanSketch['attributes']
}

interface Period {
  readonly roots: readonly (readonly [requests: number, root: Call])[]
  readonly fromUs?: number
  readonly everyUs?: number
  /** Host of a service. */
  readonly host?: (service: string, request: number) => string
}

const [HOUR_US, DAY_US] = [3.6e9, 24 * 3.6e9]
const SPREAD = 0.2

/** Records the requests of a period in random order; times are spread by a fifth. */
function record(name: string, seed: number, period: Period) {
  const { roots, fromUs = NOON_US, everyUs = 1e6 } = period
  const random = randomSource(seed)
  const requests = random.shuffle(roots.flatMap(([count, root]) => Array(count).fill(root)))
  const spans = requests.flatMap((root: Call, request) =>
    recordRequest(root, {
      random,
      request,
      trace: `${name}-${seed}-${request}`,
      startUs: fromUs + request * everyUs,
      hostOf: (service) => period.host?.(service, request) ?? '',
    }),
  )
  return makeSpans(spans, name)
}

interface Recorded {
  readonly random: RandomSource
  readonly request: number
  readonly trace: string
  readonly startUs: number
  readonly hostOf: (service: string) => string
}

function recordRequest(root: Call, { random, request, trace, startUs, hostOf }: Recorded) {
  const spans: SpanSketch[] = []
  const spread = (us: number) => us * Math.exp(SPREAD * random.normal())
  const add = (service: string, sketch: Omit<SpanSketch, 'id' | 'endUs'>) => {
    const host = hostOf(service)
    const id = `${spans.length}`
    spans.push({ trace, id, service, host, endUs: sketch.startUs, ...sketch })
    return (endUs: number, fails: boolean) => {
      spans[Number(id)] = { ...spans[Number(id)]!, endUs, ...(fails && { status: 'error' }) }
      return { endUs, fails }
    }
  }
  const versionOf = ({ version }: Call) => (version === undefined ? {} : { version })
  const takenUs = (call: Call, number: number) => spread(call.us) + (call.moreUs?.(number) ?? 0)
  const ask = (
    call: Call,
    caller: Call,
    at: { parent: string; startUs: number; number: number },
  ) => {
    const { parent, startUs, number } = at
    const [service = ''] = caller.of.split(' ')
    const attributes = call.says?.(number) ?? {}
    const operation = call.isDatabase ? call.of : 'POST'
    const sketch = { parent, operation, kind: 'client' as const, startUs, attributes }
    const end = add(service, { ...sketch, ...versionOf(caller) })
    if (call.isDatabase) return end(startUs + takenUs(call, number), call.fails?.(number) ?? false)
    const [there, back] = (call.wayUs?.(number) ?? [300, 300]).map(spread) as [number, number]
    const client = spans.at(-1)!.id
    const { endUs, fails } = serve(call, { parent: client, startUs: startUs + there, number })
    return end(endUs + back, fails)
  }
  const serve = (
    call: Call,
    { parent, startUs, number }: { parent: string | null; startUs: number; number: number },
  ) => {
    const [, service = '', operation = ''] = /^(\S+) (.*)$/.exec(call.of) ?? []
    const sketch = { parent, operation, kind: 'server' as const, startUs }
    const end = add(service, { ...sketch, ...versionOf(call) })
    const { id } = spans.at(-1)!
    const halfUs = takenUs(call, number) / 2
    let [sinceUs, atUs, failed] = [
      startUs + halfUs,
      startUs + halfUs,
      call.fails?.(number) ?? false,
    ]
    for (const one of call.calls ?? []) {
      for (let time = 0; time < (one.times ?? 1); time++) {
        if (!one.beside) sinceUs = atUs
        const number = request * (one.times ?? 1) + time
        const { endUs, fails } = ask(one, call, { parent: id, startUs: sinceUs, number })
        atUs = Math.max(atUs, endUs)
        failed ||= fails
      }
    }
    return end(atUs + halfUs, failed)
  }
  serve(root, { parent: null, startUs, number: request })
  return spans
}

const checkout = (version: string, payments: Partial<Call> = {}): Call => ({
  of: 'checkout POST /pay',
  us: 4000,
  version,
  calls: [
    { of: 'SELECT cart', us: 2000, isDatabase: true },
    { of: 'payments POST /charge', us: 20_000, ...payments },
  ],
})
/** One of three replicas is `slowUs` farther away. */
const search = (slowUs: number): Call => {
  const replica = (call: number) => call % 3
  const wayUs = (call: number) => 300 + (replica(call) === 1 ? slowUs / 2 : 0)
  return {
    of: 'search GET /find',
    us: 3000,
    calls: [
      {
        of: 'index query',
        us: 8000,
        wayUs: (call) => [wayUs(call), wayUs(call)],
        says: (call) => ({ 'server.address': `10.4.0.${7 + replica(call)}` }),
      },
    ],
  }
}
const route = (name: string, us: number, calls: readonly Call[]): Call => ({
  of: `web ${name}`,
  us,
  calls,
})
const items: Call = { of: 'items list', us: 8000 }
const browse = route('GET /browse', 5000, [items])
const cart = (us: number) => route('GET /cart', 4000, [{ of: 'carts get', us }])
const report = route('GET /report', 9000, [{ of: 'reports sum', us: 60_000 }])
const exports = route('POST /export', 9000, [items, { of: 'files write', us: 40_000 }])
/** Of 17 logins one fails, by itself or in the database. */
const isSeventeenth = (call: number) => call % 17 === 5
const login = (login: Partial<Call> = {}, database: Partial<Call> = {}): Call => ({
  of: 'login POST /login',
  us: 5000,
  ...login,
  calls: [
    {
      of: 'users find',
      us: 3000,
      calls: [{ of: 'SELECT users', us: 1500, isDatabase: true, ...database }],
    },
  ],
})
const pods = (release: string) => (service: string, request: number) =>
  `${service}-${release}-${['x7k2p', 'q9m4d', 'b3n8s'][request % 3]}`
const page = (us: number, beside: boolean): Call => ({
  of: 'front GET /page',
  us,
  calls: [
    { of: 'ads pick', us: 12_000 },
    { of: 'news list', us: 15_000, beside },
  ],
})
const ROWS = 3
const orders = (moreUs: number, fromRequest = 0): Call => ({
  of: 'orders GET /orders',
  us: 3000,
  calls: [
    {
      of: 'SELECT lines',
      us: 2000,
      isDatabase: true,
      times: ROWS,
      moreUs: (call) => (call >= ROWS * fromRequest ? moreUs : 0),
    },
  ],
})

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

const one = (requests: number, root: Call, more: Partial<Period> = {}): Period => ({
  roots: [[requests, root]],
  ...more,
})
const MONTH = { everyUs: (30 * DAY_US) / 600 }

const WORLDS: Readonly<Record<string, readonly [before: Period, after: Period, Truth]>> = {
  'in transit, whose: a release of the caller opens a connection for each call': [
    one(300, checkout('2.3')),
    one(300, checkout('2.4', { wayUs: () => [12_300, 300] })),
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
    one(346, login({ fails: isSeventeenth })),
    { title: /^login: POST \/login fails in 2[01] of 346 calls \(0 of 198 before\)$/ },
  ],
  'failing requests: a query fails, and all that wait for it': [
    one(250, login()),
    one(250, login({}, { fails: isSeventeenth })),
    {
      title: /^users: SELECT users within find fails in 1[45] of 250 calls \(0 of 250 before\)$/,
      text: [/also seen in login: POST \/login fails in 1[45] of 250 calls/],
    },
  ],
  'all pods are new: nothing else changed': [
    one(300, page(3000, true), { host: pods('6d8f7c9b5') }),
    one(300, page(3000, true), { host: pods('7f5b4d6c8') }),
    { title: null },
  ],
  'all pods are new: calls are made one after the other': [
    one(300, page(3000, true), { host: pods('6d8f7c9b5') }),
    one(300, page(3000, false), { host: pods('7f5b4d6c8') }),
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
        compare(record('before', 2 * seed, before), record('after', 2 * seed + 1, later)),
        truth,
      )
    }
  })
})
