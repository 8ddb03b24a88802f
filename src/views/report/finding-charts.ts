import type { Comparison } from '../../compare/comparison.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import type { Chart } from '../charts/chart.ts'
import { responseTimesChart } from '../charts/response-times.ts'

/** More pictures than this would bury the page. */
const MOST_CHARTS = 3

/** What is drawn beside a finding: a chart of its own, that of another, or nothing. */
export type FindingChart =
  | { readonly kind: 'chart'; readonly chart: Chart }
  | { readonly kind: 'see'; readonly rank: number }

/**
 * Response times before and after of the kind of request that most of a finding's requests are of,
 * by the finding's rank. Each kind is drawn once.
 */
export function findingCharts({ findings, responseTime }: Comparison) {
  const charts = new Map<number, FindingChart>()
  const drawn = new Map<number, number>()
  for (const { rank, kind, categories: concerned } of findings.findings as readonly Finding[]) {
    const [category] = concerned
    if (kind === 'structure' || category === undefined) continue
    if (!responseTime.test(category).testable) continue
    const known = drawn.get(category)
    if (known !== undefined) charts.set(rank, { kind: 'see', rank: known })
    else if (drawn.size < MOST_CHARTS) {
      drawn.set(category, rank)
      charts.set(rank, { kind: 'chart', chart: responseTimesChart(responseTime, { category }) })
    }
  }
  return charts
}
