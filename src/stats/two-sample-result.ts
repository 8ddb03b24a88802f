/** What a difference after − before means for latencies. */
export type Direction = 'slower' | 'faster' | 'none'

/** What every test of two samples tells, whatever it compares. */
export interface TwoSampleResult {
  /** What was measured; each test says what it is. NaN when a sample is empty. */
  readonly statistic: number
  /** NaN when a sample is empty. */
  readonly p: number
  /** `'slower'` when after tends to larger values than before; each test says how it is told. */
  readonly direction: Direction
  /** How many finite values the sample has. */
  readonly beforeCount: number
  readonly afterCount: number
  /** How many values were NaN or infinite and left out. */
  readonly droppedBefore: number
  readonly droppedAfter: number
  /**
   * Whether the samples are large enough to be judged: `isTestable` of both counts, one rule for
   * all tests, so that a family has the same members whichever test is chosen.
   */
  readonly testable: boolean
}

/** The direction of a difference after − before. */
export function directionOf(difference: number): Direction {
  if (difference > 0) return 'slower'
  return difference < 0 ? 'faster' : 'none'
}
