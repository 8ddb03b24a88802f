import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { plainSpans } from '../read-traces.ts'
import { describeWithClickHouse, insert, serveClickHouse } from './chdb.ts'
import {
  fileOf,
  type Json,
  type RecordedTrace,
  recordedTraces,
  stretchOf,
} from './recorded-traces.ts'
import { type Reply, serve } from './serve.ts'

const BEFORE = withAllSorts(recordedTraces('before', 120))
const AFTER = recordedTraces('after', 120)

/** Gives spans events, links, versions and values of all types. */
function withAllSorts(traces: readonly RecordedTrace[]): RecordedTrace[] {
  let sent: Json | undefined
  for (const { resourceSpans } of traces) {
    for (const [i, { resource, scopeSpans }] of resourceSpans.entries()) {
      resource.attributes.push({ key: 'service.version', value: { stringValue: '1.4' } })
      const [span] = scopeSpans[0].spans as Json[]
      if (span === undefined) continue
      span['attributes'].push(
        { key: 'it’s "quoted"', value: { stringValue: 'back\\slash\nand line' } },
        { key: 'is.half', value: { doubleValue: 0.5 } },
        { key: 'is.true', value: { boolValue: true } },
      )
      span['events'] = [
        { name: 'retry', attributes: [{ key: 'attempt', value: { intValue: i } }] },
        { name: 'plain', attributes: [] },
      ]
      if (i === 1) span['status'] = { code: 2, message: 'no luck' }
      if (i === 3) {
        const { traceId, spanId } = sent ?? span
        Object.assign(span, { kind: 5, links: [{ traceId, spanId, attributes: [] }] })
      }
      if (i === 4) sent = Object.assign(span, { kind: 4 })
      if (i === 2) {
        const reference = { key: 'opentracing.ref_type', value: { stringValue: 'follows_from' } }
        span['links'] = [
          { traceId: span['traceId'], spanId: span['parentSpanId'], attributes: [reference] },
        ]
      }
    }
  }
  return [...traces]
}

const KINDS = ['Unspecified', 'Internal', 'Server', 'Client', 'Producer', 'Consumer']
const STATUSES = ['Unset', 'Ok', 'Error']

type Spans = (span: Json, resource: Json, service: string) => Json

/** A row for each span. */
function rowsOf(traces: readonly RecordedTrace[], row: Spans): Json[] {
  return traces.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }: Json) =>
        (spans as Json[]).map((span) => {
          const own = (resource.attributes as Json[]).find(({ key }) => key === 'service.name')
          return row(span, resource, own?.['value'].stringValue)
        }),
      ),
    ),
  )
}

const plain = ({ stringValue, intValue, doubleValue, boolValue }: Json) =>
  stringValue ?? intValue ?? doubleValue ?? boolValue
const objectOf = (attributes: readonly Json[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))
const textsOf = (attributes: readonly Json[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, String(plain(value))]))
const nanos = (name: string, span: Json) => String(span[name])
const duration = (span: Json) =>
  String(BigInt(span['endTimeUnixNano']) - BigInt(span['startTimeUnixNano']))
const dateTime = (ns: string) => `${ns.slice(0, -9)}.${ns.slice(-9)}`

const collectorRow =
  (attributes: (list?: readonly Json[]) => Json, more: (span: Json) => Json = () => ({})): Spans =>
  (span, resource, service) => ({
    Timestamp: dateTime(nanos('startTimeUnixNano', span)),
    TraceId: span['traceId'],
    SpanId: span['spanId'],
    ParentSpanId: span['parentSpanId'] ?? '',
    TraceState: '',
    SpanName: span['name'],
    SpanKind: KINDS[span['kind']],
    ServiceName: service,
    ResourceAttributes: attributes(resource['attributes']),
    SpanAttributes: { ...attributes(span['attributes']), ...more(span) },
    Duration: duration(span),
    StatusCode: STATUSES[span['status'].code],
    StatusMessage: span['status'].message ?? '',
    'Events.Timestamp': (span['events'] as Json[]).map(() =>
      dateTime(nanos('startTimeUnixNano', span)),
    ),
    'Events.Name': (span['events'] as Json[]).map(({ name }) => name),
    'Events.Attributes': (span['events'] as Json[]).map((event) => attributes(event['attributes'])),
    'Links.TraceId': (span['links'] as Json[]).map(({ traceId }) => traceId),
    'Links.SpanId': (span['links'] as Json[]).map(({ spanId }) => spanId),
    'Links.TraceState': (span['links'] as Json[]).map(() => ''),
    'Links.Attributes': (span['links'] as Json[]).map((link) => attributes(link['attributes'])),
  })

const JAEGER_TYPES = {
  bool: 'boolValue',
  double: 'doubleValue',
  int: 'intValue',
  str: 'stringValue',
}
const jaegerLists = (prefix: string, attributes: readonly Json[] = []) =>
  Object.fromEntries(
    Object.entries(JAEGER_TYPES).flatMap(([type, field]) => {
      const own = attributes.filter(({ value }) => value[field] !== undefined)
      return [
        [`${prefix}${type}_attributes.key`, own.map(({ key }) => key)],
        [`${prefix}${type}_attributes.value`, own.map(({ value }) => value[field])],
      ]
    }),
  )
const jaegerPairs = (parent: string, each: readonly Json[]) =>
  Object.fromEntries(
    Object.entries({ ...JAEGER_TYPES, complex: 'none' }).map(([type, field]) => [
      `${parent}.${type}_attributes`,
      each.map(({ attributes = [] }) =>
        (attributes as Json[])
          .filter(({ value }) => value[field] !== undefined)
          .map(({ key, value }) => ({ key, value: value[field] })),
      ),
    ]),
  )
const jaegerRow: Spans = (span, resource, service) => ({
  id: span['spanId'],
  trace_id: span['traceId'],
  parent_span_id: span['parentSpanId'] ?? '',
  name: span['name'],
  kind: KINDS[span['kind']]?.toLowerCase(),
  service_name: service,
  start_time: dateTime(nanos('startTimeUnixNano', span)),
  duration: duration(span),
  status_code: STATUSES[span['status'].code],
  status_message: span['status'].message ?? '',
  ...jaegerLists('', span['attributes']),
  ...jaegerLists('resource_', resource['attributes']),
  'events.name': (span['events'] as Json[]).map(({ name }) => name),
  'events.timestamp': (span['events'] as Json[]).map(() =>
    dateTime(nanos('startTimeUnixNano', span)),
  ),
  ...jaegerPairs('events', span['events']),
  'links.trace_id': (span['links'] as Json[]).map(({ traceId }) => traceId),
  'links.span_id': (span['links'] as Json[]).map(({ spanId }) => spanId),
  'links.trace_state': (span['links'] as Json[]).map(() => ''),
  ...jaegerPairs('links', span['links']),
})

/** What a table definition of others says, with its template's marks filled in. */
function schema(file: string, table: string): string {
  const sql = readFileSync(sharedFile(`fixtures/clickhouse-schemas/${file}`) as string, 'utf8')
  return sql
    .replace(/\{\{-? if .*?\{\{-? end \}\}/gs, '')
    .replace(/^TTL .*$/gm, '')
    .replaceAll(
      /\{\{ident \.Database\}\}\.\{\{ident \.TableName\}\}|\$\{DATABASE\}\.otel_traces/g,
      table,
    )
    .replaceAll(/\{\{\.ClusterString\}\}|^-- \+goose.*$/gm, '')
    .replaceAll('{{.Engine}}', 'MergeTree()')
    .replace(/^\s*INDEX .*(?:text|tokenbf).*$/gm, '')
    .replace(/,(\s*\)\s*ENGINE)/, '$1')
    .trim()
    .replace(/;$/, '')
}

const SCHEMAS: readonly (readonly [
  name: string,
  create: () => string,
  table: string,
  row: Spans,
])[] = [
  [
    'collector',
    () => schema('collector-traces_table.sql', 'otel_traces'),
    'otel_traces',
    collectorRow(textsOf),
  ],
  [
    'collector_json',
    () => schema('collector-traces_json_table.sql', 'otel_traces'),
    'otel_traces',
    collectorRow(objectOf),
  ],
  [
    'clickstack',
    () => schema('clickstack-00005_otel_traces.sql', 'otel_traces'),
    'otel_traces',
    collectorRow(textsOf),
  ],
  ['jaeger', () => schema('jaeger-create_spans_table.sql', 'spans'), 'spans', jaegerRow],
]

/** How tables put attributes into another order. */
const ORDERS: Readonly<Record<string, (attribute: Json) => string | number>> = {
  collector_json: ({ key }) => key,
  jaeger: ({ value }) => Object.values(JAEGER_TYPES).indexOf(Object.keys(value)[0] as string),
}
const inOrder = (schemaName: string) => (trace: RecordedTrace) => {
  const rank = ORDERS[schemaName] ?? (() => 0)
  const resourceSpans = JSON.parse(JSON.stringify(trace.resourceSpans)) as Json[]
  for (const span of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans[0].spans as Json[])) {
    ;(span['attributes'] as Json[]).sort((a, b) =>
      rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0,
    )
  }
  return { ...trace, resourceSpans }
}

/** All spans in one order. Maps of texts do not tell truth values from texts. */
const everything = (traces: SpanTraces) => {
  const plainValue = (value: unknown) => (typeof value === 'boolean' ? String(value) : value)
  const spans = plainSpans(traces).map(({ attributes, ...span }) => ({
    ...span,
    attributes: Object.entries(attributes)
      .map(([name, value]) => [name, plainValue(value)])
      .sort(),
  }))
  return spans.sort((a, b) => (JSON.stringify(key(a)) < JSON.stringify(key(b)) ? -1 : 1))
}
const key = ({ trace, startNs, operation, service, durationUs }: Json) => [
  trace,
  String(startNs),
  service,
  operation,
  durationUs,
]

const waitsOf = (traces: SpanTraces) => buildFlows(traces).messages?.waitUs.toSorted() ?? []

describeWithShared('ClickHouse, with table definitions of others', () => {
  describeWithClickHouse('in this process', (session) => {
    const filled = new Set<string>()
    const fill = (
      database: string,
      create: () => string,
      table: string,
      row: Spans,
      [before, after] = [BEFORE, AFTER],
    ) => {
      if (filled.has(database)) return
      filled.add(database)
      for (const [period, traces] of Object.entries({ before, after })) {
        session.query(`CREATE DATABASE ${database}_${period}`)
        session.query(`USE ${database}_${period}`)
        session.query(create())
        const lines = rowsOf(traces, row).map((one) => JSON.stringify(one))
        insert(session, table, lines)
      }
    }

    test.each(SCHEMAS)(
      '%s: traces give the findings that they give in files, and each span says the same',
      async (name, ...how) => {
        fill(name, ...how)
        const served = await serveClickHouse(session)
        const address = (period: string, traces: readonly RecordedTrace[]) =>
          `clickhouse://${served.host}/${name}_${period}?between=${stretchOf(traces)}`
        const before = (await loadTraces(address('before', BEFORE))) as SpanTraces
        const after = (await loadTraces(address('after', AFTER))) as SpanTraces
        const files = [
          (await loadTraces(fileOf(BEFORE))) as SpanTraces,
          (await loadTraces(fileOf(AFTER))) as SpanTraces,
        ] as const
        expect(everything(before)).toEqual(everything(files[0]))
        expect(waitsOf(files[0]).length).toBeGreaterThan(50)
        expect(waitsOf(before)).toEqual(waitsOf(files[0]))
        expect(before.versions).toEqual(files[0].versions)
        // Of attributes that divide requests alike, findings name the one recorded first.
        const ordered = [BEFORE, AFTER].map((traces) =>
          loadTraces(fileOf(traces.map(inOrder(name)))),
        )
        const [first, second] = await Promise.all(ordered)
        const found = compare(before, after).findings.text()
        expect(found).toContain('SN WRITE itself')
        expect(found).toBe(compare(first as SpanTraces, second as SpanTraces).findings.text())
      },
    )

    test('conditions are part of the query, and leave what they leave in files', async () => {
      const [[name, ...how]] = SCHEMAS as [(typeof SCHEMAS)[number]]
      fill(name, ...how)
      const served = await serveClickHouse(session)
      const middle = new Date((BEFORE[60]?.startsUs[0] as number) / 1000).toISOString()
      for (const where of [
        'service = frontend and storage-data is called and duration >= 0.3ms',
        'storage-meta host = storage-meta-0 and count is recorded',
        'duration > 0.2ms and outcome is not error',
      ]) {
        const options = { where, between: `${middle}..` }
        const traces = await loadTraces(`clickhouse://${served.host}/${name}_before`, options)
        const file = await loadTraces(fileOf(BEFORE), options)
        expect([...traces.ids].sort()).toEqual([...file.ids].sort())
      }
      const [, query] = served.asked.filter(({ body }) => body.startsWith('SELECT sum('))
      expect(query?.body).toContain(
        'FROM `otel_traces` WHERE TraceId IN (SELECT TraceId FROM `otel_traces` WHERE',
      )
    })

    test.each(SCHEMAS)(
      '%s: attributes and operations are part of the query, and leave what they leave in files',
      async (name, ...how) => {
        fill(name, ...how)
        const served = await serveClickHouse(session)
        const isAsked = name !== 'collector_json'
        for (const [where, isLess] of [
          ['count > 8191 and outcome is not error', isAsked],
          ['is.true = true and count = 04096', isAsked],
          ['operation = NFS3 READ, NFS3 WRITE', true],
          ['storage-meta is.half = 0.50', false],
          ['operation is not NFS3 READ and "retry · attempt" >= 8', false],
        ] as const) {
          const traces = await loadTraces(`clickhouse://${served.host}/${name}_before`, { where })
          const file = await loadTraces(fileOf(BEFORE), { where })
          expect([...traces.ids].sort()).toEqual([...file.ids].sort())
          const { of = 0 } = traces.quality().selected[0] ?? {}
          expect([where, of < BEFORE.length]).toEqual([where, isLess])
        }
        const { length } = served.asked.filter(({ body }) => body.includes(' LIMIT 1'))
        expect(length).toBe(isAsked ? 3 : 0)
        const misspelt = loadTraces(`clickhouse://${served.host}/${name}_before`, {
          where: 'coumt > 8191',
        })
        await expect(misspelt).rejects.toThrow('has no attribute coumt. Did you mean count?')
      },
    )

    test('a sample has the groups that DuckDB finds, exactly, and weights that add up to them', async () => {
      const [[, create, table]] = SCHEMAS as [(typeof SCHEMAS)[number]]
      const traces = recordedTraces('before', 600)
      fill('sampled', create, table, collectorRow(textsOf), [traces, traces])
      const served = await serveClickHouse(session)
      const load = async (source: string, options = {}) =>
        (await loadTraces(source, options)) as SpanTraces
      const address = (more: string) => `clickhouse://${served.host}/sampled_before?sample=${more}`
      const path = join(temporaryFolder(), 'before.parquet')
      await ((await loadTraces(fileOf(traces))) as SpanTraces).save(path)
      const middle = new Date((traces[300]?.startsUs[0] as number) / 1000).toISOString()
      for (const options of [{}, { between: `${middle}..` }, { where: 'duration > 0.3ms' }]) {
        const some = await load(address('200'), options)
        const other = await load(`duckdb:${path}?sample=200`, options)
        const groupsOf = (one: SpanTraces) =>
          one
            .quality()
            .groups.filter(({ root }) => root !== '(other roots)')
            .sort((a, b) => a.p95Us - b.p95Us)
            .map(({ root, outcome, requests, p95Us }) => ({ root, outcome, requests, p95Us }))
        expect(groupsOf(some)).toEqual(
          groupsOf(other).map((group) => ({ ...group, p95Us: expect.closeTo(group.p95Us, 6) })),
        )
        const sum = some.weight?.reduce((all, one) => all + one, 0)
        const recorded = some.quality().groups.reduce((all, { requests }) => all + requests, 0)
        expect(sum).toBeCloseTo(recorded, 6)
        expect(Math.abs(some.size - Math.min(200, recorded))).toBeLessThanOrEqual(5)
      }
      const [first, same, other] = [
        await load(address('100')),
        await load(address('100')),
        await load(address('100&seed=2')),
      ]
      expect(same.ids).toEqual(first.ids)
      expect(other.ids).not.toEqual(first.ids)
      const share = (some: SpanTraces | undefined, all: SpanTraces) => (some?.size ?? 0) / all.size
      const whole = await load(path)
      expect(share(first.split(middle)[0], first)).toBeCloseTo(
        share(whole.split(middle)[0], whole),
        1,
      )
    })

    test('SampleRate of ClickStack is how many requests a trace stands for', async () => {
      const [name, create, table] = SCHEMAS[2] as (typeof SCHEMAS)[number]
      fill(
        'weighted',
        create,
        table,
        collectorRow(textsOf, () => ({ SampleRate: '7' })),
      )
      const served = await serveClickHouse(session)
      const traces = await loadTraces(`clickhouse://${served.host}/weighted_before`)
      expect(name).toBe('clickstack')
      expect(new Set((traces as SpanTraces).weight)).toEqual(new Set([7]))
    })

    test('a table that is not there, and one of something else, are errors that list what there is', async () => {
      const [[name, ...how]] = SCHEMAS as [(typeof SCHEMAS)[number]]
      fill(name, ...how)
      const served = await serveClickHouse(session)
      const load = (rest: string) => loadTraces(`clickhouse://${served.host}${rest}`)
      await expect(load(`/${name}_before?table=spams`)).rejects.toThrow(
        /has no table spams; its database has nothing/,
      )
      session.query('CREATE TABLE default.other (a Int8) ENGINE = Memory')
      await expect(load('')).rejects.toThrow(
        /has no table of spans; its database has `other`\. Give another database/,
      )
      await expect(load('?table=other')).rejects.toThrow(
        /has a table other, but its columns are unknown/,
      )
      await expect(load('/nowhere')).rejects.toThrow(/answered with an error: .*nowhere/s)
    })
  })
})

/** Answers as a ClickHouse with one span would, but for what `spans` does with it. */
const small = (spans: (row: string) => Reply) =>
  serve((_, { body }) => {
    if (body.includes('system.columns')) {
      const columns = [
        'TraceId',
        'SpanId',
        'ParentSpanId',
        'Timestamp',
        'SpanName',
        'SpanAttributes',
      ]
      return { body: `${JSON.stringify(['otel_traces', 1, columns])}\n` }
    }
    if (body.startsWith('SELECT sum(')) return { body: '["2"]\n' }
    const row = [
      'a',
      's',
      '1795231411217185447',
      '1000',
      '',
      '1',
      '',
      '',
      'op',
      'Server',
      'Unset',
      '',
      '{}',
      {},
      [],
      [],
    ]
    return spans(`${JSON.stringify(row)}\n`)
  })

test.each<[problem: string, spans: (row: string) => Reply, message: RegExp]>([
  [
    'that is cut in silence',
    (row) => ({ body: row }),
    /gave 1 of 2 spans: its limits cut the answer/,
  ],
  [
    'that is cut amid a row',
    (row) => ({ body: row + row.slice(0, 20) }),
    /gave 1 of 2 spans|broke off/,
  ],
  [
    'that fails after its first rows',
    (row) => ({
      body: `${row}Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)\n`,
    }),
    /^clickhouse:\/\/\S+ .*(Memory limit|broke off)/,
  ],
  [
    'that refuses',
    () => ({
      status: 403,
      headers: { 'x-clickhouse-exception-code': '516' },
      body: 'Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)',
    }),
    /answered with an error: .*Authentication failed/,
  ],
  [
    'that breaks off',
    () => (response) => void response.destroy(),
    /cannot be reached, or broke off/,
  ],
  ['that keeps silent', () => () => {}, /cannot be reached, or broke off \(Timeout error/],
])('an answer of ClickHouse %s is an error', async (problem, spans, message) => {
  const served = await small(spans)
  const timeout = problem === 'that keeps silent' ? 0.3 : 30
  const loading = loadTraces(`clickhouse://me:hidden@${served.host}?tries=2&timeout=${timeout}`)
  const said = await loading.then(String, (error: Error) => error.message)
  expect(said).toMatch(message)
  expect(said).not.toContain('hidden')
})

test('an answer that breaks off is asked for again, and no span is taken twice', async () => {
  let asked = 0
  const served = await small((row) =>
    asked++ === 0
      ? (response) => {
          response.writeHead(200, { 'content-type': 'text/plain' })
          response.write(row)
          setTimeout(() => response.destroy(), 50)
        }
      : { body: row + row.replace('"1"', '"2"') },
  )
  const traces = await loadTraces(`clickhouse://${served.host}`)
  expect(asked).toBe(2)
  expect((traces as SpanTraces).spanTable().objects().length).toBe(2)
  expect(traces.quality().counts.size).toBe(0)
})

test('a Distributed table is asked with GLOBAL IN, and a load stops when its signal is aborted', async () => {
  const controller = new AbortController()
  const served = await small(() => () => controller.abort(new Error('enough')))
  const options = { signal: controller.signal, between: '2026-01-01..2026-01-02' }
  await expect(loadTraces(`clickhouse://${served.host}`, options)).rejects.toThrow('enough')
  expect(served.asked.at(-1)?.body).toContain(
    'WHERE TraceId GLOBAL IN (SELECT TraceId FROM `otel_traces` WHERE Timestamp >=',
  )
})
