import { extent } from 'd3-array'
import type {
  FamilyTest,
  ResponseTimeMutations,
} from '../../compare/mutations/find-response-time-mutations.ts'
import { optionalNumber } from '../../core/options.ts'
import { amountsName, changeWords, formatAmount, type Quantity, TIME } from '../../core/quantity.ts'
import { counted, grouped, percent, pValue } from '../../core/words.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { type Ecdf, ecdf } from '../../stats/ecdf.ts'
import { type Axis, durationAxis, shareAxis } from './axes.ts'
import { curves, quantity, tooltip } from './builders.ts'
import { defineChart, framedChart, PALETTE, type SpecPart } from './chart-frame.ts'
import { shareAt, stepsBetween, thinningNote } from './ecdf-curves.ts'
import { rootName } from './node-names.ts'

/** A logarithmic axis when the longest time is more than this many times the shortest. */
const WIDE = 50

/**
 * Draws the response times of one category as cumulative shares, and their largest gap
 * (Kolmogorov-Smirnov D). Source: Sambasivan 2013, §2.6.2.
 */
export const responseTimesChart = defineChart(
  {
    category: optionalNumber(
      'Category; by default the one whose response times differ most surely',
    ),
  },
  (responseTime: ResponseTimeMutations, { category: asked }) => {
    const category = asked ?? tellingCategory(responseTime)
    const { categories } = responseTime
    const test = responseTime.test(category)
    const before = ecdf(categories.responseTimes(category, BEFORE))
    const after = ecdf(categories.responseTimes(category, AFTER))
    const of = categories.flows.quantity
    const x = timeAxis(before, after, of)
    const gap = {
      test,
      before: shareAt(before, test.location),
      after: shareAt(after, test.location),
    }
    return framedChart(
      {
        title: `${of === TIME ? 'Response times' : of.name} of ${rootName(categories, category, 60)} (category ${category})`,
        subtitle: [finding(gap, of), verdict(test, responseTime)],
        omissions: thinningNote([before, after]),
        width: 560,
      },
      curves({
        x,
        y: shareAxis(of === TIME ? 'share of requests finished' : 'share of requests up to'),
        curves: [
          { name: 'before', color: PALETTE.before, points: stepsBetween(before, x.domain) },
          { name: 'after', color: PALETTE.after, points: stepsBetween(after, x.domain) },
        ],
        over: gapMark(gap, x, of),
        fields: ['period', 'timeUs', 'share'],
      }),
    )
  },
)

export function tellingCategory(responseTime: ResponseTimeMutations): number {
  let best = 0
  let leastP = Number.POSITIVE_INFINITY
  for (let category = 0; category < responseTime.categories.size; category++) {
    const { testable, p } = responseTime.test(category)
    if (!testable || p >= leastP) continue
    best = category
    leastP = p
  }
  return best
}

interface Gap {
  readonly test: FamilyTest
  readonly before: number
  readonly after: number
}

function timeAxis(before: Ecdf, after: Ecdf, of: Quantity): Axis {
  const ends = [before, after].flatMap(({ x }) =>
    x.length === 0 ? [] : ([x[0], x.at(-1)] as number[]),
  )
  const [lowUs = 0, highUs = 1000] = extent(ends)
  return durationAxis({ lowUs, highUs, title: amountsName(of), of }, WIDE)
}

function finding({ test, before, after }: Gap, of: Quantity): string {
  const { beforeCount, afterCount, location, direction, statistic } = test
  if (beforeCount === 0 || afterCount === 0) {
    return `No requests of this category ${beforeCount === 0 ? 'before' : 'after'}: nothing to compare.`
  }
  if (statistic === 0)
    return `${of === TIME ? 'Response times are' : `${of.name} is`} the same in both periods.`
  const shares =
    of === TIME
      ? `by ${formatAmount(location, of)}, ${percent(before)} of the requests before and ${percent(after)} of those after had finished.`
      : `${percent(before)} of the requests before and ${percent(after)} of those after have up to ${formatAmount(location, of)}.`
  return test.rejected && direction !== 'none'
    ? `After is ${changeWords(of, direction === 'slower').how}: ${shares}`
    : `Largest gap: ${shares}`
}

function verdict(test: FamilyTest, { options }: ResponseTimeMutations): string {
  const { beforeCount, afterCount } = test
  const sizes = `${counted(beforeCount, 'request')} before, ${grouped(afterCount)} after`
  if (!test.testable) return `Too few requests for a test: ${sizes}.`
  const q = options.correction === 'bh' ? `, ${pValue(test.q, 'q')} corrected` : ''
  const level = `${Number((options.alpha * 100).toPrecision(3))} %`
  const says = test.rejected ? 'significant' : 'not significant'
  return `KS test: D = ${test.statistic.toFixed(2)}, ${pValue(test.p)}${q}; ${says} at the ${level} level; ${sizes}.`
}

function gapMark({ test, before, after }: Gap, { domain, scale }: Axis, of: Quantity): SpecPart[] {
  if (Number.isNaN(test.location)) return []
  const [low, high] = domain
  const isRight =
    scale.type === 'log'
      ? Math.log(test.location / low) > 0.7 * Math.log(high / low)
      : test.location - low > 0.7 * (high - low)
  const color = test.rejected ? PALETTE.change : PALETTE.rest
  const value = {
    timeUs: test.location,
    low: Math.min(before, after),
    high: Math.max(before, after),
    middle: (before + after) / 2,
    text: `D = ${test.statistic.toFixed(2)} at ${formatAmount(test.location, of)}`,
    p: pValue(test.p),
    finishedBefore: percent(before),
    finishedAfter: percent(after),
  }
  const text = {
    type: 'text',
    fontSize: 12,
    fontWeight: 'bold',
    baseline: 'middle',
    align: isRight ? 'right' : 'left',
    dx: isRight ? -7 : 7,
  }
  const at = { x: quantity('timeUs'), y: quantity('middle'), text: { field: 'text' } }
  return [
    {
      data: { values: [value] },
      layer: [
        {
          mark: { type: 'rule', color, strokeWidth: 3 },
          encoding: {
            x: quantity('timeUs'),
            y: quantity('low'),
            y2: { field: 'high' },
            tooltip: tooltip({
              'largest gap': 'text',
              'p-value': 'p',
              'finished by then, before': 'finishedBefore',
              'finished by then, after': 'finishedAfter',
            }),
          },
        },
        { mark: { ...text, color: 'white', stroke: 'white', strokeWidth: 4 }, encoding: at },
        { mark: { ...text, color }, encoding: at },
      ],
    },
  ]
}
