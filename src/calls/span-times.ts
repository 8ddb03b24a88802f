// Runs once a span of a request: the loops index with `!`.
import { remembered } from '../core/remembered.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { isGivenUp, NS, type SpanTree, spanTree } from '../flows/span-tree.ts'
import { BlockingPath } from './blocking-path.ts'
import type { OutgoingCall, Visit } from './visits.ts'

type CallSides = Pick<OutgoingCall, 'span' | 'called'>

/**
 * When the spans of every request began and ended, and where its time went: what happened, read once.
 *
 * Spans are those of the request's shape, in its order. Times are ns since the request began, whole
 * numbers, so that sums are exact. A request whose latencies are not known, as in some snapshots, has
 * no times: its lists are empty.
 */
export class SpanTimes {
  readonly #flows: FlowSet
  readonly #offsets: Uint32Array
  readonly #ns: Float64Array
  readonly #pathNs: Float64Array
  readonly #isWaitedFor: Uint8Array
  readonly #path = new BlockingPath()
  /** One view of the times serves all that measure a request. */
  #lastRequest = -1
  #lastTimes: Float64Array = new Float64Array()

  constructor(flows: FlowSet) {
    const { shapeOf, size } = flows
    this.#flows = flows
    this.#offsets = new Uint32Array(size + 1)
    for (let request = 0; request < size; request++) {
      const tree = spanTree(flows, shapeOf[request]!)
      const isKnown = flows.latencies(request).length === tree.from.length
      this.#offsets[request + 1] = this.#offsets[request]! + (isKnown ? tree.size : 0)
    }
    const spans = this.#offsets[size]!
    this.#ns = new Float64Array(2 * spans)
    this.#pathNs = new Float64Array(spans)
    this.#isWaitedFor = new Uint8Array(spans)
    for (let request = 0; request < size; request++) {
      const first = this.#offsets[request]!
      if (first === this.#offsets[request + 1]) continue
      const tree = spanTree(flows, shapeOf[request]!)
      readTimesNs(tree, flows.latencies(request), this.of(request))
      const path = this.follow(request)
      for (let span = 0; span < tree.size; span++) {
        this.#isWaitedFor[first + span] = Number(path.waitedFor(span))
        this.#pathNs[first + span]! += path.nodeNs[2 * span + 1]!
        if (span > 0) this.#pathNs[first + tree.parent[span]!]! += path.nodeNs[2 * span]!
      }
    }
  }

  /** Returns when each span began (entry `2k`) and ended (`2k + 1`). */
  of(request: number): Float64Array {
    if (this.#lastRequest !== request) {
      this.#lastTimes = this.#ns.subarray(
        2 * this.#offsets[request]!,
        2 * this.#offsets[request + 1]!,
      )
      this.#lastRequest = request
    }
    return this.#lastTimes
  }

  /** Returns the time of a span that some others do not cover, until it ends or nobody waits any more. */
  uncoveredNs(
    request: number,
    span: number,
    others: readonly number[],
    until = this.of(request)[2 * span + 1]!,
  ): number {
    const times = this.of(request)
    const start = times[2 * span]!
    return until - start - coveredNs(times, others, start, until)
  }

  /** Returns when a visit ends, or is given up by its caller, who failed: nothing failed but to be in time. */
  endsNs(request: number, { entry, atCaller }: Visit): number {
    const times = this.of(request)
    const end = times[2 * entry + 1]!
    const overUs = (end - times[2 * atCaller + 1]!) / NS
    return isGivenUp(this.#flows, request, { caller: atCaller, overUs })
      ? times[2 * atCaller + 1]!
      : end
  }

  /**
   * Returns the time of a call beyond that from the first start to the last end at its callee, whose clock may differ.
   */
  wayNs(request: number, call: CallSides): number {
    if (call.called.length > 0) {
      const [there, back] = this.waysNs(request, call)
      return there + back
    }
    return this.of(request)[2 * call.span + 1]! - this.of(request)[2 * call.span]!
  }

  /**
   * Returns the time from a call's start to the first start at its callee, and from the last end there to the call's
   * end.
   */
  waysNs(request: number, { span, called }: CallSides): readonly [there: number, back: number] {
    const times = this.of(request)
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const one of called) {
      first = Math.min(first, times[2 * one]!)
      last = Math.max(last, times[2 * one + 1]!)
    }
    return [first - times[2 * span]!, times[2 * span + 1]! - last]
  }

  /** Follows the path of a request, node by node; the result changes with the next call. */
  follow(request: number): BlockingPath {
    const { outcomes, shapeOf } = this.#flows
    const hasFailed = (span: number) => outcomes?.failed(request, span) === true
    this.#path.follow(spanTree(this.#flows, shapeOf[request]!), this.of(request), hasFailed)
    return this.#path
  }

  /** Returns, by span, its own time on the path of its request: these add up to the response time. */
  onPath(request: number): Float64Array {
    return this.#pathNs.subarray(this.#offsets[request]!, this.#offsets[request + 1]!)
  }

  /** Returns, by span, 1 if its request waited for it. */
  waitedFor(request: number): Uint8Array {
    return this.#isWaitedFor.subarray(this.#offsets[request]!, this.#offsets[request + 1]!)
  }
}

/** Returns the times of spans, read once for all that ask. */
export const spanTimes = remembered((flows: FlowSet) => new SpanTimes(flows))

/** Reads when spans start (entry `2k`) and end (`2k + 1`). */
function readTimesNs(
  { order, timedBy, from }: SpanTree,
  latencyUs: Float64Array,
  times: Float64Array,
): void {
  for (const node of order) {
    const edge = timedBy[node]!
    times[node] = edge < 0 ? 0 : times[from[edge]!]! + Math.round(latencyUs[edge]! * NS)
  }
}

/** Returns the time between two moments that any of some spans covers. */
export function coveredNs(
  times: ArrayLike<number>,
  spans: readonly number[],
  start: number,
  end: number,
): number {
  let covered = 0
  let reached = start
  for (const span of spans.toSorted((a, b) => times[2 * a]! - times[2 * b]!)) {
    const from = Math.max(reached, times[2 * span]!)
    const until = Math.min(end, times[2 * span + 1]!)
    if (until <= from) continue
    covered += until - from
    reached = until
  }
  return covered
}
