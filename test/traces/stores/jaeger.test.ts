import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import {
  fileOf,
  type Json,
  type RecordedTrace,
  recordedTraces,
  serviceOf,
  spansOf,
  stretchOf,
} from './recorded-traces.ts'
import { type Reply, type Served, serve } from './serve.ts'

const BEFORE = recordedTraces('before', 100)
const SERVICES = [...new Set(BEFORE.flatMap(({ services }) => [...services]))]

interface Habits {
  /** Traces that an answer has at most, whatever it is asked for. */
  readonly most?: number
  readonly traces?: readonly RecordedTrace[]
}

/** Traces with a span of a service that started in a stretch of time: the latest, as stores do. */
function found(
  traces: readonly RecordedTrace[],
  service: string | null,
  fromUs: number,
  toUs: number,
  most: number,
) {
  return traces
    .filter(({ resourceSpans }) =>
      resourceSpans.some(
        (each) =>
          serviceOf(each) === service &&
          spansOf([each]).some(({ startTimeUnixNano }) => {
            const us = Number(BigInt(startTimeUnixNano) / 1000n)
            return us >= fromUs && us < toUs
          }),
      ),
    )
    .slice(0, most)
}

/** Answers as Jaeger's API v3 does. */
function jaegerV3(url: URL, { most = 1e9, traces = BEFORE }: Habits = {}): Reply {
  const asked = (name: string) => url.searchParams.get(`query.${name}`)
  if (url.pathname === '/api/v3/services') return { body: { services: SERVICES } }
  if (url.pathname !== '/api/v3/traces') return { status: 404 }
  const us = (name: string) => Date.parse(asked(name) as string) * 1000
  const some = found(
    traces,
    asked('service_name'),
    us('start_time_min'),
    us('start_time_max'),
    Math.min(most, Number(asked('search_depth'))),
  )
  if (some.length === 0) return { status: 404, body: { error: { message: 'No traces found' } } }
  // Several documents, one after the other, as when it streams.
  return {
    body: some.map(({ resourceSpans }) => JSON.stringify({ result: { resourceSpans } })).join('\n'),
  }
}

const load = (served: Served, traces = BEFORE, parameters = '', options = {}) =>
  loadTraces(
    `jaeger://${served.host}?tries=3&timeout=30${parameters}&between=${stretchOf(traces)}`,
    options,
  )
const idsOf = (traces: readonly RecordedTrace[]) => traces.map(({ id }) => id).sort()
const rejection = async (loading: Promise<unknown>) =>
  loading.then(
    () => 'nothing was thrown',
    (error: Error) => `${error.name}: ${error.message}`,
  )

test('traces from Jaeger give the findings that the same traces give in files', {
  tags: 'full',
}, async () => {
  const [before, after] = [recordedTraces('before', 300), recordedTraces('after', 300)]
  const served = async (traces: RecordedTrace[]) =>
    load(await serve((url) => jaegerV3(url, { traces })), traces)
  const stored = await Promise.all([served(before), served(after)])
  const files = await Promise.all([loadTraces(fileOf(before)), loadTraces(fileOf(after))])
  const found = compare(...stored).findings.text()
  expect(found).toContain('SN WRITE itself')
  expect(found).toBe(compare(...files).findings.text())
})

test('an answer that is as long as the limit is asked for again in halves until none is', async () => {
  const served = await serve((url) => jaegerV3(url))
  const traces = await load(served, BEFORE, '&limit=40')
  expect([...traces.ids].sort()).toEqual(idsOf(BEFORE))
  expect(traces.quality().counts.get('incomplete-answer')).toBeUndefined()
})

test('a server with a lower limit than it was asked for is found out, and gives all traces', async () => {
  const served = await serve((url) => jaegerV3(url, { most: 37 }))
  const traces = await load(served, BEFORE, '&limit=500')
  expect([...traces.ids].sort()).toEqual(idsOf(BEFORE))
})

test('a trace that comes in parts, the spans of each service when that is asked for, is read whole', async () => {
  const served = await serve((url) => {
    const reply = jaegerV3(url) as { readonly status?: number; readonly body: unknown }
    if (typeof reply.body !== 'string') return reply
    const parts = reply.body.split('\n').map((line) => {
      const { resourceSpans } = (JSON.parse(line) as Json)['result']
      const asked = url.searchParams.get('query.service_name')
      const own = resourceSpans.filter((each: Json) => serviceOf(each) === asked)
      // Ids of which one begins like another.
      const ids = spansOf(resourceSpans).map(({ spanId }) => spanId as string)
      const short = ids.reduce(
        (text, id, i) => text.replaceAll(id, '1'.repeat(ids.length - i)),
        JSON.stringify({ result: { resourceSpans: own } }),
      )
      return short
    })
    return { body: parts.join('\n') }
  })
  const traces = await load(served, BEFORE, '&limit=10')
  expect([...traces.ids].sort()).toEqual(idsOf(BEFORE))
  const spans = BEFORE.flatMap(({ resourceSpans }) => spansOf(resourceSpans))
  expect(traces.table().array('spans')).toEqual(
    traces.ids.map((id) => spans.filter(({ traceId }) => traceId === id).length),
  )
})

test('a server that repeats a page, whatever time it is asked for, is not asked for ever', async () => {
  const page = BEFORE.slice(0, 20)
  const served = await serve((url) => {
    url.searchParams.set('query.start_time_min', '2000-01-01T00:00:00Z')
    url.searchParams.set('query.start_time_max', '2100-01-01T00:00:00Z')
    return jaegerV3(url, { traces: page })
  })
  const traces = await load(served, BEFORE, '&limit=20&service=frontend')
  expect(traces.size).toBe(20)
  expect(served.asked.length).toBeLessThan(10)
  const said = traces.quality().issues.map(({ message }) => message)
  expect(said.join()).toContain('traces are missing: the server gives at most 20')
})

test('where a stretch cannot be divided further, the load says that traces are missing', async () => {
  const [first] = BEFORE
  const copies = Array.from({ length: 30 }, (_, i) => {
    const id = `${i}`.padStart(32, '0')
    const resourceSpans = JSON.parse(JSON.stringify(first?.resourceSpans)) as Json[]
    for (const span of spansOf(resourceSpans)) span['traceId'] = id
    return { ...(first as RecordedTrace), id, resourceSpans }
  })
  const served = await serve((url) => jaegerV3(url, { traces: copies }))
  const traces = await load(served, copies, '&limit=10')
  expect(traces.size).toBeLessThan(30)
  const [note] = traces.quality().issues.filter(({ code }) => code === 'incomplete-answer')
  expect(note?.message).toMatch(
    /^traces are missing: the server gives at most 10 an answer, and .* raise the parameter limit$/,
  )
  const warnings = compare(traces, traces)
    .warnings()
    .map(({ message }) => message)
  expect(warnings.join()).toContain('traces are missing')
})

test('conditions leave the requests that they leave in files, and a service of roots alone is asked for', async () => {
  const served = await serve((url) => jaegerV3(url))
  const where = 'service = frontend and duration > 300us'
  const traces = await load(served, BEFORE, '', { where })
  const file = await loadTraces(fileOf(BEFORE), { where })
  expect([...traces.ids].sort()).toEqual([...file.ids].sort())
  const services = served.asked.map(({ url }) => url.searchParams.get('query.serviceName'))
  expect(new Set(services)).toEqual(new Set([null, 'frontend']))
  expect(served.asked.at(-1)?.url.searchParams.get('query.durationMin')).toBe('0.000300000s')
})

test('API v1 is spoken where there is no v3, with the same traces', async () => {
  const served = await serve((url) => {
    if (url.pathname === '/api/services') return { body: { data: SERVICES } }
    if (url.pathname !== '/api/traces')
      return { type: 'text/html', body: '<!doctype html><title>Jaeger UI' }
    const { service, start, end, limit } = Object.fromEntries(url.searchParams)
    const some = found(BEFORE, service as string, Number(start), Number(end), Number(limit))
    return { body: { data: some.map(jaegerOf), total: some.length, errors: null } }
  })
  const traces = await load(served)
  expect([...traces.ids].sort()).toEqual(idsOf(BEFORE))
  // Each trace is in the answers about several services, and warned of once.
  expect(traces.quality().counts.get('jaeger-warning')).toBe(BEFORE.length)
  const file = await loadTraces(fileOf(BEFORE))
  expect(traces.where('duration > 500us').size).toBe(file.where('duration > 500us').size)
})

/** A trace as API v1 has it. */
function jaegerOf({ id, resourceSpans }: RecordedTrace) {
  const spans = resourceSpans.flatMap((each) =>
    spansOf([each]).map((span) => ({
      traceID: id,
      spanID: span['spanId'],
      operationName: span['name'],
      references: span['parentSpanId']
        ? [{ refType: 'CHILD_OF', traceID: id, spanID: span['parentSpanId'] }]
        : [],
      startTime: Number(BigInt(span['startTimeUnixNano']) / 1000n),
      duration: Number(span['endTimeUnixNano'] - span['startTimeUnixNano']) / 1000,
      processID: serviceOf(each),
      warnings: span['parentSpanId'] ? null : ['clock skew'],
    })),
  )
  const processes = Object.fromEntries(SERVICES.map((name) => [name, { serviceName: name }]))
  return { traceID: id, spans, processes }
}

test('a server that is busy, fails, breaks off or cuts an answer is asked again', async () => {
  const mishaps: Reply[] = [
    { status: 429, headers: { 'retry-after': '0' } },
    { status: 503, headers: { 'retry-after': '0' } },
    (response) =>
      void response
        .writeHead(200, { 'content-length': '1000' })
        .write('{"result"', () => response.destroy()),
    { body: '{"result":{"resourceSpans":[{"resource":' },
  ]
  const served = await serve((url) =>
    url.pathname.endsWith('traces') ? (mishaps.shift() ?? jaegerV3(url)) : jaegerV3(url),
  )
  const traces = await load(served, BEFORE, '&tries=9&service=frontend')
  expect([...traces.ids].sort()).toEqual(idsOf(BEFORE))
  expect(mishaps).toEqual([])
})

// At once, as each is waited for and asked again.
test.concurrent.for<[problem: string, reply: Reply, message: string, timeout?: number]>([
  ['always busy', { status: 429, headers: { 'retry-after': '0' } }, 'answered with status 429'],
  ['cut', { body: '{"result":{"resourceSpans":[{"resou' }, 'sent an answer that cannot be used'],
  ['empty', { body: '' }, 'answered with nothing'],
  [
    'a login that calls itself JSON',
    { body: '<!DOCTYPE html><title>Sign in</title>' },
    'answered with a web page, perhaps a login, which begins "<!DOCTYPE html>',
  ],
  [
    'a failure amid a stream',
    { body: '{"error":{"code":13,"message":"no such index"}}' },
    'sent an answer that cannot be used: the server says: no such index',
  ],
  [
    'a compressed answer that is cut',
    {
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync('{"result":{"resourceSpans":[]}}').subarray(0, 30),
    },
    'sent an answer that cannot be used: The file ends before what starts on line 1 does (asked for',
  ],
  ['silent', () => {}, 'kept silent for 0.5 s', 0.5],
])(
  'a server that is %s gives an error that says so',
  async ([, reply, message, timeout = 30], { onTestFinished }) => {
    const served = await serve(
      (url) => (url.pathname.endsWith('traces') ? reply : jaegerV3(url)),
      onTestFinished,
    )
    const said = await rejection(load(served, BEFORE, `&tries=2&timeout=${timeout}`))
    expect(said).toMatch(/^FlowdeltaError: jaeger:\/\/127/)
    expect(said).toContain(message)
    expect(said).toContain('This happened 2 times in a row.')
  },
)

test('a lying content type does not matter where the content is right', async () => {
  const served = await serve((url) => ({ ...(jaegerV3(url) as object), type: 'text/html' }))
  expect((await load(served)).size).toBe(BEFORE.length)
})

test('a refusal is told at once, and tokens and passwords are in no message', async () => {
  // Longer than what a message shows of an answer.
  const token = `sesame-${'7'.repeat(100)}`
  process.env['FLOWDELTA_JAEGER_TOKEN'] = token
  const served = await serve((_, { headers }) => ({
    status: 403,
    body: `not with ${headers.authorization}!`,
  }))
  const address = `jaeger://me:hidden@${served.host}?between=${stretchOf(BEFORE)}`
  const said = await rejection(loadTraces(address)).finally(() => {
    delete process.env['FLOWDELTA_JAEGER_TOKEN']
  })
  expect(served.asked[0]?.headers.authorization).toBe(`Bearer ${token}`)
  expect(said).toContain('answered with status 403: "not with Bearer …!"')
  expect(said).toContain('Give a token in the environment as FLOWDELTA_JAEGER_TOKEN')
  expect(said).not.toMatch(/sesame|hidden/)
  expect(served.asked).toHaveLength(1)
})

test('a server that nobody runs, and one without traces, are errors', async () => {
  expect(
    await rejection(loadTraces(`jaeger://127.0.0.1:64999?tries=1&between=${stretchOf(BEFORE)}`)),
  ).toContain('cannot be reached or broke off (ECONNREFUSED)')
  const served = await serve((url) => jaegerV3(url))
  expect(
    await rejection(loadTraces(`jaeger://${served.host}?between=2020-01-01..2020-01-02`)),
  ).toMatch(/^TraceFormatError: jaeger:\/\/\S+: No traces were found\. Check the time/)
})

test('a load stops when its signal is aborted', async () => {
  const served = await serve(async (url) => {
    await delay(50)
    return url.pathname.endsWith('traces') ? () => {} : jaegerV3(url)
  })
  const controller = new AbortController()
  setTimeout(() => controller.abort(new Error('enough')), 100)
  const start = performance.now()
  const said = await rejection(load(served, BEFORE, '&timeout=60', { signal: controller.signal }))
  expect(said).toBe('Error: enough')
  expect(performance.now() - start).toBeLessThan(30_000)
})

test.each([
  ['jaeger://host?between=10:00Z..11:00Z', 'Option between is "10:00Z". Give times with their day'],
  ['jaeger://host', 'Give the time that jaeger://host is asked for'],
  ['jaeger://host?sevice=a', 'jaeger://host takes no parameter sevice. Did you mean service?'],
  [
    'jaeger://host?limit=none',
    'Option jaeger://host?limit is NaN. Give a whole number, 1 or more.',
  ],
  [
    'jaeger://me:1%x@host?between=2020-01-01..',
    'jaeger://host: write % in a user or a password as %25.',
  ],
  [
    'jaeger://me:pass/word@host?between=2020-01-01..2020-01-02',
    '"jaeger://host" is no address of a server.',
  ],
  ['jaeger=host?between=2020-01-01..2020-01-02', '"jaeger=host" is no address of a server.'],
])('%s is refused before anything is asked', async (address, message) => {
  expect(await rejection(loadTraces(address))).toContain(message)
})

describeWithShared('answers that Jaeger recorded', () => {
  test('are read, and spans without a time are told', async () => {
    const recorded = (name: string) =>
      readFileSync(sharedFile(`fixtures/jaeger-api-v3/${name}.json`) as string, 'utf8')
    const served = await serve((url) =>
      url.pathname === '/api/v3/services'
        ? { body: recorded('GetServices') }
        : { body: recorded('FindTraces') },
    )
    const said = await rejection(
      loadTraces(`jaeger://${served.host}?between=2026-01-01..2026-01-02`),
    )
    expect(said).toContain('Span 0000000000000002 has no usable start time')
    expect(served.asked.map(({ url }) => url.searchParams.get('query.service_name'))).toEqual([
      null,
      null,
      'foo',
    ])
  })
})
