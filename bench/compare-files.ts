// Files of two periods to findings, in a process of its own; prints what each stage took.
import { lap, loadPeriods, stages } from './load-periods.ts'

const comparison = await loadPeriods()
lap(`${comparison.steps.steps.length} steps tested`)
lap(`${comparison.ranking.mutations.length} ranked mutations`)
lap(
  `${comparison.findings.findings.length} findings, ${comparison.findings.text().length} characters`,
)
const peakMB = process.resourceUsage().maxRSS / 1024
process.stdout.write(JSON.stringify({ stages, total: performance.now(), peakMB }))
