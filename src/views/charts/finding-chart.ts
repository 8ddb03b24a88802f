import type { Finding } from '../../compare/findings/finding.ts'
import type { Comparison } from '../../comparison/comparison.ts'
import { arrivalsChart } from './arrivals.ts'
import type { Chart } from './chart.ts'
import { errorsChart } from './over-time.ts'
import { responseTimesChart, stepTimesChart } from './response-times.ts'
import { PAGE_WIDTH, ribbonChart } from './ribbon.ts'

interface FindingChart {
  readonly chart: Chart
  readonly of: 'step' | 'requests' | 'path' | 'errors' | 'arrivals'
}

/** Draws a finding as what shows it best: its step, failures, arrivals, response times, or the path of its requests. */
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

const READING =
  'Curves climb as requests finish. Where blue (after) runs to the right of orange (before), requests take longer'

/** Says how to read the picture of a finding. */
export function findingCaption({ categories }: Finding, of: FindingChart['of']): string {
  const kinds =
    categories.length === 1
      ? 'All affected requests are of this kind.'
      : `This kind has the most requests of the ${categories.length} affected kinds.`
  const captions = {
    step: `Times of the step itself, one per request: the mean of its calls. ${READING}.`,
    requests: `Times of whole requests, not of the step alone. ${READING}; the vertical line marks where the two are furthest apart. ${kinds}`,
    path: 'Mean affected request, before and after, cut into the steps that it waits for.',
    errors: 'Share of requests that failed, over time.',
    arrivals: 'Response times of requests, by time of arrival.',
  }
  return captions[of]
}
