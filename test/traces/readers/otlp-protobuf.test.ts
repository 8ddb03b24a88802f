import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import {
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { otlpReader } from '../../../src/traces/readers/otlp.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { plainSpans, readSpans } from '../read-traces.ts'

const context = (trace: number, span: number) => ({
  traceId: trace.toString(16).padStart(32, 'a'),
  spanId: span.toString(16).padStart(16, '0'),
  traceFlags: TraceFlags.SAMPLED,
})

/** A span as OpenTelemetry's SDK hands it to its exporters, with values of all types. */
function span(trace: number, id: number, more: Partial<ReadableSpan> = {}): ReadableSpan {
  return {
    name: `op ${id}`,
    kind: SpanKind.SERVER,
    spanContext: () => context(trace, id),
    ...(id > 1 && { parentSpanContext: context(trace, 1) }),
    startTime: [1_795_231_411, 217_305_760 + id],
    endTime: [1_795_231_412, 7],
    duration: [1, 0],
    status: { code: id === 2 ? SpanStatusCode.ERROR : SpanStatusCode.UNSET, message: 'düster' },
    attributes: {
      text: 'Zoë 🚲',
      yes: true,
      no: false,
      half: -0.5,
      negative: -3,
      large: 2 ** 40,
      list: ['a', 'b'],
      empty: '',
    },
    events: [{ name: 'retry', time: [1_795_231_411, 0], attributes: { attempt: 2 } }],
    links: [{ context: context(trace, 1), attributes: { 'opentracing.ref_type': 'follows_from' } }],
    resource: resourceFromAttributes({
      'service.name': 'shop',
      'host.name': 'h1',
      'service.version': '2',
    }),
    instrumentationScope: { name: 'test' },
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    ...more,
  } as ReadableSpan
}

const REQUESTS = [[span(1, 1), span(1, 2)], [span(2, 1), span(2, 3), span(2, 4)], [span(3, 1)]]
const json = REQUESTS.map((spans) =>
  new TextDecoder().decode(JsonTraceSerializer.serializeRequest(spans)),
)
const messages = REQUESTS.map(
  (spans) => ProtobufTraceSerializer.serializeRequest(spans) as Uint8Array,
)

const withLength = (bytes: Uint8Array) => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
/** A frame of Zstandard that holds one block as it is. */
const inZstd = (bytes: Uint8Array) => {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 0, 0, 0])
  head.writeUInt32LE(bytes.length, 5)
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3)
  return Buffer.concat([head, bytes])
}
const everything = (set: SpanTraces) => ({ spans: plainSpans(set), versions: set.versions })

const FORMS: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ['with the length before each message', Buffer.concat(messages.map(withLength))],
  ['with the length, compressed', Buffer.concat(messages.map((one) => withLength(inZstd(one))))],
  [
    'JSON with the length, compressed',
    Buffer.concat(json.map((one) => withLength(inZstd(Buffer.from(one))))),
  ],
]

test.each(FORMS)(
  'OTLP protobuf %s says what its JSON says, wherever the file is cut into chunks',
  async (_, bytes) => {
    const expected = everything(await readSpans(otlpReader, json.join('\n')))
    expect(expected.spans[0]?.attributes).toMatchObject({
      text: 'Zoë 🚲',
      negative: -3,
      large: 2 ** 40,
    })
    for (const size of [1, 7, 64, 1000, bytes.length]) {
      const cut = (all: Uint8Array) =>
        Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
          all.subarray(i * size, (i + 1) * size),
        )
      expect(everything(await readSpans(otlpReader, bytes, { cut }))).toEqual(expected)
    }
    const loaded = (await loadTraces({ name: 'traces.bin', bytes })) as SpanTraces
    expect(everything(loaded)).toEqual(expected)
  },
)

test('a message that the end of the file cuts is left out and told', async () => {
  const bytes = Buffer.concat(messages.map(withLength)).subarray(0, -5)
  const traces = await loadTraces({ name: 'a.bin', bytes })
  expect(traces.size).toBe(2)
  expect(traces.quality().issues.map(({ message }) => message)).toEqual([
    'The file ends within message 3',
  ])
  await expect(loadTraces({ name: 'a.bin', bytes }, { strict: true })).rejects.toThrow(
    'a.bin: The file ends within message 3. Copy it again',
  )
})

test('OTLP protobuf of logs, and damaged messages, are errors that name the message', async () => {
  const logs = ProtobufLogsSerializer.serializeRequest([
    {
      hrTime: [1, 2],
      hrTimeObserved: [1, 2],
      body: 'hello',
      attributes: {},
      resource: resourceFromAttributes({}),
      instrumentationScope: { name: 'x' },
      droppedAttributesCount: 0,
    },
  ] as never) as Uint8Array
  await expect(loadTraces({ name: 'logs.bin', bytes: withLength(logs) })).rejects.toThrow(
    'logs.bin: Message 1 is not OTLP with spans: logs or metrics, or damaged. Give the file of the traces pipeline',
  )
  const damaged = Buffer.concat([
    withLength(messages[0] as Uint8Array),
    withLength(Buffer.from('nonsense')),
  ])
  await expect(loadTraces({ name: 'a.bin', bytes: damaged })).rejects.toThrow(
    'a.bin: Message 2 is not OTLP',
  )
  const cut = withLength(Buffer.from('{"resourceSpans":[{"scopeSp'))
  await expect(loadTraces({ name: 'a.bin', bytes: cut })).rejects.toThrow(
    'a.bin: Message 1 is not JSON, or is cut. Give the file of the traces pipeline',
  )
  const broken = withLength(
    Buffer.concat([inZstd(Buffer.from('x')).subarray(0, 6), Buffer.from([1, 2, 3])]),
  )
  await expect(loadTraces({ name: 'a.bin', bytes: broken })).rejects.toThrow(
    /^a\.bin: Message 1 cannot be decompressed/,
  )
})

/** One OTLP JSON line, as the program zstd compresses it. */
const COMPRESSED = Buffer.from(
  'KLUv/QRotQYAcg0qGVDXAyOmtBCJ61xEUtRH5DEPK1sFn8yUY0JAf/rTn6nwjLXVBthjlPHDFwhCxmIYaPz6WbZJV2UGY9XCteX7oawf5cp6+N4GfX34M15KoTslKBo0UgG+lKKDiAxhFlO6UU4Dy8K4MpKWWmtA9OtHCL5W861ldz/sT++vZdT+ZsqV5nu7LPfwMWZzgG/Faby/voctzDeo0pzb/+o79Xe2moKv3rKN9X8BEAAAkxhrTAPgks0gBDBbCsDjqjtMs6dkUaurW0Ugg1kyxwTVHX2Or7YZBp0iM5I=',
  'base64',
)

test('files compressed with zstd are read, also several one after the other; a cut one is an error', async () => {
  const traces = (await loadTraces({ name: 'a.zst', bytes: COMPRESSED })) as SpanTraces
  expect(plainSpans(traces).map(({ parent, service }) => [parent, service])).toEqual([
    ['none', 'shop'],
    ['buy', 'shop'],
  ])
  const twice = await loadTraces({ name: 'a.zst', bytes: Buffer.concat([COMPRESSED, COMPRESSED]) })
  expect(twice.quality().counts.get('duplicate-span')).toBe(2)
  await expect(loadTraces({ name: 'a.zst', bytes: COMPRESSED.subarray(0, 150) })).rejects.toThrow(
    /^a\.zst: The zstd data is damaged or truncated .*Copy or download it again/,
  )
})
