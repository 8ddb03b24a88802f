// Runs once a span, node or edge: the loops index with `!`.
import { getOrInsert } from '../core/entries.ts'
import { memoized } from '../core/remembered.ts'
import type { AttributeValue } from '../traces/attributes.ts'
import { Dictionary } from '../traces/dictionary.ts'
import { finishColumns, growingColumns, growingUint32 } from '../traces/growing-columns.ts'
import { Outcomes, readOutcomes } from '../traces/outcomes.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import { nameTargets } from './call-targets.ts'
import { AS_RECORDED, type ClockOffsets, findClockOffsets } from './clocks/clock-offsets.ts'
import { type ClockResolution, commonResolution } from './clocks/clock-resolution.ts'
import { flowLogs, serviceLogChanges, shapesByLogs } from './flow-logs.ts'
import { AFTER, BEFORE, type FlowOptions, FlowReport, FlowSet, type Period } from './flow-set.ts'
import { flowMessages } from './messages.ts'
import { NodeLabels } from './node-labels.ts'
import { type SiblingOrder, siblingOrder } from './sibling-order.ts'
import { indexSpanCalls, type SpanCalls } from './span-calls.ts'
import { NS } from './span-tree.ts'

/**
 * Flows from span trees: a request a root, a call and a reply node a span, siblings in order; the
 * first `runs` recordings are of before.
 */
export function buildSpanFlows(
  given: readonly SpanTraces[],
  runs: number,
  options: FlowOptions,
): FlowSet {
  const recordings = nameTargets(given, runs)
  const found = options.clocks === 'aligned' ? findClockOffsets(recordings, { runs }) : AS_RECORDED
  const { resolution, cuts } = commonResolution(recordings)
  const calls = recordings.map((traces, i) => indexSpanCalls(traces, found.bySpan[i], cuts[i]))
  const names = nameCalls(recordings)
  const builder = new SpanFlowBuilder({
    order: siblingOrder(calls, { names, runs, resolution }, options),
    names,
    attributesOf: attributeLabels(recordings, options.labelBy),
    slackUs: options.slackUs,
  })
  calls.forEach((one, i) => {
    builder.addRecording(one, i, i < runs ? BEFORE : AFTER)
  })
  return builder.finish(recordings, runs, { options, resolution, clocks: found.clocks })
}

interface Request {
  readonly recording: number
  readonly period: Period
  readonly root: number
  /** By span. */
  readonly callLabels: Uint32Array
}

/** Form shared by requests whose spans match one by one, callers first and in order of start. */
interface RequestForm {
  readonly shape: number
  /** Span that is number k of the flow; its nodes are 2k and 2k + 1. */
  readonly listing: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** Numbers of siblings that follow each other, and of their caller: three entries a pair. */
  readonly siblings: Uint32Array
  /** Spans that nothing waits for. */
  readonly unawaited: number
}

/** Most spans whose forms are kept; beyond, all are forgotten. */
const MAX_FORM_SPANS = 1 << 20
const NO_EDGES = { from: new Uint32Array(), to: new Uint32Array(), edgeCount: 0 }

/** How siblings are ordered, names of the calls of every span by recording, and what labels add. */
interface FlowRules {
  readonly order: SiblingOrder
  readonly names: readonly Uint32Array[]
  readonly attributesOf: ReturnType<typeof attributeLabels>
  readonly slackUs: number
}

class SpanFlowBuilder {
  readonly #rules: FlowRules
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
  /** Labels of the spans of each recording. */
  readonly #callLabels: Uint32Array[] = []
  /** Forms of requests so far, and the keys that distinguish them. */
  #forms: (RequestForm | undefined)[] = []
  #formKeys = new ShapeTable()
  #formSpans = 0
  /** State of the current request: its spans, the key of its form, and the times of its nodes. */
  readonly #arrived = growingUint32()
  readonly #key = growingUint32()
  #timesNs = new Float64Array()
  readonly #counts = {
    asynchronousSpans: 0,
    clampedStarts: 0,
    outsideParent: 0,
    orderViolations: 0,
  }

  constructor(rules: FlowRules) {
    this.#rules = rules
    this.#columns.latencyOffsets.push(0)
    this.#columns.spanOffsets.push(0)
  }

  addRecording(calls: SpanCalls, recording: number, period: Period): void {
    const { traces, roots } = calls
    const callLabels = this.#labelSpans(traces)
    this.#callLabels.push(callLabels)
    this.#counts.clampedStarts += calls.clampedStarts
    this.#counts.outsideParent += calls.outsideParent
    let trace = 0
    for (const root of roots) {
      while (traces.spanOffsets[trace + 1]! <= root) trace++
      this.#addRequest(calls, { recording, period, root, callLabels })
      this.#ids.push(traces.ids[trace]!)
      this.#columns.period.push(period)
      this.#columns.recordedIn.push(recording)
      this.#columns.traceOf.push(trace)
      this.#columns.startUs.push(calls.startUs[root]!)
      // Computed like its latencies: with other rounding, those on its path would not add up to it.
      this.#columns.responseTimeUs.push((this.#timesNs[1]! - this.#timesNs[0]!) / NS)
    }
  }

  finish(
    periods: readonly SpanTraces[],
    runs: number,
    {
      options,
      resolution,
      clocks,
    }: { options: FlowOptions; resolution: ClockResolution; clocks: ClockOffsets | undefined },
  ): FlowSet {
    const report = new FlowReport({
      ...this.#counts,
      correctedClocks: clocks?.applied.length ?? 0,
      coarseClocks: resolution.size,
      ...this.#rules.order.counts,
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
        resolution,
        ...columns,
        shapeOf: isByLogs ? shapesByLogs(logs, { ...columns, labels, shapes }) : shapeOf,
        outcomes: outcomesOf(periods, columns),
        messages: flowMessages(periods, columns, { labels: this.#callLabels, clocks }),
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

  #addRequest(calls: SpanCalls, request: Request): void {
    this.#arrive(calls, request)
    if (this.#formSpans > MAX_FORM_SPANS) {
      this.#forms = []
      this.#formKeys = new ShapeTable()
      this.#formSpans = 0
    }
    const { values, length } = this.#key
    const number = this.#formKeys.intern(values, length, NO_EDGES)
    let form = this.#forms[number]
    if (form === undefined) {
      const { isByRule, ...found } = this.#findForm(calls, request)
      form = found
      this.#formSpans += this.#arrived.length
      if (isByRule) this.#forms[number] = form
    }
    this.#addFlow(calls, form)
  }

  /** Walks the spans below a root, callers first and in order of start. */
  #arrive({ childOffsets, children, detached }: SpanCalls, request: Request): void {
    const names = this.#rules.names[request.recording]!
    const arrived = this.#arrived
    const key = this.#key
    arrived.length = 0
    key.length = 0
    arrived.push(request.root)
    key.push(request.period)
    for (let k = 0; k < arrived.length; k++) {
      const span = arrived.values[k]!
      const end = childOffsets[span + 1]!
      for (let entry = childOffsets[span]!; entry < end; entry++) arrived.push(children[entry]!)
      key.push(request.callLabels[span]!)
      key.push(names[span]!)
      key.push(2 * (end - childOffsets[span]!) + detached[span]!)
    }
  }

  #findForm(calls: SpanCalls, request: Request): RequestForm & { readonly isByRule: boolean } {
    const { childOffsets, children } = calls
    const { recording, root, callLabels } = request
    const walk = [root]
    const from: number[] = []
    const to: number[] = []
    const siblings: number[] = []
    let unawaited = 0
    let isByRule = true
    const edge = (source: number, target: number) => {
      from.push(source)
      to.push(target)
    }
    for (let k = 0; k < walk.length; k++) {
      const span = walk[k]!
      const below = children.subarray(childOffsets[span], childOffsets[span + 1])
      if (below.length === 0) {
        edge(2 * k, 2 * k + 1)
        continue
      }
      const { listing, waits, ...order } = this.#rules.order.order(recording, span, below)
      const { followers, starters, finishers } = waits
      isByRule &&= order.isByRule
      const first = walk.length
      for (let i = 0; i < below.length; i++) walk.push(below[listing?.[i] ?? i]!)
      for (const i of starters) edge(2 * k, 2 * (first + i))
      followers.forEach((next, i) => {
        for (const j of next) {
          edge(2 * (first + i) + 1, 2 * (first + j))
          siblings.push(first + i, first + j, k)
        }
      })
      for (const i of finishers) edge(2 * (first + i) + 1, 2 * k + 1)
      if (finishers.length === 0) edge(2 * k, 2 * k + 1)
      unawaited += waits.unawaited
    }
    const nodes = Uint32Array.from(
      walk.flatMap((span) => [callLabels[span]!, callLabels[span]! + 1]),
    )
    const arrived = this.#arrived.values.subarray(0, this.#arrived.length)
    const places = new Map(Array.from(arrived, (span, place) => [span, place]))
    const edges = { from: Uint32Array.from(from), to: Uint32Array.from(to) }
    return {
      ...edges,
      shape: this.#shapes.intern(nodes, nodes.length, { ...edges, edgeCount: from.length }),
      listing: Uint32Array.from(walk, (span) => places.get(span)!),
      siblings: Uint32Array.from(siblings),
      unawaited,
      isByRule,
    }
  }

  #addFlow({ startUs, endUs }: SpanCalls, form: RequestForm): void {
    const { listing, from, to, siblings } = form
    const { spanRows, latencyUs, shapeOf, latencyOffsets, spanOffsets } = this.#columns
    const arrived = this.#arrived.values
    if (this.#timesNs.length < 2 * listing.length) {
      this.#timesNs = new Float64Array(4 * listing.length)
    }
    // In whole nanoseconds: rounding would break ties.
    const timesNs = this.#timesNs
    const first = spanRows.length
    spanRows.reserve(listing.length)
    const rows = spanRows.values
    for (let k = 0; k < listing.length; k++) {
      const span = arrived[listing[k]!]!
      rows[first + k] = span
      timesNs[2 * k] = Math.round(startUs[span]! * NS)
      timesNs[2 * k + 1] = Math.round(endUs[span]! * NS)
    }
    spanRows.length += listing.length
    latencyUs.reserve(from.length)
    const [latencies, start] = [latencyUs.values, latencyUs.length]
    for (let edge = 0; edge < from.length; edge++) {
      latencies[start + edge] = (timesNs[to[edge]!]! - timesNs[from[edge]!]!) / NS
    }
    latencyUs.length += from.length
    let violated = -1
    for (let at = 0; at < siblings.length; at += 3) {
      const [caller, endedUs] = [siblings[at + 2]!, endUs[rows[first + siblings[at]!]!]!]
      const beginsUs = startUs[rows[first + siblings[at + 1]!]!]! + this.#rules.slackUs
      if (caller === violated || endedUs <= beginsUs) continue
      violated = caller
      this.#counts.orderViolations++
    }
    this.#counts.asynchronousSpans += form.unawaited
    shapeOf.push(form.shape)
    latencyOffsets.push(latencyUs.length)
    spanOffsets.push(spanRows.length)
  }

  /** Labels of calls; that of the reply comes behind each. */
  #labelSpans(traces: SpanTraces): Uint32Array {
    const { spans, services, operations, hosts } = traces
    const known = new Map<number | string, number>()
    const labels = new Uint32Array(spans.service.length)
    for (let span = 0; span < labels.length; span++) {
      const service = spans.service[span]!
      const operation = spans.operation[span]!
      const host = spans.host[span]!
      const attributes = this.#rules.attributesOf(traces, span)
      const number = (service * operations.size + operation) * hosts.size + host
      const key = attributes === '' ? number : `${number} ${attributes}`
      labels[span] = getOrInsert(known, key, () => {
        const label = {
          service: services.value(service),
          operation: operations.value(operation),
          host: hosts.value(host),
          ...(attributes !== '' && { attributes }),
        }
        const call = this.#labels.code({ ...label, phase: 'call' })
        this.#labels.code({ ...label, phase: 'reply' })
        return call
      })
    }
    return labels
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

/** Numbers the calls of spans, `service operation` without host, with the same numbers in all periods. */
function nameCalls(periods: readonly SpanTraces[]): Uint32Array[] {
  const names = new Dictionary()
  return periods.map(({ spans, services, operations }) => {
    const known = new Map<number, number>()
    return spans.service.map((service, span) => {
      const operation = spans.operation[span]!
      const pair = service * operations.size + operation
      return getOrInsert(known, pair, () =>
        names.code(`${services.value(service)} ${operations.value(operation)}`),
      )
    })
  })
}

/** Numbers of more different values than this are distinguished by their power of two only. */
const MAX_NUMBERS = 12

/**
 * Reads what attributes add to the label of a span, `tenant=gold, size=64..128`, or nothing where it
 * has none of them. Numbers of many values, over all recordings, stand in buckets by powers of two.
 */
function attributeLabels(
  recordings: readonly SpanTraces[],
  names: readonly string[],
): (traces: SpanTraces, span: number) => string {
  if (names.length === 0) return () => ''
  const values = names.map((name) => new Set(recordings.flatMap((one) => numbersOf(one, name))))
  const bucketed = values.map(({ size }) => size > MAX_NUMBERS)
  const readersOf = memoized(({ attributes }: SpanTraces) =>
    names.map((name) => attributes.reader(name)),
  )
  return (traces, span) => {
    const readers = readersOf(traces)
    const parts = names.flatMap((name, i) => {
      const value = readers[i]?.(span)
      if (value === undefined) return []
      return `${name}=${bucketed[i] === true ? bucketText(value) : value}`
    })
    return parts.join(', ')
  }
}

function numbersOf({ attributes }: SpanTraces, name: string): number[] {
  const found = new Set<number>()
  const read = attributes.reader(name)
  for (let span = 0; span + 1 < attributes.offsets.length && found.size <= MAX_NUMBERS; span++) {
    const value = read?.(span)
    if (typeof value === 'number') found.add(value)
  }
  return [...found]
}

/**
 * Returns the bucket of a value: `64..128` holds 64 and not 128; everything below 1, including 0 and less, is one
 * bucket.
 */
function bucketText(value: AttributeValue): string {
  if (typeof value !== 'number') return String(value)
  if (!(value >= 1)) return 'below 1'
  const low = 2 ** Math.floor(Math.log2(value))
  return `${low}..${2 * low}`
}
