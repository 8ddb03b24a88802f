import { type UnrecordedCallee, unrecordedCallees } from '../calls/unrecorded-callees.ts'
import { spanRoles } from '../calls/visits.ts'
import type { Claim } from '../compare/findings/draft-findings.ts'
import type { TimedEvent } from '../compare/onset/events.ts'
import {
  type ColumnsOf,
  RequestColumns,
  type ResourceUses,
} from '../compare/segments/request-columns.ts'
import { decodeColumns, type EncodedColumns, encodeColumns } from '../core/columns.ts'
import { joined } from '../core/entries.ts'
import { pickOptions } from '../core/options.ts'
import type { Resolution } from '../flows/clocks/clock-resolution.ts'
import type { FlowLogColumns, ServiceLogChange } from '../flows/flow-logs.ts'
import { FLOW_OPTIONS, FlowReport, FlowSet } from '../flows/flow-set.ts'
import { foldSized } from '../flows/fold/fold-flows.ts'
import { FoldedFlows, type FoldOptions } from '../flows/fold/folded-flows.ts'
import type { OwnMeasure } from '../flows/measure.ts'
import type { MessageColumns } from '../flows/messages.ts'
import { kindLabel, labelText, type NodeLabel, NodeLabels } from '../flows/node-labels.ts'
import { areFromSpans } from '../flows/span-tree.ts'
import { GraphTraces } from '../traces/graph-traces.ts'
import { type Outcome, Outcomes } from '../traces/outcomes.ts'
import { QualityLog } from '../traces/quality.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import { Account, type AccountParts } from './account.ts'
import { Comparison } from './comparison.ts'
import type { ComparisonOptions } from './comparison-options.ts'

export interface SnapshotParts {
  /** When requests arrived; always with latencies, as findings ask for it. Default `false`. */
  readonly arrivals?: boolean
  readonly ids?: boolean
  /** Requests whose edge latencies are carried, the largest part; default none. */
  readonly latenciesOf?: (request: number) => boolean
  /** Whether to include the findings' claims, which requires finding them. Default `true`. */
  readonly claims?: boolean
}

interface SnapshotData {
  readonly options: Omit<ComparisonOptions, 'label'>
  readonly labels: readonly NodeLabel[]
  readonly labelTexts: readonly (readonly [own: string, given: string])[] | null
  /** Label codes of the nodes of all shapes, one shape after the other; where their edges lead. */
  readonly nodes: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly nodeCounts: Uint32Array
  readonly edgeCounts: Uint32Array
  /** Options to fold the flows again; `null` if they are carried as they are. */
  readonly folding: FoldOptions | null
  /** Size that each request's root recorded, as in labels; `''` for none. */
  readonly sizes: readonly string[] | null
  readonly period: Uint8Array
  readonly recordedIn: Uint8Array | null
  readonly epochsUs: readonly number[]
  readonly shapeOf: Uint32Array
  readonly responseTimeUs: Float64Array
  readonly startUs: Float64Array | null
  readonly ids: readonly string[] | null
  readonly weight: Float64Array | null
  /** Outcomes of spans; without latencies, of roots only. */
  readonly outcomes: {
    readonly kinds: readonly Outcome[]
    readonly ofSpan: Uint8Array
    readonly offsets: Uint32Array | null
  } | null
  /** Logs of requests; `null` without latencies. */
  readonly logs: FlowLogColumns | null
  /** Messages that requests received; `null` without latencies. */
  readonly messages: MessageColumns | null
  readonly serviceLogs: readonly ServiceLogChange[]
  readonly relays: readonly string[]
  readonly peers: readonly string[]
  readonly unrecorded: readonly UnrecordedCallee[]
  /** Services whose clocks are coarse, and how coarse. */
  readonly resolution: readonly (readonly [service: string, of: Resolution])[]
  readonly latencyUs: Float64Array
  readonly latencyOffsets: Uint32Array
  /** Columns that segments are searched by, of roots and of services; none without latencies. */
  readonly columns: readonly ColumnsOf[]
  readonly seen: readonly TimedEvent[]
  /** Resources that spans share with others; `null` without latencies. */
  readonly resources: ResourceUses | null
  readonly account: AccountParts
  /** Claims of findings: the ranked list needs them, and finding them again needs latencies. */
  readonly claims: readonly Claim[]
}

/** A comparison as plain JSON, enough for a page to compute its stages from categories on. */
export type ComparisonSnapshot = EncodedColumns<SnapshotData>

/** Takes a comparison's flows and options out of its traces. */
export function takeSnapshot(
  comparison: Comparison,
  { arrivals = false, ids = false, latenciesOf, claims: hasClaims = true }: SnapshotParts = {},
): ComparisonSnapshot {
  const { label, measure, ...options } = comparison.options
  const folded = comparison.flows
  // Edges of folded flows are tested on the recorded flows, so these are carried along with latencies.
  const refolds = folded instanceof FoldedFlows && latenciesOf !== undefined
  const flows = refolds ? folded.unfolded : folded
  const { shapes } = flows
  // Finding the claims reads columns that are carried along.
  const claims = hasClaims ? comparison.claims : []
  const each = Array.from({ length: shapes.size }, (_, shape) => shape)
  const ofShapes = (of: (shape: number) => Uint32Array) => joined(each.map(of), Uint32Array)
  return encodeColumns<SnapshotData>({
    // A function cannot be carried, and is no longer needed.
    options: {
      ...options,
      measure: typeof measure === 'string' ? measure : named(measure),
      // The other options say already what its rule makes of them.
      knowledge: null,
    },
    labels: Array.from({ length: flows.labels.size }, (_, code) => flows.labels.get(code)),
    labelTexts: label && ruledTexts(folded, label),
    nodes: ofShapes((shape) => shapes.labels(shape)),
    from: ofShapes((shape) => shapes.from(shape)),
    to: ofShapes((shape) => shapes.to(shape)),
    nodeCounts: Uint32Array.from(each, (shape) => shapes.nodeCount(shape)),
    edgeCounts: Uint32Array.from(each, (shape) => shapes.edgeCount(shape)),
    folding: refolds ? folded.folding : null,
    sizes: refolds ? sizesOf(folded) : null,
    period: flows.period,
    recordedIn: flows.runs.length > 1 ? flows.recordedIn : null,
    epochsUs: flows.epochsUs,
    shapeOf: flows.shapeOf,
    responseTimeUs: flows.responseTimeUs,
    startUs: arrivals || latenciesOf !== undefined ? flows.startUs : null,
    ids: ids ? flows.ids : null,
    weight: flows.weight ?? null,
    outcomes: outcomesOf(flows, latenciesOf === undefined),
    serviceLogs: flows.serviceLogs ?? [],
    relays: areFromSpans(flows) ? [...spanRoles(flows).relays] : [],
    peers: areFromSpans(flows) ? [...spanRoles(flows).peers] : [],
    unrecorded: areFromSpans(flows) ? unrecordedCallees(flows) : [],
    resolution: [...(flows.resolution ?? [])],
    logs: (latenciesOf && flows.logs) ?? null,
    messages: (latenciesOf && flows.messages) ?? null,
    columns: latenciesOf === undefined ? [] : comparison.columns.all(),
    seen: comparison.seen,
    account: comparison.account.parts,
    resources: latenciesOf === undefined ? null : comparison.columns.resources(),
    claims,
    ...latenciesOfSome(flows, latenciesOf ?? (() => false)),
  })
}

function named({ name, unit }: OwnMeasure): OwnMeasure {
  return { name, unit } as OwnMeasure
}

/** Returns the outcomes; leaves out each request's number of spans if shapes give it. */
function outcomesOf(flows: FlowSet, ofRoots: boolean): SnapshotData['outcomes'] {
  const { outcomes } = flows
  if (outcomes === undefined) return null
  const { kinds, ofSpan, offsets } = ofRoots ? outcomes.roots() : outcomes
  return { kinds, ofSpan, offsets: ofRoots ? offsets : null }
}

function latenciesOfSome(flows: FlowSet, isWanted: (request: number) => boolean) {
  const latencyOffsets = new Uint32Array(flows.size + 1)
  const wanted: Float64Array[] = []
  for (let request = 0; request < flows.size; request++) {
    const own = isWanted(request) ? flows.latencies(request) : new Float64Array()
    wanted.push(own)
    latencyOffsets[request + 1] = latencyOffsets[request]! + own.length
  }
  return { latencyUs: joined(wanted, Float64Array), latencyOffsets }
}

/** Restores a comparison; what needs traces, or was left out, is missing. */
export function restoreComparison(snapshot: ComparisonSnapshot): Comparison {
  const data = decodeColumns(snapshot)
  const { options, labelTexts, folding, sizes } = data
  const flows = restoreFlows(data)
  const none = noTraces()
  return new Comparison(
    { runs: [none], after: none },
    { ...options, label: labelTexts && labelRule(labelTexts) },
    {
      flows:
        folding === null
          ? flows
          : foldSized(flows, folding, (request) => sizes?.[request] || undefined),
      columns: new RequestColumns(flows, data.columns, data.resources),
      seen: data.seen,
      account: new Account(data.account, flows.quantity),
      claims: data.claims,
    },
  )
}

function restoreFlows(data: SnapshotData): FlowSet {
  const { period, shapeOf, responseTimeUs, latencyUs, latencyOffsets, options } = data
  const labels = new NodeLabels()
  for (const label of data.labels) labels.code(label)
  const shapes = restoreShapes(data)
  return new FlowSet(
    {
      periods: [],
      epochsUs: data.epochsUs,
      labels,
      shapes,
      ids: data.ids ?? Array.from(shapeOf, (_, request) => String(request)),
      period,
      recordedIn: data.recordedIn ?? undefined,
      traceOf: new Uint32Array(shapeOf.length),
      startUs: data.startUs ?? new Float64Array(shapeOf.length),
      responseTimeUs,
      shapeOf,
      latencyUs,
      latencyOffsets,
      weight: data.weight ?? undefined,
      outcomes: restoreOutcomes(data, shapes),
      logs: data.logs ?? undefined,
      messages: data.messages ?? undefined,
      serviceLogs: data.serviceLogs,
      relays: data.relays,
      peers: data.peers,
      unrecorded: data.unrecorded,
      resolution: new Map(data.resolution),
    },
    pickOptions(FLOW_OPTIONS, options),
    new FlowReport(),
  )
}

function restoreOutcomes({ outcomes, shapeOf }: SnapshotData, shapes: ShapeTable) {
  if (outcomes === null) return undefined
  const { kinds, ofSpan } = outcomes
  const offsets = new Uint32Array(shapeOf.length + 1)
  shapeOf.forEach((shape, request) => {
    offsets[request + 1] = (offsets[request] as number) + shapes.nodeCount(shape) / 2
  })
  return new Outcomes(kinds, ofSpan, outcomes.offsets ?? offsets)
}

function restoreShapes({ nodes, from, to, nodeCounts, edgeCounts }: SnapshotData): ShapeTable {
  const table = new ShapeTable()
  let node = 0
  let edge = 0
  nodeCounts.forEach((nodeCount, shape) => {
    const edgeCount = edgeCounts[shape] as number
    const ends = { from: from.subarray(edge), to: to.subarray(edge), edgeCount }
    table.intern(nodes.subarray(node), nodeCount, ends)
    node += nodeCount
    edge += edgeCount
  })
  return table
}

function sizesOf(flows: FoldedFlows): readonly string[] | null {
  const { shapes, shapeOf, labels, folding } = flows
  if (folding.sizeAttribute === null) return null
  return Array.from(shapeOf, (shape) => {
    const { size = '' } = labels.get(shapes.labels(shape)[0] as number)
    return size.startsWith(`${folding.sizeAttribute}=`) ? size.replace(/ #\w+$/, '') : ''
  })
}

/** Returns the texts that a rule makes of labels; it sees them without sizes and attributes. */
function ruledTexts({ labels }: FlowSet, rule: (node: NodeLabel) => string) {
  const nodes = Array.from({ length: labels.size }, (_, code) => kindLabel(labels.get(code)))
  return nodes.map((node) => [labelText(node), rule(node)] as const)
}

function labelRule(texts: NonNullable<SnapshotData['labelTexts']>) {
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
