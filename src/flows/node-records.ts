// Runs once a span, node or edge: the loops index with `!`.

import { rollup } from 'd3-array'
import { remembered } from '../core/remembered.ts'
import type { AttributeValue } from '../traces/attributes.ts'
import type { GraphTraces } from '../traces/graph-traces.ts'
import { SPAN_STATUSES } from '../traces/span-columns.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import { statementText } from './flow-logs.ts'
import type { FlowSet } from './flow-set.ts'
import { FoldedFlows } from './fold/folded-flows.ts'
import { machineOf, parsePointLabel } from './node-labels.ts'

export type NodeRecord = readonly (readonly [key: string, value: AttributeValue])[]

const NONE: NodeRecord = []

/** Finds what traces say of nodes; parameters of a span are at its call, not at its reply. */
export class NodeRecords {
  readonly #flows: FlowSet

  constructor(flows: FlowSet) {
    this.#flows = flows
  }

  of(request: number, node: number): NodeRecord {
    const traces = this.#flows.tracesOf(request)
    if (traces === undefined) return NONE
    if (traces.kind === 'graphs') {
      const folded = this.#flows instanceof FoldedFlows ? this.#flows.folded(request) : null
      const recorded = folded?.sources[node] ?? node
      return this.#pointRecord(traces, this.#flows.traceOf[request]!, recorded)
    }
    const row = node % 2 === 1 ? undefined : this.spanRow(request, node)
    return row === undefined ? NONE : spanRecord(traces, row)
  }

  /** Returns how often the span of a node logged each statement; for its call, not its reply. */
  logged(request: number, node: number): NodeRecord {
    const { logs, spanRows } = this.#flows
    if (logs === undefined || spanRows === undefined || node % 2 === 1) return NONE
    const { offsets, span, statement, statements } = logs
    const own = statement
      .subarray(offsets[request]!, offsets[request + 1]!)
      .filter((_, record) => span[offsets[request]! + record] === node >> 1)
    const nameOf = (code: number) => `logs ${statementText(statements[code]!)}`
    return [...rollup(own, ({ length }) => length, nameOf)]
  }

  /** Returns the row of a node's span in its traces; undefined for trace points and flows without traces. */
  spanRow(request: number, node: number): number | undefined {
    const { spanRows, spanOffsets } = this.#flows
    return spanOffsets && spanRows?.[spanOffsets[request]! + (node >> 1)]
  }

  #pointRecord(traces: GraphTraces, trace: number, node: number): NodeRecord {
    const { shapes, shapeOf, attributes } = traces
    const host = hostsOfLabels(traces)[shapes.labels(shapeOf[trace]!)[node]!]!
    const own =
      attributes === null ? NONE : [...attributes.entries(traces.firstNodes[trace]! + node)]
    const isKnown = host === '' || own.some(([key]) => key === 'host')
    return isKnown ? own : [['host', host], ...own]
  }
}

const hostsOfLabels = remembered(({ labels }: GraphTraces) =>
  labels.map((label) => machineOf(parsePointLabel(label))),
)

function spanRecord(traces: SpanTraces, row: number): NodeRecord {
  const { attributes, hosts, versionNames, spans } = traces
  const host = hosts.value(spans.host[row]!)
  const version = versionNames.value(spans.version[row]!)
  const status = SPAN_STATUSES[spans.status[row]!]!
  return [
    ...(host === '' ? [] : [['host', host] as const]),
    ...(version === '' ? [] : [['version', version] as const]),
    ...(status === 'unset' ? [] : [['status', status] as const]),
    ...attributes.entries(row),
  ]
}
