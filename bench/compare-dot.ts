// One whole run, DOT to ranked JSON, in a process of its own; prints what each stage took.
import { COMPARISON_DOCUMENT } from '../src/cli/comparison-document.ts'
import { compare } from '../src/compare/comparison.ts'
import { loadTraces } from '../src/traces/load-traces.ts'

const [before, after] = process.argv.slice(2) as [string, string]
const stages: Record<string, number> = {}
let last = 0
const lap = (stage: string) => {
  const now = performance.now()
  stages[stage] = now - last
  last = now
}
lap('start of the process')
const [good, bad] = await Promise.all([
  loadTraces(before, { name: 'before' }),
  loadTraces(after, { name: 'after' }),
])
lap('read')
const comparison = compare(good, bad)
lap(`flows of ${comparison.flows.size} requests`)
lap(`${comparison.categories.size} categories`)
lap(`${comparison.responseTime.mutations.length} response-time mutations`)
lap(`${comparison.structural.mutations.length} structural mutations`)
lap(`${comparison.ranking.mutations.length} ranked, precursors matched`)
const json = JSON.stringify(
  COMPARISON_DOCUMENT.write({ comparison, limit: 10_000, budget: 0, explained: null }),
)
lap(`JSON of ${(json.length / 1e6).toFixed(1)} MB, edges tested`)
const total = performance.now()
const with1 = performance.now()
void comparison.with({ smPThreshold: 1 }).ranking
const jumpMs = performance.now() - with1
const drag: number[] = []
for (let smPThreshold = 100; smPThreshold >= 1; smPThreshold--) {
  const start = performance.now()
  void comparison.with({ smPThreshold }).ranking
  drag.push(performance.now() - start)
}
const peakMB = process.resourceUsage().maxRSS / 1024
process.stdout.write(JSON.stringify({ stages, total, peakMB, jumpMs, drag }))
