import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { parseHistory } from '../../src/compare/baseline/run-summary.ts'
import { compare } from '../../src/comparison/comparison.ts'
import { FlowdeltaError } from '../../src/core/errors.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { loadLogs } from '../../src/logs/readers/load-logs.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { connectCharts } from '../../src/views/notebook/connect-charts.ts'
import { reportHtml, reportMarkdown } from '../../src/views/report/report.ts'
import { FORMAT_SAMPLES } from '../logs/formats/corpus.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** How long each format is tried: `npm run fuzz` says for how many minutes, `npm test` tries a few. */
const MINUTES = Number(process.env['FLOWDELTA_FUZZ_MINUTES'] ?? 0)
const RUNS =
  MINUTES > 0
    ? { numRuns: 1e9, interruptAfterTimeLimit: MINUTES * 60_000 }
    : { numRuns: Number(process.env['FLOWDELTA_RUNS'] ?? 40) }
vi.setConfig({ testTimeout: 120_000 + MINUTES * 120_000 })

const otlpSpan = (trace: string, id: string, parent: string, at: number) => ({
  traceId: trace.repeat(32),
  spanId: id.repeat(16),
  parentSpanId: parent.repeat(16),
  name: `GET /${id}`,
  kind: 2,
  startTimeUnixNano: `${1_661_145_996_000_000_000n + BigInt(at)}`,
  endTimeUnixNano: `${1_661_145_996_000_500_000n + BigInt(at)}`,
  status: { code: 2, message: 'boom' },
  attributes: [{ key: 'size', value: { intValue: '4096' } }],
  events: [{ name: 'exception', attributes: [{ key: 'type', value: { stringValue: 'E' } }] }],
  links: [{ spanId: parent.repeat(16), attributes: [] }],
  traceState: 'ot=th:8',
})
const otlp = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'web' } }] },
      scopeSpans: [
        {
          spans: [
            otlpSpan('a', '1', '', 0),
            otlpSpan('a', '2', '1', 100_000),
            otlpSpan('b', '3', '', 0),
          ],
        },
      ],
    },
  ],
}

const jaegerSpan = (traceID: string, spanID: string, parent: string | null, at: number) => ({
  traceID,
  spanID,
  operationName: `op ${spanID}`,
  references: parent === null ? [] : [{ refType: 'CHILD_OF', traceID, spanID: parent }],
  startTime: 1_661_145_996_678_383 + at,
  duration: 500,
  processID: 'p1',
  tags: [
    { key: 'span.kind', type: 'string', value: 'server' },
    { key: 'error', type: 'bool', value: true },
    { key: 'sampler.type', type: 'string', value: 'probabilistic' },
    { key: 'sampler.param', type: 'float64', value: 0.5 },
  ],
  logs: [{ timestamp: 1, fields: [{ key: 'event', type: 'string', value: 'retry' }] }],
  warnings: ['late'],
})
const jaeger = {
  data: ['aa', 'bb'].map((trace) => ({
    traceID: trace,
    spans: [jaegerSpan(trace, '1', null, 0), jaegerSpan(trace, '2', '1', 100)],
    processes: { p1: { serviceName: 'web', tags: [{ key: 'hostname', value: 'h' }] } },
  })),
}

const zipkin = [0, 1, 2].map((i) => ({
  traceId: i === 2 ? 'bb' : 'aa',
  id: `${i + 1}`,
  ...(i === 1 ? { parentId: '1' } : {}),
  name: 'get',
  kind: 'SERVER',
  timestamp: 1_661_145_996_678_383 + i,
  duration: 500,
  localEndpoint: { serviceName: 'web', ipv4: '10.0.0.1' },
  tags: { error: 'true', size: '4096' },
  annotations: [{ timestamp: 1, value: 'retry' }],
}))

/** Values that stand where others belong; some cannot be made into numbers or text. */
const ODD: readonly unknown[] = [
  {},
  [],
  [[]],
  [{}],
  null,
  true,
  '',
  ' ',
  'x',
  '\u001b[2J',
  '\u0000',
  '9'.repeat(400),
  -1,
  0,
  1e300,
  -1e300,
  1.5,
  2 ** 53,
  { toString: 1, valueOf: 1 },
  [{ toString: null }],
  { __proto__: null, key: 'k', value: { kvlistValue: { values: [{ key: { toString: 0 } }] } } },
  'constructor',
  '__proto__',
  { values: [[]] },
  '1970-01-01',
  'NaN',
  '-0',
  '1e9',
  '0x10',
]
const odd = fc.oneof(fc.constantFrom(...ODD), fc.jsonValue({ maxDepth: 3 }))

type Json = { [key: string]: unknown }

/** Every place in a document, as keys from the root. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Object.entries(value).flatMap(([key, own]) => placesIn(own, [...path, key]))
  return path.length === 0 ? inner : [path, ...inner]
}

/** What may be done to a value: another one, nothing, or the same one twice. */
type Change = {
  readonly at: number
  readonly to: unknown
  readonly kind: 'set' | 'drop' | 'double'
}
const changes = fc.array(
  fc.record({ at: fc.nat(), to: odd, kind: fc.constantFrom('set', 'set', 'drop', 'double') }),
  { minLength: 1, maxLength: 4 },
) as fc.Arbitrary<Change[]>

function changed(document: unknown, all: readonly Change[]): unknown {
  const copy = structuredClone(document)
  for (const { at, to, kind } of all) {
    const places = placesIn(copy)
    if (places.length === 0) return copy
    const path = places[at % places.length]!
    const last = path.at(-1)!
    const owner = path.slice(0, -1).reduce<Json>((node, key) => node[key] as Json, copy as Json)
    if (kind === 'set') owner[last] = structuredClone(to)
    else if (!Array.isArray(owner)) delete owner[last]
    else if (kind === 'drop') owner.splice(Number(last), 1)
    else owner.push(structuredClone(owner[Number(last)]))
  }
  return copy
}

/** Characters that a terminal obeys. */
const OBEYED = /[^\P{Cc}\n\t]/u

/** Objects that stand where a format has its spans, and how many of them were loaded or counted. */
async function accountFor(
  bytes: string | Uint8Array,
  spansIn: ((document: unknown) => number) | null,
) {
  let traces: Awaited<ReturnType<typeof loadTraces>>
  try {
    traces = await loadTraces({ name: 'odd', bytes }, { resourceAttributes: true })
  } catch (error) {
    expect(error).toBeInstanceOf(FlowdeltaError)
    expect((error as Error).message).not.toMatch(OBEYED)
    return null
  }
  const quality = traces.quality()
  for (const { message } of quality.issues) {
    expect(message).not.toMatch(OBEYED)
  }
  if (spansIn !== null && traces.kind === 'spans' && quality.counts.size === 0) {
    expect(traces.spans.startUs.length).toBe(spansIn(JSON.parse(bytes as string)))
  }
  expect(() => buildFlows([traces, traces])).not.toThrow()
  return traces
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const FORMATS: Readonly<Record<string, readonly [unknown, (document: unknown) => number]>> = {
  OTLP: [
    otlp,
    (document) =>
      list((document as Json)['resourceSpans'])
        .flatMap((resource) => list((resource as Json)?.['scopeSpans']))
        .flatMap((scope) => list((scope as Json)?.['spans']))
        .filter(isObject).length,
  ],
  Jaeger: [
    jaeger,
    (document) =>
      list((document as Json)['data'])
        .flatMap((trace) => list((trace as Json)?.['spans']))
        .filter(isObject).length,
  ],
  Zipkin: [zipkin, (document) => list(document).flat(9).filter(isObject).length],
}

connectCharts()

const dot = ['1', '2']
  .map(
    (id) => `# ${id} R: 10.5 usecs RT: 3.25 usecs
digraph G {
1.1 [label="e1__t3__CALL \\"DEFAULT\\""]
1.2 [label="e1__t3__REPLY DEFAULT"]
1.1 -> 1.2 [label="R: 10.5 us"]
}
`,
  )
  .join('')
const csv = `TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration
a,1,root,web-7d9f5-abcde,"GET ""/""",1661145996000000000,1661145996000500000,500
a,2,1,cart-7d9f5-abcde,get,1661145996000100000,1661145996000200000,100
`
const xtrace = ['0000000A', '0000000B']
  .map(
    (id, i) => `X-Trace Report ver 1.0
X-Trace: 1001020304${id}
Timestamp: 119507460${i}.513
Host: web
Label: recv
Size: 4096
Edge: 0000000${i === 0 ? '0' : 'A'}

`,
  )
  .join('')
const TEXTS: Readonly<Record<string, string | Uint8Array>> = {
  DOT: dot,
  CSV: csv,
  OTLP: JSON.stringify(otlp),
  Zipkin: JSON.stringify(zipkin),
  'X-Trace': xtrace,
  gzip: gzipSync(csv),
  'OTLP protobuf': protobuf(),
}

/** A length, and a message of resource, service and two spans, by the numbers of OTLP's fields. */
function protobuf(): Uint8Array {
  const field = (number: number, bytes: Uint8Array | string) => {
    const content = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    return Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content])
  }
  const fixed = (number: number, at: bigint) => {
    const bytes = Buffer.alloc(9, number * 8 + 1)
    bytes.writeBigUInt64LE(at, 1)
    return bytes
  }
  const span = (id: number) =>
    Buffer.concat([
      field(1, Buffer.alloc(16, 7)),
      field(2, Buffer.alloc(8, id)),
      field(5, `op ${id}`),
      ...(id > 1 ? [field(4, Buffer.alloc(8, 1))] : []),
      fixed(7, 1_661_145_996_000_000_000n),
      fixed(8, 1_661_145_996_000_500_000n),
    ])
  const name = Buffer.concat([field(1, 'service.name'), field(2, field(1, 'web'))])
  const scope = Buffer.concat([field(2, span(1)), field(2, span(2))])
  const message = field(1, Buffer.concat([field(1, field(1, name)), field(2, scope)]))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(message.length)
  return Buffer.concat([length, message])
}
const byte = fc.oneof(
  fc.nat(255),
  fc.constantFrom(...new TextEncoder().encode('\u0000\u001b"{}[],:\\\n#;-')),
)
const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.uint8Array({ maxLength: 4 }), byte), {
  minLength: 1,
  maxLength: 5,
})

/** Bytes with some gone and others put in. */
function edited(
  whole: string | Uint8Array,
  all: readonly (readonly [at: number, gone: number, added: Uint8Array, one: number])[],
): Uint8Array {
  const bytes = [...(typeof whole === 'string' ? new TextEncoder().encode(whole) : whole)]
  for (const [at, gone, added, one] of all) bytes.splice(at % bytes.length, gone, one, ...added)
  return Uint8Array.from(bytes)
}

/** Spans of few traces, ids and services: ids collide, parents are missing or form circles, times touch. */
const randomSpans = fc.array(
  fc.record({
    trace: fc.nat(2),
    id: fc.integer({ min: 1, max: 12 }),
    parent: fc.nat(12),
    service: fc.nat(2),
    operation: fc.nat(2),
    kind: fc.nat(5),
    status: fc.nat(2),
    start: fc.oneof(fc.nat(20), fc.nat(5000)),
    length: fc.oneof(fc.nat(10), fc.nat(5000), fc.constant(-3), fc.constant(4e9)),
  }),
  { minLength: 1, maxLength: 30 },
)
const concurrency = fc.constantFrom('learned' as const, 'observed' as const, 'none' as const)

/** Of clocks that tell milliseconds. */
const MAX_SLACK_US = 1000

function otlpOf(spans: typeof randomSpans extends fc.Arbitrary<infer T> ? T : never) {
  const hex = (number: number, length: number) =>
    number === 0 ? '' : number.toString(16).padStart(length, '0')
  const at = (us: number) => `${1_661_145_996_000_000_000n + BigInt(us) * 1000n}`
  return {
    resourceSpans: spans.map((span) => ({
      resource: {
        attributes: [{ key: 'service.name', value: { stringValue: `s${span.service}` } }],
      },
      scopeSpans: [
        {
          spans: [
            {
              traceId: hex(span.trace + 1, 32),
              spanId: hex(span.id, 16),
              parentSpanId: hex(span.parent, 16),
              name: `op ${span.operation}`,
              kind: span.kind,
              startTimeUnixNano: at(span.start),
              endTimeUnixNano: at(span.start + span.length),
              status: { code: span.status },
            },
          ],
        },
      ],
    })),
  }
}

describe('whatever stands in a file, it is read, counted, or refused in words', () => {
  test.each(Object.entries(FORMATS))('%s with odd values', async (_, [document, spansIn]) => {
    await fc.assert(
      fc.asyncProperty(changes, async (all) => {
        await accountFor(JSON.stringify(changed(document, all)), spansIn)
      }),
      RUNS,
    )
  })

  test.each(Object.entries(FORMATS))('%s with odd values, reported', async (_, [document]) => {
    await fc.assert(
      fc.asyncProperty(changes, async (all) => {
        const text = JSON.stringify(changed(document, all))
        const traces = await accountFor(text, null)
        // A service may be called NaN.
        if (traces === null || /NaN|Infinity|undefined/.test(text)) return
        const comparison = compare(traces, traces)
        const markdown = reportMarkdown(comparison)
        expect(markdown).not.toMatch(/\bNaN\b|Infinity|undefined/)
        expect(reportHtml(comparison)).not.toMatch(/>[^<]*\bNaN\b[^<]*</)
      }),
      { ...RUNS, numRuns: Math.ceil(RUNS.numRuns / 10) },
    )
  })

  test.each(Object.entries(TEXTS))('%s with other bytes', async (_, text) => {
    await fc.assert(
      fc.asyncProperty(edits, async (all) => {
        await accountFor(edited(text, all), null)
      }),
      RUNS,
    )
  })

  test('saved Parquet with other bytes', async () => {
    const path = join(temporaryFolder(), 'spans.parquet')
    const traces = await loadTraces({ name: 'otlp', bytes: JSON.stringify(otlp) })
    await (traces as SpanTraces).save(path)
    const whole = readFileSync(path)
    // A schema that says it has more columns than stand in it.
    const found: Parameters<typeof edited>[1] = [
      [0, 1, Uint8Array.from([0, 0, 0, 0]), 0],
      [489308808, 2, Uint8Array.from([0]), 104],
    ]
    // A column that says it has -1 columns within it.
    const children = whole.indexOf('SpanAttributes\u0015\u0002') + 'SpanAttributes '.length
    const negative: typeof found = [[children, 1, new Uint8Array(), 1]]
    await fc.assert(
      fc.asyncProperty(edits, fc.boolean(), async (all, isInPlace) => {
        // What stands behind the bytes stays where other bytes say that it is.
        const inPlace = all.map(([at, , added, one]) => [at, 1 + added.length, added, one] as const)
        writeFileSync(path, edited(whole, isInPlace ? inPlace : all))
        const loaded = await loadTraces(path).catch((thrown: unknown) => thrown)
        if (loaded instanceof Error) expect(loaded).toBeInstanceOf(FlowdeltaError)
        else if ((loaded as SpanTraces).quality().counts.size === 0) {
          expect((loaded as SpanTraces).spans.parent).toHaveLength(3)
        }
      }),
      {
        ...RUNS,
        examples: [
          [found, false],
          [negative, false],
        ],
      },
    )
  })

  test('logs of every format with other bytes', { tags: ['full'] }, async () => {
    const sample = fc.constantFrom(...FORMAT_SAMPLES)
    await fc.assert(
      fc.asyncProperty(sample, edits, async ({ text }, all) => {
        const after = { name: 'after', bytes: edited(text, all) }
        const error = await loadLogs({ before: { name: 'before', bytes: text }, after }).then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        if (error === undefined) return
        expect(error).toBeInstanceOf(FlowdeltaError)
        expect((error as Error).message).not.toMatch(OBEYED)
      }),
      RUNS,
    )
  })

  test('histories of runs with other bytes', () => {
    const type = { name: 'web GET', requests: 3, failed: 0, timesUs: [1, 2, 3] }
    const line = JSON.stringify({ schema: 'flowdelta.run/1', name: 'v1', types: [type] })
    fc.assert(
      fc.property(edits, (all) => {
        const text = new TextDecoder().decode(edited(`${line}\n${line}\n`, all))
        try {
          const runs = parseHistory(text, 'history')
          expect(
            runs.flatMap(({ types }) => types.flatMap(({ timesUs }) => timesUs)),
          ).not.toContain(Number.NaN)
        } catch (error) {
          expect(error).toBeInstanceOf(FlowdeltaError)
        }
      }),
      RUNS,
    )
  })

  test('random spans become flows of finite times, and a period is no change of itself', async () => {
    await fc.assert(
      fc.asyncProperty(randomSpans, concurrency, async (spans, how) => {
        const traces = await accountFor(JSON.stringify(otlpOf(spans)), null)
        if (traces === null || traces.size === 0) return
        const flows = buildFlows([traces, traces], { concurrency: how })
        // A trace of several roots is several requests.
        expect(flows.count(0)).toBeGreaterThanOrEqual(traces.size)
        expect(flows.size).toBe(2 * flows.count(0))
        for (let request = 0; request < flows.size; request++) {
          const latencies = flows.latencies(request)
          expect(latencies).toHaveLength(flows.shapes.edgeCount(flows.shapeOf[request]!))
          // A callee that ends after its caller by less than clocks tell is waited for all the same;
          // by the learned order also one that does so in half of the calls, as clocks of hosts disagree.
          const least = how === 'learned' ? Number.NEGATIVE_INFINITY : -MAX_SLACK_US - 1e-9
          const isTime = (us: number) => us > least && us < Number.POSITIVE_INFINITY
          expect(latencies.filter((us) => !isTime(us))).toEqual(new Float64Array())
          expect(flows.responseTimeUs[request]).toBeGreaterThanOrEqual(0)
        }
        expect(compare(traces, traces, { concurrency: how }).findings.findings).toEqual([])
      }),
      RUNS,
    )
  })

  test.each([
    ['Jaeger', { ...jaeger.data[0]!.spans[0]!, startTime: -1.8e305 }],
    ['Jaeger', { ...jaeger.data[0]!.spans[0]!, startTime: 2 ** 53 }],
  ])('%s with one time far from the others, found by fuzzing', async (_, span) => {
    const other = { ...jaegerSpan('bb', '2', null, 0), startTime: 1e300 }
    const data = [span, other].map((one) => ({
      ...jaeger.data[0],
      traceID: one.traceID,
      spans: [one],
    }))
    for (const traces of [data, data.toReversed()]) {
      const loaded = await accountFor(JSON.stringify({ data: traces }), null)
      if (loaded !== null) expect(reportHtml(compare(loaded, loaded))).not.toMatch(/Invalid/)
    }
  })

  test.each(['-=', 'A=', 'AAAAAAAAAAA==', '='])(
    'OTLP whose id is %s, found by fuzzing',
    async (id) => {
      const text = JSON.stringify(otlp).replace(/"traceId":"[^"]*"/, `"traceId":"${id}"`)
      expect(text).toContain(`"${id}"`)
      expect(await accountFor(text, FORMATS['OTLP']![1])).not.toBeNull()
    },
  )

  test.each([9e18, 8.64e18, 1e300, 0, -1e17])('times of %s µs since 1970', async (timestamp) => {
    const spans = Array.from({ length: 40 }, (_, i) => ({
      ...zipkin[0],
      traceId: `a${i}`,
      timestamp: timestamp + i * 1000,
    }))
    const traces = await loadTraces({ name: 'odd', bytes: JSON.stringify(spans) })
    const comparison = compare(traces, traces)
    expect(reportMarkdown(comparison) + reportHtml(comparison)).not.toMatch(/Invalid|\bNaN µs/)
  })

  test('arrays nested 100,000 deep', async () => {
    const deep = '['.repeat(100_000) + JSON.stringify(zipkin[0]) + ']'.repeat(100_000)
    await accountFor(deep, null)
    const inner = JSON.stringify(zipkin[0]).replace('"4096"', '['.repeat(5000) + ']'.repeat(5000))
    await accountFor(`[${inner}]`, null)
  })
})
