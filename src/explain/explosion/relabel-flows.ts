import { FlowSet } from '../../flows/flow-set.ts'
import { NodeLabels } from '../../flows/node-labels.ts'
import { ShapeTable } from '../../traces/shape-table.ts'
import type { LabelChange } from './label-parts.ts'

/**
 * The same flows with other labels at their nodes. Shapes that now are the same become one, so that
 * folding and categorizing see what a system with such names would have recorded.
 */
export function relabelFlows(flows: FlowSet, changes: readonly LabelChange[]): FlowSet {
  if (changes.length === 0) return flows
  const labels = new NodeLabels()
  const codes = Uint32Array.from({ length: flows.labels.size }, (_, code) =>
    labels.code(changes.reduce((node, change) => change(node), flows.labels.get(code))),
  )
  const shapes = new ShapeTable()
  const numbers = Uint32Array.from({ length: flows.shapes.size }, (_, shape) => {
    const relabeled = flows.shapes.labels(shape).map((code) => codes[code] as number)
    const [from, to] = [flows.shapes.from(shape), flows.shapes.to(shape)]
    const edges = { from, to, edgeCount: from.length }
    return shapes.intern(relabeled, relabeled.length, edges)
  })
  const { periods, ids, period, traceOf, startUs, responseTimeUs, latencyUs } = flows
  const { latencyOffsets, weight, spanRows, spanOffsets } = flows
  return new FlowSet(
    {
      ...{ periods, labels, shapes, ids, period, traceOf, startUs, responseTimeUs, latencyUs },
      ...{ latencyOffsets, weight, spanRows, spanOffsets },
      shapeOf: flows.shapeOf.map((shape) => numbers[shape] as number),
    },
    flows.options,
    flows.report,
  )
}
