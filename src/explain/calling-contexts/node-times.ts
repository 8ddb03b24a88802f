import type { FlowSet } from '../../flows/flow-set.ts'
import { ShapeGraph } from '../../traces/shape-table.ts'

/** When each node of a request's flow happened, in µs since the request began. */
export function nodeTimes(flows: FlowSet, request: number): Float64Array {
  const shape = flows.shapeOf[request] as number
  const graph = new ShapeGraph().load(flows.shapes, shape)
  const [from, to] = [flows.shapes.from(shape), flows.shapes.to(shape)]
  const latencyUs = flows.latencies(request)
  const leaving: number[][] = Array.from({ length: graph.nodes }, () => [])
  from.forEach((node, edge) => {
    leaving[node]?.push(edge)
  })
  const timeUs = new Float64Array(graph.nodes).fill(Number.NEGATIVE_INFINITY)
  for (const node of graph.order.subarray(0, graph.nodes)) {
    const time = timeUs[node] as number
    if (time === Number.NEGATIVE_INFINITY) timeUs[node] = 0
    for (const edge of leaving[node] as number[]) {
      const arrivalUs = (timeUs[node] as number) + (latencyUs[edge] as number)
      const target = to[edge] as number
      timeUs[target] = Math.max(timeUs[target] as number, arrivalUs)
    }
  }
  return timeUs
}
