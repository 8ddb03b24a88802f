// Runs once a span, node or edge: the loops index with `!`.

import { groupRows } from '../traces/group-rows.ts'
import { CONSUMER, PRODUCER } from '../traces/span-columns.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import type { SpanClocks } from './clocks/clock-offsets.ts'
import { phaseOf, type TimeCuts } from './clocks/clock-resolution.ts'

export interface SpanCalls {
  readonly traces: SpanTraces
  /** The children of span `i` are entries `childOffsets[i]` to `childOffsets[i + 1]`. */
  readonly childOffsets: Uint32Array
  readonly children: Uint32Array
  /** Rows of spans that no loaded span called, in order. */
  readonly roots: Uint32Array
  readonly clocks: SpanClocks | undefined
  /** Start, never before the parent's. */
  readonly startUs: Float64Array
  readonly endUs: Float64Array
  /** 1 if the span itself says that its parent does not wait for it. */
  readonly detached: Uint8Array
  /** 1 where the span lies wholly outside its parent: asynchronous, or another clock. */
  readonly outside: Uint8Array
  readonly clampedStarts: number
  readonly outsideParent: number
}

/**
 * Indexes calls: a span that starts before its parent starts with it; one wholly outside is marked;
 * producers, consumers and those that only follow are detached.
 *
 * @param cuts what times are cut to, to be as coarse as in other recordings
 */
export function indexSpanCalls(
  traces: SpanTraces,
  clocks?: SpanClocks,
  cuts?: TimeCuts,
): SpanCalls {
  const { spans } = traces
  const { offsets: childOffsets, rows: children } = groupRows(spans.parent, spans.parent.length)
  const roots: number[] = []
  spans.parent.forEach((caller, span) => {
    if (caller < 0) roots.push(span)
  })
  const startUs = spans.startUs.slice()
  const endUs = spans.startUs.map((start, span) => start + spans.durationUs[span]!)
  const phaseUs = phaseOf(traces.epochNs)
  for (let span = 0; cuts !== undefined && span < startUs.length; span++) {
    const tickUs = cuts[spans.service[span]!]!
    if (tickUs === 0) continue
    const cut = (us: number) => tickUs * Math.floor((phaseUs + us) / tickUs) - phaseUs
    startUs[span] = cut(startUs[span]!)
    endUs[span] = cut(endUs[span]!)
  }
  const lengthUs = (span: number) =>
    cuts === undefined ? spans.durationUs[span]! : endUs[span]! - startUs[span]!
  const detached = new Uint8Array(startUs.length)
  const outside = new Uint8Array(startUs.length)
  const shiftUs = clocks && new Float64Array(startUs.length)
  let clampedStarts = 0
  let outsideParent = 0
  const pending = roots.slice()
  for (let caller = pending.pop(); caller !== undefined; caller = pending.pop()) {
    const callerStart = startUs[caller]!
    const callerEnd = endUs[caller]!
    const end = childOffsets[caller + 1]!
    for (let entry = childOffsets[caller]!; entry < end; entry++) {
      const span = children[entry]!
      const kind = spans.kind[span]
      if (shiftUs !== undefined) {
        const shift = shiftUs[caller]! - clocks!.aheadUs[span]!
        shiftUs[span] = shift
        startUs[span] = startUs[span]! + shift
        endUs[span] = endUs[span]! + shift
      }
      const start = startUs[span]!
      if (spans.followsFrom[span] === 1 || kind === PRODUCER || kind === CONSUMER) {
        detached[span] = 1
      }
      if (start >= callerEnd ? start > callerEnd : endUs[span]! < callerStart) {
        outside[span] = 1
        outsideParent++
      }
      if (start < callerStart) {
        if (endUs[span]! < callerStart) endUs[span] = callerStart + lengthUs(span)
        startUs[span] = callerStart
        clampedStarts++
      }
      pending.push(span)
    }
    if (end - childOffsets[caller]! > 1) {
      sortByStart(children.subarray(childOffsets[caller], end), startUs, endUs)
    }
  }
  return {
    traces,
    clocks,
    childOffsets,
    children,
    startUs,
    endUs,
    detached,
    outside,
    roots: Uint32Array.from(roots),
    clampedStarts,
    outsideParent,
  }
}

function sortByStart(rows: Uint32Array, startUs: Float64Array, endUs: Float64Array): void {
  let at = 1
  while (at < rows.length && startUs[rows[at - 1]!]! < startUs[rows[at]!]!) at++
  if (at < rows.length)
    rows.sort((a, b) => startUs[a]! - startUs[b]! || endUs[a]! - endUs[b]! || a - b)
}
