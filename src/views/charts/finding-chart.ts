import type { Comparison } from '../../compare/comparison.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import { arrivalsChart } from './arrivals.ts'
import type { Chart } from './chart.ts'
import { errorsChart } from './over-time.ts'
import { responseTimesChart, stepTimesChart } from './response-times.ts'
import { PAGE_WIDTH, ribbonChart } from './ribbon.ts'

/** Picture of a finding, with a description. */
export interface FindingChart {
  readonly chart: Chart
  readonly of: 'step' | 'requests' | 'path' | 'errors' | 'arrivals'
}

/**
 * Draws a finding as what shows it best: times of the step that it rests on, failures over time, when
 * clients sent requests, response times, or else the path of its requests.
 */
export function findingChart(comparison: Comparison, finding: Finding): FindingChart {
  const { id, categories, kind, steps } = finding
  const [category] = categories
  if (kind === 'latency' && steps.length > 0) {
    return { chart: stepTimesChart(comparison, { finding: id }), of: 'step' }
  }
  if (kind === 'errors') return { chart: errorsChart(comparison), of: 'errors' }
  if (kind === 'load') return { chart: arrivalsChart(comparison), of: 'arrivals' }
  const isOfTimes = kind === 'latency' || kind === 'unattributed'
  const { responseTime } = comparison
  if (isOfTimes && category !== undefined && responseTime.test(category).testable) {
    return { chart: responseTimesChart(responseTime, { category }), of: 'requests' }
  }
  return { chart: ribbonChart(comparison, { finding: id, width: PAGE_WIDTH }), of: 'path' }
}
