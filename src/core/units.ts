import { requireArgument } from './errors.ts'

/** A duration or an offset in microseconds. Fields that hold one end in `Us`. */
export type Microseconds = number

/** Units of durations, the smallest first. */
export const DURATION_UNITS: readonly (readonly [factor: number, unit: string])[] = [
  [1, 'µs'],
  [1e3, 'ms'],
  [1e6, 's'],
  [60e6, 'min'],
  [3600e6, 'h'],
]

/** Length in µs of every unit as it may be written. */
export const UNITS_US: ReadonlyMap<string, number> = new Map([
  ...DURATION_UNITS.map(([us, unit]) => [unit, us] as const),
  ...(['us', 'μs'] as const).map((unit) => [unit, 1] as const),
  ['ns', 1e-3],
])

/** Reads a duration as it is written, `1.5 ms`, in µs; `NaN` for anything else. */
export function readDuration(text: string): Microseconds {
  const [, size, unit = ''] = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-zµμ]+)$/i.exec(text.trim()) ?? []
  return Number((Number(size) * (UNITS_US.get(unit.toLowerCase()) ?? Number.NaN)).toPrecision(15))
}

/**
 * A duration in the unit a person would say it in, to three significant digits.
 *
 * @example
 * formatDuration(1042.4) // '1.04 ms'
 */
export function formatDuration(durationUs: Microseconds): string {
  requireArgument(
    'formatDuration(durationUs)',
    durationUs,
    typeof durationUs === 'number',
    'microseconds',
  )
  if (!Number.isFinite(durationUs)) return String(durationUs)
  const size = Math.abs(durationUs)
  // Less than a picosecond is what rounding leaves over.
  if (size < 1e-6) return '0 µs'
  const step = Math.max(
    0,
    DURATION_UNITS.findLastIndex(([factor]) => size >= factor),
  )
  const inUnit = ([factor]: readonly [number, string]) =>
    Number((durationUs / factor).toPrecision(3))
  const [here, next] = [
    DURATION_UNITS[step] as (typeof DURATION_UNITS)[number],
    DURATION_UNITS[step + 1],
  ]
  // Rounding can reach the next unit: 999.96 µs are 1 ms.
  if (next !== undefined && Math.abs(inUnit(here)) * here[0] >= next[0]) {
    return `${inUnit(next)} ${next[1]}`
  }
  return `${inUnit(here)} ${here[1]}`
}
