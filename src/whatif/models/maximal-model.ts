import {
  directPredecessors,
  lastOnes,
  observedPrecedence,
  type PrecedenceBits,
} from './precedence-bits.ts'

/** When the children of one call began and were over, since it began itself; any unit. */
export interface ChildTimes {
  readonly startUs: ArrayLike<number>
  readonly endUs: ArrayLike<number>
  /** 1 for children that say themselves that nobody waits for them. */
  readonly detached?: ArrayLike<number>
}

export interface MaximalOptions {
  /** When the call replied. */
  readonly replyUs: number
  /** How much one child may overlap the next and still count as over before it. Default: 1. */
  readonly slackUs?: number
}

/** Everything that a single call can tell of the order of its children, numbered as they were given. */
export interface MaximalModel {
  /** Of each child, the children it waits for directly, ascending. */
  readonly predecessors: readonly (readonly number[])[]
  /** The children that the reply waits for directly, ascending. */
  readonly returnPredecessors: readonly number[]
  /** Children that the reply does not wait for: detached, or over only after it. */
  readonly asynchronous: readonly number[]
  /** From the end of the last predecessor, or the call's begin, to the child's start; may be < 0. */
  readonly preprocessingUs: Float64Array
  /** From the end of the last child that the reply waits for, or the call's begin, to the reply. */
  readonly ownReplyUs: number
}

/**
 * The maximal execution model of one call: whatever was over before something else began is taken
 * to be waited for, as are all that were over by the reply. What chains imply is left out (the
 * transitive reduction, after a closure, as the slack breaks transitivity).
 *
 * Children are ordered by start, then end, then number, and only a later one can follow, so that the
 * slack makes no circles. No child waits for an asynchronous one.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.3.
 *
 * @example
 * maximalModel({ startUs: [10, 12, 62], endUs: [30, 60, 90] }, { replyUs: 100 }).predecessors // [ [], [], [ 0, 1 ] ]
 */
export function maximalModel(
  { startUs, endUs, detached }: ChildTimes,
  { replyUs, slackUs = 1 }: MaximalOptions,
): MaximalModel {
  const at = (times: ArrayLike<number>, child: number) => times[child] as number
  const order = Array.from(startUs, (_, child) => child).sort(
    (a, b) => at(startUs, a) - at(startUs, b) || at(endUs, a) - at(endUs, b) || a - b,
  )
  const waits = (child: number) => detached?.[child] !== 1 && at(endUs, child) <= replyUs + slackUs
  const synchronous = order.filter(waits)
  const bits = observedPrecedence(
    synchronous.map((child) => at(startUs, child)),
    synchronous.map((child) => at(endUs, child)),
    slackUs,
  )
  const rows = Uint32Array.from(synchronous.keys())
  const predecessors: number[][] = order.map(() => [])
  directPredecessors(bits, rows).forEach((direct, row) => {
    predecessors[synchronous[row] as number] = named(direct, synchronous)
  })
  const asynchronous = order.filter((child) => !waits(child))
  for (const child of asynchronous) {
    const begunUs = at(startUs, child) + slackUs
    const over = [...rows].filter((row) => at(endUs, synchronous[row] as number) <= begunUs)
    predecessors[child] = named(withoutImplied(over, bits, synchronous.length), synchronous)
  }
  const returnPredecessors = named(lastOnes(bits, synchronous.length), synchronous)
  const lastEnd = (children: readonly number[]) =>
    children.length === 0 ? 0 : Math.max(...children.map((child) => at(endUs, child)))
  return {
    predecessors,
    returnPredecessors,
    asynchronous: asynchronous.sort((a, b) => a - b),
    preprocessingUs: Float64Array.from(
      predecessors,
      (before, child) => at(startUs, child) - lastEnd(before),
    ),
    ownReplyUs: replyUs - lastEnd(returnPredecessors),
  }
}

/** Those of `rows` that come before no other of them. */
function withoutImplied(rows: readonly number[], bits: PrecedenceBits, n: number): number[] {
  const words = (n + 31) >>> 5
  return rows.filter((a) =>
    rows.every((b) => (((bits[b * words + (a >>> 5)] as number) >>> (a & 31)) & 1) === 0),
  )
}

function named(rows: readonly number[], children: readonly number[]): number[] {
  return rows.map((row) => children[row] as number).sort((a, b) => a - b)
}
