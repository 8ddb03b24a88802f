import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { compare } from '../../src/comparison/comparison.ts'
import { at } from '../../src/core/entries.ts'
import { randomSource } from '../../src/stats/random.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { findCases } from '../recorded-cases.ts'
import { APART, alarmLines, type NullComparison, reportingShare } from './null-text.ts'
import { type Half, halfOf, sharedData } from './shared-data.ts'
import { standsApart } from './stretches-apart.ts'

/** What `npm run evaluate -- --suite nulls` can be asked. */
export interface NullFlags {
  readonly data: string
  readonly json: boolean
  readonly half: Half
  readonly cases: boolean
}

/** Kinds of comparison without a cause. */
const GROUPS = {
  runs: 'runs of the same thing',
  halves: 'halves in time of one run',
  thirds: 'thirds in time of one run',
  baselines: 'a run and the other runs of the same thing',
  stretches: 'a sixth of a run and its other sixths as runs',
  'quiet-11': 'ten quiet minutes against the next ten',
  'quiet halves': 'random halves of ten quiet minutes',
  'quiet stretches': 'stretches of ten quiet minutes against the next',
} as const
type Group = keyof typeof GROUPS

/** A comparison to be made: where the periods come from. */
export interface PlannedNull {
  readonly group: Group
  readonly id: string
  /** Runs of the period before. */
  readonly before: readonly Stretch[]
  readonly after: Stretch
}

/** A part of a file in time: `[0, 2]` is the first half, `[2, 3]` the last third; with a seed, of its traces shuffled. */
export interface Stretch {
  readonly file: string
  readonly part?: readonly [number: number, of: number]
  readonly seed?: number
}

/** One comparison that should find nothing. */
export interface NullResult extends NullComparison {
  readonly group: Group
  readonly requests: readonly [before: number, after: number]
  readonly seconds: number
}

/** Their before periods are the same service under the same requests, recorded on another day. */
const SAME_RUNS = ['control', 'delay-100us', 'delay-1ms', 'delay-500us']

/**
 * Cases whose before period changes by itself: creating files takes longer as directories grow; at the
 * same processes a batch job begins after a while, and ends before the period does.
 */
const CHANGING = ['batch-job', 'create-behaviour', 'innocent-batch-job']

/** Sends the requests of `rare-operation` once more, whose stretches are compared already. */
const REPEATED = 'lost-key'

/** A run is cut into as many stretches: one after, all others as runs before. */
const SIXTHS = 6

/** Of the quiet hour, random halves of either period, and stretches in time, that are compared. */
const QUIET_SEEDS = 10
const QUIET_STRETCHES = [2, 3, 5, 7]

/** Files kept in memory. */
const MAX_KEPT = 5

/** Compares periods between which nothing changed, and prints how often anything is found. */
export async function runNullSuite({ data, json, half, cases }: NullFlags): Promise<void> {
  const quiet = sharedData('data/hdx-eval/quiet-11')
  const notice = 'Without hdx-eval’s quiet-11: needs ../shared (or the folder FLOWDELTA_SHARED).'
  const planned = halfOf(await planNulls(data, quiet), half, ({ group }) => group)
  const start = performance.now()
  const results: NullResult[] = []
  const load = cachedLoads()
  for (const plan of planned) {
    const result = await compareNull(plan, load)
    results.push(result)
    const seconds = ((performance.now() - start) / 1000).toFixed(0)
    process.stderr.write(
      `${results.length} of ${planned.length}, ${seconds} s: ${plan.id}, ${result.titles.length}\n`,
    )
  }
  if (quiet === null) process.stderr.write(`${notice}\n`)
  process.stdout.write(
    json
      ? `${JSON.stringify(nullDocument(results, half), null, 1)}\n`
      : nullText(results, { half, cases }),
  )
}

/** Lists the comparisons: runs with each other, stretches of each run, and the quiet hour. */
export async function planNulls(data: string, quiet: string | null): Promise<PlannedNull[]> {
  const recorded = await findCases(data, [])
  const runs = recorded.filter(({ name, recording }) => SAME_RUNS.includes(name) && recording === 1)
  const steady = recorded.filter(({ name }) => name !== REPEATED && !CHANGING.includes(name))
  const pairs = runs.flatMap((before, i) =>
    runs.slice(i + 1).map(
      (after): PlannedNull => ({
        group: 'runs',
        id: `${before.name} and ${after.name}`,
        before: [{ file: before.before }],
        after: { file: after.before },
      }),
    ),
  )
  const controls = recorded.filter(({ truth }) => truth.kind === 'none' && truth.relevant.none)
  const turns = controls
    .filter(({ name }) => SAME_RUNS.includes(name))
    .map(
      ({ name, before, after }): PlannedNull => ({
        group: 'runs',
        id: `${name}, before and after`,
        before: [{ file: before }],
        after: { file: after },
      }),
    )
  const stretches = steady.flatMap(({ name, recording, before: file }) => {
    const run = recording === 1 ? name : `${name} (${recording})`
    const plan = (group: Group, of: number) =>
      pairsOf(of).map(
        ([first, second]): PlannedNull => ({
          group,
          id: `${run}, ${first + 1} and ${second + 1} of ${of}`,
          before: [{ file, part: [first, of] }],
          after: { file, part: [second, of] },
        }),
      )
    const sixths = Array.from({ length: SIXTHS }, (_, i): Stretch => ({ file, part: [i, SIXTHS] }))
    const stretches = sixths.map(
      (after, i): PlannedNull => ({
        group: 'stretches',
        id: `${run}, ${i + 1} of ${SIXTHS}`,
        before: sixths.toSpliced(i, 1),
        after,
      }),
    )
    return [...plan('halves', 2), ...plan('thirds', 3), ...stretches]
  })
  const baselines = [
    ...runs.map(({ name, before }) => ({ name, file: before })),
    ...turns.map(({ id, after: { file } }) => ({ name: id, file })),
  ].map(
    ({ name, file }): PlannedNull => ({
      group: 'baselines',
      id: `${name}, and all others`,
      before: runs.filter(({ before }) => before !== file).map(({ before }) => ({ file: before })),
      after: { file },
    }),
  )
  const quietPair: PlannedNull[] =
    quiet !== null && existsSync(join(quiet, 'after.jsonl.gz'))
      ? [
          {
            group: 'quiet-11',
            id: 'quiet-11',
            before: [{ file: join(quiet, 'before.jsonl.gz') }],
            after: { file: join(quiet, 'after.jsonl.gz') },
          },
          ...['before', 'after'].flatMap((period) => quietParts(quiet, period)),
        ]
      : []
  return [...pairs, ...turns, ...stretches, ...baselines, ...quietPair]
}

/** Random halves of one quiet period, and each of its stretches against the one that follows. */
function quietParts(folder: string, period: string): PlannedNull[] {
  const file = join(folder, `${period}.jsonl.gz`)
  const plan = (group: Group, id: string, [before, after]: readonly [Stretch, Stretch]) => ({
    group,
    id: `quiet-11, ${period}, ${id}`,
    before: [before],
    after,
  })
  const halves = Array.from({ length: QUIET_SEEDS }, (_, seed) =>
    plan('quiet halves', `seed ${seed}`, [
      { file, part: [0, 2], seed },
      { file, part: [1, 2], seed },
    ]),
  )
  const stretches = QUIET_STRETCHES.flatMap((of) =>
    Array.from({ length: of - 1 }, (_, i) =>
      plan('quiet stretches', `${i + 1} and ${i + 2} of ${of}`, [
        { file, part: [i, of] },
        { file, part: [i + 1, of] },
      ]),
    ),
  )
  return [...halves, ...stretches]
}

function pairsOf(count: number): [first: number, second: number][] {
  const all = Array.from({ length: count }, (_, i) => i)
  return all.flatMap((first) =>
    all.slice(first + 1).map((second): [number, number] => [first, second]),
  )
}

/** Loads files, and keeps the last few. */
function cachedLoads(): (file: string) => Promise<SpanTraces> {
  const kept = new Map<string, SpanTraces>()
  return async (file) => {
    const traces = kept.get(file) ?? (await loadTraces(file))
    if (traces.kind !== 'spans') throw new Error(`${file} holds no spans.`)
    kept.delete(file)
    kept.set(file, traces)
    const [oldest] = kept.keys()
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
    return traces
  }
}

async function compareNull(
  { group, id, before, after }: PlannedNull,
  load: (file: string) => Promise<SpanTraces>,
): Promise<NullResult> {
  const earlier: SpanTraces[] = []
  for (const stretch of before) earlier.push(await stretchOf(load, stretch))
  const later = await stretchOf(load, after)
  const start = performance.now()
  const comparison = compare(earlier, later)
  const { findings } = comparison.findings
  return {
    group,
    id,
    requests: [earlier.reduce((sum, { size }) => sum + size, 0), later.size],
    titles: findings.map(({ title }) => title),
    apart: findings.map((finding) => standsApart(finding, comparison)),
    seconds: (performance.now() - start) / 1000,
  }
}

async function stretchOf(
  load: (file: string) => Promise<SpanTraces>,
  { file, part, seed }: Stretch,
): Promise<SpanTraces> {
  const traces = await load(file)
  if (part === undefined) return traces
  if (seed === undefined) return stretchInTime(traces, part)
  const rows = randomSource(seed).shuffle([...traces.ids.keys()])
  const cut = (at: number) => Math.round((at * rows.length) / part[1])
  // As recorded: readers list traces in the order in which they begin.
  return traces.pick(rows.slice(cut(part[0]), cut(part[0] + 1)).sort((a, b) => a - b))
}

/** Cuts traces, in the order in which they begin, into equally many and returns one part of them. */
export function stretchInTime(
  traces: SpanTraces,
  [number, of]: readonly [number: number, of: number],
): SpanTraces {
  const rows = rowsInTime(traces)
  const cut = (part: number) => Math.round((part * rows.length) / of)
  return traces.pick(rows.slice(cut(number), cut(number + 1)))
}

/** Rows of traces in the order in which these begin. */
export function rowsInTime(traces: SpanTraces): number[] {
  const { spans, spanOffsets, ids } = traces
  const starts = Float64Array.from(ids, (_, trace) =>
    spans.startUs
      .subarray(spanOffsets[trace], spanOffsets[trace + 1])
      .reduce((earliest, start) => Math.min(earliest, start), Number.POSITIVE_INFINITY),
  )
  return Array.from(ids.keys()).sort((a, b) => at(starts, a) - at(starts, b))
}

/** Returns the suite's results as a document. */
export function nullDocument(results: readonly NullResult[], half: Half) {
  return {
    schema: 'flowdelta.null-evaluation/1',
    parameters: { half },
    groups: groupsOf(results).map(({ group, comparisons }) => ({
      group,
      comparisons: comparisons.length,
      reporting: comparisons.filter(({ titles }) => titles.length > 0).length,
    })),
    comparisons: results,
  }
}

/** Returns the suite's results as text. */
export function nullText(
  results: readonly NullResult[],
  { half, cases }: Pick<NullFlags, 'half' | 'cases'>,
): string {
  return [
    `Periods between which nothing changed${half === null ? '' : ` (${half} half)`}: ${reportingShare(results)}`,
    ...groupsOf(results).flatMap(({ group, comparisons }) => [
      '',
      `${GROUPS[group]}: ${reportingShare(comparisons)}`,
      ...alarmLines(comparisons),
      ...(cases ? comparisons.map(caseLine) : []),
    ]),
    ...(results.some(({ apart }) => apart.some(Boolean)) ? ['', APART] : []),
    '',
  ].join('\n')
}

function caseLine({ id, requests, titles, seconds }: NullResult): string {
  return `  ${id}: ${requests.join(' and ')} requests, ${titles.length} findings, ${seconds.toFixed(1)} s`
}

function groupsOf(results: readonly NullResult[]) {
  return [...new Set(results.map(({ group }) => group))].map((group) => ({
    group,
    comparisons: results.filter((result) => result.group === group),
  }))
}
