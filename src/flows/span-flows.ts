// Runs once a span, node or edge: the loops index with `!`.
import { Dictionary } from '../traces/dictionary.ts'
import {
  finishColumns,
  growingColumns,
  growingFloat64,
  growingUint32,
} from '../traces/growing-columns.ts'
import { Outcomes, readOutcomes } from '../traces/outcomes.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import { AS_RECORDED, type ClockOffsets, findClockOffsets } from './clocks/clock-offsets.ts'
import { flowLogs, shapesByLogs } from './flow-logs.ts'
import { AFTER, BEFORE, type FlowOptions, FlowReport, FlowSet, type Period } from './flow-set.ts'
import { attributeLabels } from './label-attributes.ts'
import { NodeLabels } from './node-labels.ts'
import { serviceLogChanges } from './service-logs.ts'
import { type SiblingOrder, siblingOrder } from './sibling-order.ts'
import { indexSpanCalls, type SpanCalls } from './span-calls.ts'
import { NS } from './span-tree.ts'

/**
 * Flows from span trees: a request a root, a call and a reply node a span, siblings in order; the
 * first `runs` recordings are of before.
 */
export function buildSpanFlows(
  recordings: readonly SpanTraces[],
  runs: number,
  options: FlowOptions,
): FlowSet {
  const found = options.clocks === 'aligned' ? findClockOffsets(recordings) : AS_RECORDED
  const calls = recordings.map((traces, i) => indexSpanCalls(traces, found.bySpan[i]))
  const order = siblingOrder(calls, { names: nameCalls(recordings), runs }, options)
  const builder = new SpanFlowBuilder(order, attributeLabels(recordings, options.labelBy))
  calls.forEach((one, i) => {
    builder.addRecording(one, i, i < runs ? BEFORE : AFTER)
  })
  return builder.finish(recordings, runs, { options, clocks: found.clocks })
}

interface Request {
  readonly recording: number
  readonly root: number
  /** By span. */
  readonly callLabels: Uint32Array
  readonly replyLabels: Uint32Array
}

class SpanFlowBuilder {
  readonly #order: SiblingOrder
  readonly #attributesOf: ReturnType<typeof attributeLabels>
  readonly #labels = new NodeLabels()
  readonly #shapes = new ShapeTable()
  readonly #ids: string[] = []
  readonly #columns = growingColumns({
    period: 'u8',
    recordedIn: 'u8',
    traceOf: 'u32',
    startUs: 'f64',
    responseTimeUs: 'f64',
    shapeOf: 'u32',
    latencyUs: 'f64',
    latencyOffsets: 'u32',
    spanRows: 'u32',
    spanOffsets: 'u32',
  })
  readonly #nodes = growingUint32()
  readonly #from = growingUint32()
  readonly #to = growingUint32()
  /** When each node of the request happened. */
  readonly #timesNs = growingFloat64()
  #asynchronousSpans = 0
  #clampedStarts = 0
  #outsideParent = 0

  constructor(order: SiblingOrder, attributesOf: ReturnType<typeof attributeLabels>) {
    this.#order = order
    this.#attributesOf = attributesOf
    this.#columns.latencyOffsets.push(0)
    this.#columns.spanOffsets.push(0)
  }

  addRecording(calls: SpanCalls, recording: number, period: Period): void {
    const { traces, roots } = calls
    const [callLabels, replyLabels] = this.#labelSpans(traces)
    this.#clampedStarts += calls.clampedStarts
    this.#outsideParent += calls.outsideParent
    let trace = 0
    for (const root of roots) {
      while (traces.spanOffsets[trace + 1]! <= root) trace++
      this.#addRequest(calls, { recording, root, callLabels, replyLabels })
      this.#ids.push(traces.ids[trace]!)
      this.#columns.period.push(period)
      this.#columns.recordedIn.push(recording)
      this.#columns.traceOf.push(trace)
      this.#columns.startUs.push(calls.startUs[root]!)
      this.#columns.responseTimeUs.push(Math.round(traces.spans.durationUs[root]! * NS) / NS)
    }
  }

  finish(
    periods: readonly SpanTraces[],
    runs: number,
    { options, clocks }: { options: FlowOptions; clocks: ClockOffsets | undefined },
  ): FlowSet {
    const report = new FlowReport({
      asynchronousSpans: this.#asynchronousSpans,
      clampedStarts: this.#clampedStarts,
      outsideParent: this.#outsideParent,
      correctedClocks: clocks?.applied.length ?? 0,
      ...this.#order.counts,
    })
    const weight = this.#weights(periods)
    const columns = finishColumns(this.#columns)
    const [labels, shapes] = [this.#labels, this.#shapes]
    const logs = flowLogs(periods, runs, columns)
    const isByLogs = options.paths === 'logged' && logs !== undefined
    const { shapeOf } = columns
    return new FlowSet(
      {
        periods,
        labels,
        shapes,
        ids: this.#ids,
        weight,
        clocks,
        ...columns,
        shapeOf: isByLogs ? shapesByLogs(logs, { ...columns, labels, shapes }) : shapeOf,
        outcomes: outcomesOf(periods, columns),
        logs,
        serviceLogs: serviceLogChanges(periods, runs),
      },
      options,
      report,
    )
  }

  #weights(periods: readonly SpanTraces[]): Float64Array | undefined {
    if (periods.every(({ weight }) => weight === undefined)) return undefined
    const { recordedIn, traceOf } = this.#columns
    return Float64Array.from(
      this.#ids,
      (_, request) =>
        periods[recordedIn.values[request]!]?.weight?.[traceOf.values[request]!] ?? Number.NaN,
    )
  }

  /** Walks the spans below `root`; number k of the walk has nodes 2k, 2k + 1. */
  #addRequest(calls: SpanCalls, request: Request): void {
    const { childOffsets, children } = calls
    const { recording, root } = request
    this.#nodes.length = 0
    this.#timesNs.length = 0
    this.#from.length = 0
    this.#to.length = 0
    const walk = this.#columns.spanRows
    const begin = walk.length
    this.#visit(calls, root, request)
    for (let k = 0; begin + k < walk.length; k++) {
      const span = walk.values[begin + k]!
      const below = children.subarray(childOffsets[span], childOffsets[span + 1])
      if (below.length === 0) {
        this.#edge(2 * k, 2 * k + 1)
        continue
      }
      const { listing, precedence } = this.#order.order(recording, span, below)
      const { followers, starters, finishers } = precedence
      const first = walk.length - begin
      for (let i = 0; i < below.length; i++) {
        this.#visit(calls, below[listing === null ? i : listing[i]!]!, request)
      }
      for (const i of starters) this.#edge(2 * k, 2 * (first + i))
      for (let i = 0; i < followers.length; i++) {
        for (const j of followers[i]!) this.#edge(2 * (first + i) + 1, 2 * (first + j))
      }
      for (const i of finishers) this.#edge(2 * (first + i) + 1, 2 * k + 1)
      if (finishers.length === 0) this.#edge(2 * k, 2 * k + 1)
      this.#asynchronousSpans += precedence.unawaited
    }
    this.#columns.shapeOf.push(
      this.#shapes.intern(this.#nodes.values, this.#nodes.length, {
        from: this.#from.values,
        to: this.#to.values,
        edgeCount: this.#from.length,
      }),
    )
    this.#columns.latencyOffsets.push(this.#columns.latencyUs.length)
    this.#columns.spanOffsets.push(walk.length)
  }

  /** Adds a span of a request. */
  #visit({ startUs, endUs }: SpanCalls, span: number, request: Request): void {
    this.#columns.spanRows.push(span)
    this.#nodes.push(request.callLabels[span]!)
    this.#nodes.push(request.replyLabels[span]!)
    // In whole nanoseconds: rounding would break ties.
    this.#timesNs.push(Math.round(startUs[span]! * NS))
    this.#timesNs.push(Math.round(endUs[span]! * NS))
  }

  #edge(from: number, to: number): void {
    const times = this.#timesNs.values
    this.#from.push(from)
    this.#to.push(to)
    this.#columns.latencyUs.push((times[to]! - times[from]!) / NS)
  }

  #labelSpans(traces: SpanTraces): [Uint32Array, Uint32Array] {
    const { spans, services, operations, hosts } = traces
    const known = new Map<number | string, [number, number]>()
    const callLabels = new Uint32Array(spans.service.length)
    const replyLabels = new Uint32Array(spans.service.length)
    for (let span = 0; span < callLabels.length; span++) {
      const service = spans.service[span]!
      const operation = spans.operation[span]!
      const host = spans.host[span]!
      const attributes = this.#attributesOf(traces, span)
      const number = (service * operations.size + operation) * hosts.size + host
      const key = attributes === '' ? number : `${number}${attributes}`
      let codes = known.get(key)
      if (codes === undefined) {
        const label = {
          service: services.value(service),
          operation: `${operations.value(operation)}${attributes}`,
          host: hosts.value(host),
        }
        codes = [
          this.#labels.code({ ...label, phase: 'call' }),
          this.#labels.code({ ...label, phase: 'reply' }),
        ]
        known.set(key, codes)
      }
      callLabels[span] = codes[0]
      replyLabels[span] = codes[1]
    }
    return [callLabels, replyLabels]
  }
}

function outcomesOf(
  periods: readonly SpanTraces[],
  columns: {
    readonly [Name in 'recordedIn' | 'spanRows' | 'spanOffsets']: Uint32Array | Uint8Array
  },
): Outcomes {
  const { kinds, ofRows } = readOutcomes(periods)
  const { recordedIn, spanRows, spanOffsets } = columns
  const ofSpan = new Uint8Array(spanRows.length)
  for (let request = 0; request < recordedIn.length; request++) {
    const ofRow = ofRows[recordedIn[request]!]!
    const end = spanOffsets[request + 1]!
    for (let at = spanOffsets[request]!; at < end; at++) ofSpan[at] = ofRow[spanRows[at]!]!
  }
  return new Outcomes(kinds, ofSpan, spanOffsets as Uint32Array)
}

/** Numbers what spans call, `service operation` without host, over all periods alike. */
function nameCalls(periods: readonly SpanTraces[]): Uint32Array[] {
  const names = new Dictionary()
  return periods.map(({ spans, services, operations }) => {
    const known = new Map<number, number>()
    return spans.service.map((service, span) => {
      const operation = spans.operation[span]!
      const pair = service * operations.size + operation
      let name = known.get(pair)
      if (name === undefined) {
        name = names.code(`${services.value(service)} ${operations.value(operation)}`)
        known.set(pair, name)
      }
      return name
    })
  })
}
