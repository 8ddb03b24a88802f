import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetWriteFile } from 'hyparquet-writer'
import { afterAll, describe, expect, test } from 'vitest'
import { type Comparison, compare } from '../../../src/comparison/comparison.ts'
import { restoreComparison, takeSnapshot } from '../../../src/comparison/snapshot.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans, NOON_US, type SpanSketch } from '../../make-traces.ts'
import type { Json } from '../../traces/stores/recorded-traces.ts'
import { call, record } from '../../worlds.ts'

//  h1 gateway  |== POST /orders ===========|
//  h2 orders     |== PlaceOrder =========|
//  h2 orders          |publish|
//  h1 shipping                    |process|            a child of publish
//  h3 mail                             |process|       a trace of its own, linked to publish
//  h3 count                                  |process| the same, linked to five of publish

interface Shop {
  readonly seed?: number
  readonly requests?: number
  /** By who receives: how long a message waits, on average. */
  readonly waitUs?: Readonly<Record<string, number>>
  /** Of these messages, so much more. */
  readonly stuck?: (message: number) => boolean
  readonly stuckUs?: number
  /** By host: how far its clock is ahead. */
  readonly aheadUs?: Readonly<Record<string, number>>
  /** Share of messages that shipping receives again. */
  readonly again?: number
  readonly publishUs?: number
  readonly mailHosts?: readonly string[]
  /** What shipping takes for a message: on one host of four, and on the others. */
  readonly processUs?: readonly [number, number]
}

function shop({
  seed = 1,
  requests = 150,
  publishUs = 1500,
  mailHosts = ['h3'],
  ...given
}: Shop = {}): SpanTraces {
  const {
    waitUs = {},
    aheadUs = {},
    stuck = () => false,
    again = 0,
    processUs,
    stuckUs = 2e6,
  } = given
  const random = randomSource(seed)
  const spans: SpanSketch[] = []
  // Waits wander: a slow one is followed by slow ones.
  let [level, startUs] = [0, NOON_US + (seed % 100) * 1e9]
  const vary = (us: number, spread = 0.4) => us * Math.exp(spread * random.normal())
  const add = (span: Omit<SpanSketch, 'operation'> & { host: string; operation: string }) => {
    const ahead = aheadUs[span.host] ?? 0
    spans.push({ ...span, startUs: span.startUs + ahead, endUs: span.endUs + ahead })
  }
  const sent: { trace: string; id: string; endUs: number }[] = []
  for (let i = 0; i < requests; i++) {
    level = 0.9 * level + 0.15 * random.normal()
    const trace = `order ${String(i).padStart(4, '0')}`
    startUs -= 1e6 * Math.log(1 - random.next())
    const publishAtUs = startUs + 1400 + vary(8000)
    const endUs = publishAtUs + publishUs
    const received = (who: string) =>
      endUs + vary((waitUs[who] ?? 20_000) * Math.exp(level)) + (stuck(i) ? stuckUs : 0)
    const root = { trace, service: 'gateway', host: 'h1' }
    add({
      ...root,
      id: 'a',
      operation: 'POST /orders',
      kind: 'server',
      startUs,
      endUs: endUs + 4e3,
    })
    const called = { startUs: startUs + 500, endUs: endUs + 3e3 }
    add({ ...root, ...called, id: 'b', parent: 'a', operation: 'PlaceOrder', kind: 'client' })
    const orders = { trace, service: 'orders', host: 'h2' }
    const served = { startUs: startUs + 1e3, endUs: endUs + 2500 }
    add({ ...orders, ...served, id: 'c', parent: 'b', operation: 'PlaceOrder', kind: 'server' })
    const publish = { id: 'd', parent: 'c', operation: 'orders publish', kind: 'producer' } as const
    add({ ...orders, ...publish, startUs: publishAtUs, endUs })
    sent.push({ trace, id: 'd', endUs })
    const process = { operation: 'orders process', kind: 'consumer' } as const
    const takes = (atUs: number, us = 9000) => ({ startUs: atUs, endUs: atUs + vary(us) })
    const host = processUs && i % 4 > 0 ? 'h4' : 'h1'
    const shipping = { ...process, trace, parent: 'd', service: 'shipping', host }
    const atUs = received('shipping')
    add({ ...shipping, ...takes(atUs, processUs?.[host === 'h1' ? 0 : 1]), id: 'e' })
    if (random.next() < again) add({ ...shipping, ...takes(atUs + 3e5), id: 'f' })
    const mail = {
      ...process,
      trace: `mail ${trace}`,
      service: 'mail',
      host: mailHosts[i % mailHosts.length] as string,
    }
    add({ ...mail, ...takes(received('mail')), id: 'g', links: [{ trace, id: 'd' }] })
    if (i % 5 < 4) continue
    const count = { ...process, trace: `count ${trace}`, service: 'count', host: 'h3' }
    add({ ...count, ...takes(received('count')), id: 'h', links: sent.slice(-5) })
  }
  return makeSpans(spans)
}

const titles = ({ findings }: Comparison) => findings.findings.map(({ title }) => title)

describe('messages that wait longer', () => {
  const usual = shop()
  const late = { seed: 2, waitUs: { shipping: 800_000, mail: 800_000, count: 20_000 } }
  const comparison = compare(usual, shop(late))

  test('are findings about who receives them, received as a child or by a link', () => {
    const { findings } = comparison.findings
    expect(findings.map(({ title }) => title.replace(/\d+ ms/, '… ms')).sort()).toEqual([
      'orders → mail: messages for orders process wait … ms longer',
      'orders → shipping: messages for orders process wait … ms longer',
    ])
    for (const { size, facts, look, contributionUs, steps, q } of findings) {
      const [low, high] = size.interval
      expect([size.unit, size.per]).toEqual(['µs', 'message'])
      expect(low).toBeLessThan(780_000)
      expect(high).toBeGreaterThan(780_000)
      expect(high - low).toBeLessThan(300_000)
      expect(q).toBeLessThan(1e-6)
      expect(facts.join(' · ')).toMatch(
        /ms longer per message \(95 % CI .*, outside response times/,
      )
      expect(look).toMatch(/\(lag of consumers, their number and their work\)$/)
      expect(contributionUs).toBe(0)
      expect(steps).toMatchObject([{ kind: 'call', part: 'message', caller: 'orders' }])
    }
  })

  test('are steps of the table, each with its counts', () => {
    const rows = comparison.steps
      .table()
      .objects()
      .filter((row) => (row as { kind: string }).kind === 'call message')
    const told = ({ caller, service, before, after, changed }: Record<string, unknown>) =>
      [caller, service, before, after, changed].join(' ')
    expect(rows.map((row) => told(row as Record<string, unknown>)).sort()).toEqual([
      'orders count 30 30 false',
      'orders mail 150 150 true',
      'orders shipping 150 150 true',
    ])
  })

  test('are found the same from a snapshot', () => {
    const snapshot = takeSnapshot(comparison, { latenciesOf: () => true })
    const restored = restoreComparison(JSON.parse(JSON.stringify(snapshot)))
    expect(titles(restored)).toEqual(titles(comparison))
  })

  test('of some of them alone, say of how many', () => {
    const after = shop({ seed: 3, requests: 300, stuck: (message) => message % 10 === 0 })
    expect(titles(compare(shop({ requests: 300 }), after)).join('\n')).toMatch(
      /mail: messages for orders process wait 2\.?\d* s longer in 1\d % of them/,
    )
  })

  test.each([2, 3])(
    'of one in %i alone, say so, though the typical one hardly waits longer',
    (n) => {
      const rarely = shop({ requests: 300, stuck: (message) => message % 12 === 0, stuckUs: 5e6 })
      for (const seed of [3]) {
        const stuck = (message: number) => message % n === 0
        const found = titles(compare(rarely, shop({ seed, requests: 300, stuck, stuckUs: 5e6 })))
        for (const who of ['mail', 'shipping']) {
          expect(found).toContainEqual(
            expect.stringMatching(
              `${who}: messages for orders process wait 4.\\d+ s longer in ${n === 2 ? 4 : 2}\\d % of them`,
            ),
          )
        }
      }
    },
  )

  test('are another finding than publishing them, which takes longer too', () => {
    const { findings } = compare(usual, shop({ ...late, publishUs: 60_000 })).findings
    expect(findings.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^orders: orders publish within PlaceOrder takes 5\d\.\d ms longer$/),
      expect.stringMatching(/^orders → \w+: messages for orders process wait \d+ ms longer/),
      expect.stringMatching(/^orders → \w+: messages for orders process wait \d+ ms longer/),
    ])
  })

  test('sooner, they are told as faster', () => {
    expect(titles(compare(shop(late), usual)).join('\n')).toMatch(
      /mail: messages for orders process wait \d+ ms less/,
    )
  })
})

describe('what consumers do longer', () => {
  test.each([
    ['on all hosts', [150_000, 150_000], /itself takes 1[34]\d ms longer$/, 1500],
    [
      'where sending takes still longer',
      [150_000, 150_000],
      /itself takes 1[34]\d ms longer$/,
      4e5,
    ],
    [
      'on one of two hosts',
      [150_000, 9000],
      /itself takes 1\d\d ms longer, only where .*host = h1$/,
      1500,
    ],
  ] as const)(
    '%s adds nothing to response times, as no request waits for it',
    (_, processUs, title, publishUs) => {
      const usual = shop({ processUs: [9000, 9000], requests: 300, publishUs })
      const { findings } = compare(
        usual,
        shop({ seed: 2, processUs, requests: 300, publishUs }),
      ).findings
      expect(findings.map((finding) => finding.title)).toEqual([expect.stringMatching(title)])
      expect(findings[0]?.contributionUs).toBe(0)
      expect(findings[0]?.facts.join(' · ')).toContain('no request waits for it')
    },
  )
})

describe('what is no longer wait', () => {
  test.each([4, 5])('periods that only chance tells apart, seed %i', (seed) => {
    expect(titles(compare(shop({ seed }), shop({ seed: seed + 50 })))).toEqual([])
  })

  test('messages that are received again: the first time counts', () => {
    expect(titles(compare(shop(), shop({ seed: 3, again: 0.5 })))).not.toContainEqual(
      expect.stringContaining('messages for'),
    )
  })

  test('publishing that takes longer, which its sender is told to', () => {
    const found = titles(compare(shop(), shop({ seed: 2, publishUs: 60_000 })))
    expect(found).toEqual([
      expect.stringMatching(/^orders: orders publish within PlaceOrder takes 5\d\.\d ms longer$/),
    ])
  })

  test.each([
    ['behind, by less than calls both ways say', { h1: -400 }],
    ['behind, corrected by calls both ways', { h1: -300_000 }],
    ['ahead, corrected by calls both ways', { h1: 300_000 }],
    ['behind, without any call that says so', { h3: -300_000 }],
    ['ahead, without any call that says so', { h3: 300_000 }],
    ['a little ahead, without any call that says so', { h3: 30_000 }],
  ])('a clock that is %s', (_, aheadUs) => {
    expect(titles(compare(shop(), shop({ seed: 2, aheadUs })))).toEqual([])
  })

  test.each([-350, 350])(
    'of short waits, a clock %i µs ahead, which calls both ways allow',
    (h1) => {
      const all = { requests: 400, waitUs: { shipping: 100 } }
      const after = shop({ ...all, seed: 2, aheadUs: { h1 } })
      expect(titles(compare(shop(all), after))).toEqual([])
    },
  )

  test.each([-300_000, 10_000])('other hosts, clocks %i µs apart', (apart) => {
    const aheadUs = { h3: apart / 3, h5: apart, h6: -apart / 2, h7: apart / 2 }
    const all = { requests: 300, aheadUs, waitUs: { mail: 3000 } }
    const before = shop({ ...all, mailHosts: ['h3', 'h6'] })
    const after = shop({ ...all, seed: 2, mailHosts: ['h5', 'h7'] })
    expect(titles(compare(before, after))).toEqual([])
  })

  test.each([
    ['on another host, whose clock is behind', { mailHosts: ['h5'], aheadUs: { h5: -2e6 } }],
    ['of a clock that is behind', { aheadUs: { h3: -2e6 } }],
    ['of a clock that is ahead', { aheadUs: { h3: 2e6 } }],
    ['where the sender’s clock is corrected by calls', { aheadUs: { h2: 300_000 } }],
  ])('unless waits spread further than any clock makes them: %s', (_, after) => {
    const late = shop({ seed: 2, waitUs: { mail: 800_000 }, ...after })
    expect(titles(compare(shop(), late))).toEqual([
      expect.stringMatching(/^orders → mail: messages for orders process wait \d{3} ms longer/),
    ])
  })

  test('a clock that is off does not hide a wait between others', () => {
    const after = shop({ seed: 2, aheadUs: { h3: -5e6 }, waitUs: { shipping: 200_000 } })
    expect(titles(compare(shop(), after))).toEqual([
      expect.stringMatching(/shipping: messages for orders process wait 1\d\d ms longer$/),
    ])
  })
})

describe('which messages are timed', () => {
  const at = (id: string, startUs: number, endUs: number, more: Partial<SpanSketch> = {}) =>
    ({ trace: id, id, service: id, startUs, endUs, ...more }) satisfies SpanSketch
  const send = (id: string, startUs: number, endUs: number, more: Partial<SpanSketch> = {}) =>
    at(id, startUs, endUs, { kind: 'producer', ...more })
  const receive = (id: string, startUs: number, to: readonly string[]) =>
    at(id, startUs, startUs + 5, {
      kind: 'consumer',
      links: to.map((of) => ({ trace: of, id: of })),
    })
  const waits = (spans: readonly SpanSketch[]) => {
    const { messages, labels } = buildFlows(makeSpans(spans))
    return Array.from(messages?.waitUs ?? [], (waitUs, i) => {
      const [from, to] = [messages!.sender, messages!.receiver].map(
        (column) => labels.get(column[i] as number).service,
      )
      return `${from} ${to} ${waitUs}`
    })
  }

  test('each link of a batch is one', () => {
    expect(waits([send('p', 0, 10), send('q', 5, 30), receive('c', 50, ['p', 'q'])])).toEqual([
      'p c 40',
      'q c 20',
    ])
  })

  test('a link that repeats the parent counts once', () => {
    const child = { ...receive('c', 50, ['p']), trace: 'p', parent: 'p' }
    expect(waits([send('p', 0, 10), child])).toEqual(['p c 40'])
  })

  test('each of several consumers gets it once, when it first does', () => {
    const again = { ...receive('again', 90, ['p']), service: 'c' }
    expect(
      waits([send('p', 0, 10), receive('d', 70, ['p']), again, receive('c', 50, ['p'])]),
    ).toEqual(['p d 60', 'p c 40'])
  })

  test('one that is received while it is still being sent did not wait', () => {
    expect(waits([send('p', 0, 10), receive('c', 5, ['p'])])).toEqual(['p c 0'])
  })

  test('of consumers that mostly begin before a message is sent, no wait is known', () => {
    const early = [send('p', 0, 10), { ...receive('b', -5, ['p']), service: 'c' }]
    expect(waits([...early, send('q', 0, 10, { service: 'p' }), receive('c', 50, ['q'])])).toEqual([
      'p c NaN',
      'p c NaN',
    ])
  })

  test('not those of calls, nor without the producer', () => {
    const called = at('s', 20, 30, { trace: 'p', parent: 'p', kind: 'server' })
    expect(
      waits([at('p', 0, 10, { kind: 'client' }), called, receive('c', 50, ['p', 'x'])]),
    ).toEqual([])
  })
})

describe('links', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-links-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  /** A row a span, under names of OTLP. */
  const flatRows = async (traces: SpanTraces) => {
    await traces.save(join(folder, 'flat.jsonl'))
    const lines = readFileSync(join(folder, 'flat.jsonl'), 'utf8').trim().split('\n')
    return lines.flatMap((line) =>
      (JSON.parse(line).resourceSpans as Json[]).flatMap(({ resource, scopeSpans }) =>
        (scopeSpans[0].spans as Json[]).map((span): Json => {
          const of = (key: string) =>
            resource.attributes.find((one: Json) => one['key'] === key).value.stringValue
          return {
            trace_id: span['traceId'],
            span_id: span['spanId'],
            parent_span_id: span['parentSpanId'],
            service_name: of('service.name'),
            host: of('host.name'),
            name: span['name'],
            kind: span['kind'],
            start_time_unix_nano: span['startTimeUnixNano'],
            end_time_unix_nano: span['endTimeUnixNano'],
            links: span['links'] ?? [],
          }
        }),
      ),
    )
  }
  const waitsOf = (traces: SpanTraces) => buildFlows(traces).messages?.waitUs

  test.each(['parquet', 'jsonl'])('say the same once they are saved as %s', async (ending) => {
    const traces = shop({ requests: 10 })
    const path = join(folder, `shop.${ending}`)
    await traces.save(path)
    const again = (await loadTraces(path)) as SpanTraces
    expect(waitsOf(again)).toHaveLength(30)
    expect(waitsOf(again)).toEqual(waitsOf(traces))
  })

  test.each([
    [
      'several saved files',
      async (traces: SpanTraces) => {
        const isEarly = (row: number) => Number(traces.ids[row]?.slice(-4)) < 30
        const paths = ['early', 'late'].map((half) => join(folder, `${half}.parquet`))
        for (const path of paths) {
          const rows = [...traces.ids.keys()].filter((row) => isEarly(row) === /early/.test(path))
          await traces.pick(rows).save(path)
        }
        return paths
      },
    ],
    [
      'DuckDB',
      async (traces: SpanTraces) => {
        await traces.save(join(folder, 'duck.parquet'))
        return `duckdb:${join(folder, 'duck.parquet')}`
      },
    ],
    [
      'Parquet with links as JSON',
      async (traces: SpanTraces) => {
        const rows = await flatRows(traces)
        const columnData = Object.keys(rows[0] as object).map((name) => ({
          name,
          data: rows.map((row) => (name === 'links' ? JSON.stringify(row[name]) : row[name])),
          type: name === 'kind' ? ('INT32' as const) : ('STRING' as const),
        }))
        parquetWriteFile({ filename: join(folder, 'flat.parquet'), columnData })
        return join(folder, 'flat.parquet')
      },
    ],
    [
      'DuckDB, with links as objects',
      async (traces: SpanTraces) => {
        const lines = (await flatRows(traces)).map((row) => JSON.stringify(row))
        writeFileSync(join(folder, 'flat.jsonl'), lines.join('\n'))
        return `duckdb:${join(folder, 'flat.jsonl')}`
      },
    ],
  ])('say the same in %s', async (_, saved) => {
    const late = shop({ seed: 2, requests: 60, waitUs: { mail: 800_000 } })
    const usual = shop({ requests: 60 })
    const [before, after] = [
      await loadTraces(await saved(usual)),
      await loadTraces(await saved(late)),
    ]
    expect(titles(compare(before, after))).toEqual(titles(compare(usual, late)))
    expect(titles(compare(before, after))).toEqual([expect.stringContaining('messages for')])
  })

  test('that are joined tell the same waits, and nothing of the order that receivers begin in', async () => {
    const joined = async (traces: SpanTraces, name: string) => {
      await traces.save(join(folder, name))
      return loadTraces(join(folder, name), { joinLinks: true })
    }
    const before = await joined(shop(), 'before.jsonl')
    const late = shop({ seed: 2, waitUs: { shipping: 800_000, mail: 800_000 } })
    expect(titles(compare(before, await joined(late, 'after.jsonl'))).sort()).toEqual([
      expect.stringMatching(/^orders → mail: messages for .*$/),
      expect.stringMatching(/^orders → shipping: messages for .*$/),
    ])
  })

  test('stay with traces that are picked, where both ends are', () => {
    const traces = shop({ requests: 10 })
    const rows = [...traces.ids.keys()]
    expect(waitsOf(traces.pick(rows.toReversed()))).toHaveLength(30)
    const orders = rows.filter((row) => traces.ids[row]?.startsWith('order'))
    expect(waitsOf(traces.pick(orders))).toHaveLength(10)
  })
})

test('a consumer of which nothing is recorded in one period stopped, or only records nothing: both are said', () => {
  const of = (consumes: boolean, fromUs: number) =>
    record({ seed: 1, requests: 60, fromUs: NOON_US + fromUs, name: `${fromUs}` }, (r) => {
      const late = { kind: 'consumer', isAsync: true, gapUs: 17_500 } as const
      const process = consumes && call('mailer process', 8000, late)
      const publish = call('shop publish', [500, 0], { kind: 'producer' }, [process])
      return call('shop', [2000, 2500 + 10 * (r.index % 7)], { kind: 'server' }, [publish])
    })
  const titles = (before: boolean, after: boolean) =>
    compare(of(before, 0), of(after, 1e9)).findings.findings.map(({ title }) => title)
  expect(titles(true, false)).toEqual([
    'shop: no mailer process follows publish (60 of 60 before): not received, or not recorded',
  ])
  expect(titles(false, true)).toEqual([
    'shop: mailer process follows publish in 60 of 60 calls (0 of 60 before): not received before, or not recorded',
  ])
})
