import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetMetadata, parquetSchema } from 'hyparquet'
import { parquetWriteFile } from 'hyparquet-writer'
import { afterAll, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces as loadWithLogs } from '../../../src/logs/traced/load-traces.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { MISSING_TRACES, QualityLog } from '../../../src/traces/quality.ts'
import { SpanTraces } from '../../../src/traces/span-traces.ts'
import { DOT } from '../load-with-parameters.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-parquet-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))
const pathOf = (name: string) => join(FOLDER, name)
const load = async (...given: Parameters<typeof loadTraces>) =>
  (await loadTraces(...given)) as SpanTraces

/** All that is known of traces, without the codes of texts. */
function contentOf(traces: SpanTraces) {
  const { ids, epochNs, spanOffsets, spans, versions, weight } = traces
  return {
    ids,
    epochNs,
    spanOffsets,
    versions,
    weight,
    spans: traces.spanTable().objects(),
    followsFrom: spans.followsFrom,
    attributes: Array.from(spans.parent, (_, span) => [...traces.attributes.entries(span)]),
  }
}

const nanos = (us: number) => String(1_790_000_000_000_000_000n + BigInt(us * 1000))
const attribute = (key: string, value: object) => ({ key, value })

/** 40 requests a minute apart, of which the later half is slower, with all that a span can have. */
const OTLP = {
  resourceSpans: ['front', 'back'].map((service) => ({
    resource: {
      attributes: [
        attribute('service.name', { stringValue: service }),
        attribute('host.name', { stringValue: `${service}-1` }),
        attribute('service.version', { stringValue: '1.2' }),
      ],
    },
    scopeSpans: [
      {
        spans: Array.from({ length: 40 }, (_, i) => ({
          traceId: (i + 1).toString(16).padStart(32, '0'),
          spanId: `${service === 'front' ? 'a' : 'b'}${i.toString(16).padStart(15, '0')}`,
          parentSpanId: service === 'front' ? '' : `a${i.toString(16).padStart(15, '0')}`,
          name: `${service} call`,
          kind: service === 'front' ? 2 : 3,
          startTimeUnixNano: nanos(i * 60e6 + (service === 'front' ? 0 : 10.125)),
          endTimeUnixNano: nanos(i * 60e6 + (service === 'front' ? 1000 + 50 * i : 500)),
          status: i % 7 === 3 ? { code: 2, message: `refused ${i}` } : {},
          traceState: 'ot=th:8',
          attributes: [
            attribute('size', { intValue: String(i) }),
            attribute('code', { stringValue: '200' }),
            attribute('share', { doubleValue: 0.1 + i }),
            attribute('cached', { boolValue: i % 2 === 0 }),
          ],
          events: [{ name: 'retry', attributes: [attribute('after', { intValue: '5' })] }],
        })),
      },
    ],
  })),
}
const SOURCE = { name: 'all.json', bytes: JSON.stringify(OTLP) }

test('saved traces come back as they were, with what was missing and the same findings', async () => {
  const all = await load(SOURCE)
  await all.save(pathOf('all.parquet'))
  const again = await load(pathOf('all.parquet'))
  expect(contentOf(again)).toEqual(contentOf(all))
  expect(again.name).toBe(pathOf('all.parquet'))
  const traceId = '1'.padStart(32, '0')
  const line = { time: '2026-09-21T12:00:00Z', message: 'hello', trace_id: traceId }
  const logs = { name: 'all.log', bytes: JSON.stringify(line) }
  const logged = await loadWithLogs(pathOf('all.parquet'), { name: 'before', logs })
  expect(logged.name).toBe('before')
  expect((logged as SpanTraces).logs?.span).toHaveLength(1)
  expect((await load(pathOf('all.parquet'), { name: 'before' })).name).toBe('before')
  const split = (traces: SpanTraces) => traces.split('20min') as [SpanTraces, SpanTraces]
  expect(compare(...split(again)).findings.text()).toBe(compare(...split(all)).findings.text())
})

test('a saved file has the columns of the OpenTelemetry exporter for ClickHouse, and says what was missing', async () => {
  const quality = new QualityLog()
  quality.note(MISSING_TRACES, {}, 'traces are missing: the server gives at most 5')
  const all = await load(SOURCE)
  await new SpanTraces(all.name, all, quality.finish(all.size)).save(pathOf('flat.parquet'))
  const metadata = parquetMetadata(new Uint8Array(readFileSync(pathOf('flat.parquet'))).buffer)
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name)
  expect(columns).toEqual([
    ...['Timestamp', 'TraceId', 'SpanId', 'ParentSpanId', 'SpanName', 'SpanKind', 'ServiceName'],
    ...['Duration', 'StatusCode', 'SpanAttributes', 'HostName', 'ServiceVersion', 'FollowsFrom'],
    ...['SampleRate', 'SpanAttributeTypes'],
  ])
  const again = await load(pathOf('flat.parquet'))
  expect(again.quality().issues.map(({ message }) => message)).toEqual([
    'traces are missing: the server gives at most 5',
  ])
})

test('trace points are not saved, and keep their own files', async () => {
  const graphs = await loadTraces({ name: 'points', bytes: DOT })
  await expect(graphs.save(pathOf('points.parquet'))).rejects.toThrow(
    /^points has trace-point graphs, which .*points\.parquet cannot hold\. Keep their DOT or X-Trace files/,
  )
})

test('of several saved files, spans are read like those of any other program', async () => {
  const all = await load(SOURCE)
  const [first, second] = all.split('20min') as [SpanTraces, SpanTraces]
  await first.save(pathOf('first.parquet'))
  await second.save(pathOf('second.parquet'))
  const again = await load([pathOf('first.parquet'), pathOf('second.parquet')])
  expect(contentOf(again)).toEqual(contentOf(all))
})

const ROWS = [0, 1, 2, 3].flatMap((i) => [
  { trace: `${i + 1}`, id: '1', parent: '', service: 'front', at: i * 60e6, us: 900 },
  {
    trace: `${i + 1}`,
    id: '2',
    parent: '1',
    service: i < 2 ? 'left' : 'right',
    at: i * 60e6,
    us: 500,
  },
])
const bytes = (digit: string, size: number) =>
  digit === '' ? new Uint8Array() : new Uint8Array(size).fill(Number(digit) + 0xa0)

function writeFlat(name: string, durations: { column: string; perUs: number }) {
  parquetWriteFile({
    filename: pathOf(name),
    rowGroupSize: 2,
    columnData: [
      { name: 'trace_id', data: ROWS.map(({ trace }) => bytes(trace, 16)), type: 'BYTE_ARRAY' },
      { name: 'span_id', data: ROWS.map(({ id }) => bytes(id, 8)), type: 'BYTE_ARRAY' },
      {
        name: 'parent_span_id',
        data: ROWS.map(({ parent }) => bytes(parent, 8)),
        type: 'BYTE_ARRAY',
      },
      { name: 'service_name', data: ROWS.map(({ service }) => service), type: 'STRING' },
      { name: 'name', data: ROWS.map(({ service }) => `${service} call`), type: 'STRING' },
      {
        name: 'start_time',
        data: ROWS.map(({ at }) => 1_790_000_000_000_000n + BigInt(at)),
        type: 'INT64',
      },
      {
        name: durations.column,
        data: ROWS.map(({ us }) => BigInt(us * durations.perUs)),
        type: 'INT64',
      },
      {
        name: 'attributes',
        data: ROWS.map((_, i) => (i % 2 ? '{"size":4,"text":"a"}' : null)),
        type: 'STRING',
      },
    ],
  })
}

test('flat columns are read under OTLP’s names, raw ids and times by their units', async () => {
  writeFlat('flat.parquet', { column: 'duration', perUs: 1 })
  writeFlat('flat-ns.parquet', { column: 'duration_nano', perUs: 1000 })
  const flat = await load(pathOf('flat.parquet'))
  expect(flat.ids).toEqual(['a1', 'a2', 'a3', 'a4'].map((byte) => byte.repeat(16)))
  expect([...flat.spans.durationUs]).toEqual(ROWS.map(({ us }) => us))
  expect([...flat.spans.startUs]).toEqual(ROWS.map(({ at }) => at))
  expect([...flat.spans.parent]).toEqual([-1, 0, -1, 2, -1, 4, -1, 6])
  expect([...flat.attributes.entries(1)]).toEqual([
    ['size', 4],
    ['text', 'a'],
  ])
  expect(contentOf(await load(pathOf('flat-ns.parquet')))).toEqual(contentOf(flat))
})

test.skipIf(process.platform !== 'linux')(
  'files are closed, also where another one of the period cannot be read',
  async () => {
    await (await load(SOURCE)).save(pathOf('whole.parquet'))
    mkdirSync(pathOf('folder'))
    copyFileSync(pathOf('whole.parquet'), join(pathOf('folder'), 'a.parquet'))
    writeFileSync(join(pathOf('folder'), 'b.parquet'), 'PAR1 and then nothing')
    const isOpen = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        const stats = lstatSync(`/proc/self/fd/${fd}`, { throwIfNoEntry: false })
        return stats && readlinkSync(`/proc/self/fd/${fd}`).startsWith(FOLDER)
      })
    await expect(load([pathOf('whole.parquet'), pathOf('none.json')])).rejects.toThrow('none.json')
    await expect(load(pathOf('folder'))).rejects.toThrow(/b\.parquet.*damaged/)
    expect(isOpen()).toEqual([])
  },
)

test('a Parquet file without the columns of spans, damaged, or under another name is refused', async () => {
  parquetWriteFile({
    filename: pathOf('other.parquet'),
    columnData: [{ name: 'city', data: ['Bern'], type: 'STRING' }],
  })
  await expect(load(pathOf('other.parquet'))).rejects.toThrow(
    /other\.parquet.*no columns for trace id, span id, service and start; it has city\. Name them TraceId/,
  )
  writeFileSync(pathOf('damaged.parquet'), 'PAR1 and then nothing')
  await expect(load(pathOf('damaged.parquet'))).rejects.toThrow(/The Parquet file is damaged/)
  const texts = { TraceId: 'a', SpanId: 'b', ServiceName: 's', SpanName: 'o' }
  for (const [name, start, attributes, problem] of [
    ['seconds', 1_790_000_000.5, '{}', 'Column Timestamp has "1790000000.5", which is no integer'],
    ['cut', 1_790_000_000, '{"size":', 'column SpanAttributes: Attributes are "{\\"size\\":"'],
  ] as const) {
    parquetWriteFile({
      filename: pathOf(`${name}.parquet`),
      columnData: [
        ...Object.entries({ ...texts, SpanAttributes: attributes }).map(([column, value]) => ({
          name: column,
          data: [value],
          type: 'STRING' as const,
        })),
        { name: 'Timestamp', data: [start], type: 'DOUBLE' },
      ],
    })
    await expect(load(pathOf(`${name}.parquet`))).rejects.toThrow(problem)
  }
  writeFileSync(pathOf('unnamed'), 'PAR1 and then nothing')
  await expect(load(pathOf('unnamed'))).rejects.toThrow(
    /This is Parquet, but its name does not end in/,
  )
  await expect((await load(SOURCE)).save(pathOf('all.json'))).rejects.toThrow(
    /ends in \.jsonl\.gz, \.jsonl or \.parquet/,
  )
})
