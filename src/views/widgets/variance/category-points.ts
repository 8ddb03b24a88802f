import { ascending, descending, least, max, min } from 'd3-array'
import { type Categories, squaredVariation } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { formatDuration } from '../../../core/units.ts'
import { grouped } from '../../../core/words.ts'
import type { PeriodName } from '../../../explain/variance/compare-spreads.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { rootName } from '../../charts/node-names.ts'
import { type Plot, type PlotBox, plotPoint } from '../../drawing/axis-lines.tsx'
import { type AxisScale, countScale, logScale, shareScale } from '../../drawing/axis-scale.ts'
import type { Point } from '../../drawing/path.ts'

type MeasureKind = 'count' | 'time' | 'variation'

/** Columns of `categories.table()` that categories can be laid out by. */
export const MEASURES = {
  before: { name: 'requests before', kind: 'count' },
  after: { name: 'requests after', kind: 'count' },
  beforeMeanUs: { name: 'mean response time before', kind: 'time' },
  afterMeanUs: { name: 'mean response time after', kind: 'time' },
  beforeC2: { name: 'C² before', kind: 'variation' },
  afterC2: { name: 'C² after', kind: 'variation' },
} as const satisfies Record<string, { readonly name: string; readonly kind: MeasureKind }>

export type Measure = keyof typeof MEASURES

export const MEASURE_NAMES = Object.keys(MEASURES) as Measure[]

/** Measures to the right and upwards. */
export type Axes = readonly [across: Measure, up: Measure]

/** Data of all categories; entry `i` of each list is category `i`. */
export type CategoryPoints = ReturnType<typeof categoryPoints>

const MAX_NAME_LENGTH = 200

/** Takes counts, means and C² of all categories out of a stage. */
export function categoryPoints(categories: Categories, comparison: Comparison | null) {
  const ids = Array.from({ length: categories.size }, (_, category) => category)
  const moments = (period: Period) =>
    ids.map((category) => categories.responseTimeMoments(category, period))
  const [before, after] = [moments(BEFORE), moments(AFTER)]
  return {
    names: ids.map((category) => rootName(categories, category, MAX_NAME_LENGTH)),
    /** `NaN` where a category has none: no mean without requests, no C² of a single one. */
    measures: {
      before: before.map(({ count }) => count),
      after: after.map(({ count }) => count),
      beforeMeanUs: before.map(({ mean }) => mean),
      afterMeanUs: after.map(({ mean }) => mean),
      beforeC2: before.map(squaredVariation),
      afterC2: after.map(squaredVariation),
    } satisfies Record<Measure, readonly number[]>,
    /** Results of tests; `null` where the stage has none. */
    tests: comparison === null ? null : testsOf(comparison, ids),
  }
}

function testsOf({ structural, responseTime }: Comparison, ids: readonly number[]) {
  return {
    structural: ids.map((category) => structural.label(category)),
    /** Change of the number of requests, scaled if the comparison does. */
    changes: Array.from(structural.changes, (change) => Number(change.toPrecision(6))),
    /** p of the response times; `null` where there are too few requests for a test. */
    p: ids.map((category) => {
      const { testable, p } = responseTime.test(category)
      return testable ? Number(p.toPrecision(3)) : null
    }),
    /** Categories whose response times changed. */
    responseTime: responseTime.mutations,
  }
}

/** Returns a measure of a category; `NaN` where it has none. */
export function measured({ measures }: CategoryPoints, measure: Measure, category: number): number {
  return measures[measure][category] ?? Number.NaN
}

/** Writes a measure as a person says it. */
export function measureText(measure: Measure, value: number): string {
  if (Number.isNaN(value)) return 'none'
  const { kind } = MEASURES[measure]
  if (kind === 'variation') return String(Number(value.toPrecision(3)))
  return kind === 'count' ? grouped(value) : formatDuration(value)
}

/**
 * Returns the distribution of C² over the large categories of one period, ascending, each with the
 * share of these that vary as little or less.
 */
export function curveOf({ measures }: CategoryPoints, period: Period, large: number) {
  const [counts, values] =
    period === BEFORE ? [measures.before, measures.beforeC2] : [measures.after, measures.afterC2]
  const found = values
    .map((c2, category) => ({ category, c2 }))
    .filter(({ c2, category }) => (counts[category] ?? 0) > large && !Number.isNaN(c2))
    .sort((a, b) => ascending(a.c2, b.c2) || a.category - b.category)
  return found.map((point, i) => ({ ...point, share: (i + 1) / found.length }))
}

/** Returns whether two measures are the same in both periods, so that equality is a diagonal. */
export function isSameKind(one: Measure, other: Measure): boolean {
  return MEASURES[one].kind === MEASURES[other].kind
}

/** Share of an axis that is set aside for categories with no value, or with 0. */
const NONE = 0.12

/** Returns the scale of a measure, the same for both periods. */
export function measureScale(data: CategoryPoints, measure: Measure, ticks: number): AxisScale {
  const values = MEASURE_NAMES.filter((other) => isSameKind(measure, other)).flatMap((other) =>
    data.measures[other].map((value) => value || 0),
  )
  const high = max(values) ?? 0
  if (MEASURES[measure].kind === 'count') return countScale(high, { ticks })
  const low = min(values.filter((value) => value > 0)) ?? 1
  const text = (value: number) => measureText(measure, value)
  const scale = logScale({ low, high: high || 10, ticks, text })
  return values.every((value) => value > 0) ? scale : withNone(scale)
}

/** Adds a place before the beginning of a logarithmic scale, for 0 and for nothing. */
function withNone({ ticks, share, value }: AxisScale): AxisScale {
  return {
    ticks: [
      { value: 0, text: 'none' },
      // A long number at the very beginning would run into the word.
      ...ticks.filter((tick) => tick.text.length <= 5 || share(tick.value) >= 0.06),
    ],
    share: (at) => (at > 0 ? NONE + (1 - NONE) * share(at) : NONE / 4),
    value: (at) => (at < NONE * 0.75 ? 0 : value(Math.max(0, (at - NONE) / (1 - NONE)))),
  }
}

/** A category somewhere in a plot, in pixels. */
export interface Spot {
  readonly category: number
  readonly x: number
  readonly y: number
  /** Whose curve it is on. */
  readonly period?: PeriodName
}

/** A plot, and where the categories stand in it. */
export interface CategoryPlot extends Plot {
  readonly width: number
  readonly spots: readonly Spot[]
}

export type CurvesPlot = ReturnType<typeof curvesPlot>

export const PLOT_HEIGHT = 330
const MARGIN = { right: 14, top: 50, bottom: 40 } as const

function boxOf(width: number, left: number): PlotBox {
  const { right, top, bottom } = MARGIN
  const height = PLOT_HEIGHT - top - bottom
  return { left, top, width: Math.max(80, width - left - right), height }
}

function ticksIn(width: number): number {
  return Math.max(3, Math.floor(width / 62))
}

export function curvesPlot(data: CategoryPoints, large: number, width: number) {
  const curves = { before: curveOf(data, BEFORE, large), after: curveOf(data, AFTER, large) }
  const positive = [...curves.before, ...curves.after].flatMap(({ c2 }) => (c2 > 0 ? [c2] : []))
  const x = logScale({
    low: Math.min(0.1, ...positive),
    high: Math.max(10, ...positive),
    ticks: ticksIn(width),
    text: (c2) => measureText('afterC2', c2),
  })
  const plot = { box: boxOf(width, 48), x, y: shareScale() }
  const spots = (['before', 'after'] as const).flatMap((period) =>
    curves[period].map(({ category, c2, share }) => ({
      ...{ category, period },
      ...plotPoint(plot, [c2, share]),
    })),
  )
  return { ...plot, width, curves, spots }
}

export function scatterPlot(data: CategoryPoints, [across, up]: Axes, width: number): CategoryPlot {
  const x = measureScale(data, across, ticksIn(width))
  const plot = { box: boxOf(width, 62), x, y: measureScale(data, up, 7) }
  const spots = data.names.map((_, category) => ({
    category,
    ...plotPoint(plot, [measured(data, across, category), measured(data, up, category)]),
  }))
  return { ...plot, width, spots }
}

/** Distance in pixels beyond which a pointer is at no category. */
const REACH = 24

/** Returns the spot nearest to a point, if it is near. */
export function nearestSpot(spots: readonly Spot[], at: Point): Spot | undefined {
  const distance = (spot: Spot) => Math.hypot(spot.x - at.x, spot.y - at.y)
  const nearest = least(spots, distance)
  return nearest !== undefined && distance(nearest) <= REACH ? nearest : undefined
}

/**
 * Returns the spot that a key leads to: right and left through all spots from left to right, up and
 * down through all from the bottom up. `undefined` for other keys.
 */
export function keyedSpot(
  spots: readonly Spot[],
  from: Spot | undefined,
  key: string,
): Spot | undefined {
  const isUp = key === 'ArrowUp' || key === 'ArrowDown'
  if (!isUp && !['ArrowRight', 'ArrowLeft', 'Home', 'End'].includes(key)) return undefined
  const right = (a: Spot, b: Spot) => ascending(a.x, b.x)
  const upward = (a: Spot, b: Spot) => descending(a.y, b.y)
  const [first, second] = isUp ? [upward, right] : [right, upward]
  const ordered = [...spots].sort((a, b) => first(a, b) || second(a, b) || a.category - b.category)
  if (key === 'End') return ordered.at(-1)
  if (key === 'Home' || from === undefined) return ordered[0]
  const step = key === 'ArrowRight' || key === 'ArrowUp' ? 1 : -1
  const { category, period } = from
  const place = ordered.findIndex((spot) => spot.category === category && spot.period === period)
  return ordered[Math.min(ordered.length - 1, Math.max(0, place + step))]
}

/** Categories within the bounds of both measures. */
export type Region = ReturnType<typeof regionBetween>

/** Returns the bounds between two shares of an axis, rounded so that they can be written down. */
export function boundsBetween(
  measure: Measure,
  scale: AxisScale,
  shares: readonly [number, number],
) {
  const isCount = MEASURES[measure].kind === 'count'
  const rounded = (value: number) => Number(value.toPrecision(3))
  const from = scale.value(Math.min(...shares))
  const to = scale.value(Math.max(...shares))
  const low = isCount ? Math.ceil(from) : rounded(from)
  return {
    measure,
    /** `null`: from values that are 0 or missing on. */
    low: low > 0 ? low : null,
    high: isCount ? Math.max(0, Math.floor(to)) : rounded(to),
  }
}

/** Room around the dots of a frame, in pixels: all within lie clear of its bounds as written down. */
export const FRAME_ROOM = 6

/** Returns the region between two points of the scatter, in pixels, with `room` on all sides. */
export function regionBetween(
  { box, x, y }: CategoryPlot,
  [across, up]: Axes,
  { one, other, room = 0 }: { readonly one: Point; readonly other: Point; readonly room?: number },
) {
  const clamped = (share: number) => Math.min(1, Math.max(0, share))
  const right = (at: number) => clamped((at - box.left) / box.width)
  const upward = (at: number) => clamped(1 - (at - box.top) / box.height)
  const [left, end] = [Math.min(one.x, other.x) - room, Math.max(one.x, other.x) + room]
  const [top, bottom] = [Math.min(one.y, other.y) - room, Math.max(one.y, other.y) + room]
  return [
    boundsBetween(across, x, [right(left), right(end)]),
    boundsBetween(up, y, [upward(bottom), upward(top)]),
  ] as const
}

/** Returns the categories in a region, those with the most requests first. */
export function categoriesWithin(data: CategoryPoints, region: Region): readonly number[] {
  return [...data.names.keys()]
    .filter((category) =>
      region.every(({ measure, low, high }) => {
        const value = measured(data, measure, category)
        return low === null ? !(value > high) : value >= low && value <= high
      }),
    )
    .sort((a, b) => requestsOf(data, b) - requestsOf(data, a) || a - b)
}

export function requestsOf({ measures }: CategoryPoints, category: number): number {
  return (measures.before[category] ?? 0) + (measures.after[category] ?? 0)
}

/** Writes the code that gives the categories of a region. */
export function regionCode(name: string, region: Region): string {
  const conditions = region.flatMap(({ measure, low, high }) => {
    if (low !== null) return [`d.${measure} >= ${low}`, `d.${measure} <= ${high}`]
    // A missing value is NaN, which is not larger than anything.
    return [
      MEASURES[measure].kind === 'count' ? `d.${measure} <= ${high}` : `!(d.${measure} > ${high})`,
    ]
  })
  return `${name}.categories.table().filter((d) => ${conditions.join(' && ')})`
}
