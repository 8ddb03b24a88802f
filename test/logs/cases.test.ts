import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { flowdelta } from '../cli/run-cli.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

/** A case of `cases/logs`: what `flowdelta logs` is given, and what it says. */
interface LogCase {
  readonly name: string
  /** Arguments; `before/` is all files of that folder. */
  readonly args: string
  readonly says: readonly RegExp[]
  readonly not?: readonly RegExp[]
}

const POSTGRES = 'postgres.log.gz --split-at 2026-11-28T13:51:14.680Z --window 5s'
const SHARDS = 'Opened shard comes later .* \\(last time\\)'
const HBASE =
  "hbase.jsonl.gz --instance req --fields time=ts_us --time-unit us --bad-if 'duration_ms > 100'"

const CASES: readonly LogCase[] = [
  {
    name: 'airflow-task-logs',
    args: '--before before/ --after after/',
    says: [/Running <TaskInstance.* (?:comes|first time) .*1\.0\d s.*26\.7 s/s],
    not: [/in no log format/, /taskinstance\.py/],
  },
  {
    name: 'airflow-task-logs',
    args: "--before before/ --after after/ --metric 'Task exited with return code 0'",
    says: [/Performance is Task exited with return code <num>: 4\.63 s on average before, 30\.1 s/],
  },
  {
    name: 'bad-if-run-time',
    args: "all.jsonl.gz --instance instance --bad-if 'runTime > 200ms'",
    says: [/^34 instances before and 34 after/m, /Performance is run time/],
  },
  {
    name: 'bad-if-run-time',
    args: "all.jsonl.gz --instance instance --bad-if 'finish > 200ms'",
    says: [/Performance is finish/],
  },
  {
    name: 'bad-if-run-time',
    args: "all.jsonl.gz --instance instance --bad-if 'runTime in slowest 50 %'",
    says: [/^34 instances before and 34 after/m],
  },
  {
    name: 'bad-if-run-time',
    args: "all.jsonl.gz --instance instance --bad-if 'runtime_ms > 200'",
    says: [/"runtime_ms" is no field, event or state of these logs/],
  },
]
