import { AFTER, BEFORE, FlowReport, FlowSet } from '../flows/flow-set.ts'
import { foldFlows } from '../flows/fold/fold-flows.ts'
import { FoldedFlows, type FoldOptions } from '../flows/fold/folded-flows.ts'
import { labelText, type NodeLabel, NodeLabels } from '../flows/node-labels.ts'
import { GraphTraces } from '../traces/graph-traces.ts'
import { QualityLog } from '../traces/quality.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import { Comparison } from './comparison.ts'
import type { ComparisonOptions } from './comparison-options.ts'

/** Parts of the requests that a snapshot carries; without one, stages that ask for it get zeros. */
export interface SnapshotParts {
  /** When requests arrived. Default `false`. */
  readonly arrivals?: boolean
  /** Trace ids; without them, requests are called by their number. Default `false`. */
  readonly ids?: boolean
  /**
   * Requests whose edge latencies are carried, by their row: the largest part by far. Edges,
   * findings and their tables need those of all requests. Default none.
   */
  readonly latenciesOf?: (request: number) => boolean
}

/**
 * A comparison as plain JSON, enough to compute its stages from categories to findings again, by
 * the same code, where there are no traces: in a page.
 */
export interface ComparisonSnapshot {
  readonly options: Omit<ComparisonOptions, 'label'>
  readonly labels: readonly NodeLabel[]
  /** Each label's own text and the one the user's rule gives it; `null` without a rule. */
  readonly labelTexts: readonly (readonly [own: string, given: string])[] | null
  readonly shapes: readonly SnapshotShape[]
  /** How to fold the flows again; `null` where they are carried as they are. */
  readonly folding: FoldOptions | null
  /** Number of requests before; they come first. */
  readonly before: number
  readonly shapeOf: readonly number[]
  readonly responseTimeUs: readonly number[]
  readonly startUs: readonly number[] | null
  readonly ids: readonly string[] | null
  readonly weight: readonly (number | null)[] | null
  /** Latencies of the edges of some requests, by row. */
  readonly latencies: readonly (readonly [request: number, latencyUs: readonly number[]])[]
}

/** Label codes of the nodes, then where the edges start and end. */
export type SnapshotShape = readonly [
  labels: readonly number[],
  from: readonly number[],
  to: readonly number[],
]

/**
 * Takes a comparison's flows out of its traces.
 *
 * @param comparison from `compare`
 * @param parts see {@link SnapshotParts}
 *
 * @example
 * takeSnapshot(comparison).shapeOf.length === comparison.flows.size // true
 */
export function takeSnapshot(
  comparison: Comparison,
  { arrivals = false, ids = false, latenciesOf }: SnapshotParts = {},
): ComparisonSnapshot {
  const { label, ...options } = comparison.options
  const folded = comparison.flows
  // Edges of folded flows are tested by what was recorded, so that is carried along with latencies.
  const refolds = folded instanceof FoldedFlows && latenciesOf !== undefined
  const flows = refolds ? folded.unfolded : folded
  const rows = Array.from({ length: flows.size }, (_, request) => request)
  const carried = rows.filter(latenciesOf ?? (() => false))
  return {
    options,
    labels: labelsOf(flows),
    labelTexts: label && labelsOf(folded).map((node) => [labelText(node), label(node)] as const),
    shapes: shapesOf(flows),
    folding: refolds ? folded.folding : null,
    before: flows.count(BEFORE),
    shapeOf: [...flows.shapeOf],
    responseTimeUs: [...flows.responseTimeUs],
    startUs: arrivals ? [...flows.startUs] : null,
    ids: ids ? flows.ids : null,
    weight: flows.weight === undefined ? null : Array.from(flows.weight, finiteOrNull),
    latencies: carried.map((row) => [row, [...flows.latencies(row)]] as const),
  }
}

function labelsOf({ labels }: FlowSet): NodeLabel[] {
  return Array.from({ length: labels.size }, (_, code) => labels.get(code))
}

function shapesOf({ shapes }: FlowSet): SnapshotShape[] {
  return Array.from({ length: shapes.size }, (_, shape) => [
    [...shapes.labels(shape)],
    [...shapes.from(shape)],
    [...shapes.to(shape)],
  ])
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/**
 * Restores a comparison from its snapshot. Stages from `flows` to `findings` give what they gave,
 * with other options too, except for those that need what the snapshot left out: edges and findings
 * need latencies, arrivals their times, and other `concurrency`, `slackUs` or `fold` the traces.
 *
 * @example
 * restoreComparison(takeSnapshot(comparison)).categories.size === comparison.categories.size // true
 */
export function restoreComparison(snapshot: ComparisonSnapshot): Comparison {
  const { options, labelTexts, folding } = snapshot
  const flows = restoreFlows(snapshot)
  const none = noTraces()
  return new Comparison(
    { before: none, after: none },
    { ...options, label: labelTexts && labelRule(labelTexts) },
    { flows: folding === null ? flows : foldFlows(flows, folding) },
  )
}

function restoreFlows(snapshot: ComparisonSnapshot): FlowSet {
  const { shapeOf, responseTimeUs, startUs, ids, weight, options, before } = snapshot
  const size = shapeOf.length
  const labels = new NodeLabels()
  for (const label of snapshot.labels) labels.code(label)
  return new FlowSet(
    {
      periods: [],
      labels,
      shapes: restoreShapes(snapshot),
      ids: ids ?? shapeOf.map((_, request) => String(request)),
      period: Uint8Array.from(shapeOf, (_, request) => (request < before ? BEFORE : AFTER)),
      traceOf: new Uint32Array(size),
      startUs: startUs === null ? new Float64Array(size) : Float64Array.from(startUs),
      responseTimeUs: Float64Array.from(responseTimeUs),
      shapeOf: Uint32Array.from(shapeOf),
      ...restoreLatencies(snapshot),
      weight:
        weight === null ? undefined : Float64Array.from(weight, (value) => value ?? Number.NaN),
    },
    { concurrency: options.concurrency, slackUs: options.slackUs },
    new FlowReport(),
  )
}

function restoreShapes({ shapes }: ComparisonSnapshot): ShapeTable {
  const table = new ShapeTable()
  for (const [labels, from, to] of shapes) {
    const edges = { from: Uint32Array.from(from), to: Uint32Array.from(to) }
    table.intern(Uint32Array.from(labels), labels.length, { ...edges, edgeCount: from.length })
  }
  return table
}

function restoreLatencies({ shapeOf, shapes, latencies }: ComparisonSnapshot) {
  const latencyOffsets = new Uint32Array(shapeOf.length + 1)
  const known = new Map(latencies)
  for (const [request, shape] of shapeOf.entries()) {
    const edges = known.has(request) ? (shapes[shape]?.[1].length ?? 0) : 0
    latencyOffsets[request + 1] = (latencyOffsets[request] as number) + edges
  }
  const latencyUs = new Float64Array(latencyOffsets.at(-1) ?? 0)
  for (const [request, values] of latencies) latencyUs.set(values, latencyOffsets[request])
  return { latencyUs, latencyOffsets }
}

function labelRule(texts: NonNullable<ComparisonSnapshot['labelTexts']>) {
  const rule = new Map(texts)
  return (label: NodeLabel) => rule.get(labelText(label)) ?? labelText(label)
}

function noTraces(): GraphTraces {
  return new GraphTraces(
    'snapshot',
    {
      ids: [],
      startUs: new Float64Array(),
      responseTimeUs: new Float64Array(),
      shapes: new ShapeTable(),
      labels: [],
      shapeOf: new Uint32Array(),
      latencyUs: new Float64Array(),
      latencyOffsets: new Uint32Array(1),
      attributes: null,
    },
    new QualityLog().finish(0),
  )
}
