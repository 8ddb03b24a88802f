// Runs once a span, node or edge: the loops index with `!`.
import { ascending } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { InternalError, requireStage } from '../../core/errors.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import { readOptions } from '../../core/options.ts'
import { firstOf } from '../../core/words.ts'
import { AttributesBuilder, type AttributeValue } from '../../traces/attributes.ts'
import { type GraphColumns, GraphTraces } from '../../traces/graph-traces.ts'
import { groupRows, placesIn } from '../../traces/group-rows.ts'
import { growingUint32 } from '../../traces/growing-columns.ts'
import { ShapeTable } from '../../traces/shape-table.ts'
import { CriticalWalk, planWalk, type WalkPlan } from '../critical-walk.ts'
import { FlowSet } from '../flow-set.ts'
import { labelText, NodeLabels, withoutHost } from '../node-labels.ts'
import { NodeRecords } from '../node-records.ts'
import { type FoldResult, type FoldStep, foldGraph } from './fold-graph.ts'
import {
  FOLD_OPTIONS,
  FoldedFlows,
  type FoldedShapes,
  type FoldOptions,
  recordedFlows,
} from './folded-flows.ts'
import {
  type EdgeRows,
  edgeRows,
  type FoldedGraph,
  forwardOrder,
  type KeyOptions,
  logicalOrder,
  structureKey,
} from './folded-graph.ts'
import { RoundTimes, repeatedSteps } from './round-times.ts'

// Runs once a span, node or edge: the loops index with `!`.

/**
 * Folds repetitions within each flow into one: portions in a replication pipeline, equal branches of a fork, rounds of
 * a loop. A write of 1,024 portions and 15,000 trace points becomes one of 41, in which a portion's steps stand for
 * those of all. Their number goes into the root's label (`NEW_BLOCK_CALL ×1024`), so categories stay one-to-one with
 * the recorded structures: repetitions are folded only if they are equal in every node and edge.
 *
 * A folded edge has one latency a request, as drawings and critical paths need: the time that the request's critical
 * path spent on it over all repetitions and on the way from each to the next, so that latencies on the path still add
 * up to the response time (see `LatencyFolder`). Tests of edges, pooled edges, findings and variance read the flows as
 * they were recorded instead: an edge counts once per repetition, with the time of one, and a step from one round to
 * the next is an edge of its own (`fromRoundBefore`), though the acyclic shape cannot hold it. `samples` has all
 * recorded values.
 *
 * Structures are folded once a shape.
 *
 * A folded node keeps the parameters (attributes, hosts, spans) of the first repetition. `explain` then sees the first
 * round of a loop, for example, but not that the third had another size. `unfolded` has all of them; to explain a
 * comparison by them, take `comparison.with({ fold: 'none' })`.
 *
 * @param source a stage of `buildFlows`; not modified. If its flows are already folded, the recorded ones are folded
 *   again with these options
 * @param options see `FOLD_OPTIONS`
 * @throws OptionError for a `least` below 2, or not whole; FlowdeltaError for an unknown option, or
 *   something else than flows
 *
 * Source: Sambasivan 2013, §3.5.2; §3.2 for `similar`.
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
  sizeOf: (request: number) => string | undefined,
): FoldedFlows {
  const { labels, relabel, labelRank } = relabeled(flows, folding.omitHosts)
  const folded = foldShapes(flows, {
    relabel,
    labelRank,
    least: folding.least,
    similar: folding.similar,
  })
  const sized = sizeRequests(flows, folded, { labelRank, folding, recorded: sizeOf })
  const suffixes = rootSuffixes(sized.sizes, labels, {
    timesOf: (times) => timesText(times, folding),
    roots: new Set(Array.from(flows.shapeOf, (shape) => relabel(shape)[0] as number)),
  })
  const shapes = new ShapeTable()
  const numbers = new Map<number, number>()
  const shapeOf = flows.shapeOf.map((shape, request) => {
    const size = sized.sizeOf[request]!
    const key = size < 0 ? -1 - shape : size
    return getOrInsert(numbers, key, () =>
      internShape(shapes, {
        ...(folded.graphs[shape] ?? { labels: relabel(shape), ...shapeEdges(flows, shape) }),
        rootLabel: (root) => {
          if (size < 0) return root
          return labels.code({ ...labels.get(root), size: suffixes[size]! })
        },
      }),
    )
  })
  const { latencyUs, latencyOffsets } = folded
  const nodesOf = (request: number) => folded.sources[flows.shapeOf[request]!]
  const texts = Array.from({ length: labels.size }, (_, label) => labels.text(label))
  const parts = { shapes, labels: texts, shapeOf, latencyUs, latencyOffsets, nodesOf }
  return new FoldedFlows(
    {
      labels,
      shapes,
      shapeOf,
      latencyUs,
      latencyOffsets,
      ...foldedRecords(flows, parts),
      ids: flows.ids,
      period: flows.period,
      recordedIn: flows.recordedIn,
      startUs: flows.startUs,
      epochsUs: flows.epochsUs,
      responseTimeUs: flows.responseTimeUs,
      weight: flows.weight,
      clocks: flows.clocks,
      resolution: flows.resolution,
      outcomes: flows.outcomes?.roots(),
    },
    { unfolded: flows, folding, folded },
  )
}

/** Returns the size that a request's root recorded: `size=320KB`. */
function recordedSizes(flows: FlowSet, { sizeAttribute, sizeUnit, log2 }: FoldOptions) {
  const records = new NodeRecords(flows)
  return (request: number) => {
    if (sizeAttribute === null) return undefined
    const value = records.of(request, 0).find(([key]) => key === sizeAttribute)?.[1]
    if (value === undefined) return undefined
    return `${sizeAttribute}=${sizeText(value, { unit: sizeUnit, log2 })}`
  }
}

function sizeRequests(
  flows: FlowSet,
  { graphs }: FoldedShapes,
  {
    labelRank,
    folding: { log2 },
    recorded,
  }: {
    labelRank: Uint32Array
    folding: FoldOptions
    recorded: (request: number) => string | undefined
  },
) {
  const ofShape = graphs.map((graph) => graph && repetitionsText(graph, { labelRank, log2 }))
  const numbers = new Map<string, number>()
  const sizes: SizedGraph[] = []
  const sizeOf = Int32Array.from(flows.shapeOf, (shape, request) => {
    const graph = graphs[shape]
    if (graph === undefined) return -1
    const size = recorded(request) ?? ofShape[shape]!
    const key = `${shape} ${size}`
    return getOrInsert(numbers, key, () => sizes.push({ graph, size }) - 1)
  })
  return { sizes, sizeOf }
}

function internShape(
  shapes: ShapeTable,
  {
    labels,
    from,
    to,
    loops,
    rootLabel,
  }: Pick<FoldedGraph, 'labels' | 'from' | 'to'> & {
    loops?: Uint8Array
    rootLabel: (root: number) => number
  },
): number {
  const kept = (ends: Uint32Array) => (loops ? ends.filter((_, edge) => loops[edge] === 0) : ends)
  const edges = { from: kept(from), to: kept(to) }
  const named = labels.slice()
  named[0] = rootLabel(labels[0]!)
  return shapes.intern(named, named.length, { ...edges, edgeCount: edges.from.length })
}

interface SizedGraph {
  readonly graph: FoldedGraph
  readonly size: string
}

/**
 * Returns the suffix of each root's label: the size, and a few letters if that does not distinguish structures. So
 * categories stay one-to-one with the recorded ones.
 */
function rootSuffixes(
  flows: readonly SizedGraph[],
  labels: NodeLabels,
  { timesOf, roots }: { timesOf: (times: number) => string; roots: ReadonlySet<number> },
): string[] {
  const hostless = (label: number) => labelText(withoutHost(labels.get(label)))
  const recordedRoots = new Set(
    [...roots].flatMap((label) => [labels.text(label), hostless(label)]),
  )
  const withHosts = (label: number) => labels.text(label)
  const suffixes = flows.map(({ size }) => size)
  for (const textOf of [hostless, withHosts]) {
    const key = (timesOf: KeyOptions['timesOf']) => (flow: SizedGraph, i: number) =>
      `${suffixes[i]} ${structureKey(flow.graph, { textOf, timesOf })}`
    const shown = flows.map(key(null))
    const whole = flows.map(key(timesOf))
    const structures = new Map<string, Set<string>>()
    shown.forEach((look, i) => {
      getOrInsert(structures, look, () => new Set()).add(whole[i]!)
    })
    shown.forEach((look, i) => {
      if ((structures.get(look)?.size ?? 0) < 2) return
      suffixes[i] += ` #${whole[i]!.split(' ').at(-1)}`
    })
  }
  flows.forEach(({ graph }, i) => {
    const label = { ...labels.get(graph.labels[0]!), size: suffixes[i]! }
    const isTaken = [label, withoutHost(label)].some((one) => recordedRoots.has(labelText(one)))
    if (!isTaken || suffixes[i]!.includes(' #')) return
    const key = structureKey(graph, { textOf: withHosts, timesOf })
    suffixes[i] += ` #${key}`
  })
  return suffixes
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

interface FoldedColumns
  extends Pick<GraphColumns, 'shapes' | 'labels' | 'shapeOf' | 'latencyUs' | 'latencyOffsets'> {
  readonly nodesOf: (request: number) => Uint32Array | undefined
}

type RecordColumns = Pick<FlowSet, 'periods' | 'traceOf' | 'spanRows' | 'spanOffsets'>

/** Returns the records of the nodes: a folded step has the parameters of its first lane. */
function foldedRecords(flows: FlowSet, parts: FoldedColumns): RecordColumns {
  const { periods, spanRows, spanOffsets } = flows
  if (spanRows !== undefined && spanOffsets !== undefined) {
    return { periods, traceOf: flows.traceOf, ...spansOfNodes(flows, parts) }
  }
  const traceOf = flows.traceOf.slice()
  return {
    periods: periods.map((traces, period) =>
      traces.kind === 'graphs'
        ? graphsOfPeriod(traces, flows, { ...parts, period, traceOf })
        : traces,
    ),
    traceOf,
    spanRows: undefined,
    spanOffsets: undefined,
  }
}

/** Returns the spans of nodes, two a span; none where folding parted a call from its reply. */
function spansOfNodes(flows: FlowSet, { nodesOf }: FoldedColumns) {
  const { spanRows, spanOffsets } = flows
  const rows = growingUint32()
  const offsets = new Uint32Array(flows.size + 1)
  for (let request = 0; request < flows.size; request++) {
    const start = spanOffsets?.[request] as number
    const end = spanOffsets?.[request + 1] as number
    const nodes = nodesOf(request) ?? Uint32Array.from({ length: 2 * (end - start) }, (_, i) => i)
    for (let node = 0; node < nodes.length; node += 2) {
      const call = nodes[node]!
      if (call % 2 === 1 || nodes[node + 1] !== call + 1) {
        return { spanRows: undefined, spanOffsets: undefined }
      }
      rows.push(spanRows?.[start + call / 2] as number)
    }
    offsets[request + 1] = rows.length
  }
  return { spanRows: rows.finish(), spanOffsets: offsets }
}

/** Returns the period as if it had been recorded folded; requests keep their order, and only they stay. */
function graphsOfPeriod(
  traces: GraphTraces,
  flows: FlowSet,
  { period, traceOf, ...parts }: FoldedColumns & { period: number; traceOf: Uint32Array },
): GraphTraces {
  const { shapes, labels, shapeOf, latencyUs, latencyOffsets, nodesOf } = parts
  const { recordedIn } = flows
  const requests = Array.from(recordedIn, (_, i) => i).filter((i) => recordedIn[i] === period)
  const records = new NodeRecords(flows)
  const attributes = new AttributesBuilder()
  let nodes = 0
  requests.forEach((request, trace) => {
    traceOf[request] = trace
    const of = nodesOf(request)
    const count = shapes.nodeCount(shapeOf[request]!)
    for (let node = 0; node < count; node++) {
      for (const [key, value] of records.of(request, of?.[node] ?? node)) {
        attributes.add(nodes + node, key, value)
      }
    }
    nodes += count
  })
  const latencies = requests.map((request) =>
    latencyUs.subarray(latencyOffsets[request], latencyOffsets[request + 1]),
  )
  return new GraphTraces(
    traces.name,
    {
      ids: requests.map((request) => flows.ids[request]!),
      startUs: Float64Array.from(requests, (request) => flows.startUs[request]!),
      responseTimeUs: Float64Array.from(requests, (i) => flows.responseTimeUs[i]!),
      shapes,
      labels,
      ...joined(latencies),
      shapeOf: Uint32Array.from(requests, (request) => shapeOf[request]!),
      attributes: attributes.finish(nodes),
    },
    traces.quality(),
  )
}

/** Sizes that are distinguished: every number, or only powers of two. */
interface SizeRule {
  readonly log2: boolean
}

/** Returns a number of repetitions as a label shows it: `×5`, or with `log2` `×4–7`. */
function timesText(times: number, { log2 }: SizeRule): string {
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
  { unit, log2 }: SizeRule & { unit: FoldOptions['sizeUnit'] },
) {
  if (typeof value !== 'number') return String(value)
  const plain = (size: number) => (unit === 'bytes' ? bytesText(size) : String(size))
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
function repetitionsText(
  graph: FoldedGraph,
  { labelRank, log2 }: SizeRule & { labelRank: Uint32Array },
): string {
  const acyclic = (ends: Uint32Array) => ends.filter((_, edge) => graph.loops[edge] === 0)
  const depth = graphDepths(graph.labels.length, acyclic(graph.from), acyclic(graph.to))
  const first = new Map<number, { depth: number; rank: number; nodes: number }>()
  graph.inside.forEach((stack, node) => {
    const at = depth[node]!
    const rank = labelRank[graph.labels[node]!]!
    for (const repetition of stack) {
      const known = first.get(repetition) ?? { depth: at, rank, nodes: 0 }
      const earlier = at < known.depth || (at === known.depth && rank < known.rank)
      first.set(repetition, { ...(earlier ? { depth: at, rank } : known), nodes: known.nodes + 1 })
    }
  })
  const texts = [...first]
    .map(([number, place]) => ({ ...place, times: graph.repetitions[number]?.times ?? 1 }))
    .sort((a, b) => a.depth - b.depth || b.nodes - a.nodes || a.rank - b.rank || b.times - a.times)
    .map(({ times }) => timesText(times, { log2 }))
  return firstOf(texts, { most: MAX_NAMED, separator: ' ' })
}

interface FoldRule {
  readonly relabel: (shape: number) => Uint32Array
  readonly labelRank: Uint32Array
  readonly least: number
  /** Largest share of the variance of a step's times that its round may explain. */
  readonly similar: number
}

/** Folds the shapes that requests have one after the other, so that the memory for one is released before the next. */
function* foldedShapes(flows: FlowSet, { relabel, labelRank, least }: FoldRule) {
  const { offsets, rows } = groupRows(flows.shapeOf, flows.shapes.size)
  for (let shape = 0; shape < flows.shapes.size; shape++) {
    const requests = rows.subarray(offsets[shape], offsets[shape + 1])
    if (requests.length === 0) continue
    const recorded = { labels: relabel(shape), ...shapeEdges(flows, shape) }
    const folded = foldGraph(recorded, { labelRank, least })
    const repeated = () => repeatedSteps(recorded, logicalEdges(recorded.from, folded))
    yield { shape, requests, recorded, repeated, ...folded }
  }
}

/** Steps whose times depend on the round that they are taken in: those stay as recorded. */
function differingSteps(flows: FlowSet, rule: FoldRule): ReadonlySet<string> {
  const times = new RoundTimes()
  if (rule.similar === 1) return times.differing(rule.similar)
  for (const { requests, steps, repeated } of foldedShapes(flows, rule)) {
    if (steps.length === 0) continue
    const own = repeated()
    for (const request of requests) times.add(own, flows.latencies(request))
  }
  return times.differing(rule.similar)
}

function foldShapes(flows: FlowSet, rule: FoldRule): FoldedShapes {
  const differing = differingSteps(flows, rule)
  const graphs: (FoldedGraph | undefined)[] = []
  const sources: (Uint32Array | undefined)[] = []
  const logicalOf: (Uint32Array | undefined)[] = []
  const latencies: Float64Array[] = new Array(flows.size)
  let unfinished = 0
  for (const found of foldedShapes(flows, rule)) {
    const { shape, requests, recorded: graph, repeated, steps, graph: after } = found
    if (found.gaveUp) unfinished++
    const differs = differing.size > 0 && repeated().some(({ key }) => differing.has(key))
    if (steps.length === 0 || differs) {
      for (const request of requests) latencies[request] = flows.latencies(request)
      continue
    }
    graphs[shape] = after
    sources[shape] = found.sources
    logicalOf[shape] = logicalEdges(graph.from, found)
    const folders = steps.map((step) => new LatencyFolder(step, rule.labelRank))
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

function shapeEdges({ shapes }: FlowSet, shape: number) {
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

/**
 * The latencies of a request after folding: one value an edge. Lanes are no independent samples and
 * overlap, so an edge into a folded step gets the time that the critical path spent going to that
 * step, over all lanes: how long the request waited for it. Edges that touch no lane keep theirs;
 * loops are `NaN`, as no edges of the acyclic graph.
 */
export class LatencyFolder {
  readonly #step: FoldStep
  readonly #plan: WalkPlan
  readonly #walk = new CriticalWalk()
  /** Order of the folded graph's nodes, and the edges at each. */
  readonly #order: Uint32Array
  readonly #above: EdgeRows
  readonly #below: EdgeRows
  readonly #isStep: Uint8Array
  readonly #perNode: Uint32Array
  readonly #beforeJoins: readonly (Uint32Array | undefined)[]
  readonly #timeUs: Float64Array
  /** Time the critical path spent going to each node, and how often it went there. */
  readonly #spentUs: Float64Array
  readonly #visits: Uint32Array
  readonly #meanTimeUs: Float64Array
  readonly #meanWaitUs: Float64Array

  constructor(step: FoldStep, labelRank: Uint32Array) {
    this.#step = step
    this.#plan = planGraph(step.before, labelRank)
    const { labels, from, to, loops } = step.after
    const nodes = labels.length
    this.#below = edgeRows(from, nodes, loops)
    this.#above = edgeRows(to, nodes, loops)
    this.#order = requireOrder(step.after, this.#below)
    this.#isStep = new Uint8Array(nodes)
    this.#perNode = new Uint32Array(nodes)
    step.nodeOf.forEach((node, before) => {
      if (step.laneOf[before]! >= 0) this.#isStep[node] = 1
      this.#perNode[node]!++
    })
    this.#beforeJoins = stepsBeforeJoins(step.after, this.#above, this.#isStep)
    this.#timeUs = new Float64Array(nodes)
    this.#spentUs = new Float64Array(nodes)
    this.#visits = new Uint32Array(nodes)
    this.#meanTimeUs = new Float64Array(nodes)
    this.#meanWaitUs = new Float64Array(nodes)
  }

  fold(latencyUs: Float64Array, responseTimeUs: number): Float64Array {
    const path = this.#walk.follow(this.#plan, latencyUs, responseTimeUs)
    this.#average(latencyUs)
    const entryUs = this.#spend(path, latencyUs)
    this.#placeForward(entryUs)
    this.#placeBackward(!Number.isNaN(entryUs))
    return this.#latencies(latencyUs)
  }

  #average(latencyUs: Float64Array): void {
    const { nodeOf } = this.#step
    this.#meanTimeUs.fill(0)
    this.#meanWaitUs.fill(0)
    for (let before = 0; before < nodeOf.length; before++) {
      const node = nodeOf[before]!
      const share = 1 / this.#perNode[node]!
      const edge = this.#walk.waitedFor[before]!
      const waitUs = edge < 0 ? 0 : latencyUs[edge]!
      this.#meanTimeUs[node]! += this.#walk.timeUs[before]! * share
      this.#meanWaitUs[node]! += waitUs * share
    }
  }

  /** Adds up the critical path by node; gives when it entered the lanes, NaN if it never did. */
  #spend(path: Uint32Array, latencyUs: Float64Array): number {
    const { before, nodeOf, laneOf } = this.#step
    this.#spentUs.fill(0)
    this.#visits.fill(0)
    let entryUs = Number.NaN
    for (const edge of path) {
      const target = before.to[edge]!
      const node = nodeOf[target]!
      this.#spentUs[node]! += latencyUs[edge]!
      this.#visits[node]!++
      if (laneOf[target]! >= 0) entryUs = this.#walk.timeUs[before.from[edge]!]!
    }
    return entryUs
  }

  /** Places steps after the previous step, by the time that the path spent going there. */
  #placeForward(entryUs: number): void {
    const { from } = this.#step.after
    const { edges, offsets } = this.#above
    for (const node of this.#order) {
      if (this.#isStep[node] === 0) {
        this.#timeUs[node] = this.#meanTimeUs[node]!
        continue
      }
      let behindUs = Number.isNaN(entryUs) ? 0 : entryUs
      let notBeforeUs = Number.isNaN(entryUs) ? this.#meanTimeUs[node]! : 0
      const end = offsets[node + 1]!
      for (let entry = offsets[node]!; entry < end; entry++) {
        const source = from[edges[entry]!]!
        const sourceUs = this.#timeUs[source]!
        if (this.#isStep[source] === 1 || this.#isOnPath(source)) {
          behindUs = Math.max(behindUs, sourceUs)
        } else notBeforeUs = Math.max(notBeforeUs, sourceUs)
      }
      const before = this.#beforeJoins[node]
      if (before !== undefined && !Number.isNaN(entryUs)) {
        behindUs = Math.max(behindUs, entryUs + this.#spentOn(before))
      }
      this.#timeUs[node] = Math.max(behindUs + this.#spentUs[node]!, notBeforeUs)
    }
  }

  #spentOn(nodes: Uint32Array): number {
    let us = 0
    for (const node of nodes) us += this.#spentUs[node]!
    return us
  }

  #isOnPath(node: number): boolean {
    return this.#visits[node]! > 0
  }

  /** Places steps no later than their successors; those off the path take the room there is. */
  #placeBackward(isEntered: boolean): void {
    const { to } = this.#step.after
    const { edges, offsets } = this.#below
    for (let at = this.#order.length - 1; at >= 0; at--) {
      const node = this.#order[at]!
      if (this.#isStep[node] === 0) continue
      let limitUs = Number.POSITIVE_INFINITY
      const end = offsets[node + 1]!
      for (let entry = offsets[node]!; entry < end; entry++) {
        const target = to[edges[entry]!]!
        limitUs = Math.min(limitUs, this.#timeUs[target]!)
      }
      const timeUs = this.#timeUs[node]!
      const isPlaced = this.#isOnPath(node) || !isEntered
      const wantedUs = isPlaced ? timeUs : timeUs + this.#meanWaitUs[node]!
      this.#timeUs[node] = Math.min(wantedUs, limitUs)
    }
  }

  #latencies(latencyUs: Float64Array): Float64Array {
    const { before, after, edgeOf, laneOf } = this.#step
    const folded = new Float64Array(after.from.length)
    for (let edge = 0; edge < edgeOf.length; edge++) {
      const inLane = Math.max(laneOf[before.from[edge]!]!, laneOf[before.to[edge]!]!)
      if (inLane < 0) folded[edgeOf[edge]!] = latencyUs[edge]!
    }
    for (let edge = 0; edge < folded.length; edge++) {
      const source = after.from[edge]!
      const target = after.to[edge]!
      if (after.loops[edge] === 1) folded[edge] = Number.NaN
      else if (this.#isStep[source] === 1 || this.#isStep[target] === 1) {
        const us = this.#timeUs[target]! - this.#timeUs[source]!
        folded[edge] = Math.max(0, us)
      }
    }
    return folded
  }
}

function requireOrder(graph: FoldedGraph, below: EdgeRows): Uint32Array {
  const order = forwardOrder(graph, below)
  if (order === undefined) throw new InternalError('a folded flow has a cycle')
  return order
}

function planGraph(graph: FoldedGraph, labelRank: Uint32Array): WalkPlan {
  const { from, labels, loops } = graph
  const rank = (edge: number) => labelRank[labels[from[edge]!]!]!
  return planWalk(graph, requireOrder(graph, edgeRows(from, labels.length, loops)), {
    leftOut: loops,
    bySource: (a, b) => rank(a) - rank(b),
  })
}

/** Longer lists, in all, are not made: the flow is too tangled. */
const MAX_ENTRIES = 2 ** 21

/** Returns, for each step where branches join, all steps of the lane that lead there, unless too many. */
function stepsBeforeJoins({ from, labels }: FoldedGraph, above: EdgeRows, isStep: Uint8Array) {
  const before: (Uint32Array | undefined)[] = new Array(labels.length)
  const seen = new Int32Array(labels.length).fill(-1)
  let entries = 0
  for (let node = 0; node < labels.length; node++) {
    if (isStep[node] === 0 || stepsAbove(node).length < 2) continue
    const found: number[] = []
    const pending = stepsAbove(node)
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      if (seen[step] === node) continue
      seen[step] = node
      found.push(step)
      pending.push(...stepsAbove(step))
    }
    entries += found.length
    if (entries > MAX_ENTRIES) return before
    before[node] = Uint32Array.from(found)
  }
  return before

  function stepsAbove(node: number): number[] {
    const edges = above.edges.subarray(above.offsets[node], above.offsets[node + 1])
    return Array.from(edges, (edge) => from[edge]!).filter((step) => isStep[step] === 1)
  }
}
