import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'

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
  const random = randomSource(name.length + stockUs + proxyUs)
  const spans = Array.from({ length: REQUESTS }, (_, i): SpanSketch[] => {
    const [ownUs, workUs] = [2000, stockUs].map((us) => us * (0.95 + 0.1 * random.next()))
    const wayUs = 200 + proxies.length * proxyUs
    const trace = `${name}-${i}`
    let startUs = NOON_US + i * 1e6
    let endUs = startUs + ownUs! + workUs! + wayUs
    const made: SpanSketch[] = [
      { trace, id: 'shop', service: 'shop', operation: 'GET /', kind: 'server', startUs, endUs },
    ]
    const add = (id: string, sketch: Partial<SpanSketch>, us: number) => {
      startUs += us / 2
      endUs -= us / 2
      made.push({ trace, id, parent: made.at(-1)!.id, startUs, endUs, ...sketch })
    }
    if (client) add('client', { service: 'shop', operation: 'GET', kind: 'client' }, ownUs!)
    proxies.forEach(([service, kind], at) => {
      const own = at === 0 && !client ? ownUs! : 0
      add(`proxy ${at}`, { service, operation: 'stock:8080', kind }, own + (at > 0 ? proxyUs : 50))
    })
    const left = endUs - startUs - workUs!
    add('stock', { service: 'stock', operation: 'find', kind: 'server' }, left)
    return made
  })
  return makeSpans(spans.flat(), name)
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
    const gateway = (traces: SpanSketch[]) => makeSpans(traces, 'after')
    const spans = Array.from({ length: REQUESTS }, (_, i): SpanSketch[] => {
      const at = { trace: `${i}`, kind: 'server' as const }
      const startUs = NOON_US + i * 1e6
      return [
        { ...at, id: 'shop', operation: 'GET /', startUs, endUs: startUs + 20_000 + (i % 9) },
        { ...at, id: 'gateway', parent: 'shop', startUs: startUs + 1000, endUs: startUs + 19_000 },
        {
          ...at,
          id: 'stock',
          parent: 'gateway',
          operation: 'find',
          startUs: startUs + 6000,
          endUs: startUs + 11_000,
        },
      ]
    })
    const { findings } = compare(period('before', {}), gateway(spans.flat())).findings
    expect(findings[0]?.title).toMatch(/gateway/)
  })
})
