import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { compare } from '../../src/comparison/comparison.ts'
import { at } from '../../src/core/entries.ts'
import { randomSource } from '../../src/stats/random.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { findCases } from '../recorded-cases.ts'
import { sharedData } from './shared-data.ts'

/** Requests of either side. */
const SIZES = [4, 6, 10, 31]

/** Comparisons of each size. */
const COMPARISONS = 400

/** Findings at or below this p are counted apart. */
const SURE = 0.01

/** Of the yardstick's periods before, every third is compared: systems with noisy hosts and lost spans. */
const EVERY = 3

/** Compares a few random requests with a few others of the same period, and prints how often anything is found. */
export async function runFewSuite({ data }: { readonly data: string }): Promise<void> {
  const periods = await quietPeriods(data)
  process.stdout.write(
    `Few requests against as many of the same period: ${COMPARISONS} comparisons of each size, ${periods.length} periods\n`,
  )
  for (const size of SIZES) {
    const chances = Array.from({ length: COMPARISONS }, (_, i) =>
      chanceFound(at(periods, i % periods.length), { size, seed: SIZES.indexOf(size) * 1e4 + i }),
    )
    const share = (limit: number) => chances.filter((q) => q <= limit).length / COMPARISONS
    const percent = (limit: number) => `${(100 * share(limit)).toFixed(1).padStart(4)} %`
    process.stdout.write(
      `${String(size).padStart(2)} requests: ${percent(1)} report something, ${percent(SURE)} with p of at most ${SURE}\n`,
    )
  }
}

/** Loads periods in which nothing changed, those of `../shared` if it is there. */
async function quietPeriods(data: string): Promise<SpanTraces[]> {
  const recorded = await findCases(data, [])
  const yardstick = sharedData('yardstick/cases')
  const cases = yardstick === null ? [] : readdirSync(yardstick).sort()
  const files = [
    ...recorded.filter(({ truth }) => truth.kind === 'none').map(({ before }) => before),
    ...cases
      .filter((_, i) => i % EVERY === 0)
      .map((name) => join(yardstick ?? '', name, 'before.jsonl.gz')),
  ]
  const periods = await Promise.all(files.map((file) => loadTraces(file)))
  return periods.filter((traces) => traces.kind === 'spans')
}

/** Returns the smallest p that a comparison of random requests reports; infinite if it reports nothing. */
function chanceFound(
  traces: SpanTraces,
  { size, seed }: { readonly size: number; readonly seed: number },
): number {
  const rows = randomSource(seed).shuffle([...traces.ids.keys()])
  const [before, after] = [0, size].map((from) =>
    traces.pick(rows.slice(from, from + size).sort((a, b) => a - b)),
  ) as [SpanTraces, SpanTraces]
  const { findings } = compare(before, after).findings
  return Math.min(...findings.map(({ q }) => q))
}
