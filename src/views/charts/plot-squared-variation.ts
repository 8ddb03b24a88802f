import { type Categories, squaredVariation } from '../../compare/categories/categories.ts'
import { OptionError } from '../../core/errors.ts'
import { counted, percent } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { type Ecdf, ecdf } from '../../stats/ecdf.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { logTicks } from './duration-axis.ts'
import { PALETTE, PERIOD_NAMES, periodColour } from './palette.ts'
import { shareAxis } from './share-axis.ts'
import { thinnedSteps } from './thinned-steps.ts'

/** What {@link plotSquaredVariation} can be told. */
export interface SquaredVariationOptions {
  /** Only categories of more requests than this, period by period. Default 10, as in the thesis. */
  readonly large?: number
}

const WIDTH = 520
const HEIGHT = 280
const STEPS = 500

/** C² of the large categories of one period. */
interface PeriodVariation {
  readonly curve: Ecdf
  /** Share of them below 1. */
  readonly belowOne: number
  readonly constant: number
}

/**
 * Draws how predictable response times are: the distribution, over the large categories, of the
 * squared coefficient of variation C² = variance / mean² of response times in each period. Below
 * 1 a category counts as predictable.
 *
 * Categories with C² = 0 stand at the left edge. Those whose mean is 0 have no C².
 *
 * @param categories a stage of `categorize`
 * @param options see {@link SquaredVariationOptions}
 * @throws OptionError for a number of requests that is negative or no number
 *
 * Source: Sambasivan 2013, §3.2 and Figures 3.2 and 3.3.
 *
 * @example
 * plotSquaredVariation(comparison.categories)
 */
export function plotSquaredVariation(
  categories: Categories,
  { large = 10 }: SquaredVariationOptions = {},
): Chart {
  if (!(large >= 0)) throw new OptionError('large', large, 'a number of requests, 0 or more')
  const before = variationOf(categories, BEFORE, large)
  const after = variationOf(categories, AFTER, large)
  const domain = domainOf([before, after])
  return framedChart(
    {
      title: 'How predictable response times are, category by category',
      subtitle: [
        `C² = variance ÷ mean² of response times in each category of more than ${counted(large, 'request')}. Curves further left and higher are better.`,
        ...said({ before, after, large }),
      ],
      omissions: omissions({ before, after }),
      width: WIDTH,
    },
    {
      width: WIDTH,
      height: HEIGHT,
      layer: [curves([before, after], domain), ...divide(domain), ...shares([before, after])],
    },
  )
}

function variationOf(categories: Categories, period: Period, large: number): PeriodVariation {
  const values: number[] = []
  for (let category = 0; category < categories.size; category++) {
    if (categories.count(category, period) <= large) continue
    const value = squaredVariation(categories.responseTimeMoments(category, period))
    if (Number.isFinite(value)) values.push(value)
  }
  return {
    curve: ecdf(values),
    belowOne: values.filter((value) => value < 1).length / values.length,
    constant: values.filter((value) => value === 0).length,
  }
}

function domainOf(periods: readonly PeriodVariation[]): readonly [number, number] {
  const positive = periods.flatMap(({ curve }) => Array.from(curve.x).filter((x) => x > 0))
  const least = positive.reduce((low, x) => Math.min(low, x), 0.1)
  const most = positive.reduce((high, x) => Math.max(high, x), 1)
  return [least / 1.5, Math.max(10, most * 1.5)]
}

function said({
  before,
  after,
  large,
}: {
  before: PeriodVariation
  after: PeriodVariation
  large: number
}): string[] {
  return [before, after].map(({ curve, belowOne }, period) => {
    const name = period === BEFORE ? 'Before' : 'After'
    return curve.count === 0
      ? `${name}, no category has more than ${counted(large, 'request')}.`
      : `${name}, C² is below 1 in ${Math.round(belowOne * curve.count)} of ${counted(curve.count, 'large category', 'large categories')} (${percent(belowOne)}).`
  })
}

function omissions({ before, after }: { before: PeriodVariation; after: PeriodVariation }) {
  const constant = before.constant + after.constant
  return [
    constant > 0
      ? `C² is 0 ${before.constant} times before and ${after.constant} times after: drawn at the left edge.`
      : '',
    [before, after].some(({ curve }) => curve.x.length > STEPS)
      ? 'The curves are thinned, by less than half a pixel.'
      : '',
  ].filter((sentence) => sentence !== '')
}

function curves(periods: readonly PeriodVariation[], domain: readonly [number, number]): SpecPart {
  const values = periods.flatMap(({ curve }, period) => {
    if (curve.count === 0) return []
    const ends = [{ x: domain[0], y: 0 }, ...thinnedSteps(curve, STEPS), { x: domain[1], y: 1 }]
    return ends.map(({ x, y }) => ({
      period: PERIOD_NAMES[period],
      c2: Math.max(x, domain[0]),
      share: y,
    }))
  })
  const axis = { title: 'C² of response times', values: logTicks(...domain), format: ',~r' }
  return {
    data: { values },
    mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2, tooltip: false },
    encoding: {
      x: {
        ...{ field: 'c2', type: 'quantitative', axis },
        scale: { type: 'log', domain: [...domain], nice: false },
      },
      y: { field: 'share', type: 'quantitative', ...shareAxis('share of large categories') },
      color: periodColour(),
    },
  }
}

/** The line at 1, and what either side means. */
function divide(domain: readonly [number, number]): SpecPart[] {
  const words = (text: string, align: 'left' | 'right') => ({
    data: { values: [{ c2: 1, share: 0.04, text }] },
    mark: {
      ...{ type: 'text', align, dx: align === 'left' ? 7 : -7, baseline: 'middle' },
      ...{ color: PALETTE.softText, fontSize: 11 },
    },
    encoding: {
      x: { field: 'c2', type: 'quantitative' },
      y: { field: 'share', type: 'quantitative' },
      text: { field: 'text' },
    },
  })
  return [
    {
      mark: { type: 'rule', color: PALETTE.softText, strokeDash: [4, 3] },
      encoding: { x: { datum: 1, type: 'quantitative' } },
    },
    words('unpredictable', 'left'),
    ...(domain[0] < 0.05 ? [words('predictable', 'right')] : []),
  ]
}

/** The share below 1 where each curve crosses the line: the higher one left above, the other right below. */
function shares(periods: readonly PeriodVariation[]): SpecPart[] {
  const known = periods
    .map(({ curve, belowOne }, period) => ({ period, belowOne, count: curve.count }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.belowOne - a.belowOne)
  return known.map(({ period, belowOne }, place) => ({
    data: {
      values: [{ c2: 1, share: belowOne, text: `${percent(belowOne)} ${PERIOD_NAMES[period]}` }],
    },
    mark: {
      ...{ type: 'text', fontSize: 12, fontWeight: 'bold' },
      ...{ color: period === BEFORE ? '#A87400' : PALETTE.after },
      ...(place === 0
        ? { align: 'right', baseline: 'bottom', dx: -6, dy: -3 }
        : { align: 'left', baseline: 'top', dx: 7, dy: 4 }),
    },
    encoding: {
      x: { field: 'c2', type: 'quantitative' },
      y: { field: 'share', type: 'quantitative' },
      text: { field: 'text' },
    },
  }))
}
