import { fsum } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { defineOptions, list, number, type OptionsOf, oneOf } from '../core/options.ts'
import { type Quantity, TIME } from '../core/quantity.ts'
import {
  columnarStage,
  rowTable,
  Stage,
  type StageTable,
  stageTable,
  tableIn,
} from '../core/stage.ts'
import { grouped, spoken } from '../core/words.ts'
import type { SamplePair } from '../stats/two-sample.ts'
import { worthOf } from '../stats/weighted-sample.ts'
import { type AttributeValue, besideOwn } from '../traces/attributes.ts'
import { partTops } from '../traces/missing-spans.ts'
import type { Outcomes } from '../traces/outcomes.ts'
import { AFTER, BEFORE, type Period } from '../traces/period.ts'
import type { ShapeTable } from '../traces/shape-table.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import type { ClockOffsets } from './clocks/clock-offsets.ts'
import type { ClockResolution } from './clocks/clock-resolution.ts'
import type { FlowLogColumns, ServiceLogChange } from './flow-logs.ts'
import { MEASURE, quantityOf } from './measure.ts'
import type { MessageColumns } from './messages.ts'
import type { NodeLabels, Operation } from './node-labels.ts'

export { AFTER, BEFORE, type Period }

/** Options of `buildFlows`. */
export const FLOW_OPTIONS = defineOptions({
  concurrency: oneOf(['learned', 'observed', 'none'], {
    default: 'learned',
    sentence: 'How sibling spans are ordered',
    flag: 'concurrency <rule>',
  }),
  clocks: oneOf(['aligned', 'recorded'], {
    default: 'aligned',
    sentence: 'Whether to correct host clocks that disagree',
    flag: 'clocks <which>',
  }),
  measure: MEASURE,
  sampling: oneOf(['recorded', 'even'], {
    default: 'recorded',
    sentence:
      "Requests to use from a biased sample: 'recorded' takes all, 'even' drops some that it preferred (slow or failed ones), so that all of a type have the same weight",
    flag: 'sampling <how>',
  }),
  counts: oneOf(['auto', 'raw', 'scaled', 'weighted'], {
    default: 'auto',
    sentence:
      "How requests are counted: 'raw' as recorded, 'scaled' to the same number after and before, 'weighted' by sampling weights (times, too); 'auto' is 'weighted' if both periods recorded weights other than 1, else 'raw'",
    flag: 'counts <method>',
  }),
  paths: oneOf(['called', 'logged'], {
    default: 'called',
    sentence:
      "What separates structures: 'called' only calls; 'logged' also log statements that nearly all or no spans of an operation wrote before, unlike many after",
    flag: 'paths <which>',
  }),
  labelBy: list({
    default: [],
    unit: 'attributes',
    sentence:
      'Span attributes to add to labels, so that categories differ by them; numbers with more than 12 values are grouped by power of two',
    flag: 'label-by <attributes>',
  }),
  slackUs: number({
    default: 1,
    min: 0,
    unit: 'µs',
    sentence: 'Overlap up to which one span still counts as ended before the next',
    flag: null,
  }),
})

/** Options that flows were built with. */
export type FlowOptions = OptionsOf<typeof FLOW_OPTIONS>

/** Ways to count requests; see `FLOW_OPTIONS`. */
type Counting = Exclude<FlowOptions['counts'], 'auto'>

/**
 * Rule that turns the order of sibling spans into structure:
 * - `'learned'`: one precedes another if it did so in (nearly) every call that has both;
 * - `'observed'`: each trace's own intervals decide;
 * - `'none'`: siblings are all concurrent, as in a call tree.
 *
 * Trace-point graphs carry their own forks and joins, so this does not change them.
 */
export type Concurrency = FlowOptions['concurrency']

/** Another name of a service, or of an operation that requests begin with. */
export interface Rename {
  readonly service: string
  /** `null` for the service itself. */
  readonly operation: string | null
  readonly renamed: string
  /** Number of names it had, including `operation`; default 1. */
  readonly names?: number
}

/** Spans on the way of calls that are recorded in one period only, and left out of its flows. */
export interface Layer {
  readonly service: string
  readonly operation: string
  readonly period: Period
  readonly spans: number
  /** Mean time in one of them without its calls, in µs. */
  readonly eachUs: number
  /** The service whose call it is. */
  readonly caller: string
}

/** Idle waits of consumers for work, which are not part of requests; before and after. */
export interface IdleWait {
  readonly service: string
  readonly operation: string
  readonly counts: [before: number, after: number]
  readonly sumsUs: [before: number, after: number]
}

/** Columns of flows, one row a request; the requests before come first. */
export interface FlowColumns {
  /** The traces of each recording: runs of before first, after last. */
  readonly periods: readonly TraceSet[]
  readonly labels: NodeLabels
  readonly shapes: ShapeTable
  /** Trace id of each request. Two requests share one when a trace has two roots. */
  readonly ids: readonly string[]
  /** `BEFORE` or `AFTER`. */
  readonly period: Uint8Array
  /** Row of each request's trace in its period's trace set. */
  readonly traceOf: Uint32Array
  /**
   * Which of `periods` each request was recorded in; `period`, unless before is several runs or
   * requests were divided anew.
   */
  readonly recordedIn?: Uint8Array | undefined
  /**
   * When the clock of each recording starts, µs since 1970; by default as its traces say. Traces
   * without the time of day say 0.
   */
  readonly epochsUs?: readonly number[]
  /** Arrival, µs since the start of the recording that the request is in. */
  readonly startUs: Float64Array
  readonly responseTimeUs: Float64Array
  readonly shapeOf: Uint32Array
  /** Latencies of all edges of all requests, a request's in the order of its shape's edges. */
  readonly latencyUs: Float64Array
  /** The latencies of request `i` are entries `latencyOffsets[i]` to `latencyOffsets[i + 1]`. */
  readonly latencyOffsets: Uint32Array
  /**
   * Number of requests that each recorded one stands for, 1 / sampling probability; `NaN` if its trace does not say.
   * Undefined if none does.
   */
  readonly weight?: Float64Array | undefined
  /** Outcomes of spans, for flows from spans; folded flows know them for roots only. */
  readonly outcomes?: Outcomes | undefined
  /** Messages that requests received, for flows from spans; undefined if none received any. */
  readonly messages?: MessageColumns | undefined
  /** Logs of requests, for flows from spans; undefined unless all recordings have logs. */
  readonly logs?: FlowLogColumns | undefined
  /** Changes in logs of services, for flows from spans, from records that name no request. */
  readonly serviceLogs?: readonly ServiceLogChange[] | undefined
  /** Offsets between clocks, for flows from spans with `clocks: 'aligned'`. */
  readonly clocks?: ClockOffsets | undefined
  /** Resolution of the services' clocks, for flows from spans. */
  readonly resolution?: ClockResolution | undefined
  /** Names that changed between the compared periods; the new name holds in both. */
  readonly renames?: readonly Rename[] | undefined
  readonly layers?: readonly Layer[] | undefined
  readonly waits?: readonly IdleWait[] | undefined
  /** Operations that only hand calls on, as sidecars do. Set for a snapshot, which has no kinds of spans. */
  readonly relays?: readonly string[] | undefined
  /** And calls between instances of one service; see `SpanRoles`. */
  readonly peers?: readonly string[] | undefined
  /** And operations whose callees record no spans; see `UnrecordedCallee`. */
  readonly unrecorded?: readonly (Operation & { readonly callee: string })[] | undefined
  /**
   * Rows of the spans that each request's nodes come from, in its period's trace set, for flows from spans: nodes 2k
   * and 2k + 1 of a request are the call and the reply of its k-th span.
   */
  readonly spanRows?: Uint32Array | undefined
  /** The spans of request `i` are entries `spanOffsets[i]` to `spanOffsets[i + 1]`. */
  readonly spanOffsets?: Uint32Array | undefined
}

/** The request flows of one or two periods: what `buildFlows` makes. */
export class FlowSet extends columnarStage<
  FlowColumns & { readonly recordedIn: Uint8Array; readonly epochsUs: readonly number[] }
>() {
  static readonly madeBy: string = 'flows: what buildFlows returns, or comparison.flows'
  readonly options: FlowOptions
  /** Decisions taken while building: asynchronous spans, clamped starts, and the like. */
  readonly report: FlowReport
  #split: number | undefined
  #runs: readonly number[] | undefined
  #counted: Float64Array | null | undefined
  #parts: Uint8Array | null | undefined

  constructor(columns: FlowColumns, options: FlowOptions, report: FlowReport) {
    super({
      ...columns,
      recordedIn: columns.recordedIn ?? columns.period,
      epochsUs: columns.epochsUs ?? columns.periods.map(({ epochNs }) => Number(epochNs) / 1e3),
    })
    this.options = options
    this.report = report
  }

  /** Requests in both periods. */
  get size(): number {
    return this.ids.length
  }

  /** Requests in one period. */
  count(period: Period): number {
    const first = this.#split ?? this.period.indexOf(AFTER)
    this.#split = first < 0 ? this.size : first
    return period === BEFORE ? this.#split : this.size - this.#split
  }

  /** Returns the requests of one period, in order. */
  requestsOf(period: Period): number[] {
    const first = period === BEFORE ? 0 : this.count(BEFORE)
    return Array.from({ length: this.count(period) }, (_, i) => first + i)
  }

  /** Returns the requests of each run of the period before. */
  requestsOfRuns(): number[][] {
    const before = this.requestsOf(BEFORE)
    return this.runs.map((run) => before.filter((request) => this.recordedIn[request] === run))
  }

  /** Returns those of some requests that are of a period. */
  within(period: Period, some: Iterable<number>): number[] {
    return Array.from(some).filter((request) => this.period[request] === period)
  }

  /** Returns whether a request is a fragment of another one of its trace, because spans between them were lost. */
  isPart(request: number): boolean {
    return this.#partOf()?.[request] === 1
  }

  /** Requests in one period that are no parts of others. */
  wholes(period: Period): number {
    const parts = this.#partOf()
    const [first, end] =
      period === BEFORE ? [0, this.count(BEFORE)] : [this.count(BEFORE), this.size]
    return end - first - (parts === null ? 0 : fsum(parts.subarray(first, end)))
  }

  #partOf(): Uint8Array | null {
    if (this.#parts !== undefined) return this.#parts
    const { spanRows, spanOffsets } = this
    const tops = this.periods.map(partTops)
    const isAny = spanRows !== undefined && tops.some(({ size }) => size > 0)
    this.#parts = isAny
      ? this.recordedIn.map((recording, request) =>
          Number(tops[recording]!.has(spanRows[spanOffsets![request]!]!)),
        )
      : null
    return this.#parts
  }

  /** Returns the number of requests a recorded one stands for: its sampling weight, or 1 without one. */
  weightOf(request: number): number {
    const own = this.weight?.[request] ?? 1
    return Number.isNaN(own) ? 1 : own
  }

  /** Whether requests are a sample that was drawn of more. */
  get isOfSample(): boolean {
    return this.periods.some((traces) => traces.quality().isOfSample)
  }

  /**
   * Returns how requests are counted, with `'auto'` resolved to `'weighted'` or `'raw'`; by default as flows were
   * built.
   */
  counting(counts = this.options.counts): Counting {
    if (counts !== 'auto') return counts
    const { weight } = this
    if (weight === undefined || !weight.some((own) => own !== 1 && !Number.isNaN(own))) return 'raw'
    const split = this.count(BEFORE)
    const isSilent = [weight.subarray(0, split), weight.subarray(split)].some(
      (own) => own.length > 0 && own.every(Number.isNaN),
    )
    return isSilent ? 'raw' : 'weighted'
  }

  /** Number of requests that each counts as, if counts are weighted; undefined if all count once. */
  get counted(): Float64Array | undefined {
    if (this.#counted === undefined) {
      if (this.weight === undefined || this.counting() !== 'weighted') return undefined
      const own = this.weight.map((_, request) => this.weightOf(request))
      this.#counted = own.some((weight) => weight !== 1) ? own : null
    }
    return this.#counted ?? undefined
  }

  /** Returns how many requests one counts as: 1 unless counts are weighted. */
  countOf(request: number): number {
    return this.counted?.[request] ?? 1
  }

  /** Returns how many requests each given one counts as; undefined if each counts once. */
  countsOf(requests: ArrayLike<number>): Float64Array | undefined {
    const { counted } = this
    return counted && Float64Array.from(requests, (request) => counted[request]!)
  }

  /** Returns how many requests a period counts as, without parts: their number, unless counts are weighted. */
  countedIn(period: Period): number {
    return this.counted === undefined ? this.wholes(period) : this.stoodFor(period)
  }

  /** Returns how many equally weighted requests a period is worth (`worthOf`). */
  worthIn(period: Period): number {
    const { before, after, beforeWeights, afterWeights } = this.responseTimes
    return period === BEFORE ? worthOf(before, beforeWeights) : worthOf(after, afterWeights)
  }

  /** Response times of whole requests before and after, and how many each counts as. */
  get responseTimes(): SamplePair {
    const { responseTimeUs, counted } = this
    const split = this.wholes(BEFORE)
    const isWhole = (_: number, request: number) => !this.isPart(request)
    const whole = (column: Float64Array) =>
      this.#partOf() === null ? column : column.filter(isWhole)
    const [times, weights] = [whole(responseTimeUs), counted && whole(counted)]
    return {
      before: times.subarray(0, split),
      after: times.subarray(split),
      beforeWeights: weights?.subarray(0, split),
      afterWeights: weights?.subarray(split),
    }
  }

  /** Returns how many requests the recorded ones of a period stand for, without parts of others. */
  stoodFor(period: Period): number {
    return fsum(this.period, (own, request) =>
      own === period && !this.isPart(request) ? this.weightOf(request) : 0,
    )
  }

  /** Quantity of edges and response times: time, unless `measure` says otherwise. */
  get quantity(): Quantity {
    return quantityOf(this.options.measure)
  }

  /** Recordings that the requests before come from: several, if before is several runs. */
  get runs(): readonly number[] {
    this.#runs ??= [...new Set(this.recordedIn.subarray(0, this.count(BEFORE)))]
    return this.#runs
  }

  /** Returns the traces that a request was recorded in; undefined where flows were not built from traces. */
  tracesOf(request: number): TraceSet | undefined {
    return this.periods[this.recordedIn[request]!]
  }

  /** Returns when a request arrived, µs since 1970; or since its recording began, if that is all we know. */
  arrivalUs(request: number): number {
    return (this.epochsUs[this.recordedIn[request]!] ?? 0) + this.startUs[request]!
  }

  /** Returns the duration of a request, whatever its edges measure; `NaN` if it is unknown. */
  durationUs(request: number): number {
    if (this.quantity === TIME) return this.responseTimeUs[request]!
    const root = this.spanRows?.[this.spanOffsets?.[request] ?? -1] ?? -1
    const traces = this.tracesOf(request)
    return (traces?.kind === 'spans' ? traces.spans.durationUs[root] : undefined) ?? Number.NaN
  }

  /** Latencies of one request's edges, in the order of its shape's edges. */
  latencies(request: number): Float64Array {
    return this.latencyUs.subarray(this.latencyOffsets[request], this.latencyOffsets[request + 1])
  }

  /**
   * Returns one row per request: trace, period, arrival, response time, root, size of its graph, and a column for each
   * attribute that roots recorded: `undefined` where one has none. One with the name of another column is
   * `attributes.NAME`. `categories.requestTable()` adds categories.
   */
  table(): StageTable {
    const { shapes, shapeOf, labels } = this
    const own = {
      request: Uint32Array.from(this.ids, (_, request) => request),
      trace: this.ids,
      period: Array.from(this.period, (period) => (period === BEFORE ? 'before' : 'after')),
      startUs: this.startUs,
      responseTimeUs: this.responseTimeUs,
      root: Array.from(shapeOf, (shape) => labels.text(shapes.labels(shape)[0] ?? 0)),
      nodes: Uint32Array.from(shapeOf, (shape) => shapes.nodeCount(shape)),
      edges: Uint32Array.from(shapeOf, (shape) => shapes.edgeCount(shape)),
      shape: shapeOf,
    }
    const columns = besideOwn<ArrayLike<unknown>>(own, this.#rootAttributes())
    return tableIn(stageTable(columns), this.quantity)
  }

  #rootAttributes(): ReadonlyMap<string, AttributeValue[]> {
    const columns = new Map<string, AttributeValue[]>()
    for (let request = 0; request < this.size; request++) {
      const traces = this.tracesOf(request)
      const { attributes } = traces ?? {}
      const owner =
        traces?.kind === 'graphs'
          ? traces.firstNodes[this.traceOf[request]!]
          : this.spanRows?.[this.spanOffsets![request]!]
      if (attributes == null || owner === undefined) continue
      for (const [key, value] of attributes.entries(owner)) {
        getOrInsert(columns, key, () => new Array(this.size))[request] = value
      }
    }
    return columns
  }
}

const MEANINGS = {
  asynchronousSpans: 'spans their parent does not wait for: they have no edge to its reply',
  clampedStarts: 'spans that start before their parent: taken as starting with it',
  outsideParent: 'spans wholly outside their parent: asynchronous, or from another clock',
  correctedClocks: 'offsets between two clocks that times were corrected by',
  learnedPairs: 'pairs of sibling operations whose order was learned',
  differingPairs: 'pairs whose order differs between the periods: each keeps its own',
  differingWaits: 'children that the parent waits for in one period only: each keeps its own',
  orderViolations: 'calls in which siblings overlap although the learned rule orders them',
  circularOrders: 'calls whose learned orders contradict each other: built as observed',
  unmeasuredBefore: 'requests before without the measure in any span: left out',
  unmeasuredAfter: 'requests after without the measure in any span: left out',
  silentBefore: 'spans before without the measure, of operations that record it: counted as 0',
  silentAfter: 'spans after without the measure, of operations that record it: counted as 0',
  thinnedBefore: 'requests before that the sample preferred: left out',
  thinnedAfter: 'requests after that the sample preferred: left out',
  coarseClocks:
    'services whose clocks tick coarsely: where only starts are cut, calls that overlap by a tick are in turn',
  wideCalls: 'calls with too many children to learn from: built as observed',
} as const

type FlowReportEntry = keyof typeof MEANINGS

/** Number of times that each decision was taken while flows were built. */
export class FlowReport extends Stage {
  readonly counts: Readonly<Record<FlowReportEntry, number>>

  constructor(counts: Partial<Record<FlowReportEntry, number>> = {}) {
    super()
    const zero = Object.fromEntries(Object.keys(MEANINGS).map((entry) => [entry, 0]))
    this.counts = { ...(zero as Record<FlowReportEntry, number>), ...counts }
  }

  /** Returns one row per decision: its number and meaning. */
  table(): StageTable {
    return rowTable(Object.keys(MEANINGS) as FlowReportEntry[], {
      decision: String,
      count: (entry) => this.counts[entry],
      meaning: (entry) => MEANINGS[entry],
    })
  }
}

/**
 * Returns the number of requests of a period as text: `872`; by weights `8,234 (872 recorded)`; for a drawn sample
 * `8,234 (872 compared)`. If some spans lost their parents, also gives the number of separate parts.
 */
export function countText(flows: FlowSet, period: Period): string {
  const recorded = grouped(flows.wholes(period))
  const isWeighted = flows.counted !== undefined
  const parts = flows.count(period) - flows.wholes(period)
  const notes = spoken([
    isWeighted && `${recorded} ${flows.isOfSample ? 'compared' : 'recorded'}`,
    parts > 0 && `and ${grouped(parts)} fragments`,
  ]).join(', ')
  const all = isWeighted ? grouped(flows.countedIn(period)) : recorded
  return notes === '' ? all : `${all} (${notes})`
}
