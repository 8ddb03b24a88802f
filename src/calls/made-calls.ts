// Runs once a call of a request: the loops index with `!`.
import { group, sort, sum } from 'd3-array'
import { memoized } from '../core/remembered.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { isSame, type Operation } from '../flows/node-labels.ts'
import { NS } from '../flows/span-tree.ts'
import type { RandomSource } from '../stats/random.ts'
import { spanTimes } from './span-times.ts'
import { allVisits, callsOf, operationAt, type ShapeVisits } from './visits.ts'

/** Spans of an operation in a shape, and the calls of one kind that they make. */
export interface Made {
  readonly callers: readonly number[]
  readonly calls: readonly MadeSpans[]
}

interface MadeSpans {
  readonly caller: number
  readonly callee: Operation
  readonly span: number
  /** The span and all below it. */
  readonly below: readonly number[]
  /** Whether its caller records no side of it: the way there and back is in the caller's own time. */
  readonly isRemote: boolean
}

/** Calls that an operation makes itself: those to some callees. */
export class MadeCalls {
  readonly #flows: FlowSet
  readonly #after: Operation | null
  /** By shape. */
  readonly of: (shape: number) => Made

  /** @param after if given, waits cover only calls that begin once a call to this one is over */
  constructor(
    flows: FlowSet,
    of: Operation,
    isOne: (callee: Operation) => boolean,
    after: Operation | null = null,
  ) {
    this.#flows = flows
    this.#after = after
    this.of = memoized((shape) => madeBy(allVisits(flows).get(shape)!, of, isOne))
  }

  /**
   * Returns how long a request waits for each of its calls, with everything below, in µs; none if its times are
   * unknown.
   */
  waitedUs(request: number): number[] {
    const { calls } = this.of(this.#flows.shapeOf[request]!)
    if (calls.length === 0) return []
    const times = spanTimes(this.#flows)
    const [onPathNs, ns] = [times.onPath(request), times.of(request)]
    if (onPathNs.length === 0) return []
    const answered = calls.filter(
      ({ callee }) => this.#after !== null && isSame(callee, this.#after),
    )
    const fromNs = Math.min(...answered.map(({ span }) => ns[2 * span + 1]!))
    const isLater = ({ span }: MadeSpans) => this.#after === null || ns[2 * span]! >= fromNs
    return calls.filter(isLater).map(({ below }) => sum(below, (span) => onPathNs[span]!) / NS)
  }
}

function madeBy(shape: ShapeVisits, of: Operation, isOne: (callee: Operation) => boolean): Made {
  const callers: number[] = []
  const calls: MadeSpans[] = []
  for (let span = 0; span < shape.tree.size; span++) {
    if (!isSame(operationAt(shape, span), of)) continue
    callers.push(span)
    for (const { callee, span: own, isRemote } of callsOf(shape, span)) {
      if (!isOne(callee)) continue
      calls.push({ caller: span, callee, span: own, below: spansBelow(shape, own), isRemote })
    }
  }
  return { callers, calls }
}

function spansBelow({ tree: { firstChild } }: ShapeVisits, span: number): number[] {
  const below = [span]
  for (const one of below) {
    for (let child = firstChild[one]!; child < firstChild[one + 1]!; child++) below.push(child)
  }
  return below
}

/**
 * Sorts calls by their place among those of their caller: the first of each caller, then the second of each. Of calls
 * that start together, any comes first: by their ends, it would be the shortest.
 */
export function firstOfEach(
  calls: readonly MadeSpans[],
  times: ArrayLike<number>,
  random: RandomSource,
): readonly MadeSpans[] {
  const drawn = new Map(calls.map((call) => [call, random.next()]))
  const byStart = sort(
    calls,
    ({ span }) => times[2 * span],
    (call) => drawn.get(call),
  )
  const places = new Map(
    Array.from(group(byStart, ({ caller }) => caller).values()).flatMap((own) =>
      own.map((call, place) => [call, place]),
    ),
  )
  return sort(byStart, (call) => places.get(call))
}
