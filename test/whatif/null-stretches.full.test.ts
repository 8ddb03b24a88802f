import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { rowsInTime } from '../../evaluation/suites/null-suite.ts'
import { randomSource } from '../../src/stats/random.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { diagnoseLatency } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

const FOLDER = fileURLToPath(new URL('../../datasets/storage-service/', import.meta.url))

/** As in the suite `nulls`: what changes by itself within before, or is recorded twice. */
const LEFT_OUT = ['batch-job', 'create-behaviour', 'innocent-batch-job', 'lost-key']

const load = async (file: string) => (await loadTraces(file)) as SpanTraces

/** One run divided in two between which nothing changed: at random, by turns, and in time. */
function divisions(traces: SpanTraces): [SpanTraces, SpanTraces][] {
  const rows = rowsInTime(traces)
  const half = rows.length >> 1
  const shuffled = randomSource(7).shuffle(rows.slice())
  const turn = (at: number) => Math.floor((20 * at) / rows.length) % 2
  return [
    [shuffled.slice(0, half), shuffled.slice(half)] as const,
    [rows.filter((_, i) => turn(i) === 0), rows.filter((_, i) => turn(i) === 1)] as const,
    [rows.slice(0, half), rows.slice(half)] as const,
  ].map(([one, other]) => [traces.pick(one), traces.pick(other)])
}

const isSignificant = (before: SpanTraces, after: SpanTraces) =>
  diagnoseLatency(before, after).ranked.some(({ significant }) => significant)

const alarms = (runs: readonly SpanTraces[]) =>
  runs.flatMap(divisions).map(([before, after]) => isSignificant(before, after))

test('at most one in twenty divisions of a steady recorded run has a significant cause', async () => {
  const cases = readdirSync(FOLDER, { withFileTypes: true })
    .map(({ name }) => name)
    .filter((name) => !LEFT_OUT.includes(name))
  const runs: SpanTraces[] = []
  for (const name of cases) {
    const traces = await load(`${FOLDER}${name}/before.jsonl.gz`).catch(() => null)
    if (traces !== null) runs.push(traces)
  }
  const found = alarms(runs)
  expect(found.length).toBe(33)
  expect(found.filter(Boolean).length).toBeLessThanOrEqual(1)
}, 900_000)

test.each(['broken-replica', 'create-behaviour', 'delay-1ms', 'mds-prefetch', 'rmw'])(
  'the planted cause of %s is significant',
  async (name) => {
    const [before, after] = await Promise.all(
      ['before', 'after'].map((period) => load(`${FOLDER}${name}/${period}.jsonl.gz`)),
    )
    expect(diagnoseLatency(before as SpanTraces, after as SpanTraces).best?.significant).toBe(true)
  },
)

describeWithShared('of what others recorded', () => {
  test('at most one in twenty divisions of a period before a fault has a significant cause', async () => {
    const folder = sharedFile('data/nezha-faults') as string
    const cases = readdirSync(folder).filter((name) => /^\d/.test(name))
    const runs: SpanTraces[] = []
    for (const name of cases) runs.push(await load(`${folder}/${name}/before.csv.gz`))
    const found = alarms(runs)
    expect(found.length).toBeGreaterThan(100)
    expect(found.filter(Boolean).length).toBeLessThanOrEqual(0.05 * found.length)
  }, 900_000)
})
