/** JSON has no NaN and no infinity: what is not a number becomes `null`. */
export function numbers<K extends string>(values: Record<K, number>): Record<K, number | null> {
  const entries = Object.entries<number>(values)
  return Object.fromEntries(entries.map(([key, value]) => [key, finiteOrNull(value)])) as Record<
    K,
    number | null
  >
}

export function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
