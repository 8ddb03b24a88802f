import type { SpecPart } from './chart-frame.ts'

/** Scale and axis for a field that holds durations in µs. */
export interface DurationAxis {
  readonly scale: SpecPart & { readonly type?: 'log' }
  readonly axis: SpecPart
  readonly domain: readonly [lowUs: number, highUs: number]
}

/** What an axis has to show. */
export interface DurationExtent {
  readonly lowUs: number
  readonly highUs: number
  readonly title: string
  /** About how many ticks fit; default 6. */
  readonly ticks?: number
  /** Begin and end at ticks; default true. */
  readonly nice?: boolean
}

const UNITS: readonly (readonly [factor: number, name: string])[] = [
  [1, 'µs'],
  [1e3, 'ms'],
  [1e6, 's'],
  [60e6, 'min'],
  [3600e6, 'h'],
]

/** Each decade in its own unit: 100 µs, 1 ms, 10 ms. Built from constants only. */
const LOG_LABELS = `datum.value >= 1e6 ? format(datum.value / 1e6, ',~r') + ' s' : datum.value >= 1e3 ? format(datum.value / 1e3, ',~r') + ' ms' : format(datum.value, ',~r') + ' µs'`

/** A linear axis of durations: all labels in the one unit that fits the largest, on round steps. */
export function linearDurationAxis({
  lowUs,
  highUs,
  title,
  ticks = 6,
  nice = true,
}: DurationExtent): DurationAxis {
  const high = highUs > lowUs ? highUs : lowUs + Math.max(1, Math.abs(lowUs) * 0.1)
  const size = Math.max(Math.abs(lowUs), Math.abs(high))
  const [factor, unit] = UNITS.findLast(([step]) => size >= step) ?? [1, 'µs']
  const step = roundStep((high - lowUs) / ticks / factor)
  const first = nice ? Math.floor(lowUs / factor / step) : Math.ceil(lowUs / factor / step)
  const last = nice ? Math.ceil(high / factor / step) : Math.floor(high / factor / step)
  const values = Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step * factor).toPrecision(12)),
  )
  const domain = [
    nice ? (values[0] as number) : lowUs,
    nice ? (values.at(-1) as number) : high,
  ] as const
  return {
    domain,
    scale: { domain: [...domain], zero: false, nice: false },
    axis: {
      ...{ title, values },
      labelExpr: `datum.value === 0 ? '0' : format(datum.value / ${factor}, ',~r') + ' ${unit}'`,
    },
  }
}

/** A logarithmic axis of durations, each label in its own unit; `lowUs` must be above 0. */
export function logDurationAxis({ lowUs, highUs, title }: DurationExtent): DurationAxis {
  const values = logTicks(lowUs, highUs)
  const domain = [lowUs, highUs] as const
  return {
    domain,
    scale: { type: 'log', domain: [...domain], nice: false },
    axis: { title, values, labelExpr: LOG_LABELS },
  }
}

/**
 * Powers of ten between two positive numbers; with 2 and 5 times these where they are few, and
 * every second, third, … power where they are many.
 */
export function logTicks(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low))
  const last = Math.ceil(Math.log10(high))
  const decades = Math.log10(high / low)
  const every = Math.max(1, Math.ceil(decades / 9))
  const steps = decades < 3 ? [1, 2, 5] : [1]
  const ticks: number[] = []
  for (let power = first; power <= last; power += every) {
    for (const step of steps) ticks.push(Number(`${step}e${power}`))
  }
  return ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9))
}

/** The smallest of 1, 2 and 5 times a power of ten that is at least `step`. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 5, 10].find((round) => round * power >= step * (1 - 1e-9)) ?? 10
  return Number((factor * power).toPrecision(6))
}
