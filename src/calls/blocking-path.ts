// Runs once a span of a request: the loops index with `!`.
import { RECEIVED, type SpanTree } from '../flows/span-tree.ts'

/**
 * Finds the spans that a request waited for; one object serves request after request.
 *
 * From the end of the root back, follows the child that ended last, then the one that ended last before that child
 * began; the time between is their caller's own. A child that outlives its caller counts up to the caller's end. Leaves
 * out children that receive a message, and children that nobody waits for according to the flows. Children that only
 * end late stay: most of their time lies within their caller, or it failed and gave them up. The times on the path add
 * up to the duration of the root.
 *
 * Source: Zhang et al. 2022, "CRISP: critical path analysis of large-scale microservice
 * architectures", §3.
 */
export class BlockingPath {
  /** By node on the path, the node before it; -1 for others and for the first. */
  previous = new Int32Array(128)
  /**
   * By node, the time on the path since the node before it: before a call the caller's own, before a reply the span's.
   */
  nodeNs = new Float64Array(128)
  /** By node on the path, when that time was over, since the root began. */
  endedNs = new Float64Array(128)
  /** By span, the part of it that is on the path. */
  #hasFailed: (span: number) => boolean = () => false
  #fromNs = new Float64Array(64)
  #untilNs = new Float64Array(64)
  #byEnd = new Uint32Array(64)
  readonly #pending: number[] = []

  /**
   * @param times start and end of each span, in ns
   * @param hasFailed whether a span failed, and gave up what goes on
   */
  follow(tree: SpanTree, times: ArrayLike<number>, hasFailed: (span: number) => boolean): void {
    this.#reserve(tree.size)
    this.#hasFailed = hasFailed
    this.previous.fill(-1, 0, 2 * tree.size)
    this.nodeNs.fill(0, 0, 2 * tree.size)
    this.#fromNs[0] = times[0]!
    this.#untilNs[0] = times[1]!
    this.#pending.push(0)
    for (let span = this.#pending.pop(); span !== undefined; span = this.#pending.pop()) {
      this.#followSpan(span, tree, times)
    }
  }

  waitedFor(span: number): boolean {
    return this.previous[2 * span + 1]! >= 0
  }

  #followSpan(span: number, tree: SpanTree, times: ArrayLike<number>): void {
    const fromNs = this.#fromNs[span]!
    let untilNs = this.#untilNs[span]!
    let node = 2 * span + 1
    const count = this.#sortChildren(span, tree, times)
    const { slackNs } = tree
    let last = -1
    for (let i = 0; i < count; i++) {
      const child = this.#byEnd[i]!
      const startNs = times[2 * child]!
      const endNs = times[2 * child + 1]!
      const isOutside = last < 0 && startNs >= untilNs && endNs > untilNs
      const durationNs = endNs - startNs
      if (isOutside && count === 1 && durationNs <= untilNs - fromNs) {
        // On another clock, where only how long it took is known.
        node = this.#enter(child, node, {
          fromNs: startNs,
          untilNs: endNs,
          restNs: 0,
          atNs: untilNs,
        })
        untilNs -= durationNs
        break
      }
      if (isOutside || (last >= 0 && endNs > untilNs + Math.max(slackNs[child]!, slackNs[last]!)))
        continue
      const childUntilNs = Math.max(fromNs, Math.min(untilNs, endNs))
      const childFromNs = Math.min(childUntilNs, Math.max(fromNs, startNs))
      node = this.#enter(child, node, {
        fromNs: childFromNs,
        untilNs: childUntilNs,
        restNs: untilNs - childUntilNs,
        atNs: untilNs,
      })
      untilNs = childFromNs
      last = child
    }
    this.#arrive(node, 2 * span, untilNs - fromNs, untilNs)
  }

  /** Goes on from a child's reply to its call, which it returns. */
  #enter(
    child: number,
    node: number,
    { fromNs, untilNs, restNs, atNs }: Record<'fromNs' | 'untilNs' | 'restNs' | 'atNs', number>,
  ): number {
    this.#arrive(node, 2 * child + 1, restNs, atNs)
    this.#fromNs[child] = fromNs
    this.#untilNs[child] = untilNs
    this.#pending.push(child)
    return 2 * child
  }

  #arrive(node: number, previous: number, ns: number, endedNs: number): void {
    this.previous[node] = previous
    this.nodeNs[node] = ns
    this.endedNs[node] = endedNs
  }

  /**
   * Lists the children that a span may have waited for: the last to end first; of those that end together, the last to
   * start, or to be listed.
   */
  #sortChildren(span: number, tree: SpanTree, times: ArrayLike<number>): number {
    const { firstChild, detached } = tree
    const untilNs = this.#untilNs[span]!
    const byEnd = this.#byEnd
    let count = 0
    for (let child = firstChild[span]!; child < firstChild[span + 1]!; child++) {
      if (detached[child] === 0 || this.#mayWaitFor(child, span, tree, times))
        byEnd[count++] = child
    }
    if (count < 2) return count
    const endOf = (child: number) => Math.min(untilNs, times[2 * child + 1]!)
    byEnd
      .subarray(0, count)
      .sort((a, b) => endOf(b) - endOf(a) || times[2 * b]! - times[2 * a]! || b - a)
    return count
  }

  /** Whether a span may have waited for a child though flows have it that it does not. */
  #mayWaitFor(
    child: number,
    span: number,
    { detached, firstChild }: SpanTree,
    times: ArrayLike<number>,
  ): boolean {
    if (detached[child] === RECEIVED) return false
    const [startNs, endNs] = [times[2 * child]!, times[2 * child + 1]!]
    const untilNs = times[2 * span + 1]!
    if (endNs <= untilNs) return false
    const isOnly = firstChild[span + 1]! - firstChild[span]! === 1
    // An only child wholly outside may be on another clock.
    if (startNs >= untilNs) return isOnly
    return 2 * (untilNs - startNs) > endNs - startNs || this.#hasFailed(span)
  }

  #reserve(size: number): void {
    if (size <= this.#fromNs.length) return
    this.previous = new Int32Array(4 * size)
    this.nodeNs = new Float64Array(4 * size)
    this.endedNs = new Float64Array(4 * size)
    this.#fromNs = new Float64Array(2 * size)
    this.#untilNs = new Float64Array(2 * size)
    this.#byEnd = new Uint32Array(2 * size)
  }
}
