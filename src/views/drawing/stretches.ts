/** From when to when, in µs since the trace began. */
export type StretchUs = readonly [fromUs: number, toUs: number]

export function uncovered([fromUs, toUs]: StretchUs, others: readonly StretchUs[]): StretchUs[] {
  const free: StretchUs[] = []
  let at = fromUs
  for (const [startUs, endUs] of others.toSorted((a, b) => a[0] - b[0])) {
    if (at >= toUs) break
    if (startUs > at) free.push([at, Math.min(startUs, toUs)])
    at = Math.max(at, endUs)
  }
  if (at < toUs || fromUs === toUs) free.push([Math.min(at, toUs), toUs])
  return free
}

export function lengthUs(stretches: readonly StretchUs[]): number {
  return stretches.reduce((sum, [fromUs, toUs]) => sum + toUs - fromUs, 0)
}

export function joined(stretches: readonly StretchUs[]): StretchUs[] {
  const parts: [number, number][] = []
  for (const [fromUs, toUs] of stretches.toSorted((a, b) => a[0] - b[0])) {
    const last = parts.at(-1)
    if (last !== undefined && fromUs <= last[1]) last[1] = Math.max(last[1], toUs)
    else parts.push([fromUs, toUs])
  }
  return parts
}

/** Rounds all numbers within to thousandths: nanoseconds are as exact as any trace. */
export function toNanoseconds<T>(timesUs: T): T {
  const rounded = (value: unknown): unknown => {
    if (typeof value === 'number') return Math.round(value * 1e3) / 1e3
    return Array.isArray(value) ? value.map(rounded) : value
  }
  const entries = Object.entries(timesUs as object).map(([key, value]) => [key, rounded(value)])
  return Object.fromEntries(entries) as T
}
