import { expect, test } from 'vitest'
import { restoreComparison, takeSnapshot } from '../../src/comparison/snapshot.ts'
import { nameStatements } from '../../src/flows/flow-logs.ts'
import { type ComparisonOptions, compare, explain, loadTraces } from '../../src/index.ts'
import { Dictionary } from '../../src/traces/dictionary.ts'
import { statementKey, statementParts } from '../../src/traces/log-records.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

/*
 * shop GET /order      |--------------------|   0 to 400 µs
 *   stock reserve         |------------|      100 to 300 µs; logs at 110, 150 and 290 µs
 */
const REQUESTS = 60

interface Line {
  readonly says: string
  readonly level?: string
  readonly atUs: number
  readonly ids?: 'both' | 'trace' | 'none'
}

const USUAL: readonly Line[] = [
  { says: 'Stock#31 reserve 5 pieces', atUs: 110 },
  { says: 'Stock#34 reserved in shelf 17', atUs: 150 },
]

function spansOf(
  prefix: string,
  tagsOf = (_request: number) => ({}),
): { name: string; bytes: string } {
  const spans = Array.from({ length: REQUESTS }, (_, i) => {
    const [traceId, timestamp] = [`${prefix}${i}`, 1e15 + i * 1000]
    const times = { timestamp, duration: 400 + (i % 7) }
    const root = { traceId, id: 'a1', name: 'GET /order', ...times, tags: tagsOf(i) }
    const reserve = { traceId, id: 'b2', parentId: 'a1', name: 'reserve', duration: 200 + (i % 5) }
    return [
      { ...root, localEndpoint: { serviceName: 'shop' } },
      { ...reserve, timestamp: timestamp + 100, localEndpoint: { serviceName: 'stock' } },
    ]
  })
  return { name: prefix, bytes: JSON.stringify(spans.flat()) }
}

function logOf(prefix: string, linesOf: (request: number) => readonly Line[]) {
  const lines = Array.from({ length: REQUESTS }, (_, i) =>
    linesOf(i).map(({ says, level = 'INFO', atUs, ids = 'both' }) =>
      JSON.stringify({
        time: (1e15 + i * 1000 + atUs) / 1e6,
        level,
        message: says,
        ...(ids !== 'none' && { trace_id: `${prefix}${i}` }),
        ...(ids === 'both' && { span_id: 'b2' }),
      }),
    ),
  )
  return { name: `${prefix}.log`, bytes: lines.flat().join('\n') }
}

function load(
  prefix: string,
  linesOf: (request: number) => readonly Line[] = () => USUAL,
  tagsOf?: (request: number) => object,
) {
  return loadTraces(spansOf(prefix, tagsOf), {
    logs: logOf(prefix, linesOf),
  }) as Promise<SpanTraces>
}

test('records lie in the span that they name, in order of time', async () => {
  const { logs, spans, services } = await load('b', () => USUAL.toReversed())
  expect(logs?.span.length).toBe(2 * REQUESTS)
  const [first, second] = logs?.statement ?? []
  expect(services.value(spans.service[logs?.span[0] ?? 0] ?? 0)).toBe('stock')
  expect(logs?.statements.value(first ?? 0)).toBe('info\tStock#31\treserve <num> pieces')
  expect(logs?.statements.value(second ?? 0)).toBe('info\tStock#34\treserved in shelf <num>')
  expect(logs?.timeUs.subarray(0, 2)).toEqual(Float64Array.from([110, 150]))
})

test('what a statement says keeps its tabs', () => {
  const [level, source, text] = ['error', 'Cart#37', 'no stock\tat Shop.buy\tat Shop.main'] as const
  expect(statementParts(statementKey(level, source, text))).toEqual({ level, source, text })
})

test('a record that names no span lies in the shortest one under way; others are counted', async () => {
  const strays: readonly Line[] = [
    { says: 'within the call', atUs: 200, ids: 'trace' },
    { says: 'of nobody', atUs: 200, ids: 'none' },
  ]
  // Most lines of a log are no request's: that is no reason to stop.
  const logs = logOf('b', () => strays)
  const traces = (await loadTraces(spansOf('b'), { logs, strict: true })) as SpanTraces
  const { logs: laid, spans, services } = traces
  expect(laid?.span.length).toBe(REQUESTS)
  expect(
    new Set(Array.from(laid?.span ?? [], (row) => services.value(spans.service[row] ?? 0))),
  ).toEqual(new Set(['stock']))
  expect(Object.fromEntries(traces.quality().counts)).toEqual({
    'log-without-id': REQUESTS,
    'log-without-span': REQUESTS,
  })
  const foreign = (await loadTraces(spansOf('b'), { logs: logOf('x', () => USUAL) })) as SpanTraces
  expect(Object.fromEntries(foreign.quality().counts)).toEqual({
    'log-without-trace': 2 * REQUESTS,
    'unused-logs': 1,
  })
})

/**
 * Spans of three services, whose hosts and pods are recorded:
 *   shop on shop-1           |--------------------|    0 to 400 µs
 *     stock on node-a            |------------|      100 to 300 µs, in pod stock-5c-a1
 *       cards on visa-0            |------|          120 to 200 µs
 */
const PLACED = JSON.stringify({
  resourceSpans: [
    ['shop', 'shop-1', 'shop-7d9f-x2', '', 'a1', 0, 400],
    ['stock', 'node-a', 'stock-5c-a1', 'a1', 'b2', 100, 300],
    ['cards', 'visa-0', 'z-0', 'b2', 'c3', 120, 200],
  ].map(([service, host, pod, parent, id, from, to]) => ({
    resource: {
      attributes: Object.entries({
        'service.name': service,
        'host.name': host,
        'k8s.pod.name': pod,
      }).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    },
    scopeSpans: [
      {
        spans: [
          {
            traceId: '5b8efff798038103d269b633813fc60c',
            spanId: `${id}`.repeat(8),
            parentSpanId: `${parent}`.repeat(8),
            name: 'work',
            startTimeUnixNano: `${1e18 + Number(from) * 1e3}`,
            endTimeUnixNano: `${1e18 + Number(to) * 1e3}`,
          },
        ],
      },
    ],
  })),
})
const OF_REQUEST = { traceId: '5b8efff798038103d269b633813fc60c', message: 'charge failed' }
const at = (us: number) => 1e9 + us / 1e6
const line = (fields: object, us = 150) =>
  JSON.stringify({ time: at(us), ...OF_REQUEST, ...fields })
const ofResource = (attributes: object) =>
  JSON.stringify({
    resourceLogs: [
      {
        resource: {
          attributes: Object.entries(attributes).map(([key, stringValue]) => ({
            key,
            value: { stringValue },
          })),
        },
        scopeLogs: [
          {
            logRecords: [
              {
                timeUnixNano: '1000000000000150000',
                traceId: OF_REQUEST.traceId,
                body: { stringValue: 'charge failed' },
              },
            ],
          },
        ],
      },
    ],
  })

test.each([
  ['a host that spans have', 'stock', line({ host: 'node-a' })],
  ['a host named after its service', 'shop', line({ hostname: 'shop-3' })],
  ['ECS: a host', 'stock', line({ host: { name: 'node-a' } })],
  [
    'ECS: a service, whatever the host',
    'shop',
    line({ service: { name: 'shop' }, host: 'visa-0' }),
  ],
  ['Kubernetes: a pod', 'stock', line({ kubernetes: { pod_name: 'stock-5c-a1', host: 'visa-0' } })],
  ['a pod that only spans know', 'cards', line({ pod: 'z-0' }, 390)],
  ['OTLP: a service', 'shop', ofResource({ 'service.name': 'shop' })],
  ['OTLP: a host', 'stock', ofResource({ 'host.name': 'node-a' })],
  ['OTLP: a pod', 'stock', ofResource({ 'k8s.pod.name': 'stock-5c-a1' })],
  [
    'syslog: a host',
    'stock',
    `<14>1 2001-09-09T01:46:40.000150Z node-a app 12 - - traceId=${OF_REQUEST.traceId} charge failed`,
  ],
  ['a moment after the spans of the host ended', 'cards', line({ host: 'visa-0' }, 350)],
])(
  'a record with a trace and %s lies in the span that was recorded there',
  async (_, service, bytes) => {
    const traces = (await loadTraces(
      { name: 'spans.json', bytes: PLACED },
      { logs: { name: 'all.log', bytes } },
    )) as SpanTraces
    const rows = Array.from(traces.logs?.span ?? [])
    expect(rows.map((row) => traces.services.value(traces.spans.service[row] ?? 0))).toEqual([
      service,
    ])
    expect(Object.fromEntries(traces.quality().counts)).toEqual({})
  },
)

test.each([
  ['its file is named after', 'shop.log', line({})],
  ['an unknown host leaves to the file', 'shop.log', line({ host: 'node-z' })],
  ['its host is of, not the file', 'cards.log', line({ host: 'shop-1' })],
])('a record with a trace lies in a span of the service that %s', async (_, name, bytes) => {
  const spans = { name: 'spans.json', bytes: PLACED }
  const traces = (await loadTraces(spans, { logs: { name, bytes } })) as SpanTraces
  const [row = -1] = traces.logs?.span ?? []
  expect(traces.services.value(traces.spans.service[row] ?? 0)).toBe('shop')
})

test('an exception lies where the record that tells of it was written', async () => {
  const bytes = line({
    host: 'shop-1',
    stack_trace: 'java.io.IOException: No space left\n\tat A.b(A.java:1)',
  })
  const spans = { name: 'spans.json', bytes: PLACED }
  const traces = (await loadTraces(spans, { logs: { name: 'all.log', bytes } })) as SpanTraces
  const services = Array.from(traces.logs?.span ?? [], (row) =>
    traces.services.value(traces.spans.service[row] ?? 0),
  )
  expect(services).toEqual(['shop', 'shop'])
})

test('another path of the code is found though no span changed, named by its statements', async () => {
  const [usual] = USUAL
  const failing = { says: 'Stock#37 shelf 17 is gone', level: 'ERROR', atUs: 150 }
  const [before, after] = [await load('b'), await load('a', () => [usual as Line, failing])]
  const comparison = compare(before, after)
  const [finding] = comparison.findings.findings
  expect(finding?.title).toBe(
    'stock: reserve after Stock#31 no longer logs #34 (60 of 60 calls before); new: ERROR #37 in 60 of 60 calls (0 of 60 before)',
  )
  expect(finding?.services).toEqual(['stock'])
  expect(finding?.exemplars.after[0]).toBe('a0')
  expect(finding?.size.value).toBe(-1)
  expect(finding?.since?.fromStart).toBe(true)
  const page = takeSnapshot(comparison, { ids: true, latenciesOf: () => true })
  expect(restoreComparison(page).findings.findings.map(({ title }) => title)).toEqual([
    finding?.title,
  ])
  // Half of the requests have half of the records.
  const some = after.between('0s', '30ms')
  expect(some.logs?.span.length).toBe(60)
  expect(compare(before, some).findings.findings[0]?.services).toEqual(['stock'])
})

test('the same path gives no finding, whatever the values and the order of files', async () => {
  const lines = (request: number): Line[] => [
    { says: `Stock#31 reserve ${request} pieces`, atUs: 110 },
    { says: `Stock#34 reserved in shelf ${request % 9}`, atUs: 150 },
    ...(request % 3 === 0 ? [{ says: 'cache miss', level: 'DEBUG', atUs: 120 }] : []),
  ]
  const findings = compare(await load('b', lines), await load('a', lines)).findings
  expect(findings.findings).toEqual([])
})

test('lines of code that moved log the same statements', async () => {
  const moved = USUAL.map((line) => ({ ...line, says: line.says.replace('#3', '#13') }))
  const findings = compare(await load('b'), await load('a', () => moved)).findings
  expect(findings.findings).toEqual([])
})

test('a line that logs the same at another level is another statement', () => {
  const logs = (keys: string[]) => ({
    span: new Uint32Array(),
    timeUs: new Float64Array(),
    statement: new Uint32Array(),
    statements: new Dictionary(keys),
  })
  const { statements, codes } = nameStatements(
    [
      logs([statementKey('info', 'A#1', 'x y'), statementKey('info', 'B', 'logged in user eve')]),
      logs([statementKey('error', 'A#2', 'x y'), statementKey('info', 'B', 'logged in user bob')]),
    ],
    1,
  )
  expect(codes[0]?.[0]).not.toBe(codes[1]?.[0])
  expect(codes[0]?.[1]).toBe(codes[1]?.[1])
  expect(statements[codes[0]?.[1] ?? -1]?.text).toBe('logged in user <*>')
})

test('a service whose log is missing in one period, or ends early, is not said to take another path', async () => {
  const early = (request: number) => (request < 40 ? USUAL : [])
  for (const lines of [early, () => []]) {
    expect(compare(await load('b'), await load('a', lines)).findings.findings).toEqual([])
    expect(compare(await load('b', lines), await load('a')).findings.findings).toEqual([])
  }
  // Errors that come count, also where nothing was logged before.
  const error = { says: 'shelf 17 is gone', level: 'ERROR', atUs: 150 }
  const { findings } = compare(await load('b', () => []), await load('a', () => [error])).findings
  expect(findings[0]?.what).toBe(
    'reserve now logs ERROR “shelf <num> is gone” in 60 of 60 calls (0 of 60 before)',
  )
})

test('a message that begins with a word in capitals is quoted whole, as that is no level', async () => {
  const lost = { says: 'GET /shelf/17 is done', level: 'INFO', atUs: 150 }
  const [usual] = USUAL
  const both = () => [usual as Line, lost]
  const { findings } = compare(
    await load('b', both),
    await load('a', () => [usual as Line]),
  ).findings
  expect(findings[0]?.what).toMatch(/ no longer logs “GET <path> is done” /)
})

test('logs of one period alone say nothing', async () => {
  const findings = compare(await load('b'), await loadTraces(spansOf('a'))).findings
  expect(findings.findings).toEqual([])
})

test('trace points have no spans for logs', async () => {
  const dot = {
    name: 'g.dot',
    bytes:
      '# 1 R: 5 usecs RT: 0.0 usecs\ndigraph G {\n1.1 [label="a"]\n1.2 [label="b"]\n1.1 -> 1.2 [label="R: 5 us"]\n}\n',
  }
  await expect(loadTraces(dot, { logs: logOf('b', () => USUAL) })).rejects.toThrow(
    'logs beside traces of spans',
  )
})

describeWithShared('a fault of the Nezha benchmark', () => {
  test('the line of code that failed is named, of Docker JSON in CSV as it is', {
    tags: ['full'],
  }, async () => {
    const file = (name: string) =>
      sharedFile(`data/nezha-faults/230129-085206/${name}.csv.gz`) as string
    const period = (name: string) => loadTraces(file(name), { logs: file(`${name}-logs`) })
    const [finding] = compare(await period('before'), await period('after')).findings.findings
    expect(finding?.title).toContain(
      'ts-contacts-service: ContactsController.getContactsByContactsId after ContactsServiceImpl#31 no longer logs #34',
    )
    expect(finding?.title).toContain('new: ERROR #37 in 13 of 13 calls (0 of 23 before)')
  })
})

/** What shop and stock logged without a trace: stock from a pod, warning as often as is said. */
function looseLog(start: number, warnings: (second: number) => number) {
  const lines = Array.from({ length: 300 }, (_, i) => {
    const at = (says: string, pod: string) => ({
      time: start / 1e6 + i / 10,
      level: 'warn',
      msg: says,
      pod,
    })
    return [
      at('cache missed', 'shop-7d9f-x2'),
      at('beat', 'other-1'),
      at('swept', 'stock-5c-a1'),
      ...Array.from({ length: warnings(i) }, () => at('retry reserve of 10.0.0.1', 'stock-5c-a1')),
    ]
  })
  return {
    name: 'all.log',
    bytes: lines
      .flat()
      .map((line) => JSON.stringify(line))
      .join('\n'),
  }
}

/** Requests of half a minute; those of `stock` take so much longer. */
function spread(prefix: string, longerUs: number) {
  const spans = Array.from({ length: 300 }, (_, i) => {
    const [traceId, timestamp] = [`${prefix}${i}`, 1e15 + i * 1e5]
    const root = {
      traceId,
      id: 'a1',
      name: 'GET /order',
      timestamp,
      duration: 900 + longerUs + (i % 7),
    }
    const reserve = {
      traceId,
      id: 'b2',
      parentId: 'a1',
      name: 'reserve',
      timestamp: timestamp + 100,
    }
    return [
      { ...root, localEndpoint: { serviceName: 'shop' } },
      { ...reserve, duration: 200 + longerUs + (i % 5), localEndpoint: { serviceName: 'stock' } },
    ]
  })
  return { name: prefix, bytes: JSON.stringify(spans.flat()) }
}

test('records without ids are told with the findings of the service that a pod is named after', async () => {
  const load2 = (prefix: string, longerUs: number, warnings: (second: number) => number) =>
    loadTraces(spread(prefix, longerUs), { logs: looseLog(1e15, warnings) })
  const before = await load2('b', 0, () => 0)
  const slow = await load2('a', 300, (i) => i % 2)
  const comparison = compare(before, slow)
  const [finding] = comparison.findings.findings
  expect(finding?.services).toEqual(['stock'])
  expect(finding?.facts).toContain('its logs have new WARN “retry reserve of <ip>” (150 times)')
  expect(comparison.findings.findings.flatMap(({ facts }) => facts).join()).not.toMatch(
    /swept|missed|beat/,
  )
  const parts = { latenciesOf: () => true, arrivals: true, ids: true }
  const restored = restoreComparison(takeSnapshot(comparison, parts))
  expect(restored.findings.findings[0]?.facts).toEqual(finding?.facts)
  // One burst, however large, is no change of a service's logs.
  const burst = compare(before, await load2('a', 300, (i) => (i === 200 ? 150 : 0)))
  expect(burst.findings.findings[0]?.facts.join()).not.toContain('its logs')
})

describeWithShared('records with and without ids in one incident', () => {
  test('the exception is named, and the decoy is not in the title', {
    tags: ['full'],
    timeout: 60_000,
  }, async () => {
    const at = (name: string) =>
      sharedFile(`data/hdx-eval/deploy-regression-7/${name}.jsonl.gz`) as string
    const [before, after] = await Promise.all(
      ['before', 'after'].map((period) => loadTraces(at(period), { logs: at(`${period}-logs`) })),
    )
    const [first] = compare(before as SpanTraces, after as SpanTraces).findings.findings
    expect(first?.text).toContain(
      "TypeError: Cannot read properties of undefined (reading 'percentOff')",
    )
    expect(first?.text).toMatch(/its logs have new WARN “[^”]*deprecation” \(\d+ times\)/)
    expect(first?.title).not.toMatch(/deprecation/i)
  })
})

test('an explanation separates requests by the statements that their spans log', async () => {
  const other: readonly Line[] = [{ says: 'Stock#40 reserved from memory', atUs: 150 }]
  const after = await load('a', (request) => (request % 4 === 0 ? USUAL : other))
  const comparison = compare(await load('b'), after)
  const [finding] = comparison.findings.findings
  expect(finding?.title).toContain('new: #40')
  const text = finding && explain(comparison, finding).text()
  // Both lines divide requests alike: the first of them is named.
  expect(text).toContain('Where stock reserve · logs Stock#31 (recorded) is no, requests are of')
})

test('with paths: logged, requests of another path of the code are a category of their own', async () => {
  const other: readonly Line[] = [
    { says: 'Stock#31 reserve 5 pieces', atUs: 110 },
    { says: 'Stock#40 reserved from memory', atUs: 150 },
  ]
  // Now and then in both periods: it tells no paths apart.
  const retries = (lines: readonly Line[]) => (request: number) =>
    request % 5 === 0 ? [...lines, { says: 'Stock#36 retry', atUs: 160 }] : lines
  const [before, after] = [await load('b', retries(USUAL)), await load('a', retries(other))]
  expect(compare(before, after).categories.size).toBe(1)
  const comparison = compare(before, after, { paths: 'logged' })
  const { categories, ranking } = comparison
  expect(categories.size).toBe(2)
  expect(categories.structure(0).labels).toContain('stock reserve reply after logging Stock#34')
  expect(categories.structure(1).labels).toContain('stock reserve reply after logging Stock#40')
  const [mutation] = ranking.mutations
  expect(mutation?.kind).toBe('structural')
  expect(mutation?.precursors.map(({ category, weight }) => [category, weight])).toEqual([[0, 1]])
  expect(restoreComparison(takeSnapshot(comparison)).categories.size).toBe(2)
})

test('attributes in labels and paths of the code tell requests apart together', async () => {
  const other: readonly Line[] = [
    { says: 'Stock#31 reserve 5 pieces', atUs: 110 },
    { says: 'Stock#40 reserved from memory', atUs: 150 },
  ]
  const tenant = (request: number) => ({ tenant: request % 2 ? 'gold' : 'free' })
  const [before, after] = [
    await load('b', () => USUAL, tenant),
    await load('a', () => other, tenant),
  ]
  const sizeOf = (options: Partial<ComparisonOptions>) =>
    compare(before, after, options).categories.size
  expect(sizeOf({ labelBy: ['tenant'] })).toBe(2)
  const both = compare(before, after, { labelBy: ['tenant'], paths: 'logged' })
  expect(both.categories.size).toBe(4)
  const labels = [0, 1, 2, 3].flatMap((category) => both.categories.structure(category).labels)
  expect(labels).toContain('shop GET /order [tenant=gold] call')
  expect(labels).toContain('stock reserve reply after logging Stock#40')
  expect(restoreComparison(takeSnapshot(both)).categories.size).toBe(4)
})
