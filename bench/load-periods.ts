// The start of every bench that compares two files in a process of its own: reads them, stage by stage.
import { type Comparison, compare } from '../src/comparison/comparison.ts'
import { COMPARISON_OPTIONS } from '../src/comparison/comparison-options.ts'
import { loadTraces } from '../src/traces/load-traces.ts'

/** What each stage took (ms), and how to end one. */
export const stages: Record<string, number> = {}
let last = 0
export function lap(stage: string): void {
  const now = performance.now()
  stages[stage] = now - last
  last = now
}

/** Reads the two files that the process was given, and compares them up to their categories. */
export async function loadPeriods(): Promise<Comparison> {
  const [before, after, most] = process.argv.slice(2) as [string, string, string?]
  const sample = most === undefined ? COMPARISON_OPTIONS.sample.default : Number(most) || 'all'
  lap('start of the process')
  const [good, bad] = await Promise.all([
    loadTraces(before, { name: 'before' }),
    loadTraces(after, { name: 'after' }),
  ])
  lap('read')
  const comparison = compare(good, bad, { sample })
  lap(`flows of ${comparison.flows.size} requests`)
  lap(`${comparison.categories.size} categories`)
  return comparison
}
