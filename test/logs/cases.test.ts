import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { flowdelta } from '../cli/run-cli.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

/** A case of `cases/logs`: what `flowdelta logs` is given, and what it says of it. */
interface LogCase {
  readonly name: string
  /** Arguments; `before/` stands for all files of that folder, and a name with a point for a file. */
  readonly args: readonly string[]
  readonly says: readonly RegExp[]
  readonly not?: readonly RegExp[]
}

const PERIODS = ['--before', 'before/', '--after', 'after/']
const NGINX = (ending: string) => ['--before', `good.${ending}`, '--after', `bad.${ending}`]
const SPLIT = '2026-11-28T13:51:14.680Z'
const POSTGRES = ['postgres.log.gz', '--split-at', SPLIT, '--window', '5s']
const NODES = (condition: string) => [
  'all.jsonl.gz',
  '--instance',
  'instance',
  '--bad-if',
  condition,
]
const REQUESTS = [
  ...['hbase.jsonl.gz', '--instance', 'req', '--fields', 'time=ts_us', '--time-unit', 'us'],
]
const HBASE = [...REQUESTS, '--bad-if', 'duration_ms > 100']
const LATER = [
  /^Listening comes later because Opened shard comes every 2\.[12]\d? s instead of every 6\d(?:\.\d)? ms/,
  /^6 instances before and 6 after/m,
]
const SORTS = [
  /temporary file: .* number 0 → 2[78]/,
  /offset\s.*\.duration_ms|mean value 13\d ms → 230 ms/,
  /mean value 13\d ms → 230 ms/,
]

const CASES: readonly LogCase[] = [
  {
    name: 'airflow-task-logs',
    args: PERIODS,
    says: [
      /^run time is longer because Running <TaskInstance.* comes 26\.5 s after Job <num>: Subtask .* \(before: 1 s\)/,
    ],
    not: [/in no log format/, /taskinstance\.py/],
  },
  {
    name: 'airflow-task-logs',
    args: [...PERIODS, '--metric', 'Task exited with return code 0'],
    says: [/Performance is Task exited with return code <num>: 4\.63 s on average before, 30\.1 s/],
  },
  {
    name: 'bad-if-run-time',
    args: NODES('runTime > 200ms'),
    says: [/^36 instances before and 32 after/m, /Performance is run time: 100 ms on average/],
  },
  {
    name: 'bad-if-run-time',
    args: NODES('finish > 200ms'),
    says: [/^36 instances before and 32 after/m, /Performance is finish: 100 ms on average/],
  },
  {
    name: 'bad-if-run-time',
    args: NODES('runTime in slowest 50 %'),
    says: [
      /^run time is longer because lock_wait_us rises from 494 µs to 3\.86 ms \(mean value\), through write_us/,
      /^34 instances before and 34 after/m,
    ],
  },
  {
    name: 'bad-if-run-time',
    args: NODES('runTime in slowest 25 %'),
    says: [/^run time is longer because write_us rises .*, through lock_wait_us/],
  },
  {
    name: 'bad-if-run-time',
    args: NODES('runTime in slowest 10 %'),
    says: [/^61 instances before and 7 after are too few .*; 30 of each would be enough/m],
  },
  {
    name: 'bad-if-run-time',
    args: NODES('write_us in slowest 25%'),
    says: [/^51 instances before and 17 after/m, /Performance is write_us/],
  },
  {
    name: 'bad-if-run-time',
    args: NODES('runtime_ms > 200'),
    says: [
      /--bad-if is "runtime_ms > 200": "runtime_ms" is no field, event or state of these logs/,
    ],
  },
  { name: 'commit-in-each-line', args: [...PERIODS, '--metric', 'Listening'], says: LATER },
  { name: 'run-id-logfmt', args: [...PERIODS, '--metric', 'Listening'], says: LATER },
  {
    name: 'etcd-json-logs',
    args: ['--before', 'before.log.gz', '--after', 'after.log.gz', '--metric', 'duration'],
    says: [/153 ms on average before, 4\.62 s after/],
  },
  {
    name: 'metric-last-value',
    args: ['--before', 'before.log.gz', '--after', 'after.log.gz', '--metric', 'duration_ms'],
    says: [/104 ms on average before, 418 ms after/],
  },
  {
    name: 'fsync-workers',
    args: ['--before', 'good/', '--after', 'bad/'],
    says: [/^run time is longer because Journal: fsync of .* through Scheduler: .* in queue #2/],
  },
  {
    name: 'fsync-workers',
    args: ['--before', 'few-good/', '--after', 'few-bad/'],
    says: [/14 instances before and 14 after are too few .*; 30 of each would be enough/],
    not: [/Look first at Heartbeat/],
  },
  {
    name: 'nginx-combined-extra',
    args: [...NGINX('access.log.gz'), '--window', '3s'],
    says: [
      /cs=HIT .* number 209 → 0/,
      /us=127\.0\.0\.1:55302 .* number 0 → 59\.9/,
      /\.rt .* 0\.00025 → 0\.0147/,
      /\.urt .* in 7 % → 100 % of instances/,
    ],
  },
  {
    name: 'nginx-combined-extra',
    args: [...NGINX('access.log.gz'), '--window', '3s', '--metric', 'rt'],
    says: [/Performance is GET <path>\.rt/],
  },
  {
    name: 'nginx-json-lists',
    args: [...NGINX('jsonl.gz'), '--window', '3s'],
    says: [
      /upstream_cache_status=HIT .* number 209 → 0/,
      /upstream_addr=127\.0\.0\.1:55302 .* number 0 → 59\.9/,
      /\.request_time .* 0\.00025 → 0\.0147/,
      /\.upstream_response_time .* in 7 % → 100 % of instances/,
      /\.upstream_response_time\.count .* only after: 2 in 100 % of instances/,
    ],
  },
  {
    name: 'one-start-each',
    args: ['--before', 'before.log', '--after', 'after.log', '--metric', 'Listening'],
    says: [/because Opened shard comes every 2\.17 s instead of every 64\.5 ms/],
  },
  { name: 'postgres-pgbadger-prefix', args: POSTGRES, says: SORTS },
  { name: 'postgres-rds-prefix', args: POSTGRES, says: SORTS },
  {
    name: 'postgres-rds-prefix',
    args: [...POSTGRES, '--metric', 'duration_ms'],
    says: [
      /larger because it rises from 132 ms to 228 ms in select customer, note/,
      /Performance is duration_ms: 21\.3 ms on average before, 35\.3 ms after/,
    ],
  },
  {
    name: 'weights-duration',
    args: HBASE,
    says: [/because StoreScanner: seek_end comes 99\.2 ms after/, /only\s+after: 1\.02 s in 37 %/],
  },
  {
    name: 'weights-duration',
    args: [...REQUESTS, '--bad-if', 'runTime in slowest 10 %'],
    says: [
      /^run time is longer because HTable: get_lookup done comes 170 ms after HTable: get \(before: 742 µs\)\. This explains 169 ms of 214 ms/,
    ],
  },
  {
    name: 'weights-duration',
    args: [...HBASE, '--weights', 'latency=150ms'],
    says: [/because HTable: retry .* is awaited for 992 ms/, /each 150 ms more counts twice/],
  },
  {
    name: 'weights-duration',
    args: [...HBASE, '--weights', 'latency'],
    says: [/because HTable: retry .* is awaited for/],
    not: [/750 µs/],
  },
]

describeWithShared('cases of logs', () => {
  const pathsOf = (name: string, arg: string): string[] => {
    const path = /^[\w.-]+(?:\/|\.(?:log|jsonl|gz)+)$/.test(arg)
      ? sharedFile(`cases/logs/${name}/${arg}`)
      : undefined
    if (path === undefined) return [arg]
    return arg.endsWith('/') ? readdirSync(path).map((file) => `${path}${file}`) : [path]
  }

  test.each(CASES.map((each) => [`${each.name} ${each.args.join(' ')}`, each] as const))(
    '%s',
    async (_, { name, args, says, not = [] }) => {
      const { out, err } = await flowdelta(
        'logs',
        '--details',
        ...args.flatMap((arg) => pathsOf(name, arg)),
      )
      // Cells of a table may take several lines.
      const text = (out + err).replace(/\n +/g, ' ')
      for (const expected of says) expect(text).toMatch(expected)
      for (const wrong of not) expect(text).not.toMatch(wrong)
    },
  )

  test('are all here', () => {
    const names = new Set(CASES.map(({ name }) => name))
    const all = readdirSync(sharedFile('cases/logs') ?? '')
    // Data sets of the repository: see logs-cases.test.ts.
    expect(all.filter((name) => !names.has(name))).toEqual(['headline-decoy'])
  })
})
