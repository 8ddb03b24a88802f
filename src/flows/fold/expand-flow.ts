import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { CollapsedFlows } from './collapsed-flows.ts'
import { expandGraph } from './expand-graph.ts'

/** A flow's structure in words: node labels, and edges as pairs of positions. */
export interface ExpandedFlow {
  readonly labels: readonly string[]
  readonly edges: readonly (readonly [from: number, to: number])[]
}

/**
 * The structure that a collapsed flow had before it was collapsed: the same nodes and edges as were
 * recorded, perhaps in another order. Node 0 is the root. With `omitHosts`, labels have no hosts.
 *
 * @param request row of `flows`
 *
 * @throws FlowdeltaError for flows that are not collapsed; OptionError for a row that there is not
 *
 * Source: `spec.md` §8.
 *
 * @example
 * expandFlow(collapseFlows(flows), 0).labels.length === flows.shapes.nodeCount(flows.shapeOf[0]) // true
 */
export function expandFlow(flows: CollapsedFlows, request: number): ExpandedFlow {
  if (!(flows instanceof CollapsedFlows)) {
    throw new FlowdeltaError(
      'expandFlow was given flows that are not collapsed. Collapse them first: collapseFlows(flows).',
    )
  }
  if (!(Number.isInteger(request) && request >= 0 && request < flows.size)) {
    throw new OptionError('request', request, `the row of one of ${flows.size} requests, from 0`)
  }
  const folded = flows.folded(request)
  const shape = flows.shapeOf[request] as number
  const { shapes } = flows
  const graph =
    folded === undefined
      ? { labels: shapes.labels(shape), from: shapes.from(shape), to: shapes.to(shape) }
      : expandGraph(folded)
  return {
    labels: Array.from(graph.labels, (label) => flows.labels.text(label)),
    edges: Array.from(graph.from, (from, edge) => [from, graph.to[edge] as number] as const),
  }
}
