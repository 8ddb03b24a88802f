import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { plainSpans } from '../read-traces.ts'

const FOLDER = temporaryFolder()

/** All that findings rest on. */
const everything = (traces: SpanTraces) => ({
  spans: plainSpans(traces),
  versions: traces.versions,
  weight: traces.weight,
})

async function saved(traces: SpanTraces, name = 'saved.jsonl.gz'): Promise<SpanTraces> {
  await traces.save(join(FOLDER, name))
  return (await loadTraces(join(FOLDER, name))) as SpanTraces
}

const OTLP = JSON.stringify({
  resourceSpans: [
    {
      resource: {
        attributes: [
          { key: 'service.name', value: { stringValue: 'shop' } },
          { key: 'service.version', value: { stringValue: '1.4' } },
          { key: 'host.name', value: { stringValue: 'h1' } },
        ],
      },
      scopeSpans: [
        {
          spans: [
            {
              traceId: 'a'.repeat(32),
              spanId: '1'.repeat(16),
              name: 'buy',
              kind: 2,
              startTimeUnixNano: '1795231411217185447',
              endTimeUnixNano: '1795231411217411913',
              traceState: 'ot=th:e',
              status: { code: 2, message: 'no' },
              attributes: [
                { key: 'n', value: { intValue: '-7' } },
                { key: 'x', value: { doubleValue: 0.1 } },
                { key: 'b', value: { boolValue: false } },
                { key: 's', value: { stringValue: '7' } },
              ],
              events: [{ name: 'retry', attributes: [{ key: 'k', value: { stringValue: 'v' } }] }],
            },
            {
              traceId: 'a'.repeat(32),
              spanId: '2'.repeat(16),
              parentSpanId: '1'.repeat(16),
              name: 'later',
              startTimeUnixNano: '1795231411217185448',
              endTimeUnixNano: '1795231411217185448',
              links: [
                {
                  traceId: 'a'.repeat(32),
                  spanId: '1'.repeat(16),
                  attributes: [
                    { key: 'opentracing.ref_type', value: { stringValue: 'follows_from' } },
                  ],
                },
              ],
            },
            {
              traceId: 'b'.repeat(32),
              spanId: '3'.repeat(16),
              parentSpanId: '9'.repeat(16),
              name: 'orphan',
              startTimeUnixNano: '1795231411217185449',
              endTimeUnixNano: '1795231411217185459',
            },
          ],
        },
      ],
    },
  ],
})

test('traces that are saved as OTLP say the same when they are loaded again', async () => {
  const traces = (await loadTraces({ name: 'a.json', bytes: OTLP })) as SpanTraces
  expect(plainSpans(traces).map(({ parent }) => parent)).toEqual(['none', 'buy', 'missing'])
  expect(traces.weight?.[0]).toBe(8)
  for (const name of ['a.jsonl.gz', 'a.jsonl']) {
    expect(everything(await saved(traces, name))).toEqual(everything(traces))
  }
  const text = gunzipSync(readFileSync(join(FOLDER, 'a.jsonl.gz'))).toString()
  expect(text).toBe(readFileSync(join(FOLDER, 'a.jsonl'), 'utf8'))
  expect(text.trim().split('\n')).toHaveLength(2)
})

test('what is there stays until the new file is whole, and an unknown ending is refused', async () => {
  const traces = (await loadTraces({ name: 'a.json', bytes: OTLP })) as SpanTraces
  await saved(traces, 'again.jsonl')
  for (const name of ['a.jsonl', 'a.parquet']) {
    await expect(traces.save(join(FOLDER, 'nowhere', name))).rejects.toThrow(
      `${name} cannot be written (ENOENT). Check the name`,
    )
  }
  await expect(traces.save('traces.csv')).rejects.toThrow(
    'Option path is "traces.csv". Give a file that ends in .jsonl.gz, .jsonl or .parquet.',
  )
  expect(readdirSync(FOLDER).filter((name) => name.includes('partial'))).toEqual([])
})

describeWithShared('traces that others recorded', () => {
  test.each([
    'jaeger-json/api_hotel_clockskew_warnings.json',
    'jaeger-json/backend_ui_01.json',
    'otlp-json/jaeger_otel_traces_01.json',
    'otlp-json/proto_example_trace.json',
    'zipkin-v2/yelp.json',
    'zipkin-v2/messaging.json',
  ])('%s says the same after it is saved as OTLP', async (file) => {
    const traces = (await loadTraces(sharedFile(`fixtures/${file}`) as string)) as SpanTraces
    expect(everything(await saved(traces))).toEqual(everything(traces))
  })
})
