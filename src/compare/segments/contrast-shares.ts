// Fits eight cells of counts: the loops index with `!`.
import { sum } from 'd3-array'
import { normalP } from '../../stats/distributions.ts'

/** Requests inside or outside a segment, and their measures. */
export interface SegmentSide {
  readonly before: number
  readonly after: number
  /** Mean time in µs, the slowest hundredth cut, or share of requests. */
  readonly beforeMean: number
  readonly afterMean: number
  /** after − before within strata. */
  readonly change: number
  /** Standard error of the change, if requests were independent. */
  readonly error: number
}

/** Whether shares changed by another difference, and by another factor of their odds. */
export function contrastPs(
  inside: SegmentSide,
  outside: SegmentSide,
): [difference: number, factor: number] {
  const error = Math.hypot(errorOf(inside), errorOf(outside))
  return [
    normalP((inside.change - outside.change) / error, 'two-sided'),
    normalP(Math.sqrt(interactionG(inside, outside)), 'two-sided'),
  ]
}

/** Returns the standard error of the difference of shares; half a request is added to each count. */
function errorOf({ before, after, beforeMean, afterMean }: SegmentSide): number {
  const variance = (all: number, share: number) =>
    ((all * share + 0.5) * (all * (1 - share) + 0.5)) / (all + 1) ** 3
  return Math.sqrt(variance(before, beforeMean) + variance(after, afterMean))
}

/**
 * Shares before are drawn to that of both sides, as two requests counted at it would: of as rare
 * things, shares of segments differ by a factor of about two.
 */
const USUAL = 2

/** Rounds of fitting, enough for counts of any size. */
const ROUNDS = 50

/**
 * Returns the likelihood ratio of a common odds ratio against two: χ² with one degree of freedom. Counts are fitted by
 * their margins (Deming and Stephan 1940). Two or three failures before cannot rule out that failures inside are as
 * usual there. That is unlikely, so shares before are drawn to each other.
 */
function interactionG(inside: SegmentSide, outside: SegmentSide): number {
  // An event that never happened before had half a chance to.
  const made = sum([inside, outside], (side) => side.before * side.beforeMean) + 0.5
  const usual = made / (inside.before + outside.before + 1)
  const seen = [inside, outside].flatMap(({ before, after, beforeMean, afterMean }) => [
    before * (1 - beforeMean) + USUAL / usual - USUAL,
    before * beforeMean + USUAL,
    after * (1 - afterMean),
    after * afterMean,
  ])
  const fitted = seen.map(() => 1)
  for (let round = 0; round < ROUNDS; round++) {
    // Cells that differ in one of side, period and outcome share a margin.
    for (const bit of [1, 2, 4]) {
      for (let cell = 0; cell < 8; cell++) {
        if (cell & bit) continue
        const [one, two] = [cell, cell | bit] as const
        const scale = (seen[one]! + seen[two]!) / (fitted[one]! + fitted[two]!)
        fitted[one] = scale > 0 ? fitted[one]! * scale : 0
        fitted[two] = scale > 0 ? fitted[two]! * scale : 0
      }
    }
  }
  const terms = seen.map((count, i) => (count > 0 ? count * Math.log(count / fitted[i]!) : 0))
  return Math.max(0, 2 * sum(terms))
}
