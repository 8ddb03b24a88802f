import { extent } from 'd3-array'
import { scaleLinear, scaleLog } from 'd3-scale'
import { type Quantity, TIME } from '../../core/quantity.ts'
import { DURATION_UNITS } from '../../core/words.ts'
import type { SpecPart } from './chart-frame.ts'

export interface Axis {
  readonly scale: SpecPart & { readonly type?: string }
  readonly axis: SpecPart
  readonly domain: readonly [low: number, high: number]
}

export interface DurationExtent {
  readonly lowUs: number
  readonly highUs: number
  readonly title: string
  /** Quantity drawn instead of durations; its unit stands behind the title. Default: time. */
  readonly of?: Quantity
  readonly ticks?: number
  readonly nice?: boolean
}

const LOG_DURATIONS = DURATION_UNITS.slice(1, 3).reduce(
  (smaller, [factor, unit]) =>
    `datum.value >= ${factor} ? format(datum.value / ${factor}, ',~r') + ' ${unit}' : ${smaller}`,
  "format(datum.value, ',~r') + ' µs'",
)

export function linearDurationAxis({ lowUs, highUs, title, ...look }: DurationExtent): Axis {
  const { of = TIME, ticks = 6, nice = true } = look
  const high = highUs > lowUs ? highUs : lowUs + Math.max(1, Math.abs(lowUs) * 0.1)
  const size = Math.max(Math.abs(lowUs), Math.abs(high))
  const [factor, unit] = of === TIME ? axisUnit(size) : ([1, ''] as const)
  const label = `format(datum.value / ${factor}, ',~r')${of === TIME ? ` + ' ${unit}'` : ''}`
  const scale = scaleLinear().domain([lowUs / factor, high / factor])
  if (nice) scale.nice(ticks)
  const inUs = (value: number) => Number((value * factor).toPrecision(12))
  const [first, last] = scale.domain() as [number, number]
  const domain = nice ? ([inUs(first), inUs(last)] as const) : ([lowUs, high] as const)
  return {
    domain,
    scale: { domain: [...domain], zero: false, nice: false },
    axis: {
      title: titleIn(title, of),
      values: scale.ticks(ticks).map(inUs),
      labelExpr: `datum.value === 0 ? '0' : ${label}`,
    },
  }
}

/** Returns the unit of an axis up to `size` µs. */
export function axisUnit(size: number): readonly [factor: number, unit: string] {
  // Up to three minutes in seconds: ticks at tenths of a minute are no round times.
  const leastIn = (factor: number) => (factor > 1e6 ? 3 * factor : factor)
  return DURATION_UNITS.findLast(([factor]) => size >= leastIn(factor)) ?? [1, 'µs']
}

function titleIn(title: string, { unit }: Quantity): string {
  return unit === null || title === '' ? title : `${title} (${unit})`
}

/** Share of an axis for text beside the longest bar. */
const TEXT_ROOM = 0.2

/** Returns a linear axis of durations around 0 with room for a text at either end of a bar. */
export function durationAxisWithRoom(
  endsUs: readonly number[],
  extent: Omit<DurationExtent, 'lowUs' | 'highUs'>,
): Axis {
  const lowUs = Math.min(0, ...endsUs)
  const highUs = Math.max(0, ...endsUs)
  const margin = (highUs - lowUs) * TEXT_ROOM
  return linearDurationAxis({
    lowUs: lowUs < 0 ? lowUs - margin : 0,
    highUs: highUs > 0 || lowUs === 0 ? highUs + margin : 0,
    nice: false,
    ...extent,
  })
}

export function logDurationAxis({ lowUs, highUs, title, of = TIME }: DurationExtent): Axis {
  const axis = logAxis([lowUs, highUs], titleIn(title, of))
  if (of !== TIME) return axis
  const { format: _, ...plain } = axis.axis
  return { ...axis, axis: { ...plain, labelExpr: LOG_DURATIONS } }
}

/** Returns an axis of durations: logarithmic where the longest is more than `wide` times the shortest. */
export function durationAxis({ lowUs, highUs, ...rest }: DurationExtent, wide: number): Axis {
  return lowUs > 0 && highUs / lowUs > wide
    ? logDurationAxis({ lowUs: lowUs / 1.1, highUs: highUs * 1.1, ...rest })
    : linearDurationAxis({ lowUs, highUs, ...rest })
}

/** Returns a linear axis that ends where its domain does. */
export function plainAxis(domain: Axis['domain'], axis: SpecPart): Axis {
  return { domain, scale: { domain: [...domain], zero: false, nice: false }, axis }
}

export function logAxis([low, high]: readonly [number, number], title: string | null): Axis {
  return {
    domain: [low, high],
    scale: { type: 'log', domain: [low, high], nice: false },
    axis: { title, values: logTicks(low, high), format: ',~r' },
  }
}

/** Powers of ten between two positive numbers, denser or sparser where they are few or many. */
export function logTicks(low: number, high: number): number[] {
  const isShort = Math.log10(high / low) < 3
  return scaleLog()
    .domain([low, high])
    .ticks()
    .filter((tick) => (isShort ? /^[125]e/ : /^1e/).test(tick.toExponential()))
}

const BELOW_ZERO = -0.4

/** Returns a nearly logarithmic axis of counts from 0 to `largest`, with a place for 0. */
export function countAxis(largest: number, title: string): Axis {
  const high = Math.max(2, largest) * 1.25
  const values = [0, ...logTicks(1, high)]
  return {
    domain: [BELOW_ZERO, high],
    scale: { type: 'symlog', constant: 1, domain: [BELOW_ZERO, high], nice: false },
    axis: { title, values, format: ',d' },
  }
}

export const PERCENT = "format(datum.value * 100, '~r') + ' %'"

export function shareAxis(title: string | null, { room = 0 } = {}): Axis {
  return plainAxis([0, 1 + room], { title, values: [0, 0.2, 0.4, 0.6, 0.8, 1], labelExpr: PERCENT })
}

export function openShareAxis(domain: Axis['domain'], title: string | null): Axis {
  return plainAxis(domain, { title, tickCount: 6, labelExpr: PERCENT })
}

export type NumberExtent = ReturnType<typeof numberExtent>

const WIDE = 100
const MARGIN = 0.03

/** Returns the range of numbers; 0 to 1 without any. */
export function numberExtent(values: readonly number[]) {
  const isWhole = values.every(Number.isInteger)
  const [least, most] = extent(values)
  if (least === undefined) return { low: 0, high: 1, isLog: false, isWhole }
  if (least > 0 && most / least > WIDE) {
    const margin = (most / least) ** MARGIN
    return { low: least / margin, high: most * margin, isLog: true, isWhole }
  }
  const margin = most > least ? (most - least) * MARGIN : Math.max(1, Math.abs(least) * 0.1)
  return { low: least - margin, high: most + margin, isLog: false, isWhole }
}

export function movedAlong(
  { low, high, isLog }: Omit<NumberExtent, 'isWhole'>,
  value: number,
  share: number,
): number {
  return isLog ? value * (high / low) ** share : value + share * (high - low)
}

export function shareAlong(
  { low, high, isLog }: Omit<NumberExtent, 'isWhole'>,
  value: number,
): number {
  return isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)
}
