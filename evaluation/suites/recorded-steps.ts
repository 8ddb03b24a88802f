import { at } from '../../src/core/entries.ts'
import type { FlowSet, Period } from '../../src/flows/flow-set.ts'
import { labelText, type NodeLabel } from '../../src/flows/node-labels.ts'
import type { SpanColumns, SpanTraces } from '../../src/traces/span-traces.ts'
import { coveredUs, endUs, findVisits, type Visits } from './visits.ts'

/** A step from one node of a flow to the next, by their labels. */
export interface Step {
  readonly from: string
  readonly to: string
}

/** What the requests of one period that have a step say of it: each the mean over its calls. */
export interface StepTimes {
  /** From the one trace point to the other. */
  readonly elapsedUs: Float64Array
  /** The part of it that no other call covers which the same service makes meanwhile. */
  readonly uncoveredUs: Float64Array
}

/** The start (`call`) or the end (`reply`) of a span. */
interface TracePoint {
  readonly span: number
  readonly phase: 'call' | 'reply'
}

/**
 * Measures a step in the spans of one period: flows say which requests have it, and between which
 * spans; the times are those recorded.
 */
export function stepTimes(flows: FlowSet, period: Period, step: Step): StepTimes {
  const elapsedUs: number[] = []
  const uncoveredUs: number[] = []
  const edgesOf = new Map<number, readonly FlowEdge[]>()
  for (let request = 0; request < flows.size; request++) {
    const traces = flows.tracesOf(request)
    const spanRows = flows.spanRows?.subarray(flows.spanOffsets?.[request])
    if (flows.period[request] !== period || traces?.kind !== 'spans' || !spanRows) continue
    const shape = at(flows.shapeOf, request)
    const edges = edgesOf.get(shape) ?? edgesWith(flows, shape, step)
    edgesOf.set(shape, edges)
    if (edges.length === 0) continue
    const point = (node: number): TracePoint => ({
      span: at(spanRows, node >>> 1),
      phase: node & 1 ? 'reply' : 'call',
    })
    const times = edges.map(({ from, to }) => timesBetween(traces, point(from), point(to)))
    const sum = (key: keyof StepTimes) => times.reduce((total, time) => total + time[key], 0)
    elapsedUs.push(sum('elapsedUs') / times.length)
    uncoveredUs.push(sum('uncoveredUs') / times.length)
  }
  return {
    elapsedUs: Float64Array.from(elapsedUs),
    uncoveredUs: Float64Array.from(uncoveredUs),
  }
}

/** An edge of a shape, by the places of its nodes. */
interface FlowEdge {
  readonly from: number
  readonly to: number
}

function edgesWith({ shapes, labels }: FlowSet, shape: number, step: Step): FlowEdge[] {
  const codes = shapes.labels(shape)
  const targets = shapes.to(shape)
  const isLabel = (node: number, label: string) => hasLabel(labels.get(at(codes, node)), label)
  return Array.from(shapes.from(shape), (from, edge) => ({ from, to: at(targets, edge) })).filter(
    ({ from, to }) => isLabel(from, step.from) && isLabel(to, step.to),
  )
}

/** Whether a node has a label, with its host or without. */
function hasLabel(node: NodeLabel, label: string): boolean {
  return labelText(node) === label || labelText({ ...node, host: '' }) === label
}

/**
 * Returns the time between two trace points of one request, and how much of it no call covers that
 * their service makes meanwhile. Nothing covers the way of a call to another service and back.
 */
function timesBetween(traces: SpanTraces, from: TracePoint, to: TracePoint) {
  const { spans } = traces
  const visits = visitsOf(traces)
  const fromUs = timeOf(spans, from)
  const toUs = timeOf(spans, to)
  const elapsedUs = toUs - fromUs
  const within = spanAround(spans, from, to)
  if (visits.isCaller(within)) return { elapsedUs, uncoveredUs: elapsedUs }
  const { calls } = visits.of(within)
  const others = calls.filter(({ span }) => span !== from.span && span !== to.span)
  return { elapsedUs, uncoveredUs: elapsedUs - coveredUs(others, [fromUs, toUs]) }
}

const VISITS = new WeakMap<SpanTraces, Visits>()

function visitsOf(traces: SpanTraces): Visits {
  const known = VISITS.get(traces) ?? findVisits(traces.spans)
  VISITS.set(traces, known)
  return known
}

/** Returns the span in which the time between two points of it, or of its children, passes. */
function spanAround({ parent }: SpanColumns, from: TracePoint, to: TracePoint): number {
  const isWithin = from.span === to.span || at(parent, to.span) === from.span
  return isWithin ? from.span : at(parent, from.span)
}

function timeOf(spans: SpanColumns, { span, phase }: TracePoint): number {
  return phase === 'call' ? at(spans.startUs, span) : endUs(spans, span)
}

/**
 * Counts a part in the spans of each of one period's requests: a node, or with `after` a node that
 * directly follows another.
 *
 * @param roots labels of the roots of the requests that count; `null` for all
 * @param part.label label of the node
 * @param part.after label of the node before it; any if left out
 */
export function partCounts(
  traces: SpanTraces,
  roots: ReadonlySet<string> | null,
  { label, after }: { readonly label: string; readonly after?: string },
): number[] {
  const { spans, spanOffsets, ids } = traces
  const texts = new LabelTexts(traces)
  const children = childrenOf(spans)
  return ids.flatMap((_, trace) => {
    const first = at(spanOffsets, trace)
    const rows = Array.from({ length: at(spanOffsets, trace + 1) - first }, (_, i) => first + i)
    const root = rows.find((span) => at(spans.parent, span) < 0)
    if (root === undefined) return []
    if (roots && ![...roots].some((one) => texts.is(root, 'call', one))) return []
    const parts = rows.filter((span) => {
      const phase = texts.phase(span, label)
      if (phase === null || after === undefined) return phase !== null
      return pointsBefore(spans, children, { span, phase }).some((point) =>
        texts.is(point.span, point.phase, after),
      )
    })
    return [parts.length]
  })
}

/** Compares the labels of spans' starts and ends. */
class LabelTexts {
  readonly #traces: SpanTraces
  readonly #known = new Map<string, boolean>()

  constructor(traces: SpanTraces) {
    this.#traces = traces
  }

  is(span: number, phase: TracePoint['phase'], label: string): boolean {
    const { spans, services, operations, hosts } = this.#traces
    const service = at(spans.service, span)
    const operation = at(spans.operation, span)
    const host = at(spans.host, span)
    const key = `${service} ${operation} ${host} ${phase} ${label}`
    const known =
      this.#known.get(key) ??
      hasLabel(
        {
          service: services.value(service),
          operation: operations.value(operation),
          host: hosts.value(host),
          phase,
        },
        label,
      )
    this.#known.set(key, known)
    return known
  }

  /** Returns which end of a span has a label; `null` for neither. */
  phase(span: number, label: string): TracePoint['phase'] | null {
    if (this.is(span, 'call', label)) return 'call'
    return this.is(span, 'reply', label) ? 'reply' : null
  }
}

function childrenOf({ parent }: SpanColumns): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>()
  parent.forEach((caller, span) => {
    const known = children.get(caller)
    if (known === undefined) children.set(caller, [span])
    else known.push(span)
  })
  return children
}

/** A clock's last digit: one span still counts as ended before another that starts so much sooner. */
const SLACK_US = 1

/** Returns what a trace point directly follows, by the times of its own request. */
function pointsBefore(
  spans: SpanColumns,
  children: ReadonlyMap<number, readonly number[]>,
  { span, phase }: TracePoint,
): TracePoint[] {
  const caller = phase === 'call' ? at(spans.parent, span) : span
  if (caller < 0) return []
  const untilUs = phase === 'call' ? at(spans.startUs, span) : endUs(spans, span)
  const done = (children.get(caller) ?? []).filter(
    (child) => child !== span && endUs(spans, child) <= untilUs + SLACK_US,
  )
  if (done.length === 0) return [{ span: caller, phase: 'call' }]
  return done
    .filter((child) => !done.some((later) => at(spans.startUs, later) >= endUs(spans, child)))
    .map((child) => ({ span: child, phase: 'reply' }))
}
