import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { NOON_US } from '../../make-traces.ts'
import { call, record } from '../../worlds.ts'

interface Hop {
  /** Whether the shop records its side of the call. */
  readonly client?: boolean
  /** Proxies on the way, from the outside, each of the shop or the stock. */
  readonly proxies?: readonly (readonly [service: 'shop' | 'stock', kind: 'client' | 'server'])[]
  /** What each proxy adds. */
  readonly proxyUs?: number
  readonly stockUs?: number
}

const REQUESTS = 200
const SIDECARS = [
  ['shop', 'client'],
  ['stock', 'server'],
] as const

/** A shop that asks a stock, through what there is on the way. */
function period(name: string, { client, proxies = [], proxyUs = 100, stockUs = 5000 }: Hop) {
  const seed = name.length + stockUs + proxyUs
  return record({ seed, requests: REQUESTS, fromUs: NOON_US, name }, (r) => {
    const [ownUs, workUs] = [2000, stockUs].map((us) => us * (0.95 + 0.1 * r.next()))
    const stock = call('stock find', workUs!, { kind: 'server' })
    const asked = proxies.reduceRight(
      (inner, [service, kind]) => call(`${service} stock:8080`, proxyUs, { kind }, [inner]),
      stock,
    )
    if (!client) return call('shop GET /', ownUs! + 200, { kind: 'server' }, [asked])
    const get = call('shop GET', 200, { kind: 'client' }, [asked])
    return call('shop GET /', ownUs!, { kind: 'server' }, [get])
  })
}

const titles = (before: Hop, after: Hop) =>
  compare(period('before', before), period('after', after)).findings.findings.map(
    ({ title }) => title,
  )

const LAYERS: Readonly<Record<string, readonly [before: Hop, after: Hop]>> = {
  'sidecars come beside clients': [{ client: true }, { client: true, proxies: SIDECARS }],
  'sidecars come where no client was': [{}, { proxies: SIDECARS }],
  'one sidecar comes, before the server': [
    { client: true },
    { client: true, proxies: [SIDECARS[1]] },
  ],
  'one sidecar comes, behind the client': [
    { client: true },
    { client: true, proxies: [SIDECARS[0]] },
  ],
  'clients are recorded': [{}, { client: true }],
}

describe('spans on the way of calls, of one period', () => {
  test.each(Object.entries(LAYERS))('%s, or go: nothing changed', (_, [without, layered]) => {
    expect(titles(without, layered)).toEqual([])
    expect(titles(layered, without)).toEqual([])
  })

  test.each(Object.entries(LAYERS))('%s: what is called takes longer', (_, [without, layered]) => {
    const [slower] = titles(without, { ...layered, stockUs: 9000 })
    expect(slower).toMatch(/^stock: find itself takes (3\.9\d?|4(\.0\d?)?) ms longer/)
    const [faster] = titles({ ...layered, stockUs: 9000 }, without)
    expect(faster).toMatch(/^stock: find itself takes (3\.9\d?|4(\.0\d?)?) ms less/)
  })

  test('that take time make the way longer, or what waits for it where no side of it was recorded', () => {
    const slow = { proxies: SIDECARS, proxyUs: 3000 }
    const { findings } = compare(
      period('before', { client: true }),
      period('after', { client: true, ...slow }),
    ).findings
    expect(findings).toHaveLength(1)
    expect(findings[0]?.title).toMatch(
      /^shop → stock: find takes (5\.8|5\.9|6)\d* ms longer in transit/,
    )
    const [own, ...others] = compare(period('before', {}), period('after', slow)).findings.findings
    expect(others).toEqual([])
    expect(own?.title).toMatch(/^shop: GET \/ itself takes (5\.8|5\.9|6)\d* ms longer/)
    expect(own?.text).toContain('shop calls through stock:8080, recorded only after: ')
  })

  test('of a service of their own are calls', () => {
    const after = record({ seed: 1, requests: REQUESTS, fromUs: NOON_US, name: 'after' }, (r) => {
      const find = call('stock find', 5000, { kind: 'server' })
      const gateway = call('gateway', 13_000, { kind: 'server' }, [find])
      return call('shop GET /', 2000 + (r.index % 9), { kind: 'server' }, [gateway])
    })
    const { findings } = compare(period('before', {}), after).findings
    expect(findings[0]?.title).toMatch(/gateway/)
  })
})
