// Runs once a span: the loops index with `!`.
import { counted, formatDuration, type Microseconds } from '../core/words.ts'
import type { QualityLog } from './quality.ts'
import { CONSUMER, PRODUCER, type SpanColumns, type SpanTraceColumns } from './span-columns.ts'

const NS_PER_MS = 1_000_000n

type Placed = Pick<SpanTraceColumns, 'spanOffsets' | 'spans' | 'hosts' | 'epochNs'>

/** Notes traces in which spans reach outside a parent on another host; see `spansOutsideParents`. */
export function noteClockSkew(
  { ids, ...placed }: Placed & Pick<SpanTraceColumns, 'ids'>,
  quality: QualityLog,
): void {
  for (const { trace, outside, farthestUs } of spansOutsideParents(placed)) {
    quality.note(
      'clock-skew',
      { trace: ids[trace]! },
      `${counted(outside, 'span')} outside a parent on another host, by up to ${formatDuration(farthestUs)}: the clocks disagree, or the parent did not wait`,
    )
  }
}

/** Yields traces with spans that reach outside a parent elsewhere and do not outlive it on purpose. */
export function* spansOutsideParents({ spanOffsets, spans, hosts, epochNs }: Placed) {
  const pastMsNs = Number(epochNs % NS_PER_MS)
  const unknownHost = hosts.find('')
  const crossesHosts = (span: number, parent: number) =>
    spans.host[span] === spans.host[parent] && spans.host[span] === unknownHost
      ? spans.service[span] !== spans.service[parent]
      : spans.host[span] !== spans.host[parent]
  for (let trace = 0; trace + 1 < spanOffsets.length; trace++) {
    let outside = 0
    let farthestUs = 0
    const end = spanOffsets[trace + 1]!
    for (let span = spanOffsets[trace]!; span < end; span++) {
      const parent = spans.parent[span]!
      if (parent < 0 || !crossesHosts(span, parent)) continue
      const reachUs = reachOutside(spans, span, parent, pastMsNs)
      if (reachUs <= 0) continue
      outside++
      farthestUs = Math.max(farthestUs, reachUs)
    }
    if (outside > 0) yield { trace, outside, farthestUs }
  }
}

export function noteNamelessServices(
  {
    ids,
    spanOffsets,
    spans,
    services,
  }: Pick<SpanTraceColumns, 'ids' | 'spanOffsets' | 'spans' | 'services'>,
  quality: QualityLog,
): void {
  const nameless = services.find('')
  if (nameless === undefined) return
  ids.forEach((trace, i) => {
    const own = spans.service.subarray(spanOffsets[i], spanOffsets[i + 1])
    const count = own.reduce((sum, service) => sum + (service === nameless ? 1 : 0), 0)
    if (count === 0) return
    quality.note(
      'no-service',
      { trace },
      `${counted(count, 'span')} without a service, taken as those of one without a name`,
    )
  })
}

/** Returns how far beyond rounding a span begins before its parent or ends after it; 0 if it does neither. */
function reachOutside(
  spans: SpanColumns,
  span: number,
  parent: number,
  pastMsNs: number,
): Microseconds {
  const startUs = spans.startUs[span]!
  const parentStartUs = spans.startUs[parent]!
  const rounding = Math.max(roundingUs(startUs, pastMsNs), roundingUs(parentStartUs, pastMsNs))
  const waits =
    spans.followsFrom[span] === 0 &&
    spans.kind[span] !== CONSUMER &&
    spans.kind[parent] !== PRODUCER &&
    spans.durationUs[span]! <= spans.durationUs[parent]! + rounding
  const endUs = startUs + spans.durationUs[span]!
  const parentEndUs = parentStartUs + spans.durationUs[parent]!
  const reachUs = Math.max(parentStartUs - startUs, waits ? endUs - parentEndUs : 0)
  return reachUs > rounding ? reachUs : 0
}

/** Times are recorded to the microsecond or better, or to the millisecond, which whole ones show. */
function roundingUs(timeUs: Microseconds, pastMsNs: number): Microseconds {
  return Math.round(timeUs * 1e3 + pastMsNs) % 1e6 === 0 ? 1000 : 1
}
