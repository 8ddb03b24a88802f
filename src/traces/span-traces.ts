import { columnarStage } from '../core/stage.ts'
import { type StageTable, stageTable } from '../core/stage-table.ts'
import type { Attributes } from './attributes.ts'
import type { Dictionary } from './dictionary.ts'
import type { Quality } from './quality.ts'

/** What a span says of itself; codes in `SpanColumns.kind`. */
export const SPAN_KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const
export type SpanKind = (typeof SPAN_KINDS)[number]

/** How a span ended; codes in `SpanColumns.status`. */
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
  /** Index in `SPAN_KINDS`. */
  readonly kind: Uint8Array
  /** Index in `SPAN_STATUSES`. */
  readonly status: Uint8Array
  /** 1 where the span only follows from its parent, which does not wait for it. */
  readonly followsFrom: Uint8Array
}

/** Columns of traces that were recorded as span trees, one row a trace. */
interface SpanTraceColumns {
  readonly epochNs: bigint
  readonly ids: readonly string[]
  /** The spans of trace `i` are rows `spanOffsets[i]` to `spanOffsets[i + 1]`. */
  readonly spanOffsets: Uint32Array
  readonly spans: SpanColumns
  readonly services: Dictionary
  readonly operations: Dictionary
  readonly hosts: Dictionary
  readonly attributes: Attributes
  /**
   * How many requests each trace stands for, 1 / sampling probability; `NaN` where a trace does not
   * say. Undefined where none does.
   */
  readonly weight: Float64Array | undefined
  /** Spans by service and `service.version`, of the services that name theirs. */
  readonly versions: ServiceVersions
}

/** The traces of one period as span trees. */
export class SpanTraces extends columnarStage<SpanTraceColumns>() {
  readonly kind = 'spans'
  /** Name of the period in messages and charts. */
  readonly name: string
  readonly #quality: Quality

  constructor(name: string, columns: SpanTraceColumns, quality: Quality) {
    super(columns)
    this.name = name
    this.#quality = quality
  }

  get size(): number {
    return this.ids.length
  }

  /** What was left out of this load, and why. */
  quality(): Quality {
    return this.#quality
  }

  /** One row a trace: id, start and duration of its first root span, its name, and its size. */
  table(): StageTable {
    const { spans, spanOffsets } = this
    const roots = Uint32Array.from(this.ids, (_, trace) => this.#root(trace))
    return stageTable({
      trace: this.ids,
      startUs: Float64Array.from(roots, (span) => spans.startUs[span] ?? Number.NaN),
      durationUs: Float64Array.from(roots, (span) => spans.durationUs[span] ?? Number.NaN),
      service: Array.from(roots, (span) => this.services.value(spans.service[span] ?? 0)),
      operation: Array.from(roots, (span) => this.operations.value(spans.operation[span] ?? 0)),
      spans: Uint32Array.from(
        this.ids,
        (_, trace) => (spanOffsets[trace + 1] ?? 0) - (spanOffsets[trace] ?? 0),
      ),
    })
  }

  /** One row a span, every column readable; attributes are left out. */
  spanTable(): StageTable {
    const { spans } = this
    const trace = new Array<string>(spans.parent.length)
    this.ids.forEach((id, i) => {
      trace.fill(id, this.spanOffsets[i], this.spanOffsets[i + 1])
    })
    return stageTable({
      trace,
      parent: spans.parent,
      service: Array.from(spans.service, (code) => this.services.value(code)),
      operation: Array.from(spans.operation, (code) => this.operations.value(code)),
      host: Array.from(spans.host, (code) => this.hosts.value(code)),
      kind: Array.from(spans.kind, (code) => SPAN_KINDS[code] ?? 'internal'),
      status: Array.from(spans.status, (code) => SPAN_STATUSES[code] ?? 'unset'),
      startUs: spans.startUs,
      durationUs: spans.durationUs,
    })
  }

  #root(trace: number): number {
    const first = this.spanOffsets[trace] ?? 0
    const end = this.spanOffsets[trace + 1] ?? first
    const root = this.spans.parent.subarray(first, end).indexOf(NO_PARENT)
    return first + Math.max(root, 0)
  }
}

/** How many spans each service reported under each version of itself, by service. */
export type ServiceVersions = ReadonlyMap<string, ReadonlyMap<string, number>>

/** The attribute of a resource, a process or a span that holds its service's version. */
export const VERSION_ATTRIBUTE = 'service.version'

/** Counts spans by service and version. */
export class ServiceVersionCounts {
  readonly counts = new Map<string, Map<string, number>>()

  add(service: string, version: string): void {
    const versions = this.counts.get(service)
    if (versions === undefined) this.counts.set(service, new Map([[version, 1]]))
    else versions.set(version, (versions.get(version) ?? 0) + 1)
  }
}
