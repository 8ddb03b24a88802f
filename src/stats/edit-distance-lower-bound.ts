// Computed for every pair before any distance is: the loops index with `!`.

/**
 * A lower bound of the edit distance in O(n + m): the larger of the difference in length and the
 * bag distance (the longer length less the tokens both have in common, counted with repetition).
 *
 * The bag distance is never the smaller of the two, so it is what is returned. It ignores order:
 * 0 for a sequence and its reverse.
 *
 * Source: Bartolini, Ciaccia and Patella 2002, "String matching with metric trees using an
 * approximate distance", SPIRE 2002, LNCS 2476:271-283.
 *
 * @example
 * editDistanceLowerBound([1, 2, 3, 4], [1, 3, 4, 5]) // 1
 */
export function editDistanceLowerBound(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const [shorter, longer] = a.length <= b.length ? [a, b] : [b, a]
  const unmatched = new Map<number, number>()
  for (let i = 0; i < shorter.length; i++) {
    unmatched.set(shorter[i]!, (unmatched.get(shorter[i]!) ?? 0) + 1)
  }
  let common = 0
  for (let i = 0; i < longer.length; i++) {
    const count = unmatched.get(longer[i]!) ?? 0
    if (count === 0) continue
    unmatched.set(longer[i]!, count - 1)
    common++
  }
  return longer.length - common
}
