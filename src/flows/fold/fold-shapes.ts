// Runs once a span, node or edge: the loops index with `!`.
import { groupRows, placesIn } from '../../traces/group-rows.ts'
import type { FlowSet } from '../flow-set.ts'
import { type FoldResult, foldGraph } from './fold-graph.ts'
import { LatencyFolder } from './fold-latencies.ts'
import { type FoldedGraph, logicalOrder } from './folded-graph.ts'

/** What folding makes of shapes and of the latencies of their requests. */
export interface FoldedShapes {
  /** By shape; undefined where nothing repeats. */
  readonly graphs: readonly (FoldedGraph | undefined)[]
  /**
   * By shape, the recorded node that each folded node stands for; undefined where nothing repeats.
   */
  readonly sources: readonly (Uint32Array | undefined)[]
  /**
   * By shape, the logical edge that each recorded edge became: folded edges numbered as
   * `logicalOrder` has them. Undefined where nothing repeats.
   */
  readonly logicalOf: readonly (Uint32Array | undefined)[]
  readonly unfinished: number
  readonly latencyUs: Float64Array
  readonly latencyOffsets: Uint32Array
}

/** How shapes are folded. */
export interface FoldRule {
  readonly relabel: (shape: number) => Uint32Array
  readonly labelRank: Uint32Array
  readonly least: number
}

/** Folds flows shape by shape, so that what folding one takes is gone before the next. */
export function foldShapes(flows: FlowSet, { relabel, labelRank, least }: FoldRule): FoldedShapes {
  const graphs: (FoldedGraph | undefined)[] = []
  const sources: (Uint32Array | undefined)[] = []
  const logicalOf: (Uint32Array | undefined)[] = []
  const latencies: Float64Array[] = new Array(flows.size)
  let unfinished = 0
  const { offsets, rows } = groupRows(flows.shapeOf, flows.shapes.size)
  for (let shape = 0; shape < flows.shapes.size; shape++) {
    const requests = rows.subarray(offsets[shape], offsets[shape + 1])
    if (requests.length === 0) continue
    const graph = { labels: relabel(shape), ...shapeEdges(flows, shape) }
    const { steps, graph: after, sources: from, gaveUp } = foldGraph(graph, { labelRank, least })
    if (gaveUp) unfinished++
    if (steps.length === 0) {
      for (const request of requests) latencies[request] = flows.latencies(request)
      continue
    }
    graphs[shape] = after
    sources[shape] = from
    logicalOf[shape] = logicalEdges(graph.from, { steps, graph: after })
    const folders = steps.map((step) => new LatencyFolder(step, labelRank))
    for (const request of requests) {
      const responseTimeUs = flows.responseTimeUs[request]!
      const recorded = flows.latencies(request)
      // Flows restored from a snapshot have latencies of some requests only.
      if (recorded.length < graph.from.length) {
        latencies[request] = recorded
        continue
      }
      const folded = folders.reduce(
        (latencyUs, folder) => folder.fold(latencyUs, responseTimeUs),
        recorded,
      )
      latencies[request] = folded.filter((_, edge) => after.loops[edge] === 0)
    }
  }
  return { graphs, sources, logicalOf, unfinished, ...joined(latencies) }
}

/** Returns the recorded edges of a shape. */
export function shapeEdges({ shapes }: FlowSet, shape: number) {
  return { from: shapes.from(shape), to: shapes.to(shape) }
}

function logicalEdges(
  recorded: Uint32Array,
  { steps, graph }: Pick<FoldResult, 'steps' | 'graph'>,
): Uint32Array {
  const place = placesIn(logicalOrder(graph))
  return recorded.map((_, edge) => {
    const folded = steps.reduce((at, step) => step.edgeOf[at]!, edge)
    return place[folded]!
  })
}

/** Latencies of requests one after the other. */
export function joined(latencies: readonly Float64Array[]) {
  const latencyOffsets = new Uint32Array(latencies.length + 1)
  latencies.forEach((own, request) => {
    latencyOffsets[request + 1] = latencyOffsets[request]! + own.length
  })
  const latencyUs = new Float64Array(latencyOffsets[latencies.length]!)
  latencies.forEach((own, request) => {
    latencyUs.set(own, latencyOffsets[request])
  })
  return { latencyUs, latencyOffsets }
}
