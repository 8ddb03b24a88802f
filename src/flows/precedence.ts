// Runs once a span, node or edge: the loops index with `!`.
/** Waits among the children of one call, 0 to n − 1, without those that chains imply. */
export interface Precedence {
  /** `followers[i]` lists the children that start next after child `i`. */
  readonly followers: readonly (readonly number[])[]
  /** Children that wait for no sibling: the parent starts them. */
  readonly starters: readonly number[]
  /** Children that the parent's reply waits for directly. */
  readonly finishers: readonly number[]
  /** Number of children that nothing waits for: neither a sibling nor the parent's reply. */
  readonly unawaited: number
}

/** Completes a precedence with the children that the reply waits for. */
export function precedenceOf(
  { followers, starters }: Pick<Precedence, 'followers' | 'starters'>,
  order: ArrayLike<number>,
  asynchronous: (child: number) => boolean,
): Precedence {
  const finishers = finishersOf(followers, order, asynchronous)
  const isUnawaited = (next: readonly number[], child: number) =>
    next.length === 0 && !finishers.includes(child)
  return { followers, starters, finishers, unawaited: followers.filter(isUnawaited).length }
}

/**
 * Closes a relation under transitivity and reduces it to covering pairs. Candidates are visited
 * latest first, ancestors kept as bit sets: O(n² + n³/32) for n children.
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
  for (let at = 0; at < n; at++) {
    const child = order[at]!
    const row = child * words
    let waits = false
    for (let earlier = at - 1; earlier >= 0; earlier--) {
      const other = order[earlier]!
      const word = row + (other >>> 5)
      if ((ancestors[word]! >>> (other & 31)) & 1) continue
      if (!precedes(other, child)) continue
      followers[other]?.push(child)
      waits = true
      for (let w = 0; w < words; w++) {
        ancestors[row + w] = ancestors[row + w]! | ancestors[other * words + w]!
      }
      ancestors[word] = ancestors[word]! | (1 << (other & 31))
    }
    if (!waits) starters.push(child)
  }
  return precedenceOf({ followers, starters }, order, asynchronous)
}

/** The children of one call by their times, sorted by start, then end. */
interface Intervals {
  readonly startUs: ArrayLike<number>
  readonly endUs: ArrayLike<number>
  /** Largest overlap with the next interval at which one still counts as over before it. */
  readonly slackUs: number
}

/**
 * Returns the result of `reducePrecedence` for intervals, in O(n log n) and the size of the result. Keeps pairs that
 * are implied only by overlaps within the slack.
 */
export function intervalPrecedence(
  intervals: Intervals,
  asynchronous: (child: number) => boolean,
): Precedence {
  const followers = Array.from(intervals.startUs, (): number[] => [])
  const starters: number[] = []
  intervalPredecessors(intervals).forEach((before, child) => {
    if (before.length === 0) starters.push(child)
    for (const other of before) followers[other]?.push(child)
  })
  const order = Uint32Array.from(followers.keys())
  return precedenceOf({ followers, starters }, order, asynchronous)
}

/**
 * Returns the intervals that each one waits for directly; equal lists are shared. Of all intervals over before child j
 * begins, let k begin last: then exactly k, and those not over before k begins, precede j directly. Later children
 * never need the others again.
 */
export function intervalPredecessors({ startUs, endUs, slackUs }: Intervals) {
  const n = startUs.length
  const byEnd = Uint32Array.from({ length: n }, (_, i) => i).sort(
    (a, b) => endUs[a]! - endUs[b]! || a - b,
  )
  const predecessors: (readonly number[])[] = new Array(n)
  let frontier: readonly number[] = []
  /** Over already, but not before a child that begins earlier or with it: of hardly any length. */
  let held: number[] = []
  let over = 0
  let lastBegun = -1
  for (let child = 0; child < n; child++) {
    const beginsUs = startUs[child]! + slackUs
    while (over < n && endUs[byEnd[over]!]! <= beginsUs) held.push(byEnd[over++]!)
    const done = held.filter((other) => other < child)
    if (done.length > 0) {
      held = held.filter((other) => other >= child)
      for (const other of done) lastBegun = Math.max(lastBegun, other)
      const lastBeginsUs = startUs[lastBegun]! + slackUs
      frontier = [...frontier, ...done].filter(
        (other) => other >= lastBegun || endUs[other]! > lastBeginsUs,
      )
    }
    predecessors[child] = frontier
  }
  return predecessors
}

/** Returns the children that the reply waits for, and no child that it waits for follows, ascending. */
function finishersOf(
  followers: readonly (readonly number[])[],
  order: ArrayLike<number>,
  asynchronous: (child: number) => boolean,
): number[] {
  const awaited = new Uint8Array(followers.length)
  const finishers: number[] = []
  for (let at = order.length - 1; at >= 0; at--) {
    const child = order[at]!
    const next = followers[child]!
    if (next.some((other) => !asynchronous(other) || awaited[other] === 1)) awaited[child] = 1
    else if (!asynchronous(child)) finishers.push(child)
  }
  return finishers.sort((a, b) => a - b)
}
