import { expect, test } from 'vitest'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { compare } from '../../src/index.ts'
import type { AttributeValue } from '../../src/traces/attributes.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'

/** A call that a request of `web` makes. */
interface Call {
  readonly operation?: string
  /** What the call says of what it calls. */
  readonly says?: Readonly<Record<string, AttributeValue>>
  /** The service that recorded its side of it. */
  readonly answers?: string
  readonly us?: number
  readonly fails?: boolean
}

/** Traces of requests of `web`, one a list of calls, one after the other. */
function period(name: string, requests: readonly (readonly Call[])[]) {
  const sketches = requests.flatMap((calls, i): SpanSketch[] => {
    const trace = `${name}-${i}`
    const root = { trace, id: 'r', service: 'web', operation: 'GET /', kind: 'server' } as const
    const start = 1e6 * i
    let now = start + 100
    const below = calls.flatMap(
      ({ operation = 'GET', says = {}, answers, us = 1000, fails }, k) => {
        const times = { startUs: now, endUs: now + us + (i % 7) }
        const id = `c${k}`
        const own = {
          trace,
          id,
          parent: 'r',
          service: 'web',
          operation,
          attributes: says,
          ...times,
        }
        now = times.endUs + 10
        const served = { trace, id: `s${k}`, parent: id, operation: 'serve', ...times }
        return [
          {
            ...own,
            kind: 'client' as const,
            status: fails ? ('error' as const) : ('unset' as const),
          },
          ...(answers ? [{ ...served, service: answers, kind: 'server' as const }] : []),
        ]
      },
    )
    return [{ ...root, startUs: start, endUs: now }, ...below]
  })
  return makeSpans(sketches, name)
}

const REDIS = { says: { 'db.system': 'redis', 'server.address': 'cache-0.internal' } }
const BUCKET = { says: { 'server.address': 'art.s3.example.com' } }

/** What the calls of `web` are named, by period. */
function names(before: readonly Call[], after: readonly Call[] = before): string[][] {
  const flows = buildFlows([period('before', [before]), period('after', [after])])
  return [0, 1].map((request) => {
    const codes = [...flows.shapes.labels(flows.shapeOf[request] as number)]
    const labels = codes.map((code) => flows.labels.get(code))
    const calls = labels.filter(({ service, phase }) => service === 'web' && phase === 'call')
    return calls.map(({ operation }) => operation).slice(1)
  })
}

test('calls of one name are told apart by the system or the host that they go to', () => {
  const both = ['GET to redis', 'GET to art.s3.example.com']
  expect(names([REDIS, BUCKET])).toEqual([both, both])
  expect(names([{ operation: 'x', ...REDIS }])).toEqual([['x'], ['x']])
})

test('a method of HTTP alone says nothing, so that its only target is named', () => {
  const url = { operation: 'PUT', says: { 'url.full': 'https://user@raw.example.com:8443/a?b' } }
  expect(names([url])[0]).toEqual(['PUT to raw.example.com'])
})

test('services that record spans are no targets, by whatever address', () => {
  const stock = (pod: string) => ({ says: { 'server.address': pod }, answers: 'stock' })
  const plain = [['GET', 'GET', 'GET to redis']]
  expect(names([stock('10.0.0.1'), stock('stock-1.svc'), REDIS]).slice(0, 1)).toEqual(plain)
  const lost = { says: { 'server.address': 'stock-2.svc' } }
  expect(names([stock('stock-1.svc'), lost, REDIS]).slice(0, 1)).toEqual(plain)
})

test('hosts that differ in words with digits are one target', () => {
  const shard = (n: number) => ({ says: { 'server.address': `es-${n}.internal` } })
  const named = ['GET to es-*.internal', 'GET to es-*.internal', 'GET to redis']
  expect(names([shard(1), shard(27), REDIS])[0]).toEqual(named)
})

test('what moves between the periods, or says its target in one alone, keeps its name', () => {
  const moved = { says: { 'server.address': 'art.blob.example.com' } }
  expect(names([REDIS, BUCKET], [REDIS, moved])).toEqual([
    ['GET to redis', 'GET'],
    ['GET to redis', 'GET'],
  ])
  expect(names([REDIS, { says: {} }], [REDIS, BUCKET]).flat()).toEqual(Array(4).fill('GET'))
})

test('a cache that is hit less often is told as calls to what lies behind it', () => {
  const requests = (every: number) =>
    Array.from({ length: 200 }, (_, i) =>
      i % every === 0 ? [REDIS, { ...BUCKET, us: 30_000 }] : [REDIS],
    )
  const { findings } = compare(period('before', requests(20)), period('after', requests(2)))
  expect(findings.findings.map(({ title }) => title)).toEqual([
    'web: GET / calls art.s3.example.com GET after cache-0.internal GET to redis in 100 of 200 calls (10 of 200 before)',
  ])
})

test('a call that fails names its target once', () => {
  const call = { operation: 'POST', says: { 'server.address': 'tax.vendor.example' } }
  const requests = (every: number) =>
    Array.from({ length: 200 }, (_, i) => [{ ...call, fails: i % every === 1 }])
  const { findings } = compare(period('before', requests(1)), period('after', requests(2)))
  expect(findings.findings[0]?.title).toMatch(
    /^web → tax\.vendor\.example: POST fails in 100 of 200 calls/,
  )
})
