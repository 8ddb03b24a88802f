import { getOrInsert } from '../../core/entries.ts'
import { type AttributeEntry, eventEntries } from '../readers/json-values.ts'
import { otlpKind, otlpStatus, type Reporter, reporterOf } from '../readers/otlp-values.ts'
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
  /** Of the status. */
  readonly message: string
  readonly traceState: string
  /** ns since 1970. */
  readonly startNs: string
  readonly durationUs: number
  readonly followsFrom: boolean
  readonly links: readonly SpanLink[]
  readonly attributes: readonly AttributeEntry[]
  readonly events: readonly (readonly [name: string, attributes: readonly AttributeEntry[]])[]
  /** Equal for equal resources; their attributes are read once. */
  readonly resourceKey: string
  readonly resource: () => readonly AttributeEntry[]
  /** Requests that each recorded one stands for; 0 where that is not recorded. */
  readonly sampleRate: number
}

/** Returns what adds a row to the traces. */
export function rowAdder({ spans, resourceAttributes }: ReadSink, file: string) {
  const reporters = new Map<string, Reporter>()
  const place = { file }
  return ({ resourceKey, resource, message, sampleRate, ...row }: SpanRow): void => {
    const reporter = getOrInsert(reporters, `${row.service} ${resourceKey}`, () =>
      reporterOf(resource(), { service: row.service, keep: resourceAttributes }),
    )
    const attributes = [...row.attributes]
    if (message !== '') attributes.push(['otel.status_description', message])
    for (const [name, own] of row.events) attributes.push(...eventEntries(name, own))
    attributes.push(...reporter.attributes)
    spans.add(
      {
        traceId: row.traceId,
        spanId: row.spanId,
        parentId: row.parentId || null,
        service: reporter.service,
        operation: row.operation,
        host: row.host || reporter.host,
        version: row.version || reporter.version,
        kind: otlpKind(row.kind),
        status: otlpStatus(row.status),
        startUs: spans.clock.offsetOfNanos(row.startNs),
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
