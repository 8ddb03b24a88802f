// npm run bench:beyond-memory [-- SPANS in millions, default 2]: two periods in Parquet through DuckDB,
// and through ClickHouse's client where chdb is installed (npm install --no-save chdb).
import { execFileSync, fork } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import { sampleRankCorrelation } from 'simple-statistics'
import { compare } from '../src/comparison/comparison.ts'
import { loadTraces } from '../src/traces/load-traces.ts'
import type { SpanTraces } from '../src/traces/span-traces.ts'

const TARGET = { MB: 2000 }
/** Of so many spans, those of both periods together, the full run is made too. */
const MAX_SPANS_IN_MEMORY = 3e6
const SAMPLE = 10_000
const RECORDED = fileURLToPath(
  new URL('../datasets/storage-service/broken-replica', import.meta.url),
)

interface Run {
  readonly traces: readonly number[]
  readonly requests: number
  readonly loadSeconds: number
  readonly compareSeconds: number
  readonly peakMB: number
  readonly findings: readonly { readonly id: string; readonly title: string; readonly us: number }[]
}

const say = (line = '') => process.stdout.write(`${line}\n`)

/** Recorded requests many times over, each at another time and up to a tenth longer or shorter. */
async function writePeriods(folder: string, spans: number): Promise<string[]> {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect()
  const paths: string[] = []
  for (const period of ['before', 'after']) {
    const recorded = (await loadTraces(`${RECORDED}/${period}.jsonl.gz`)) as SpanTraces
    const source = join(folder, `${period}-recorded.parquet`)
    await recorded.save(source)
    const times = Math.ceil(spans / 2 / recorded.spans.parent.length)
    const path = join(folder, `${period}.parquet`)
    await connection.runAndReadAll(
      `COPY (
         SELECT s.* EXCLUDE (base) REPLACE (md5(TraceId || copy) AS TraceId,
           CAST(Duration * longer AS BIGINT) AS Duration,
           make_timestamp_ns(CAST(base + (epoch_ns(Timestamp) - base) * longer + later AS BIGINT)) AS "Timestamp")
         FROM (SELECT *, min(epoch_ns(Timestamp)) OVER (PARTITION BY TraceId) AS base
           FROM read_parquet('${source}')) AS s, range(${times}) AS t(copy),
         LATERAL (SELECT 0.9 + 0.2 * (hash(s.TraceId, copy) % 1000003) / 1000003 AS longer,
           (hash(copy, s.TraceId, 7) % 10000000) * 1000 AS later)
       ) TO '${path}' (FORMAT parquet)`,
    )
    paths.push(path)
  }
  connection.closeSync()
  return paths
}

/** In a process of its own, so that the memory counted is that of loading and comparing alone. */
async function run(addresses: readonly string[]): Promise<Run> {
  const start = performance.now()
  const [before, after] = [
    await loadTraces(addresses[0] as string),
    await loadTraces(addresses[1] as string),
  ]
  const loaded = performance.now()
  const { findings } = compare(before, after, { counts: 'weighted', sample: 'all' })
  const list = findings.findings.map(({ id, title, contributionUs }) => ({
    id,
    title,
    us: contributionUs,
  }))
  return {
    traces: [before.size, after.size],
    requests: findings.requests,
    loadSeconds: (loaded - start) / 1e3,
    compareSeconds: (performance.now() - loaded) / 1e3,
    peakMB: process.resourceUsage().maxRSS / 1e3,
    findings: list,
  }
}

function runApart(addresses: readonly string[]): Run {
  const out = execFileSync(
    process.execPath,
    [
      ...process.execArgv,
      '--max-old-space-size=12000',
      fileURLToPath(import.meta.url),
      'run',
      ...addresses,
    ],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  )
  return JSON.parse(out.slice(out.lastIndexOf('\n{') + 1)) as Run
}

function report(name: string, { traces, requests, loadSeconds, compareSeconds, peakMB }: Run) {
  say(
    `${name.padEnd(10)} ${traces.map((count) => count.toLocaleString('en')).join(' and ')} traces for ` +
      `${requests.toLocaleString('en')} requests after: ${loadSeconds.toFixed(1)} s to load, ` +
      `${compareSeconds.toFixed(1)} s to compare, at most ${Math.round(peakMB)} MB`,
  )
}

/** The first findings; memory is that of loading and comparing, without that of a server. */
function list({ findings, peakMB }: Run) {
  for (const { title, us } of findings.slice(0, 10))
    say(`  ${(us / 1e6).toFixed(1).padStart(9)} s  ${title}`)
  say(`  target: at most ${TARGET.MB} MB${peakMB > TARGET.MB ? ', MISSED' : ''}`)
}

function likeness(all: Run, some: Run): string {
  const first = all.findings.slice(0, 10)
  const places = first.map(({ id }) => some.findings.findIndex((one) => one.id === id))
  const found = places.filter((place) => place >= 0)
  const order = places.flatMap((place, i) => (place < 0 ? [] : [i]))
  const correlation = found.length > 1 ? sampleRankCorrelation(order, found).toFixed(2) : '–'
  const requests = all.requests === some.requests ? 'as many' : 'another number of'
  return `${found.length} of the first ${first.length} findings; rank correlation ${correlation}; ${requests} requests`
}

async function throughClickHouse(paths: readonly string[]): Promise<Run | undefined> {
  const script = fileURLToPath(new URL('./clickhouse-server.ts', import.meta.url))
  const server = fork(script, [...paths])
  try {
    const { port } = await new Promise<{ port?: number }>((resolve, reject) => {
      server.once('message', (message) => resolve(message as { port?: number }))
      server.once('exit', (code) => reject(new Error(`The server ended with ${code}`)))
    })
    if (port === undefined) {
      say('ClickHouse: NOT RUN: needs the package chdb (npm install --no-save chdb)')
      return undefined
    }
    return runApart(
      paths.map((_, i) => `clickhouse=http://127.0.0.1:${port}/period${i}?sample=${SAMPLE}`),
    )
  } finally {
    if (server.connected) server.disconnect()
  }
}

async function main(spans: number) {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-bench-'))
  try {
    const paths = await writePeriods(folder, spans)
    const sizes = paths.map((path) => `${Math.round(statSync(path).size / 1e6)} MB`)
    say(`${spans.toLocaleString('en')} spans in two files of ${sizes.join(' and ')}`)
    const some = runApart(paths.map((path) => `duckdb:${path}?sample=${SAMPLE}`))
    report('DuckDB', some)
    list(some)
    const others = await throughClickHouse(paths)
    if (others !== undefined) {
      report('ClickHouse', others)
      list(others)
      say(`against the sample of DuckDB: ${likeness(some, others)}`)
    }
    if (spans > MAX_SPANS_IN_MEMORY) return
    const all = runApart(paths)
    report('in memory', all)
    list(all)
    say(`against all of them, the sample of DuckDB: ${likeness(all, some)}`)
    if (others !== undefined) say(`and that of ClickHouse: ${likeness(all, others)}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'run') say(`\n${JSON.stringify(await run(rest))}`)
else await main(Number(mode ?? 2) * 1e6)
