import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { NOON_US, type SpanSketch } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'

type Said = Pick<SpanSketch, 'operation' | 'attributes'>

/** What the web server and the stock it asks are called in a period, by request. */
interface Names {
  readonly web: (request: number) => Said
  readonly stock?: (request: number) => Said
}

const REQUESTS = 240

/** A web server that asks a stock, whose own work takes `stockUs`; two clients ask in turn. */
function period(name: string, { web, stock }: Names, stockUs: number) {
  const given = { seed: name.length + stockUs, requests: REQUESTS, fromUs: NOON_US, name }
  return record(given, (r) => {
    const about = (us: number) => us * (0.9 + 0.2 * r.next())
    const at = { kind: 'server', client: { us: [50, 50], operation: 'GET' } } as const
    const find = call('stock find', about(stockUs), { ...at, ...stock?.(r.index) })
    return call('web', about(4000), { kind: 'server', ...web(r.index) }, [find])
  })
}

const ids = (i: number) => (i * 7919) % 100_003
const hash = (i: number) => (0xa0000000 + ids(i) * 7).toString(16)
const slug = (i: number) =>
  `${String.fromCharCode(97 + (i % 26), 97 + ((i * 7) % 25))}${'xyz'[i % 3]}`
const words = [
  'alder',
  'birch',
  'cedar',
  'elder',
  'fir',
  'hazel',
  'larch',
  'maple',
  'oak',
  'pine',
  'rowan',
  'yew',
]
const called = (operation: string, attributes: Said['attributes'] = {}) => ({
  operation,
  attributes,
})
const constant = (operation: string, attributes?: Said['attributes']) => () =>
  called(operation, attributes)

const WORLDS: Readonly<Record<string, readonly [before: Names, after: Names, now: string]>> = {
  'numbers in roots': [
    { web: (i) => called(`GET /cart/${ids(i)}`) },
    { web: (i) => called(`GET /cart/${2e5 + ids(i)}`) },
    'GET /cart/{id}',
  ],
  'hashes within': [
    { web: constant('GET /cart'), stock: (i) => called(`find ${hash(i)}`) },
    { web: constant('GET /cart'), stock: (i) => called(`find ${hash(i + 5000)}`) },
    'find {id}',
  ],
  'words, each rare': [
    { web: (i) => called(`GET /${words[i % 12]}-${slug(i)}/cart`) },
    { web: (i) => called(`GET /${words[(i + 5) % 12]}+${slug(i)}/cart`) },
    'GET /{id}/cart',
  ],
  'a template gained': [
    { web: (i) => called(`GET /users/u${ids(i)}/cart`) },
    { web: constant('GET /users/:user/cart') },
    'GET /users/:user/cart',
  ],
  'a template lost': [
    { web: constant('PUT /orders/<int:order>') },
    { web: (i) => called(`PUT /orders/${ids(i)}`) },
    'PUT /orders/<int:order>',
  ],
  'one name that becomes two, with a route': [
    { web: constant('HTTP request', { 'http.route': '/cart/{id}' }) },
    {
      web: (i) =>
        called(i % 2 ? 'GET /cart/{id}' : 'POST /cart/{id}', { 'http.route': '/cart/{id}' }),
    },
    'HTTP request',
  ],
  'one name that becomes two, without': [
    { web: constant('HTTP request') },
    { web: (i) => called(i % 3 ? 'read' : 'write') },
    'HTTP request',
  ],
  'three names that become one, without': [
    { web: (i) => called(['first', 'second', 'third'][i % 3]!) },
    { web: constant('page') },
    'page',
  ],
  'a method of an RPC': [
    { web: constant('GET /cart'), stock: constant('stock.Stock/Find', { 'rpc.method': 'Find' }) },
    { web: constant('GET /cart'), stock: constant('grpc', { 'rpc.method': 'Find' }) },
    'grpc',
  ],
}

describe('operations that are called otherwise in one period', () => {
  test.each(Object.entries(WORLDS))(
    '%s: one operation, slower or not',
    (_, [before, after, now]) => {
      const [was, is, slower] = [
        period('before', before, 5000),
        period('after', after, 5000),
        period('slower', after, 9000),
      ]
      const same = compare(was, is)
      expect(same.findings.findings.map(({ title }) => title)).toEqual([])
      expect(same.categories.size).toBe(1)
      const spans = same.flows.labels
      const names = Array.from({ length: spans.size }, (_, code) => spans.get(code).operation)
      expect(names).toContain(now)
      const [finding] = compare(was, slower).findings.findings
      expect(finding?.title).toMatch(/^stock: .* itself takes (3\.9\d?|4(\.0\d?)?) ms longer$/)
      expect(finding?.shareOfChange).toBeCloseTo(1, 1)
      // The other way round, too.
      const [faster] = compare(slower, was).findings.findings
      expect(faster?.title).toMatch(/^stock: .* itself takes (3\.9\d?|4(\.0\d?)?) ms less$/)
    },
  )

  test('methods of two RPC services that have one name stay two operations', () => {
    const of = (prefix: string): Names => ({
      web: (i) => {
        const service = i % 2 ? 'Cart' : 'User'
        return called(`${prefix}${service}/Get`, { 'rpc.service': service, 'rpc.method': 'Get' })
      },
    })
    const { categories } = compare(
      period('before', of(''), 5000),
      period('after', of('shop.'), 5000),
    )
    expect(categories.size).toBe(2)
  })

  test('numbers that both periods have tell operations apart', () => {
    const shards: Names = { web: (i) => called(`GET /shard/${i % 4}`) }
    const { categories } = compare(period('before', shards, 5000), period('after', shards, 5000))
    expect(categories.size).toBe(4)
  })

  test('versions that clients move between are two', () => {
    const of = (every: number): Names => ({ web: (i) => called(`GET /v${i % every ? 1 : 2}/cart`) })
    const { categories } = compare(period('before', of(8), 5000), period('after', of(2), 5000))
    expect(categories.size).toBe(2)
  })

  test('what is no operation of before is not merged with one that stays', () => {
    const one: Names = { web: constant('GET /cart') }
    const two: Names = { web: (i) => called(i % 4 ? 'GET /cart' : 'GET /help') }
    const { categories } = compare(period('before', one, 5000), period('after', two, 5000))
    expect(categories.size).toBe(2)
  })

  test('says how many names are compared as one', () => {
    const [before, after] = WORLDS['numbers in roots']!
    const warnings = compare(
      period('before', before, 5000),
      period('after', after, 5000),
    ).warnings()
    const told = warnings.find(({ code }) => code === 'recorded-otherwise')
    expect(told?.message).toBe(
      '480 names like web GET /cart/0 are compared as one, GET /cart/{id}.',
    )
  })
})
