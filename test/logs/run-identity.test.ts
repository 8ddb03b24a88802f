import { readdirSync } from 'node:fs'
import { ascending } from 'd3-array'
import { expect, test } from 'vitest'
import { inputText } from '../../src/explain/logs/log-words.ts'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { type LogsToCompare, loadLogs } from '../../src/logs/readers/load-logs.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

type Fields = Readonly<Record<string, string | number>>
interface Runs {
  readonly runs?: number
  /** Fields of every line of a run, by its number; those after are numbered on. */
  readonly each?: (run: number, isAfter: boolean) => Fields
  /** Fields of the lines that open a shard. */
  readonly opened?: (run: number, isAfter: boolean, shard: number) => Fields
  readonly asText?: (record: Fields) => string
}

const logfmt = (record: Fields) =>
  Object.entries(record)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(' ')

/** Runs that open 30 shards, one every 60 ms before and every 2.1 s after. */
function startsOf({
  runs = 6,
  each = () => ({}),
  opened = () => ({}),
  asText = JSON.stringify,
}: Runs) {
  const start = (i: number, isAfter: boolean) => {
    const run = isAfter ? runs + i : i
    const gap = isAfter ? 2_100 : 60
    const line = (ms: number, msg: string, more: Fields = {}) => {
      const ts = new Date(Date.UTC(2026, 6, 18) + ms).toISOString()
      return asText({ ts, level: 'info', msg, ...each(run, isAfter), ...more })
    }
    const lines = [
      line(0, 'Welcome'),
      ...Array.from({ length: 30 }, (_, k) =>
        line((k + 1) * gap + ((run * 7 + k) % 10), 'Opened shard', opened(run, isAfter, k)),
      ),
      line(31 * gap + run, 'Listening'),
    ]
    return { name: `${isAfter ? 'after' : 'before'}${i}.log`, bytes: lines.join('\n') }
  }
  const all = (isAfter: boolean) => Array.from({ length: runs }, (_, i) => start(i, isAfter))
  return { before: all(false), after: all(true) }
}

async function compared(logs: LogsToCompare) {
  return compareLogs(await loadLogs(logs), { metric: 'Listening' })
}

/** What differs, and by how much, without what names the runs. */
async function findings(logs: LogsToCompare) {
  const { divergence } = await compared(logs)
  return divergence.variables
    .map(({ name, score, presence }) => [name, score, presence.onlyIn])
    .sort(([one], [other]) => ascending(String(one), String(other)))
}

const WITHOUT = [
  ['Listening', expect.any(Number), null],
  ['Opened shard', expect.any(Number), null],
  ['Welcome', 0, null],
]

test('a field that names the run or the version splits no event, and is said once', async () => {
  const commit = (_: number, isAfter: boolean) => ({
    commit: isAfter ? '407fa622e9' : '12b3fd9901',
  })
  const withCommit = startsOf({ each: commit })
  expect(await findings(withCommit)).toEqual(WITHOUT)
  expect(await findings(withCommit)).toEqual(await findings(startsOf({})))
  const { logs } = await compared(withCommit)
  expect(logs.report.fieldsLeftOut).toEqual([
    {
      field: 'commit',
      reason: 'names the run',
      messages: 384,
      example: '12b3fd9901',
      byClass: { before: ['12b3fd9901'], after: ['407fa622e9'] },
    },
  ])
})

test('of values that name the run, some of each period are shown', async () => {
  const ids = startsOf({ each: (run) => ({ boot_id: `b${run}x` }) })
  expect(inputText(await compared(ids))).toMatch(
    /boot_id names the run \(b0x, b1x … before, b\d+x, b\d+x … after\)/,
  )
})

test.each<[string, Runs]>([
  ['an id of each run, in logfmt', { each: (run) => ({ boot: `b${run}x` }), asText: logfmt }],
  ['a word of each run', { each: (run) => ({ pod: 'abcdefghijkl'[run] ?? '' }) }],
  ['a number of each run', { each: (run) => ({ attempt: 7_000 + 13 * run }) }],
  ['a version rolled out to half the runs after', { each: (run) => ({ image: `v${run > 8}` }) }],
  ['a host that runs once before and once after', { each: (run) => ({ host: `h${run % 6}` }) }],
  ['an id in one event alone', { opened: (run) => ({ lease: `a${run}7` }) }],
  ['a constant, as a word and as a number', { each: () => ({ region: 'eu', shards: 30 }) }],
])('%s changes no finding', async (_, runs) => {
  expect(await findings(startsOf(runs))).toEqual(await findings(startsOf({})))
})

test('one start each has no event that is logged only after', async () => {
  const logs = startsOf({ runs: 1, each: (run) => ({ log_id: `0qW${run}~x0G000` }) })
  expect((await compared(logs)).divergence.onlyIn('after')).toEqual([])
})

test('what varies within a run, tells kinds of runs or says how one event went is no identity', async () => {
  const opened = (_: number, isAfter: boolean, shard: number) => ({
    tier: shard % 2 === 0 ? 'hot' : 'cold',
    outcome: isAfter ? 'replayed' : 'clean',
  })
  const each = (run: number) => ({ mode: run % 2 === 0 ? 'fast' : 'safe' })
  const { logs, divergence } = await compared(startsOf({ runs: 20, each, opened }))
  expect(logs.events.names).toEqual(
    expect.arrayContaining([
      'Opened shard · mode=fast',
      'Opened shard · mode=safe',
      'Opened shard · tier=cold',
      'Opened shard · tier=hot',
    ]),
  )
  expect(divergence.onlyIn('after').map(({ name }) => name)).toEqual([
    'Opened shard · outcome=replayed',
  ])
  expect(logs.report.fieldsLeftOut).toEqual([])
})

test('swapping the periods changes only the sign of what differs', async () => {
  const { before, after } = startsOf({ each: (run) => ({ log_id: `id${run}` }) })
  expect(await findings({ before: after, after: before })).toEqual(
    await findings({ before, after }),
  )
})

describeWithShared('starts whose lines name the run', () => {
  test.each(['commit-in-each-line', 'run-id-logfmt'])('%s', async (name) => {
    const files = (period: string) => {
      const folder = sharedFile(`cases/logs/${name}/${period}`) ?? ''
      return readdirSync(folder).map((file) => `${folder}/${file}`)
    }
    const logs = { before: files('before'), after: files('after') }
    expect(await findings(logs)).toEqual(WITHOUT)
  })
})
