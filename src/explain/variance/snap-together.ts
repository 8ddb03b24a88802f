/**
 * Values closer to each other than `within` as one value: what lies between them is rounding, and
 * must not tell two samples apart. A value is that of the least one it is no further from.
 *
 * @param within in the unit of the values; 0 changes nothing
 */
export function snapTogether(
  before: Float64Array,
  after: Float64Array,
  within: number,
): { before: Float64Array; after: Float64Array } {
  const ascending = Float64Array.from([...before, ...after]).sort()
  const snapped = new Map<number, number>()
  let first = Number.NEGATIVE_INFINITY
  for (const value of ascending) {
    if (!(value - first <= within)) first = value
    snapped.set(value, first)
  }
  const snap = (value: number) => snapped.get(value) ?? value
  return { before: before.map(snap), after: after.map(snap) }
}
