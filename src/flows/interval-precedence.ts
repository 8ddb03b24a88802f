import type { Precedence } from './precedence.ts'

/** The children of one call by their times, sorted by start, then end. */
export interface Intervals {
  readonly startUs: ArrayLike<number>
  readonly endUs: ArrayLike<number>
  /** How much one may overlap the next and still count as over before it. */
  readonly slackUs: number
}

/**
 * The covering pairs of intervals, for calls with very many children: what `reducePrecedence`
 * finds, in O(n log n) and the size of the result.
 *
 * Of all children that are over before child j begins, let k be the one that begins last. Then
 * exactly those precede j directly that are not over before k begins, and k itself. As j begins
 * later, so does k; whoever is over before some k is never needed again.
 *
 * Pairs that only a chain of overlaps within the slack would imply are kept.
 */
export function intervalPrecedence(
  { startUs, endUs, slackUs }: Intervals,
  asynchronous: (child: number) => boolean,
): Precedence {
  const n = startUs.length
  const byEnd = Uint32Array.from({ length: n }, (_, i) => i).sort(
    (a, b) => (endUs[a] as number) - (endUs[b] as number) || a - b,
  )
  const followers: number[][] = Array.from({ length: n }, () => [])
  const starters: number[] = []
  let frontier: number[] = []
  /** Over already, but not before a child that begins earlier or with it: of hardly any length. */
  let held: number[] = []
  let over = 0
  let lastBegun = -1
  for (let child = 0; child < n; child++) {
    const beginsUs = (startUs[child] as number) + slackUs
    while (over < n && (endUs[byEnd[over] as number] as number) <= beginsUs) {
      held.push(byEnd[over++] as number)
    }
    const done = held.filter((other) => other < child)
    held = held.filter((other) => other >= child)
    for (const other of done) {
      frontier.push(other)
      if (other > lastBegun) lastBegun = other
    }
    const grown = done.length > 0
    if (grown) {
      const lastBeginsUs = (startUs[lastBegun] as number) + slackUs
      frontier = frontier.filter(
        (other) => other >= lastBegun || (endUs[other] as number) > lastBeginsUs,
      )
    }
    for (const other of frontier) followers[other]?.push(child)
    if (frontier.length === 0) starters.push(child)
  }
  return { followers, starters, finishers: finishersOf(followers, asynchronous) }
}

/** The children that the reply waits for, and no child that it waits for follows. */
function finishersOf(
  followers: readonly (readonly number[])[],
  asynchronous: (child: number) => boolean,
): number[] {
  const awaited = new Uint8Array(followers.length)
  const finishers: number[] = []
  for (let child = followers.length - 1; child >= 0; child--) {
    const next = followers[child] as readonly number[]
    if (next.some((other) => !asynchronous(other) || awaited[other] === 1)) awaited[child] = 1
    else if (!asynchronous(child)) finishers.push(child)
  }
  return finishers.reverse()
}
