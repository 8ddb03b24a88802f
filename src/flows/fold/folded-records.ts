// Runs once a span, node or edge: the loops index with `!`.
import { AttributesBuilder } from '../../traces/attributes.ts'
import { GraphTraces } from '../../traces/graph-traces.ts'
import { growingUint32 } from '../../traces/growing-columns.ts'
import type { ShapeTable } from '../../traces/shape-table.ts'
import type { FlowSet } from '../flow-set.ts'
import { NodeRecords } from '../node-records.ts'
import { joined } from './fold-shapes.ts'

/** Folded flows as far as they are made, and where their nodes come from. */
interface FoldedColumns {
  readonly shapes: ShapeTable
  readonly labels: readonly string[]
  readonly shapeOf: Uint32Array
  readonly latencyUs: Float64Array
  readonly latencyOffsets: Uint32Array
  /** For a request, the recorded node that each of its nodes stands for; undefined for itself. */
  readonly nodesOf: (request: number) => Uint32Array | undefined
}

type RecordColumns = Pick<FlowSet, 'periods' | 'traceOf' | 'spanRows' | 'spanOffsets'>

/**
 * Keeps what was recorded of nodes with the nodes: a folded step has the parameters of the first of
 * its lanes. (Those of all lanes are in the flows as they were recorded.)
 */
export function foldedRecords(flows: FlowSet, parts: FoldedColumns): RecordColumns {
  const { periods, spanRows, spanOffsets } = flows
  if (spanRows !== undefined && spanOffsets !== undefined) {
    return { periods, traceOf: flows.traceOf, ...spansOfNodes(flows, parts) }
  }
  const traceOf = flows.traceOf.slice()
  return {
    periods: periods.map((traces, period) =>
      traces.kind === 'graphs' && traces.attributes !== null
        ? graphsOfPeriod(traces, flows, { ...parts, period, traceOf })
        : traces,
    ),
    ...{ traceOf, spanRows: undefined, spanOffsets: undefined },
  }
}

/**
 * The spans that nodes come from, two nodes a span; none, where folding parted a call from its
 * reply so that rows of spans would be rows of other nodes.
 */
function spansOfNodes(flows: FlowSet, { nodesOf }: FoldedColumns) {
  const { spanRows, spanOffsets } = flows
  const rows = growingUint32()
  const offsets = new Uint32Array(flows.size + 1)
  for (let request = 0; request < flows.size; request++) {
    const start = spanOffsets?.[request] as number
    const end = spanOffsets?.[request + 1] as number
    const nodes = nodesOf(request) ?? Uint32Array.from({ length: 2 * (end - start) }, (_, i) => i)
    for (let node = 0; node < nodes.length; node += 2) {
      const call = nodes[node]!
      if (call % 2 === 1 || nodes[node + 1] !== call + 1) {
        return { spanRows: undefined, spanOffsets: undefined }
      }
      rows.push(spanRows?.[start + call / 2] as number)
    }
    offsets[request + 1] = rows.length
  }
  return { spanRows: rows.finish(), spanOffsets: offsets }
}

/** The period as if it had been recorded folded; requests keep their order, and only they stay. */
function graphsOfPeriod(
  traces: GraphTraces,
  flows: FlowSet,
  { period, traceOf, ...parts }: FoldedColumns & { period: number; traceOf: Uint32Array },
): GraphTraces {
  const { shapes, labels, shapeOf, latencyUs, latencyOffsets, nodesOf } = parts
  const { recordedIn } = flows
  const requests = Array.from(recordedIn, (_, i) => i).filter((i) => recordedIn[i] === period)
  const records = new NodeRecords(flows)
  const attributes = new AttributesBuilder()
  let nodes = 0
  requests.forEach((request, trace) => {
    traceOf[request] = trace
    const of = nodesOf(request)
    const count = shapes.nodeCount(shapeOf[request]!)
    for (let node = 0; node < count; node++) {
      for (const [key, value] of records.of(request, of?.[node] ?? node)) {
        attributes.add(nodes + node, key, value)
      }
    }
    nodes += count
  })
  const latencies = requests.map((request) =>
    latencyUs.subarray(latencyOffsets[request], latencyOffsets[request + 1]),
  )
  return new GraphTraces(
    traces.name,
    {
      ids: requests.map((request) => flows.ids[request]!),
      startUs: Float64Array.from(requests, (request) => flows.startUs[request]!),
      responseTimeUs: Float64Array.from(requests, (i) => flows.responseTimeUs[i]!),
      ...{ shapes, labels, ...joined(latencies) },
      shapeOf: Uint32Array.from(requests, (request) => shapeOf[request]!),
      attributes: attributes.finish(nodes),
    },
    traces.quality(),
  )
}
