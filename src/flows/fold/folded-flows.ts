import { OptionError } from '../../core/errors.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { moments } from '../../stats/moments.ts'
import { type FlowColumns, FlowSet } from '../flow-set.ts'
import type { FoldedShapes } from './fold-shapes.ts'
import { type EdgeNote, type FoldedGraph, logicalOrder } from './folded-graph.ts'

/** What flows were collapsed with; see `collapseFlows`. */
export interface CollapseOptions {
  readonly least: number
  readonly log2: boolean
  readonly omitHosts: boolean
  readonly sizeAttribute: string | null
  readonly sizeUnit: 'bytes' | null
}

/** An edge of a collapsed flow: of its shape, or a loop that the shape cannot hold. */
interface LogicalEdge {
  /** Positions in the collapsed shape. */
  readonly from: number
  readonly to: number
  /** Number among the shape's edges; `null` for a loop, as from one lane to the next. */
  readonly edge: number | null
  /** How it stands to each repetition it touches, first folded first. */
  readonly notes: readonly EdgeNote[]
}

/** Where loops start and end: positions in a collapsed shape. */
export interface LoopEnds {
  readonly from: readonly number[]
  readonly to: readonly number[]
}

/** What `collapseFlows` hands over besides flows. */
interface CollapseResult {
  readonly uncollapsed: FlowSet
  readonly collapsing: CollapseOptions
  readonly folded: Pick<FoldedShapes, 'graphs' | 'logicalOf' | 'unfinished'>
}

/**
 * Flows whose repeated parts are folded into one: what `collapseFlows` makes. Goes wherever flows
 * go; the flows as they were recorded stay in `uncollapsed`, request for request.
 *
 * Parameters of a folded step are those of its first repetition, for `explainMutation` as well.
 */
export class CollapsedFlows extends FlowSet {
  readonly collapsing: CollapseOptions
  readonly #result: CollapseResult
  #uncollapsed: FlowSet | (() => FlowSet)
  #loops: Map<number, LoopEnds> | undefined

  constructor(columns: FlowColumns, result: CollapseResult) {
    super(columns, result.uncollapsed.options, result.uncollapsed.report)
    this.collapsing = result.collapsing
    this.#result = result
    this.#uncollapsed = result.uncollapsed
  }

  /** The same requests as they were recorded. */
  get uncollapsed(): FlowSet {
    if (typeof this.#uncollapsed === 'function') this.#uncollapsed = this.#uncollapsed()
    return this.#uncollapsed
  }

  /**
   * Some of the requests, as `selectRequests` needs them.
   *
   * @param select picks the same ones from recorded flows; asked for when they are looked at, as
   *   these are large
   */
  ofRequests(columns: FlowColumns, select: (recorded: FlowSet) => FlowSet): CollapsedFlows {
    const selected = new CollapsedFlows(columns, this.#result)
    selected.#uncollapsed = () => select(this.uncollapsed)
    return selected
  }

  /** The folded structure of a request, `undefined` where nothing in it repeats. */
  folded(request: number): FoldedGraph | undefined {
    return this.#result.folded.graphs[this.#shape(request)]
  }

  /** Recorded shapes so tangled that the search was broken off: repetitions may be left in them. */
  get unfinished(): number {
    return this.#result.folded.unfinished
  }

  /** The edges of a request: those of its shape in their order, then loops. */
  logicalEdges(request: number): readonly LogicalEdge[] {
    const graph = this.folded(request)
    if (graph === undefined) {
      const shape = this.shapeOf[request] as number
      const to = this.shapes.to(shape)
      return Array.from(this.shapes.from(shape), (from, edge) => {
        return { from, to: to[edge] as number, edge, notes: [] }
      })
    }
    let edges = 0
    return logicalOrder(graph).map((at) => ({
      from: graph.from[at] as number,
      to: graph.to[at] as number,
      edge: graph.loops[at] === 1 ? null : edges++,
      notes: graph.notes[at] as readonly EdgeNote[],
    }))
  }

  /**
   * All latencies that were recorded for a logical edge of a request, in µs: one a lane that has it.
   * They are no independent samples; for tests, `latencies` has one value a request.
   *
   * @param edge its place in `logicalEdges(request)`
   */
  samples(request: number, edge: number): Float64Array {
    const recorded = this.uncollapsed.latencies(request)
    const logicalOf = this.logicalOf(request)
    return recorded.filter((_, at) => (logicalOf?.[at] ?? at) === edge)
  }

  /**
   * For each recorded edge of a request its logical edge, as a place in `logicalEdges(request)`;
   * `undefined` where nothing is folded, so that each is its own.
   */
  logicalOf(request: number): Uint32Array | undefined {
    return this.#result.folded.logicalOf[this.#shape(request)]
  }

  /** The loops that requests of a collapsed shape have, each once. */
  loops(shape: number): LoopEnds {
    this.#loops ??= this.#collectLoops()
    return this.#loops.get(shape) ?? { from: [], to: [] }
  }

  #collectLoops(): Map<number, LoopEnds> {
    const seen = new Set<string>()
    const found = new Map<number, { from: number[]; to: number[] }>()
    const once = (key: string) => !seen.has(key) && seen.add(key)
    for (let request = 0; request < this.size; request++) {
      const shape = this.shapeOf[request] as number
      if (!once(`${shape} ${this.#shape(request)}`)) continue
      const graph = this.folded(request)
      if (graph === undefined) continue
      const loops = found.get(shape) ?? { from: [], to: [] }
      found.set(shape, loops)
      graph.loops.forEach((isLoop, edge) => {
        const [from, to] = [graph.from[edge] as number, graph.to[edge] as number]
        if (isLoop === 0 || !once(`${shape} ${from} ${to} loop`)) return
        loops.from.push(from)
        loops.to.push(to)
      })
    }
    return found
  }

  #shape(request: number): number {
    return this.uncollapsed.shapeOf[request] as number
  }
}

/** Flows as they were recorded: those that were collapsed, or these. */
export function recordedFlows(flows: FlowSet): FlowSet {
  return flows instanceof CollapsedFlows ? flows.uncollapsed : flows
}

/**
 * How large flows were and are: one row a group of requests, with mean and standard deviation of
 * the number of nodes as recorded and collapsed.
 *
 * Columns: `group`, `root` (label of the group's first request, collapsed), `requests`, `nodesMean`,
 * `nodesSd`, `collapsedMean`, `collapsedSd`. Groups come in ascending order; the SD of one request is
 * `NaN`.
 *
 * @param groupOf a number a request, such as `categorize(flows).categoryOf`, or `flows.period`; by
 *   default its collapsed shape
 * @throws OptionError when `groupOf` has not one number a request
 *
 * Source: Sambasivan 2013, Table 3.6.
 *
 * @example
 * const sizes = collapseFlows(flows)
 * collapsedSizes(sizes, categorize(sizes).categoryOf).print()
 */
export function collapsedSizes(
  flows: CollapsedFlows,
  groupOf: ArrayLike<number> = flows.shapeOf,
): StageTable {
  if (groupOf.length !== flows.size) {
    throw new OptionError('groupOf', `${groupOf.length} numbers`, `one a request: ${flows.size}`)
  }
  const groups = new Map<number, number[]>()
  for (let request = 0; request < flows.size; request++) {
    const group = groupOf[request] as number
    const known = groups.get(group)
    if (known === undefined) groups.set(group, [request])
    else known.push(request)
  }
  const { shapes, shapeOf, labels, uncollapsed } = flows
  const rows = [...groups]
    .sort(([a], [b]) => a - b)
    .map(([group, requests]) => ({
      ...{ group, requests: requests.length },
      root: labels.text(shapes.labels(shapeOf[requests[0] as number] as number)[0] as number),
      recorded: moments(
        requests.map((i) => uncollapsed.shapes.nodeCount(uncollapsed.shapeOf[i] as number)),
      ),
      collapsed: moments(requests.map((i) => shapes.nodeCount(shapeOf[i] as number))),
    }))
  return stageTable({
    group: rows.map(({ group }) => group),
    root: rows.map(({ root }) => root),
    requests: rows.map(({ requests }) => requests),
    nodesMean: rows.map(({ recorded }) => recorded.mean),
    nodesSd: rows.map(({ recorded }) => recorded.sd),
    collapsedMean: rows.map(({ collapsed }) => collapsed.mean),
    collapsedSd: rows.map(({ collapsed }) => collapsed.sd),
  })
}
