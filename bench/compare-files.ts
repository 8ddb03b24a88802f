// Files of two periods to findings, in a process of its own; prints what each stage took.
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
lap(`${comparison.steps.steps.length} steps tested`)
lap(`${comparison.ranking.mutations.length} ranked mutations`)
lap(
  `${comparison.findings.findings.length} findings, ${comparison.findings.text().length} characters`,
)
const peakMB = process.resourceUsage().maxRSS / 1024
process.stdout.write(JSON.stringify({ stages, total: performance.now(), peakMB }))
