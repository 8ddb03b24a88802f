import type { Attributes } from './attributes.ts'
import type { Dictionary } from './dictionary.ts'
import type { LoggedTraces } from './log-records.ts'

/** Kinds of spans; `SpanColumns.kind` holds their codes. */
export const SPAN_KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const
export type SpanKind = (typeof SPAN_KINDS)[number]

/** Codes of kinds, in the order of `SPAN_KINDS`. */
export const [INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER] = [
  ...SPAN_KINDS.keys(),
] as unknown as readonly [number, number, number, number, number]

/** Statuses of spans; `SpanColumns.status` holds their codes. */
export const SPAN_STATUSES = ['unset', 'ok', 'error'] as const
export type SpanStatus = (typeof SPAN_STATUSES)[number]

/** `SpanColumns.parent` of a span that has no parent. */
export const NO_PARENT = -1
/** `SpanColumns.parent` of a span whose parent is not among the loaded spans. */
export const PARENT_MISSING = -2

/** Columns of spans, those of one trace next to each other. */
export interface SpanColumns {
  /** Row of the parent span, or `NO_PARENT`, or `PARENT_MISSING`. */
  readonly parent: Int32Array
  /** Start, µs since `epochNs`. */
  readonly startUs: Float64Array
  readonly durationUs: Float64Array
  readonly service: Uint32Array
  readonly operation: Uint32Array
  /** Code of the host, machine or pod; the empty string where none was recorded. */
  readonly host: Uint32Array
  /** Code of the version of its service; the empty string where none was recorded. */
  readonly version: Uint32Array
  /** Index in `SPAN_KINDS`. */
  readonly kind: Uint8Array
  /** Index in `SPAN_STATUSES`. */
  readonly status: Uint8Array
  /** 1 if the span only follows from its parent, which does not wait for it. */
  readonly followsFrom: Uint8Array
}

/** Columns of traces that were recorded as span trees, one row a trace. */
export interface SpanTraceColumns extends LoggedTraces {
  readonly spans: SpanColumns
  /** Rows of consumers and of producers that they are linked to, in turn; undefined for none. */
  readonly links?: Uint32Array | undefined
  readonly services: Dictionary
  readonly operations: Dictionary
  readonly hosts: Dictionary
  readonly versionNames: Dictionary
  readonly attributes: Attributes
  /** Requests that each trace stands for, `NaN` if it does not say; undefined if none does. */
  readonly weight: Float64Array | undefined
}

/** Number of spans that each service reported under each version of itself, by service. */
export type ServiceVersions = ReadonlyMap<string, ReadonlyMap<string, number>>
