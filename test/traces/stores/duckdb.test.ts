import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sampleRankCorrelation } from 'simple-statistics'
import { afterAll, describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans } from '../../make-traces.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { saveReplicas } from './replicas.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-duckdb-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))
const pathOf = (name: string) => join(FOLDER, name)
const load = async (...given: Parameters<typeof loadTraces>) =>
  (await loadTraces(...given)) as SpanTraces
const NOON_US = 1_790_000_000_000_000

/** 600 requests, a second apart: two in three to `a`, the others to `b`; each seventh of them fails. */
const TRACES = makeSpans(
  Array.from({ length: 600 }, (_, i) => {
    const service = i % 3 < 2 ? 'a' : 'b'
    const at = { trace: `${1000 + i}`.padStart(32, '0'), startUs: NOON_US + i * 1e6 }
    const root = { ...at, id: `${i}r`, service, operation: 'get', endUs: at.startUs + 100 + i }
    const leaf = { ...at, id: `${i}l`, parent: `${i}r`, service: 'db', endUs: at.startUs + 50 }
    return i % 21 === 2 ? [{ ...root, status: 'error' as const }] : [root, leaf]
  }).flat(),
)
await TRACES.save(pathOf('all.parquet'))
const weightSum = ({ weight }: SpanTraces) => weight?.reduce((sum, one) => sum + one, 0)

test('without a sample, all requests come as from the file', async () => {
  const all = await load(`duckdb:${pathOf('all.parquet')}`)
  expect(all.size).toBe(600)
  expect(all.table().objects()).toEqual(TRACES.table().objects())
  expect(weightSum(all)).toBe(600)
})

test('what DuckDB cannot use is named, and nothing is left behind', async () => {
  const left = () => readdirSync(tmpdir()).filter((name) => /^flowdelta-.{6}$/.test(name))
  const before = new Set(left())
  await expect(load(`duckdb:${pathOf('all.parquet')}?memory=much`)).rejects.toThrow(
    'Option memory is "much". Give an amount such as \'1GB\'',
  )
  const header = 'TraceId,SpanId,ParentSpanId,ServiceName,SpanName,Timestamp,Duration'
  writeFileSync(pathOf('seconds.csv'), `${header}\na,b,,s,o,1700000000.5,3\n`)
  await expect(load(`duckdb:${pathOf('seconds.csv')}`)).rejects.toThrow(
    /seconds\.csv: Column Timestamp has "1700000000\.5", which is no integer time\. Store times/,
  )
  expect(left().filter((name) => !before.has(name))).toEqual([])
})

test('groups have exact numbers and quantiles, and the weights of a sample add up to them', async () => {
  const some = await load(`duckdb:${pathOf('all.parquet')}?sample=60`)
  expect(some.size).toBe(60)
  expect(weightSum(some)).toBeCloseTo(600, 9)
  expect(some.quality().groupTable().objects()).toMatchObject([
    { root: 'a get', outcome: 'ok', structures: 1, spans: 2, requests: 400 },
    {
      root: 'b get',
      outcome: 'ok',
      structures: 1,
      spans: 2,
      requests: 171,
      meanUs: expect.closeTo((200 * 300.5 - 29 * 296) / 171 + 100, 9),
    },
    { root: 'b get', outcome: 'error', structures: 1, spans: 1, requests: 29, p50Us: 396 },
  ])
  const failed = ['unset', 'error'].map((one) => weightSum(some.where(`outcome = ${one}`)))
  expect(failed).toEqual([expect.closeTo(571, 9), expect.closeTo(29, 9)])
})

test('a sample that is drawn in memory is of the same groups, and its weights add up to them', async () => {
  const [drawn, engine] = [
    TRACES.sample(60),
    await load(`duckdb:${pathOf('all.parquet')}?sample=60`),
  ]
  expect(drawn.quality().groupTable().objects()).toEqual(
    engine
      .quality()
      .groupTable()
      .objects()
      .map((group) =>
        Object.fromEntries(
          Object.entries(group).map(([name, value]) => [
            name,
            typeof value === 'number' ? expect.closeTo(value, 6) : value,
          ]),
        ),
      ),
  )
  for (const part of ['outcome = error', 'service = a']) {
    expect(weightSum(drawn.where(part))).toBeCloseTo(TRACES.where(part).size, 9)
  }
})

test('a sample is spread over time, and the seed alone decides which it is', async () => {
  const ids = async (seed: number) =>
    (await load(`duckdb:${pathOf('all.parquet')}?sample=60&seed=${seed}`)).ids
  expect(await ids(1)).toEqual(await ids(1))
  expect(await ids(1)).not.toEqual(await ids(2))
  expect(await ids(1)).toEqual((await ids(1)).toSorted())
  const some = await load(`duckdb:${pathOf('all.parquet')}?sample=60`)
  const halves = some.split('300s').map(({ size }) => size)
  expect(Math.abs((halves[0] as number) - 30)).toBeLessThanOrEqual(2)
})

test('times and services that are asked for reach the engine, which counts only these', async () => {
  const where = 'service = b'
  const stretch = '2026-09-21T14:13:20Z..14:18:20Z'
  const some = await load(`duckdb:${pathOf('all.parquet')}`, { where, between: stretch })
  expect(some.quality().groups.map(({ root }) => root)).toEqual(['b get', 'b get'])
  expect(weightSum(some)).toBe(100)
})

test('attributes that are asked for reach the engine, and leave what they leave in the file', async () => {
  const source = 'datasets/storage-service/delay-1ms/before.jsonl.gz'
  const recorded = await load(source)
  const all = recorded.pick(Uint32Array.from({ length: 800 }, (_, i) => i))
  await all.save(pathOf('recorded.parquet'))
  for (const [where, isDecided] of [
    ['count >= 8192', true],
    ['count = 04096 and duration > 0.3ms', true],
    ['operation = NFS3 LOOKUP, NFS3 GETATTR', true],
    ['outcome is not error and count = 04096 or not recorded', false],
  ] as const) {
    const file = all.where(where)
    const some = await load(`duckdb:${pathOf('recorded.parquet')}?sample=20000`, { where })
    expect([...some.ids].sort()).toEqual([...file.ids].sort())
    const { of } = some.quality().selected[0] as { of: number }
    expect([where, of]).toEqual([where, isDecided ? file.size : all.size])
  }
  const recordedFile = `duckdb:${pathOf('recorded.parquet')}?sample=500`
  for (const [where, message] of [
    ['coumt = 8192', /recorded.parquet has no attribute coumt. Did you mean count\?/],
    ['service = frontent', /None of the 500 traces of .*Did you mean frontend\?/],
  ] as const) {
    await expect(load(recordedFile, { where })).rejects.toThrow(message)
  }
})

test('requests that a sample already stands for are counted as often', async () => {
  const tenth = makeSpans(
    Array.from({ length: 40 }, (_, i) => ({
      id: `${i}`,
      trace: `t${i}`,
      service: 'a',
      probability: 0.1,
      startUs: NOON_US + i * 1e6,
      endUs: NOON_US + i * 1e6 + 100,
    })),
  )
  await tenth.save(pathOf('tenth.parquet'))
  const some = await load(`duckdb:${pathOf('tenth.parquet')}?sample=10`)
  expect(some.quality().groups[0]?.requests).toBe(400)
  expect(weightSum(some)).toBeCloseTo(400, 9)
})

describe('spans a line', () => {
  const rows = (TRACES.spanTable().objects() as Record<string, unknown>[]).map((span, i) => ({
    trace_id: span['trace'],
    span_id: `${i + 1}`.padStart(16, '0'),
    parent_span_id:
      Number(span['parent']) < 0 ? '' : `${Number(span['parent']) + 1}`.padStart(16, '0'),
    service_name: span['service'],
    name: span['operation'],
    start_time_unix_nano: (BigInt(NOON_US) + BigInt(Math.round(Number(span['startUs'])))) * 1000n,
    duration_us: span['durationUs'],
    status: span['status'],
    attributes: { size: i },
  }))
  const shown = (traces: SpanTraces) =>
    traces
      .spanTable()
      .objects()
      .map(({ size: _attribute, ...span }) => ({ ...span, host: '', kind: '' }))

  test('of JSON are read with their attributes', async () => {
    const lines = rows.map((row) =>
      JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    )
    writeFileSync(pathOf('all.jsonl'), lines.join('\n'))
    const read = await load(`duckdb:${pathOf('all.jsonl')}`)
    expect(shown(read)).toEqual(shown(TRACES))
    expect(read.attributes.get(3, 'size')).toBe(3)
  })

  test('of JSON are read where all is text, as ClickHouse quotes whole numbers', async () => {
    const lines = rows.map(({ attributes: _, ...row }) =>
      JSON.stringify(
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
      ),
    )
    writeFileSync(pathOf('text.jsonl'), lines.join('\n'))
    expect(shown(await load(`duckdb:${pathOf('text.jsonl')}`))).toEqual(shown(TRACES))
  })

  test('of CSV are read by their header', async () => {
    const columns = Object.keys(rows[0] as object).filter((name) => name !== 'attributes')
    const lines = rows.map((row) => columns.map((name) => row[name as keyof typeof row]).join(','))
    writeFileSync(pathOf('all.csv'), [columns.join(','), ...lines].join('\n'))
    expect(shown(await load(`duckdb:${pathOf('all.csv')}`))).toEqual(shown(TRACES))
  })

  test('without a column that spans need, or a file, are refused', async () => {
    writeFileSync(pathOf('other.csv'), 'trace_id,name\n1,a')
    await expect(load(`duckdb:${pathOf('other.csv')}`)).rejects.toThrow(
      /no column of the start of spans; there are trace_id, name\. Name them TraceId/,
    )
    await expect(load(`duckdb:${pathOf('absent.csv')}`)).rejects.toThrow(
      /absent\.csv is not there\. Check the path/,
    )
    await expect(load(`duckdb:${pathOf('all.csv')}?seeds=2`)).rejects.toThrow(/Did you mean seed\?/)
  })
})

describeWithShared('a sample of recorded requests, many times over with jitter', () => {
  test('has the findings of all of them in the same order, and counts requests exactly', {
    tags: ['full'],
    timeout: 300_000,
  }, async () => {
    const source = 'data/nezha-onlineboutique/ob0_control_no_fault/normal_trace.csv.gz'
    const recorded = await load(sharedFile(source) as string)
    const paths = await saveReplicas(recorded, { times: 10, planted: 10, path: pathOf('many') })
    const all = compare(await load(paths[0]), await load(paths[1])).findings
    const before = await load(`duckdb:${paths[0]}?sample=1200`)
    const after = await load(`duckdb:${paths[1]}?sample=1200`)
    const some = compare(before, after, { counts: 'weighted' }).findings
    expect([before.size, after.size, some.requests]).toEqual([1200, 1200, 10 * recorded.size])
    expect(compare(before, after, { counts: 'raw' }).findings.summary()).toContain(
      '1,200 requests of a sample took',
    )
    // Where all 90 requests leave open whether they take longer on average, half of them decide nothing.
    const first = all.findings.filter(({ size }) => (size.interval?.[0] ?? 0) > 0)
    expect([first.length, all.findings.length]).toEqual([7, 8])
    const places = first.map(({ id }) => some.findings.findIndex((one) => one.id === id))
    expect(places).not.toContain(-1)
    expect(
      sampleRankCorrelation(
        first.map(({ rank }) => rank),
        places,
      ),
    ).toBeGreaterThan(0.95)
    // What each request really takes more lies where the sample says that it does.
    first.slice(0, 4).forEach(({ size }, i) => {
      const [low, high] = some.findings[places[i] as number]?.size.interval ?? []
      expect(size.value).toBeGreaterThan(low as number)
      expect(size.value).toBeLessThan(high as number)
    })
  })
})
