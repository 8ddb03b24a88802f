import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { fileOf, recordedTraces, stretchOf } from '../traces/stores/recorded-traces.ts'
import { type Reply, serve } from '../traces/stores/serve.ts'
import { flowdelta, ROOT } from './run-cli.ts'

const TRACES = recordedTraces('before', 100)
const AFTER = recordedTraces('after', 100)
const FOLDER = temporaryFolder()
const out = join(FOLDER, 'before.jsonl.gz')

/** A Jaeger that has some traces whenever it is asked. */
const jaeger = (url: URL, traces: typeof TRACES): Reply =>
  url.pathname.endsWith('services')
    ? { body: { services: ['frontend'] } }
    : { body: { result: { resourceSpans: traces.flatMap(({ resourceSpans }) => resourceSpans) } } }

test('fetch writes the traces of a store to a file that says the same', async () => {
  const served = await serve((url) => jaeger(url, TRACES))
  const where = 'duration > 300us'
  const {
    code,
    out: said,
    err,
  } = await flowdelta(
    ...['fetch', '--from', `jaeger://${served.host}`, '--between', stretchOf(TRACES)],
    ...['--where', where, '--out', out],
  )
  const expected = await loadTraces(fileOf(TRACES), { where })
  expect({ code, said }).toEqual({ code: 0, said: `${out}: ${expected.size} traces\n` })
  expect(err).toMatch(/^! selected: .* of 100 traces, where time ≥ /m)
  expect([...(await loadTraces(out)).ids].sort()).toEqual([...expected.ids].sort())
})

test('addresses stand where files may', async () => {
  const [before, after] = [
    await serve((url) => jaeger(url, TRACES)),
    await serve((url) => jaeger(url, AFTER)),
  ]
  const { code, out: said } = await flowdelta(
    ...['compare', '--before', `jaeger://${before.host}?between=${stretchOf(TRACES)}`],
    ...['--after', `jaeger=http://${after.host}/?between=${stretchOf(AFTER)}`],
  )
  expect({ code, said }).toMatchObject({
    code: 0,
    said: expect.stringContaining('SN WRITE itself'),
  })
})

test.each([
  [['--out', 'x.csv'], '--out is "x.csv". Give a file that ends in .jsonl.gz, .jsonl or .parquet.'],
  [
    ['--out', 'a/../t.jsonl'],
    '--out is "a/../t.jsonl". Give a file other than the traces being read.',
  ],
  [['--out', 'x.jsonl', '--between', 'noon'], 'Option between is "noon". Give two times'],
])('fetch with %j is refused before anything is read', async (args, message) => {
  const { code, err } = await flowdelta('fetch', '--from', 't.jsonl', ...args)
  expect({ code, err }).toMatchObject({
    code: 2,
    err: expect.stringContaining(message.replace('Option between', '--between')),
  })
})

test('Ctrl-C stops a fetch, which leaves nothing behind', async () => {
  let onAsked = () => {}
  const isAsked = new Promise<void>((resolve) => {
    onAsked = resolve
  })
  const served = await serve(() => {
    onAsked()
    return () => {}
  })
  const file = join(FOLDER, 'stopped.jsonl.gz')
  const args = [
    'fetch',
    '--from',
    `jaeger://${served.host}`,
    '--between',
    stretchOf(TRACES),
    '--out',
    file,
  ]
  const child = spawn(process.execPath, [`${ROOT}dist/cli.js`, ...args])
  let err = ''
  child.stderr.on('data', (part: Buffer) => {
    err += part.toString()
  })
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  await isAsked
  child.kill('SIGINT')
  expect({ code: await ended, err }).toEqual({
    code: 2,
    err: 'flowdelta: Stopped. Nothing was written.\n',
  })
  expect(existsSync(file)).toBe(false)
  expect(readdirSync(FOLDER).filter((name) => name.includes('stopped'))).toEqual([])
})
