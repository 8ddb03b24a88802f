// Runs once a span, node or edge: the loops index with `!`.
import { ascending, cumsum } from 'd3-array'
import { getOrInsert, joined } from '../../core/entries.ts'
import { requireStage } from '../../core/errors.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import { readOptions } from '../../core/options.ts'
import { firstOf } from '../../core/words.ts'
import type { AttributeValue } from '../../traces/attributes.ts'
import { placesIn } from '../../traces/group-rows.ts'
import { growingUint32 } from '../../traces/growing-columns.ts'
import { neighborsOf, ShapeTable } from '../../traces/shape-table.ts'
import { CriticalWalk, planWalk } from '../critical-walk.ts'
import { FlowSet } from '../flow-set.ts'
import { labelText, NodeLabels, withoutHost } from '../node-labels.ts'
import { NodeRecords } from '../node-records.ts'
import {
  acyclicPart,
  type FlowGraph,
  type FoldedGraph,
  foldGraph,
  type Repetition,
  structureKey,
} from './fold-graph.ts'
import { FOLD_OPTIONS, FoldedFlows, type FoldOptions, recordedFlows } from './folded-flows.ts'

/**
 * Folds repetitions within each flow into one: portions in a replication pipeline, equal branches of a fork, rounds of
 * a loop. A write of 1,024 portions and 15,000 trace points becomes one of 41, in which a portion's steps stand for
 * those of all. Their number goes into the root's label (`NEW_BLOCK_CALL ×1024`), so categories stay one-to-one with
 * the recorded structures: repetitions are folded only if they are equal in every node and edge.
 *
 * A folded edge has one latency a request, as drawings and critical paths need: the time that the request's critical
 * path spent on it over all repetitions and on the way from each to the next, so that latencies on the path still add
 * up to the response time. Tests of edges, pooled edges, findings and variance read the flows as they were recorded
 * instead: an edge counts once per repetition, with the time of one, and a step from one round to the next is an edge
 * of its own (`fromRoundBefore`), though the acyclic shape cannot hold it.
 *
 * A folded node keeps the parameters (attributes, hosts, spans) of the first repetition; `unfolded` has all of them. To
 * explain a comparison by them, take `comparison.with({ fold: 'none' })`.
 *
 * @param source a stage of `buildFlows`; not modified. If its flows are already folded, the recorded ones are folded
 *   again with these options
 * @param options see `FOLD_OPTIONS`
 * @throws FlowdeltaError for an unknown option, or something else than flows
 *
 * Source: Sambasivan 2013, §3.5.2.
 *
 * @example
 * const folded = foldFlows(flows)
 * categorize(folded).table().print()
 */
export function foldFlows(source: FlowSet, options: Partial<FoldOptions> = {}): FoldedFlows {
  requireStage('foldFlows(flows)', source, FlowSet)
  const flows = recordedFlows(source)
  const folding = readOptions(FOLD_OPTIONS, options)
  return foldSized(flows, folding, recordedSizes(flows, folding))
}

/** Folds flows whose requests' sizes are already known: `undefined` for one without. */
export function foldSized(
  flows: FlowSet,
  folding: FoldOptions,
  recorded: (request: number) => string | undefined,
): FoldedFlows {
  const { labels, relabel, labelRank } = relabeled(flows, folding.omitHosts)
  const used = [...new Set(flows.shapeOf)]
  const graphs: (FoldedGraph | null)[] = []
  const sizes: string[] = []
  for (const shape of used) {
    const graph = foldGraph({ ...shapeEdges(flows, shape), labels: relabel(shape) }, labelRank)
    graphs[shape] = graph
    if (graph !== null) sizes[shape] = repetitionsText(graph, labelRank, folding)
  }
  const sized = new Map<string, SizedGraph>()
  const sizeOf = Array.from(flows.shapeOf, (shape, request) => {
    const graph = graphs[shape]!
    if (graph === null) return null
    const size = recorded(request) ?? sizes[shape]!
    return getOrInsert(sized, `${shape} ${size}`, () => ({ graph, size }))
  })
  const roots = new Set(used.map((shape) => relabel(shape)[0]!))
  tellApart([...sized.values()], labels, { folding, roots })
  const shapes = new ShapeTable()
  const intern = (nodes: Uint32Array, { from, to }: Pick<FlowGraph, 'from' | 'to'>) =>
    shapes.intern(nodes, nodes.length, { from, to, edgeCount: from.length })
  const numbers = new Map<SizedGraph | number, number>()
  const shapeOf = flows.shapeOf.map((shape, request) => {
    const own = sizeOf[request] ?? null
    return getOrInsert(numbers, own ?? shape, () => {
      if (own === null) return intern(relabel(shape), shapeEdges(flows, shape))
      const { labels: nodes, from, to, loops } = own.graph
      const [root, ...others] = nodes
      const label = labels.code({ ...labels.get(root!), size: own.size })
      const isPlain = (_: number, edge: number) => loops[edge] === 0
      const edges = { from: from.filter(isPlain), to: to.filter(isPlain) }
      return intern(Uint32Array.of(label, ...others), edges)
    })
  })
  const folders = graphs.map((graph, shape) => {
    const recorded = { ...shapeEdges(flows, shape), labels: relabel(shape) }
    return graph && latencyFolder(recorded, graph, labelRank)
  })
  const latencies = Array.from(flows.shapeOf, (shape, request) => {
    const own = flows.latencies(request)
    // Flows restored from a snapshot have latencies of some requests only.
    const isKnown = own.length === flows.shapes.edgeCount(shape)
    return (isKnown && folders[shape]?.(own, flows.responseTimeUs[request]!)) || own
  })
  const columns = {
    ...flows,
    labels,
    shapes,
    shapeOf,
    latencyUs: joined(latencies, Float64Array),
    latencyOffsets: Uint32Array.from([0, ...cumsum(latencies, ({ length }) => length)]),
    ...spansOfNodes(flows, graphs),
    outcomes: flows.outcomes?.roots(),
    logs: undefined,
    messages: undefined,
  }
  return new FoldedFlows(columns, { unfolded: flows, folding, graphs })
}

function shapeEdges({ shapes }: FlowSet, shape: number) {
  return { from: shapes.from(shape), to: shapes.to(shape) }
}

/** Returns the spans of nodes, two a span; none where folding parted a call from its reply. */
function spansOfNodes(flows: FlowSet, graphs: readonly (FoldedGraph | null)[]) {
  const { spanRows, spanOffsets } = flows
  const none = { spanRows: undefined, spanOffsets: undefined }
  if (spanRows === undefined || spanOffsets === undefined) return none
  const rows = growingUint32()
  const offsets = new Uint32Array(flows.size + 1)
  for (let request = 0; request < flows.size; request++) {
    const own = spanRows.subarray(spanOffsets[request]!, spanOffsets[request + 1]!)
    const sources = graphs[flows.shapeOf[request]!]?.sources
    for (let at = 0; at < (sources?.length ?? 2 * own.length); at += 2) {
      const call = sources?.[at] ?? at
      if (call % 2 === 1 || (sources?.[at + 1] ?? at + 1) !== call + 1) return none
      rows.push(own[call / 2]!)
    }
    offsets[request + 1] = rows.length
  }
  return { spanRows: rows.finish(), spanOffsets: offsets }
}

/** Returns the size that a request's root recorded: `size=320KB`. */
function recordedSizes(flows: FlowSet, { sizeAttribute, sizeUnit, log2 }: FoldOptions) {
  const records = new NodeRecords(flows)
  return (request: number) => {
    if (sizeAttribute === null) return undefined
    const value = records.of(request, 0).find(([key]) => key === sizeAttribute)?.[1]
    if (value === undefined) return undefined
    return `${sizeAttribute}=${sizeText(value, { sizeUnit, log2 })}`
  }
}

interface SizedGraph {
  readonly graph: FoldedGraph
  size: string
}

/**
 * Adds a few letters to sizes that do not distinguish structures, so that categories stay one-to-one with the recorded
 * ones.
 */
function tellApart(
  flows: readonly SizedGraph[],
  labels: NodeLabels,
  { folding, roots }: { folding: FoldOptions; roots: ReadonlySet<number> },
): void {
  const hostless = (label: number) => labelText(withoutHost(labels.get(label)))
  const withHosts = (label: number) => labels.text(label)
  const timesOf = (times: number) => timesText(times, folding)
  for (const textOf of [hostless, withHosts]) {
    const looks = flows.map(({ graph, size }) => `${size} ${structureKey(graph, textOf, null)}`)
    const keys = flows.map(({ graph }) => structureKey(graph, textOf, timesOf))
    const structures = new Map<string, Set<string>>()
    looks.forEach((look, i) => {
      getOrInsert(structures, look, () => new Set()).add(keys[i]!)
    })
    flows.forEach((flow, i) => {
      if (structures.get(looks[i]!)!.size > 1) flow.size += ` #${keys[i]}`
    })
  }
  const recorded = new Set([...roots].flatMap((label) => [withHosts(label), hostless(label)]))
  for (const flow of flows) {
    const label = { ...labels.get(flow.graph.labels[0]!), size: flow.size }
    const isTaken = [label, withoutHost(label)].some((one) => recorded.has(labelText(one)))
    if (!isTaken || flow.size.includes(' #')) continue
    flow.size += ` #${structureKey(flow.graph, withHosts, timesOf)}`
  }
}

/** Labels, without hosts if so chosen, in an order that no order of recording decides. */
export function relabeled({ labels: old, shapes }: FlowSet, omitHosts: boolean) {
  const labels = new NodeLabels()
  const codes = Uint32Array.from({ length: old.size }, (_, code) => {
    const label = old.get(code)
    return labels.code(omitHosts ? withoutHost(label) : label)
  })
  const texts = Array.from({ length: labels.size }, (_, code) => ({
    code,
    text: labels.text(code),
    without: labelText(withoutHost(labels.get(code))),
  }))
  texts.sort((a, b) => ascending(a.without, b.without) || ascending(a.text, b.text))
  const labelRank = placesIn(texts.map(({ code }) => code))
  const relabel = (shape: number) => shapes.labels(shape).map((code) => codes[code]!)
  return { labels, labelRank, relabel }
}

/** Returns a number of repetitions as a label shows it: `×5`, or with `log2` `×4–7`. */
function timesText(times: number, { log2 }: Pick<FoldOptions, 'log2'>): string {
  if (!log2) return `×${times}`
  const least = 2 ** Math.floor(Math.log2(times))
  return least === 1 ? '×1' : `×${least}–${2 * least - 1}`
}

/**
 * Returns a size in a label: `320KB`, or with `log2` `256KB–512KB`. Bytes are never rounded, so that different sizes
 * look different; without a unit, any other number.
 */
function sizeText(
  value: AttributeValue,
  { sizeUnit, log2 }: Pick<FoldOptions, 'sizeUnit' | 'log2'>,
): string {
  if (typeof value !== 'number') return String(value)
  const plain = (size: number) => (sizeUnit === 'bytes' ? bytesText(size) : String(size))
  if (!log2 || !(value > 0)) return plain(value)
  const least = 2 ** Math.floor(Math.log2(value))
  return `${plain(least)}–${plain(2 * least)}`
}

function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let [size, unit] = [bytes, 0]
  while (size !== 0 && size % 1024 === 0 && unit + 1 < units.length) {
    size /= 1024
    unit++
  }
  return `${size}${units[unit]}`
}

const MAX_NAMED = 6

/** Returns the repetitions of a folded flow as its root shows them, outer before inner: `×3 ×1024`. */
function repetitionsText(graph: FoldedGraph, labelRank: Uint32Array, folding: FoldOptions): string {
  const isPlain = (_: number, edge: number) => graph.loops[edge] === 0
  const [from, to] = [graph.from.filter(isPlain), graph.to.filter(isPlain)]
  const depths = graphDepths(graph.labels.length, from, to)
  const places = new Map<Repetition, { depth: number; rank: number; nodes: number }>()
  graph.inside.forEach((stack, node) => {
    const [depth, rank] = [depths[node]!, labelRank[graph.labels[node]!]!]
    for (const repetition of stack) {
      const known = getOrInsert(places, repetition, () => ({ depth, rank, nodes: 0 }))
      known.nodes++
      if (depth > known.depth || (depth === known.depth && rank >= known.rank)) continue
      Object.assign(known, { depth, rank })
    }
  })
  const texts = Array.from(places, ([{ times }, place]) => ({ ...place, times }))
    .sort((a, b) => a.depth - b.depth || b.nodes - a.nodes || a.rank - b.rank || b.times - a.times)
    .map(({ times }) => timesText(times, folding))
  return firstOf(texts, { most: MAX_NAMED, separator: ' ' })
}

/**
 * Returns what gives the edges of a folded flow one latency each. Nodes on the critical path are placed in time one
 * after the other, each behind all the time that the path spent going to it, over all lanes: so times on any path add
 * up to the response time. Nodes off the path come as soon as the mean latencies to them allow, but not after what
 * follows them. Edges off the path that touch no folded step keep their latencies.
 */
function latencyFolder(recorded: FlowGraph, graph: FoldedGraph, labelRank: Uint32Array) {
  const { nodeOf, edgeOf, inside, loops } = graph
  const rank = (edge: number) => labelRank[recorded.labels[recorded.from[edge]!]!]!
  const order = acyclicPart(recorded).order.subarray(0, recorded.labels.length)
  const plan = planWalk(recorded, order, { bySource: (a, b) => rank(a) - rank(b) })
  const walk = new CriticalWalk()
  const rows = acyclicPart(graph)
  const nodes = rows.order.subarray(0, rows.nodes)
  const edges = Array.from(loops.keys()).filter((edge) => loops[edge] === 0)
  const edgesTo: number[][] = Array.from(nodes, () => [])
  for (const edge of edges) edgesTo[graph.to[edge]!]!.push(edge)
  return (latencyUs: Float64Array, responseTimeUs: number): Float64Array => {
    const [sumUs, counts] = [new Float64Array(loops.length), new Uint32Array(loops.length)]
    edgeOf.forEach((edge, own) => {
      sumUs[edge]! += latencyUs[own]!
      counts[edge]!++
    })
    const spentUs = new Float64Array(nodes.length)
    const isOnPath = new Uint8Array(nodes.length)
    const isPath = new Uint8Array(loops.length)
    isOnPath[nodeOf[0]!] = 1
    for (const edge of walk.follow(plan, latencyUs, responseTimeUs)) {
      const node = nodeOf[recorded.to[edge]!]!
      spentUs[node]! += latencyUs[edge]!
      isOnPath[node] = 1
      isPath[edgeOf[edge]!] = 1
    }
    const timeUs = new Float64Array(nodes.length)
    let reachedUs = 0
    for (const node of nodes) {
      if (isOnPath[node] === 1) timeUs[node] = reachedUs += spentUs[node]!
    }
    const limitUs = new Float64Array(nodes.length)
    for (const node of nodes.toReversed()) {
      const next = neighborsOf(rows.below, node)
      limitUs[node] =
        isOnPath[node] === 1 ? timeUs[node]! : Math.min(...Array.from(next, (one) => limitUs[one]!))
    }
    for (const node of nodes) {
      if (isOnPath[node] === 1) continue
      const arrivals = edgesTo[node]!.map(
        (edge) => timeUs[graph.from[edge]!]! + sumUs[edge]! / counts[edge]!,
      )
      timeUs[node] = Math.min(limitUs[node]!, Math.max(0, ...arrivals))
    }
    return Float64Array.from(edges, (edge) => {
      const [source, target] = [graph.from[edge]!, graph.to[edge]!]
      const us = timeUs[target]! - timeUs[source]!
      const isFolded = inside[source]!.length > 0 || inside[target]!.length > 0
      return isFolded || isPath[edge] === 1 ? us : Math.min(us, sumUs[edge]!)
    })
  }
}
