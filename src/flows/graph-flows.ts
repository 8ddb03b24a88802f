// Runs once a span, node or edge: the loops index with `!`.
import type { GraphTraces } from '../traces/graph-traces.ts'
import { ShapeTable } from '../traces/shape-table.ts'
import { AFTER, BEFORE, type FlowOptions, FlowReport, FlowSet } from './flow-set.ts'
import { NodeLabels, parsePointLabel } from './node-labels.ts'

/** Flows from trace-point graphs; the first `runs` recordings are of before. */
export function buildGraphFlows(
  periods: readonly GraphTraces[],
  runs: number,
  options: FlowOptions,
): FlowSet {
  const labels = new NodeLabels()
  const first = periods[0] && serves(periods[0], labels) ? periods[0] : undefined
  if (periods.length === 1 && first) return flowsOf(first, labels, options)
  const shapes = first ? new ShapeTable(first.shapes.columns()) : new ShapeTable()
  const size = periods.reduce((sum, { size }) => sum + size, 0)
  const edges = periods.reduce((sum, { latencyUs }) => sum + latencyUs.length, 0)
  const columns = {
    period: new Uint8Array(size),
    recordedIn: new Uint8Array(size),
    traceOf: new Uint32Array(size),
    startUs: new Float64Array(size),
    responseTimeUs: new Float64Array(size),
    shapeOf: new Uint32Array(size),
    latencyUs: new Float64Array(edges),
    latencyOffsets: new Uint32Array(size + 1),
  }
  let row = 0
  let edge = 0
  periods.forEach((traces, recording) => {
    const shapeCodes = traces === first ? undefined : internShapes(traces, labels, shapes)
    columns.startUs.set(traces.startUs, row)
    columns.responseTimeUs.set(traces.responseTimeUs, row)
    columns.latencyUs.set(traces.latencyUs, edge)
    columns.period.fill(recording < runs ? BEFORE : AFTER, row, row + traces.size)
    columns.recordedIn.fill(recording, row, row + traces.size)
    for (let trace = 0; trace < traces.size; trace++) {
      columns.traceOf[row + trace] = trace
      const shape = traces.shapeOf[trace]!
      columns.shapeOf[row + trace] = shapeCodes === undefined ? shape : shapeCodes[shape]!
      columns.latencyOffsets[row + trace + 1] = edge + traces.latencyOffsets[trace + 1]!
    }
    row += traces.size
    edge += traces.latencyUs.length
  })
  const ids = periods.flatMap((traces) => traces.ids)
  return new FlowSet({ periods, labels, shapes, ids, ...columns }, options, new FlowReport())
}

/** Whether a period alone has these labels and shapes, all in use. */
function serves({ labels: texts, shapes, shapeOf }: GraphTraces, labels: NodeLabels): boolean {
  const isSame = texts.every((text, code) => labels.code(parsePointLabel(text)) === code)
  return isSame && new Set(shapeOf).size === shapes.size
}

/** Flows of one period with its own columns: shapes and latencies are too large to have twice. */
function flowsOf(traces: GraphTraces, labels: NodeLabels, options: FlowOptions): FlowSet {
  const { ids, startUs, responseTimeUs, shapes, shapeOf, latencyUs, latencyOffsets } = traces
  const traceOf = Uint32Array.from(ids, (_, trace) => trace)
  const columns = { ids, startUs, responseTimeUs, shapes, shapeOf, latencyUs, latencyOffsets }
  const period = new Uint8Array(ids.length)
  return new FlowSet(
    { ...columns, periods: [traces], labels, period, traceOf },
    options,
    new FlowReport(),
  )
}

/** Adds the shapes of a period, but for graphs left out; gives the new number of each. */
function internShapes(traces: GraphTraces, labels: NodeLabels, shapes: ShapeTable): Uint32Array {
  const codes = Uint32Array.from(traces.labels, (text) => labels.code(parsePointLabel(text)))
  const numbers = new Uint32Array(traces.shapes.size)
  for (const shape of new Set(traces.shapeOf)) {
    const relabeled = traces.shapes.labels(shape).map((label) => codes[label]!)
    const from = traces.shapes.from(shape)
    numbers[shape] = shapes.intern(relabeled, relabeled.length, {
      from,
      to: traces.shapes.to(shape),
      edgeCount: from.length,
    })
  }
  return numbers
}
