import { ShapeTable } from '../traces/shape-table.ts'
import { FlowSet } from './flow-set.ts'
import { type NodeLabel, NodeLabels } from './node-labels.ts'

/** The same flows with other labels, as a system with such names would have recorded them. */
export function relabelFlows(
  flows: FlowSet,
  changes: readonly ((node: NodeLabel) => NodeLabel)[],
): FlowSet {
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
  const shapeOf = flows.shapeOf.map((shape) => numbers[shape] as number)
  return new FlowSet({ ...flows, labels, shapes, shapeOf }, flows.options, flows.report)
}
