import { formatDuration } from '../../../core/units.ts'
import { grouped } from '../../../core/words.ts'
import {
  type AxisScale,
  type AxisTick,
  countScale,
  logDurationScale,
  logScale,
} from '../../drawing/axis-scale.ts'
import { callCode } from '../../drawing/option-code.ts'
import {
  type Axes,
  MEASURES,
  type Measure,
  measured,
  type VariationData,
} from './variation-model.ts'

type Kind = 'count' | 'time' | 'variation'

/** What a measure is and in what it is measured. */
export const MEASURE_NAMES: Readonly<Record<Measure, string>> = {
  before: 'requests before',
  after: 'requests after',
  beforeMeanUs: 'mean response time before',
  afterMeanUs: 'mean response time after',
  beforeC2: 'C² before',
  afterC2: 'C² after',
}

const KINDS: Readonly<Record<Measure, Kind>> = {
  before: 'count',
  after: 'count',
  beforeMeanUs: 'time',
  afterMeanUs: 'time',
  beforeC2: 'variation',
  afterC2: 'variation',
}

/** Share of an axis that is set aside for categories with no value, or with 0. */
const NONE = 0.12

/** Whether two measures are the same thing in both periods: then equality is a diagonal. */
export function isSameKind(one: Measure, other: Measure): boolean {
  return KINDS[one] === KINDS[other]
}

/** The scale of a measure, the same for both periods. */
export function measureScale(data: VariationData, measure: Measure, ticks: number): AxisScale {
  const kind = KINDS[measure]
  const values = MEASURES.filter((other) => KINDS[other] === kind).flatMap((other) =>
    data.measures[other].map((value) => value ?? 0),
  )
  const high = values.reduce((most, value) => Math.max(most, value), 0)
  if (kind === 'count') return countScale(high, { ticks })
  const low = values.reduce((least, value) => (value > 0 ? Math.min(least, value) : least), high)
  const extent = high > 0 ? { low, high, ticks } : { low: 1, high: 10, ticks }
  const scale = kind === 'time' ? logDurationScale(extent) : logScale({ ...extent, text: c2Text })
  return values.every((value) => value > 0) ? scale : withNone(scale)
}

/** A place before the beginning of a logarithmic scale, for 0 and for nothing. */
function withNone({ ticks, share, value }: AxisScale): AxisScale {
  return {
    ticks: [{ value: 0, text: 'none' }, ...ticks.filter((tick) => !touchesNone(tick, share))],
    share: (at) => (at > 0 ? NONE + (1 - NONE) * share(at) : NONE / 4),
    value: (at) => (at < NONE * 0.75 ? 0 : value(Math.max(0, (at - NONE) / (1 - NONE)))),
  }
}

/** Whether a long number is so near the beginning that it would run into the word there. */
function touchesNone({ value, text }: AxisTick, share: AxisScale['share']): boolean {
  return text.length > 5 && share(value) < 0.06
}

/** A measure as it is said. */
export function measureText(measure: Measure, value: number): string {
  if (Number.isNaN(value)) return 'none'
  if (KINDS[measure] === 'count') return grouped(value)
  return KINDS[measure] === 'time' ? formatDuration(value) : c2Text(value)
}

/** C² to three digits. */
export function c2Text(value: number): string {
  return Number.isNaN(value) ? 'none' : String(Number(value.toPrecision(3)))
}

/** The values of one measure from `low` on (`null`: from those that are 0 or missing) to `high`. */
export interface MeasureBounds {
  readonly measure: Measure
  readonly low: number | null
  readonly high: number
}

/** Categories within both bounds. */
export type Region = readonly [across: MeasureBounds, up: MeasureBounds]

/** The bounds between two shares of an axis, rounded so that they can be written down. */
export function boundsBetween(
  measure: Measure,
  scale: AxisScale,
  [one, other]: readonly [number, number],
): MeasureBounds {
  const [low, high] = [Math.min(one, other), Math.max(one, other)].map(scale.value) as [
    number,
    number,
  ]
  if (KINDS[measure] === 'count') {
    const least = Math.max(0, Math.ceil(low))
    return { measure, low: least === 0 ? null : least, high: Math.max(0, Math.floor(high)) }
  }
  return {
    measure,
    low: low > 0 ? Number(low.toPrecision(3)) : null,
    high: Number(high.toPrecision(3)),
  }
}

/** The categories in a region, those with the most requests first. */
export function categoriesWithin(data: VariationData, region: Region): readonly number[] {
  const requests = (category: number) =>
    measured(data, 'before', category) + measured(data, 'after', category)
  return data.nameOf
    .map((_, category) => category)
    .filter((category) =>
      region.every(({ measure, low, high }) => {
        const value = measured(data, measure, category)
        return low === null ? !(value > high) : value >= low && value <= high
      }),
    )
    .sort((a, b) => requests(b) - requests(a) || a - b)
}

/** The call that shows the plots as they are. */
export function variationStateCode({ name, large }: VariationData, [across, up]: Axes): string {
  return callCode('exploreVariation', [name], {
    large: { value: large, usually: 10 },
    across: { value: across, usually: 'before' },
    up: { value: up, usually: 'after' },
  })
}

/**
 * The code that gives what is looked at: the edges of a category, or the categories of a region;
 * `null` where nothing is.
 */
export function variationCode(
  name: string,
  { pinned, region }: { readonly pinned: number | null; readonly region: Region | null },
): string | null {
  if (pinned !== null) return `${name}.responseTime.edgeTable(${pinned})`
  if (region === null) return null
  const conditions = region.flatMap(({ measure, low, high }) => {
    if (low !== null) return [`d.${measure} >= ${low}`, `d.${measure} <= ${high}`]
    // What is missing is NaN, which is not larger than anything.
    return [KINDS[measure] === 'count' ? `d.${measure} <= ${high}` : `!(d.${measure} > ${high})`]
  })
  return `${name}.categories.table().filter((d) => ${conditions.join(' && ')})`
}
