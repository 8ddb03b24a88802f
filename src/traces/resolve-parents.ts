import type { QualityLog } from './quality.ts'
import { SharedSpanIds, type SpanSides } from './shared-span-ids.ts'
import type { SpanIds } from './span-ids.ts'
import { SpanIndex } from './span-index.ts'
import { NO_PARENT, PARENT_MISSING } from './span-traces.ts'

/** Spans as they arrived: a trace, two ids, and what tells the halves of a call apart. */
interface ArrivedSpans extends SpanSides {
  readonly trace: Uint32Array
  readonly traceCount: number
  readonly traceId: (trace: number) => string
  readonly parentIds: SpanIds
}

/** Spans grouped by trace, with rows for parents. */
interface GroupedSpans {
  /** Arrival number of each kept span, the spans of a trace next to each other. */
  readonly order: Uint32Array
  /** Row of each arrived span, or -1 if it was left out. */
  readonly position: Int32Array
  readonly parent: Int32Array
  /** The traces kept, in order of first appearance. */
  readonly traces: Uint32Array
  readonly spanOffsets: Uint32Array
}

const LEFT_OUT = -1

/**
 * Groups spans by trace and finds each one's parent. A client and a server with one id are told
 * apart, any other second span with the same id is left out, a trace whose parents run in a circle
 * is left out whole, a span whose parent is missing becomes a root of its own; each is noted.
 */
export function resolveParents(spans: ArrivedSpans, quality: QualityLog): GroupedSpans {
  const { byTrace, starts } = groupByTrace(spans)
  const index = new SpanIndex(spans.ids)
  const position = new Int32Array(spans.trace.length).fill(LEFT_OUT)
  const order = new Uint32Array(spans.trace.length)
  const parent = new Int32Array(spans.trace.length)
  const traces: number[] = []
  const spanOffsets = [0]
  let kept = 0
  for (let trace = 0; trace < spans.traceCount; trace++) {
    const members = byTrace.subarray(starts[trace], starts[trace + 1])
    const first = kept
    const shared = indexSpans(spans, members, index)
    for (const row of members) {
      if (shared?.copies.has(row)) noteDuplicate(spans, row, quality)
      else {
        order[kept] = row
        position[row] = kept++
      }
    }
    let orphans = 0
    for (let at = first; at < kept; at++) {
      const found = parentRow(spans, order[at] as number, index, shared)
      if (found === PARENT_MISSING) orphans++
      parent[at] = found < 0 ? found : (position[found] as number)
    }
    if (hasCircle(parent, first, kept)) {
      noteCircle(spans.traceId(trace), quality)
      for (let at = first; at < kept; at++) position[order[at] as number] = LEFT_OUT
      kept = first
      continue
    }
    if (orphans > 0) noteOrphans(spans.traceId(trace), orphans, quality)
    traces.push(trace)
    spanOffsets.push(kept)
  }
  return {
    order: order.slice(0, kept),
    position,
    parent: parent.slice(0, kept),
    traces: Uint32Array.from(traces),
    spanOffsets: Uint32Array.from(spanOffsets),
  }
}

/** Fills `index` with one trace's spans; gives what was found out about ids that repeat, if any. */
function indexSpans(
  spans: ArrivedSpans,
  members: Uint32Array,
  index: SpanIndex,
): SharedSpanIds | undefined {
  let repeats: Map<number, number[]> | undefined
  index.reset(members.length)
  for (const row of members) {
    const first = index.add(row)
    if (first < 0) continue
    repeats ??= new Map()
    const others = repeats.get(first)
    if (others === undefined) repeats.set(first, [row])
    else others.push(row)
  }
  return repeats === undefined ? undefined : new SharedSpanIds(spans, repeats)
}

/** The arrival number of a span's parent, or `NO_PARENT`, or `PARENT_MISSING`. */
function parentRow(
  { parentIds }: ArrivedSpans,
  row: number,
  index: SpanIndex,
  shared: SharedSpanIds | undefined,
): number {
  const client = shared?.clientOf(row)
  if (client !== undefined) return client
  if (parentIds.isNone(row)) return NO_PARENT
  const found = index.find(parentIds, row)
  if (found < 0) return PARENT_MISSING
  return shared === undefined ? found : shared.parentAmong(found, row)
}

/** Counting sort: the arrival numbers of each trace's spans, in order of arrival. */
function groupByTrace({ trace, traceCount }: ArrivedSpans) {
  const starts = new Uint32Array(traceCount + 1)
  for (const t of trace) starts[t + 1] = (starts[t + 1] as number) + 1
  for (let t = 0; t < traceCount; t++) {
    starts[t + 1] = (starts[t + 1] as number) + (starts[t] as number)
  }
  const next = starts.slice()
  const byTrace = new Uint32Array(trace.length)
  trace.forEach((t, row) => {
    const at = next[t] as number
    byTrace[at] = row
    next[t] = at + 1
  })
  return { byTrace, starts }
}

/** Whether following parents from some span of rows `first` to `end` never ends. */
function hasCircle(parent: Int32Array, first: number, end: number): boolean {
  const settled = new Uint8Array(end - first)
  for (let start = first; start < end; start++) {
    let steps = 0
    let at = start
    while (at >= 0 && settled[at - first] === 0) {
      if (++steps > end - first) return true
      at = parent[at] as number
    }
    for (let back = start; back >= 0 && settled[back - first] === 0; ) {
      settled[back - first] = 1
      back = parent[back] as number
    }
  }
  return false
}

function noteDuplicate(spans: ArrivedSpans, row: number, quality: QualityLog): void {
  quality.note(
    {
      code: 'duplicate-span',
      effect: 'span skipped',
      place: { trace: spans.traceId(spans.trace[row] as number) },
      message: `Span ${spans.ids.text(row)} is there twice; the later one is left out`,
    },
    'Remove the copy, or load without `strict`',
  )
}

function noteCircle(trace: string, quality: QualityLog): void {
  quality.note(
    {
      code: 'parent-circle',
      effect: 'trace skipped',
      place: { trace },
      message: 'Following parent ids leads back to the same span',
    },
    'Correct the parent ids, or load without `strict` to leave the trace out',
  )
}

function noteOrphans(trace: string, count: number, quality: QualityLog): void {
  quality.note(
    {
      code: 'orphan-span',
      effect: 'kept',
      place: { trace },
      message: `${count} span(s) name a parent that is not in the files; each is treated as a request of its own`,
    },
    '',
  )
}
