import type {
  FamilyTest,
  ResponseTimeMutations,
} from '../../compare/mutations/response-time-mutations.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped, percent, pValue } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { type Ecdf, ecdf } from '../../stats/ecdf.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { type DurationAxis, linearDurationAxis, logDurationAxis } from './duration-axis.ts'
import { rootName } from './node-names.ts'
import { PALETTE, periodColour } from './palette.ts'
import { shareAxis } from './share-axis.ts'
import { shareAt, thinnedSteps } from './thinned-steps.ts'

const WIDTH = 560
const HEIGHT = 280
/** Steps of a curve: one a half pixel of the height. */
const STEPS = 500
/** A logarithmic axis when the longest time is more than this many times the shortest. */
const WIDE = 50

/**
 * Draws the response times of one category in both periods: the share of requests that had
 * finished after each time. Where the gap between the curves is largest, the Kolmogorov-Smirnov
 * statistic D is marked. Curves of many requests are thinned by less than half a pixel.
 *
 * @param responseTime a stage of `findResponseTimeMutations`
 * @param category number of the category
 * @throws RangeError when there is no such category
 *
 * Source: Sambasivan 2013, §2.6.2 (the test).
 *
 * @example
 * plotResponseTimeEcdf(comparison.responseTime, comparison.ranking.mutations[0].category)
 */
export function plotResponseTimeEcdf(responseTime: ResponseTimeMutations, category: number): Chart {
  const { categories } = responseTime
  const test = responseTime.test(category)
  const before = ecdf(categories.responseTimes(category, BEFORE))
  const after = ecdf(categories.responseTimes(category, AFTER))
  const axis = timeAxis(before, after)
  const gap = { test, before: shareAt(before, test.location), after: shareAt(after, test.location) }
  const thinned = [before, after].some(({ x }) => x.length > STEPS)
  return framedChart(
    {
      title: `Response times of ${rootName(categories, category, 60)} (category ${category})`,
      subtitle: [finding(gap), verdict(test, responseTime)],
      omissions: thinned ? ['The curves are thinned, by less than half a pixel.'] : [],
      width: WIDTH,
    },
    {
      width: WIDTH,
      height: HEIGHT,
      layer: [curves({ before, after }, axis), ...gapMark(gap, axis)],
    },
  )
}

interface Gap {
  readonly test: FamilyTest
  /** Shares of requests that had finished at the gap. */
  readonly before: number
  readonly after: number
}

function timeAxis(before: Ecdf, after: Ecdf): DurationAxis {
  const ends = [before, after].flatMap(({ x }) => (x.length === 0 ? [] : [x[0], x.at(-1)]))
  const known = ends.filter((end) => end !== undefined)
  const lowUs = known.length === 0 ? 0 : Math.min(...known)
  const highUs = known.length === 0 ? 1000 : Math.max(...known)
  const title = 'response time'
  if (lowUs > 0 && highUs / lowUs > WIDE) {
    return logDurationAxis({ lowUs: lowUs / 1.1, highUs: highUs * 1.1, title })
  }
  return linearDurationAxis({ lowUs, highUs, title })
}

/** What the largest gap says, in words. */
function finding({ test, before, after }: Gap): string {
  const { beforeCount, afterCount, location, direction, statistic } = test
  if (beforeCount === 0 || afterCount === 0) {
    const missing = beforeCount === 0 ? 'before' : 'after'
    return `There are no requests of this category ${missing}, so nothing to compare.`
  }
  if (statistic === 0) return 'Response times are the same in both periods.'
  const shares =
    `by ${formatDuration(location)}, ${percent(before)} of the requests before had finished, ` +
    `and ${percent(after)} of those after.`
  return test.rejected && direction !== 'none'
    ? `After is ${direction}: ${shares}`
    : `Largest gap: ${shares}`
}

/** What the test says, in words. */
function verdict(test: FamilyTest, { options }: ResponseTimeMutations): string {
  const { beforeCount, afterCount } = test
  const sizes = `${counted(beforeCount, 'request')} before, ${grouped(afterCount)} after`
  if (!test.testable) return `Too few requests for a test: ${sizes}.`
  const p = options.correction === 'bh' ? `, ${pValue(test.q, 'q')} corrected` : ''
  const level = `${Number((options.alpha * 100).toPrecision(3))} %`
  const says = test.rejected
    ? `a significant change at the ${level} level`
    : `no significant change at the ${level} level`
  return `KS test: D = ${test.statistic.toFixed(2)}, ${pValue(test.p)}${p}: ${says}; ${sizes}.`
}

function curves(periods: { before: Ecdf; after: Ecdf }, { axis, scale, domain }: DurationAxis) {
  const values = (['before', 'after'] as const).flatMap((period) => {
    const curve = periods[period]
    if (curve.count === 0) return []
    const steps = thinnedSteps(curve, STEPS)
    const ends = [{ x: domain[0], y: 0 }, ...steps, { x: domain[1], y: 1 }]
    return ends.map(({ x, y }) => ({ period, timeUs: x, share: y }))
  })
  return {
    data: { values },
    mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2, tooltip: false },
    encoding: {
      x: { field: 'timeUs', type: 'quantitative', scale, axis },
      y: { field: 'share', type: 'quantitative', ...shareAxis('share of requests finished') },
      color: periodColour(),
    },
  }
}

/** The line between the curves where they are furthest apart, with what it means beside it. */
function gapMark({ test, before, after }: Gap, { domain, scale }: DurationAxis): SpecPart[] {
  if (Number.isNaN(test.location)) return []
  const color = test.rejected ? PALETTE.change : PALETTE.rest
  const isLog = scale.type === 'log'
  const place = isLog ? Math.log(test.location / domain[0]) : test.location - domain[0]
  const span = isLog ? Math.log(domain[1] / domain[0]) : domain[1] - domain[0]
  const toLeft = place / span > 0.7
  const d = `D = ${test.statistic.toFixed(2)}`
  const value = {
    ...{ timeUs: test.location, low: Math.min(before, after), high: Math.max(before, after) },
    ...{ middle: (before + after) / 2, text: `${d} at ${formatDuration(test.location)}` },
    ...{ p: pValue(test.p), finishedBefore: percent(before), finishedAfter: percent(after) },
  }
  const text = {
    ...{ type: 'text', fontSize: 12, fontWeight: 'bold', baseline: 'middle' },
    ...{ align: toLeft ? 'right' : 'left', dx: toLeft ? -7 : 7 },
  }
  const x = { field: 'timeUs', type: 'quantitative' }
  const at = { x, y: { field: 'middle', type: 'quantitative' }, text: { field: 'text' } }
  const data = { values: [value] }
  return [
    {
      data,
      mark: { type: 'rule', color, strokeWidth: 3 },
      encoding: {
        x,
        ...{ y: { field: 'low', type: 'quantitative' }, y2: { field: 'high' } },
        tooltip: [
          { field: 'text', type: 'nominal', title: 'largest gap' },
          { field: 'p', type: 'nominal', title: 'p-value' },
          { field: 'finishedBefore', type: 'nominal', title: 'finished by then, before' },
          { field: 'finishedAfter', type: 'nominal', title: 'finished by then, after' },
        ],
      },
    },
    { data, mark: { ...text, color: 'white', stroke: 'white', strokeWidth: 4 }, encoding: at },
    { data, mark: { ...text, color }, encoding: at },
  ]
}
