import { describe, expect, test } from 'vitest'
import { otlpReader } from '../../src/traces/readers/otlp.ts'
import { readingOf, spansReader } from '../../src/traces/readers/span-records.ts'
import type { TraceReader } from '../../src/traces/readers/trace-reader.ts'
import { issueCounts, plainSpans, readerOf, readSpans } from './read-traces.ts'

// Two requests of an online shop, with names that need many bytes; whole microseconds, because
// Jaeger and Zipkin know no others.
const START_US = 1661145996678383
const KIND_NUMBERS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }
const SPANS = [
  {
    trace: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01',
    id: '0000000000000a01',
    parent: '',
    service: 'shöp',
    host: '10.0.0.1',
    name: 'GET /ca"rt',
    kind: 'server',
    error: false,
    at: 0,
    us: 5000,
    attributes: { size: 4096, path: '/cart,漢😀' },
  },
  {
    trace: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01',
    id: '0000000000000a02',
    parent: '0000000000000a01',
    service: 'shöp',
    host: '10.0.0.1',
    name: 'call\tstock',
    kind: 'client',
    error: true,
    at: 1000,
    us: 3000,
    attributes: {},
  },
  {
    trace: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02',
    id: '0000000000000b01',
    parent: '',
    service: 'shöp',
    host: '10.0.0.1',
    name: 'GET /',
    kind: 'server',
    error: false,
    at: 20_000,
    us: 0,
    attributes: { size: 0.5 },
  },
  {
    trace: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01',
    id: 'fedcba9876543210',
    parent: '0000000000000a02',
    service: 'stock',
    host: '10.0.0.2',
    name: 'count {}',
    kind: 'server',
    error: false,
    at: 1500,
    us: 2000,
    attributes: { hit: 7 },
  },
] as const
type Span = (typeof SPANS)[number]

const plain = (span: Span) => ({
  trace: span.trace,
  startNs: BigInt(START_US + span.at) * 1000n,
  durationUs: span.us,
  parent: SPANS.find(({ id }) => id === span.parent)?.name ?? 'none',
  service: span.service,
  operation: span.name,
  host: span.host,
  kind: span.kind,
  status: span.error ? 'error' : 'unset',
  followsFrom: false,
  attributes: span.attributes,
})
const EXPECTED = [SPANS[0], SPANS[1], SPANS[3], SPANS[2]].map(plain)

const otlpRequest = (spans: readonly Span[], snake = false) => {
  const key = (camel: string) =>
    snake ? camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : camel
  return {
    [key('resourceSpans')]: spans.map((span) => ({
      resource: {
        attributes: [
          { key: 'service.name', value: { [key('stringValue')]: span.service } },
          { key: 'host.name', value: { [key('stringValue')]: span.host } },
        ],
      },
      [key('scopeSpans')]: [
        {
          spans: [
            {
              [key('traceId')]: span.trace,
              [key('spanId')]: span.id,
              [key('parentSpanId')]: span.parent,
              name: span.name,
              kind: KIND_NUMBERS[span.kind],
              [key('startTimeUnixNano')]: `${START_US + span.at}000`,
              [key('endTimeUnixNano')]: `${START_US + span.at + span.us}000`,
              status: span.error ? { code: 2 } : {},
              attributes: Object.entries(span.attributes).map(([name, value]) => ({
                key: name,
                value: { [key(typeof value === 'number' ? 'doubleValue' : 'stringValue')]: value },
              })),
            },
          ],
        },
      ],
    })),
  }
}

const jaegerTrace = (trace: string) => ({
  traceID: trace,
  spans: SPANS.filter((span) => span.trace === trace).map((span) => ({
    traceID: trace,
    spanID: span.id,
    operationName: span.name,
    references:
      span.parent === '' ? [] : [{ refType: 'CHILD_OF', traceID: trace, spanID: span.parent }],
    startTime: START_US + span.at,
    duration: span.us,
    tags: [
      { key: 'span.kind', type: 'string', value: span.kind },
      ...(span.error ? [{ key: 'error', type: 'bool', value: true }] : []),
      ...Object.entries(span.attributes).map(([key, value]) => ({
        key,
        type: typeof value === 'number' ? 'float64' : 'string',
        value,
      })),
    ],
    processID: `p-${span.service}`,
  })),
  processes: Object.fromEntries(
    SPANS.map(({ service, host }) => [
      `p-${service}`,
      { serviceName: service, tags: [{ key: 'hostname', type: 'string', value: host }] },
    ]),
  ),
})
const TRACES = [SPANS[0].trace, SPANS[2].trace].map(jaegerTrace)

const zipkinSpan = (span: Span) => ({
  traceId: span.trace,
  id: span.id,
  ...(span.parent === '' ? {} : { parentId: span.parent }),
  kind: span.kind.toUpperCase(),
  name: span.name,
  timestamp: START_US + span.at,
  duration: span.us,
  localEndpoint: { serviceName: span.service, ipv4: span.host },
  tags: {
    ...(span.error ? { error: 'true' } : {}),
    ...Object.fromEntries(Object.entries(span.attributes).map(([k, v]) => [k, String(v)])),
  },
})
const ZIPKIN = SPANS.map(zipkinSpan)

const csvText = (lineEnd: string) =>
  [
    'trace,id,parent,service,operation,host,start,duration,kind,status,size,path,hit',
    ...SPANS.map((span) => {
      const { size = '', path = '', hit = '' } = span.attributes as Record<string, unknown>
      const [operation, quotedPath] = [span.name, String(path)].map(
        (text) => `"${text.replaceAll('"', '""')}"`,
      )
      const status = span.error ? 'ERROR' : ''
      const start = (START_US + span.at) / 1e3
      return `${span.trace},${span.id},${span.parent},${span.service},${operation},${span.host},${start.toFixed(3)},${span.us},${span.kind},${status},${size},${quotedPath},${hit}`
    }),
  ].join(lineEnd)
const csv = spansReader(
  readingOf('auto', 'trace=trace,span=id,parent=parent,start=start:ms,duration=duration:us'),
)

const FORMS: [string, TraceReader, string][] = [
  ['OTLP, one object', otlpReader, JSON.stringify(otlpRequest(SPANS))],
  ['OTLP, snake_case', otlpReader, JSON.stringify(otlpRequest(SPANS, true))],
  ['OTLP, array', otlpReader, JSON.stringify(SPANS.map((span) => otlpRequest([span])))],
  ['OTLP, lines', otlpReader, SPANS.map((s) => JSON.stringify(otlpRequest([s]))).join('\n')],
  [
    'OTLP, pretty-printed one after the other',
    otlpReader,
    SPANS.map((span) => JSON.stringify(otlpRequest([span]), null, 2)).join('\n'),
  ],
  [
    'Jaeger, API answer',
    readerOf('jaeger'),
    JSON.stringify({ data: TRACES, total: 0, errors: null }),
  ],
  [
    'Jaeger, bare traces one a line',
    readerOf('jaeger'),
    TRACES.map((t) => JSON.stringify(t)).join('\n'),
  ],
  ['Jaeger, array of traces', readerOf('jaeger'), JSON.stringify(TRACES, null, 1)],
  [
    "Jaeger, UI's inner form",
    readerOf('jaeger'),
    TRACES.map((data) => JSON.stringify({ data, id: data.traceID, state: 'FETCH_DONE' })).join(''),
  ],
  ['Zipkin, array of spans', readerOf('zipkin'), JSON.stringify(ZIPKIN)],
  [
    'Zipkin, array of arrays',
    readerOf('zipkin'),
    JSON.stringify([ZIPKIN.slice(0, 2), ZIPKIN.slice(2)]),
  ],
  ['Zipkin, lines of spans', readerOf('zipkin'), ZIPKIN.map((s) => JSON.stringify(s)).join('\n')],
  [
    'Zipkin, lines of arrays',
    readerOf('zipkin'),
    ZIPKIN.map((s) => JSON.stringify([s])).join('\r\n'),
  ],
  ['CSV', csv, csvText('\n')],
  ['CSV with CRLF', csv, `\uFEFF${csvText('\r\n')}\r\n`],
]

/** Declares that all formats say the same, cut in two at every `step`th byte. */
function describeFormats(step: number): void {
  describe('the same traces in every format give the same trace set', () => {
    test.each(FORMS)('%s', async (_, reader, text) => {
      const set = await readSpans(reader, text)
      expect(plainSpans(set)).toEqual(EXPECTED)
      expect(issueCounts(set)).toEqual({})
    })
  })

  describe('it does not matter where chunks begin and end', () => {
    test.each(FORMS)('%s', async (_, reader, text) => {
      const single = (bytes: Uint8Array) =>
        Array.from(bytes.keys(), (at) => bytes.subarray(at, at + 1))
      expect(plainSpans(await readSpans(reader, text, { cut: single }))).toEqual(EXPECTED)
      const size = new TextEncoder().encode(text).length
      for (let at = 1; at < size; at += step) {
        const cut = (bytes: Uint8Array) => [bytes.subarray(0, at), bytes.subarray(at)]
        const set = await readSpans(reader, text, { cut })
        if (set.size !== 2 || set.spans.parent.length !== 4) expect({ at }).toBe('whole')
      }
    })
  })

  test('each form is recognized by its beginning as its own format and no other', () => {
    for (const [name, reader, text] of FORMS) {
      const head = text.slice(0, 4096)
      const recognized = [otlpReader, csv].find((one) => one.recognizes(head, Buffer.from(head)))
      expect([name, recognized?.format]).toEqual([name, reader.format])
    }
  })
}

describe('cut at every seventh byte', () => describeFormats(7))

describe('cut at every byte', { tags: 'full' }, () => describeFormats(1))
