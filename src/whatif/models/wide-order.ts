// For calls with hundreds and thousands of children: the loops index with `!`.

/** Direct predecessors of nodes; nodes that wait for the same ones share one list. */
export interface WideOrder {
  readonly predecessors: readonly (readonly number[])[]
  readonly returnPredecessors: readonly number[]
  /** Nodes by start. */
  readonly order: Uint32Array
}

/**
 * The observed order of very many calls, in O(n log n) and the size of the lists that differ.
 *
 * Of all calls that are over before one begins, let k be the one that begins last: exactly those
 * precede directly that are not over before k begins. As later calls begin, so does k.
 *
 * Pairs that only a chain of overlaps within the slack would imply are kept.
 */
export function wideOrder(
  startUs: ArrayLike<number>,
  endUs: ArrayLike<number>,
  slackUs: number,
): WideOrder {
  const n = startUs.length
  const rows = Uint32Array.from({ length: n }, (_, i) => i)
  const order = rows
    .slice()
    .sort((a, b) => startUs[a]! - startUs[b]! || endUs[a]! - endUs[b]! || a - b)
  const placeOf = new Uint32Array(n)
  order.forEach((node, place) => {
    placeOf[node] = place
  })
  const byEnd = rows.slice().sort((a, b) => endUs[a]! - endUs[b]! || placeOf[a]! - placeOf[b]!)
  const predecessors: (readonly number[])[] = new Array(n)
  const followed = new Uint8Array(n)
  let frontier: readonly number[] = []
  /** Over within the slack, but not earlier in order: hardly any. */
  let held: number[] = []
  let over = 0
  let lastBegun = -1
  order.forEach((node, place) => {
    const beginsUs = startUs[node]! + slackUs
    while (over < n && endUs[byEnd[over]!]! <= beginsUs) held.push(byEnd[over++]!)
    if (held.length > 0) {
      const done = held.filter((other) => placeOf[other]! < place)
      held = held.filter((other) => placeOf[other]! >= place)
      if (done.length > 0) {
        for (const other of done) lastBegun = Math.max(lastBegun, placeOf[other]!)
        const lastBeginsUs = startUs[order[lastBegun]!]! + slackUs
        frontier = [...frontier, ...done].filter(
          (other) => placeOf[other]! >= lastBegun || endUs[other]! > lastBeginsUs,
        )
        for (const other of done) followed[other] = 1
      }
    }
    predecessors[node] = frontier
  })
  const returnPredecessors = Array.from(rows).filter((node) => followed[node] === 0)
  return { predecessors, returnPredecessors, order }
}
