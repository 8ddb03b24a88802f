import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, expect, test } from 'vitest'
import { addComparisonFlags, compareFiles } from '../../src/cli/comparison-flags.ts'
import { attributesOf, DOT } from '../traces/load-with-parameters.ts'

const folder = mkdtempSync(join(tmpdir(), 'flowdelta-'))
afterAll(() => rmSync(folder, { recursive: true }))
const onDisk = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Compares as the command line does. */
function run(...args: string[]) {
  const command = addComparisonFlags(new Command(), args)
    .action(() => {})
    .exitOverride()
  return compareFiles(command.parse(args, { from: 'user' }).opts())
}

const PERIODS = ['--before', onDisk('before.dot', DOT), '--after', onDisk('after.dot', DOT)]

test('each --before is a run of its own, with all files up to the next flag', async () => {
  const [one, two, three] = ['1.dot', '2.dot', '3.dot'].map((name) => onDisk(name, DOT))
  if (one === undefined || two === undefined || three === undefined) throw new Error('no files')
  const single = await run('--before', one, two, ...PERIODS.slice(2))
  const several = await run('--before', one, two, `--before=${three}`, ...PERIODS.slice(2))
  expect(single.runs.map(({ size }) => size)).toEqual([2 * single.after.size])
  expect(several.runs.map(({ size }) => size)).toEqual([2 * single.after.size, single.after.size])
  await expect(run('--before', one, '--before', one, ...PERIODS.slice(2))).rejects.toThrow(
    'each run its own files',
  )
})

test('--before-parameters and --after-parameters belong to their period, several files each', async () => {
  const { flows } = await run(
    ...[...PERIODS, '--before-parameters', onDisk('b.csv', 'node,size\n1.10,1\n')],
    ...['--after-parameters', onDisk('a.csv', 'node,size\n1.10,2\n')],
    onDisk('c.csv', 'node,qlen\n1.20,5\n'),
  )
  expect(flows.periods?.map(attributesOf)).toEqual([
    [{ size: 1 }, { status: 3 }],
    [{ size: 2 }, { status: 3, qlen: 5 }],
  ])
})

test('without them there are only the parameters of the traces', async () => {
  const { flows } = await run(...PERIODS)
  expect(flows.periods?.map(attributesOf)).toEqual([
    [{}, { status: 3 }],
    [{}, { status: 3 }],
  ])
})

test('--before-logs and --after-logs belong to their period, and need each other', async () => {
  const span = { traceId: 'a', id: 'b', name: 'get', timestamp: 1, duration: 250 }
  const log = (said: string) =>
    JSON.stringify({ time: 1e9, trace_id: 'a', span_id: 'b', msg: said })
  const spans = (name: string) => onDisk(name, JSON.stringify([span]))
  const [before, after] = [onDisk('b.log', log('hit')), onDisk('a.log', log('miss'))]
  const periods = ['--before', spans('b.json'), '--after', spans('a.json'), '--before-logs', before]
  const { flows } = await run(...periods, '--after-logs', after)
  const { statements, statement } = flows.logs as NonNullable<typeof flows.logs>
  expect(Array.from(statement, (one) => statements[one]?.text)).toEqual(['hit', 'miss'])
  await expect(run(...periods)).rejects.toThrow('Give --after-logs as well.')
})

test('parameters that are not there, or of another period, are an error', async () => {
  await expect(run(...PERIODS, '--before-parameters', 'none.csv')).rejects.toThrow(
    'none.csv cannot be opened (ENOENT)',
  )
  const other = onDisk('other.csv', 'node,size\n2.10,1\n')
  await expect(run(...PERIODS, '--after-parameters', other)).rejects.toThrow(
    'check that these are the parameters of this period',
  )
})

test('--resource-attributes makes attributes of resources parameters', async () => {
  const spans = [{ traceId: 'a', spanId: 'b', startTimeUnixNano: '1', endTimeUnixNano: '9' }]
  const attributes = [{ key: 'region', value: { stringValue: 'eu' } }]
  const otlp = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] }
  const file = onDisk('otlp.json', JSON.stringify(otlp))
  const periods = ['--before', file, '--after', file]
  const found = async (...more: string[]) =>
    (await run(...periods, ...more)).flows.periods?.map(attributesOf)
  expect(await found()).toEqual([[{}], [{}]])
  expect(await found('--resource-attributes')).toEqual([
    [{ 'resource.region': 'eu' }],
    [{ 'resource.region': 'eu' }],
  ])
})
