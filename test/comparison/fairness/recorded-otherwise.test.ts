import { describe, expect, test } from 'vitest'
import { wholeShifts } from '../../../src/compare/findings/request-findings.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { headline } from '../../../src/explain/headline.ts'
import { AFTER, countText } from '../../../src/flows/flow-set.ts'
import { randomSource } from '../../../src/stats/index.ts'
import type { SpanKind } from '../../../src/traces/span-columns.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'
import { call, spansOf } from '../../worlds.ts'

//  web GET   ├──────────────────────────────┤
//    call      ├────────────────────────┤       web LIST, of shop
//    LIST        ├────────────────────┤         shop LIST
//      db           ├──────┤                    shop SELECT, within shop
const COUNT = 300

interface Recording {
  readonly seed: number
  /** Spans that are not recorded. */
  readonly without?: (span: SpanSketch, random: () => number) => boolean
  readonly operation?: string
  /** Spans of a request as they are otherwise. */
  readonly change?: (span: SpanSketch, request: number) => SpanSketch
  /** Spans put between a span and what it calls: `id` of the outer one. */
  readonly layer?: string
  readonly layerUs?: number
  readonly dbUs?: number
  /** Spans one after another at the start of `web GET` and `shop LIST`, of 1 % of what these take unless `stepUs` says. */
  readonly steps?: readonly string[]
  readonly stepKind?: SpanKind
  readonly stepUs?: number
  /** Added to what web does itself. */
  readonly webUs?: number
  /** Operation of a server span of shop, 200 µs longer at either end, that hands the call on to `LIST`. */
  readonly relay?: string
}

function period({
  seed,
  without,
  change = (span) => span,
  operation,
  layer,
  layerUs = 0,
  dbUs = 4000,
  webUs = 0,
  steps = [],
  stepKind = 'internal',
  stepUs,
  relay,
}: Recording) {
  const name = operation ?? 'LIST'
  const given = { seed, requests: COUNT, everyUs: 1e5, name: `trace-${seed}` }
  const all = spansOf(given, (r) => {
    const spread = (us: number) => us * (0.7 + 0.6 * r.next())
    const [there, own, db, rest] = [spread(500), spread(3000), spread(dbUs), spread(3000)]
    const is = (id: string, kind: SpanKind) => ({ id: `${id}${r.index}`, kind })
    const select = call('shop SELECT', db, is('d', 'client'))
    const inner = layer && call(`shop ${layer}`, [own, rest], { id: `l${r.index}` }, [select])
    const around = inner
      ? ([layerUs, layerUs] as const)
      : ([layerUs + own, rest + layerUs] as const)
    const wayUs = relay === undefined ? there : there - 200
    const client = { ...is('c', 'client'), us: [wayUs, wayUs], operation: name } as const
    const served = is('s', 'server')
    const calls = [inner || select]
    const list =
      relay === undefined
        ? call(`shop ${name}`, around, { ...served, client }, calls)
        : call(`shop ${relay}`, 400, { ...is('p', 'server'), client }, [
            call(`shop ${name}`, around, served, calls),
          ])
    return call('web GET', [1000, 1000 + webUs], is('r', 'server'), [list])
  })
  const within = all
    .filter(({ kind }) => kind === 'server')
    .flatMap(({ startUs, endUs, ...span }) =>
      steps.map((operation, step) => {
        const [id, parent] = [`${operation} of ${span.id}`, span.id]
        const us = stepUs ?? 0.01 * (endUs - startUs)
        const times = { startUs: startUs + step * us, endUs: startUs + (step + 1) * us }
        return { ...span, id, parent, operation, kind: stepKind, ...times }
      }),
    )
  const random = randomSource(seed + 1e6).next
  const spans = [...all, ...within].filter((span) => !without?.(span, random))
  const requestOf = ({ trace }: SpanSketch) => Number(trace?.split('-').at(-1))
  return makeSpans(
    spans.map((span) => change(span, requestOf(span))),
    `period ${seed}`,
  )
}

const isCall = ({ id }: SpanSketch) => id.startsWith('c')

function told(before: Recording, after: Recording) {
  const comparison = compare(period(before), period(after))
  const [first] = comparison.warnings()
  return {
    findings: comparison.findings.findings.map(({ title }) => title),
    warning: first?.code === 'recorded-otherwise' ? first.finding : null,
  }
}

describe('recorded-otherwise', () => {
  const ALIKE = ', though its work is done in both periods.'
  test.each([
    ['of a service', ({ service }: SpanSketch) => service === 'shop', 'shop records no spans'],
    ['of calls, whose other sides have no caller then', isCall, 'web records no LIST spans'],
    ['of an operation', ({ id }: SpanSketch) => id.startsWith('d'), 'shop records no SELECT spans'],
  ])(
    'lost spans %s are a warning and no slowdown, whichever period lacks them',
    (_, without, says) => {
      const { findings, warning } = told({ seed: 1 }, { seed: 2, without })
      expect(findings).toEqual([])
      const spans = says === 'shop records no spans' ? 600 : 300
      expect(warning).toBe(`${says} after (${spans} before)${ALIKE}`)
      const back = told({ seed: 2, without }, { seed: 1 })
      expect(back.findings).toEqual([])
      expect(back.warning).toBe(`${says.replace('no ', '')} only after (${spans})${ALIKE}`)
    },
  )

  test('an operation that is only called otherwise is told so, and costs nothing', () => {
    const { findings, warning } = told({ seed: 1 }, { seed: 2, operation: 'FIND' })
    expect(findings).toEqual([])
    expect(warning).toBe('shop LIST is now called FIND.')
  })

  describe('several calls of one caller, each by another name, one of them by three', () => {
    const own = { steps: ['SELECT stock', 'INSERT order'], stepKind: 'client' } as const
    const change = (span: SpanSketch, i: number) => {
      const db = `db-${(i * 7) % 3}`
      const [verb, table] = span.operation?.split(' ') ?? []
      const operation = verb === 'SELECT' ? `SELECT ${db}.${table}` : `INSERT db.${table}`
      const isStep = own.steps.some((step) => step === span.operation)
      return { ...span, attributes: { db }, ...(isStep && { operation }) }
    }
    const plain = (span: SpanSketch, i: number) => ({
      ...change(span, i),
      operation: span.operation ?? 'GET',
    })

    test('are told so, and cost nothing', () => {
      const { findings, warning } = told(
        { seed: 1, ...own, change: plain },
        { seed: 2, ...own, change },
      )
      expect(findings).toEqual([])
      expect(warning).toContain(
        'shop SELECT stock is now called SELECT db-0.stock, SELECT db-1.stock, SELECT db-2.stock; ' +
          'shop INSERT order is now called INSERT db.order',
      )
    })

    test('are changes where they take another time, of all requests and not of those with one name', () => {
      const { findings, warning } = told(
        { seed: 1, ...own, change: plain, stepUs: 400 },
        { seed: 2, ...own, change, stepUs: 1000 },
      )
      expect(warning).toBeNull()
      expect(findings.join()).toContain('SELECT stock')
      expect(findings.filter((title) => title.includes('where'))).toEqual([])
    })
  })

  describe('server spans that hand calls on to others of their service, as sidecars do', () => {
    const sidecar = { relay: 'shop:8080/*' }

    test.each([
      [{}, sidecar, 'records shop:8080/* spans only after (300)'],
      [sidecar, {}, 'records no shop:8080/* spans after (300 before)'],
    ])(
      'are a warning and no finding where one period alone has them: %j, %j',
      (one, other, says) => {
        const alike = told({ seed: 1, ...one }, { seed: 2, ...other })
        expect(alike).toEqual({ findings: [], warning: `shop ${says}, which only pass calls on.` })
        const slower = told({ seed: 1, ...one }, { seed: 2, ...other, layerUs: 1500 })
        expect(slower.findings).toHaveLength(1)
        expect(slower.findings[0]).toMatch(/^shop: LIST itself takes (2\.9|3)\d* ms longer/)
      },
    )

    test('leave a slowdown to the operation that serves the call, where it has a condition', () => {
      const db = (i: number) => (i % 4 === 0 ? 'eu' : 'us')
      const change = (slowUs: number) => (span: SpanSketch, i: number) => {
        const longer = db(i) === 'eu' && !span.id.startsWith('d') ? slowUs : 0
        const attributes = span.id.startsWith('s') ? { region: db(i) } : {}
        return { ...span, attributes, endUs: span.endUs + longer }
      }
      const { findings } = told(
        { seed: 1, ...sidecar, change: change(0) },
        { seed: 2, ...sidecar, change: change(3000) },
      )
      expect(findings).toHaveLength(1)
      expect(findings[0]).toMatch(
        /^shop: LIST itself takes .* longer, only where shop region = eu$/,
      )
    })

    test('are known to a snapshot, which has no kinds of spans', () => {
      const comparison = compare(
        period({ seed: 1 }),
        period({ seed: 2, ...sidecar, layerUs: 1500 }),
      )
      const restored = restoreComparison(takeSnapshot(comparison, { latenciesOf: () => true }))
      const titles = ({ findings }: typeof comparison) =>
        findings.findings.map(({ title }) => title)
      expect(titles(restored)).toEqual(titles(comparison))
    })

    test('that become slower are not what serves the call', () => {
      const change = (span: SpanSketch) =>
        'rcp'.includes(span.id[0]!) ? { ...span, endUs: span.endUs + 3000 } : span
      const { findings } = told({ seed: 1, ...sidecar }, { seed: 2, ...sidecar, change })
      expect(findings).toHaveLength(1)
      expect(findings[0]).toMatch(/^web → shop: .*LIST takes 3\.\d+ ms longer/)
    })
  })

  test('a layer that is recorded within what took as long before is no finding', () => {
    const { findings, warning } = told({ seed: 1 }, { seed: 2, layer: 'middleware' })
    expect(findings).toEqual([])
    expect(warning).toBe(`shop records middleware spans only after (300)${ALIKE}`)
  })

  test.each([[['authn']], [['authn', 'decode', 'metrics']]])(
    'steps %s that an upgrade records of every call are no findings, though they cover less than noise',
    (steps) => {
      const names = steps.join(', ')
      const spans = 300 * steps.length
      const { findings, warning } = told({ seed: 1 }, { seed: 2, steps })
      expect(findings).toEqual([])
      expect(warning).toBe(
        `web records ${names} spans only after (${spans})${ALIKE.slice(0, -1)}; ` +
          `shop records ${names} spans only after (${spans})${ALIKE}`,
      )
      expect(told({ seed: 2, steps }, { seed: 1 }).findings).toEqual([])
    },
  )

  test('where spans have no kinds, a step of three services by one name is recorded otherwise, one of two is a finding', () => {
    const shops = (count: number) => (span: SpanSketch, i: number) => {
      const service = span.service === 'shop' ? `shop ${i % count}` : 'web'
      return { ...span, kind: 'internal' as const, service }
    }
    const findingsOf = (count: number) =>
      told(
        { seed: 1, change: shops(count) },
        { seed: 2, change: shops(count), steps: ['authn'] },
      ).findings.map((title) => title.slice(0, 29))
    expect(findingsOf(2)).toEqual([])
    expect(findingsOf(1)).toEqual(['shop 0: LIST now calls authn '])
  })

  test('beside steps that are recorded anew, what takes longer and what is called no more stay findings', () => {
    const steps = ['authn', 'decode']
    const slower = told({ seed: 1 }, { seed: 2, steps, webUs: 3000 })
    expect(slower.findings.map((title) => title.slice(0, 23))).toEqual(['web: GET itself takes 3'])
    const without = ({ id }: SpanSketch) => id.startsWith('d')
    const fewer = told({ seed: 1 }, { seed: 2, steps, without, dbUs: 0 })
    expect(fewer.findings).toEqual(['shop: LIST no longer calls SELECT (300 of 300 calls before)'])
  })

  test.each([
    ['that makes its caller longer by as much', { layerUs: 1000, stepUs: 2000 }],
    ['that is a call of what is not recorded', { stepKind: 'client' }],
  ] as const)('a new step %s is a finding, though every call has it', (_, steps) => {
    const { findings, warning } = told({ seed: 1 }, { seed: 2, steps: ['authn'], ...steps })
    expect(findings[0]).toContain('shop: LIST now calls authn')
    expect(warning).not.toContain('shop')
  })

  test('a root that is only called otherwise is one kind of request, and a slowdown beneath it is found', () => {
    const isPaid = (span: SpanSketch) => span.id.startsWith('r')
    const renamed = (name: string) => (span: SpanSketch, i: number) =>
      isPaid(span) && i % 3 === 0 ? { ...span, operation: name } : span
    const comparison = compare(
      period({ seed: 1, change: renamed('POST /pay/{id}') }),
      period({ seed: 2, change: renamed('POST /pay/:id'), dbUs: 6000 }),
    )
    expect(comparison.findings.findings[0]?.title).toContain('shop: SELECT within LIST takes 1.9')
    expect(comparison.findings.findings[0]?.requests).toBe(300)
    expect(comparison.warnings().map(({ code, finding }) => `${code}: ${finding}`)).toEqual([
      'recorded-otherwise: web POST /pay/{id} is now called POST /pay/:id.',
    ])
  })

  describe('routes that make the same calls, and what these call', () => {
    const routed =
      (routes: readonly string[], name = (operation: string) => operation) =>
      (span: SpanSketch, i: number): SpanSketch => {
        const route = routes[i % routes.length]!
        const says = { 'http.request.method': 'GET', 'http.route': route }
        if (span.id.startsWith('r')) {
          return { ...span, operation: name(`GET ${route}`), attributes: says }
        }
        return span.operation === 'LIST'
          ? { ...span, operation: name('shop.Shop/List'), attributes: { 'rpc.method': 'List' } }
          : span
      }
    const routes = ['/cart', '/pay', '/user']
    const later = (operation: string) =>
      operation.startsWith('GET') ? `HTTP ${operation}` : operation.split('/').at(-1)!

    test('are known by what they say of themselves where all are called otherwise at once', () => {
      const change = routed(routes, later)
      const { findings, warning } = told({ seed: 1, change: routed(routes) }, { seed: 2, change })
      expect(findings).toEqual([])
      expect(warning).toBe(
        'web GET /cart is now called HTTP GET /cart; shop shop.Shop/List is now called List; web GET /pay is now called HTTP GET /pay and 1 more.',
      )
      const slow = compare(
        period({ seed: 1, change: routed(routes) }),
        // Twice as many of one route, none of another.
        period({ seed: 2, dbUs: 6000, change: routed(['/cart', '/cart', '/pay'], later) }),
      )
      const [first] = slow.findings.findings
      expect(first?.title).toContain('shop: SELECT within List takes 1.8')
      expect(first?.requests).toBe(300)
    })

    test('are others where they say otherwise, and are more or fewer', () => {
      const of = (given: readonly string[]) => ({ change: routed(given) })
      const gone = told({ seed: 1, ...of(routes) }, { seed: 2, ...of(['/cart', '/user']) })
      expect(gone.warning).toBeNull()
      const come = told({ seed: 1, ...of(['/cart', '/user']) }, { seed: 2, ...of(routes) })
      expect(come.warning).toBeNull()
      const another = told(
        { seed: 1, ...of(['/cart', '/user', '/pay']) },
        { seed: 2, ...of(['/cart', '/user', '/offer', '/cart', '/user', '/user']) },
      )
      expect(another.warning).toBeNull()
    })

    test('a call that names another query replaces one, whatever takes its place', () => {
      const query = (text: string) => (span: SpanSketch, i: number) =>
        span.id.startsWith('d')
          ? {
              ...span,
              operation: text,
              attributes: { 'db.system': 'mysql', 'db.query.text': text },
            }
          : routed(routes)(span, i)
      const { findings, warning } = told(
        { seed: 1, change: query('SELECT items') },
        { seed: 2, dbUs: 6000, change: query('SELECT goods') },
      )
      expect(findings[0]).toContain('calls mysql SELECT goods instead of mysql SELECT items')
      expect(warning).toBeNull()
    })
  })

  test('a call in the place of another, in half as many requests, is another call', () => {
    const isOdd = ({ id }: SpanSketch) => !id.startsWith('r') && Number(id.slice(1)) % 2 === 1
    const { findings, warning } = told({ seed: 1 }, { seed: 2, operation: 'FIND', without: isOdd })
    expect(warning).toBeNull()
    expect(findings[0]).toContain('web: GET no longer calls shop LIST')
  })

  const renaming = (name: string) => (span: SpanSketch) =>
    span.service === 'shop' ? { ...span, service: name } : span

  test('a renamed service is one service, and that it takes longer itself is found', () => {
    const same = told({ seed: 1 }, { seed: 2, change: renaming('store') })
    expect(same).toEqual({ findings: [], warning: 'shop is now called store.' })
    const { findings } = told({ seed: 1 }, { seed: 2, change: renaming('store'), layerUs: 1000 })
    expect(findings.map((title) => title.slice(0, 35))).toEqual([
      'store: LIST itself takes 1.93 ms lo',
    ])
  })

  test('services that are renamed together, the one that requests begin with too, are told each', () => {
    const change = (span: SpanSketch) => ({ ...span, service: `new ${span.service}` })
    expect(told({ seed: 1 }, { seed: 2, change })).toEqual({
      findings: [],
      warning: 'web is now called new web; shop is now called new shop.',
    })
  })

  test('a service with other operations, or beside one that stays, replaces another and is not it', () => {
    const other = (span: SpanSketch) =>
      span.service === 'shop'
        ? { ...span, service: 'store', operation: `v2 ${span.operation}` }
        : span
    const replaced = told({ seed: 1 }, { seed: 2, change: other })
    expect(replaced.warning ?? '').not.toContain('is now called store')
    expect(replaced.findings[0]).toContain('web: GET calls store v2 LIST instead of shop LIST')
    const some = (span: SpanSketch, i: number) => (i % 2 ? renaming('store')(span) : span)
    const beside = told({ seed: 1 }, { seed: 2, change: some })
    expect(beside.warning).toBeNull()
    expect(beside.findings[0]).toContain('store LIST')
  })

  test('a root that calls otherwise, or is another share of requests, is another kind of request', () => {
    const mix = (name: string, every: number) => (span: SpanSketch, i: number) =>
      span.id.startsWith('r') && i % every === 0 ? { ...span, operation: name } : span
    const comparison = compare(
      period({ seed: 1, change: mix('POST /pay', 2) }),
      period({ seed: 2, change: mix('POST /buy', 5) }),
    )
    const codes = comparison.warnings().map(({ code }) => code)
    expect(codes).toContain('request-mix')
    expect(codes).not.toContain('recorded-otherwise')
  })

  test('parts that lost spans leave are no requests: neither their means, mix nor number changed', () => {
    const without = ({ id }: SpanSketch) => id.startsWith('s')
    const comparison = compare(period({ seed: 1 }), period({ seed: 2, without }))
    const { findings, flows } = comparison
    expect(flows.count(AFTER)).toBe(600)
    expect(countText(flows, AFTER)).toBe('300 (and 300 fragments)')
    expect(findings.text()).toMatch(/^No significant change\. With 300 requests before, 300 after/)
    expect(findings.requests).toBe(300)
    expect(headline(comparison).title).toBe('No change found')
    expect(comparison.warnings().map(({ code }) => code)).toEqual([
      'recorded-otherwise',
      'orphans',
      'nothing-in-common',
    ])
    const [{ shiftUs }] = wholeShifts(flows)
    const [, own] = wholeShifts(compare(period({ seed: 1 }), period({ seed: 2 })).flows)
    expect(Math.abs(shiftUs)).toBeLessThan(300)
    expect(wholeShifts(flows)[1].shiftUs).toBeCloseTo(own.shiftUs)
  })

  test('a slowdown beside lost spans is told of whole requests', () => {
    const without = ({ id }: SpanSketch) => id.startsWith('s')
    const after = { seed: 2, without, webUs: 3000 }
    const { findings } = compare(period({ seed: 1 }), period(after))
    expect(findings.findings[0]).toMatchObject({ requests: 300, concerned: [300, 300] })
    expect(findings.findings[0]?.title).toContain('web: GET itself takes 3')
    expect(findings.observedChangeUs).toBeGreaterThan(300 * 2500)
  })

  test('a call that is no longer made takes no time, and stays a finding', () => {
    const without = ({ id }: SpanSketch) => id.startsWith('d')
    const { findings, warning } = told({ seed: 1 }, { seed: 2, without, dbUs: 0 })
    expect(warning).toBeNull()
    expect(findings[0]).toContain('shop: LIST no longer calls SELECT')
  })

  test('of spans lost at random, calls that seem left out are no finding, nor time in transit', () => {
    const without = (_: SpanSketch, random: () => number) => random() < 0.05
    const comparison = compare(period({ seed: 1 }), period({ seed: 2, without }))
    expect(comparison.findings.findings.map(({ title }) => title)).toEqual([])
    expect(comparison.warnings()[0]?.code).toBe('orphans')
  })

  test('what a lost layer called is missed by its caller, and is no time of that', () => {
    const without = ({ operation }: SpanSketch, random: () => number) =>
      operation === 'query' && random() < 0.2
    const [before, after] = [{ seed: 1 }, { seed: 2, without }].map((one) =>
      period({ ...one, layer: 'query' }),
    )
    const { findings } = compare(before!, after!)
    expect(findings.findings.map(({ title }) => title)).toEqual([])
  })

  test('a call that ten requests make under another name is renamed, too', () => {
    const isOther = ({ id }: SpanSketch) => id.startsWith('d') && Number(id.slice(1)) >= 10
    const change = (span: SpanSketch) =>
      span.id.startsWith('d') ? { ...span, operation: 'SELECT shop.items' } : span
    const [before, after] = [
      { seed: 1, without: isOther },
      { seed: 2, without: isOther, change },
    ].map(period)
    const comparison = compare(before!, after!)
    expect(comparison.findings.findings.map(({ title }) => title)).toEqual([])
    const [renamed] = comparison.warnings().filter(({ code }) => code === 'recorded-otherwise')
    expect(renamed?.finding).toContain('shop SELECT is now called SELECT shop.items')
  })

  test('that a service is not called is no condition where spans were lost', () => {
    // Every other request calls no shop, and takes six times as long.
    const longer = (span: SpanSketch, i: number) => ({
      ...span,
      endUs: span.startUs + (i % 2 ? 6 : 1) * (span.endUs - span.startUs),
    })
    const lost = (span: SpanSketch, random: () => number) =>
      span.id.startsWith('s') && random() < 0.6
    const mixed = (seed: number, without: Recording['without'] = () => false) =>
      period({
        seed,
        change: longer,
        without: (span, random) =>
          (Number(span.id.slice(1)) % 2 === 1 && !span.id.startsWith('r')) || without(span, random),
      })
    const { findings } = compare(mixed(1), mixed(2, lost))
    expect(findings.findings.map(({ title }) => title)).toEqual([])
  })
})
