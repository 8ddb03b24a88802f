import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import { type AttributeEntry, eventEntries } from '../readers/json-values.ts'
import { type Reporter, reporterOf, STATUS_DESCRIPTION } from '../readers/otlp-values.ts'
import { kindNamed, statusNamed } from '../readers/span-formats.ts'
import type { ReadSink } from '../readers/trace-reader.ts'
import { traceStateProbability } from '../sampling.ts'
import type { SpanLink } from '../span-traces-builder.ts'

/** A span as a row of a table has it; texts are empty where nothing is known. */
interface SpanRow {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly service: string
  readonly operation: string
  readonly host?: string
  readonly version?: string
  /** Text or number of OTLP. */
  readonly kind: unknown
  readonly status: unknown
  /** Message of the status. */
  readonly message: string
  readonly traceState: string
  /** Start by the clock of the spans. */
  readonly startUs: number
  readonly durationUs: number
  readonly followsFrom: boolean
  readonly links: readonly SpanLink[]
  /** Own attributes, to which others are added. */
  readonly attributes: AttributeEntry[]
  readonly events: readonly (readonly [name: string, attributes: readonly AttributeEntry[]])[]
  /** Equal for equal resources; their attributes are read once. */
  readonly resourceKey: string
  readonly resource: () => readonly AttributeEntry[]
  /** Requests that each recorded one stands for; 0 where that is not recorded. */
  readonly sampleRate: number
}

/** Returns what adds a row to the traces. */
export function rowAdder({ spans, resourceAttributes }: ReadSink, file: string) {
  const reporters = new Map<string, Map<string, Reporter>>()
  const kindOf = memoized((kind: unknown) => kindNamed(kind) ?? 'internal')
  const statusOf = memoized((status: unknown) => statusNamed(status))
  const place = { file }
  return (row: SpanRow): void => {
    const { service, message, attributes, events, sampleRate } = row
    const alike = getOrInsert(reporters, row.resourceKey, () => new Map<string, Reporter>())
    const reporter = getOrInsert(alike, service, () =>
      reporterOf(row.resource(), { service, keep: resourceAttributes }),
    )
    if (message !== '') attributes.push([STATUS_DESCRIPTION, message])
    for (const [name, own] of events) attributes.push(...eventEntries(name, own))
    if (reporter.attributes.length > 0) attributes.push(...reporter.attributes)
    spans.add(
      {
        traceId: row.traceId,
        spanId: row.spanId,
        parentId: row.parentId || null,
        service: reporter.service,
        operation: row.operation,
        host: row.host || reporter.host,
        version: row.version || reporter.version,
        kind: kindOf(row.kind),
        status: statusOf(row.status),
        startUs: row.startUs,
        durationUs: row.durationUs,
        followsFrom: row.followsFrom,
        links: row.links,
        attributes,
        probability: sampleRate > 0 ? 1 / sampleRate : traceStateProbability(row.traceState),
      },
      place,
    )
  }
}
