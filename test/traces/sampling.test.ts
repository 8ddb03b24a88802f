import { expect, test } from 'vitest'
import { otlpReader } from '../../src/traces/readers/otlp.ts'
import { readerOf, readSpans } from './read-traces.ts'

type Attributes = Readonly<Record<string, string | number | boolean>>

interface Sketch {
  readonly id: string
  readonly parent?: string
  readonly attributes: Attributes
  readonly traceState?: string
}

const otlpValue = (value: string | number | boolean) =>
  typeof value === 'number'
    ? { intValue: String(value) }
    : typeof value === 'string'
      ? { stringValue: value }
      : { boolValue: value }

/** One trace in each format; trace state where the format has a field for it. */
const FORMATS = {
  OTLP: (spans: readonly Sketch[]) =>
    readSpans(
      otlpReader,
      JSON.stringify({
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 's' } }] },
            scopeSpans: [
              {
                spans: spans.map(({ id, parent = '', attributes, traceState }) => ({
                  traceId: '5b8efff798038103d269b633813fc60c',
                  spanId: id,
                  parentSpanId: parent,
                  name: 'op',
                  startTimeUnixNano: '1661145996678383311',
                  endTimeUnixNano: '1661145996678384561',
                  ...(traceState !== undefined && { traceState }),
                  attributes: Object.entries(attributes).map(([key, value]) => ({
                    key,
                    value: otlpValue(value),
                  })),
                })),
              },
            ],
          },
        ],
      }),
    ),
  Jaeger: (spans: readonly Sketch[]) =>
    readSpans(
      readerOf('jaeger'),
      JSON.stringify({
        traceID: 't1',
        processes: { p1: { serviceName: 's', tags: [] } },
        spans: spans.map(({ id, parent, attributes }) => ({
          traceID: 't1',
          spanID: id,
          operationName: 'op',
          references:
            parent === undefined ? [] : [{ refType: 'CHILD_OF', traceID: 't1', spanID: parent }],
          startTime: 1_000_000,
          duration: 10,
          processID: 'p1',
          tags: Object.entries(attributes).map(([key, value]) => ({ key, value })),
        })),
      }),
    ),
  Zipkin: (spans: readonly Sketch[]) =>
    readSpans(
      readerOf('zipkin'),
      JSON.stringify(
        spans.map(({ id, parent, attributes }) => ({
          traceId: 't1',
          id,
          name: 'op',
          timestamp: 1_000_000,
          duration: 100,
          localEndpoint: { serviceName: 's' },
          ...(parent !== undefined && { parentId: parent }),
          tags: Object.fromEntries(
            Object.entries(attributes).map(([key, value]) => [key, String(value)]),
          ),
        })),
      ),
    ),
}

const root = (attributes: Attributes, traceState?: string): Sketch[] => [
  { id: 'eee19b7ec3c1b174', attributes, ...(traceState !== undefined && { traceState }) },
]

test.each(Object.entries(FORMATS))(
  '%s: SampleRate and the trace state of a root are its weight',
  async (_, read) => {
    const weightOf = async (attributes: Attributes) => (await read(root(attributes))).weight?.[0]
    expect(await weightOf({ SampleRate: 10 })).toBe(10)
    expect(await weightOf({ SampleRate: '2.5' })).toBe(2.5)
    expect(await weightOf({ 'w3c.tracestate': 'vendor=1,ot=th:c;rv:1' })).toBe(4)
    // A trace state that says all are kept knows nothing of who sampled later.
    expect(await weightOf({ 'w3c.tracestate': 'ot=th:0', SampleRate: 10 })).toBe(10)
    expect(await weightOf({ SampleRate: 1, 'w3c.tracestate': 'ot=th:c' })).toBe(4)
    for (const SampleRate of [0, -3, 'often']) {
      expect(await weightOf({ SampleRate })).toBeUndefined()
    }
    expect(await weightOf({ sampleRate: 10 })).toBeUndefined()
  },
)

test.each(Object.entries(FORMATS))(
  '%s: the root’s weight counts, and is no attribute that tells requests apart',
  async (_, read) => {
    const traces = await read([
      { id: 'aaa19b7ec3c1b174', parent: 'eee19b7ec3c1b174', attributes: { SampleRate: 3 } },
      ...root({ SampleRate: 20, tenant: 'gold' }),
    ])
    expect(traces.weight).toEqual(Float64Array.of(20))
    expect(traces.spans.parent).toHaveLength(2)
    const keys = [0, 1].flatMap((row) => Array.from(traces.attributes.entries(row), ([key]) => key))
    expect(keys).toEqual(['tenant'])
  },
)

test('in OTLP, the trace state of a span is known beside its attributes', async () => {
  const weights = async (attributes: Attributes, state: string) =>
    (await FORMATS.OTLP(root(attributes, state))).weight?.[0]
  expect(await weights({ SampleRate: 10 }, 'ot=th:0')).toBe(10)
  expect(await weights({}, 'ot=th:c')).toBe(4)
})
