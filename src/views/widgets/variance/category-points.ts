import { ascending, descending, least, max, min } from 'd3-array'
import { type Categories, squaredVariation } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import type { StructuralLabel } from '../../../compare/mutations/find-structural-mutations.ts'
import { formatDuration } from '../../../core/units.ts'
import { grouped } from '../../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { rootName } from '../../charts/node-names.ts'
import type { PlotBox } from '../../drawing/axis-lines.tsx'
import {
  type AxisScale,
  countScale,
  logDurationScale,
  logScale,
  shareScale,
} from '../../drawing/axis-scale.ts'

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
export interface CategoryPoints {
  /** `NaN` where a category has none: no mean without requests, no C² of a single one. */
  readonly measures: Readonly<Record<Measure, readonly number[]>>
  readonly names: readonly string[]
  /** Results of tests; `null` where the stage has none. */
  readonly tests: {
    readonly structural: readonly StructuralLabel[]
    /** Change of the number of requests, scaled if the comparison does. */
    readonly changes: readonly number[]
    /** p of the response times; `null` where there are too few requests for a test. */
    readonly p: readonly (number | null)[]
    /** Categories whose response times changed. */
    readonly responseTime: readonly number[]
  } | null
}

const MAX_NAME_LENGTH = 200

/** Takes counts, means and C² of all categories out of a stage. */
export function categoryPoints(
  categories: Categories,
  comparison: Comparison | null,
): CategoryPoints {
  const ids = Array.from({ length: categories.size }, (_, category) => category)
  const moments = (period: Period) =>
    ids.map((category) => categories.responseTimeMoments(category, period))
  const [before, after] = [moments(BEFORE), moments(AFTER)]
  return {
    names: ids.map((category) => rootName(categories, category, MAX_NAME_LENGTH)),
    measures: {
      before: before.map(({ count }) => count),
      after: after.map(({ count }) => count),
      beforeMeanUs: before.map(({ mean }) => mean),
      afterMeanUs: after.map(({ mean }) => mean),
      beforeC2: before.map((of) => squaredVariation(of)),
      afterC2: after.map((of) => squaredVariation(of)),
    },
    tests: comparison === null ? null : testsOf(comparison, ids),
  }
}

function testsOf({ structural, responseTime }: Comparison, ids: readonly number[]) {
  return {
    structural: ids.map((category) => structural.label(category)),
    changes: Array.from(structural.changes, (change) => Number(change.toPrecision(6))),
    p: ids.map((category) => {
      const { testable, p } = responseTime.test(category)
      return testable ? Number(p.toPrecision(3)) : null
    }),
    responseTime: responseTime.mutations,
  }
}

/** Returns the name of a category. */
export function nameOf({ names }: CategoryPoints, category: number): string {
  return names[category] ?? ''
}

/** Returns a measure of a category; `NaN` where it has none. */
export function measured({ measures }: CategoryPoints, measure: Measure, category: number): number {
  return measures[measure][category] ?? Number.NaN
}

/** Writes a measure as a person says it. */
export function measureText(measure: Measure, value: number): string {
  if (Number.isNaN(value)) return 'none'
  const { kind } = MEASURES[measure]
  return kind === 'count' ? grouped(value) : kind === 'time' ? formatDuration(value) : c2Text(value)
}

function c2Text(value: number): string {
  return String(Number(value.toPrecision(3)))
}

/** A category in the distribution of one period. */
export interface CurvePoint {
  readonly category: number
  readonly c2: number
  /** Share of the period's large categories that vary as little or less. */
  readonly share: number
}

/** Returns the distribution of C² over the large categories of one period, ascending. */
export function curveOf(data: CategoryPoints, period: Period, large: number): CurvePoint[] {
  const [count, c2] =
    period === BEFORE ? (['before', 'beforeC2'] as const) : (['after', 'afterC2'] as const)
  const found = data.names
    .map((_, category) => ({ category, c2: measured(data, c2, category) }))
    .filter((point) => measured(data, count, point.category) > large && !Number.isNaN(point.c2))
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
  const { kind } = MEASURES[measure]
  const values = MEASURE_NAMES.filter((other) => isSameKind(measure, other)).flatMap((other) =>
    data.measures[other].map((value) => value || 0),
  )
  const high = max(values) || 10
  if (kind === 'count') return countScale(max(values) ?? 0, { ticks })
  const low = min(values.filter((value) => value > 0)) ?? 1
  const extent = { low, high, ticks }
  const scale = kind === 'time' ? logDurationScale(extent) : logScale({ ...extent, text: c2Text })
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
}

/** A plot, its scales, and where the categories stand in it. */
export interface CategoryPlot {
  readonly width: number
  readonly height: number
  readonly box: PlotBox
  readonly x: AxisScale
  readonly y: AxisScale
  readonly spots: readonly Spot[]
}

/** The distribution, with the curves of both periods. */
export interface CurvesPlot extends CategoryPlot {
  readonly curves: readonly [readonly CurvePoint[], readonly CurvePoint[]]
}

const HEIGHT = 330
const MARGIN = { right: 14, top: 50, bottom: 40 } as const

function boxOf(width: number, left: number): PlotBox {
  const { right, top, bottom } = MARGIN
  return { left, top, width: Math.max(80, width - left - right), height: HEIGHT - top - bottom }
}

function ticksIn(width: number): number {
  return Math.max(3, Math.floor(width / 62))
}

function spotOf(category: number, box: PlotBox, [x, y]: readonly [number, number]): Spot {
  const rounded = (pixels: number) => Math.round(pixels * 10) / 10
  return {
    category,
    x: rounded(box.left + x * box.width),
    y: rounded(box.top + (1 - y) * box.height),
  }
}

/** Lays out the distribution of C². */
export function curvesPlot(data: CategoryPoints, large: number, width: number): CurvesPlot {
  const curves = [curveOf(data, BEFORE, large), curveOf(data, AFTER, large)] as const
  const box = boxOf(width, 48)
  const positive = curves.flat().flatMap(({ c2 }) => (c2 > 0 ? [c2] : []))
  const x = logScale({
    low: Math.min(0.1, ...positive),
    high: Math.max(10, ...positive),
    ticks: ticksIn(width),
    text: c2Text,
  })
  const spots = curves.flatMap((curve) =>
    curve.map(({ category, c2, share }) => spotOf(category, box, [x.share(c2), share])),
  )
  return { width, height: HEIGHT, box, x, y: shareScale(), curves, spots }
}

/** Lays out all categories by two measures. */
export function scatterPlot(data: CategoryPoints, [across, up]: Axes, width: number): CategoryPlot {
  const box = boxOf(width, 62)
  const x = measureScale(data, across, ticksIn(width))
  const y = measureScale(data, up, 7)
  const spots = data.names.map((_, category) =>
    spotOf(category, box, [
      x.share(measured(data, across, category)),
      y.share(measured(data, up, category)),
    ]),
  )
  return { width, height: HEIGHT, box, x, y, spots }
}

/** Distance in pixels beyond which a pointer is at no category. */
const REACH = 24

/** Returns the spot nearest to a point, if it is near. */
export function nearestSpot(
  spots: readonly Spot[],
  at: { readonly x: number; readonly y: number },
): Spot | undefined {
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
  const ordered = [...spots].sort(
    (a, b) =>
      (isUp
        ? descending(a.y, b.y) || ascending(a.x, b.x)
        : ascending(a.x, b.x) || descending(a.y, b.y)) || a.category - b.category,
  )
  if (key === 'End') return ordered.at(-1)
  if (key === 'Home' || from === undefined) return ordered[0]
  const step = key === 'ArrowRight' || key === 'ArrowUp' ? 1 : -1
  const place = ordered.findIndex(
    ({ category, x, y }) => category === from.category && x === from.x && y === from.y,
  )
  return ordered[Math.min(ordered.length - 1, Math.max(0, place + step))]
}

/** Values of one measure from `low` (`null`: from those that are 0 or missing) to `high`. */
export interface MeasureBounds {
  readonly measure: Measure
  readonly low: number | null
  readonly high: number
}

/** Categories within both bounds. */
export type Region = readonly [across: MeasureBounds, up: MeasureBounds]

/** Returns the bounds between two shares of an axis, rounded so that they can be written down. */
export function boundsBetween(
  measure: Measure,
  scale: AxisScale,
  shares: readonly [number, number],
): MeasureBounds {
  const low = scale.value(Math.min(...shares))
  const high = scale.value(Math.max(...shares))
  if (MEASURES[measure].kind === 'count') {
    return {
      measure,
      low: Math.ceil(low) > 0 ? Math.ceil(low) : null,
      high: Math.max(0, Math.floor(high)),
    }
  }
  return {
    measure,
    low: low > 0 ? Number(low.toPrecision(3)) : null,
    high: Number(high.toPrecision(3)),
  }
}

/** Returns the region between two points of the scatter, in pixels. */
export function regionBetween(
  { box, x, y }: CategoryPlot,
  [across, up]: Axes,
  [one, other]: readonly [Pick<Spot, 'x' | 'y'>, Pick<Spot, 'x' | 'y'>],
): Region {
  const clamped = (share: number) => Math.min(1, Math.max(0, share))
  const right = (at: number) => clamped((at - box.left) / box.width)
  const upward = (at: number) => clamped(1 - (at - box.top) / box.height)
  return [
    boundsBetween(across, x, [right(one.x), right(other.x)]),
    boundsBetween(up, y, [upward(one.y), upward(other.y)]),
  ]
}

/** Returns the smallest region that holds two categories, rounded outwards. */
export function regionAround(
  data: CategoryPoints,
  [across, up]: Axes,
  categories: readonly [number, number],
): Region {
  const bounds = (measure: Measure): MeasureBounds => {
    const values = categories.map((category) => measured(data, measure, category) || 0)
    const low = Math.min(...values)
    return {
      measure,
      low: low > 0 ? roundedTo(low, -1) : null,
      high: roundedTo(Math.max(...values), 1),
    }
  }
  return [bounds(across), bounds(up)]
}

/** Returns the nearest number of three digits that is not above (−1) or not below (1). */
function roundedTo(value: number, direction: 1 | -1): number {
  const near = Number(value.toPrecision(3))
  if (value === 0 || direction * (near - value) >= 0) return near
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2)
  return Number((near + direction * unit).toPrecision(3))
}

/** Returns the categories in a region, those with the most requests first. */
export function categoriesWithin(data: CategoryPoints, region: Region): readonly number[] {
  const requests = (category: number) =>
    measured(data, 'before', category) + measured(data, 'after', category)
  return [...data.names.keys()]
    .filter((category) =>
      region.every(({ measure, low, high }) => {
        const value = measured(data, measure, category)
        return low === null ? !(value > high) : value >= low && value <= high
      }),
    )
    .sort((a, b) => requests(b) - requests(a) || a - b)
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
