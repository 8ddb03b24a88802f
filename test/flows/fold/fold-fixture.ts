import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import type { FoldedFlows, FoldOptions } from '../../../src/flows/fold/folded-flows.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'

export const folded = (graphs: readonly GraphSketch[], options: Partial<FoldOptions> = {}) =>
  foldFlows(buildFlows(makeGraphs(graphs)), options)

export type Folded = ReturnType<typeof foldFlows>

export const labelsOf = (flows: Folded, request = 0) =>
  Array.from(flows.shapes.labels(flows.shapeOf[request] as number), (label) =>
    flows.labels.text(label),
  )

export const edgesOf = (flows: Folded, request = 0) => {
  const shape = flows.shapeOf[request] as number
  const to = flows.shapes.to(shape)
  return Array.from(flows.shapes.from(shape), (from, edge) => `${from}-${to[edge]}`)
}

/** A root, then labels one after the other. */
export const chain = (...labels: string[]): GraphSketch => ({
  labels,
  edges: labels.slice(1).map((_, i) => [i, i + 1] as const),
})

/** `count` steps with one label between call and reply, side by side. */
export const fan = (count: number, latencyUs: readonly number[]): GraphSketch => ({
  labels: ['call', ...Array.from({ length: count }, () => 'disk'), 'reply'],
  edges: Array.from({ length: count }, (_, i) => [
    [0, i + 1] as const,
    [i + 1, count + 1] as const,
  ]).flat(),
  latencyUs,
})

/** All latencies that were recorded for a folded edge of a request, loops last: one a lane that has it. */
export function recordedSamples(flows: FoldedFlows, request: number, edge: number): Float64Array {
  const edgeOf = flows.folded(request)?.edgeOf
  return flows.unfolded.latencies(request).filter((_, at) => (edgeOf?.[at] ?? at) === edge)
}
