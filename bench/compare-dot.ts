// One whole run, DOT to ranked JSON, in a process of its own; prints what each stage took.
import { COMPARISON_DOCUMENT } from '../src/cli/comparison-document.ts'
import { lap, loadPeriods, stages } from './load-periods.ts'

const comparison = await loadPeriods()
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
