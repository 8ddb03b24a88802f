import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces as loadWithLogs } from '../../../src/logs/traced/load-traces.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { logsOfSpan } from '../../../src/traces/log-records.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { plainSpans } from '../read-traces.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-saved-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))

/** All that traces say, but for codes, and weights as OTLP's 56 bits have them. */
function contentOf(traces: SpanTraces) {
  const { ids, epochNs, weight, logs, serviceLogs } = traces
  return {
    ids,
    spans: plainSpans(traces),
    weight: weight && Array.from(weight, (each) => Number(each.toPrecision(9))),
    versions: traces.versions,
    logs: logs && Array.from(traces.spans.parent.keys(), (row) => logsOfSpan(logs, row)),
    serviceLogs:
      serviceLogs &&
      Array.from(serviceLogs.timeUs, (timeUs, record) => [
        timeUs + Number(epochNs) / 1e3,
        serviceLogs.services.value(serviceLogs.service[record] as number),
        serviceLogs.statements.value(serviceLogs.statement[record] as number),
      ]),
  }
}

async function savedAgain(traces: SpanTraces, name: string): Promise<SpanTraces> {
  await traces.save(join(FOLDER, name))
  return (await loadTraces(join(FOLDER, name))) as SpanTraces
}

/** Two files, of the first trace and of the others, which are read together. */
async function savedInTwo(traces: SpanTraces, ending: string): Promise<SpanTraces> {
  const rows = [...traces.ids.keys()]
  const files = [rows.slice(0, 1), rows.slice(1)].map((half, i) => ({
    half,
    path: join(FOLDER, `part-${i}.${ending}`),
  }))
  for (const { half, path } of files) await traces.pick(half).save(path)
  return (await loadTraces(files.map(({ path }) => path))) as SpanTraces
}

const text = fc.string({ unit: 'binary', maxLength: 6 })
const value = fc.oneof(
  text.map((stringValue) => ({ stringValue })),
  fc.boolean().map((boolValue) => ({ boolValue })),
  fc.maxSafeInteger().map((value) => ({ intValue: String(value) })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((doubleValue) => ({ doubleValue })),
)
const attributes = fc.uniqueArray(fc.record({ key: text, value }), {
  selector: ({ key }) => key,
  maxLength: 3,
})
/** A trace: the first span is the root; others are called, or followed, by one before them. */
const trace = fc.record({
  probability: fc.constantFrom('', 'ot=th:8', 'ot=th:c', 'ot=th:fd70a3d70a3d7'),
  spans: fc.array(
    fc.record({
      service: fc.constantFrom('front', 'back', ''),
      host: fc.constantFrom('h1', 'h2', ''),
      version: fc.constantFrom('1', '2', ''),
      name: text,
      parent: fc.nat(5),
      follows: fc.boolean(),
      kind: fc.integer({ min: 0, max: 5 }),
      status: fc.integer({ min: 0, max: 2 }),
      startNs: fc.nat(1e9),
      durationNs: fc.nat(1e9),
      attributes,
      events: fc.array(fc.record({ name: text, attributes }), { maxLength: 2 }),
      logged: fc.array(fc.constantFrom('hello', 'bye', 'disk full', 'a\tb'), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
})

const START_NS = 1_790_000_000_000_000_000n
const hex = (n: number, digits: number) => n.toString(16).padStart(digits, '0')
const said = (key: string, stringValue: string) =>
  stringValue === '' ? [] : [{ key, value: { stringValue } }]

function asOtlp(traces: readonly (typeof trace extends fc.Arbitrary<infer T> ? T : never)[]) {
  const records: object[] = []
  const resourceSpans = traces.flatMap(({ probability, spans }, t) =>
    spans.map(({ service, host, version, parent, follows, startNs, durationNs, ...own }, s) => {
      const [traceId, spanId] = [hex(t + 1, 32), hex(1000 * (t + 1) + s, 16)]
      // Beyond the root, one in six names a parent that nobody recorded.
      const parentSpanId =
        s === 0 ? '' : parent === 5 ? 'e'.repeat(16) : hex(1000 * (t + 1) + (parent % s), 16)
      const start = START_NS + BigInt(t) * 10n ** 9n + BigInt(startNs)
      const { logged, ...recorded } = own
      for (const message of logged) {
        const time = new Date(Number(start / 1_000_000n)).toISOString()
        records.push({ time, level: 'info', message, trace_id: traceId, span_id: spanId })
        records.push({ time, level: 'warn', message: 'no id', service })
      }
      const type = { key: 'opentracing.ref_type', value: { stringValue: 'follows_from' } }
      return {
        resource: {
          attributes: [
            ...said('service.name', service),
            ...said('host.name', host),
            ...said('service.version', version),
          ],
        },
        scopeSpans: [
          {
            spans: [
              {
                ...recorded,
                traceId,
                spanId,
                parentSpanId,
                traceState: probability,
                status: { code: own.status },
                startTimeUnixNano: String(start),
                endTimeUnixNano: String(start + BigInt(durationNs)),
                links: follows ? [{ traceId, spanId: parentSpanId, attributes: [type] }] : [],
              },
            ],
          },
        ],
      }
    }),
  )
  const bytes = records.map((record) => JSON.stringify(record)).join('\n')
  return { traces: JSON.stringify({ resourceSpans }), logs: bytes }
}

test('random traces, with their logs, say the same after they are saved; in two files, all but logs that name no trace', {
  tags: ['full'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(trace, { minLength: 2, maxLength: 5 }), async (random) => {
      const { traces: bytes, logs } = asOtlp(random)
      const traces = (await loadWithLogs(
        { name: 'a.json', bytes },
        logs === '' ? {} : { logs: { name: 'a.log', bytes: logs } },
      )) as SpanTraces
      const content = contentOf(traces)
      expect(content.logs === undefined).toBe(logs === '')
      for (const ending of ['jsonl', 'parquet']) {
        expect(contentOf(await savedAgain(traces, `all.${ending}`))).toEqual(content)
        const { serviceLogs: _, ...ofTraces } = content
        expect(contentOf(await savedInTwo(traces, ending))).toMatchObject(ofTraces)
      }
    }),
    { numRuns: 60 },
  )
})

test.each([
  {},
  7,
  { traces: ['t1'], trace: [3], span: [1], timeUs: [0], statement: [0], statements: ['x'] },
  { traces: [{}], trace: [0], span: ['1'], timeUs: [0], statement: [0], statements: ['x'] },
  {
    traces: [],
    trace: [],
    span: [],
    timeUs: [],
    statement: [],
    statements: [],
    loose: { timeUs: 1 },
  },
])('log records that flowdelta did not write are left out, and told: %j', async (logs) => {
  const { traces } = asOtlp(fc.sample(trace, { numRuns: 1, seed: 1 }))
  const bytes = JSON.stringify({ ...JSON.parse(traces), flowdelta: { logs } })
  const loaded = await loadTraces({ name: 'a.json', bytes })
  expect(loaded.quality().issues).toContainEqual(
    expect.objectContaining({ code: 'damaged-logs', effect: 'log record skipped' }),
  )
})

test('logs are refused beside traces that were saved with theirs', async () => {
  const { traces, logs } = asOtlp(fc.sample(trace, { numRuns: 9, seed: 1 }))
  const given = { logs: { name: 'a.log', bytes: logs } }
  const loaded = (await loadWithLogs({ name: 'a.json', bytes: traces }, given)) as SpanTraces
  for (const name of ['twice.jsonl', 'twice.parquet']) {
    await loaded.save(join(FOLDER, name))
    await expect(loadWithLogs(join(FOLDER, name), given)).rejects.toThrow(
      'which would count twice. Load them without `logs`.',
    )
  }
})

test('of selected traces, log records of services are kept as far as they are of their time', async () => {
  const { traces, logs } = asOtlp(fc.sample(trace, { numRuns: 9, seed: 1 }))
  const given = { logs: { name: 'a.log', bytes: logs } }
  const loaded = (await loadWithLogs({ name: 'a.json', bytes: traces }, given)) as SpanTraces
  const all = loaded.serviceLogs?.timeUs ?? new Float64Array()
  expect(all.length).toBeGreaterThan(0)
  const picked = loaded.pick(loaded.ids.map((_, trace) => trace))
  const { startUs, durationUs } = loaded.spans
  const lastUs = Math.max(...startUs.map((us, span) => us + (durationUs[span] as number)))
  const within = all.filter((us) => us >= Math.min(...startUs) && us <= lastUs)
  expect(picked.serviceLogs?.timeUs).toEqual(within)
})

test('a recorded case with logs says the same after it is saved, and so do its findings', {
  tags: 'full',
}, async () => {
  const folder = 'datasets/storage-service/lost-key'
  const [before, after] = (await Promise.all(
    ['before', 'after'].map((period) =>
      loadWithLogs(`${folder}/${period}.jsonl.gz`, { logs: `${folder}/${period}-logs.jsonl.gz` }),
    ),
  )) as [SpanTraces, SpanTraces]
  const again = await savedAgain(before, 'before.jsonl.gz')
  expect(contentOf(again)).toEqual(contentOf(before))
  const last = await savedAgain(after, 'after.parquet')
  expect(contentOf(last)).toEqual(contentOf(after))
  const { findings } = compare(before, after)
  expect(findings.text()).toContain('log')
  expect(compare(again, last).findings.text()).toBe(findings.text())
})

describeWithShared('traces that others recorded', () => {
  test.each([
    'jaeger-json/api_hotel_clockskew_warnings.json',
    'jaeger-json/ui_download_nested_references_socialnetwork_2traces.json',
    'zipkin-v2/messaging-kafka.json',
    'zipkin-v2/skew.json',
  ])('%s says the same after it is saved', async (file) => {
    const traces = (await loadTraces(sharedFile(`fixtures/${file}`) as string)) as SpanTraces
    for (const name of ['again.jsonl', 'again.parquet']) {
      expect(contentOf(await savedAgain(traces, name))).toEqual(contentOf(traces))
    }
  })
})
