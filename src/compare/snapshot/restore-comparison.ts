import { FlowReport, FlowSet } from '../../flows/flow-set.ts'
import { labelText, type NodeLabel, NodeLabels } from '../../flows/node-labels.ts'
import { GraphTraces } from '../../traces/graph-traces.ts'
import { QualityLog } from '../../traces/quality.ts'
import { ShapeTable } from '../../traces/shape-table.ts'
import { Comparison } from '../comparison.ts'
import { type ComparisonSnapshot, periodOf } from './comparison-snapshot.ts'

/**
 * A comparison from its snapshot. All stages from `flows` to `ranking` give what they gave, with
 * other options too, except for those that need what the snapshot left out: edges want latencies,
 * arrivals their times, and other `concurrency` or `slackUs` the traces themselves.
 */
export function restoreComparison(snapshot: ComparisonSnapshot): Comparison {
  const { options, labelTexts } = snapshot
  const flows = restoreFlows(snapshot)
  const none = noTraces()
  return new Comparison(
    { before: none, after: none },
    { ...options, label: labelTexts === null ? null : labelRule(snapshot.labels, labelTexts) },
    { stages: { flows }, thresholdAsked: true },
  )
}

function restoreFlows(snapshot: ComparisonSnapshot): FlowSet {
  const { shapeOf, responseTimeUs, startUs, ids, weight, options } = snapshot
  const size = shapeOf.length
  const labels = new NodeLabels()
  for (const label of snapshot.labels) labels.code(label)
  return new FlowSet(
    {
      ...{ periods: [], labels, shapes: restoreShapes(snapshot) },
      ids: ids ?? shapeOf.map((_, request) => String(request)),
      period: Uint8Array.from(shapeOf, (_, request) => periodOf(snapshot, request)),
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

function labelRule(labels: readonly NodeLabel[], texts: readonly string[]) {
  const rule = new Map(labels.map((label, code) => [labelText(label), texts[code] as string]))
  return (label: NodeLabel) => rule.get(labelText(label)) ?? labelText(label)
}

function noTraces(): GraphTraces {
  return new GraphTraces(
    'snapshot',
    {
      ...{ ids: [], startUs: new Float64Array(), responseTimeUs: new Float64Array() },
      ...{ shapes: new ShapeTable(), labels: [], shapeOf: new Uint32Array() },
      ...{ latencyUs: new Float64Array(), latencyOffsets: new Uint32Array(1), attributes: null },
    },
    new QualityLog().finish(0),
  )
}
