import { describe, expect, test } from 'vitest'
import { otlpReader } from '../../../src/traces/readers/otlp.ts'
import { otlpId } from '../../../src/traces/readers/otlp-values.ts'
import { kindNamed, statusNamed } from '../../../src/traces/readers/span-formats.ts'
import { issueCounts, plainSpans, readSpans } from '../read-traces.ts'

const request = (span: object, resource: object = {}) => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 's' } }] },
      ...resource,
      scopeSpans: [
        {
          spans: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              name: 'op',
              startTimeUnixNano: '1661145996678383311',
              endTimeUnixNano: '1661145996678384561',
              ...span,
            },
          ],
        },
      ],
    },
  ],
})
const readOne = async (content: object | string) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return plainSpans(await readSpans(otlpReader, text))[0]
}

describe('ids', () => {
  const cases: [string, unknown, 8 | 16, string][] = [
    ['hex stays', 'eee19b7ec3c1b174', 8, 'eee19b7ec3c1b174'],
    ['capitals become small', 'EEE19B7EC3C1B174', 8, 'eee19b7ec3c1b174'],
    ['base64 becomes hex', '7uGbfsPBsXQ=', 8, 'eee19b7ec3c1b174'],
    ['base64 without padding becomes hex', '7uGbfsPBsXQ', 8, 'eee19b7ec3c1b174'],
    ['base64 for addresses becomes hex', '7uGb_sPBsX-=', 8, 'eee19bfec3c1b17f'],
    ['a trace id in base64', 'W47/95gDgQPSabYzgT/GDA==', 16, '5b8efff798038103d269b633813fc60c'],
    ['11 hex digits are hex', 'abcdef12345', 8, 'abcdef12345'],
    ['anything else stays as it is', 'Span-1', 8, 'Span-1'],
    ['no id', undefined, 8, ''],
    ['an empty id', '', 8, ''],
  ]
  test.each(cases)('%s', (_, value, size, expected) => {
    expect(otlpId(value, size)).toBe(expected)
  })

  test('a parent of zeros, hex or base64, is no parent', async () => {
    for (const parentSpanId of ['0000000000000000', 'AAAAAAAAAAA=', '', null]) {
      expect(await readOne(request({ parentSpanId }))).toMatchObject({ parent: 'none' })
    }
  })

  test('a child that names its parent in base64 and in capitals is found', async () => {
    const both = [
      request({ name: 'parent' }),
      request({ name: 'child', spanId: '01', parentSpanId: '7uGbfsPBsXQ=' }),
    ]
    const spans = plainSpans(await readSpans(otlpReader, JSON.stringify(both)))
    expect(spans[1]).toMatchObject({ operation: 'child', parent: 'parent' })
  })
})

describe('the trace state', () => {
  const weightOf = async (span: object) =>
    Array.from((await readSpans(otlpReader, JSON.stringify(request(span)))).weight ?? [])

  test.each<[string, number[]]>([
    ['ot=th:0', [1]],
    ['ot=th:8', [2]],
    ['ot=th:c', [4]],
    ['ot=th:fd70a3d70a3d71', [100.00000000000014]],
    ['ot=th:ffffffffffffff', [2 ** 56]],
    ['ot=p:0', [1]],
    ['ot=p:3', [8]],
    ['ot=rv:abcdefabcdef12;th:e', [8]],
    ['ot=th:e;p:1', [8]],
    ['vendor=x,ot=p:3;r:62,other=y', [8]],
    ['vendor=x, ot=th:c', [4]],
    ['ot=p:63', []],
    ['ot=th:123456789abcdef', []],
    ['ot=th:xyz', []],
    ['not=th:8', []],
    ['vendor=th:8', []],
    ['ot=', []],
    ['', []],
  ])('%s: weight %j', async (traceState, weight) => {
    const found = await weightOf({ traceState })
    expect(found).toEqual(weight.map((value) => expect.closeTo(value, 6)))
    expect(await weightOf({ trace_state: traceState })).toEqual(found)
  })

  test('of the root counts, wherever it stands; the first that says so where the root does not', async () => {
    const child = { spanId: '01', parentSpanId: 'eee19b7ec3c1b174' }
    const weights = async (spans: object[]) =>
      (await readSpans(otlpReader, JSON.stringify(spans.map((span) => request(span))))).weight
    expect(await weights([{ ...child, traceState: 'ot=th:8' }, { traceState: 'ot=th:c' }])).toEqual(
      Float64Array.of(4),
    )
    expect(await weights([{}, { ...child, traceState: 'ot=th:8' }])).toEqual(Float64Array.of(2))
    expect(await weights([{ traceState: 'ot=th:8' }, { ...child, traceId: 'other' }])).toEqual(
      Float64Array.of(2, Number.NaN),
    )
  })
})

test('versions are counted by service, from the resource or the span', async () => {
  const attribute = { key: 'service.version', value: { stringValue: '1.2' } }
  const ofResource = request({}, { resource: { attributes: [attribute] } })
  const ofSpan = request({ spanId: '02', attributes: [attribute] })
  const none = request({ spanId: '03' })
  const { versions } = await readSpans(otlpReader, JSON.stringify([ofResource, ofSpan, none]))
  expect(versions).toEqual(
    new Map([
      ['', new Map([['1.2', 1]])],
      ['s', new Map([['1.2', 1]])],
    ]),
  )
})

describe('times', () => {
  test('as text, are kept to the nanosecond', async () => {
    expect(await readOne(request({}))).toMatchObject({
      startNs: 1661145996678383311n,
      durationUs: 1.25,
    })
  })

  test('as numbers that no double can hold, are kept to the nanosecond', async () => {
    const text = JSON.stringify(request({ attributes: [] })).replace(/"(16\d{17})"/g, '$1')
    expect(text).toContain('"startTimeUnixNano":1661145996678383311,')
    for (const written of [text, text.replaceAll('":', '" : ')]) {
      expect(await readOne(written)).toMatchObject({
        startNs: 1661145996678383311n,
        durationUs: 1.25,
      })
    }
  })

  test('that are missing or not whole numbers make a span unusable, with its trace named', async () => {
    for (const span of [{ startTimeUnixNano: undefined }, { endTimeUnixNano: '1.5e18' }]) {
      const set = await readSpans(otlpReader, JSON.stringify(request(span)))
      expect([set.size, issueCounts(set)]).toEqual([0, { 'unusable-span': 1 }])
      expect(set.quality().issues[0]?.place.trace).toBe('5b8efff798038103d269b633813fc60c')
    }
  })

  test('that run backwards make a span unusable', async () => {
    const set = await readSpans(
      otlpReader,
      JSON.stringify(request({ endTimeUnixNano: '1661145996678383211' })),
    )
    expect(set.quality().issues[0]?.message).toBe(
      'Span eee19b7ec3c1b174 ends 0.1 µs before it starts',
    )
  })
})

test('kinds are numbers, digits or names', () => {
  for (const value of [2, '2', 'SPAN_KIND_SERVER', 'Server', 'server']) {
    expect(kindNamed(value)).toBe('server')
  }
  expect([1, 3, 4, 5].map((kind) => kindNamed(kind))).toEqual([
    'internal',
    'client',
    'producer',
    'consumer',
  ])
  for (const value of [0, undefined, null, 'SPAN_KIND_UNSPECIFIED', 9, {}]) {
    expect(kindNamed(value)).toBeUndefined()
  }
})

test('statuses are numbers, digits or names', () => {
  for (const value of [{ code: 2 }, { code: '2' }, { code: 'STATUS_CODE_ERROR' }, 'Error']) {
    expect(statusNamed(value)).toBe('error')
  }
  for (const value of [{ code: 1 }, { code: 'STATUS_CODE_OK' }, 'Ok']) {
    expect(statusNamed(value)).toBe('ok')
  }
  for (const value of [{}, undefined, null, { code: 0 }, { code: 'STATUS_CODE_UNSET' }]) {
    expect(statusNamed(value)).toBe('unset')
  }
})

test('attributes keep their types; lists become JSON text; integers past 2^53 stay text', async () => {
  const attributes = [
    { key: 'text', value: { stringValue: '7' } },
    { key: 'truth', value: { boolValue: false } },
    { key: 'int', value: { intValue: '-42' } },
    { key: 'int as number', value: { intValue: 0 } },
    { key: 'huge', value: { intValue: '9223372036854775807' } },
    { key: 'double', value: { doubleValue: 72.5 } },
    { key: 'list', value: { arrayValue: { values: [{ intValue: '1' }, { stringValue: 'b' }] } } },
    {
      key: 'map',
      value: { kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] } },
    },
    { key: 'bytes', value: { bytesValue: 'AAAwOQ==' } },
    { key: 'nothing', value: {} },
  ]
  expect((await readOne(request({ attributes })))?.attributes).toEqual({
    text: '7',
    truth: false,
    int: -42,
    'int as number': 0,
    huge: '9223372036854775807',
    double: 72.5,
    list: '[1,"b"]',
    map: '{"k":true}',
    bytes: 'AAAwOQ==',
  })
})

test("an event's attributes stand under its name; an event without any is a name alone", async () => {
  const events = [
    { name: 'exception', attributes: [{ key: 'type', value: { stringValue: 'E' } }] },
    { attributes: [{ key: 'x', value: { intValue: 1 } }] },
    { name: 'cache miss' },
  ]
  expect((await readOne(request({ events })))?.attributes).toEqual({
    'exception · type': 'E',
    'event · x': 1,
    event: 'cache miss',
  })
})

test('the host is host.name, else k8s.node.name, never a pod or container', async () => {
  const hostOf = async (...keys: string[]) => {
    const attributes = keys.map((key) => ({ key, value: { stringValue: `the ${key}` } }))
    return (await readOne(request({}, { resource: { attributes } })))?.host
  }
  expect(await hostOf('k8s.node.name', 'host.name')).toBe('the host.name')
  expect(await hostOf('k8s.pod.name', 'k8s.node.name')).toBe('the k8s.node.name')
  expect(await hostOf('k8s.pod.name', 'container.id')).toBe('')
})

test('a link that repeats the parent as follows_from says that the parent does not wait', async () => {
  const link = (spanId: string, type: string) => ({
    spanId,
    attributes: [{ key: 'opentracing.ref_type', value: { stringValue: type } }],
  })
  const parentSpanId = '0000000000000007'
  const follows = async (links: object[]) =>
    (await readOne(request({ parentSpanId, links })))?.followsFrom
  expect(await follows([link(parentSpanId, 'follows_from')])).toBe(true)
  expect(await follows([link(parentSpanId, 'child_of')])).toBe(false)
  expect(await follows([link('0000000000000008', 'follows_from')])).toBe(false)
})

test("Tempo's batches and bare resource spans are read", async () => {
  const { resourceSpans } = request({})
  for (const content of [
    { batches: resourceSpans },
    { trace: { resourceSpans } },
    resourceSpans[0] ?? {},
  ]) {
    expect(await readOne(content)).toMatchObject({ operation: 'op', service: 's' })
  }
})

test('records of logs among JSON lines are ignored and counted', async () => {
  const lines = [request({}), { resourceLogs: [] }, {}, { resourceMetrics: [] }]
  const set = await readSpans(otlpReader, lines.map((line) => JSON.stringify(line)).join('\n'))
  expect(set.size).toBe(1)
  expect(set.quality().issues.map(({ message }) => message)).toEqual([
    '2 records without spans (logs or metrics, perhaps), ignored',
  ])
})

test('a request of 20 MB from one service is read; behind its spans, its resource is too late', {
  tags: 'full',
}, async () => {
  const { resource, scopeSpans } = request({ name: 'x'.repeat(2000) }).resourceSpans[0] ?? {}
  const span = scopeSpans?.[0]?.spans[0]
  const spans = Array.from({ length: 9000 }, (_, i) => ({ ...span, spanId: `${i + 1}` }))
  const inOrder = { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }
  const set = await readSpans(otlpReader, JSON.stringify(inOrder))
  expect([set.spans.parent.length, set.services.values]).toEqual([9000, ['s']])
  const backwards = { resourceSpans: [{ scopeSpans: [{ spans }], resource }] }
  await expect(readSpans(otlpReader, JSON.stringify(backwards))).rejects.toThrow(
    'has its resource behind its spans. Write resource before scopeSpans',
  )
})
