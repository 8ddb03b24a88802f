import { range } from 'd3-array'
import { type Categories, squaredVariation } from '../../compare/categories/categories.ts'
import { OptionError } from '../../core/errors.ts'
import { count } from '../../core/options.ts'
import { counted, percent } from '../../core/words.ts'
import { VarianceSources } from '../../explain/variance/find-variance.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { type Ecdf, ecdf } from '../../stats/ecdf.ts'
import { SERIES } from '../page/palette.ts'
import { logAxis, shareAxis } from './axes.ts'
import { type Curve, curves, distinctTexts, ruleAt } from './builders.ts'
import { defineChart, framedChart, PALETTE } from './chart-frame.ts'
import { stepsBetween } from './ecdf-curves.ts'

/** Stages of `findVariance`, each by its name. */
export type VariationSets = Readonly<Record<string, VarianceSources>>

const BEFORE_DASH = [5, 3]

interface Variation extends Pick<Curve, 'color' | 'dash'> {
  readonly name: string
  readonly c2: Ecdf
}

/**
 * Draws the distribution of C² = variance ÷ mean² over large categories; 0 stands at the left edge.
 * Source: Sambasivan 2013, §3.2 and Figures 3.2 and 3.3.
 */
export const squaredVariationChart = defineChart(
  {
    large: count({
      default: 10,
      min: 0,
      unit: 'requests',
      sentence: 'Draw only categories with more requests than this in a period',
    }),
  },
  (categories: Categories, { large }) => {
    const ofPeriod = (period: Period) =>
      ecdf(
        range(categories.size)
          .filter((category) => categories.count(category, period) > large)
          .map((category) => squaredVariation(categories.responseTimeMoments(category, period)))
          .filter(Number.isFinite),
      )
    return variationChart(`more than ${counted(large, 'request')}`, [
      { name: 'before', color: PALETTE.before, c2: ofPeriod(BEFORE) },
      { name: 'after', color: PALETTE.after, c2: ofPeriod(AFTER) },
    ])
  },
)

/** Draws {@link squaredVariationChart} for one to six sets of requests, one over the other. */
export const variationSetsChart = defineChart({}, (given: VariationSets | VarianceSources) => {
  const sets = given instanceof VarianceSources ? { '': given } : given
  const names = Object.keys(sets)
  if (names.length === 0 || names.length > SERIES.length) {
    const expected = `one to ${SERIES.length} sets, each by its name`
    throw new OptionError('sets', names.join(', '), expected)
  }
  const labels = distinctTexts(names, 40)
  const variations = Object.values(sets).flatMap((found, set) => {
    const { period } = found.options
    const periods = period === 'both' ? (['before', 'after'] as const) : [period]
    return periods.map((each) => ({
      name: labels[set] === '' ? each : `${labels[set]}, ${each}`,
      color: names.length > 1 ? (SERIES[set] as string) : PALETTE[each],
      ...(each === 'before' && names.length > 1 && { dash: BEFORE_DASH }),
      c2: ecdf(
        found.ranked.flatMap((row) =>
          row.period === each && Number.isFinite(row.c2) ? [row.c2] : [],
        ),
      ),
    }))
  })
  return variationChart('enough requests', variations)
})

function variationChart(large: string, variations: readonly Variation[]) {
  const positive = variations.flatMap(({ c2 }) => Array.from(c2.x).filter((x) => x > 0))
  const least = positive.reduce((low, x) => Math.min(low, x), 0.1)
  const most = positive.reduce((high, x) => Math.max(high, x), 1)
  const x = logAxis(
    [least / 1.5, Math.max(10, most * 1.5)],
    'C² of response times (left of 1: predictable)',
  )
  return framedChart(
    {
      title: 'How predictable response times are',
      subtitle: [
        `C² = variance ÷ mean² of the response times of each category with ${large}.`,
        ...variations.map(said),
      ],
      omissions: zeros(variations),
      width: 560,
    },
    curves({
      x,
      y: shareAxis('share of large categories'),
      curves: variations.map(({ c2, name, ...look }) => ({
        ...look,
        short: name,
        name: c2.count === 0 ? name : `${name}: ${percent(belowOne(c2))} below 1`,
        points: stepsBetween(c2, x.domain),
      })),
      over: [ruleAt(1, { color: PALETTE.softText, strokeDash: [4, 3] })],
      legend: { columns: 2, labelLimit: 270 },
      fields: ['set', 'c2', 'share'],
    }),
  )
}

function belowOne({ x, y }: Ecdf): number {
  return y[x.findLastIndex((c2) => c2 < 1)] ?? 0
}

function said({ name, c2 }: Variation): string {
  return c2.count === 0
    ? `${name}: no category is large enough.`
    : `${name}: C² is below 1 in ${Math.round(belowOne(c2) * c2.count)} of ${counted(c2.count, 'large category', 'large categories')} (${percent(belowOne(c2))}).`
}

function zeros(variations: readonly Variation[]): string | false {
  const found = variations.flatMap(({ name, c2 }) => {
    const zero = c2.x[0] === 0 ? Math.round((c2.y[0] ?? 0) * c2.count) : 0
    return zero > 0 ? [`${counted(zero, 'category', 'categories')} (${name})`] : []
  })
  return found.length > 0 && `C² is 0 in ${found.join(', ')}: drawn at the left edge.`
}
