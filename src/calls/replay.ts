// Runs once a span of a request: the loops index with `!`.
import { memoized } from '../core/remembered.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { callName, operationOf } from '../flows/node-labels.ts'
import { RECEIVED, type SpanTree, spanTree } from '../flows/span-tree.ts'
import { type SpanTimes, spanTimes } from './span-times.ts'

/** Changes to make to a recorded request, one entry a span. */
export interface Changed {
  /** Factor of its duration: 1 keeps it, 0 removes it. */
  readonly keep: ArrayLike<number>
  /** Time to add to that, in ns. */
  readonly moreNs: ArrayLike<number>
}

/**
 * Recomputes how long requests of spans would have taken if some of their spans had taken another time.
 *
 * A call keeps its distance from the end of the calls that were over before it, and its caller's end keeps its distance
 * from the last call it waited for. Unchanged requests keep their time. One object serves request after request.
 *
 * Source: Ostrowski, Mann, Sandler 2011, "Diagnosing latency in multi-tier black-box services", §3.
 */
export class Replay {
  readonly #flows: FlowSet
  readonly #times: SpanTimes
  /** By shape, 1 for spans of operations that requests wait for at times; others run alongside. */
  readonly #mayHold: (shape: number) => Uint8Array
  #calls = roomFor(64)

  constructor(flows: FlowSet) {
    this.#flows = flows
    this.#times = spanTimes(flows)
    const isHolding = waitedOperations(flows)
    this.#mayHold = memoized((shape) => {
      const codes = flows.shapes.labels(shape)
      return Uint8Array.from({ length: codes.length / 2 }, (_, span) =>
        Number(isHolding(codes[2 * span]!)),
      )
    })
  }

  /** Returns how long a request would have taken, in ns; NaN if its times are unknown. */
  durationNs(request: number, changed: Changed): number {
    return this.durationsNs(request, changed)[0] ?? Number.NaN
  }

  /**
   * Returns how long each span of a request would have taken, in ns, until the next call; empty if its times are
   * unknown.
   */
  durationsNs(request: number, { keep, moreNs }: Changed): Float64Array {
    const times = this.#times.of(request)
    if (times.length === 0) return UNKNOWN
    const tree = spanTree(this.#flows, this.#flows.shapeOf[request]!)
    const isWaitedFor = this.#times.waitedFor(request)
    const mayHold = this.#mayHold(this.#flows.shapeOf[request]!)
    if (tree.size > this.#calls.takes.length) this.#calls = roomFor(2 * tree.size)
    for (let span = tree.size - 1; span >= 0; span--) {
      const ns = this.#replaySpan(span, { tree, times, isWaitedFor, mayHold })
      this.#calls.takes[span] = Math.max(0, keep[span]! * ns + moreNs[span]!)
    }
    return this.#calls.takes.subarray(0, tree.size)
  }

  #replaySpan(span: number, recorded: Recorded): number {
    const { tree, times, isWaitedFor } = recorded
    const [startNs, endNs] = [times[2 * span]!, times[2 * span + 1]!]
    const lengthNs = endNs - startNs
    const count = this.#sortCalls(span, recorded)
    if (count === 0) return lengthNs
    const { byStart, byEnd, takes, ends } = this.#calls
    const only = byStart[0]!
    const onlyNs = times[2 * only + 1]! - times[2 * only]!
    // The caller may have another clock, on which the call lies elsewhere.
    if (count === 1 && tree.detached[only] === 0 && onlyNs <= lengthNs) {
      return lengthNs - onlyNs + takes[only]!
    }
    for (let i = 0; i < count; i++) ends[byStart[i]!] = Number.NaN
    /** When the last call that is over ended, as recorded and now, since the span began. */
    let [endedNs, nowNs, over] = [0, 0, 0]
    const passUntil = (ns: number) => {
      for (; over < count; over++) {
        const call = byEnd[over]!
        const thenNs = times[2 * call + 1]! - startNs
        // One that has not begun is not over, whatever the resolution of its clock.
        if (thenNs > ns + tree.slackNs[call]! || Number.isNaN(ends[call]!)) return
        endedNs = Math.max(endedNs, thenNs)
        nowNs = Math.max(nowNs, ends[call]!)
      }
    }
    for (let i = 0; i < count; i++) {
      const call = byStart[i]!
      const fromNs = times[2 * call]! - startNs
      passUntil(fromNs)
      ends[call] = nowNs + fromNs - endedNs + takes[call]!
    }
    passUntil(lengthNs)
    let takesNs = nowNs + lengthNs - endedNs
    for (; over < count; over++) {
      const call = byEnd[over]!
      const [fromNs, untilNs] = [times[2 * call]! - startNs, times[2 * call + 1]! - startNs]
      if (isWaitedFor[call] === 0 || fromNs >= lengthNs || untilNs <= lengthNs) continue
      // It outlives its caller, which waited for it until then.
      const beganNs = ends[call]! - takes[call]!
      takesNs = Math.max(beganNs, ends[call]! - (untilNs - lengthNs))
    }
    return takesNs
  }

  /**
   * Lists the calls of a span that it may wait for, by start and by end; receivers of its messages are not among them.
   */
  #sortCalls(span: number, { tree, times, mayHold }: Recorded): number {
    const { firstChild, detached } = tree
    let count = 0
    for (let child = firstChild[span]!; child < firstChild[span + 1]!; child++) {
      if (detached[child] === RECEIVED || mayHold[child] === 0) continue
      this.#calls.byStart[count] = child
      this.#calls.byEnd[count++] = child
    }
    if (count > 1) {
      const starts = this.#calls.byStart.subarray(0, count)
      starts.sort((a, b) => times[2 * a]! - times[2 * b]! || times[2 * a + 1]! - times[2 * b + 1]!)
      const ends = this.#calls.byEnd.subarray(0, count)
      ends.sort((a, b) => times[2 * a + 1]! - times[2 * b + 1]! || times[2 * a]! - times[2 * b]!)
    }
    return count
  }
}

const UNKNOWN = new Float64Array()

/** Returns arrays by span: its new duration, and its new end since its caller began. */
function roomFor(size: number) {
  return {
    takes: new Float64Array(size),
    ends: new Float64Array(size),
    byStart: new Uint32Array(size),
    byEnd: new Uint32Array(size),
  }
}

interface Recorded {
  readonly tree: SpanTree
  readonly times: ArrayLike<number>
  readonly isWaitedFor: ArrayLike<number>
  readonly mayHold: ArrayLike<number>
}

/** Tells by the code of its label whether any request waits for an operation. */
function waitedOperations(flows: FlowSet): (code: number) => boolean {
  const { shapes, shapeOf, labels, size } = flows
  const times = spanTimes(flows)
  const nameOf = memoized((code: number) => callName(operationOf(labels.get(code))))
  const names = new Set<string>()
  for (let request = 0; request < size; request++) {
    const codes = shapes.labels(shapeOf[request]!)
    times.waitedFor(request).forEach((is, span) => {
      if (is === 1) names.add(nameOf(codes[2 * span]!))
    })
  }
  return (code) => names.has(nameOf(code))
}
