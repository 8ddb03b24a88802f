import { OptionError } from '../core/errors.ts'
import { type OptionsOf, readOptions } from '../core/options.ts'
import { type StageTable, stageTable } from '../core/stage.ts'
import { besideOwn } from './attributes.ts'
import type { Selected } from './quality.ts'
import { BUILT_IN, type Subject } from './selection/condition.ts'
import { drawSample, SAMPLE_OPTIONS } from './selection/sample-traces.ts'
import {
  columnarTraces,
  type Reader,
  type SelectableTraces,
} from './selection/selectable-traces.ts'
import { pickSpans, rootOf, spanCallers, spanValues } from './selection/span-values.ts'
import {
  type ServiceVersions,
  SPAN_KINDS,
  SPAN_STATUSES,
  type SpanTraceColumns,
} from './span-columns.ts'

export * from './span-columns.ts'

/** @throws OptionError for a path that does not say in which format traces are to be saved */
export function requireSavable(path: string, option = 'path'): void {
  if (/\.(parquet|jsonl(\.gz)?)$/.test(path)) return
  throw new OptionError(option, path, 'a file that ends in .jsonl.gz, .jsonl or .parquet')
}

/** The traces of one period as span trees. */
export class SpanTraces extends columnarTraces<SpanTraceColumns>() {
  readonly kind = 'spans'

  /**
   * Saves the traces as a file that `loadTraces` reads to the same findings.
   *
   * - `traces.parquet`: a span a row, in the columns of the OpenTelemetry Collector's exporter for ClickHouse, which
   *   other programs read; much smaller than JSON.
   * - `traces.jsonl` or `traces.jsonl.gz`: OTLP JSON, one trace a line.
   *
   * Loaded log records are saved with the traces, so load logs before you save. Ids of spans are not saved, nor kept in
   * memory: their places stand for them. Of `quality()`, the missing traces are saved. OTLP keeps sampling weights to
   * 56 bits of their probability, as trace state does.
   *
   * @throws OptionError for another ending; FlowdeltaError for a file that cannot be written
   */
  override async save(path: string): Promise<void> {
    requireSavable(path)
    const saved = { traces: this, quality: this.quality() }
    if (path.endsWith('.parquet')) {
      await (await import('./stores/save-parquet.ts')).saveParquet(path, saved)
    } else await (await import('./stores/save-otlp.ts')).saveOtlp(path, saved)
  }

  /** Returns one row per trace: id, start and duration of its first root span, its name, and its size. */
  table(): StageTable {
    const { spans, spanOffsets } = this
    const roots = Uint32Array.from(this.ids, (_, trace) => rootOf(this, trace))
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

  /**
   * Returns one row per span, every column readable, and a column for each attribute: `undefined` where a span has
   * none. One with the name of another column is `attributes.NAME`. Columns of attributes are read as they are asked
   * for, and take no memory.
   */
  spanTable(): StageTable {
    const { spans, attributes } = this
    const trace = new Array<string>(spans.parent.length)
    this.ids.forEach((id, i) => {
      trace.fill(id, this.spanOffsets[i], this.spanOffsets[i + 1])
    })
    const own = {
      trace,
      parent: spans.parent,
      service: Array.from(spans.service, (code) => this.services.value(code)),
      operation: Array.from(spans.operation, (code) => this.operations.value(code)),
      host: Array.from(spans.host, (code) => this.hosts.value(code)),
      kind: Array.from(spans.kind, (code) => SPAN_KINDS[code] ?? 'internal'),
      status: Array.from(spans.status, (code) => SPAN_STATUSES[code] ?? 'unset'),
      startUs: spans.startUs,
      durationUs: spans.durationUs,
    }
    return stageTable(besideOwn<ArrayLike<unknown>>(own, attributes.columnsByName()))
  }

  /** Number of spans that each service reported under each version of itself, by service. */
  get versions(): ServiceVersions {
    const { spans, services, versionNames } = this
    const counts = new Map<string, Map<string, number>>()
    spans.version.forEach((code, span) => {
      const version = versionNames.value(code)
      if (version === '') return
      const service = services.value(spans.service[span] ?? 0)
      const versions = counts.get(service) ?? new Map<string, number>()
      counts.set(service, versions.set(version, (versions.get(version) ?? 0) + 1))
    })
    return counts
  }

  /** Part of `where`. */
  reader(subject: Subject): Reader | undefined {
    return spanValues(this, subject)
  }

  /** Part of `where`. */
  callers(called: Subject): ((trace: number) => boolean) | undefined {
    return spanCallers(this, called)
  }

  /** Part of `where`. */
  names(): ReturnType<SelectableTraces['names']> {
    return {
      attributes: [...BUILT_IN, ...this.attributes.keys.values],
      services: this.services.values,
      operations: this.operations.values,
    }
  }

  /**
   * Draws whole traces that stand for all, so that a long period is compared in little time: one in
   * so many of each structure, spread over time, at one rate. Weights say how many requests each
   * stands for, and add up to how many there are of each group in `quality().groupTable()`.
   *
   * @param size most traces; where there are no more, all are kept, each for itself
   * @param options see `SAMPLE_OPTIONS`; its `seed` (1) says which of all samples is drawn
   * @throws OptionError for a size or seed that is no whole number from 1 on, or traces that are a sample
   *   already, as an engine drew it
   *
   * @example
   * before.sample(2).size
   */
  sample(size: number, { seed = 1 }: Partial<OptionsOf<typeof SAMPLE_OPTIONS>> = {}): this {
    const given = readOptions(SAMPLE_OPTIONS, { size, seed })
    const quality = this.quality()
    if (given.size >= this.size) {
      const weight = this.weight ?? new Float64Array(this.size).fill(1)
      return new SpanTraces(this.name, { ...this, weight }, quality) as this
    }
    if (quality.isOfSample) {
      throw new OptionError('size', size, `${this.size} or more: ${this.name} is a sample already`)
    }
    const { rows, weight, groups } = drawSample(this, given)
    const columns = { ...pickSpans(this, rows), weight }
    return new SpanTraces(this.name, columns, quality.drawnOf(groups)) as this
  }

  /** Some of the traces, by row, as a period of their own. */
  pick(
    rows: ArrayLike<number>,
    { name = this.name, selected }: { readonly name?: string; readonly selected?: Selected } = {},
  ): this {
    return new SpanTraces(name, pickSpans(this, rows), this.quality().ofSome(selected)) as this
  }
}
