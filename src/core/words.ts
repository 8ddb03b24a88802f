import { formatDuration } from './units.ts'

/** A count with its noun: `1 request`, `1,602 categories`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`
}

/** A whole number with its thousands set apart. */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** A number of any size in three digits: `1,602`, `46.3`, `0.0626`; 0 for what is as good as 0. */
export function shortNumber(value: number): string {
  if (Math.abs(value) >= 100) return grouped(value)
  return Math.abs(value) < 1e-9 ? '0' : String(Number(value.toPrecision(3)))
}

/** A share as whole per cent; never `0 %` or `100 %` for what is only nearly so. */
export function percent(share: number): string {
  if (share > 0 && share < 0.005) return 'under 1 %'
  if (share < 1 && share > 0.995) return 'over 99 %'
  return `${Math.round(share * 100)} %`
}

/** A p-value as it is said: `p < 0.001`, `p = 0.043`. */
export function pValue(p: number, name: 'p' | 'q' = 'p'): string {
  if (p < 0.001) return `${name} < 0.001`
  if (p > 0.99) return `${name} > 0.99`
  return `${name} = ${Number(p.toPrecision(2))}`
}

/** A difference of durations with its sign: `+1.04 ms`, `−3 µs`. */
export function signedDuration(differenceUs: number): string {
  return `${differenceUs > 0 ? '+' : ''}${formatDuration(differenceUs).replace('-', '−')}`
}
