/** A share in percent, to two significant digits where that is less than a tenth: `3.4 %`. */
export function percent(share: number): string {
  const inPercent = 100 * share
  const size = Math.abs(inPercent)
  if (size >= 10) return `${Math.round(inPercent)} %`
  return `${Number(inPercent.toPrecision(2))} %`
}

/** A change in percent, with its sign. */
export function signedPercent(change: number): string {
  return `${change > 0 ? '+' : ''}${percent(change)}`
}

/** `3 of 400 (0.75 %)`. */
export function partOf(count: number, all: number): string {
  return `${count} of ${all}${all > 0 ? ` (${percent(count / all)})` : ''}`
}

/** The first names of a list, and how many more there are. */
export function firstOf(names: readonly string[], { most = 4, separator = ', ' } = {}): string {
  const left = names.length - most
  const shown = names.slice(0, most).join(separator)
  return left > 0 ? `${shown}${separator}and ${left} more` : shown
}
