// Runs once a span, node or edge: the loops index with `!`.
import { group, rollup } from 'd3-array'
import { groupRows, placesIn } from '../../traces/group-rows.ts'
import type { FlowSet } from '../flow-set.ts'
import { type FoldStep, foldLanes } from './fold-lanes.ts'
import { LatencyFolder } from './fold-latencies.ts'
import {
  type EdgeRows,
  edgeRows,
  type FlowGraph,
  type FoldedGraph,
  LazyColors,
  logicalOrder,
  type NodeKinds,
  nodeKinds,
  refineKinds,
  unfolded,
} from './folded-graph.ts'
import { LaneGrower } from './grow-lanes.ts'
import { RoundTimes, repeatedSteps } from './round-times.ts'

/** How often, in all, a graph's edges are gone through in vain before it is left as it is. */
const PATIENCE = 200

interface FoldResult {
  /** Its nodes in the order of those they stand for. */
  readonly graph: FoldedGraph
  /** For each of its nodes the one it stands for, in the graph as it was given. */
  readonly sources: Uint32Array
  /** The repetitions folded one after the other; none where nothing repeats. */
  readonly steps: readonly FoldStep[]
  readonly gaveUp: boolean
}

/**
 * Folds lanes of a pipeline, equal branches and rounds of a loop into one, over and over, if proven
 * alike in every node and edge, so that the graph can be given back. The order of nodes and edges
 * does not matter, `labelRank` decides ties; iterative, as depth does not matter. Source:
 * Sambasivan 2013, §3.5.2.
 */
export function foldGraph(
  graph: FlowGraph,
  { labelRank, least = 2 }: { labelRank: Uint32Array; least?: number },
): FoldResult {
  const steps: FoldStep[] = []
  let current = unfolded(graph)
  let sources = Uint32Array.from(graph.labels.keys())
  let patience = PATIENCE * (graph.labels.length + graph.from.length)
  while (patience > 0) {
    const tried = foldOnce(current, { labelRank, least, patience })
    patience = tried.patience
    const { step } = tried
    if (step === undefined) break
    steps.push(step)
    current = step.after
    const before = sources
    sources = step.sources.map((node) => before[node]!)
  }
  return { ...inOrderOfSources(current, sources), steps, gaveUp: patience <= 0 }
}

function foldOnce(
  graph: FoldedGraph,
  { labelRank, least, patience }: { labelRank: Uint32Array; least: number; patience: number },
): { step?: FoldStep; patience: number } {
  const nodes = graph.labels.length
  const kinds = nodeKinds(graph, labelRank)
  const rows = {
    below: edgeRows(graph.from, nodes, graph.loops),
    above: edgeRows(graph.to, nodes, graph.loops),
  }
  const colors = new LazyColors(graph, kinds)
  const grower = new LaneGrower(graph, kinds, rows)
  const inVain = new Set<string>()
  let left = patience
  for (const anchors of laneAnchors(graph, kinds, { ...rows, least, colors })) {
    if (inVain.has(setKey(anchors))) continue
    const lanes = grower.grow(anchors)
    const step = foldLanes(graph, lanes, { colors, below: rows.below })
    if (step !== undefined) return { step, patience: left }
    for (const role of lanes.roles) inVain.add(setKey(role))
    left -= graph.from.length + lanes.count * lanes.roles.length
    if (left <= 0) break
  }
  return { patience: left }
}

/** Two sets of nodes with one key are the same, or near enough to save a search in vain. */
function setKey(nodes: Uint32Array): string {
  let [sum, least] = [0, nodes[0]!]
  for (const node of nodes) {
    sum += node
    least = Math.min(least, node)
  }
  return `${nodes.length} ${least} ${sum}`
}

/** Orders nodes as they were recorded, the root first: other code looks recorded nodes up by number. */
function inOrderOfSources(graph: FoldedGraph, sources: Uint32Array) {
  const order = Uint32Array.from(sources.keys()).sort(
    (a, b) => Number(a !== 0) - Number(b !== 0) || sources[a]! - sources[b]!,
  )
  const place = placesIn(order)
  const { labels, inside, from, to } = graph
  return {
    graph: {
      ...graph,
      labels: order.map((node) => labels[node]!),
      inside: Array.from(order, (node) => inside[node]!),
      from: from.map((node) => place[node]!),
      to: to.map((node) => place[node]!),
    },
    sources: order.map((node) => sources[node]!),
  }
}

/**
 * Sets of nodes that may be one step of each lane, most promising first: a whole kind, those beside
 * one node, a chain, and those whose neighbors are of equal kinds.
 */
function* laneAnchors(
  graph: FoldedGraph,
  kinds: NodeKinds,
  {
    below,
    above,
    least,
    colors,
  }: { below: EdgeRows; above: EdgeRows; least: number; colors: LazyColors },
): Generator<Uint32Array> {
  yield* wholeKinds(kinds, least)
  const local = [
    ...besideOneNode(graph.to, below, { kinds, least }),
    ...besideOneNode(graph.from, above, { kinds, least }),
    ...chains(graph, kinds, least),
  ]
  const promise = local.map((nodes) => ({
    nodes,
    rank: kinds.rank[kinds.of[nodes[0]!]!]!,
    color: colors.ofSet(nodes),
  }))
  promise.sort((a, b) => b.nodes.length - a.nodes.length || a.rank - b.rank || a.color - b.color)
  for (const { nodes } of promise) yield nodes
  yield* wholeKinds(refineKinds(kinds, kindsBeside(graph.from, above, kinds)), least)
  yield* wholeKinds(refineKinds(kinds, kindsBeside(graph.to, below, kinds)), least)
}

function wholeKinds({ of, sizes, rank }: NodeKinds, least: number): Uint32Array[] {
  const equals = rollup(
    sizes,
    (kinds) => kinds.length,
    (size) => size,
  )
  const covered = (kind: number) => sizes[kind]! * equals.get(sizes[kind]!)!
  const { offsets, rows } = groupRows(of, sizes.length)
  return Array.from(sizes.keys())
    .filter((kind) => sizes[kind]! >= least)
    .sort((a, b) => covered(b) - covered(a) || sizes[b]! - sizes[a]! || rank[a]! - rank[b]!)
    .map((kind) => rows.slice(offsets[kind], offsets[kind + 1]))
}

/** Neighbors of one kind on one side of a node, where they are not all there are of that kind. */
function besideOneNode(
  far: Uint32Array,
  rows: EdgeRows,
  { kinds, least }: { kinds: NodeKinds; least: number },
): Uint32Array[] {
  const sets: Uint32Array[] = []
  for (let node = 0; node + 1 < rows.offsets.length; node++) {
    const edges = rows.edges.subarray(rows.offsets[node], rows.offsets[node + 1])
    if (edges.length < least) continue
    const beside = new Set(Array.from(edges, (edge) => far[edge]!))
    for (const nodes of group(beside, (other) => kinds.of[other]!).values()) {
      if (isPart(nodes, kinds, least)) sets.push(Uint32Array.from(nodes).sort())
    }
  }
  return sets
}

/** Whether nodes of one kind are enough, and not all there are of it. */
function isPart(nodes: readonly number[], { of, sizes }: NodeKinds, least: number): boolean {
  return nodes.length >= least && nodes.length < sizes[of[nodes[0]!]!]!
}

function chains({ from, to, loops }: FoldedGraph, kinds: NodeKinds, least: number): Uint32Array[] {
  const parent = new Map<number, number>()
  const find = (node: number): number => {
    let root = node
    for (let up = parent.get(root); up !== undefined && up !== root; up = parent.get(root)) {
      parent.set(root, parent.get(up) ?? up)
      root = up
    }
    return root
  }
  for (let edge = 0; edge < from.length; edge++) {
    const [a, b] = [from[edge]!, to[edge]!]
    if (loops[edge] === 1 || kinds.of[a] !== kinds.of[b]) continue
    if (!parent.has(a)) parent.set(a, a)
    if (!parent.has(b)) parent.set(b, b)
    parent.set(find(a), find(b))
  }
  return [...group(parent.keys(), find).values()]
    .filter((nodes) => isPart(nodes, kinds, least))
    .map((nodes) => Uint32Array.from(nodes).sort())
}

function kindsBeside(far: Uint32Array, rows: EdgeRows, { of, rank }: NodeKinds) {
  return (node: number): string => {
    const edges = rows.edges.subarray(rows.offsets[node], rows.offsets[node + 1])
    return String(Array.from(edges, (edge) => rank[of[far[edge]!]!]!).sort((a, b) => a - b))
  }
}

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

interface FoldRule {
  readonly relabel: (shape: number) => Uint32Array
  readonly labelRank: Uint32Array
  readonly least: number
  /** Largest share of the variance of a step's times that its round may explain. */
  readonly similar: number
}

/** Steps whose times depend on the round that they are taken in: those stay as recorded. */
function differingSteps(
  flows: FlowSet,
  { relabel, labelRank, least, similar }: FoldRule,
): ReadonlySet<string> {
  const times = new RoundTimes()
  if (similar === 1) return times.differing(similar)
  const { offsets, rows } = groupRows(flows.shapeOf, flows.shapes.size)
  for (let shape = 0; shape < flows.shapes.size; shape++) {
    const requests = rows.subarray(offsets[shape], offsets[shape + 1])
    if (requests.length === 0) continue
    const graph = { labels: relabel(shape), ...shapeEdges(flows, shape) }
    const { steps, graph: after } = foldGraph(graph, { labelRank, least })
    if (steps.length === 0) continue
    const repeated = repeatedSteps(graph, logicalEdges(graph.from, { steps, graph: after }))
    for (const request of requests) times.add(repeated, flows.latencies(request))
  }
  return times.differing(similar)
}

/** Folds flows shape by shape, so that what folding one takes is gone before the next. */
export function foldShapes(flows: FlowSet, rule: FoldRule): FoldedShapes {
  const { relabel, labelRank, least } = rule
  const differing = differingSteps(flows, rule)
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
    const logical = logicalEdges(graph.from, { steps, graph: after })
    const differs =
      differing.size > 0 && repeatedSteps(graph, logical).some(({ key }) => differing.has(key))
    if (steps.length === 0 || differs) {
      for (const request of requests) latencies[request] = flows.latencies(request)
      continue
    }
    graphs[shape] = after
    sources[shape] = from
    logicalOf[shape] = logical
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
