import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { dataQuality } from '../../../src/comparison/fairness/trace-problems.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { QualityLog } from '../../../src/traces/quality.ts'
import { SpanTraces } from '../../../src/traces/span-traces.ts'
import { makeSpans } from '../../make-traces.ts'
import { serve } from './serve.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'flowdelta-address-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))
const pathOf = (name: string) => join(FOLDER, name)
const TRACES = makeSpans([
  { id: 'a', trace: 't1', service: 's', startUs: 0, endUs: 10 },
  { id: 'b', trace: 't2', service: 's', startUs: 20, endUs: 40 },
])
const between = '2026-10-01T10:00Z..11:00Z'
const failure = (...given: Parameters<typeof loadTraces>) =>
  loadTraces(...given).then(String, (error: Error) => error.message)

test.each([
  [
    'jager://me:secret@host:16686?tries=1',
    /^jager:\/\/host:16686 is neither a file nor the address of a store\. Did you mean jaeger:\/\/host:16686\? Addresses begin as jaeger:/,
  ],
  ['duckbd:x.parquet', /^duckbd:x\.parquet is neither .* Did you mean duckdb:x\.parquet\?/],
  ['kafka://host', /^kafka:\/\/host is neither .* Addresses begin as .*parquet:PATH\.$/],
  ['http://me:secret@host:1', /Say which store answers there: jaeger=http:\/\/host:1, tempo=/],
  ['no=such.json', /^no=such\.json cannot be opened \(ENOENT\)/],
  ['duckdb:absent.db', /^duckdb:absent\.db is not there\. Check the path/],
])('the address %s is answered with what may be meant', async (address, message) => {
  const said = await failure(address)
  expect(said).toMatch(message)
  expect(said).not.toContain('secret')
})

test.each(['jaeger://me:se?cret@host', 'jaeger://me:12?a=cret@host:1', 'clickhouse://me:s?a=b@h'])(
  'no part of a password with a question mark is printed: %s',
  async (address) => {
    const said = await failure(`${address}?tries=1`, { between })
    expect(said).toMatch(
      /has a \? before its @\. Write \? in a password as %3F|takes no parameter a/,
    )
    expect(said).not.toMatch(/cret|me:s/)
  },
)

test.each([
  'jaeger://me:12/cret@host',
  'tempo=http://me:7/cret@host:1',
  'clickhouse://me:1/cret@h/db',
])('a password that may be a port and a path is neither sent nor printed: %s', async (address) => {
  const said = await failure(address, { between })
  expect(said).toMatch(/has a \/ before its @\. Write \/ in a password as %2F, @ in a path as %40/)
  expect(said).not.toContain('cret')
})

test('a folder with Parquet and other traces is refused, and so is a format for Parquet', async () => {
  await TRACES.save(pathOf('a.parquet'))
  copyFileSync(pathOf('a.parquet'), pathOf('b.parquet'))
  writeFileSync(pathOf('README.md'), '')
  expect((await loadTraces(FOLDER)).size).toBe(2)
  expect(await failure(pathOf('a.parquet'), { format: 'zipkin' })).toMatch(
    /^Option format is "zipkin"\. Give 'auto': .*a\.parquet says its own format/,
  )
  await TRACES.save(pathOf('c.jsonl.gz'))
  expect(await failure(FOLDER)).toMatch(
    /holds Parquet files and c\.jsonl\.gz\. Name the files, or write parquet:/,
  )
  rmSync(pathOf('c.jsonl.gz'))
})

test('what a server does not have, or a host that is not there, is not met by asking for less', async () => {
  const { host } = await serve(() => ({ status: 404, body: 'Not Found' }))
  for (const [kind, what] of [
    ['jaeger', 'list of services'],
    ['tempo', 'search'],
  ]) {
    expect(await failure(`${kind}://${host}`, { between })).toMatch(
      new RegExp(`has no ${what} \\(status 404\\): this may not be the address of ${kind}`, 'i'),
    )
  }
  const absent = await failure('tempo://no.such.host.invalid:99', { between })
  expect(absent).toMatch(/Check host and port, and whether the server runs\.$/)
})

test.each(['capped.jsonl', 'capped.jsonl.gz', 'capped.parquet'])(
  'that traces are missing is said by %s, whole or in part, as it was by the store',
  async (name) => {
    const log = new QualityLog()
    log.note('incomplete-answer', { file: 'jaeger://host' }, 'traces are missing: 500 an answer')
    const capped = new SpanTraces('capped', TRACES, log.finish(2))
    await capped.save(pathOf(name))
    for (const where of [null, 'service = s']) {
      const [warning] = dataQuality(await loadTraces(pathOf(name), { where }), []).filter(
        ({ code }) => code === 'missing-traces',
      )
      expect(warning?.message).toMatch(/lacks traces that its store has: .*500 an answer\.$/)
    }
  },
)
