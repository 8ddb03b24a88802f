/**
 * The order of the children of one call: which wait for which, reduced to the pairs that no
 * longer chain implies. Children are numbered 0 to n − 1.
 */
export interface Precedence {
  /** `followers[i]` lists the children that start next after child `i`. */
  readonly followers: readonly (readonly number[])[]
  /** Children that wait for no sibling: the parent starts them. */
  readonly starters: readonly number[]
  /** Children that the parent's reply waits for directly. */
  readonly finishers: readonly number[]
}

/**
 * Closes a relation under transitivity and reduces it again to its covering pairs.
 *
 * @param order the children such that a child comes after all that precede it
 * @param precedes whether child `a` is over before child `b` begins
 * @param asynchronous whether the parent's reply does not wait for a child
 *
 * Candidates are visited latest first, so that whatever could stand between a child and an
 * earlier one is known already; ancestors are kept as bit sets. O(n² + n³/32) for n children.
 */
export function reducePrecedence(
  order: ArrayLike<number>,
  precedes: (a: number, b: number) => boolean,
  asynchronous: (child: number) => boolean,
): Precedence {
  const n = order.length
  const words = (n + 31) >>> 5
  const ancestors = new Uint32Array(n * words)
  const followers: number[][] = Array.from({ length: n }, () => [])
  const starters: number[] = []
  const awaited = new Uint8Array(n)
  for (let at = 0; at < n; at++) {
    const child = order[at] as number
    const row = child * words
    let waits = false
    for (let earlier = at - 1; earlier >= 0; earlier--) {
      const other = order[earlier] as number
      const word = row + (other >>> 5)
      if (((ancestors[word] as number) >>> (other & 31)) & 1) continue
      if (!precedes(other, child)) continue
      followers[other]?.push(child)
      waits = true
      for (let w = 0; w < words; w++) {
        ancestors[row + w] =
          (ancestors[row + w] as number) | (ancestors[other * words + w] as number)
      }
      ancestors[word] = (ancestors[word] as number) | (1 << (other & 31))
    }
    if (!waits) starters.push(child)
  }
  for (let child = 0; child < n; child++) {
    if (asynchronous(child)) continue
    for (let other = 0; other < n; other++) {
      const bit = (ancestors[child * words + (other >>> 5)] as number) >>> (other & 31)
      if (bit & 1) awaited[other] = 1
    }
  }
  const finishers: number[] = []
  for (let child = 0; child < n; child++) {
    if (awaited[child] === 0 && !asynchronous(child)) finishers.push(child)
  }
  return { followers, starters, finishers }
}
