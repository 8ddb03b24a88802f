import type { CsvTimeUnit } from './csv.ts'

/** Decimal places from a unit down to nanoseconds. */
const PLACES: Readonly<Record<CsvTimeUnit, number>> = { ns: 0, us: 3, ms: 6, s: 9 }

export function isTimeUnit(unit: string): unit is CsvTimeUnit {
  return Object.hasOwn(PLACES, unit)
}

/**
 * A time in decimal digits as digits of nanoseconds, which a double would not hold; the empty string
 * for anything else.
 */
export function nanosOfDigits(text: string, unit: CsvTimeUnit): string {
  const [, whole, fraction = ''] = /^\s*(\d+)(?:\.(\d*))?\s*$/.exec(text) ?? []
  if (whole === undefined) return ''
  const places = PLACES[unit]
  return whole + fraction.slice(0, places).padEnd(places, '0')
}
