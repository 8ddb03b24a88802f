/** A duration or an offset in microseconds. Fields that hold one end in `Us`. */
export type Microseconds = number

const STEPS: readonly (readonly [factor: number, unit: string])[] = [
  [1, 'µs'],
  [1e3, 'ms'],
  [1e6, 's'],
  [60e6, 'min'],
  [3600e6, 'h'],
]

/**
 * A duration in the unit a person would say it in, to three significant digits.
 *
 * @example
 * formatDuration(1042.4) // '1.04 ms'
 */
export function formatDuration(durationUs: Microseconds): string {
  if (!Number.isFinite(durationUs)) return String(durationUs)
  const size = Math.abs(durationUs)
  const [factor, unit] = STEPS.findLast(([step]) => size >= step) ?? [1, 'µs']
  const value = durationUs / factor
  return `${Number(value.toPrecision(3))} ${unit}`
}
