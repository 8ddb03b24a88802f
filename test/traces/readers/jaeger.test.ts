import { describe, expect, test } from 'vitest'
import { issueCounts, plainSpans, readerOf, readSpans } from '../read-traces.ts'

const span = (fields: object = {}) => ({
  traceID: 't1',
  spanID: '1',
  operationName: 'op',
  references: [],
  startTime: 1_000_000,
  duration: 10,
  tags: [],
  processID: 'p1',
  ...fields,
})
const trace = (spans: object[], processTags: object[] = []) => ({
  traceID: 't1',
  spans,
  processes: { p1: { serviceName: 's', tags: processTags } },
})
const read = (content: object) => readSpans(readerOf('jaeger'), JSON.stringify(content))
const tag = (key: string, value: unknown, type = 'string') => ({ key, type, value })
const reference = (refType: string, spanID: string, traceID = 't1') => ({
  refType,
  traceID,
  spanID,
})

describe('the sampler', () => {
  const weightOf = async (tags: object[]) =>
    Array.from((await read(trace([span({ tags })]))).weight ?? [])
  const sampler = (type: string, param: unknown, paramType = 'float64') => [
    tag('sampler.type', type),
    tag('sampler.param', param, paramType),
  ]

  test('with a probability gives the trace a weight', async () => {
    expect(await weightOf(sampler('probabilistic', 0.25))).toEqual([4])
    expect(await weightOf(sampler('probabilistic', '0.25', 'string'))).toEqual([4])
    expect(await weightOf(sampler('const', true, 'bool'))).toEqual([1])
  })

  test('without a known probability gives none', async () => {
    expect(await weightOf(sampler('ratelimiting', 2))).toEqual([])
    expect(await weightOf(sampler('lowerbound', 0.001))).toEqual([])
    expect(await weightOf(sampler('probabilistic', 0))).toEqual([])
    expect(await weightOf(sampler('probabilistic', 'half', 'string'))).toEqual([])
    expect(await weightOf([tag('sampler.type', 'probabilistic')])).toEqual([])
    expect(await weightOf([tag('sampler.param', 0.5, 'float64')])).toEqual([])
  })
})

test('the version is that of the process', async () => {
  const { versions } = await read(trace([span()], [tag('service.version', 'v7')]))
  expect(versions).toEqual(new Map([['s', new Map([['v7', 1]])]]))
})

describe('the parent', () => {
  const child = async (references: object[]) => {
    const others = ['a', 'b'].map((id) => span({ spanID: id, operationName: `op ${id}` }))
    const set = await read(trace([...others, span({ spanID: 'c', references })]))
    const { parent, followsFrom } = plainSpans(set)[2] ?? {}
    return [parent, followsFrom]
  }

  test('is what the span is a child of', async () => {
    expect(await child([reference('CHILD_OF', 'b')])).toEqual(['op b', false])
  })

  test('is what the span follows from, if it is no child', async () => {
    expect(await child([reference('FOLLOWS_FROM', 'a')])).toEqual(['op a', true])
    const both = [reference('FOLLOWS_FROM', 'a'), reference('CHILD_OF', 'b')]
    expect(await child(both)).toEqual(['op b', false])
  })

  test('is never in another trace', async () => {
    expect(await child([reference('CHILD_OF', 'a', 't2')])).toEqual(['none', false])
  })

  test('may have lost the zeros in front of its id', async () => {
    expect(await child([reference('CHILD_OF', '000000000000000b')])).toEqual(['op b', false])
  })

  test('may stand in the old field parentSpanID', async () => {
    const spans = [span(), span({ spanID: '2', references: undefined, parentSpanID: '1' })]
    expect(plainSpans(await read(trace(spans)))[1]?.parent).toBe('op')
  })
})

test('the host is hostname, else host.name, k8s.node.name or ip', async () => {
  const hostOf = async (...keys: string[]) => {
    const tags = keys.map((key) => tag(key, `the ${key}`))
    return plainSpans(await read(trace([span()], tags)))[0]?.host
  }
  expect(await hostOf('ip', 'hostname')).toBe('the hostname')
  expect(await hostOf('k8s.node.name', 'host.name')).toBe('the host.name')
  expect(await hostOf('ip', 'pod')).toBe('the ip')
  expect(await hostOf('jaeger.version')).toBe('')
})

test('a process may stand in its span, as in the inner form of the UI', async () => {
  const process = { serviceName: 'own', tags: [tag('hostname', 'h')] }
  const set = await read({
    data: { traceID: 't1', spans: [span({ process, processID: undefined })] },
  })
  expect(plainSpans(set)[0]).toMatchObject({ service: 'own', host: 'h' })
})

test('error tags and OpenTelemetry status codes are the status', async () => {
  const statusOf = async (...tags: object[]) =>
    plainSpans(await read(trace([span({ tags })])))[0]?.status
  expect(await statusOf(tag('error', true, 'bool'))).toBe('error')
  expect(await statusOf(tag('error', 'true', 'bool'))).toBe('error')
  expect(await statusOf(tag('error', 'timeout'))).toBe('error')
  expect(await statusOf(tag('otel.status_code', 'ERROR'))).toBe('error')
  expect(await statusOf(tag('otel.status_code', 'OK'))).toBe('ok')
  expect(await statusOf(tag('error', false, 'bool'))).toBe('unset')
  expect(await statusOf()).toBe('unset')
})

test('tags keep their types, also where a number is written as text', async () => {
  const tags = [
    tag('span.kind', 'client'),
    tag('error', true, 'bool'),
    tag('size', 4096, 'int64'),
    tag('offset', '0', 'int64'),
    tag('huge', '9223372036854775807', 'int64'),
    tag('ratio', '0.5', 'float64'),
    tag('hit', 'true', 'bool'),
    tag('zip', '01234'),
  ]
  expect(plainSpans(await read(trace([span({ tags })])))[0]).toMatchObject({
    kind: 'client',
    attributes: {
      size: 4096,
      offset: 0,
      huge: '9223372036854775807',
      ratio: 0.5,
      hit: true,
      zip: '01234',
    },
  })
})

test('logs become parameters under the name of their event', async () => {
  const logs = [
    { timestamp: 1, fields: [tag('event', 'exception'), tag('type', 'E')] },
    { timestamp: 2, fields: [tag('x', 1, 'int64')] },
    { timestamp: 3, fields: [tag('message', 'retry')] },
  ]
  expect(plainSpans(await read(trace([span({ logs })])))[0]?.attributes).toEqual({
    'exception · type': 'E',
    'event · x': 1,
    event: 'retry',
  })
})

test('time 0 is a time, and a span of 0 µs is a span', async () => {
  const set = await read(trace([span({ startTime: 0, duration: 0 })]))
  expect(plainSpans(set)[0]).toMatchObject({ startNs: 0n, durationUs: 0 })
})

test('spans without a usable time are left out, each counted', async () => {
  const spans = [
    span(),
    span({ spanID: '2', startTime: null }),
    span({ spanID: '3', duration: null }),
  ]
  const set = await read(trace(spans))
  expect([set.spans.parent.length, issueCounts(set)]).toEqual([1, { 'unusable-span': 2 }])
  expect(set.quality().issues.map(({ message }) => message)).toEqual([
    'Span 2 has no usable start time',
    'Span 3 has no usable duration',
  ])
})

test('a trace without spans is left out and counted', async () => {
  const set = await read({ data: [trace([span()]), { traceID: 't2' }] })
  expect([set.size, set.quality().skippedTraces]).toEqual([1, 1])
  expect(set.quality().issues[0]?.place.trace).toBe('t2')
})

test("Jaeger's warnings are counted once a trace", async () => {
  const warnings = ['clock skew adjustment disabled']
  const set = await read(trace([span({ warnings }), span({ spanID: '2', warnings })]))
  expect(set.quality().issues.map(({ message }) => message)).toEqual([
    'Jaeger warns about 2 spans, first: clock skew adjustment disabled',
  ])
})

test('parents that run in a circle leave the trace out', async () => {
  const spans = [
    span({ references: [reference('CHILD_OF', '2')] }),
    span({ spanID: '2', references: [reference('CHILD_OF', '1')] }),
  ]
  const set = await read(trace(spans))
  expect([set.size, issueCounts(set)]).toEqual([0, { 'parent-circle': 1 }])
})
