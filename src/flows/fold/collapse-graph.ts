import { type FoldStep, foldLanes } from './fold-lanes.ts'
import { LazyColours } from './folded-colours.ts'
import { edgeRows, type FlowGraph, type FoldedGraph, unfolded } from './folded-graph.ts'
import { LaneGrower, type Lanes } from './grow-lanes.ts'
import { laneAnchors } from './lane-anchors.ts'
import { nodeKinds } from './node-kinds.ts'

/** How often, in all, a graph's edges are gone through in vain before it is left as it is. */
const PATIENCE = 200

/** A graph with its repetitions folded, and how it came to it. */
export interface CollapsedGraph {
  /** Its nodes in the order of those they stand for. */
  readonly graph: FoldedGraph
  /** For each of its nodes the one it stands for, in the graph as it was given. */
  readonly sources: Uint32Array
  /** The repetitions folded one after the other; none where nothing repeats. */
  readonly steps: readonly FoldStep[]
  /** Whether the search was broken off, so that repetitions may be left. */
  readonly gaveUp: boolean
}

/**
 * Folds repeated parts of a flow into one: lanes of a pipeline that hand over to each other, equal
 * branches of a fork, and rounds of a loop. Lanes are folded only if they are proven alike in every
 * node and edge, so that `expandGraph` gives the graph back, up to the order of nodes and edges.
 * Repeats on what it gives, for repetitions within repetitions. In which order nodes and edges come
 * does not matter. Iterative: depth does not matter.
 *
 * @param graph an acyclic graph; node 0 is its root
 * @param options.labelRank order of labels, by label code; decides between equally good ways
 * @param options.least fewer repetitions than this are left as they are; default 2
 * @throws InternalError on a cycle: readers of traces leave such graphs out
 *
 * Source: Sambasivan 2013, §3.5.2; `spec.md` §8.
 *
 * @example
 * const rounds = Uint32Array.of(0, 1, 1, 1, 2) // call, disk, disk, disk, reply
 * const loop = { labels: rounds, from: Uint32Array.of(0, 1, 2, 3), to: Uint32Array.of(1, 2, 3, 4) }
 * collapseGraph(loop, { labelRank: Uint32Array.of(0, 1, 2) }).graph.labels // Uint32Array(3) [ 0, 1, 2 ]
 */
export function collapseGraph(
  graph: FlowGraph,
  { labelRank, least = 2 }: { labelRank: Uint32Array; least?: number },
): CollapsedGraph {
  const steps: FoldStep[] = []
  let current = unfolded(graph)
  let sources = countedThrough(graph.labels.length)
  let patience = PATIENCE * (graph.labels.length + graph.from.length)
  while (patience > 0) {
    const tried = foldOnce(current, { labelRank, least, patience })
    patience = tried.patience
    const { step } = tried
    if (step === undefined) break
    steps.push(step)
    current = step.after
    const before = sources
    sources = step.sources.map((node) => before[node] as number)
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
  const colours = new LazyColours(graph, kinds)
  const grower = new LaneGrower(graph, kinds, rows)
  const inVain = new Set<string>()
  let left = patience
  for (const anchors of laneAnchors(graph, kinds, { ...rows, least, colours })) {
    if (inVain.has(setKey(anchors))) continue
    const lanes = grower.grow(anchors)
    const step = foldLanes(graph, lanes, { colours, below: rows.below })
    if (step !== undefined) return { step, patience: left }
    for (const role of lanes.roles) inVain.add(setKey(role))
    left -= work(graph, lanes)
    if (left <= 0) break
  }
  return { patience: left }
}

/** Two sets of nodes with one key are the same, or near enough to save a search in vain. */
function setKey(nodes: Uint32Array): string {
  let [sum, least] = [0, nodes[0] as number]
  for (const node of nodes) {
    sum += node
    least = Math.min(least, node)
  }
  return `${nodes.length} ${least} ${sum}`
}

function work({ from }: FoldedGraph, { count, roles }: Lanes): number {
  return from.length + count * roles.length
}

/** Nodes as they were recorded, so that what is known of recorded nodes is found; the root first. */
function inOrderOfSources(graph: FoldedGraph, sources: Uint32Array) {
  const order = countedThrough(sources.length).sort(
    (a, b) => Number(a !== 0) - Number(b !== 0) || (sources[a] as number) - (sources[b] as number),
  )
  const place = new Uint32Array(order.length)
  order.forEach((node, at) => {
    place[node] = at
  })
  const { labels, inside, from, to } = graph
  return {
    graph: {
      ...graph,
      labels: order.map((node) => labels[node] as number),
      inside: Array.from(order, (node) => inside[node] as readonly number[]),
      from: from.map((node) => place[node] as number),
      to: to.map((node) => place[node] as number),
    },
    sources: order.map((node) => sources[node] as number),
  }
}

function countedThrough(count: number): Uint32Array {
  const numbers = new Uint32Array(count)
  for (let number = 0; number < count; number++) numbers[number] = number
  return numbers
}
